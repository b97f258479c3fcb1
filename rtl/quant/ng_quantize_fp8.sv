// SPDX-License-Identifier: Apache-2.0
//
// Quantizes BF16 numbers to FP8, E4M3 or E5M2, under a scale that is a power of two, to nearest
// even or stochastically.
//
//   codes_o   x 2^(127 - scale_i) rounded, signs kept, at most 448 or 57344; NaN 7F, an infinity
//             the largest number
//   scale_i   E8M0: the tensor's scale 2^(scale_i - 127), which the codes have to be multiplied by
//   a scale of NaN (FF; TinyScales = 0: or below 2^-111): all codes NaN, 7F
//
// A tensor has one scale, so all that depends on it is common to the elements: each is an
// ng_quantize_lane.
//
// Width argument: base = bias - 2 - s is -256 + 5 to 13.
//
// TinyScales = 0 spares normalizing subnormal elements, which become normal numbers only under
// scales below 2^-112.
//
// Cuts (docs/cuts.md): bit 0 behind the shifts, 1 behind the codes.
module ng_quantize_fp8 #(
  parameter int Lanes      = 16,
  parameter int FormatSet  = ng_format_set_pkg::Fp8,  // 2 E4M3 + 4 E5M2
  parameter int RandBits   = 8,
  parameter bit TinyScales = 1'b1,  // 0: scales below 2^-111 are refused
  parameter int Cuts       = 0   // registers: 1 shifted + 2 codes
) (
  input  logic                      clk_i,  // clock of the cuts
  input  logic                      en_i,   // enable of the cuts
  input  logic [Lanes*16-1:0]       a_i,
  input  logic [7:0]                scale_i,
  input  logic                      fmt_i,  // 0: E4M3, 1: E5M2; ignored if the set has only one
  input  logic                      stochastic_i,
  input  logic [Lanes*RandBits-1:0] rand_i,  // used if stochastic_i
  output logic [Lanes*8-1:0]        codes_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 1024) begin : gen_check_lanes
    $fatal(1, "ng_quantize_fp8: Lanes=%0d; expected 1 to 1024", Lanes);
  end
  if (FormatSet == 0 || (FormatSet & ~ng_format_set_pkg::Fp8) != 0) begin : gen_check_format_set
    $fatal(1, "ng_quantize_fp8: FormatSet=%0d; expected 2 to 6, a multiple of 2 (2 E4M3 + 4 E5M2)",
           FormatSet);
  end
  if (RandBits < 1 || RandBits > 24) begin : gen_check_rand_bits
    $fatal(1, "ng_quantize_fp8: RandBits=%0d; expected 1 to 24", RandBits);
  end
  if (Cuts < 0 || Cuts > 3) begin : gen_check_cuts
    $fatal(1, "ng_quantize_fp8: Cuts=%0d; expected 0 to 3", Cuts);
  end
`endif

  localparam int E4m3Base = ng_format_pkg::E4M3Bias - 2;
  localparam int E5m2Base = ng_format_pkg::E5M2Bias - 2;
  logic              e5m2, nan;
  logic signed [9:0] base;
  assign e5m2 = FormatSet == ng_format_set_pkg::E5m2
      || (FormatSet == ng_format_set_pkg::Fp8 && fmt_i);
  assign nan = (&scale_i) | (!TinyScales && scale_i[7:4] == '0);
  assign base = $signed((e5m2 ? 10'(E5m2Base) : 10'(E4m3Base)) - {2'b0, scale_i});

  logic [Lanes*8-1:0] codes;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    ng_quantize_lane #(
      .FormatSet(FormatSet),
      .RandBits (RandBits),
      .MinScale (TinyScales ? 0 : 16),
      .Cut      ((Cuts & ng_quant_pkg::Fp8CutShifted) != 0)
    ) u_lane (
      .clk_i,
      .en_i,
      .x_i         (a_i[16*i +: 16]),
      .base_i      (base),
      .nan_i       (nan),
      .fmt_i,
      .stochastic_i,
      .rand_i      (rand_i[RandBits*i +: RandBits]),
      .code_o      (codes[8*i +: 8])
    );
  end

  ng_cut #(
    .Width (Lanes * 8),
    .Enable(Cuts & ng_quant_pkg::Fp8CutCodes)
  ) u_cut_codes (
    .clk_i,
    .en_i,
    .d_i  (codes),
    .q_o  (codes_o)
  );
endmodule
