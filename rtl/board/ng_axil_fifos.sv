// SPDX-License-Identifier: Apache-2.0
// The streams of a tile as a pair of FIFOs on AXI4-Lite, for a processor without DMA: a write puts a
// word of operands into the one, a read takes a word of results from the other. The registers are
// those of firmware/ports/ng_fifo_port.h; docs/units/axil_fifos.md has the map.
//
// One write and one read at a time, independent of each other, with the times of ng_tile_regs: a
// write takes effect in the cycle after its address and its data have both arrived, and is answered
// in the next; a read is answered two cycles after its address has arrived. A read of a word that is
// not out of its memory yet waits for it, three cycles at most.
//
// Handshake: every output of the bus is a register (the readies through one inverter), and so are
// valid and ready of both streams.
//
// Width argument: counts of words are below 2^16; addresses are of words, below 0x400.
module ng_axil_fifos #(
  parameter int StreamWidth = 32,   // of the tile, multiple of 32
  parameter int TxBytes     = 512,  // operands that wait, power of two
  parameter int RxBytes     = 512   // results that wait, power of two
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   s_axil_awvalid_i,
  output logic                   s_axil_awready_o,
  input  logic [11:0]            s_axil_awaddr_i,
  input  logic                   s_axil_wvalid_i,
  output logic                   s_axil_wready_o,
  input  logic [31:0]            s_axil_wdata_i,
  input  logic [3:0]             s_axil_wstrb_i,
  output logic                   s_axil_bvalid_o,
  input  logic                   s_axil_bready_i,
  output logic [1:0]             s_axil_bresp_o,
  input  logic                   s_axil_arvalid_i,
  output logic                   s_axil_arready_o,
  input  logic [11:0]            s_axil_araddr_i,
  output logic                   s_axil_rvalid_o,
  input  logic                   s_axil_rready_i,
  output logic [31:0]            s_axil_rdata_o,
  output logic [1:0]             s_axil_rresp_o,
  output logic                   m_axis_tvalid_o,  // operands
  input  logic                   m_axis_tready_i,
  output logic [StreamWidth-1:0] m_axis_tdata_o,
  output logic                   m_axis_tlast_o,
  input  logic                   s_axis_tvalid_i,  // results
  output logic                   s_axis_tready_o,
  input  logic [StreamWidth-1:0] s_axis_tdata_i
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (StreamWidth < 32 || StreamWidth > 2040 || StreamWidth % 32 != 0)
    begin : gen_check_stream_width
    $fatal(1, "ng_axil_fifos: StreamWidth=%0d; expected 32 to 2040, a multiple of 32", StreamWidth);
  end
  if (TxBytes < 16 || TxBytes > 65536 || (TxBytes & (TxBytes - 1)) != 0) begin : gen_check_tx_bytes
    $fatal(1, "ng_axil_fifos: TxBytes=%0d; expected 16 to 65536, a power of two", TxBytes);
  end
  if (RxBytes < 16 || RxBytes > 65536 || (RxBytes & (RxBytes - 1)) != 0) begin : gen_check_rx_bytes
    $fatal(1, "ng_axil_fifos: RxBytes=%0d; expected 16 to 65536, a power of two", RxBytes);
  end
  if (RxBytes < StreamWidth / 8) begin : gen_check_rx_word
    $fatal(1, "ng_axil_fifos: RxBytes=%0d with StreamWidth=%0d; expected a stream word or more",
           RxBytes, StreamWidth);
  end
