// SPDX-License-Identifier: Apache-2.0
// Packs codes of 1 to CodeBits bits into words, the first bit into the highest of a word: a code
// every cycle.
//
// ready_o, valid_o, data_o and last_o come from registers: no combinational path crosses the unit.
// A word is offered in the cycle after the code that filled it was accepted; where the last code of
// a tile ends in a word behind the one that it fills, the unit takes no code for one cycle.
//
// Width arguments: fill_q counts 0 to Width - 1 bits; with a code they are at most Width - 1 +
// CodeBits, below 2 Width since CodeBits is at most Width: one word a cycle is enough, and the sum
// has one bit more than fill_q.
module ng_bit_pack #(
  parameter int Width    = 32,  // bits of a word; power of two
  parameter int CodeBits = 14,  // bits of the longest code
  localparam int LengthWidth = $clog2(CodeBits + 1)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   valid_i,
  output logic                   ready_o,
  // its first bit in the highest place, zeros behind the last
  input  logic [CodeBits-1:0]    code_i,
  input  logic [LengthWidth-1:0] length_i,  // 1 to CodeBits
  input  logic                   last_i,    // the last code of a tile: zeros fill its word
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [Width-1:0]       data_o,
  output logic                   last_o     // the last word of a tile
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 16 || Width > 64 || (Width & (Width - 1)) != 0) begin : gen_check_width
    $fatal(1, "ng_bit_pack: Width=%0d; expected 16 to 64, a power of two", Width);
  end
  if (CodeBits < 2 || CodeBits > 16) begin : gen_check_code_bits
    $fatal(1, "ng_bit_pack: CodeBits=%0d; expected 2 to 16", CodeBits);
  end
`endif

  // 1: so that a wrong Width gets as far as the message
  localparam int FillWidth = Width > 1 ? $clog2(Width) : 1;
  logic [Width-1:1]          held_q;  // with a bit in the lowest place, the word is full and leaves
  logic [Width-1:0]          word;
  logic [FillWidth-1:0]      fill_q;
  logic [FillWidth:0]        sum;
  logic [Width+CodeBits-2:0] joined;  // held bits and code
  logic                      tail_q, room, push, last, whole, exact;
  assign ready_o = room & ~tail_q;
  assign push = valid_i & ready_o;
  assign joined = {held_q, CodeBits'(0)} | ({code_i, (Width-1)'(0)} >> fill_q);
  assign sum = {1'b0, fill_q} + (FillWidth+1)'(length_i);
  assign whole = sum[FillWidth];          // the word is full
  assign exact = ~|sum[FillWidth-1:0];    // and no bit is left
  assign word = tail_q ? {held_q, 1'b0} : joined[Width+CodeBits-2 -: Width];
  assign last = tail_q | (last_i & (~whole | exact));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q <= '0;
      fill_q <= '0;
      tail_q <= 1'b0;
    end else if (tail_q) begin
      if (room) begin
        held_q <= '0;
        fill_q <= '0;
        tail_q <= 1'b0;
      end
    end else if (push) begin
      held_q <= whole ? (Width-1)'(joined[CodeBits-2:0]) << (Width - CodeBits) : last_i ? '0
          : joined[Width+CodeBits-2 -: Width-1];
      fill_q <= last_i & ~whole ? '0 : sum[FillWidth-1:0];
      tail_q <= last_i & whole & ~exact;
    end
  end

  ng_fifo2 #(
    .Width(Width + 1)
  ) u_words (
    .clk_i,
    .rst_ni,
    .valid_i(tail_q | (push & (whole | last_i))),
    .ready_o(room),
    .data_i ({last, word}),
    .valid_o,
    .ready_i,
    .data_o ({last_o, data_o})
  );

endmodule
