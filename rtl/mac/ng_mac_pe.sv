// SPDX-License-Identifier: Apache-2.0
// One cell of the array: integer dot products -> register -> scale and align -> register -> exact
// accumulator -> shadow.
//
// All formats of the set feed one accumulator whose unit is that of the finest format, 2^LsbExp;
// the others are shifted left by a constant. The operands of the formats that a beat does not use
// are zero (the array sees to it), so their terms are zero and the formats are joined by "or": no
// multiplexer, no toggling.
//
// Pipeline: the operands belong to stage 1. dot_en_i, term_en_i and acc_en_i are the enables of the
// three registers; the scales and active_i arrive already delayed to the stage that uses them.
// Without NVFP4 there is nothing to scale, and the dot register feeds the accumulator (term_en_i
// and the scales are unused). LUQ has no block scales and goes beside FP8.
//
// Cuts: more registers, which move with the whole pipeline (move_i). CellCutDot: in the dot
// products. CellCutProduct and CellCutSum: at these places of ng_scale_nvfp4, with what comes from
// FP8 and LUQ beside them. CellCutSignificand adds none: the dot register stands at the place
// "significand", and holds the product of the scales' significands, too; scales are wanted one
// stage earlier.
//
// Sparse: of A, Lanes of 2 x Lanes elements are stored, and metadata say which of B's they meet
// (ng_select_2_4), in every format; the selection changes nothing behind it. A block of NVFP4 has
// 16 stored elements of 32 and one scale on either side.
//
// Width argument: NVFP4 terms are 48 bits in 2^-20 (ng_dot_nvfp4), Blocks of them 48 +
// clog2(Blocks); FP8 terms are 37 + clog2(Lanes) bits in 2^-18 for E4M3 alone, else 65 +
// clog2(Lanes) in 2^-32; LUQ's 11 + clog2(Lanes) in 1. TermWidth is the largest of these after
// alignment, AccWidth = TermWidth + clog2(MaxBeats) holds MaxBeats of them. ng_mac_array computes
// the same constants.
module ng_mac_pe #(
  parameter int Lanes     = 16,
  parameter int FormatSet = ng_format_set_pkg::All,  // 1 NVFP4 + 2 E4M3 + 4 E5M2 + 8 LUQ
  parameter int TermWidth = 69,
  parameter int AccWidth  = 85,
  parameter int LsbExp    = -32,
  parameter int CellCuts  = 0,     // 1 dot + 2 significand + 4 product + 8 sum
  parameter bit Sparse    = 1'b0,  // A is 2:4 sparse
  localparam int Wide     = Sparse ? 2 : 1,  // elements of B for each of A
  localparam int Blocks   = (FormatSet & ng_format_set_pkg::Nvfp4) != 0 ? Lanes / 16 : 1,
  localparam int Narrow   = (FormatSet & ng_format_set_pkg::Bits4) == ng_format_set_pkg::Bits4
      ? 2 : 1
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       move_i,       // of the cuts
  // Stage 1: operands. Of 4 bits: NVFP4's, above them LUQ's if the set has both; with Sparse, A's
  // metadata above its elements.
  input  logic [(Narrow*4+(Wide-1)*2)*Lanes-1:0] a_fp4_i,
  input  logic [Wide*Narrow*Lanes*4-1:0] b_fp4_i,
  input  logic [Lanes*8-1:0]         a_fp8_i,
  input  logic [Wide*Lanes*8-1:0]    b_fp8_i,
  input  logic                       a_e5m2_i,
  input  logic                       b_e5m2_i,
  input  logic                       dot_en_i,
  // Beside the dot products, or with CellCutSignificand before them: block scales.
  input  logic [Blocks*8-1:0]        a_scale_i,
  input  logic [Blocks*8-1:0]        b_scale_i,
  input  logic                       term_en_i,
  // Last stage: accumulate.
  // row and column enabled: flags count; with Sparse, above it: metadata were illegal
  input  logic [Wide-1:0]            active_i,
  input  logic                       acc_first_i,
  input  logic                       acc_en_i,
  // Result.
  input  logic                       shadow_en_i,
  output logic signed [AccWidth-1:0] sum_o,
  output logic                       nan_o,
  output logic                       pinf_o,
  output logic                       ninf_o
);

  localparam bit HasFp4 = (FormatSet & ng_format_set_pkg::Nvfp4) != 0;
  localparam int Fp8Set = FormatSet & ng_format_set_pkg::Fp8;
  localparam int LuqSet = FormatSet & ng_format_set_pkg::Luq;
  localparam bit HasE5m2 = (FormatSet & ng_format_set_pkg::E5m2) != 0;
  localparam int DotCut = CellCuts & ng_mac_pkg::CellCutDot;
  localparam int ScaleCuts = (CellCuts >> ng_mac_pkg::CellScaleShift)
      & (ng_mac_pkg::ScaleNvfp4CutSignificand | ng_mac_pkg::ScaleNvfp4CutProduct
         | ng_mac_pkg::ScaleNvfp4CutSum);

  // ---- the elements of B that A's meet
  logic [Narrow*Lanes*4-1:0] b_fp4;
  logic [Lanes*8-1:0]        b_fp8;
  logic                      illegal;
  if (Sparse) begin : gen_sparse
    logic [Lanes*2-1:0] metadata;
    logic [Narrow:0]    unused_illegal;  // ng_mac_operand looks, once a row
    assign metadata = a_fp4_i[Narrow*Lanes*4 +: Lanes*2];
    assign illegal = active_i[1];
    for (genvar n = 0; n < Narrow; n++) begin : gen_fp4
      ng_select_2_4 #(
        .Groups(Lanes / 2),
        .Width (4)
      ) u_select (
        .b_i       (b_fp4_i[n*Lanes*8 +: Lanes*8]),
        .metadata_i(metadata),
        .selected_o(b_fp4[n*Lanes*4 +: Lanes*4]),
        .error_o   (unused_illegal[n])
      );
    end
    ng_select_2_4 #(
      .Groups(Lanes / 2),
      .Width (8)
    ) u_select_fp8 (
      .b_i       (b_fp8_i),
      .metadata_i(metadata),
      .selected_o(b_fp8),
      .error_o   (unused_illegal[Narrow])
    );
  end else begin : gen_dense
    assign b_fp4 = b_fp4_i;
    assign b_fp8 = b_fp8_i;
    assign illegal = 1'b0;
  end

  // ---- FP8
  logic signed [TermWidth-1:0] fp8_term;
  logic                        fp8_nan, fp8_pinf, fp8_ninf;
  if (Fp8Set != 0) begin : gen_fp8
    localparam int Width = (HasE5m2 ? 65 : 37) + $clog2(Lanes);
    localparam int Shift = (HasE5m2 ? -32 : -18) - LsbExp;
    logic signed [Width-1:0] term_d, term_q;
    logic                    nan_d, pinf_d, ninf_d;
    ng_dot_fp8 #(
      .Lanes    (Lanes),
      .FormatSet(Fp8Set),
      .Cuts     (DotCut != 0 ? ng_mac_pkg::DotFp8CutProduct : 0)
    ) u_dot (
      .clk_i,
      .en_i   (move_i),
      .a_i    (a_fp8_i),
      .b_i    (b_fp8),
      .a_fmt_i(a_e5m2_i),
      .b_fmt_i(b_e5m2_i),
      .term_o (term_d),
      .nan_o  (nan_d),
      .pinf_o (pinf_d),
      .ninf_o (ninf_d)
    );
    always_ff @(posedge clk_i) begin
      if (dot_en_i) begin
        term_q   <= term_d;
        fp8_nan  <= nan_d;
        fp8_pinf <= pinf_d;
        fp8_ninf <= ninf_d;
      end
    end
    assign fp8_term = TermWidth'(term_q) <<< Shift;
  end else begin : gen_no_fp8
    logic unused_fp8;
    assign unused_fp8 = ^{a_fp8_i, b_fp8, a_e5m2_i, b_e5m2_i};
    assign fp8_term = '0;
    assign fp8_nan = 1'b0;
    assign fp8_pinf = 1'b0;
    assign fp8_ninf = 1'b0;
  end

  // ---- LUQ, joined with FP8: what is not scaled
  logic signed [TermWidth-1:0] plain_term;
  if (LuqSet != 0) begin : gen_luq
    localparam int Width = 11 + $clog2(Lanes);
    localparam int Shift = -LsbExp;
    logic signed [Width-1:0] dot_d, dot_q;
    ng_dot_luq #(
      .Lanes(Lanes),
      .Cuts (DotCut != 0 ? ng_luq_pkg::DotCutProducts : 0)
    ) u_dot (
      .clk_i,
      .en_i (move_i),
      .a_i  (a_fp4_i[(Narrow-1)*Lanes*4 +: Lanes*4]),
      .b_i  (b_fp4[(Narrow-1)*Lanes*4 +: Lanes*4]),
      .dot_o(dot_d)
    );
    always_ff @(posedge clk_i) begin
      if (dot_en_i) dot_q <= dot_d;
    end
    assign plain_term = fp8_term | (TermWidth'(dot_q) <<< Shift);
  end else begin : gen_no_luq
    assign plain_term = fp8_term;
  end

  // ---- NVFP4, and the join
  logic signed [TermWidth-1:0] term;
  logic                        nan, pinf, ninf;
  if (HasFp4) begin : gen_fp4
    localparam int Shift = -20 - LsbExp;
    localparam int SumWidth = 48 + $clog2(Blocks);
    localparam int Fp8Stages = ng_prim_pkg::cut_count(
        ScaleCuts & (ng_mac_pkg::ScaleNvfp4CutProduct | ng_mac_pkg::ScaleNvfp4CutSum));
    logic [Blocks*13-1:0]       dot_d, dot_q;
    logic [Blocks*48-1:0]       scaled;
    logic [Blocks-1:0]          scale_nan;
    logic signed [SumWidth-1:0] block_sum;
    for (genvar b = 0; b < Blocks; b++) begin : gen_block
      ng_dot_e2m1 #(
        .Lanes(16),
        .Cuts (DotCut != 0 ? ng_mac_pkg::DotE2m1CutNodes : 0)
      ) u_dot (
        .clk_i,
        .en_i (move_i),
        .a_i  (a_fp4_i[b*64 +: 64]),
        .b_i  (b_fp4[b*64 +: 64]),
        .dot_o(dot_d[b*13 +: 13])
      );
      ng_scale_nvfp4 #(
        .Cuts(ScaleCuts)
      ) u_scale (
        .clk_i,
        .en_i     (move_i),
        .dot_i    (dot_q[b*13 +: 13]),
        .a_scale_i(a_scale_i[b*8 +: 8]),
        .b_scale_i(b_scale_i[b*8 +: 8]),
        .term_o   (scaled[b*48 +: 48]),
        .nan_o    (scale_nan[b])
      );
    end
    if (Blocks == 1) begin : gen_one
      assign block_sum = scaled;
    end else begin : gen_sum
      ng_sum_tree #(
        .Operands(Blocks),
        .Width   (48)
      ) u_sum (
        .x_i    (scaled),
        .carry_i({(Blocks - 1){1'b0}}),  // sized: Yosys 0.23 loads the tree twice for '0, and stops
        .sum_o  (block_sum)
      );
    end
    if ((ScaleCuts & ng_mac_pkg::ScaleNvfp4CutSignificand) != 0) begin : gen_significand
      logic unused_dot_en;
      assign unused_dot_en = dot_en_i;
      assign dot_q = dot_d;
    end else begin : gen_dot
      always_ff @(posedge clk_i) begin
        if (dot_en_i) dot_q <= dot_d;
      end
    end
    // FP8 and LUQ beside the scaling.
    logic [(Fp8Stages+1)*(TermWidth+3)-1:0] fp8;
    logic signed [TermWidth-1:0]            fp8_term_q;
    logic                                   fp8_nan_q, fp8_pinf_q, fp8_ninf_q;
    assign fp8[TermWidth+2:0] = {plain_term, fp8_nan, fp8_pinf, fp8_ninf};
    assign {fp8_term_q, fp8_nan_q, fp8_pinf_q, fp8_ninf_q} =
        fp8[Fp8Stages*(TermWidth+3) +: TermWidth+3];
    for (genvar s = 0; s < Fp8Stages; s++) begin : gen_fp8_stage
      ng_cut #(
        .Width (TermWidth + 3),
        .Enable(Fp8Set | LuqSet)
      ) u_fp8 (
        .clk_i,
        .en_i (move_i),
        .d_i  (fp8[s*(TermWidth+3) +: TermWidth+3]),
        .q_o  (fp8[(s+1)*(TermWidth+3) +: TermWidth+3])
      );
    end
    always_ff @(posedge clk_i) begin
      if (term_en_i) begin
        term <= fp8_term_q | (TermWidth'(block_sum) <<< Shift);
        nan  <= fp8_nan_q | (|scale_nan);
        pinf <= fp8_pinf_q;
        ninf <= fp8_ninf_q;
      end
    end
  end else begin : gen_no_fp4
    logic unused_fp4;
    assign unused_fp4 = ^{a_fp4_i, b_fp4, a_scale_i, b_scale_i, term_en_i};
    assign term = plain_term;
    assign nan = fp8_nan;
    assign pinf = fp8_pinf;
    assign ninf = fp8_ninf;
  end

  // ---- accumulate, and set the finished sum aside
  logic signed [AccWidth-1:0] acc;
  logic                       acc_nan, acc_pinf, acc_ninf;
  ng_exact_acc #(
    .TermWidth(TermWidth),
    .AccWidth (AccWidth)
  ) u_acc (
    .clk_i,
    .rst_ni,
    .valid_i(acc_en_i),
    .first_i(acc_first_i),
    .term_i (term),
    .nan_i  ((nan | illegal) & active_i[0]),
    .pinf_i (pinf & active_i[0]),
    .ninf_i (ninf & active_i[0]),
    .acc_o  (acc),
    .nan_o  (acc_nan),
    .pinf_o (acc_pinf),
    .ninf_o (acc_ninf)
  );
  always_ff @(posedge clk_i) begin
    if (shadow_en_i) begin
      sum_o <= acc;
      nan_o <= acc_nan;
    end
  end
  if (HasE5m2) begin : gen_infinities
    always_ff @(posedge clk_i) begin
      if (shadow_en_i) begin
        pinf_o <= acc_pinf;
        ninf_o <= acc_ninf;
      end
    end
  end else begin : gen_no_infinities  // only E5M2 has them: nothing behind may wait for one
    logic unused_infinities;
    assign unused_infinities = acc_pinf ^ acc_ninf;
    assign pinf_o = 1'b0;
    assign ninf_o = 1'b0;
  end

endmodule
