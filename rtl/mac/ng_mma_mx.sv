// SPDX-License-Identifier: Apache-2.0
// One step of NVIDIA Blackwell's matrix instruction for MX blocks of 32, for one output: D = A * B
// + C with 32 products, whose elements have 8, 6 or 4 bits and whose blocks have E8M0 scales
// (docs/accumulation.md, mode `blackwell`). The lanes multiply; ng_mma_sum has the rule, the width
// argument and the rest. Both scales are powers of two, so they move labels and nothing else. A
// scale of FF makes NaN.
//
// Cuts (docs/cuts.md): bit 0 in the lanes, 1 behind the comparison of the labels, 2 behind the
// alignment, 3 behind the sum, 4 behind the normalizer.
module ng_mma_mx #(
  // 0: E4M3, E5M2, E2M3, E3M2 and E2M1; else 2 E4M3 + 4 E5M2
  parameter int FormatSet = 0,
  // registers: 1 product + 2 largest + 4 aligned + 8 sum + 16 normalized
  parameter int Cuts      = 0
) (
  input  logic         clk_i,      // clock of the cuts
  input  logic         en_i,       // enable of the cuts
  input  logic [255:0] a_i,        // 32 codes, each in the low bits of a byte; lane 0 is the lowest
  input  logic [255:0] b_i,        // 32 codes, each in the low bits of a byte; lane 0 is the lowest
  // format of a_i: 0 E4M3, 1 E5M2, 2 E2M3, 3 E3M2, 4 to 7 E2M1; if the set has FP8 only, bit 0
  // counts, and of one format none
  input  logic [2:0]   a_fmt_i,
  input  logic [2:0]   b_fmt_i,    // format of b_i, as that of a_i
  input  logic [7:0]   a_scale_i,  // E8M0 scale of a_i
  input  logic [7:0]   b_scale_i,  // E8M0 scale of b_i
  input  logic [31:0]  fp32_i,     // C
  output logic [31:0]  fp32_o      // D; NaN is 7FFFFFFF
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if ((FormatSet & ~ng_format_set_pkg::Fp8) != 0) begin : gen_check_format_set
    $fatal(1, "ng_mma_mx: FormatSet=%0d; expected 0 to 6, a multiple of 2 (0 all, 2 E4M3 + 4 E5M2)",
           FormatSet);
  end
  if (Cuts < 0 || Cuts > 31) begin : gen_check_cuts
    $fatal(1, "ng_mma_mx: Cuts=%0d; expected 0 to 31", Cuts);
  end
`endif

  localparam int Lanes = 32;
  localparam int ExpWidth = FormatSet == ng_format_set_pkg::E4m3 ? 4 : 5;
  localparam int KeyWidth = ExpWidth + 3;

  // ---- products, and C and what the scales say beside them
  logic [Lanes-1:0]          lane_nan, lane_inf, negative;
  logic [Lanes*KeyWidth-1:0] keys;
  logic [Lanes*8-1:0]        magnitudes;
  logic [31:0]               start;
  logic [8:0]                scales;
  logic                      scale_nan;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    ng_mma_lane #(
      .FormatSet(FormatSet),
      .Scaled   (1'b1),
      .Cuts     (Cuts & ng_mma_pkg::SumCutProduct)
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
    .Width (42),
    .Enable(Cuts & ng_mma_pkg::SumCutProduct)
  ) u_product (
    .clk_i,
    .en_i,
    .d_i  ({fp32_i, {1'b0, a_scale_i} + {1'b0, b_scale_i}, (&a_scale_i) | (&b_scale_i)}),
    .q_o  ({start, scales, scale_nan})
  );

  ng_mma_sum #(
    .Mode    (ng_mma_pkg::Blackwell),
    .ExpWidth(ExpWidth),
    .Scaled  (1'b1),
    .Cuts    (Cuts & ~ng_mma_pkg::SumCutProduct)
  ) u_sum (
    .clk_i,
    .en_i,
    .nan_i       (lane_nan | {Lanes{scale_nan}}),
    .inf_i       (lane_inf),
    .negative_i  (negative),
    .keys_i      (keys),
    .magnitudes_i(magnitudes),
    .scales_i    (scales),
    .fp32_i      (start),
    .fp32_o
  );
endmodule
