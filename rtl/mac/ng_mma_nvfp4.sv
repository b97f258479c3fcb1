// SPDX-License-Identifier: Apache-2.0
// One step of NVIDIA Blackwell's matrix instruction for NVFP4, for one output: D = A * B + C with
// 64 products in four groups of 16 (docs/accumulation.md, mode `blackwell`). All terms are aligned
// to the largest exponent, truncated at 35 fraction bits, added, and rounded toward zero to FP32.
//
//   label    of a group: the sum of its scales' exponents; of C: its exponent, a subnormal one's
//            being -126. A group with a zero scale has none, a zero dot product has one.
//   top      the largest label
//   fp32_o   toward zero: (trunc(C / u) + sum of trunc(term / u)) * u, u = 2^(top - 35)
//
// Labels here are FP32's exponent fields: 127 more. A group's is 113 + exp_o, 115 to 143.
//
// C as it is. Without a group that counts, all terms are 0, and with C from 2^65 on they are below
// u: C is the result then, but for +0 in place of -0. So C takes a way of its own there
// (`keep`), and the logic knows neither infinite nor subnormal results: a group that counts has
// a label of -12 or more, and sums are multiples of 2^-47.
//
// Signs. The sum is that of C's magnitude and of terms with C's sign taken out, so a term is
// inverted if the signs differ, and the adders' carry-ins take the 1 that each of the four owes.
// A negative sum x is normalized as ~x followed by ones without end, which is |x| without an adder.
// Of that 24 bits remain. If only ones follow them, |x| is one more in the last place: that is what
// the guard bit of the rounding says, which is to nearest, ties away.
//
// Width argument. A term's magnitude is below 2^19 in units of 2^(label - 8): with 27 places below
// that it has 46 bits in units of u, and shifts by 46 or more empty it. C has 24 bits and 12 places
// below them. |sum| <= 4 * 518400 * 2^27 + 2^36 < 2^48. With C below 2^65 shifts of terms are at
// most 191 - 115 = 76.
//
// Cuts (docs/cuts.md): bit 0 in the trees of ng_dot_e2m1, 1 behind the dot products, 2 behind their
// products with the scales, beside which the exponents are compared, 3 behind the alignment, 4
// behind the sum, 5 behind the normalizer.
module ng_mma_nvfp4 #(
  // registers: 1 nodes + 2 dot + 4 product + 8 aligned + 16 sum + 32 normalized
  parameter int Cuts = 0
) (
  input  logic         clk_i,      // clock of the cuts
  input  logic         en_i,       // enable of the cuts
  input  logic [255:0] a_i,        // 64 E2M1 codes, lane 0 in the low bits
  input  logic [255:0] b_i,        // 64 E2M1 codes, lane 0 in the low bits
  input  logic [31:0]  a_scale_i,  // four UE4M3 codes, that of lanes 0 to 15 in the low bits
  input  logic [31:0]  b_scale_i,  // four UE4M3 codes, that of lanes 0 to 15 in the low bits
  input  logic [31:0]  fp32_i,     // C
  output logic [31:0]  fp32_o      // D; NaN is 7FFFFFFF
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Cuts < 0 || Cuts > 63) begin : gen_check_cuts
    $fatal(1, "ng_mma_nvfp4: Cuts=%0d; expected 0 to 63", Cuts);
  end
