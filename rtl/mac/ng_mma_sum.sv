// SPDX-License-Identifier: Apache-2.0
// Adds 32 products and C as NVIDIA's matrix instructions with single products do: all behind the
// lanes of ng_mma_fp8 and ng_mma_mx. Products and C are aligned to the largest exponent, truncated
// at Bits fraction bits, added, and rounded toward zero to ManBits mantissa bits:
//
//   Mode          Bits   ManBits   result
//   0 Blackwell     25        23   FP32
//   1 Hopper        13        13   E8M13, which is FP32 with the low ten bits 0
//
//   label    of a product: the sum of its operands' exponents, a zero's being -126, and of its
//            scales' exponents; of C: its exponent; subnormal numbers have the exponent of the
//            smallest normal one
//   top      the largest label
//   fp32_o   toward zero: (trunc(C / u) + sum of trunc(product / u)) * u, u = 2^(top - Bits)
//
// Labels here are FP32's exponent fields: 127 more. A key orders the products by their labels: a
// bit that says that neither operand is zero, with scales another that says that not both are, and
// the sum of the exponents, where a zero counts 0. All products have the same scales, so the key
// says nothing of them.
//
// Zeros. Products with a zero have the largest label only if all have one. Without scales that
// label is below -110, and a C that is larger has its own place. With scales it may be as large as
// 2^144, so what such a product's label is matters exactly.
//
// Signs. The sum is that of C's magnitude and of products with C's sign taken out; each product
// owes a 1 if it is inverted. |x| of a negative sum is ~x followed by ones without end, and the
// guard bit with ties away rounds that toward zero.
//
// Subnormal results. Without scales they come from a C beside which no product has a bit, so the
// rounding module's shift moves no bit out. With scales sums have up to two places below FP32's
// last one, where top is -126 or -125. No result has them, so they are dropped before the sum is
// normalized: what is below a negative sum then counts only if it is ones throughout.
//
// Width argument. A product's magnitude is at most 225 in units of 2^(label - 6): Bits - 6 places
// below that make Bits + 2 bits in units of u, and shifts from there on empty it. C has the upper
// Bits + 1 of 24 bits and two places below. |sum| <= (32 * 225 + 128) * 2^(Bits - 6) < 2^(Bits +
// 7). A C that leads by 31 leaves no product. With scales a label is -252 - 254 to 30 + 254, so its
// difference to C's has 11 bits.
//
// Cuts (docs/cuts.md): bit 1 behind the comparison of the labels, 2 behind the alignment, 3 behind
// the sum, 4 behind the normalizer; bit 0 is the lanes'.
module ng_mma_sum #(
  parameter int Mode     = ng_mma_pkg::Hopper,  // 0 Blackwell, 1 Hopper
  parameter int ExpWidth = 5,     // bits of an operand's exponent: 4 with a bias of 7, 5 with 15
  parameter bit Scaled   = 1'b0,  // products have scales
  // registers: 2 largest + 4 aligned + 8 sum + 16 normalized
  parameter int Cuts     = 0,
  localparam int KeyWidth = ExpWidth + (Scaled ? 3 : 2)
) (
  input  logic                   clk_i,         // clock of the cuts
  input  logic                   en_i,          // enable of the cuts
  input  logic [31:0]            nan_i,         // of each product: it is NaN
  input  logic [31:0]            inf_i,         // of each product: infinite, if it is not NaN
  input  logic [31:0]            negative_i,    // of each product: its sign
  input  logic [32*KeyWidth-1:0] keys_i,        // what orders the products, lane 0 in the low bits
  input  logic [255:0]           magnitudes_i,  // significands' products, with 6 fraction bits
  input  logic [8:0]             scales_i,      // sum of both E8M0 scales; ignored unless Scaled
  input  logic [31:0]            fp32_i,        // C
  output logic [31:0]            fp32_o         // D; NaN is 7FFFFFFF
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Mode < 0 || Mode > 1) begin : gen_check_mode
    $fatal(1, "ng_mma_sum: Mode=%0d; expected 0 (Blackwell) or 1 (Hopper)", Mode);
  end
  if (ExpWidth < 4 || ExpWidth > 5) begin : gen_check_exp_width
    $fatal(1, "ng_mma_sum: ExpWidth=%0d; expected 4 or 5", ExpWidth);
  end
  if (Cuts < 0 || Cuts > 31) begin : gen_check_cuts
    $fatal(1, "ng_mma_sum: Cuts=%0d; expected 0 to 31", Cuts);
  end
