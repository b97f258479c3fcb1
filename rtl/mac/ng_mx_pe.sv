// SPDX-License-Identifier: Apache-2.0
// One cell of the array for MX formats: the exact dot product of a block of 32 -> register -> times
// both E8M0 scales, rounded to FP32 -> register -> FP32 accumulator -> shadow.
//
// E8M0 scales span too far for an exact accumulator (docs/numerics.md), so the order of the blocks
// is part of the result: each is added as it comes, rounded to nearest even, the first one to +0.
//
// MXFP4 is an array of its own, with ng_dot_e2m1, and so is MXINT8. The other formats are E4M3 and
// E5M2, and what comes as such: all numbers of E2M1, E2M3 and E3M2 are numbers of E4M3.
//
// Pipeline: that of ng_mac_pe with NVFP4: dot_en_i, term_en_i and acc_en_i are the enables of the
// three registers; scales and active_i arrive at the stage that uses them. CellCutDot: one more in
// the dot product.
//
// Width argument: a dot product of E2M1 has 14 bits in 2^-2, one of E4M3 42 in 2^-18, one with E5M2
// 70 in 2^-32 (ng_dot_e2m1, ng_dot_fp8), one of integers 21 in 2^-12; their
// magnitudes are below the sign's weight.
module ng_mx_pe #(
  parameter int FormatSet = ng_format_set_pkg::Fp8,  // 1 MXFP4; 2 E4M3 + 4 E5M2; 8 MXINT8
  parameter int CellCuts  = 0,                       // 1 dot
  localparam int Lanes    = 32,
  localparam bit HasFp4   = FormatSet == ng_format_set_pkg::Nvfp4,
  localparam bit HasInt8  = FormatSet == ng_format_set_pkg::Luq
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               move_i,       // of the cut
  // Stage 1: operands.
  input  logic [Lanes*4-1:0] a_fp4_i,
  input  logic [Lanes*4-1:0] b_fp4_i,
  input  logic [Lanes*8-1:0] a_fp8_i,      // of MXINT8 integers
  input  logic [Lanes*8-1:0] b_fp8_i,
  input  logic               a_e5m2_i,
  input  logic               b_e5m2_i,
  input  logic               dot_en_i,
  // Beside the dot product.
  input  logic [7:0]         a_scale_i,
  input  logic [7:0]         b_scale_i,
  input  logic               active_dot_i, // row and column enabled: flags count
  input  logic               term_en_i,
  // Last stage: accumulate.
  input  logic               acc_first_i,
  input  logic               acc_en_i,
  // Result, FP32.
  input  logic               shadow_en_i,
  output logic [31:0]        sum_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (!HasFp4 && !HasInt8 && (FormatSet == 0 || (FormatSet & ~ng_format_set_pkg::Fp8) != 0))
    begin : gen_check_format_set
    $fatal(1, "ng_mx_pe: FormatSet=%0d; expected 1 (MXFP4 alone), 2, 4 or 6 (2 E4M3 + 4 E5M2), 8 (MXINT8)",
           FormatSet);
  end
`endif

  // ---- dot product
  localparam int LsbExp = HasFp4 ? -2 : HasInt8 ? -12 : FormatSet == ng_format_set_pkg::E4m3 ? -18 : -32;
  localparam int Width = HasFp4 ? 14 : HasInt8 ? 21 : FormatSet == ng_format_set_pkg::E4m3 ? 42 : 70;
  localparam int DotCut = CellCuts & ng_mac_pkg::CellCutDot;
  logic signed [Width-1:0] dot_d, dot_q;
  logic                    nan_d, pinf_d, ninf_d, nan_q, pinf_q, ninf_q;
  if (HasFp4) begin : gen_fp4
    logic unused_fp8;
    assign unused_fp8 = ^{a_fp8_i, b_fp8_i, a_e5m2_i, b_e5m2_i};
    ng_dot_e2m1 #(
      .Lanes(Lanes),
      .Cuts (DotCut != 0 ? ng_mac_pkg::DotE2m1CutNodes : 0)
    ) u_dot (
      .clk_i,
      .en_i (move_i),
      .a_i  (a_fp4_i),
      .b_i  (b_fp4_i),
      .dot_o(dot_d)
    );
    assign {nan_d, pinf_d, ninf_d} = 3'b000;
  end else if (HasInt8) begin : gen_int8
    logic unused_formats;
    assign unused_formats = ^{a_fp4_i, b_fp4_i, a_e5m2_i, b_e5m2_i};
    logic [Lanes*16-1:0] products, products_q;
    for (genvar i = 0; i < Lanes; i++) begin : gen_lane
      logic signed [15:0] a, b;
      assign a = 16'($signed(a_fp8_i[i*8 +: 8]));
      assign b = 16'($signed(b_fp8_i[i*8 +: 8]));
      assign products[i*16 +: 16] = a * b;
    end
    ng_cut #(
      .Width (Lanes * 16),
      .Enable(DotCut)
    ) u_products (
      .clk_i,
      .en_i(move_i),
      .d_i (products),
      .q_o (products_q)
    );
    ng_sum_tree #(
      .Operands(Lanes),
      .Width   (16)
    ) u_sum (
      .x_i    (products_q),
      .carry_i({(Lanes - 1){1'b0}}),  // sized: Yosys 0.23 loads the tree twice for '0, and stops
      .sum_o  (dot_d)
    );
    assign {nan_d, pinf_d, ninf_d} = 3'b000;
  end else begin : gen_fp8
    logic unused_fp4;
    assign unused_fp4 = ^{a_fp4_i, b_fp4_i};
    ng_dot_fp8 #(
      .Lanes    (Lanes),
      .FormatSet(FormatSet),
      .Cuts     (DotCut != 0 ? ng_mac_pkg::DotFp8CutProduct : 0)
    ) u_dot (
      .clk_i,
      .en_i   (move_i),
      .a_i    (a_fp8_i),
      .b_i    (b_fp8_i),
      .a_fmt_i(a_e5m2_i),
      .b_fmt_i(b_e5m2_i),
      .term_o (dot_d),
      .nan_o  (nan_d),
      .pinf_o (pinf_d),
      .ninf_o (ninf_d)
    );
  end
  always_ff @(posedge clk_i) begin
    if (dot_en_i) begin
      dot_q  <= dot_d;
      nan_q  <= nan_d;
      pinf_q <= pinf_d;
      ninf_q <= ninf_d;
    end
  end

  // ---- scaled; what one side alone makes special does not count
  logic [31:0] term_d, term_q;
  ng_scale_mx #(
    .Width (Width),
    .LsbExp(LsbExp)
  ) u_scale (
    .clk_i,
    .en_i     (1'b1),
    .dot_i    (dot_q),
    .nan_i    (nan_q & active_dot_i),
    .pinf_i   (pinf_q & active_dot_i),
    .ninf_i   (ninf_q & active_dot_i),
    .a_scale_i(active_dot_i ? a_scale_i : '0),
    .b_scale_i(active_dot_i ? b_scale_i : '0),
    .fp32_o   (term_d)
  );
  always_ff @(posedge clk_i) begin
    if (term_en_i) term_q <= term_d;
  end

  // ---- accumulated, and the finished sum set aside
  logic [31:0] acc;
  ng_acc_fp32 u_acc (
    .clk_i,
    .rst_ni,
    .valid_i(acc_en_i),
    .first_i(acc_first_i),
    .term_i (term_q),
    .acc_o  (acc)
  );
  always_ff @(posedge clk_i) begin
    if (shadow_en_i) sum_o <= acc;
  end

endmodule
