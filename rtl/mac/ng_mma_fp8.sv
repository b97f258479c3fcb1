// SPDX-License-Identifier: Apache-2.0
// One step of NVIDIA's matrix instructions for FP8 without block scales, for one output: D = A * B
// + C with 32 products (docs/accumulation.md, modes `hopper` and `blackwell`). The lanes multiply;
// ng_mma_sum has the rule, the width argument and the rest.
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
  localparam int ExpWidth = FormatSet == ng_format_set_pkg::E4m3 ? 4 : 5;
  localparam int KeyWidth = ExpWidth + 2;

  // ---- products, and C beside them
  logic [Lanes-1:0]          lane_nan, lane_inf, negative;
  logic [Lanes*KeyWidth-1:0] keys;
  logic [Lanes*8-1:0]        magnitudes;
  logic [31:0]               start;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    ng_mma_lane #(
      .FormatSet(FormatSet),
      .Cuts     (Cuts & ng_mma_pkg::SumCutProduct)
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
    .Enable(Cuts & ng_mma_pkg::SumCutProduct)
  ) u_product (
    .clk_i,
    .en_i,
    .d_i  (fp32_i),
    .q_o  (start)
  );

  ng_mma_sum #(
    .Mode    (Mode),
    .ExpWidth(ExpWidth),
    .Cuts    (Cuts & ~ng_mma_pkg::SumCutProduct)
  ) u_sum (
    .clk_i,
    .en_i,
    .nan_i       (lane_nan),
    .inf_i       (lane_inf),
    .negative_i  (negative),
    .keys_i      (keys),
    .magnitudes_i(magnitudes),
    .scales_i    (9'd0),
    .fp32_i      (start),
    .fp32_o
  );
endmodule