`endif

  localparam int Lanes = 32;
  localparam int Bits = Mode == ng_mma_pkg::Hopper ? 13 : 25;
  localparam int ManBits = Mode == ng_mma_pkg::Hopper ? 13 : 23;
  localparam int Bias = ExpWidth == 4 ? 7 : 15;
  localparam int ExpsWidth = ExpWidth + 1;  // of the sum of two exponents
  localparam int TermWidth = Bits + 2;
  localparam int StartWidth = Bits + 1;
  localparam int SumWidth = TermWidth + 7;
  localparam int DataWidth = Bits + 8;  // of the sum's magnitude and a fill bit
  localparam int ShiftWidth = $clog2(DataWidth);
  localparam int LabelWidth = Scaled ? 11 : 10;
  localparam int TopWidth = Scaled ? 9 : 8;

  // ---- the largest label
  logic [KeyWidth-1:0]          largest;
  logic signed [LabelWidth-1:0] lane_label, start_label, lead;
  logic                         start_leads;
  ng_max_tree #(
    .Levels(5),
    .Width (KeyWidth)
  ) u_largest_key (
    .x_i  (keys_i),
    .max_o(largest)
  );
  if (Scaled) begin : gen_scaled
    logic [LabelWidth-1:0] offset;  // of the sum of all exponents
    assign offset = largest[KeyWidth-1] ? LabelWidth'(127 - 2 * Bias - 254)
        : largest[KeyWidth-2] ? -(LabelWidth'(Bias - 1 + 254)) : -(LabelWidth'(125 + 254));
    assign lane_label = LabelWidth'(largest[ExpsWidth-1:0]) + LabelWidth'(scales_i) + offset;
  end else begin : gen_unscaled
    logic unused_scales;
    assign unused_scales = ^scales_i;
    assign lane_label = LabelWidth'(largest[ExpsWidth-1:0])
        + (largest[KeyWidth-1] ? LabelWidth'(127 - 2 * Bias) : -(LabelWidth'(Bias - 1)));
  end
  assign start_label = LabelWidth'({fp32_i[30:24], fp32_i[23] | ~(|fp32_i[30:23])});
  assign lead = start_label - lane_label;
  assign start_leads = ~lead[LabelWidth-1];

  // What goes beside the terms.
  typedef struct packed {
    logic                nan;       // the result is NaN
    logic                inf;       // the result is infinite, if it is not NaN
    logic                negative;  // sign of C, and of an infinite result
    logic [TopWidth-1:0] top;       // the largest label
  } beside_t;
  localparam int BesideWidth = TopWidth + 3;  // of a beside_t
  beside_t beside, largest_beside, aligned_beside, sum_beside, normalized_beside;
  logic start_special, start_nan, start_inf, plus_inf, minus_inf;
  assign start_special = &fp32_i[30:23];
  assign start_nan = start_special & (|fp32_i[22:0]);
  assign start_inf = start_special & ~(|fp32_i[22:0]);
  assign plus_inf = (|(inf_i & ~negative_i)) | (start_inf & ~fp32_i[31]);
  assign minus_inf = (|(inf_i & negative_i)) | (start_inf & fp32_i[31]);
  assign beside.nan = (|nan_i) | start_nan | (plus_inf & minus_inf);
  assign beside.inf = plus_inf | minus_inf;
  assign beside.negative = plus_inf | minus_inf ? minus_inf : fp32_i[31];
  assign beside.top = start_leads ? start_label[TopWidth-1:0] : lane_label[TopWidth-1:0];

  // A shift is the distance to the largest key, and by what C leads, at most 31.
  logic [4:0]                  lead_by;
  logic [6:0]                  reference_d, reference_q;
  logic [TopWidth-1:0]         start_below_d, start_below;
  logic [Lanes*KeyWidth-1:0]   keys_q;
  logic [Lanes*8-1:0]          magnitudes_q;
  logic [Lanes-1:0]            negative_q;
  logic [StartWidth-1:0]       start_sig_d, start_sig;
  logic [25:0]                 start_wide;
  assign lead_by = {5{start_leads}} & (lead[4:0] | {5{|lead[LabelWidth-1:5]}});
  assign reference_d = 7'(largest[ExpsWidth-1:0]) + 7'(lead_by);
  assign start_below_d = TopWidth'(-lead) & {TopWidth{~start_leads}};
  assign start_wide = {|fp32_i[30:23], fp32_i[22:0], 2'b00};
  assign start_sig_d = start_wide[25-:StartWidth];
  ng_cut #(
    .Width (Lanes * (KeyWidth + 9) + 7 + TopWidth + StartWidth + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::SumCutLargest)
  ) u_largest (
    .clk_i,
    .en_i,
    .d_i  ({keys_i, magnitudes_i, negative_i ^ {Lanes{fp32_i[31]}}, reference_d, start_below_d,
        start_sig_d, beside}),
    .q_o  ({keys_q, magnitudes_q, negative_q, reference_q, start_below, start_sig,
        largest_beside})
  );

  // ---- aligned; what falls off is dropped
  logic [Lanes*TermWidth-1:0] terms_d, terms;
  logic [Lanes-1:0]           differ, unused_sticky, unused_keys;
  logic [StartWidth-1:0]      aligned_start_d, aligned_start;
  logic                       unused_start_sticky;
  for (genvar i = 0; i < Lanes; i++) begin : gen_align
    logic [6:0] below;
    assign below = reference_q - 7'(keys_q[KeyWidth*i+:ExpsWidth]);
    assign unused_keys[i] = ^keys_q[KeyWidth*i+ExpsWidth+:KeyWidth-ExpsWidth];
    ng_shift_sticky #(
      .Width  (TermWidth),
      .ByWidth(7)
    ) u_shift (
      .data_i  ({magnitudes_q[8*i+:8], {Bits - 6{1'b0}}}),
      .by_i    (below),
      .data_o  (terms_d[TermWidth*i+:TermWidth]),
      .sticky_o(unused_sticky[i])
    );
  end
  ng_shift_sticky #(
    .Width  (StartWidth),
    .ByWidth(TopWidth)
  ) u_shift_start (
    .data_i  (start_sig),
    .by_i    (start_below),
    .data_o  (aligned_start_d),
    .sticky_o(unused_start_sticky)
  );
  ng_cut #(
    .Width (Lanes * (TermWidth + 1) + StartWidth + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::SumCutAligned)
  ) u_aligned (
    .clk_i,
    .en_i,
    .d_i  ({terms_d, negative_q, aligned_start_d, largest_beside}),
    .q_o  ({terms, differ, aligned_start, aligned_beside})
  );

  // ---- added
  logic signed [SumWidth-1:0] sum_d, sum;
  ng_mma_tree #(
    .Width(TermWidth)
  ) u_sum (
    .terms_i   (terms),
    .negative_i(differ),
    .start_i   (TermWidth'(aligned_start)),
    .sum_o     (sum_d)
  );
  ng_cut #(
    .Width (SumWidth + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::SumCutSum)
  ) u_sum_cut (
    .clk_i,
    .en_i,
    .d_i  ({sum_d, aligned_beside}),
    .q_o  ({sum, sum_beside})
  );

  // ---- normalized
  logic                  sum_negative, fill, normalized_sign, sticky, guard;
  logic [DataWidth-2:0]  complement, magnitude;
  logic [ManBits:0]      sig, normalized_sig;
  logic [ShiftWidth-1:0] shift, normalized_shift;
  assign sum_negative = sum[SumWidth-1];
  assign complement = sum[DataWidth-2:0] ^ {DataWidth - 1{sum_negative}};
  if (Scaled) begin : gen_drop
    logic       below_least, two;  // a place, or two, are below the last one of FP32
    logic [1:0] dropped;
    assign below_least = (sum_beside.top[TopWidth-1:2] == '0) & ~(&sum_beside.top[1:0]);
    assign two = below_least & ~sum_beside.top[1];
    assign dropped = {two, below_least};
    assign fill = sum_negative & (&(complement[1:0] | ~dropped));
    assign magnitude = {complement[DataWidth-2:2],
        (complement[1:0] & ~dropped) | (dropped & {2{fill}})};
  end else begin : gen_keep
    assign fill = sum_negative;
    assign magnitude = complement;
  end
  ng_normalize #(
    .Width   (DataWidth),
    .OutWidth(ManBits + 1)
  ) u_normalize (
    .clk_i,
    .en_i,
    .data_i  ({magnitude, fill}),
    .fill_i  (fill),
    .sig_o   (sig),
    .sticky_o(sticky),
    .shift_o (shift)
  );
  ng_cut #(
    .Width (ManBits + 3 + ShiftWidth + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::SumCutNormalized)
  ) u_normalized (
    .clk_i,
    .en_i,
    .d_i  ({sig, fill & ~sticky, shift, sum_negative, sum_beside}),
    .q_o  ({normalized_sig, guard, normalized_shift, normalized_sign, normalized_beside})
  );

  // ---- rounded: the exponent of the highest place is 6 above the largest label
  localparam int ResultWidth = TopWidth + 1;  // of its exponent
  logic signed [ResultWidth-1:0] exponent;
  logic [8+ManBits:0]            rounded;
  logic                          sign;
  assign exponent = ResultWidth'(normalized_beside.top) - ResultWidth'(127 - 6)
      - ResultWidth'(normalized_shift);
  assign sign = normalized_beside.negative
      ^ (normalized_sign & ~normalized_beside.inf);
  ng_round_pack #(
    .Bits    (9 + ManBits),
    .ManBits (ManBits),
    .SigWidth(ManBits + 2),
    .ExpWidth(ResultWidth),
    .ExpLo   (Scaled ? -152 : -126 - ManBits),
    .ExpHi   (Scaled ? 30 + 254 + 6 : 127),
    .RandBits(1)
  ) u_round (
    .clk_i,
    .en_i,
    .mode_i(ng_round_pkg::NearestAway),
    .nan_i (1'b0),
    .inf_i (normalized_beside.inf),
    .sign_i(sign & (normalized_sig[ManBits] | normalized_beside.inf)),
    .exp_i (exponent),
    .sig_i ({normalized_sig, guard}),
    .rand_i(1'b0),
    .code_o(rounded)
  );
  assign fp32_o = normalized_beside.nan ? 32'h7FFF_FFFF : 32'(rounded) << (23 - ManBits);

  logic unused;
  assign unused = ^{sum[SumWidth-2:DataWidth-1], start_wide, unused_keys};
endmodule
