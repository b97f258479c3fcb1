// SPDX-License-Identifier: Apache-2.0
//
// LUQ's quantizer under any alpha: BF16 numbers to 0 and +-alpha 2^0 to 2^(Levels - 1).
// ng_quantize_luq is for powers of two.
//
//   scale_i     alpha without its sign, BF16 or FP32, a normal number
//   codes_o     sign above the exponent field c of the number, 0 or alpha 2^(c-1): FP4 [1,3,0], or
//               five bits where Levels = 8
//   special_o   an element is an infinity or a NaN, or alpha is no normal number. An infinity
//               becomes the largest number, a NaN, or everything under such an alpha, the largest
//               positive one.
//
// Each element is an ng_quantize_luq_lane: the rule is there.
//
// Cuts (docs/cuts.md): bit 0 between product and comparison, 1 at the outputs.
module ng_quantize_luq_exact #(
  parameter int Lanes    = 16,
  parameter int Levels   = 7,  // 8: the paper's code, five bits
  parameter int Alpha    = 0,  // 0: a BF16 number, 1: an FP32 number
  parameter int RandBits = 8,
  parameter int Cuts     = 0,  // registers: 1 compared + 2 codes
  localparam int CodeBits = Levels == 8 ? 5 : 4,
  localparam int ManBits  = Alpha == 0 ? ng_format_pkg::BF16ManBits : ng_format_pkg::FP32ManBits
) (
  input  logic                      clk_i,  // clock of the cuts
  input  logic                      en_i,   // enable of the cuts
  input  logic [Lanes*16-1:0]       a_i,
  input  logic [ManBits+7:0]        scale_i,
  input  logic                      stochastic_i,
  input  logic [Lanes*RandBits-1:0] rand_i,  // used if stochastic_i
  output logic [Lanes*CodeBits-1:0] codes_o,
  output logic                      special_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 256) begin : gen_check_lanes
    $fatal(1, "ng_quantize_luq_exact: Lanes=%0d; expected 1 to 256", Lanes);
  end
  if (Levels < 7 || Levels > 8) begin : gen_check_levels
    $fatal(1, "ng_quantize_luq_exact: Levels=%0d; expected 7 or 8", Levels);
  end
  if (Alpha < 0 || Alpha > 1) begin : gen_check_alpha
    $fatal(1, "ng_quantize_luq_exact: Alpha=%0d; expected 0 (bf16) or 1 (fp32)", Alpha);
  end
  if (RandBits < 1 || RandBits > 24) begin : gen_check_rand_bits
    $fatal(1, "ng_quantize_luq_exact: RandBits=%0d; expected 1 to 24", RandBits);
  end
  if (Cuts < 0 || Cuts > 3) begin : gen_check_cuts
    $fatal(1, "ng_quantize_luq_exact: Cuts=%0d; expected 0 to 3", Cuts);
  end
`endif

  logic                      refused, refused_q, special_q;
  logic [Lanes-1:0]          special;
  logic [Lanes*CodeBits-1:0] codes;
  assign refused = (&scale_i[ManBits +: 8]) | ~(|scale_i[ManBits +: 8]);
  ng_cut #(
    .Width (2),
    .Enable(Cuts & ng_luq_pkg::ExactCutCompared)
  ) u_cut_compared (
    .clk_i,
    .en_i,
    .d_i  ({refused, refused | (|special)}),
    .q_o  ({refused_q, special_q})
  );

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    ng_quantize_luq_lane #(
      .Levels  (Levels),
      .ManBits (ManBits),
      .RandBits(RandBits),
      .Cut     ((Cuts & ng_luq_pkg::ExactCutCompared) != 0)
    ) u_lane (
      .clk_i,
      .en_i,
      .x_i         (a_i[16*i +: 16]),
      .alpha_i     (scale_i),
      .stochastic_i,
      .rand_i      (rand_i[RandBits*i +: RandBits]),
      .refused_i   (refused_q),
      .special_o   (special[i]),
      .code_o      (codes[CodeBits*i +: CodeBits])
    );
  end

  ng_cut #(
    .Width (Lanes * CodeBits + 1),
    .Enable(Cuts & ng_luq_pkg::ExactCutCodes)
  ) u_cut_codes (
    .clk_i,
    .en_i,
    .d_i  ({codes, special_q}),
    .q_o  ({codes_o, special_o})
  );
endmodule
