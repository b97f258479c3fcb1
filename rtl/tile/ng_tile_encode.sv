// SPDX-License-Identifier: Apache-2.0
// Makes packets of compressed loads (docs/codec.md, Operands of the tile) of stream words: what
// ng_tile_decode expands.
//
//   word -> dealt by chunks: queue -> bytes -> ng_huffman_encode -> ng_bit_pack -> queue -> taken
//   by chunks -> word
//
// A chunk is as many stream words as fit into 256 bytes, fewer at the end of a packet, and leaves
// as a word of 32 bits that says how many words follow, and these. Stream words go to the encoders
// chunk by chunk in turn, one a cycle, and their chunks are taken in the same turn. The queue
// behind an encoder holds the longest chunk, whose length is known when it is whole, so nothing
// waits for a chunk that has not been dealt: the unit cannot block itself. The queue before it
// holds a chunk, too, so that all encoders work at the same time; a single one has two words there.
// Words of the next packet are taken while those of the last one are on their way. Zeros fill a
// packet's last stream word. ready_o, valid_o, data_o and last_o come from registers, ready_o
// through a multiplexer: no combinational path crosses the unit.
//
// Width arguments: a chunk of 256 values has at most 3 * (2 + 512) + 8 + 512 = 2062 bits, 65 words:
// size and left_q have 7 bits, and QueueDepth is the next power of two. fill_q counts the words of
// a stream word and one more where two are taken a cycle.
module ng_tile_encode #(
  parameter int StreamWidth = 32,  // bits of a stream word, multiple of 32
  parameter int Encoders = 4       // bytes a cycle
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // the table of all encoders, while no packet is under way; not reset
  input  logic                   table_we_i,
  input  logic [7:0]             table_addr_i,  // address in the table of ng_huffman_encode
  input  logic [15:0]            table_data_i,  // entry of the table of ng_huffman_encode
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [StreamWidth-1:0] data_i,        // byte 0 lowest
  input  logic                   last_i,        // the last word of a packet
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [StreamWidth-1:0] data_o,
  output logic                   last_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (StreamWidth < 32 || StreamWidth > 2040 || StreamWidth % 32 != 0)
    begin : gen_check_stream_width
    $fatal(1, "ng_tile_encode: StreamWidth=%0d; expected 32 to 2040, a multiple of 32",
           StreamWidth);
  end
  if (Encoders < 1 || Encoders > 8) begin : gen_check_encoders
    $fatal(1, "ng_tile_encode: Encoders=%0d; expected 1 to 8", Encoders);
  end
