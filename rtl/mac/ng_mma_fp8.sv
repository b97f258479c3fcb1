// SPDX-License-Identifier: Apache-2.0
// One step of NVIDIA's matrix instructions for FP8 without block scales, for one output: D = A * B +
// C with 32 products (docs/accumulation.md, modes `hopper` and `blackwell`). Products and C are
// aligned to the largest exponent, truncated at Bits fraction bits, added, and rounded toward zero
// to ManBits mantissa bits:
//
//   Mode          Bits   ManBits   result
//   0 Blackwell     25        23   FP32
//   1 Hopper        13        13   E8M13, which is FP32 with the low ten bits 0
//
//   label    of a product: the sum of its operands' exponents, a zero's being -126; of C: its
//            exponent; subnormal numbers have the exponent of the smallest normal one
//   top      the largest label
//   fp32_o   toward zero: (trunc(C / u) + sum of trunc(product / u)) * u, u = 2^(top - Bits)
//
// Labels here are FP32's exponent fields: 127 more. ng_mma_fp8_lane has what orders the products.
// A product with a zero matters only if all are zero: then a C below 2^-111 may be cut off at a
// higher place than C itself would choose. Such a C is all that a subnormal result can come from.
//
// Signs and rounding are those of ng_mma_nvfp4: C's sign is taken out of the sum, each product owes
// a 1 if it is inverted, |x| of a negative sum is ~x followed by ones without end, and the guard
// bit with ties away rounds that toward zero.
//
// Width argument. A product's magnitude is at most 225 in units of 2^(label - 6): Bits - 6 places
// below that make Bits + 2 bits in units of u, and shifts from there on empty it. C has the upper
// Bits + 1 of 24 bits and two places below. |sum| <= (32 * 225 + 128) * 2^(Bits - 6) < 2^(Bits +
// 7). A C that leads by 31 leaves no product.
//
// Cuts (docs/cuts.md): bit 0 in the lanes, 1 behind the comparison of the labels, 2 behind the
// alignment, 3 behind the sum, 4 behind the normalizer.
module ng_mma_fp8 #(
  parameter int Mode      = ng_mma_pkg::Hopper,      // 0 Blackwell, 1 Hopper
  parameter int FormatSet = ng_format_set_pkg::Fp8,  // 2 E4M3 + 4 E5M2
  // registers: 1 product + 2 largest + 4 aligned + 8 sum + 16 normalized
  parameter int Cuts      = 0
) (
  input  logic         clk_i,    // clock of the cuts
  input  logic         en_i,     // enable of the cuts
  input  logic [255:0] a_i,      // 32 FP8 codes, lane 0 in the low bits
  input  logic [255:0] b_i,      // 32 FP8 codes, lane 0 in the low bits
  input  logic         a_fmt_i,  // of a_i, 0: E4M3, 1: E5M2; ignored if the set has only one
  input  logic         b_fmt_i,  // of b_i, 0: E4M3, 1: E5M2; ignored if the set has only one
  input  logic [31:0]  fp32_i,   // C
  output logic [31:0]  fp32_o    // D; NaN is 7FFFFFFF
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Mode < 0 || Mode > 1) begin : gen_check_mode
    $fatal(1, "ng_mma_fp8: Mode=%0d; expected 0 (Blackwell) or 1 (Hopper)", Mode);
  end
  if (FormatSet == 0 || (FormatSet & ~ng_format_set_pkg::Fp8) != 0) begin : gen_check_format_set
    $fatal(1, "ng_mma_fp8: FormatSet=%0d; expected 2 to 6, a multiple of 2 (2 E4M3 + 4 E5M2)",
           FormatSet);
  end
  if (Cuts < 0 || Cuts > 31) begin : gen_check_cuts
    $fatal(1, "ng_mma_fp8: Cuts=%0d; expected 0 to 31", Cuts);
  end
