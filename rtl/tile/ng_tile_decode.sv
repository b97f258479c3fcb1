// SPDX-License-Identifier: Apache-2.0
// Expands the packets of compressed loads (docs/codec.md, Operands of the tile) into stream words.
//
//   word -> 32 bits -> dealt by chunks: queue -> ng_huffman_decode -> bytes to 32 bits -> queue -> taken by chunks -> word
//
// A packet is chunks, each a word of 32 bits whose lower half says how many words follow, and these; where a chunk could start, a
// word whose lower half is zero is skipped. Chunks go to the decoders in turn and their values are taken in the same turn, so
// nothing waits for a chunk that has not been dealt: the unit cannot block itself, whatever the queues' depths are. They are as
// deep as a chunk of 256 values, so that all decoders work at the same time.
// A stream word of values leaves when it is known whether another one follows; words of the next packet are taken after last_o.
//
// fault_o: the packet is broken: bits that are no code, a chunk that ends early or late or is no multiple of 4 values, a packet
// that ends with a head or within a stream word, or has no values. From then on until reset, words are taken and none is given.
// ready_o, valid_o, last_o and fault_o follow registers only.
//
// Width argument: chunks_q counts the chunks that were dealt to their ends and not taken to theirs. Each has at least a word in
// its decoder's queues and registers, below 2 * QueueDepth + 16 words: ChunksWidth bits hold Decoders times as many.
module ng_tile_decode #(
  parameter int StreamWidth = 32,  // bits of a stream word, multiple of 32
  parameter int Decoders = 4       // bytes a cycle; beyond 4 there are not enough bits for them
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   table_we_i,    // the table of all decoders, while no packet is under way; not reset
  input  logic [8:0]             table_addr_i,  // as ng_huffman_decode has them
  input  logic [20:0]            table_data_i,
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [StreamWidth-1:0] data_i,        // byte 0 lowest
  input  logic                   last_i,        // the last word of a packet
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [StreamWidth-1:0] data_o,
  output logic                   last_o,
  output logic                   fault_o
);
`ifndef __ICARUS__ // which has no elaboration tasks
  if (StreamWidth < 32 || StreamWidth > 2040 || StreamWidth % 32 != 0) begin : gen_check_stream_width $fatal(1, "ng_tile_decode: StreamWidth=%0d; expected 32 to 2040, a multiple of 32", StreamWidth); end
  if (Decoders < 1 || Decoders > 4) begin : gen_check_decoders $fatal(1, "ng_tile_decode: Decoders=%0d; expected 1 to 4", Decoders); end
`endif

  localparam int QueueDepth = 64;  // words of 32 bits: a chunk of 256 values
  localparam int ChunksWidth = 10;
  localparam int Parts = StreamWidth / 32;
  localparam int PartWidth = Parts > 1 ? $clog2(Parts) : 1;
  localparam int LaneWidth = Decoders > 1 ? $clog2(Decoders) : 1;

  // ---- words of 32 bits are dealt
  logic [PartWidth-1:0]    part_q;       // of the stream word
  logic [LaneWidth-1:0]    deal_q;       // whose turn it is
  logic [15:0]             left_q;       // words of the chunk that are to come
  logic                    head_q, ended_q, broken_q;
  logic [31:0]             word;
  logic                    go, part_last, packet_last, chunk_last, push;
  logic [Decoders-1:0]     lane_ready;
  assign word = data_i[part_q*32 +: 32];
  assign part_last = part_q == PartWidth'(Parts - 1);
  assign go = ~ended_q & (head_q | lane_ready[deal_q]);
  assign ready_o = fault_o | (go & part_last);
  assign packet_last = last_i & part_last;
  assign push = valid_i & go & ~head_q;
  assign chunk_last = left_q == 16'd1 || packet_last;

  // ---- decoders
  logic [Decoders-1:0]     out_valid, out_ready, out_last, out_bad;
  logic [Decoders*32-1:0]  out_word;
  for (genvar d = 0; d < Decoders; d++) begin : gen_decoder
    logic        code_valid, code_ready, code_last, value_valid, value_ready, value_last, value_fault, whole, unused_void;
    logic [31:0] code;
    logic [7:0]  value;
    logic [23:0] values_q;  // the first one lowest
    logic [1:0]  count_q;
    logic [6:0]  unused_in_space, unused_out_space;
    ng_fifo #(
      .Width(33),
      .Depth(QueueDepth),
      .BlockRam(1)
    ) u_in (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .flush_i(1'b0),
      .valid_i(push && deal_q == LaneWidth'(d)),
      .ready_o(lane_ready[d]),
      .data_i ({chunk_last, word}),
      .valid_o(code_valid),
      .ready_i(code_ready),
      .data_o ({code_last, code}),
      .space_o(unused_in_space)
    );
    ng_huffman_decode #(
      .Width(32)
    ) u_decode (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .table_we_i  (table_we_i),
      .table_addr_i(table_addr_i),
      .table_data_i(table_data_i),
      .valid_i     (code_valid),
      .ready_o     (code_ready),
      .data_i      ({code[7:0], code[15:8], code[23:16], code[31:24]}),
      .last_i      (code_last),
      .valid_o     (value_valid),
      .ready_i     (value_ready),
      .data_o      (value),
      .last_o      (value_last),
      .fault_o     (value_fault),
      .void_o      (unused_void)
    );
    assign whole = &count_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) count_q <= '0;
      else if (value_valid & value_ready) count_q <= value_last ? '0 : count_q + 2'd1;
    end
    always_ff @(posedge clk_i) if (value_valid & value_ready) values_q <= {value, values_q[23:8]};
    ng_fifo #(
      .Width(34),
      .Depth(QueueDepth),
      .BlockRam(1)
    ) u_out (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .flush_i(1'b0),
      .valid_i(value_valid & (whole | value_last)),
      .ready_o(value_ready),
      .data_i ({value_fault | ~whole, value_last, value, values_q}),
      .valid_o(out_valid[d]),
      .ready_i(out_ready[d]),
      .data_o ({out_bad[d], out_last[d], out_word[d*32 +: 32]}),
      .space_o(unused_out_space)
    );
  end

  // ---- their words are taken
  logic [PartWidth-1:0]   fill_q;
  logic [LaneWidth-1:0]   take_q;
  logic [ChunksWidth-1:0] chunks_q;
  logic                   full_q, next, take, finish, sent, dealt, taken;
  assign next = out_valid[take_q];
  assign finish = ended_q & ~|chunks_q;
  assign valid_o = full_q & ~fault_o & (next | (finish & ~broken_q));
  assign last_o = finish;
  assign sent = valid_o & ready_i;
  assign take = next & (~full_q | sent) & ~fault_o;
  assign dealt = push & chunk_last;
  assign taken = take & out_last[take_q];
  for (genvar d = 0; d < Decoders; d++) begin : gen_take
    assign out_ready[d] = take && take_q == LaneWidth'(d);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      part_q   <= '0;
      deal_q   <= '0;
      head_q   <= 1'b1;
      ended_q  <= 1'b0;
      broken_q <= 1'b0;
      fill_q   <= '0;
      take_q   <= '0;
      chunks_q <= '0;
      full_q   <= 1'b0;
      fault_o  <= 1'b0;
    end else begin
      if (valid_i & go) begin
        part_q <= part_last ? '0 : part_q + 1'b1;
        head_q <= head_q ? word[15:0] == '0 || packet_last : chunk_last;
        if (head_q & packet_last & |word[15:0]) broken_q <= 1'b1;
        if (packet_last) ended_q <= 1'b1;
      end
      if (dealt) deal_q <= deal_q == LaneWidth'(Decoders - 1) ? '0 : deal_q + 1'b1;
      if (taken) take_q <= take_q == LaneWidth'(Decoders - 1) ? '0 : take_q + 1'b1;
      chunks_q <= chunks_q + ChunksWidth'(dealt) - ChunksWidth'(taken);
      if (take) fill_q <= fill_q == PartWidth'(Parts - 1) ? '0 : fill_q + 1'b1;
      full_q <= (full_q & ~sent) | (take && fill_q == PartWidth'(Parts - 1));
      if (sent & finish) ended_q <= 1'b0;
      if ((take & out_bad[take_q]) | (finish & (broken_q | ~full_q))) fault_o <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) if (valid_i & go) left_q <= head_q ? word[15:0] : left_q - 16'd1;
  for (genvar p = 0; p < Parts; p++) begin : gen_part
    always_ff @(posedge clk_i) if (take && fill_q == PartWidth'(p)) data_o[p*32 +: 32] <= out_word[take_q*32 +: 32];
  end

endmodule