`endif

  // 2: so that a wrong StreamWidth gets as far as the message
  localparam int Bytes = StreamWidth >= 16 ? StreamWidth / 8 : 2;
  localparam int ByteWidth = $clog2(Bytes);
  localparam int ChunkWords = Bytes < 128 ? 256 / Bytes : 2;       // stream words of a chunk, but
  // one where two are more than 256 bytes
  localparam int ChunkLast = Bytes > 128 ? 0 : ChunkWords - 1;
  localparam int DealWidth = $clog2(ChunkWords);
  localparam int InDepth = Encoders > 1 ? 1 << $clog2(ChunkWords) : 2;
  // words of 32 bits a cycle: eight encoders may need more than one
  localparam int Take = StreamWidth >= 64 ? 2 : 1;
  localparam int QueueDepth = 128 / Take;
  localparam int LaneWidth = Encoders > 1 ? $clog2(Encoders) : 1;
  localparam int FinalDepth = Encoders > 1 ? 4 << $clog2(Encoders) : 4;

  // ---- stream words are dealt
  // ng-no-fault: only the last count of a chunk matters, however the counts before are coded
  logic [DealWidth-1:0] dealt_q;  // words of the chunk that have been
  logic [LaneWidth-1:0] deal_q;   // whose turn it is
  logic [Encoders-1:0]  lane_ready;
  logic                 push, chunk_last, final_ready;
  assign ready_o = lane_ready[deal_q] & final_ready;
  assign push = valid_i & ready_o;
  assign chunk_last = last_i || dealt_q == DealWidth'(ChunkLast);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dealt_q <= '0;
      deal_q  <= '0;
    end else if (push) begin
      // ng-no-fault: only the last count of a chunk matters, however the counts before are coded
      dealt_q <= chunk_last ? '0 : dealt_q + 1'b1;
      if (chunk_last) deal_q <= deal_q == LaneWidth'(Encoders - 1) ? '0 : deal_q + 1'b1;
    end
  end

  // Of each chunk that is under way, whether it is its packet's last.
  logic take, finish, final_chunk, unused_final_valid;
  logic [$clog2(FinalDepth):0] unused_final_space;
  ng_fifo #(
    .Width(1),
    .Depth(FinalDepth)
  ) u_final (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .valid_i(push & chunk_last),
    .ready_o(final_ready),
    .data_i (last_i),
    .valid_o(unused_final_valid),  // before the chunk's size is
    .ready_i(take & finish),
    .data_o (final_chunk),
    .space_o(unused_final_space)
  );

  // ---- encoders
  logic [Encoders-1:0]         size_valid, size_ready, out_valid, out_ready;
  logic [Encoders*7-1:0]       sizes;
  logic [Encoders*Take*32-1:0] out_words;
  for (genvar e = 0; e < Encoders; e++) begin : gen_encoder
    logic                   in_valid, in_last, value_ready, byte_last, code_valid, code_ready,
        code_last;
    logic                   pack_valid, pack_ready, pack_last, whole, room, size_room;
    logic [StreamWidth-1:0] in_word;
    logic [ByteWidth-1:0]   byte_q;
    logic [13:0]            code;
    logic [3:0]             length;
    logic [31:0]            packed_word, word;
    logic [Take*32-1:0]     words;
    logic [6:0]             size_q, size;
    logic [$clog2(InDepth):0]    unused_in_space;
    logic [$clog2(QueueDepth):0] unused_out_space;
    ng_fifo #(
      .Width(StreamWidth + 1),
      .Depth(InDepth),
      .BlockRam(InDepth > 2)
    ) u_in (
      .clk_i,
      .rst_ni,
      .flush_i(1'b0),
      .valid_i(valid_i && final_ready && deal_q == LaneWidth'(e)),
      .ready_o(lane_ready[e]),
      .data_i ({chunk_last, data_i}),
      .valid_o(in_valid),
      // ng-no-fault: value_ready is up to the end of a block, which is whole words of several bytes
      .ready_i(value_ready & byte_last),
      .data_o ({in_last, in_word}),
      .space_o(unused_in_space)
    );
    assign byte_last = byte_q == ByteWidth'(Bytes - 1);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) byte_q <= '0;
      else if (in_valid & value_ready) byte_q <= byte_last ? '0 : byte_q + 1'b1;
    end
    ng_huffman_encode u_encode (
      .clk_i,
      .rst_ni,
      .table_we_i,
      .table_addr_i,
      .table_data_i,
      .valid_i     (in_valid),
      .ready_o     (value_ready),
      .data_i      (in_word[byte_q*8 +: 8]),
      .last_i      (in_last & byte_last),
      .valid_o     (code_valid),
      .ready_i     (code_ready),
      .code_o      (code),
      .length_o    (length),
      .last_o      (code_last)
    );
    ng_bit_pack #(
      .Width(32),
      .CodeBits(14)
    ) u_pack (
      .clk_i,
      .rst_ni,
      .valid_i (code_valid),
      .ready_o (code_ready),
      .code_i  (code),
      .length_i(length),
      .last_i  (code_last),
      .valid_o (pack_valid),
      .ready_i (pack_ready),
      .data_o  (packed_word),
      .last_o  (pack_last)
    );
    assign word = ng_tile_pkg::swapped(packed_word);
    assign pack_ready = room & size_room;
    assign size = size_q + 7'd1;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) size_q <= '0;
      else if (pack_valid & pack_ready) size_q <= pack_last ? '0 : size;
    end
    if (Take == 2) begin : gen_pair
      // The first word of two: it stays until the second is offered, and this is taken at once,
      // since there is room for both. The upper half of what has one word is not read.
      logic [31:0] low_q;
      always_ff @(posedge clk_i) low_q <= word;
      assign whole = size_q[0] | pack_last;
      assign words = {word, size_q[0] ? low_q : word};
    end else begin : gen_single
      assign whole = 1'b1;
      assign words = word;
    end
    ng_fifo #(
      .Width(Take * 32),
      .Depth(QueueDepth),
      .BlockRam(1'b1)
    ) u_out (
      .clk_i,
      .rst_ni,
      .flush_i(1'b0),
      .valid_i(pack_valid & size_room & whole),
      .ready_o(room),
      .data_i (words),
      .valid_o(out_valid[e]),
      .ready_i(out_ready[e]),
      .data_o (out_words[e*Take*32 +: Take*32]),
      .space_o(unused_out_space)
    );
    ng_fifo2 #(
      .Width(7)
    ) u_sizes (
      .clk_i,
      .rst_ni,
      .valid_i(pack_valid & room & pack_last),
      .ready_o(size_room),
      .data_i (size),
      .valid_o(size_valid[e]),
      .ready_i(size_ready[e]),
      .data_o (sizes[e*7 +: 7])
    );
  end

  // ---- their chunks are taken: a head, and its words
  localparam int Parts = StreamWidth >= 32 ? StreamWidth / 32 : 1;
  localparam int PartWidth = Parts > 1 ? $clog2(Parts) : 1;
  localparam int FillWidth = $clog2(Parts + Take);
  logic [LaneWidth-1:0] take_q;
  logic [6:0]           size, left_q;    // words of the chunk that are to come
  logic [31:0]          beyond_q;        // the word behind data_o's
  logic [FillWidth-1:0] fill_q, rest;    // words that are held; with the one to be sent away
  logic [PartWidth-1:0] place;
  logic                 head_q, final_q, room, sent, over, two, carry, begun;
  logic [Take*32-1:0]   words;
  logic [31:0]          first, second;
  assign over = Take == 2 && fill_q == FillWidth'(Parts + Take - 1);
  assign valid_o = final_q || fill_q >= FillWidth'(Parts);
  assign last_o = final_q & ~over;
  assign sent = valid_o & ready_i;
  assign room = ~valid_o | (ready_i & (~final_q | last_o));
  assign size = sizes[take_q*7 +: 7];
  assign take = room & (head_q ? size_valid[take_q] : out_valid[take_q]);
  assign finish = ~head_q && left_q <= 7'(Take);
  assign two = Take == 2 && take && ~head_q && left_q[6:1] != '0;
  assign words = out_words[take_q*Take*32 +: Take*32];
  assign first = head_q ? 32'(size) : words[31:0];
  assign second = words[(Take-1)*32 +: 32];
  assign carry = sent & over;
  assign begun = carry | (take && place == '0);
  assign rest = sent ? FillWidth'(over) : fill_q;
  assign place = sent ? PartWidth'(over) : PartWidth'(fill_q);
  for (genvar e = 0; e < Encoders; e++) begin : gen_take
    assign size_ready[e] = room && head_q && take_q == LaneWidth'(e);
    assign out_ready[e] = room && ~head_q && take_q == LaneWidth'(e);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      take_q  <= '0;
      head_q  <= 1'b1;
      final_q <= 1'b0;
      fill_q  <= '0;
    end else begin
      fill_q <= rest + FillWidth'(take) + FillWidth'(two);
      if (sent & last_o) final_q <= 1'b0;
      if (take) head_q <= finish;
      if (take & finish) begin
        take_q  <= take_q == LaneWidth'(Encoders - 1) ? '0 : take_q + 1'b1;
        final_q <= final_chunk;
      end
    end
  end
  always_ff @(posedge clk_i) if (take) begin
    left_q   <= head_q ? size : left_q - 7'(Take);
    beyond_q <= second;
  end
  // Where a stream word begins, zeros come behind its first words.
  for (genvar p = 0; p < Parts; p++) begin : gen_part
    always_ff @(posedge clk_i) begin
      if (take && place == PartWidth'(p)) data_o[p*32 +: 32] <= first;
      else if (p > 0 && two && place == PartWidth'(p - 1)) data_o[p*32 +: 32] <= second;
      else if (p > 0 ? begun : carry) data_o[p*32 +: 32] <= p > 0 ? '0 : beyond_q;
    end
  end

endmodule
