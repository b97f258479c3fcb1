// SPDX-License-Identifier: Apache-2.0
// One step of RISC-V's bulk-normalized dot products for FP8, for one output: D = A * B + C with 32
// products (docs/accumulation.md, mode `rvbna`; the extensions Zvdota and Zvbdota). Three things
// are rounded to odd: each product when it is aligned to the largest one, the sum of the products
// as an FP32 number, and that plus C. Rounding to odd drops bits and makes the last bit that stays
// 1 if one of them was 1.
//
//   label     of a product without a zero: the sum of its operands' exponents; subnormal numbers
//             have the exponent of the smallest normal one. Products with a zero are left out.
//   top       the largest label
//   fp32_o    odd(C + odd(sum of odd(product / u) * u)), u = 2^(top - 28)
//
// 28 is FP32's 23 places and five guard bits, log2 of 32.
//
// Signs. The sum has the last product's sign taken out, so that 31 adders take the 1 that each of
// the other products may owe.
//
// Width argument. A product's magnitude has 8 bits in units of 2^(label - 6) and 22 places below
// that; labels differ by 58 at most. |sum| <= 32 * 225 * 2^22 < 2^35. The sum is a multiple of
// 2^(-28 - 28), if it is not 0, so the result is subnormal or less only if it is C itself, and the
// rounding to odd needs no place but FP32's 24.
//
// Cuts (docs/cuts.md): bit 0 in the lanes, 1 behind the comparison of the labels, 2 behind the
// alignment, 3 behind the sum, 4 behind its rounding, 5 to 7 in the addition of C: where it is
// known which operand leads, behind the comparison, and before the rounding.
module ng_mma_rvbna #(
  parameter int FormatSet = ng_format_set_pkg::Fp8,  // 2 E4M3 + 4 E5M2
  // registers: 1 product + 2 largest + 4 aligned + 8 sum + 16 dot + 32 ordered + 64 compared + 128
  // normalized
  parameter int Cuts      = 0
) (
  input  logic         clk_i,    // clock of the cuts
  input  logic         en_i,     // enable of the cuts
  input  logic [255:0] a_i,      // 32 FP8 codes, lane 0 in the low bits
  input  logic [255:0] b_i,      // 32 FP8 codes, lane 0 in the low bits
  input  logic         a_fmt_i,  // of a_i, 0: E4M3, 1: E5M2; ignored if the set has only one
  input  logic         b_fmt_i,  // of b_i, 0: E4M3, 1: E5M2; ignored if the set has only one
  input  logic [31:0]  fp32_i,   // C
  output logic [31:0]  fp32_o    // D; NaN is 7FC00000
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (FormatSet == 0 || (FormatSet & ~ng_format_set_pkg::Fp8) != 0) begin : gen_check_format_set
    $fatal(1, "ng_mma_rvbna: FormatSet=%0d; expected 2 to 6, a multiple of 2 (2 E4M3 + 4 E5M2)",
           FormatSet);
  end
  if (Cuts < 0 || Cuts > 255) begin : gen_check_cuts
    $fatal(1, "ng_mma_rvbna: Cuts=%0d; expected 0 to 255", Cuts);
  end
`endif

  localparam int Lanes = 32;
  localparam int ExpWidth = FormatSet == ng_format_set_pkg::E4m3 ? 4 : 5;
  localparam int Bias = ExpWidth == 4 ? 7 : 15;
  localparam int KeyWidth = ExpWidth + 2;
  localparam int ExpsWidth = ExpWidth + 1;  // of the sum of two exponents
  localparam int TermWidth = 30;
  localparam int SumWidth = TermWidth + 7;
  localparam int MagnitudeWidth = 35;
  localparam int ShiftWidth = $clog2(MagnitudeWidth);
  localparam int AddExpWidth = 10;  // of an exponent at ng_add_fp32

  // ---- products, and C beside them
  logic [Lanes-1:0]          lane_nan, lane_inf, negative;
  logic [Lanes*KeyWidth-1:0] keys;
  logic [Lanes*8-1:0]        magnitudes;
  logic [31:0]               start;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    ng_mma_lane #(
      .FormatSet(FormatSet),
      .Cuts     (Cuts & ng_mma_pkg::RvbnaCutProduct)
    ) u_lane (
      .clk_i,
      .en_i,
      .a_i        (a_i[8*i+:8]),
      .b_i        (b_i[8*i+:8]),
      .a_fmt_i    ({2'b00, a_fmt_i}),
      .b_fmt_i    ({2'b00, b_fmt_i}),
      .nan_o      (lane_nan[i]),
      .inf_o      (lane_inf[i]),
      .negative_o (negative[i]),
      .key_o      (keys[KeyWidth*i+:KeyWidth]),
      .magnitude_o(magnitudes[8*i+:8])
    );
  end
  ng_cut #(
    .Width (32),
    .Enable(Cuts & ng_mma_pkg::RvbnaCutProduct)
  ) u_product (
    .clk_i,
    .en_i,
    .d_i  (fp32_i),
    .q_o  (start)
  );

  // ---- the largest label
  // What goes beside the terms.
  typedef struct packed {
    logic                 nan;       // the sum of the products is NaN
    logic                 inf;       // it is infinite, if it is not NaN
    logic                 negative;  // sign of the last product, and of an infinite sum
    logic [ExpsWidth-1:0] top;       // the largest sum of exponents
    logic [31:0]          start;     // C
  } beside_t;
  localparam int BesideWidth = ExpsWidth + 35;  // of a beside_t
  beside_t                   beside, largest_beside, aligned_beside, sum_beside;
  logic [KeyWidth-1:0]       largest;
  logic [Lanes*KeyWidth-1:0] keys_q;
  logic [Lanes*8-1:0]        magnitudes_q;
  logic [Lanes-1:0]          negative_q;
  logic                      plus_inf, minus_inf;
  ng_max_tree #(
    .Levels(5),
    .Width (KeyWidth)
  ) u_largest_key (
    .x_i  (keys),
    .max_o(largest)
  );
  assign plus_inf = |(lane_inf & ~negative);
  assign minus_inf = |(lane_inf & negative);
  assign beside.nan = (|lane_nan) | (plus_inf & minus_inf);
  assign beside.inf = plus_inf | minus_inf;
  assign beside.negative = plus_inf | minus_inf ? minus_inf : negative[Lanes-1];
  assign beside.top = largest[ExpsWidth-1:0];
  assign beside.start = start;
  ng_cut #(
    .Width (Lanes * (KeyWidth + 9) + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::RvbnaCutLargest)
  ) u_largest (
    .clk_i,
    .en_i,
    .d_i  ({keys, magnitudes, negative ^ {Lanes{negative[Lanes-1]}}, beside}),
    .q_o  ({keys_q, magnitudes_q, negative_q, largest_beside})
  );

  // ---- aligned, to odd
  logic [Lanes*TermWidth-1:0] terms_d, terms;
  logic [Lanes-1:0]           differ, unused_keys;
  for (genvar i = 0; i < Lanes; i++) begin : gen_align
    logic [5:0]           below;
    logic [TermWidth-1:0] shifted;
    logic                 sticky;
    assign below = 6'(largest_beside.top - keys_q[KeyWidth*i+:ExpsWidth]);
    assign unused_keys[i] = keys_q[KeyWidth*i+KeyWidth-1];
    ng_shift_sticky #(
      .Width  (TermWidth),
      .ByWidth(6)
    ) u_shift (
      .data_i  ({magnitudes_q[8*i+:8], {TermWidth - 8{1'b0}}}),
      .by_i    (below),
      .data_o  (shifted),
      .sticky_o(sticky)
    );
    assign terms_d[TermWidth*i+:TermWidth] = {shifted[TermWidth-1:1], shifted[0] | sticky};
  end
  ng_cut #(
    .Width (Lanes * (TermWidth + 1) + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::RvbnaCutAligned)
  ) u_aligned (
    .clk_i,
    .en_i,
    .d_i  ({terms_d, negative_q, largest_beside}),
    .q_o  ({terms, differ, aligned_beside})
  );

  // ---- added
  logic signed [SumWidth-1:0] sum_d, sum;
  ng_mma_tree #(
    .Width(TermWidth)
  ) u_sum (
    .terms_i   (terms),
    .negative_i(differ),
    .start_i   ({TermWidth{1'b0}}),
    .sum_o     (sum_d)
  );
  ng_cut #(
    .Width (SumWidth + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::RvbnaCutSum)
  ) u_sum_cut (
    .clk_i,
    .en_i,
    .d_i  ({sum_d, aligned_beside}),
    .q_o  ({sum, sum_beside})
  );

  // ---- normalized, to odd: the exponent of the highest place is 6 above the largest label
  logic [MagnitudeWidth-1:0]     magnitude;
  logic [23:0]                   sig, dot_sig;
  logic                          sticky, dot_nan, dot_inf, dot_negative, negative_d;
  logic [ShiftWidth-1:0]         shift;
  logic signed [AddExpWidth-1:0] exponent, dot_exp;
  logic [31:0]                   dot_start;
  assign magnitude = MagnitudeWidth'(sum[SumWidth-1] ? -sum : sum);
  ng_normalize #(
    .Width   (MagnitudeWidth),
    .OutWidth(24)
  ) u_normalize (
    .clk_i,
    .en_i,
    .data_i  (magnitude),
    .fill_i  (1'b0),
    .sig_o   (sig),
    .sticky_o(sticky),
    .shift_o (shift)
  );
  assign exponent = AddExpWidth'({1'b0, sum_beside.top}) - AddExpWidth'(2 * Bias - 6)
      - AddExpWidth'({1'b0, shift});
  // A sum of zero is +0, so that C's sign does not stay if C is -0.
  assign negative_d = sum_beside.inf ? sum_beside.negative
      : (sum_beside.negative ^ sum[SumWidth-1]) & sig[23];
  ng_cut #(
    .Width (24 + AddExpWidth + 35),
    .Enable(Cuts & ng_mma_pkg::RvbnaCutDot)
  ) u_dot (
    .clk_i,
    .en_i,
    .d_i  ({sig[23:1], sig[0] | sticky, exponent, sum_beside.nan, sum_beside.inf, negative_d,
        sum_beside.start}),
    .q_o  ({dot_sig, dot_exp, dot_nan, dot_inf, dot_negative, dot_start})
  );

  // ---- plus C, to odd
  ng_add_fp32 #(
    .SigWidth(24),
    .ExpHi   (36),
    .Odd     (1'b1),
    .Cuts    (((Cuts & ng_mma_pkg::RvbnaCutOrdered) != 0 ? ng_mac_pkg::AddCutOrdered : 0)
        | ((Cuts & ng_mma_pkg::RvbnaCutCompared) != 0 ? ng_mac_pkg::AddCutCompared : 0)
        | ((Cuts & ng_mma_pkg::RvbnaCutNormalized) != 0 ? ng_mac_pkg::AddCutNormalized : 0))
  ) u_add (
    .clk_i,
    .en_i,
    .x_nan_i (dot_nan),
    .x_inf_i (dot_inf),
    .x_sign_i(dot_negative),
    .x_exp_i (dot_exp),
    .x_sig_i (dot_sig),
    .c_i     (dot_start),
    .sum_o   (fp32_o)
  );

  logic unused;
  assign unused = ^{unused_keys, largest[KeyWidth-1]};
endmodule