`endif

  // addresses of words
  localparam logic [9:0] TxData = 10'd0;
  localparam logic [9:0] TxLast = 10'd1;
  localparam logic [9:0] TxSpace = 10'd2;
  localparam logic [9:0] TxCount = 10'd3;
  localparam logic [9:0] RxData = 10'd4;
  localparam logic [9:0] RxCount = 10'd5;
  localparam logic [9:0] Reset = 10'd6;
  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] Slverr = 2'b10;
  localparam int TxWidth = $clog2(TxBytes + 1) - 2;
  localparam int RxWidth = $clog2(RxBytes + 1) - 2;

  // ---- the bus
  logic        aw_held_q, w_held_q, ar_held_q, whole_q;
  logic [9:0]  waddr_q, raddr_q;
  logic [31:0] wdata_q, value;
  logic        write, read, is_data, good_write, good_read, comes;
  logic [TxWidth-1:0] tx_space;
  logic [TxWidth:0]   tx_words;
  logic [RxWidth-1:0] rx_words;
  logic        tx_partial, rx_valid;
  logic [31:0] rx_data, hash;
  assign s_axil_awready_o = ~aw_held_q;
  assign s_axil_wready_o = ~w_held_q;
  assign s_axil_arready_o = ~ar_held_q;
  assign write = aw_held_q & w_held_q & ~s_axil_bvalid_o;
  assign is_data = waddr_q == TxData || waddr_q == TxLast;
  assign good_write = whole_q & (is_data ? (|tx_space) : waddr_q == Reset);
  // a word of results that is counted, and not out of its memory yet
  assign comes = raddr_q == RxData && (|rx_words) && !rx_valid;
  assign read = ar_held_q & ~s_axil_rvalid_o & ~comes;
  assign tx_words = (TxWidth + 1)'(TxBytes / 4) - (TxWidth + 1)'(tx_space) + (TxWidth + 1)'(tx_partial);
  always_comb begin
    good_read = 1'b1;
    unique case (raddr_q)
      TxSpace: value = 32'(tx_space);
      TxCount: value = 32'(tx_words);
      RxCount: value = 32'(rx_words);
      default: begin
        good_read = raddr_q == RxData && (|rx_words);
        value = rx_data;
      end
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_held_q       <= 1'b0;
      w_held_q        <= 1'b0;
      ar_held_q       <= 1'b0;
      s_axil_bvalid_o <= 1'b0;
      s_axil_rvalid_o <= 1'b0;
    end else begin
      aw_held_q       <= aw_held_q ? ~(s_axil_bvalid_o & s_axil_bready_i) : s_axil_awvalid_i;
      w_held_q        <= w_held_q ? ~(s_axil_bvalid_o & s_axil_bready_i) : s_axil_wvalid_i;
      ar_held_q       <= ar_held_q ? ~(s_axil_rvalid_o & s_axil_rready_i) : s_axil_arvalid_i;
      s_axil_bvalid_o <= write | (s_axil_bvalid_o & ~s_axil_bready_i);
      s_axil_rvalid_o <= read | (s_axil_rvalid_o & ~s_axil_rready_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (~aw_held_q) waddr_q <= s_axil_awaddr_i[11:2];
    if (~ar_held_q) raddr_q <= s_axil_araddr_i[11:2];
    if (~w_held_q) begin
      wdata_q <= s_axil_wdata_i;
      whole_q <= &s_axil_wstrb_i;
    end
    if (write) s_axil_bresp_o <= good_write ? Okay : Slverr;
    if (read) begin
      s_axil_rdata_o <= good_read ? value : 32'h0;
      s_axil_rresp_o <= good_read ? Okay : Slverr;
    end
  end
  logic unused;
  assign unused = ^{s_axil_awaddr_i[1:0], s_axil_araddr_i[1:0], hash};

  // ---- the streams
  ng_bridge_streams #(
    .StreamWidth(StreamWidth),
    .TxBytes    (TxBytes),
    .RxBytes    (RxBytes)
  ) u_streams (
    .clk_i,
    .rst_ni,
    .flush_i     (write & good_write & ~is_data),
    .tx_valid_i  (write & good_write & is_data),
    .tx_data_i   (wdata_q),
    .tx_last_i   (waddr_q[0]),
    .tx_space_o  (tx_space),
    .tx_partial_o(tx_partial),
    .m_axis_tvalid_o,
    .m_axis_tready_i,
    .m_axis_tdata_o,
    .m_axis_tlast_o,
    .s_axis_tvalid_i,
    .s_axis_tready_o,
    .s_axis_tdata_i,
    .sink_i      (1'b0),
    .clear_hash_i(1'b0),
    .hash_o      (hash),
    .rx_valid_o  (rx_valid),
    .rx_ready_i  (read && raddr_q == RxData),
    .rx_data_o   (rx_data),
    .rx_words_o  (rx_words)
  );

endmodule
