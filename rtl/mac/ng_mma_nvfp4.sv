// SPDX-License-Identifier: Apache-2.0
// One step of NVIDIA Blackwell's matrix instruction for NVFP4 or MXFP4, for one output: D = A * B +
// C with 64 products in four groups of 16 (docs/accumulation.md, mode `blackwell`). All terms are
// aligned to the largest exponent, truncated at 35 fraction bits, added, and rounded toward zero to
// FP32. NVFP4 has a UE4M3 scale for each group, MXFP4 an E8M0 scale for each two.
//
//   label    of a group: the sum of its scales' exponents; of C: its exponent, a subnormal one's
//            being -126. A group with a zero scale has none, a zero dot product has one.
//   top      the largest label
//   fp32_o   toward zero: (trunc(C / u) + sum of trunc(term / u)) * u, u = 2^(top - 35)
//
// Labels here are FP32's exponent fields: 127 more. A group's is 113 + exp_o, 115 to 143; with E8M0
// it is exp_o - 127, -127 to 381.
//
// C as it is, with UE4M3. Without a group that counts, all terms are 0, and with C from 2^65 on
// they are below u: C is the result then, but for +0 in place of -0. So C takes a way of its own
// there (`keep`), and the logic knows neither infinite nor subnormal results: a group that counts
// has a label of -12 or more, and sums are multiples of 2^-47.
//
// Results with E8M0 may be infinite and subnormal; `keep` says that C is infinite. C has a label of
// -126 at least, so sums have up to 12 places below FP32's last one. No result has them, so they
// are dropped before the sum is normalized: what is below a negative sum then counts only if it is
// ones throughout.
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
// most 191 - 115 = 76. With E8M0 a term has 12 bits in units of 2^(label - 2), 33 places below that
// and 45 bits; |sum| <= 4 * 2304 * 2^33 + 2^36 < 2^47; shifts are at most 508, a term's from the
// other label, and 380, C's.
//
// Cuts (docs/cuts.md): bit 0 in the trees of ng_dot_e2m1, 1 behind the dot products, 2 behind their
// products with the scales, beside which the exponents are compared, 3 behind the alignment, 4
// behind the sum, 5 behind the normalizer.
module ng_mma_nvfp4 #(
  parameter bit E8m0 = 1'b0,  // scales are E8M0, one each 32 lanes, not UE4M3, one each 16
  // registers: 1 nodes + 2 dot + 4 product + 8 aligned + 16 sum + 32 normalized
  parameter int Cuts = 0,
  localparam int ScalesWidth = E8m0 ? 16 : 32
) (
  input  logic                   clk_i,      // clock of the cuts
  input  logic                   en_i,       // enable of the cuts
  input  logic [255:0]           a_i,        // 64 E2M1 codes, lane 0 in the low bits
  input  logic [255:0]           b_i,        // 64 E2M1 codes, lane 0 in the low bits
  input  logic [ScalesWidth-1:0] a_scale_i,  // scales of a_i, that of the first lanes in the low bits
  input  logic [ScalesWidth-1:0] b_scale_i,  // scales of b_i, that of the first lanes in the low bits
  input  logic [31:0]            fp32_i,     // C
  output logic [31:0]            fp32_o      // D; NaN is 7FFFFFFF
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Cuts < 0 || Cuts > 63) begin : gen_check_cuts
    $fatal(1, "ng_mma_nvfp4: Cuts=%0d; expected 0 to 63", Cuts);
  end
