// SPDX-License-Identifier: Apache-2.0
// The streams of the bridge: bytes that are written become stream words of operands; words of
// results become bytes that can be read, or are dropped and only hashed.
//
// Bytes wait in block RAM, so that a word of 32 bits takes four clocks, in which nothing else
// happens on this side of a serial line. A packet that ends within a stream word is filled with
// zeros. The hash is a linear one over the words of 32 bits in their order:
//   hash = (hash << 1) ^ (hash[31] ? 04C11DB7 : 0) ^ word.
//
// Handshake: valid and ready of both streams come from registers only. flush_i empties everything,
// and drops a word on its way.
//
// Width argument: rx_words_o counts words of 32 bits whose whole stream word has come, at most
// RxBytes / 4.
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
  // bytes of operands, four of a word, which has room where tx_space_o is not 0
  input  logic                   tx_valid_i,
  input  logic [7:0]             tx_data_i,
  input  logic                   tx_last_i,  // the last byte of a packet
  output logic [TxWidth-1:0]     tx_space_o,    // words of 32 bits that may be written
  output logic                   tx_partial_o,  // bytes have left the queue, but not for the tile
  output logic                   m_axis_tvalid_o,
  input  logic                   m_axis_tready_i,
  output logic [StreamWidth-1:0] m_axis_tdata_o,
  output logic                   m_axis_tlast_o,
  input  logic                   s_axis_tvalid_i,
  output logic                   s_axis_tready_o,
  input  logic [StreamWidth-1:0] s_axis_tdata_i,
  // bytes of results
  input  logic                   sink_i,  // results are dropped
  input  logic                   clear_hash_i,
  output logic [31:0]            hash_o,  // of dropped results
  output logic                   rx_valid_o,
  input  logic                   rx_ready_i,
  input  logic                   rx_word_end_i,  // the byte that is taken is a word's last
  output logic [7:0]             rx_data_o,
  output logic [RxWidth-1:0]     rx_words_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (StreamWidth < 32 || StreamWidth > 2040 || StreamWidth % 32 != 0)
    begin : gen_check_stream_width
    $fatal(1, "ng_bridge_streams: StreamWidth=%0d; expected 32 to 2040, a multiple of 32", StreamWidth);
  end
`endif

  localparam int StreamBytes = StreamWidth / 8;
  localparam int CountWidth = $clog2(StreamBytes + 1);
  localparam int RoomWidth = $clog2(RxBytes + 1);

  // ---- operands: bytes, lowest first, to stream words
  logic                  byte_valid, byte_last, take, unused_ready;
  logic [TxWidth+1:0]    space;  // bytes
  logic [7:0]            byte_data;
  logic [CountWidth-1:0] filled_q;
  logic                  ended_q;  // the packet has ended within the word
  ng_fifo #(
    .Width   (9),
    .Depth   (TxBytes),
    .BlockRam(1'b1)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .flush_i,
    .valid_i(tx_valid_i),
    .ready_o(unused_ready),
    .data_i ({tx_last_i, tx_data_i}),
    .valid_o(byte_valid),
    .ready_i(take),
    .data_o ({byte_last, byte_data}),
    .space_o(space)
  );
  logic unused_space;
  assign unused_space = ^space[1:0];
  assign tx_space_o = space[TxWidth+1:2];
  assign m_axis_tvalid_o = filled_q == CountWidth'(StreamBytes);
  assign m_axis_tlast_o = ended_q;
  assign take = ~m_axis_tvalid_o & ~ended_q;
  assign tx_partial_o = (|filled_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      filled_q <= '0;
      ended_q  <= 1'b0;
    end else if (flush_i | (m_axis_tvalid_o & m_axis_tready_i)) begin
      filled_q <= '0;
      ended_q  <= 1'b0;
    end else if (~m_axis_tvalid_o & (byte_valid | ended_q)) begin
      filled_q <= filled_q + CountWidth'(1);
      ended_q  <= ended_q | byte_last;
    end
  end
  always_ff @(posedge clk_i) begin
    if (~m_axis_tvalid_o & (byte_valid | ended_q))
      m_axis_tdata_o <= {ended_q ? 8'h00 : byte_data, m_axis_tdata_o[StreamWidth-1:8]};
  end

  // ---- results: stream words to bytes
  logic                       accept, push, pushed_word, word_taken, unused_room;
  logic [StreamWidth-1:0]     word_q;
  logic [CountWidth-1:0]      left_q;
  logic [RoomWidth-1:0]       room;
  ng_fifo #(
    .Width   (8),
    .Depth   (RxBytes),
    .BlockRam(1'b1)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .flush_i,
    .valid_i(push),
    .ready_o(unused_room),
    .data_i (word_q[7:0]),
    .valid_o(rx_valid_o),
    .ready_i(rx_ready_i),
    .data_o (rx_data_o),
    .space_o(room)
  );
  assign push = |left_q;
  assign s_axis_tready_o = sink_i | (~push & (room >= RoomWidth'(StreamBytes)));
  assign accept = s_axis_tvalid_i & s_axis_tready_o & ~sink_i;
  assign pushed_word = left_q == CountWidth'(1);
  assign word_taken = rx_valid_o & rx_ready_i & rx_word_end_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q     <= '0;
      rx_words_o <= '0;
    end else if (flush_i) begin
      left_q     <= '0;
      rx_words_o <= '0;
    end else begin
      left_q     <= accept ? CountWidth'(StreamBytes) : left_q - CountWidth'(push);
      rx_words_o <= rx_words_o + (pushed_word ? RxWidth'(StreamBytes / 4) : RxWidth'(0))
          - RxWidth'(word_taken);
    end
  end
  always_ff @(posedge clk_i) word_q <= accept ? s_axis_tdata_i : word_q >> 8;

  // ---- the hash
  logic [31:0] hash, bits;
  always_comb begin
    hash = hash_o;
    bits = '0;
    for (int i = 0; i < StreamWidth / 32; i++) begin
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
