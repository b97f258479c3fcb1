// SPDX-License-Identifier: Apache-2.0
// ng_int_mult_serial under any sequence of valid, ready and operands: a product in BWidth cycles,
// which waits for ready_i; in every cycle product_o is the register's next value, so with valid_o the product as `*` defines
// it; the next pair is taken in the cycle after a product is. (That no combinational path crosses it is shown on its netlist:
// ctest lint.comb_paths.int_mult_serial.) hierconn: see fifo_proof.sv.
//
// SERIAL_FALSE lets the specification take b's last bit for what it is not.
module int_mult_serial_proof #(
  parameter int AWidth = 4,
  parameter int BWidth = 4,
  parameter int ASigned = 1,
  parameter int BSigned = 1
) (
  input logic              clk_i,
  input logic              valid_i,
  input logic              ready_i,
  input logic [AWidth-1:0] a_i,
  input logic [BWidth-1:0] b_i
);
`ifdef SERIAL_FALSE
  localparam bit Swapped = 1'b1;
`else
  localparam bit Swapped = 1'b0;
`endif
  localparam int Width = AWidth + BWidth;

  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  // ---- the pair at work, or the last one, and its steps with that of this cycle: BWidth and idle, or 2 to BWidth
  logic [AWidth-1:0] a_q = '0;
  logic [BWidth-1:0] b_q = '0;
  logic [7:0]        steps_q = 8'(BWidth);
  logic              idle_q = 1'b1;
  always_ff @(posedge clk_i) begin
    if (running) begin
      if (idle_q) begin
        if (valid_i) begin
          a_q     <= a_i;
          b_q     <= b_i;
          steps_q <= 8'd2;
          idle_q  <= 1'b0;
        end
      end else if (steps_q != 8'(BWidth)) begin
        steps_q <= steps_q + 8'd1;
      end else begin
        idle_q <= ready_i;
      end
    end
  end
  always_comb assert (steps_q >= 8'd2 && steps_q <= 8'(BWidth) && (!idle_q || steps_q == 8'(BWidth)));

  logic             ready, valid;
  logic [Width-1:0] product, a;
  ng_int_mult_serial #(
    .AWidth (AWidth),
    .BWidth (BWidth),
    .ASigned(ASigned),
    .BSigned(BSigned)
  ) u_dut (
    .clk_i    (clk_i),
    .rst_ni   (running),
    .valid_i  (valid_i),
    .ready_o  (ready),
    .a_i      (a_i),
    .b_i      (b_i),
    .valid_o  (valid),
    .ready_i  (ready_i),
    .product_o(product)
  );
  localparam int CountWidth = BWidth > 2 ? $clog2(BWidth) : 1;
  (* hierconn *) wire [AWidth-1:0]     \u_dut.multiplier_q ;
  (* hierconn *) wire [Width-1:0]      \u_dut.sum_q ;
  (* hierconn *) wire [CountWidth-1:0] \u_dut.count_q ;
  always_comb begin
    if (running) begin
      assert (ready == idle_q);
      assert (valid == (!idle_q && steps_q == 8'(BWidth)));
      assert (\u_dut.multiplier_q == a_q);
      assert (8'(\u_dut.count_q ) == (idle_q ? 8'd0 : 8'(BWidth + 1) - steps_q));
    end
  end

  // ---- what the register held before this cycle's step, and what it shows after
  assign a = {{BWidth{ASigned != 0 && a_q[AWidth-1]}}, a_q};
  for (genvar n = 1; n <= BWidth; n++) begin : gen_step
    logic [Width-1:0] b, register;
    assign b = {{(Width - n){n == BWidth && (BSigned != 0) != Swapped && b_q[n-1]}}, b_q[n-1:0]};
    assign register = ((a * b) << (BWidth - n)) | Width'(b_q >> n);
    if (n < BWidth) begin : gen_before
      always_comb if (running && steps_q == 8'(n + 1)) assert (\u_dut.sum_q == register);
    end
    if (n > 1) begin : gen_after
      always_comb if (running && steps_q == 8'(n)) assert (product == register);
    end
  end
endmodule