`endif

  localparam int Groups = 4;
  localparam int TermWidth = 46;
  localparam int StartWidth = 36;
  localparam int SumWidth = 50;
  localparam int LabelOffset = 113;

  // ---- groups, and C beside them
  logic [Groups-1:0]    nan, negative;
  logic [Groups*5-1:0]  exponents;
  logic [Groups*19-1:0] magnitudes;
  for (genvar g = 0; g < Groups; g++) begin : gen_group
    ng_mma_nvfp4_group #(
      .Cuts(Cuts & (ng_mma_pkg::Nvfp4CutNodes | ng_mma_pkg::Nvfp4CutDot
          | ng_mma_pkg::Nvfp4CutProduct))
    ) u_group (
      .clk_i,
      .en_i,
      .a_i        (a_i[64*g+:64]),
      .b_i        (b_i[64*g+:64]),
      .a_scale_i  (a_scale_i[8*g+:8]),
      .b_scale_i  (b_scale_i[8*g+:8]),
      .nan_o      (nan[g]),
      .exp_o      (exponents[5*g+:5]),
      .negative_o (negative[g]),
      .magnitude_o(magnitudes[19*g+:19])
    );
  end

  logic [31:0] start_nodes, start;
  ng_cut #(
    .Width (32),
    .Enable(Cuts & ng_mma_pkg::Nvfp4CutNodes)
  ) u_nodes (
    .clk_i,
    .en_i,
    .d_i  (fp32_i),
    .q_o  (start_nodes)
  );
  ng_cut #(
    .Width (32),
    .Enable(Cuts & ng_mma_pkg::Nvfp4CutDot)
  ) u_dot (
    .clk_i,
    .en_i,
    .d_i  (start_nodes),
    .q_o  (start)
  );

  // ---- the largest label, and how far each term is below it
  logic [4:0] pair_low, pair_high, largest;
  logic [7:0] group_label, start_label, top;
  logic       start_leads;
  assign pair_low = exponents[4:0] > exponents[9:5] ? exponents[4:0] : exponents[9:5];
  assign pair_high = exponents[14:10] > exponents[19:15] ? exponents[14:10] : exponents[19:15];
  assign largest = pair_low > pair_high ? pair_low : pair_high;
  assign group_label = 8'(LabelOffset) + 8'(largest);
  assign start_label = {start[30:24], start[23] | ~(|start[30:23])};
  assign start_leads = start_label > group_label;
  assign top = start_leads ? start_label : group_label;

  // What goes beside the terms.
  typedef struct packed {
    logic        nan;   // the result is NaN
    logic        keep;  // the result is C
    logic [31:0] start; // C
    logic [7:0]  top;   // label of the sum's units, 35 more
  } beside_t;
  localparam int BesideWidth = 42;  // of a beside_t
  beside_t beside, product_beside, aligned_beside, sum_beside, normalized_beside;
  assign beside.nan = (|nan) | (&start[30:23] & (|start[22:0]));
  assign beside.keep = (largest == '0) | (&start[30:29]);
  assign beside.start = start;
  assign beside.top = top;

  logic [7:0]          start_below_d, start_below;
  logic [Groups*7-1:0] below_d, below;
  assign start_below_d = top - start_label;
  for (genvar g = 0; g < Groups; g++) begin : gen_below
    assign below_d[7*g+:7] = 7'(top - 8'(LabelOffset) - 8'(exponents[5*g+:5]));
  end
  ng_cut #(
    .Width (7 * Groups + 8 + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::Nvfp4CutProduct)
  ) u_product (
    .clk_i,
    .en_i,
    .d_i  ({below_d, start_below_d, beside}),
    .q_o  ({below, start_below, product_beside})
  );

  // ---- aligned; what falls off is dropped
  logic [Groups*TermWidth-1:0] terms_d, terms;
  logic [Groups-1:0]           differ_d, differ, unused_sticky;
  logic [StartWidth-1:0]       aligned_start_d, aligned_start;
  logic                        unused_start_sticky, hidden;
  for (genvar g = 0; g < Groups; g++) begin : gen_align
    ng_shift_sticky #(
      .Width  (TermWidth),
      .ByWidth(7)
    ) u_shift (
      .data_i  ({magnitudes[19*g+:19], 27'b0}),
      .by_i    (below[7*g+:7]),
      .data_o  (terms_d[TermWidth*g+:TermWidth]),
      .sticky_o(unused_sticky[g])
    );
  end
  assign hidden = |product_beside.start[30:23];
  ng_shift_sticky #(
    .Width  (StartWidth),
    .ByWidth(8)
  ) u_shift_start (
    .data_i  ({hidden, product_beside.start[22:0], 12'b0}),
    .by_i    (start_below),
    .data_o  (aligned_start_d),
    .sticky_o(unused_start_sticky)
  );
  assign differ_d = negative ^ {Groups{product_beside.start[31]}};
  ng_cut #(
    .Width (Groups * TermWidth + Groups + StartWidth + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::Nvfp4CutAligned)
  ) u_aligned (
    .clk_i,
    .en_i,
    .d_i  ({terms_d, differ_d, aligned_start_d, product_beside}),
    .q_o  ({terms, differ, aligned_start, aligned_beside})
  );

  // ---- added
  logic [(Groups+1)*(TermWidth+1)-1:0] addends;
  logic signed [SumWidth-1:0]          sum_d, sum;
  for (genvar g = 0; g < Groups; g++) begin : gen_addend
    assign addends[(TermWidth+1)*g+:TermWidth+1] =
        {1'b0, terms[TermWidth*g+:TermWidth]} ^ {TermWidth + 1{differ[g]}};
  end
  assign addends[(TermWidth+1)*Groups+:TermWidth+1] = (TermWidth + 1)'(aligned_start);
  // Adders 0 and 1 have pairs of groups below them, 2 and 3 all groups.
  ng_sum_tree #(
    .Operands(Groups + 1),
    .Width   (TermWidth + 1)
  ) u_sum (
    .x_i    (addends),
    .carry_i({differ[3], differ[1], differ[2], differ[0]}),
    .sum_o  (sum_d)
  );
  ng_cut #(
    .Width (SumWidth + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::Nvfp4CutSum)
  ) u_sum_cut (
    .clk_i,
    .en_i,
    .d_i  ({sum_d, aligned_beside}),
    .q_o  ({sum, sum_beside})
  );

  // ---- normalized: 48 bits of magnitude and a fill bit
  logic        sum_negative, sum_sign, normalized_sign, sticky, guard;
  logic [23:0] sig, normalized_sig;
  logic [5:0]  shift, normalized_shift;
  assign sum_negative = sum[SumWidth-1];
  ng_normalize #(
    .Width   (49),
    .OutWidth(24)
  ) u_normalize (
    .clk_i,
    .en_i,
    .data_i  ({sum[47:0] ^ {48{sum_negative}}, sum_negative}),
    .fill_i  (sum_negative),
    .sig_o   (sig),
    .sticky_o(sticky),
    .shift_o (shift)
  );
  assign sum_sign = sum_beside.start[31] ^ sum_negative;
  ng_cut #(
    .Width (32 + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::Nvfp4CutNormalized)
  ) u_normalized (
    .clk_i,
    .en_i,
    .d_i  ({sig, sum_negative & ~sticky, shift, sum_sign, sum_beside}),
    .q_o  ({normalized_sig, guard, normalized_shift, normalized_sign, normalized_beside})
  );

  // ---- rounded: the exponent of the highest place is 12 above the largest label
  localparam int ExpWidth = 9;
  logic signed [ExpWidth-1:0] exponent;
  logic [31:0]                rounded;
  assign exponent = ExpWidth'({1'b0, normalized_beside.top}) - ExpWidth'(127 - 12)
      - ExpWidth'(normalized_shift);
  ng_round_pack #(
    .SigWidth(25),
    .ExpWidth(ExpWidth),
    .ExpLo   (-12 - 35 - 1),
    .ExpHi   (64 + 12),
    .Overflow(ng_round_pkg::Saturate),  // NaN is all ones
    .RandBits(1)
  ) u_round (
    .clk_i,
    .en_i,
    .mode_i(ng_round_pkg::NearestAway),
    .nan_i (normalized_beside.nan),
    .inf_i (1'b0),
    .sign_i(normalized_sign & normalized_sig[23]),
    .exp_i (exponent),
    .sig_i ({normalized_sig, guard}),
    .rand_i(1'b0),
    .code_o(rounded)
  );
  assign fp32_o = normalized_beside.keep & ~normalized_beside.nan
      ? {normalized_beside.start[31] & (|normalized_beside.start[30:0]),
          normalized_beside.start[30:0]}
      : rounded;

  logic unused;
  assign unused = sum[SumWidth-2];
endmodule