`endif

  localparam int Lanes = 32;
  localparam int Levels = 5;
  localparam int Bits = Mode == ng_mma_pkg::Hopper ? 13 : 25;
  localparam int ManBits = Mode == ng_mma_pkg::Hopper ? 13 : 23;
  localparam bit E4m3Alone = FormatSet == ng_format_set_pkg::E4m3;
  localparam int Bias = E4m3Alone ? 7 : 15;
  localparam int KeyWidth = E4m3Alone ? 6 : 7;
  localparam int TermWidth = Bits + 2;
  localparam int StartWidth = Bits + 1;
  localparam int SumWidth = TermWidth + 1 + Levels + 1;
  localparam int DataWidth = Bits + 8;  // of the sum's magnitude and a fill bit
  localparam int ShiftWidth = $clog2(DataWidth);

  // ---- products, and C beside them
  logic [Lanes-1:0]          lane_nan, lane_inf, negative;
  logic [Lanes*KeyWidth-1:0] keys;
  logic [Lanes*8-1:0]        magnitudes;
  logic [31:0]               start;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    ng_mma_fp8_lane #(
      .FormatSet(FormatSet),
      .Cuts     (Cuts & ng_mma_pkg::Fp8CutProduct)
    ) u_lane (
      .clk_i,
      .en_i,
      .a_i        (a_i[8*i+:8]),
      .b_i        (b_i[8*i+:8]),
      .a_fmt_i,
      .b_fmt_i,
      .nan_o      (lane_nan[i]),
      .inf_o      (lane_inf[i]),
      .negative_o (negative[i]),
      .key_o      (keys[KeyWidth*i+:KeyWidth]),
      .magnitude_o(magnitudes[8*i+:8])
    );
  end
  ng_cut #(
    .Width (32),
    .Enable(Cuts & ng_mma_pkg::Fp8CutProduct)
  ) u_product (
    .clk_i,
    .en_i,
    .d_i  (fp32_i),
    .q_o  (start)
  );

  // ---- the largest label
  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    for (genvar i = 0; i < (Lanes >> l); i++) begin : gen_node
      logic [KeyWidth-1:0] key;
      if (l == 0) begin : gen_leaf
        assign key = keys[KeyWidth*i+:KeyWidth];
      end else begin : gen_larger
        logic [KeyWidth-1:0] left, right;
        assign left = gen_level[l-1].gen_node[2*i].key;
        assign right = gen_level[l-1].gen_node[2*i+1].key;
        assign key = left > right ? left : right;
      end
    end
  end
  localparam int LabelWidth = 10;
  logic [KeyWidth-1:0]          largest;
  logic signed [LabelWidth-1:0] lane_label, start_label, lead;
  logic                         start_leads;
  assign largest = gen_level[Levels].gen_node[0].key;
  assign lane_label = LabelWidth'(largest[KeyWidth-2:0])
      + (largest[KeyWidth-1] ? LabelWidth'(127 - 2 * Bias) : -(LabelWidth'(Bias - 1)));
  assign start_label = {2'b00, start[30:24], start[23] | ~(|start[30:23])};
  assign lead = start_label - lane_label;
  assign start_leads = ~lead[LabelWidth-1];

  // What goes beside the terms.
  typedef struct packed {
    logic       nan;       // the result is NaN
    logic       inf;       // the result is infinite, if it is not NaN
    logic       negative;  // sign of C, and of an infinite result
    logic [7:0] top;       // the largest label
  } beside_t;
  localparam int BesideWidth = 11;  // of a beside_t
  beside_t beside, largest_beside, aligned_beside, sum_beside, normalized_beside;
  logic start_special, start_nan, start_inf, plus_inf, minus_inf;
  assign start_special = &start[30:23];
  assign start_nan = start_special & (|start[22:0]);
  assign start_inf = start_special & ~(|start[22:0]);
  assign plus_inf = (|(lane_inf & ~negative)) | (start_inf & ~start[31]);
  assign minus_inf = (|(lane_inf & negative)) | (start_inf & start[31]);
  assign beside.nan = (|lane_nan) | start_nan | (plus_inf & minus_inf);
  assign beside.inf = plus_inf | minus_inf;
  assign beside.negative = plus_inf | minus_inf ? minus_inf : start[31];
  assign beside.top = start_leads ? start_label[7:0] : lane_label[7:0];

  // A shift is the distance to the largest key, and by what C leads, at most 31.
  logic [4:0]                  lead_by;
  logic [6:0]                  reference_d, reference_q;
  logic [7:0]                  start_below_d, start_below;
  logic [Lanes*KeyWidth-1:0]   keys_q;
  logic [Lanes*8-1:0]          magnitudes_q;
  logic [Lanes-1:0]            negative_q;
  logic [StartWidth-1:0]       start_sig_d, start_sig;
  logic [25:0]                 start_wide;
  assign lead_by = {5{start_leads}} & (lead[4:0] | {5{|lead[LabelWidth-1:5]}});
  assign reference_d = 7'(largest[KeyWidth-2:0]) + 7'(lead_by);
  assign start_below_d = 8'(-lead) & {8{~start_leads}};
  assign start_wide = {|start[30:23], start[22:0], 2'b00};
  assign start_sig_d = start_wide[25-:StartWidth];
  ng_cut #(
    .Width (Lanes * (KeyWidth + 9) + 7 + 8 + StartWidth + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::Fp8CutLargest)
  ) u_largest (
    .clk_i,
    .en_i,
    .d_i  ({keys, magnitudes, negative ^ {Lanes{start[31]}}, reference_d, start_below_d,
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
    assign below = reference_q - 7'(keys_q[KeyWidth*i+:KeyWidth-1]);
    assign unused_keys[i] = keys_q[KeyWidth*i+KeyWidth-1];
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
    .ByWidth(8)
  ) u_shift_start (
    .data_i  (start_sig),
    .by_i    (start_below),
    .data_o  (aligned_start_d),
    .sticky_o(unused_start_sticky)
  );
  ng_cut #(
    .Width (Lanes * (TermWidth + 1) + StartWidth + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::Fp8CutAligned)
  ) u_aligned (
    .clk_i,
    .en_i,
    .d_i  ({terms_d, negative_q, aligned_start_d, largest_beside}),
    .q_o  ({terms, differ, aligned_start, aligned_beside})
  );

  // ---- added. An adder of level l, which has 2^l lanes below it, takes the 1 that the last lane of
  // its left half may owe; the adder of C takes that of the last lane.
  logic [(Lanes+1)*(TermWidth+1)-1:0] addends;
  logic [Lanes-1:0]                   owed;
  logic [SumWidth-1:0]                sum_d, sum;
  for (genvar i = 0; i < Lanes; i++) begin : gen_addend
    assign addends[(TermWidth+1)*i+:TermWidth+1] =
        {1'b0, terms[TermWidth*i+:TermWidth]} ^ {TermWidth + 1{differ[i]}};
  end
  assign addends[(TermWidth+1)*Lanes+:TermWidth+1] = (TermWidth + 1)'(aligned_start);
  for (genvar l = 1; l <= Levels; l++) begin : gen_owed
    for (genvar i = 0; i < (Lanes >> l); i++) begin : gen_adder
      assign owed[Lanes-(Lanes>>(l-1))+i] = differ[(i<<l)+(1<<(l-1))-1];
    end
  end
  assign owed[Lanes-1] = differ[Lanes-1];
  ng_sum_tree #(
    .Operands(Lanes + 1),
    .Width   (TermWidth + 1)
  ) u_sum (
    .x_i    (addends),
    .carry_i(owed),
    .sum_o  (sum_d)
  );
  ng_cut #(
    .Width (SumWidth + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::Fp8CutSum)
  ) u_sum_cut (
    .clk_i,
    .en_i,
    .d_i  ({sum_d, aligned_beside}),
    .q_o  ({sum, sum_beside})
  );

  // ---- normalized
  logic                  sum_negative, normalized_sign, sticky, guard;
  logic [ManBits:0]      sig, normalized_sig;
  logic [ShiftWidth-1:0] shift, normalized_shift;
  assign sum_negative = sum[SumWidth-1];
  ng_normalize #(
    .Width   (DataWidth),
    .OutWidth(ManBits + 1)
  ) u_normalize (
    .clk_i,
    .en_i,
    .data_i  ({sum[DataWidth-2:0] ^ {DataWidth - 1{sum_negative}}, sum_negative}),
    .fill_i  (sum_negative),
    .sig_o   (sig),
    .sticky_o(sticky),
    .shift_o (shift)
  );
  ng_cut #(
    .Width (ManBits + 3 + ShiftWidth + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::Fp8CutNormalized)
  ) u_normalized (
    .clk_i,
    .en_i,
    .d_i  ({sig, sum_negative & ~sticky, shift, sum_negative, sum_beside}),
    .q_o  ({normalized_sig, guard, normalized_shift, normalized_sign, normalized_beside})
  );

  // ---- rounded: the exponent of the highest place is 6 above the largest label
  localparam int ExpWidth = 9;
  logic signed [ExpWidth-1:0] exponent;
  logic [8+ManBits:0]         rounded;
  logic                       sign;
  assign exponent = ExpWidth'({1'b0, normalized_beside.top}) - ExpWidth'(127 - 6)
      - ExpWidth'(normalized_shift);
  assign sign = normalized_beside.negative
      ^ (normalized_sign & ~normalized_beside.inf);
  ng_round_pack #(
    .Bits    (9 + ManBits),
    .ManBits (ManBits),
    .SigWidth(ManBits + 2),
    .ExpWidth(ExpWidth),
    .ExpLo   (-126 - ManBits),
    .ExpHi   (127),
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
