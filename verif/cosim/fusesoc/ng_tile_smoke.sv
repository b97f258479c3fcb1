// SPDX-License-Identifier: Apache-2.0
// What target sim_tile of narrowgauge.core simulates: the smallest tile multiplies two NVFP4 blocks of 16 and delivers the sum.
// A first sign of life in another build; the unit's bench is verif/cosim/tile/tile_bench.cpp.
module ng_tile_smoke;
  logic        clk = 1'b0, rst_n = 1'b0;
  logic        awvalid = 1'b0, awready, wvalid = 1'b0, wready, bvalid, arvalid = 1'b0, arready, rvalid;
  logic [11:0] awaddr = '0, araddr = '0;
  logic [31:0] wdata = '0, rdata;
  logic [1:0]  bresp, rresp;
  logic        in_valid = 1'b0, in_ready, in_last = 1'b0, out_valid, out_last;
  logic [31:0] in_data = '0, out_data;
  logic        unused_irq;
  always #5 clk = ~clk;

  ng_tile #(
    .Rows       (1),
    .Cols       (1),
    .Lanes      (16),
    .FormatSet  (1),
    .StreamWidth(32),
    .ADepth     (64),
    .BDepth     (64),
    .MaxBeats   (4096),
    .Counters   (0)
  ) u_tile (
    .clk_i           (clk),
    .rst_ni          (rst_n),
    .s_axil_awvalid_i(awvalid),
    .s_axil_awready_o(awready),
    .s_axil_awaddr_i (awaddr),
    .s_axil_wvalid_i (wvalid),
    .s_axil_wready_o (wready),
    .s_axil_wdata_i  (wdata),
    .s_axil_wstrb_i  (4'hf),
    .s_axil_bvalid_o (bvalid),
    .s_axil_bready_i (1'b1),
    .s_axil_bresp_o  (bresp),
    .s_axil_arvalid_i(arvalid),
    .s_axil_arready_o(arready),
    .s_axil_araddr_i (araddr),
    .s_axil_rvalid_o (rvalid),
    .s_axil_rready_i (1'b1),
    .s_axil_rdata_o  (rdata),
    .s_axil_rresp_o  (rresp),
    .s_axis_tvalid_i (in_valid),
    .s_axis_tready_o (in_ready),
    .s_axis_tdata_i  (in_data),
    .s_axis_tlast_i  (in_last),
    .m_axis_tvalid_o (out_valid),
    .m_axis_tready_i (1'b1),
    .m_axis_tdata_o  (out_data),
    .m_axis_tlast_o  (out_last),
    .irq_o           (unused_irq)
  );

  task automatic write(input logic [11:0] address, input logic [31:0] value);
    logic [1:0] taken;  // at the edge
    awaddr = address;
    wdata = value;
    awvalid = 1'b1;
    wvalid = 1'b1;
    while (awvalid || wvalid) begin
      @(posedge clk);
      taken = {awready, wready};
      @(negedge clk);
      awvalid = awvalid & ~taken[1];
      wvalid = wvalid & ~taken[0];
    end
    while (!bvalid) @(negedge clk);
    if (bresp != 2'b00) $fatal(1, "ng_tile_smoke: write of %08x to %03x answered %0d", value, address, bresp);
  endtask

  task automatic expect_word(input logic [11:0] address, input logic [31:0] value);
    logic arvalid_next;  // as the edge has it
    araddr = address;
    arvalid = 1'b1;
    while (arvalid) begin
      @(posedge clk);
      arvalid_next = ~arready;
      @(negedge clk);
      arvalid = arvalid_next;
    end
    while (!rvalid) @(negedge clk);
    if (rresp != 2'b00 || rdata != value) $fatal(1, "ng_tile_smoke: %03x reads %08x; expected %08x", address, rdata, value);
  endtask

  // An image of 16 equal elements and their scale, in three words.
  task automatic send(input logic [3:0] element, input logic [7:0] scale);
    for (int i = 0; i < 3; i++) begin
      in_valid = 1'b1;
      in_data = i == 2 ? {24'b0, scale} : {8{element}};
      in_last = i == 2;
      do @(posedge clk); while (!in_ready);
      @(negedge clk);
    end
    in_valid = 1'b0;
  endtask

  always @(posedge clk) begin
    if (rst_n && out_valid) begin
      // 16 x 1.5 x (-2) x 2 = -96
      if (out_data !== 32'hc2c00000 || !out_last) $fatal(1, "ng_tile_smoke: result %08x, last %0d; expected c2c00000, the last", out_data, out_last);
      $display("ng_tile_smoke: -96, as it should be");
      $finish;
    end
  end

  initial begin
    repeat (3) @(negedge clk);
    rst_n = 1'b1;
    @(negedge clk);
    expect_word(12'h000, 32'h4e475431);  // MAGIC
    expect_word(12'h008, 32'h01100101);  // GEOMETRY
    write(12'h030, 32'h00000001);        // LOAD, a beat of A
    write(12'h030, 32'h80000001);        // LOAD, a beat of B
    send(4'h3, 8'h38);                   // 1.5, scale 1
    send(4'hc, 8'h40);                   // -2, scale 2
    write(12'h034, 32'h0000000a);        // FORMAT, NVFP4 both
    write(12'h03c, 32'h00010001);        // PANELS
    write(12'h040, 32'h00000101);        // EDGE
    write(12'h044, 32'h000f0001);        // COMPUTE, a beat: first, last, both banks released
    repeat (200) @(negedge clk);
    $fatal(1, "ng_tile_smoke: no result after 200 cycles");
  end
endmodule
