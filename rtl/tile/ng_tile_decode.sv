// SPDX-License-Identifier: Apache-2.0
// Expands the packets of compressed loads (docs/codec.md, Operands of the tile) into stream words.
//
//   word -> 32 bits -> dealt by chunks: queue -> ng_huffman_decode -> bytes to 32 bits -> queue ->
//   taken by chunks -> word
//
// A packet is chunks, each a word of 32 bits whose lower half says how many words follow, and
// these; where a chunk could start, a word whose lower half is zero is skipped. Chunks go to the
// decoders in turn and their values are taken in the same turn, so nothing waits for a chunk that
// has not been dealt: the unit cannot block itself, whatever the queues' depths are. They are as
// deep as a chunk of 256 values, so that all decoders work at the same time.
// More than four decoders of a stream of 64 bits or more have two words of 32 bits a cycle dealt,
// both of one chunk since a head stands before the next, and two taken. Where an odd number of
// words makes a stream word or a chunk, one has its own cycle. A stream word of values leaves when
// it is known whether another one follows; words of the next packet are taken after last_o.
//
// fault_o: the packet is broken: bits that are no code, a chunk that ends early or late or is no
// multiple of 4 values, a packet that ends with a head or within a stream word, or has no values.
// From then on until reset, words are taken and none is given. ready_o, valid_o, last_o and fault_o
// follow registers only.
//
// Width argument: chunks_q counts the chunks that were dealt to their ends and not taken to theirs.
// Each has at least an entry in its decoder's queues and registers, below 2 * QueueDepth + 16 of
// them: ChunksWidth bits hold Decoders times as many.
module ng_tile_decode #(
  parameter int StreamWidth = 32,  // bits of a stream word, multiple of 32
  parameter int Decoders = 4       // bytes a cycle
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // the table of all decoders, while no packet is under way; not reset
  input  logic                   table_we_i,
  input  logic [8:0]             table_addr_i,  // address in the table of ng_huffman_decode
  input  logic [20:0]            table_data_i,  // entry of the table of ng_huffman_decode
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [StreamWidth-1:0] data_i,        // byte 0 lowest
  input  logic                   last_i,        // the last word of a packet
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [StreamWidth-1:0] data_o,
  output logic                   last_o,
  // ng-no-fault: no word is given beside it, nor behind it
  output logic                   fault_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (StreamWidth < 32 || StreamWidth > 2040 || StreamWidth % 32 != 0)
    begin : gen_check_stream_width
    $fatal(1, "ng_tile_decode: StreamWidth=%0d; expected 32 to 2040, a multiple of 32",
           StreamWidth);
  end
  if (Decoders < 1 || Decoders > 8) begin : gen_check_decoders
    $fatal(1, "ng_tile_decode: Decoders=%0d; expected 1 to 8", Decoders);
  end