`endif

  localparam int Groups = 4;
  localparam int GroupsOfScale = E8m0 ? 2 : 1;
  localparam int ExpWidth = E8m0 ? 9 : 5;  // of the sum of two scales' exponents
  localparam int MagnitudeWidth = E8m0 ? 12 : 19;
  localparam int Places = E8m0 ? 33 : 27;  // of a term below its magnitude
  localparam int TermWidth = MagnitudeWidth + Places;
  localparam int StartWidth = 36;
  localparam int SumWidth = TermWidth + 4;
  localparam int TopWidth = E8m0 ? 9 : 8;
  localparam int BelowWidth = E8m0 ? 9 : 7;  // of a term's shift

  // ---- groups, and C beside them
  logic [Groups-1:0]                nan, negative;
  logic [Groups*ExpWidth-1:0]       exponents;
  logic [Groups*MagnitudeWidth-1:0] magnitudes;
  for (genvar g = 0; g < Groups; g++) begin : gen_group
    ng_mma_nvfp4_group #(
      .E8m0(E8m0),
      .Cuts(Cuts & (ng_mma_pkg::Nvfp4CutNodes | ng_mma_pkg::Nvfp4CutDot
          | ng_mma_pkg::Nvfp4CutProduct))
    ) u_group (
      .clk_i,
      .en_i,
      .a_i        (a_i[64*g+:64]),
      .b_i        (b_i[64*g+:64]),
      .a_scale_i  (a_scale_i[8*(g/GroupsOfScale)+:8]),
      .b_scale_i  (b_scale_i[8*(g/GroupsOfScale)+:8]),
      .nan_o      (nan[g]),
      .exp_o      (exponents[ExpWidth*g+:ExpWidth]),
      .negative_o (negative[g]),
      .magnitude_o(magnitudes[MagnitudeWidth*g+:MagnitudeWidth])
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
  logic [7:0]                   start_label;
  logic [TopWidth-1:0]          top, start_below_d, start_below;
  logic [Groups*BelowWidth-1:0] below_d, below;
  logic                         keep;
  assign start_label = {start[30:24], start[23] | ~(|start[30:23])};
  if (E8m0) begin : gen_e8m0
    logic [8:0]        low, high, largest;  // sums of a pair of scales, and the larger
    logic signed [9:0] group_label, lead;
    logic              start_leads;
    assign low = exponents[8:0];
    assign high = exponents[26:18];
    assign largest = low > high ? low : high;
    assign group_label = 10'(largest) - 10'd127;
    assign lead = 10'(start_label) - group_label;
    assign start_leads = ~lead[9];
    assign top = start_leads ? 9'(start_label) : group_label[8:0];
    assign start_below_d = 9'(-lead) & {9{~start_leads}};
    for (genvar g = 0; g < Groups; g++) begin : gen_below
      assign below_d[9*g+:9] = top + 9'd127 - exponents[9*g+:9];
    end
    assign keep = (&start[30:23]) & ~(|start[22:0]);
    logic unused_exponents;
    assign unused_exponents = ^{exponents[17:9], exponents[35:27]};
  end else begin : gen_ue4m3
    localparam int LabelOffset = 113;
    logic [4:0] pair_low, pair_high, largest;
    logic [7:0] group_label;
    logic       start_leads;
    assign pair_low = exponents[4:0] > exponents[9:5] ? exponents[4:0] : exponents[9:5];
    assign pair_high = exponents[14:10] > exponents[19:15] ? exponents[14:10] : exponents[19:15];
    assign largest = pair_low > pair_high ? pair_low : pair_high;
    assign group_label = 8'(LabelOffset) + 8'(largest);
    assign start_leads = start_label > group_label;
    assign top = start_leads ? start_label : group_label;
    assign start_below_d = top - start_label;
    for (genvar g = 0; g < Groups; g++) begin : gen_below
      assign below_d[7*g+:7] = 7'(top - 8'(LabelOffset) - 8'(exponents[5*g+:5]));
    end
    assign keep = (largest == '0) | (&start[30:29]);
  end

  // What goes beside the terms.
  typedef struct packed {
    logic                nan;    // the result is NaN
    logic                keep;   // the result is C
    logic [31:0]         start;  // C
    logic [TopWidth-1:0] top;    // label of the sum's units, 35 more
  } beside_t;
  localparam int BesideWidth = 34 + TopWidth;  // of a beside_t
  beside_t beside, product_beside, aligned_beside, sum_beside, normalized_beside;
  assign beside.nan = (|nan) | (&start[30:23] & (|start[22:0]));
  assign beside.keep = keep;
  assign beside.start = start;
  assign beside.top = top;

  ng_cut #(
    .Width (BelowWidth * Groups + TopWidth + BesideWidth),
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
      .ByWidth(BelowWidth)
    ) u_shift (
      .data_i  ({magnitudes[MagnitudeWidth*g+:MagnitudeWidth], {Places{1'b0}}}),
      .by_i    (below[BelowWidth*g+:BelowWidth]),
      .data_o  (terms_d[TermWidth*g+:TermWidth]),
      .sticky_o(unused_sticky[g])
    );
  end
  assign hidden = |product_beside.start[30:23];
  ng_shift_sticky #(
    .Width  (StartWidth),
    .ByWidth(TopWidth)
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

  // ---- normalized
  localparam int SizeWidth = SumWidth - 2;  // of the sum's magnitude
  logic                 sum_negative, fill, sum_sign, normalized_sign, sticky, guard;
  logic [SizeWidth-1:0] complement, magnitude;
  logic [23:0]          sig, normalized_sig;
  logic [5:0]           shift, normalized_shift;
  assign sum_negative = sum[SumWidth-1];
  assign complement = sum[SizeWidth-1:0] ^ {SizeWidth{sum_negative}};
  if (E8m0) begin : gen_drop
    localparam int MaxDropped = 12;
    logic [MaxDropped-1:0] dropped;  // places below the last one of FP32
    for (genvar i = 0; i < MaxDropped; i++) begin : gen_place
      assign dropped[i] = sum_beside.top[8:4] == '0 & sum_beside.top[3:0] <= 4'(MaxDropped - i);
    end
    assign fill = sum_negative & (&(complement[MaxDropped-1:0] | ~dropped));
    assign magnitude = {complement[SizeWidth-1:MaxDropped],
        (complement[MaxDropped-1:0] & ~dropped) | (dropped & {MaxDropped{fill}})};
  end else begin : gen_keep
    assign fill = sum_negative;
    assign magnitude = complement;
  end
  ng_normalize #(
    .Width   (SizeWidth + 1),
    .OutWidth(24)
  ) u_normalize (
    .clk_i,
    .en_i,
    .data_i  ({magnitude, fill}),
    .fill_i  (fill),
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
    .d_i  ({sig, fill & ~sticky, shift, sum_sign, sum_beside}),
    .q_o  ({normalized_sig, guard, normalized_shift, normalized_sign, normalized_beside})
  );

  // ---- rounded: the exponent of the highest place is Above more than the largest label
  localparam int Above = SizeWidth - 1 - 35;
  localparam int ResultWidth = TopWidth + 1;  // of its exponent
  logic signed [ResultWidth-1:0] exponent;
  logic [31:0]                   rounded;
  logic                          inf;
  assign inf = normalized_beside.keep & E8m0;
  assign exponent = ResultWidth'({1'b0, normalized_beside.top}) - ResultWidth'(127 - Above)
      - ResultWidth'(normalized_shift);
  ng_round_pack #(
    .SigWidth(25),
    .ExpWidth(ResultWidth),
    .ExpLo   (E8m0 ? -149 - 1 : -12 - 35 - 1),
    .ExpHi   (E8m0 ? 254 + Above : 64 + Above),
    .Overflow(E8m0 ? ng_round_pkg::Ieee : ng_round_pkg::Saturate),  // the latter's NaN is all ones
    .RandBits(1)
  ) u_round (
    .clk_i,
    .en_i,
    .mode_i(ng_round_pkg::NearestAway),
    .nan_i (normalized_beside.nan & ~E8m0),
    .inf_i (inf),
    .sign_i(inf ? normalized_beside.start[31] : normalized_sign & normalized_sig[23]),
    .exp_i (exponent),
    .sig_i ({normalized_sig, guard}),
    .rand_i(1'b0),
    .code_o(rounded)
  );
  if (E8m0) begin : gen_result
    logic unused_start;
    assign unused_start = ^normalized_beside.start[30:0];
    assign fp32_o = normalized_beside.nan ? 32'h7FFF_FFFF : rounded;
  end else begin : gen_result_or_start
    assign fp32_o = normalized_beside.keep & ~normalized_beside.nan
        ? {normalized_beside.start[31] & (|normalized_beside.start[30:0]),
            normalized_beside.start[30:0]}
        : rounded;
  end

  logic unused;
  assign unused = sum[SumWidth-2];
endmodule
