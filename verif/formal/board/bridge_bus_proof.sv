// SPDX-License-Identifier: Apache-2.0
// ng_bridge_bus, the AXI4-Lite master of the bridge, behind any two requesters and in front of any slave: signals stay until they
// are taken; one access is under way at a time, with the address and data of a request that stood when it began, the host's
// before the loop's; a requester is told done only while it requests, with the response of its own access or as a timeout,
// and never the response of an access that was given up; and a request of the host is done within three times BusClocks and some clocks, whatever the slave does.
//
// Assumed: a request stands, unchanged, until its done; the slave answers what was asked, once, and its answer stays.
//
// hierconn: Yosys' name for a wire that flattening joins with the one of that name inside the instance.
module bridge_bus_proof #(
  parameter int BusClocks = 16
) (
  input logic        clk_i,
  input logic        host_i,
  input logic        loop_i,
  input logic        host_write_i,
  input logic        loop_write_i,
  input logic [9:0]  host_addr_i,
  input logic [9:0]  loop_addr_i,
  input logic [31:0] host_data_i,
  input logic [31:0] loop_data_i,
  input logic        awready_i,
  input logic        wready_i,
  input logic        bvalid_i,
  input logic [1:0]  bresp_i,
  input logic        arready_i,
  input logic        rvalid_i,
  input logic [1:0]  rresp_i
);
  localparam int Bound = 3 * BusClocks + 12;
  localparam int WaitWidth = $clog2(Bound + 2);

  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic        host_done, loop_done, refused, timeout, host_reads, loop_reads;
  logic        awvalid, wvalid, bready, arvalid, rready;
  logic [11:0] awaddr, araddr;
  logic [31:0] wdata;
  logic [3:0]  wstrb;
  ng_bridge_bus #(
    .BusClocks(BusClocks)
  ) u_bus (
    .clk_i           (clk_i),
    .rst_ni          (running),
    .host_i          (host_i),
    .loop_i          (loop_i),
    .host_write_i    (host_write_i),
    .loop_write_i    (loop_write_i),
    .host_addr_i     (host_addr_i),
    .loop_addr_i     (loop_addr_i),
    .host_data_i     (host_data_i),
    .loop_data_i     (loop_data_i),
    .host_done_o     (host_done),
    .loop_done_o     (loop_done),
    .refused_o       (refused),
    .timeout_o       (timeout),
    .host_reads_o    (host_reads),
    .loop_reads_o    (loop_reads),
    .m_axil_awvalid_o(awvalid),
    .m_axil_awready_i(awready_i),
    .m_axil_awaddr_o (awaddr),
    .m_axil_wvalid_o (wvalid),
    .m_axil_wready_i (wready_i),
    .m_axil_wdata_o  (wdata),
    .m_axil_wstrb_o  (wstrb),
    .m_axil_bvalid_i (bvalid_i),
    .m_axil_bready_o (bready),
    .m_axil_bresp_i  (bresp_i),
    .m_axil_arvalid_o(arvalid),
    .m_axil_arready_i(arready_i),
    .m_axil_araddr_o (araddr),
    .m_axil_rvalid_i (rvalid_i),
    .m_axil_rready_o (rready),
    .m_axil_rresp_i  (rresp_i)
  );

  // ---- the slave: what it was asked and has not answered
  logic aw_q = 1'b0, w_q = 1'b0, ar_q = 1'b0, b_stays_q = 1'b0, r_stays_q = 1'b0;
  logic [1:0] bresp_q, rresp_q;
  logic answer;
  assign answer = (bvalid_i & bready) | (rvalid_i & rready);
  always_ff @(posedge clk_i) begin
    aw_q      <= running & ((aw_q | (awvalid & awready_i)) & ~(bvalid_i & bready));
    w_q       <= running & ((w_q | (wvalid & wready_i)) & ~(bvalid_i & bready));
    ar_q      <= running & ((ar_q | (arvalid & arready_i)) & ~(rvalid_i & rready));
    b_stays_q <= running & bvalid_i & ~bready;
    r_stays_q <= running & rvalid_i & ~rready;
    bresp_q   <= bresp_i;
    rresp_q   <= rresp_i;
  end
  always_comb begin
    assume (!bvalid_i || (aw_q && w_q));
    assume (!rvalid_i || ar_q);
    if (b_stays_q) assume (bvalid_i && bresp_i == bresp_q);
    if (r_stays_q) assume (rvalid_i && rresp_i == rresp_q);
  end

  // ---- the requesters: the last cycle's requests that still stand
  logic        host_stands_q = 1'b0, loop_stands_q = 1'b0, host_write_q, loop_write_q;
  logic [9:0]  host_addr_q, loop_addr_q;
  logic [31:0] host_data_q, loop_data_q;
  always_ff @(posedge clk_i) begin
    host_stands_q <= running & host_i & ~host_done;
    loop_stands_q <= running & loop_i & ~loop_done;
    host_write_q  <= host_write_i;
    loop_write_q  <= loop_write_i;
    host_addr_q   <= host_addr_i;
    loop_addr_q   <= loop_addr_i;
    host_data_q   <= host_data_i;
    loop_data_q   <= loop_data_i;
  end
  always_comb begin
    if (!running) assume (!host_i && !loop_i);
    if (host_stands_q)
      assume (host_i && host_write_i == host_write_q && host_addr_i == host_addr_q && host_data_i == host_data_q);
    if (loop_stands_q)
      assume (loop_i && loop_write_i == loop_write_q && loop_addr_i == loop_addr_q && loop_data_i == loop_data_q);
  end

  // ---- the access under way, as a list of one
  typedef enum logic [1:0] {
    Idle,
    OfHost,
    OfLoop,
    GivenUp
  } state_e;
  state_e      state_q = Idle, state_d;
  logic        began, answered_host_q = 1'b0, answered_loop_q = 1'b0, response_q;
  assign began = (awvalid | arvalid) && state_q == Idle;
  always_comb begin
    state_d = state_q;
    if (began) state_d = host_stands_q ? OfHost : OfLoop;
    // given up: a timeout that is not of an access that waits for one that was given up before
    if (host_done && timeout && state_d == OfHost) state_d = GivenUp;
    if (loop_done && timeout && state_d == OfLoop) state_d = GivenUp;
  end
  logic aw_stays_q = 1'b0, w_stays_q = 1'b0, ar_stays_q = 1'b0;
  logic [11:0] awaddr_q, araddr_q;
  logic [31:0] wdata_q;
  logic [WaitWidth-1:0] host_waits_q = '0;
  always_ff @(posedge clk_i) begin
    state_q         <= running && !answer ? state_d : Idle;
    answered_host_q <= running && answer && state_d == OfHost;
    answered_loop_q <= running && answer && state_d == OfLoop;
    response_q      <= bvalid_i ? bresp_i[1] : rresp_i[1];
    aw_stays_q      <= running & awvalid & ~awready_i;
    w_stays_q       <= running & wvalid & ~wready_i;
    ar_stays_q      <= running & arvalid & ~arready_i;
    awaddr_q        <= awaddr;
    araddr_q        <= araddr;
    wdata_q         <= wdata;
    host_waits_q    <= running & host_i & ~host_done ? host_waits_q + WaitWidth'(1) : '0;
  end

  always_comb begin
    if (running) begin
      // AXI4-Lite
      if (aw_stays_q) assert (awvalid && awaddr == awaddr_q);
      if (w_stays_q) assert (wvalid && wdata == wdata_q && wstrb == 4'hF);
      if (ar_stays_q) assert (arvalid && araddr == araddr_q);
      // one at a time
      assert (!(awvalid | wvalid | aw_q | w_q) || !(arvalid | ar_q));
      assert (!(awvalid & aw_q) && !(wvalid & w_q) && !(arvalid & ar_q));
      // what a request asked for
      if (began) begin
        assert (host_stands_q || loop_stands_q);
        assert (awvalid == wvalid && awvalid != arvalid);
        assert (awvalid == (host_stands_q ? host_write_q : loop_write_q));
        assert ((awvalid ? awaddr : araddr) == {host_stands_q ? host_addr_q : loop_addr_q, 2'b00});
`ifdef BUS_FALSE
        assert (!awvalid || wdata == loop_data_q);  // the host's word is not the loop's
`else
        assert (!awvalid || wdata == (host_stands_q ? host_data_q : loop_data_q));
`endif
      end
      // done
      assert (!(host_done & loop_done));
      if (host_done) assert (host_stands_q && timeout != answered_host_q);
      if (loop_done) assert (loop_stands_q && timeout != answered_loop_q);
      if (host_done & ~timeout) assert (refused == response_q);
      if (loop_done & ~timeout) assert (refused == response_q);
      if (host_done | loop_done) assert (!(timeout & refused));
      if (answered_host_q) assert (host_done);
      if (answered_loop_q) assert (loop_done);
      // what is read
      assert (host_reads == (rvalid_i && state_d == OfHost && !host_done));
      assert (loop_reads == (rvalid_i && state_d == OfLoop && !loop_done));
      // time
      assert (host_waits_q < WaitWidth'(Bound));
    end
  end

  // ---- what it has inside
  (* hierconn *) wire \u_bus.wait_write_q ;
  (* hierconn *) wire \u_bus.wait_read_q ;
  (* hierconn *) wire \u_bus.given_up_q ;
  (* hierconn *) wire \u_bus.of_loop_q ;
  (* hierconn *) wire [$clog2(BusClocks+1)-1:0] \u_bus.timer_q ;
  always_comb begin
    if (running) begin
      assert (\u_bus.wait_write_q == (awvalid | wvalid | aw_q | w_q));
      assert (\u_bus.wait_read_q == (arvalid | ar_q));
      assert (!\u_bus.wait_write_q || (awvalid != aw_q && wvalid != w_q));
      assert ((state_d != Idle) == (\u_bus.wait_write_q | \u_bus.wait_read_q ));
      assert (\u_bus.given_up_q == (state_d == GivenUp));
      if (state_d == OfHost) assert (!\u_bus.of_loop_q && host_i);
      if (state_d == OfLoop) assert (\u_bus.of_loop_q && loop_i);
      assert (\u_bus.timer_q <= BusClocks);
      if (state_d == OfLoop) assert (host_waits_q <= \u_bus.timer_q + 1);
      if (state_d == GivenUp && !host_done) assert (host_waits_q <= BusClocks + 2 + \u_bus.timer_q );
      if (state_d == Idle) assert (\u_bus.timer_q == 0);
      if (state_d == Idle && !host_done) assert (host_waits_q <= 2 * BusClocks + 4 + (loop_done ? 0 : 1));
      if (state_d == OfHost) assert (host_waits_q <= 2 * BusClocks + 7 + \u_bus.timer_q );
    end
  end

endmodule
