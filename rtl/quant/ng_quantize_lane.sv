// SPDX-License-Identifier: Apache-2.0
// An element of ng_quantize_fp8 and ng_quantize_mx: a BF16 number over a power of two, rounded to a
// format of 4 or 8 bits.
//
//   code_o   x_i 2^(127 - s) rounded to nearest even, or stochastically with rand_i, its sign kept,
//            at most the largest number
//   base_i   bias - 2 - s, s the code of the scale (E8M0): for all elements of a block
//   Bounded = 0: a NaN, or nan_i, gives 7F, an infinity the largest number. Bounded = 1: the caller
//   has neither.
//
// The exponent field of the result, were it a normal number, is t = e - s + bias, and w = e +
// base_i = t - 2. From w = 0 on the significand stays and 2 is added to w; below, the significand
// is shifted right by ~w, which is 1 - t, and its top bit is the field. So field, kept bits and
// fraction stand side by side, and one sum rounds: it adds the top bit, or 2 and w, the random
// bits, or half a unit less one and a carry that says odd or inexact. Its carry runs through the
// mantissa into the exponent.
//
// E5M2 is laid out as E4M3 is, with the third kept bit the first one of its fraction: what is added
// moves up by a place, and the code is taken from a place higher.
//
// Subnormal numbers, e = 0. With bias <= MinScale t is at most 1 and they count as e = 1. With bias
// = MinScale + 1 they count as e = 0 with the significand doubled, else they are normalized.
//
// Width argument: e is -6 to 255, s 0 to 255, bias 1 to 15, so w is -256 to 268: 10 bits; at most
// 28 and 9 bits if Bounded, where s - e is at least -2, -8 or -15. Of w >= 0 only the ExpBits low
// bits are added; others mean overflow. t, rounded, is then at most 2^ExpBits + 2: one bit more
// than ExpBits. A shift that empties the register is its largest count, all ones.
//
// Cut: between shift and sum.
module ng_quantize_lane #(
  parameter int FormatSet = ng_format_set_pkg::Fp8,  // 2 E4M3 + 4 E5M2; 0: E2M1
  parameter int RandBits  = 8,
  parameter int MinScale  = 0,  // s is at least this
  // 1: 2^(s - 127) makes x at most 8 (E2M1), 512 (E4M3), 2^16 (E5M2), and x is a number
  parameter bit Bounded   = 1'b0,
  parameter bit Cut       = 1'b0,
  localparam int BaseWidth = Bounded ? 9 : 10,
  localparam int Bits      = FormatSet == 0 ? 4 : 8
) (
  input  logic                        clk_i,  // clock of the cut
  input  logic                        en_i,   // enable of the cut
  input  logic [15:0]                 x_i,
  input  logic signed [BaseWidth-1:0] base_i,
  input  logic                        nan_i,
  input  logic                        fmt_i,  // 0: E4M3, 1: E5M2; ignored if the set has not both
  input  logic                        stochastic_i,
  input  logic [RandBits-1:0]         rand_i,
  output logic [Bits-1:0]             code_o
);
  localparam bit HasE4m3 = (FormatSet & ng_format_set_pkg::E4m3) != 0;
  localparam bit HasE5m2 = (FormatSet & ng_format_set_pkg::E5m2) != 0;
  localparam int ExpBits = HasE5m2 ? 5 : HasE4m3 ? 4 : 2;
  localparam int ManBits = FormatSet == 0 ? 1 : 3;  // as laid out
  localparam int Bias = HasE5m2 ? ng_format_pkg::E5M2Bias : HasE4m3 ? ng_format_pkg::E4M3Bias
      : ng_format_pkg::E2M1Bias;

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if ((FormatSet & ~ng_format_set_pkg::Fp8) != 0) begin : gen_check_format_set
    $fatal(1, "ng_quantize_lane: FormatSet=%0d; expected 0 to 6, a multiple of 2", FormatSet);
  end
  if (RandBits < 1 || RandBits > 24) begin : gen_check_rand_bits
    $fatal(1, "ng_quantize_lane: RandBits=%0d; expected 1 to 24", RandBits);
  end
  if (FormatSet == 0 && !Bounded) begin : gen_check_bounded
    $fatal(1, "ng_quantize_lane: Bounded=0 with FormatSet=0; expected 1");
  end
