// SPDX-License-Identifier: Apache-2.0
// An element of ng_quantize_luq under any alpha, m 2^(a - ManBits) with m a significand of ManBits
// + 1 bits, leading one included.
//
// |x| = s 2^(e - ManBits), so with d = e - a the grid's number below |x| is alpha 2^d, or alpha
// 2^(d - 1) where s < m; it is 0 where that is below alpha. In units of alpha's last place, at the
// exponent of the step, x goes up if and only if
//
//   below alpha   s 2^d 2^r   >= m (2^r - R)
//   from l on     s 2^(r + (s < m)) >= m (2^(r + 1) - R)
//
// where R are the r = RandBits random bits, so without a division: s, shifted, against one product,
// of which a row is added where a bit of ~R is set, and one more from alpha on. What the shift
// drops is below the product's last place and decides nothing. To the nearest power is R = 2^(r -
// 1), and > below alpha, as half of it becomes 0.
//
// A subnormal x counts with e = 0 and its significand doubled, which has no leading one; alpha's
// exponent field is 1 at least, so x is below alpha, where that does not matter.
//
// Width argument: m < 2^(ManBits + 1), so the product is at most 2^(ManBits + RandBits + 2) -
// 2^(RandBits + 1), and s is shifted by RandBits + 1 places at most. After k rows the product is at
// most m 2^k. The grid ends at 2^6 or 2^7: from d = 8 on x is the largest number, and a field of 8
// and more too.
//
// Cut: between the product and the comparison.
module ng_quantize_luq_lane #(
  parameter int Levels   = 7,
  parameter int ManBits  = 7,   // of alpha, 7 or more
  parameter int RandBits = 8,
  parameter bit Cut      = 1'b0,  // registers between the product and the comparison
  localparam int CodeBits = Levels == 8 ? 5 : 4
) (
  input  logic                clk_i,  // clock of the cut
  input  logic                en_i,   // enable of the cut
  input  logic [15:0]         x_i,
  input  logic [ManBits+7:0]  alpha_i,       // exponent field and mantissa
  input  logic                stochastic_i,
  input  logic [RandBits-1:0] rand_i,
  input  logic                refused_i,     // alpha is no normal number; behind the cut
  output logic                special_o,     // an infinity or a NaN; before the cut
  output logic [CodeBits-1:0] code_o
);
  localparam int SigBits = ManBits + 1;
  localparam int Width = SigBits + RandBits + 1;
  localparam int CountBits = $clog2(Width + 1);

  logic               sign, normal, nan;
  logic [7:0]         exponent, sig;
  logic [6:0]         mantissa;
  logic [SigBits-1:0] s, m;
  assign {sign, exponent, mantissa} = x_i;
  assign normal = |exponent;
  assign special_o = &exponent;
  assign nan = special_o & (|mantissa);
  assign sig = normal ? {1'b1, mantissa} : {mantissa, 1'b0};
  assign s = SigBits'(sig) << (SigBits - 8);
  assign m = {1'b1, alpha_i[ManBits-1:0]};

  // ---- where |x| is
  logic [8:0]         d;
  logic [SigBits-1:0] unused_difference;
  logic               less, above, whole;  // s < m; alpha <= |x|; and both significands as they are
  assign d = {1'b0, exponent} - {1'b0, alpha_i[ManBits +: 8]};
  assign {less, unused_difference} = {1'b0, s} - {1'b0, m};
  assign whole = ~d[8] & ~less;
  assign above = ~d[8] & (~less | (|d[7:0]));

  // ---- s aligned: from alpha on with the step's exponent, below it shifted right by -d = ~d + 1,
  // one place by wiring
  logic [Width-1:0]     placed, aligned;
  logic [CountBits-1:0] count;
  assign placed = d[8] ? Width'(s) << (RandBits - 1) : above & less ? Width'(s) << (RandBits + 1)
      : Width'(s) << RandBits;
  // All ones, which empties the register, if ~d has a bit above those of the count.
  assign count = {CountBits{d[8]}} & (~d[CountBits-1:0] | {CountBits{~(&d[7:CountBits])}});
  assign aligned = placed >> count;

  // ---- the product, a row at a time: m times ({above, ~R} + 1)
  logic [RandBits-1:0] half, word;
  logic [RandBits:0]   rows;
  logic [Width-1:0]    bound;
  assign half = RandBits'(1) << (RandBits - 1);
  assign word = stochastic_i ? rand_i : half;
  assign rows = {above, ~word};
  always_comb begin
    bound = rows[0] ? Width'({m, 1'b0}) : Width'(m);
    for (int k = 1; k <= RandBits; k++) begin
      if (rows[k]) bound[k +: SigBits+1] = {1'b0, bound[k +: SigBits]} + {1'b0, m};
    end
  end

  logic             sign_q, nan_q, special_q, over_q, above_q, whole_q, strict_q;
  logic [2:0]       d_q;
  logic [Width-1:0] aligned_q, bound_q;
  ng_cut #(
    .Width (2 * Width + 10),
    .Enable(Cut ? 1 : 0)
  ) u_cut (
    .clk_i,
    .en_i,
    .d_i  ({aligned, bound, sign, nan, special_o, |d[7:3], above, whole, ~stochastic_i & ~above,
        d[2:0]}),
    .q_o  ({aligned_q, bound_q, sign_q, nan_q, special_q, over_q, above_q, whole_q, strict_q, d_q})
  );

  // ---- the decision: the carry of a difference of which no bit is wanted
  logic             round_up, largest;
  logic [Width-1:0] unused_sum;
  logic [3:0]       field;
  assign {round_up, unused_sum} = {1'b0, aligned_q} + {1'b0, ~bound_q} + {{Width{1'b0}}, ~strict_q};
  // and 1 each for whole and up
  assign field = {1'b0, d_q & {3{above_q}}} + {2'b0, whole_q & round_up, whole_q ^ round_up};
  assign largest = field[3] | (above_q & over_q) | special_q | refused_i;
  if (Levels == 8) begin : gen_eight
    assign code_o = {sign_q & ~(nan_q | refused_i), largest, field[2:0] & ~{3{largest}}};
  end else begin : gen_seven
    assign code_o = {sign_q & ~(nan_q | refused_i), field[2:0] | {3{largest}}};
  end
endmodule