`endif

  localparam int Parts = StreamWidth / 32;
  // words of 32 bits a cycle, and of a queue's entry
  localparam int Take = Decoders > 4 && Parts > 1 ? 2 : 1;
  // a chunk of 256 values, odd words included
  localparam int QueueDepth = Parts % Take == 0 ? 64 / Take : 64;
  localparam int InWidth = Take == 2 ? 3 + 64 : 1 + 32;   // flags and words
  localparam int OutWidth = Take == 2 ? 3 + 64 : 2 + 32;
  // 1: so that a wrong Decoders gets as far as the message
  localparam int ChunksWidth = Decoders > 0 ? $clog2(Decoders * (2 * QueueDepth + 16)) : 1;
  localparam int PartWidth = Parts > 1 ? $clog2(Parts) : 1;
  // in which a stream word is dealt
  localparam int Steps = (Parts + Take - 1) / Take;
  localparam int StepWidth = Steps > 1 ? $clog2(Steps) : 1;
  localparam int LaneWidth = Decoders > 1 ? $clog2(Decoders) : 1;

  // ---- words of 32 bits are dealt
  logic [StepWidth-1:0]     step_q;            // of the stream word
  logic [LaneWidth-1:0]     deal_q;            // whose turn it is
  logic [15:0]              left_q, left;      // words of the chunk that are to come
  logic                     head_q, ended_q, broken_q;
  logic [Steps*Take*32-1:0] padded;
  logic [Take*32-1:0]       words;
  // what the first and the last of the words say if they are heads
  logic [15:0]              count, next_count;
  logic                     go, step_last, packet_last, chunk_last, push, two, goes_on, both, more;
  logic [Decoders-1:0]      lane_ready;
  assign padded = (Steps*Take*32)'(data_i);
  assign words = padded[step_q*Take*32 +: Take*32];
  assign step_last = step_q == StepWidth'(Steps - 1);
  assign go = ~ended_q & ((Take == 1 && head_q) | lane_ready[deal_q]);
  assign ready_o = fault_o | (go & step_last);
  assign packet_last = last_i & step_last;
  // goes_on: words of the chunk follow the first one; more: of it, or of one whose head is the
  // second, follow the last one.
  assign two = Take == 2 && (Parts % Take == 0 || !step_last);
  assign count = words[15:0];
  assign next_count = words[(Take-1)*32 +: 16];
  assign goes_on = head_q ? count != 16'd0 : left_q != 16'd1;
  assign both = two & goes_on;
  assign more = !two ? goes_on : goes_on ? (head_q ? count != 16'd1 : left_q != 16'd2)
      : next_count != 16'd0;
  assign left = two & ~goes_on ? next_count : head_q ? count - 16'(two)
      : left_q - (two ? 16'd2 : 16'd1);
  assign push = valid_i & go & (~head_q | both);
  assign chunk_last = ~goes_on | ~more | packet_last;

  // ---- decoders
  logic [InWidth-1:0]          in_data;
  logic [Decoders-1:0]         out_valid, out_ready, out_last, out_bad, out_pair;
  logic [Decoders*Take*32-1:0] out_words;
  if (Take == 2) begin : gen_deal_pair
    assign in_data = {head_q, both, chunk_last, words};
  end else begin : gen_deal_word
    assign in_data = {chunk_last, words};
  end
  for (genvar d = 0; d < Decoders; d++) begin : gen_decoder
    logic                code_valid, code_ready, code_last, word_ready;
    logic                value_valid, value_ready, value_last, value_fault, whole, unused_void;
    logic [InWidth-1:0]  in_entry;
    logic [OutWidth-1:0] out_data, out_entry;
    logic [31:0]         code, word;
    logic [7:0]          value;
    logic [23:0]         values_q;  // the first one lowest
    logic [Take:0]       count_q;
    logic [$clog2(QueueDepth):0] unused_in_space, unused_out_space;
    ng_fifo #(
      .Width(InWidth),
      .Depth(QueueDepth),
      .BlockRam(1'b1)
    ) u_in (
      .clk_i,
      .rst_ni,
      .flush_i(1'b0),
      .valid_i(push && deal_q == LaneWidth'(d)),
      .ready_o(lane_ready[d]),
      .data_i (in_data),
      .valid_o(code_valid),
      .ready_i(word_ready),
      .data_o (in_entry),
      .space_o(unused_in_space)
    );
    if (Take == 2) begin : gen_in_pair
      logic        second_q, at_second, end_of_entry, entry_head, entry_both, entry_last;
      logic [31:0] second_code, first_code;
      assign {entry_head, entry_both, entry_last, second_code, first_code} = in_entry;
      assign at_second = second_q | entry_head;
      assign end_of_entry = at_second | ~entry_both;
      assign code = at_second ? second_code : first_code;
      assign code_last = entry_last & end_of_entry;
      assign word_ready = code_ready & end_of_entry;
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) second_q <= 1'b0;
        else if (code_valid & code_ready) second_q <= ~end_of_entry;
      end
    end else begin : gen_in_word
      assign {code_last, code} = in_entry;
      assign word_ready = code_ready;
    end
    ng_huffman_decode #(
      .Width(32)
    ) u_decode (
      .clk_i,
      .rst_ni,
      .table_we_i,
      .table_addr_i,
      .table_data_i,
      .valid_i     (code_valid),
      .ready_o     (code_ready),
      .data_i      (ng_tile_pkg::swapped(code)),
      .last_i      (code_last),
      .valid_o     (value_valid),
      .ready_i     (value_ready),
      .data_o      (value),
      .last_o      (value_last),
      .fault_o     (value_fault),
      .void_o      (unused_void)
    );
    assign word = {value, values_q};
    assign whole = &count_q[1:0];
    // A chunk ends with a whole word, though maybe with the first of two; or with a fault.
    // ng-no-fault: a word's values may be counted in any order that ends with 3
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        count_q <= '0;
      end else if (value_valid & value_ready) begin
        count_q <= count_q + 1'b1;
        if (Take == 2 && value_last) count_q[Take] <= 1'b0;
      end
    end
    always_ff @(posedge clk_i) if (value_valid & value_ready) values_q <= word[31:8];
    if (Take == 2) begin : gen_out_pair
      logic [31:0] low_q;  // the first word of two, and of no meaning where there is one
      always_ff @(posedge clk_i) if (value_valid & value_ready & whole) low_q <= word;
      assign out_data = {value_fault | ~whole, value_last, count_q[2], word, low_q};
      assign {out_bad[d], out_last[d], out_pair[d], out_words[d*64 +: 64]} = out_entry;
    end else begin : gen_out_word
      assign out_data = {value_fault | ~whole, value_last, word};
      assign {out_bad[d], out_last[d], out_words[d*32 +: 32]} = out_entry;
      assign out_pair[d] = 1'b0;
    end
    ng_fifo #(
      .Width(OutWidth),
      .Depth(QueueDepth),
      .BlockRam(1'b1)
    ) u_out (
      .clk_i,
      .rst_ni,
      .flush_i(1'b0),
      .valid_i(value_valid & (&count_q | value_last)),
      .ready_o(value_ready),
      .data_i (out_data),
      .valid_o(out_valid[d]),
      .ready_i(out_ready[d]),
      .data_o (out_entry),
      .space_o(unused_out_space)
    );
  end

  // ---- their words are taken
  logic [PartWidth-1:0]   fill_q;          // where the next one goes
  logic [LaneWidth-1:0]   take_q;
  logic [ChunksWidth-1:0] chunks_q;
  // the word behind a full stream word, and whether its entry is bad
  logic [32:0]            beyond_q;
  logic [31:0]            first, second;
  logic                   full_q, next, take, pair, bad, over, spill, fills, finish, sent, dealt,
      taken;
  assign next = out_valid[take_q];
  assign finish = ended_q & ~|chunks_q;
  assign over = Take == 2 && full_q && fill_q[0];
  assign valid_o = full_q & ~fault_o & (next | over | (finish & ~broken_q));
  assign last_o = finish & ~over;
  assign sent = valid_o & ready_i;
  assign take = next & (~full_q | sent) & ~fault_o;
  assign pair = out_pair[take_q];
  assign bad = out_bad[take_q];            // the one word, or the second of two
  // ng-no-fault: one word is taken at a time here, so what pairs of words need is constant
  assign second = out_words[(take_q*Take+Take-1)*32 +: 32];
  // ng-no-fault: one word is taken at a time here, so what pairs of words need is constant
  assign first = pair ? out_words[take_q*Take*32 +: 32] : second;
  // ng-no-fault: one word is taken at a time here, so what pairs of words need is constant
  assign spill = pair && fill_q == PartWidth'(Parts - 1);
  // ng-no-fault: one word is taken at a time here, so what pairs of words need is constant
  assign fills = fill_q == PartWidth'(Parts - 1) || (pair && fill_q == PartWidth'(Parts - 2));
  assign dealt = push & chunk_last;
  assign taken = take & out_last[take_q];
  for (genvar d = 0; d < Decoders; d++) begin : gen_take
    assign out_ready[d] = take && take_q == LaneWidth'(d);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q   <= '0;
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
        step_q <= step_last ? '0 : step_q + 1'b1;
        head_q <= ~more | packet_last;
        if (packet_last & more & (two ? ~goes_on : head_q)) broken_q <= 1'b1;
        if (packet_last) ended_q <= 1'b1;
      end
      if (dealt) deal_q <= deal_q == LaneWidth'(Decoders - 1) ? '0 : deal_q + 1'b1;
      if (taken) take_q <= take_q == LaneWidth'(Decoders - 1) ? '0 : take_q + 1'b1;
      chunks_q <= chunks_q + ChunksWidth'(dealt) - ChunksWidth'(taken);
      if (take) fill_q <= fills ? PartWidth'(spill) : fill_q + 1'b1 + PartWidth'(pair);
      full_q <= (full_q & ~sent) | (take & fills);
      if (sent & finish & ~over) ended_q <= 1'b0;
      // A word before the bad one is given first where it fills a stream word.
      if ((take & bad & ~spill) | (sent & over & beyond_q[32])
          | (finish & ~over & (broken_q | ~full_q))) fault_o <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) if (valid_i & go) left_q <= left;
  // ng-no-fault: one word is taken at a time here, so what pairs of words need is constant
  always_ff @(posedge clk_i) if (take) beyond_q <= {bad, second};
  for (genvar p = 0; p < Parts; p++) begin : gen_part
    always_ff @(posedge clk_i) begin
      if (take && fill_q == PartWidth'(p)) data_o[p*32 +: 32] <= first;
      // ng-no-fault: one word is taken at a time here, so what pairs of words need is constant
      else if (p > 0 ? pair & take && fill_q == PartWidth'(p - 1) : over & sent)
        // ng-no-fault: one word is taken at a time here, so what pairs of words need is constant
        data_o[p*32 +: 32] <= p > 0 ? second : beyond_q[31:0];
    end
  end

endmodule