`endif

  // Bits behind the laid out mantissa: those of the significand, and as many as there are random
  // ones.
  localparam int WantedBits = HasE5m2 && !HasE4m3 ? RandBits - 1 : RandBits;
  localparam int FracBits = WantedBits > 8 - ManBits ? WantedBits : 8 - ManBits;
  localparam int SigBits = 1 + ManBits + FracBits;

  logic fmt;
  assign fmt = HasE5m2 && (fmt_i || !HasE4m3);

  // ---- significand and w
  logic                        normal;
  logic        [7:0]           sig;
  logic signed [BaseWidth-1:0] exponent, w;
  assign normal = x_i[14:7] != '0;
  if (Bias <= MinScale) begin : gen_as_is
    assign sig = {normal, x_i[6:0]};
    assign exponent = $signed(BaseWidth'({x_i[14:8], x_i[7] | ~normal}));
  end else if (Bias == MinScale + 1) begin : gen_doubled
    assign sig = normal ? {1'b1, x_i[6:0]} : {x_i[6:0], 1'b0};
    assign exponent = $signed(BaseWidth'(x_i[14:7]));
  end else begin : gen_normalized
    logic [2:0] shift, low;  // low: 1 - shift of a subnormal number
    logic       below, unused_sticky;
    ng_normalize #(
      .Width   (8),
      .OutWidth(8)
    ) u_normalize (
      .clk_i   (1'b0),
      .en_i    (1'b0),
      .data_i  ({normal, x_i[6:0]}),
      .fill_i  (1'b0),
      .sig_o   (sig),
      .sticky_o(unused_sticky),
      .shift_o (shift)
    );
    assign low = 3'd1 - shift;
    assign below = shift > 3'd1;
    assign exponent = $signed({{BaseWidth - 8{below}}, {5{below}} | x_i[14:10], (shift == '0)
        ? x_i[9:7] : low});
  end
  assign w = exponent + base_i;

  // ---- the shift
  logic               normal_result, sticky;
  logic [SigBits-1:0] shifted;
  assign normal_result = ~w[BaseWidth-1];
  localparam int CountBits = $clog2(SigBits + 1);
  logic [CountBits-1:0] count;
  assign count = {CountBits{~normal_result}}
      & (~w[CountBits-1:0] | {CountBits{~(&w[BaseWidth-2:CountBits])}});
  always_comb begin
    shifted = {sig, {SigBits - 8{1'b0}}};
    sticky = 1'b0;
    for (int k = CountBits - 1; k >= 0; k--) begin
      if (count[k]) begin
        sticky = sticky | (|(shifted & ~({SigBits{1'b1}} << (1 << k))));
        shifted = shifted >> (1 << k);
      end
    end
  end

  // ---- the sum's first operand, and what goes to the top bits of its second one
  localparam int FieldBits = ExpBits + 1;
  logic               two, one, above, nan;
  logic [ExpBits-1:0] field;
  assign two = normal_result & sig[7];
  assign one = ~normal_result & shifted[SigBits-1];
  assign field = w[ExpBits-1:0] & {ExpBits{two}};
  if (Bounded) begin : gen_bounded
    logic unused_nan;
    assign unused_nan = nan_i;
    assign above = 1'b0;
    assign nan = 1'b0;
  end else begin : gen_special
    logic special;
    assign special = &x_i[14:7];
    assign above = special | (normal_result & (|w[BaseWidth-2:ExpBits]));
    assign nan = nan_i | (special & (|x_i[6:0]));
  end

  logic                sign_q, stochastic_q, fmt_q, sticky_q, two_q, one_q, above_q, nan_q;
  logic [RandBits-1:0] rand_q;
  logic [ExpBits-1:0]  field_q;
  logic [SigBits-2:0]  shifted_q;
  ng_cut #(
    .Width (8 + RandBits + ExpBits + SigBits - 1),
    .Enable(Cut ? 1 : 0)
  ) u_cut (
    .clk_i,
    .en_i,
    .d_i  ({x_i[15], stochastic_i, fmt, sticky, two, one, above, nan, rand_i, field,
        shifted[SigBits-2:0]}),
    .q_o  ({sign_q, stochastic_q, fmt_q, sticky_q, two_q, one_q, above_q, nan_q, rand_q, field_q,
        shifted_q})
  );

  // ---- the sum
  logic [FracBits:0] random, half, addend;  // from the bit above the fraction on
  assign random = fmt_q ? (FracBits + 1)'(rand_q) << (FracBits + 1 - RandBits)
                        : (FracBits + 1)'(rand_q) << (FracBits >= RandBits ? FracBits - RandBits
                        : 0);
  assign half = {1'b0, fmt_q, {FracBits - 1{1'b1}}};
  assign addend = stochastic_q ? random : half;

  localparam int SumBits = FieldBits + ManBits + FracBits;
  logic               odd, first, unused_first;
  logic [SumBits-1:0] more, sum;
  if (FormatSet == 0) begin : gen_odd_e2m1
    assign odd = shifted_q[FracBits];
  end else begin : gen_odd
    assign odd = fmt_q ? shifted_q[FracBits+1] : shifted_q[FracBits];
  end
  assign first = ~stochastic_q & (odd | sticky_q);
  assign more = SumBits'({two_q, one_q}) << (ManBits + FracBits);
  assign {sum, unused_first} = {1'b0, field_q, shifted_q, 1'b1} + {more | SumBits'(addend), first};

  // ---- the code
  logic [FieldBits+ManBits-1:0] code;  // field and mantissa as laid out
  assign code = sum[SumBits-1:FracBits];
  if (FormatSet == 0) begin : gen_e2m1
    assign code_o = {sign_q, code[2:0] | {3{code[3]}}};
  end else begin : gen_fp8
    logic over4, over5, over;
    assign over4 = code[7] | (&code[6:0]) | (HasE5m2 && code[FieldBits+ManBits-1]);
    assign over5 = (&code[7:3]) | (HasE5m2 && code[FieldBits+ManBits-1]);
    assign over = above_q | nan_q | (fmt_q ? over5 : over4);
    assign code_o = {
        sign_q & ~nan_q,
        over ? {4'b1111, nan_q | ~fmt_q, 1'b1, nan_q | fmt_q} : fmt_q ? code[7:1] : code[6:0]};
  end

  logic unused;
  assign unused = ^{above_q, nan_q, sum[FracBits-1:0]};
endmodule
