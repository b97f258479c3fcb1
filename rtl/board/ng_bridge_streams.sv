// SPDX-License-Identifier: Apache-2.0
// The streams of the bridge: words of 32 bits that are written become stream words of operands;
// stream words of results become words that can be read, or are dropped and only hashed.
//
// Words wait in block RAM. A packet that ends within a stream word is filled with zeros. The hash is
// a linear one over the words in their order:
//   hash = (hash << 1) ^ (hash[31] ? 04C11DB7 : 0) ^ word.
//
// Handshake: valid and ready of both streams come from registers only. flush_i empties everything,
// and drops a word on its way.
//
// Width argument: rx_words_o counts words whose whole stream word has come, at most RxBytes / 4.
module ng_bridge_streams #(
  parameter int StreamWidth = 32,   // multiple of 32
  parameter int TxBytes     = 512,  // of operands, power of two
  parameter int RxBytes     = 512,  // of results, power of two, a stream word or more
  localparam int TxWidth = $clog2(TxBytes + 1) - 2,
  localparam int RxWidth = $clog2(RxBytes + 1) - 2
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   flush_i,
  // words of operands, where tx_space_o is not 0
  input  logic                   tx_valid_i,
  input  logic [31:0]            tx_data_i,
  input  logic                   tx_last_i,     // the last word of a packet
  output logic [TxWidth-1:0]     tx_space_o,    // words that may be written
  output logic                   tx_partial_o,  // words have left the queue, but not for the tile
  output logic                   m_axis_tvalid_o,
  input  logic                   m_axis_tready_i,
  output logic [StreamWidth-1:0] m_axis_tdata_o,
  output logic                   m_axis_tlast_o,
  input  logic                   s_axis_tvalid_i,
  output logic                   s_axis_tready_o,
  input  logic [StreamWidth-1:0] s_axis_tdata_i,
  // words of results
  input  logic                   sink_i,  // results are dropped
  input  logic                   clear_hash_i,
  output logic [31:0]            hash_o,  // of dropped results
  output logic                   rx_valid_o,
  input  logic                   rx_ready_i,
  output logic [31:0]            rx_data_o,
  output logic [RxWidth-1:0]     rx_words_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (StreamWidth < 32 || StreamWidth > 2040 || StreamWidth % 32 != 0)
    begin : gen_check_stream_width
    $fatal(1, "ng_bridge_streams: StreamWidth=%0d; expected 32 to 2040, a multiple of 32", StreamWidth);
  end
`endif

  localparam int Words = StreamWidth / 32;
  localparam int CountWidth = $clog2(Words + 1);

  logic        tx_valid, tx_last, tx_ready, push, rx_valid, unused_ready, room_ready;
  logic [31:0] tx_data, push_data;
  logic [RxWidth-1:0] room;
  ng_fifo #(
    .Width   (33),
    .Depth   (TxBytes / 4),
    .BlockRam(1'b1)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .flush_i,
    .valid_i(tx_valid_i),
    .ready_o(unused_ready),
    .data_i ({tx_last_i, tx_data_i}),
    .valid_o(tx_valid),
    .ready_i(tx_ready),
    .data_o ({tx_last, tx_data}),
    .space_o(tx_space_o)
  );
  ng_fifo #(
    .Width   (32),
    .Depth   (RxBytes / 4),
    .BlockRam(1'b1)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .flush_i,
    .valid_i(push),
    .ready_o(room_ready),
    .data_i (push_data),
    .valid_o(rx_valid),
    .ready_i(rx_ready_i & (|rx_words_o)),  // not of a stream word that still comes
    .data_o (rx_data_o),
    .space_o(room)
  );

  if (Words == 1) begin : gen_same
    assign m_axis_tvalid_o = tx_valid;
    assign m_axis_tdata_o = tx_data;
    assign m_axis_tlast_o = tx_last;
    assign tx_ready = m_axis_tready_i;
    assign tx_partial_o = 1'b0;
    assign s_axis_tready_o = sink_i | room_ready;
    assign push = s_axis_tvalid_i & ~sink_i;
    assign push_data = s_axis_tdata_i;
    assign rx_valid_o = rx_valid;
    assign rx_words_o = RxWidth'(RxBytes / 4) - room;
  end else begin : gen_wide
    logic                   fills, accept, pushed, taken;
    logic [StreamWidth-1:0] out_q, in_q;  // the first word lowest
    logic [CountWidth-1:0]  filled_q, left_q;
    logic                   ended_q;      // the packet has ended within the stream word
    logic [RxWidth-1:0]     change;       // of the words that have come
    // operands
    assign m_axis_tvalid_o = filled_q == CountWidth'(Words);
    assign m_axis_tdata_o = out_q;
    assign m_axis_tlast_o = ended_q;
    assign tx_ready = ~m_axis_tvalid_o & ~ended_q;
    assign tx_partial_o = (|filled_q);
    assign fills = ~m_axis_tvalid_o & (tx_valid | ended_q);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        filled_q <= '0;
        ended_q  <= 1'b0;
      end else if (flush_i | (m_axis_tvalid_o & m_axis_tready_i)) begin
        filled_q <= '0;
        ended_q  <= 1'b0;
      end else if (fills) begin
        filled_q <= filled_q + CountWidth'(1);
        ended_q  <= ended_q | tx_last;
      end
    end
    always_ff @(posedge clk_i) if (fills) out_q <= {ended_q ? 32'h0 : tx_data, out_q[StreamWidth-1:32]};
    // results: where the last word of a stream word is counted, the first is out of its memory
    assign push = |left_q;
    assign rx_valid_o = |rx_words_o;
    assign push_data = in_q[31:0];
    assign s_axis_tready_o = sink_i | (~push & (room >= RxWidth'(Words)));
    assign accept = s_axis_tvalid_i & s_axis_tready_o & ~sink_i;
    assign pushed = left_q == CountWidth'(1);
    assign taken = rx_ready_i & (|rx_words_o);
    assign change = pushed ? (taken ? RxWidth'(Words - 1) : RxWidth'(Words)) : {RxWidth{taken}};
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        left_q     <= '0;
        rx_words_o <= '0;
      end else if (flush_i) begin
        left_q     <= '0;
        rx_words_o <= '0;
      end else begin
        left_q     <= accept ? CountWidth'(Words) : left_q - CountWidth'(push);
        rx_words_o <= rx_words_o + change;
      end
    end
    always_ff @(posedge clk_i) in_q <= accept ? s_axis_tdata_i : in_q >> 32;
    logic unused;
    assign unused = room_ready ^ rx_valid;
  end

  // ---- the hash
  logic [31:0] hash, bits;
  always_comb begin
    hash = hash_o;
    bits = '0;
    for (int i = 0; i < Words; i++) begin
      bits = hash[31] ? 32'h04C11DB7 : 32'h0;
      hash = {hash[30:0], 1'b0} ^ bits ^ s_axis_tdata_i[32*i +: 32];
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) hash_o <= '0;
    else if (clear_hash_i) hash_o <= '0;
    else if (s_axis_tvalid_i & sink_i) hash_o <= hash;
  end

endmodule
