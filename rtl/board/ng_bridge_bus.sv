// SPDX-License-Identifier: Apache-2.0
// One AXI4-Lite master for two: commands of the host, and the loop. A request stays until its
// done_o, which comes for one clock, with what went wrong. The host's goes first.
//
// An access that is not answered within BusClocks clocks is given up, with done_o and timeout_o; the
// bus's signals stay as AXI wants them until the answer comes, and until then the next access waits,
// no longer than BusClocks clocks either.
//
// Width argument: timer_q counts to BusClocks.
module ng_bridge_bus #(
  parameter int BusClocks = 1024
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        host_i,   // requests
  input  logic        loop_i,
  input  logic        host_write_i,
  input  logic        loop_write_i,
  input  logic [9:0]  host_addr_i,  // of a word
  input  logic [9:0]  loop_addr_i,
  input  logic [31:0] host_data_i,
  input  logic [31:0] loop_data_i,
  output logic        host_done_o,
  output logic        loop_done_o,
  output logic        refused_o,  // with done: SLVERR or DECERR
  output logic        timeout_o,
  output logic        host_reads_o,  // a clock before done: m_axil_rdata_i is what is read
  output logic        loop_reads_o,
  output logic        m_axil_awvalid_o,
  input  logic        m_axil_awready_i,
  output logic [11:0] m_axil_awaddr_o,
  output logic        m_axil_wvalid_o,
  input  logic        m_axil_wready_i,
  output logic [31:0] m_axil_wdata_o,
  output logic [3:0]  m_axil_wstrb_o,
  input  logic        m_axil_bvalid_i,
  output logic        m_axil_bready_o,
  input  logic [1:0]  m_axil_bresp_i,
  output logic        m_axil_arvalid_o,
  input  logic        m_axil_arready_i,
  output logic [11:0] m_axil_araddr_o,
  input  logic        m_axil_rvalid_i,
  output logic        m_axil_rready_o,
  input  logic [1:0]  m_axil_rresp_i
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (BusClocks < 16) begin : gen_check_bus_clocks
    $fatal(1, "ng_bridge_bus: BusClocks=%0d; expected 16 or more", BusClocks);
  end
`endif

  localparam int TimerWidth = $clog2(BusClocks + 1);
  logic                  wait_write_q, wait_read_q, given_up_q, of_loop_q;  // the access under way
  logic [TimerWidth-1:0] timer_q;
  logic [9:0]            addr_q;
  logic                  done, waits, requested, host, loop, start, answered, late, from_loop;
  assign done = host_done_o | loop_done_o;
  // a request stands until the clock of its done_o
  assign host = host_i & ~host_done_o;
  assign loop = loop_i & ~loop_done_o;
  assign requested = host | loop;
  assign waits = wait_write_q | wait_read_q;
  assign start = requested & ~waits & ~done;
  assign answered = (wait_write_q & m_axil_bvalid_i) | (wait_read_q & m_axil_rvalid_i);
  assign late = timer_q == TimerWidth'(BusClocks) && !answered;
  assign from_loop = waits & ~given_up_q ? of_loop_q : ~host;
  assign m_axil_awaddr_o = {addr_q, 2'b00};
  assign m_axil_araddr_o = {addr_q, 2'b00};
  assign m_axil_wstrb_o = 4'hF;
  assign host_reads_o = wait_read_q & m_axil_rvalid_i & ~given_up_q & ~of_loop_q;
  assign loop_reads_o = wait_read_q & m_axil_rvalid_i & ~given_up_q & of_loop_q;
  assign m_axil_bready_o = wait_write_q;
  assign m_axil_rready_o = wait_read_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      m_axil_awvalid_o <= 1'b0;
      m_axil_wvalid_o  <= 1'b0;
      m_axil_arvalid_o <= 1'b0;
      wait_write_q     <= 1'b0;
      wait_read_q      <= 1'b0;
      given_up_q       <= 1'b0;
      host_done_o      <= 1'b0;
      loop_done_o      <= 1'b0;
      timer_q          <= '0;
    end else begin
      m_axil_awvalid_o <= start ? (host ? host_write_i : loop_write_i)
          : m_axil_awvalid_o & ~m_axil_awready_i;
      m_axil_wvalid_o  <= start ? (host ? host_write_i : loop_write_i)
          : m_axil_wvalid_o & ~m_axil_wready_i;
      m_axil_arvalid_o <= start ? ~(host ? host_write_i : loop_write_i)
          : m_axil_arvalid_o & ~m_axil_arready_i;
      wait_write_q <= start ? (host ? host_write_i : loop_write_i) : wait_write_q & ~answered;
      wait_read_q  <= start ? ~(host ? host_write_i : loop_write_i) : wait_read_q & ~answered;
      given_up_q   <= waits & ~answered & (given_up_q | late);
      host_done_o  <= ((answered & ~given_up_q) | late) & ~from_loop;
      loop_done_o  <= ((answered & ~given_up_q) | late) & from_loop;
      timer_q      <= start | late | answered | ~(given_up_q ? requested : waits) ? '0
          : timer_q + TimerWidth'(1);
    end
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      of_loop_q      <= ~host;
      addr_q         <= host ? host_addr_i : loop_addr_i;
      m_axil_wdata_o <= host ? host_data_i : loop_data_i;
    end
    refused_o <= answered & (wait_write_q ? m_axil_bresp_i[1] : m_axil_rresp_i[1]);
    timeout_o <= ~answered;
  end
  logic unused;
  assign unused = m_axil_bresp_i[0] ^ m_axil_rresp_i[0];

endmodule
