// SPDX-License-Identifier: Apache-2.0
//
// Quantizes a block of 32 BF16 numbers to an MX format, MXFP4 or MXFP8: an E8M0 scale and 32 codes
// of E2M1, E4M3 or E5M2, by the dialects `ocp_floor` (Rceil = 0) and `ocp_rceil` (Rceil = 1) of
// docs/dialects.md, to nearest even or stochastic.
//
//   scale_o   e - E, at least 0; e is the exponent field of the largest magnitude, E that of the
//             format's largest number, 2, 8 or 15; Rceil: plus 1 where the mantissa of the largest
//             magnitude is above that of the format's, 1.5 or 1.75
//   codes_o   x 2^(127 - scale) rounded, at most 6, 448 or 57344, signs kept
//   a NaN or an infinity in the block: scale NaN (8'hFF), codes zero
//
// Rceil is FP32's product of the largest magnitude and fl(1/6), fl(1/448) or fl(1/57344), rounded
// up to a power of two; of BF16 numbers that is a comparison: 1.5 * 2^n, 1.75 * 2^n give powers of
// two exactly, since the rounded reciprocals are too large by less than half of the product's last
// place.
//
// Width argument: e is at most 254 where it counts; e - E + 1 is -14 to 253. base = bias - 2 -
// scale is -255 to 13.
//
// Cuts (docs/cuts.md): bit 0 behind the maximum, 1 behind the shifts, 2 behind the codes.
module ng_quantize_mx #(
  parameter int FormatSet = ng_format_set_pkg::Fp8,  // 2 E4M3 + 4 E5M2; 0: E2M1
  parameter bit Rceil     = 1'b0,  // 1: scales rounded up, so that nothing is clipped
  parameter int Cuts      = 0,  // registers: 1 amax + 2 shifted + 4 codes
  localparam int Bits = FormatSet == 0 ? 4 : 8
) (
  input  logic               clk_i,  // clock of the cuts
  input  logic               en_i,   // enable of the cuts
  input  logic [511:0]       a_i,
  input  logic               fmt_i,  // 0: E4M3, 1: E5M2; ignored if the set has not both
  input  logic               stochastic_i,
  input  logic [255:0]       rand_i,  // eight bits an element, used if stochastic_i
  output logic [32*Bits-1:0] codes_o,
  output logic [7:0]         scale_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if ((FormatSet & ~ng_format_set_pkg::Fp8) != 0) begin : gen_check_format_set
    $fatal(1, "ng_quantize_mx: FormatSet=%0d; expected 0 to 6, a multiple of 2 (2 E4M3 + 4 E5M2; 0: E2M1)",
           FormatSet);
  end
  if (Cuts < 0 || Cuts > 7) begin : gen_check_cuts
    $fatal(1, "ng_quantize_mx: Cuts=%0d; expected 0 to 7", Cuts);
  end
`endif

  // ---- the scale
  logic [14:0] amax, amax_q;
  ng_amax #(
    .Lanes(32),
    .Width(16)
  ) u_amax (
    .a_i,
    .amax_o(amax)
  );

  logic [511:0] block_q;
  logic [255:0] rand_q;
  logic         fmt_q, stochastic_q;
  ng_cut #(
    .Width (785),
    .Enable(Cuts & ng_quant_pkg::MxCutAmax)
  ) u_cut_amax (
    .clk_i,
    .en_i,
    .d_i  ({a_i, rand_i, fmt_i, stochastic_i, amax}),
    .q_o  ({block_q, rand_q, fmt_q, stochastic_q, amax_q})
  );

  localparam int E2m1Base = ng_format_pkg::E2M1Bias - 2;
  localparam int E4m3Base = ng_format_pkg::E4M3Bias - 2;
  localparam int E5m2Base = ng_format_pkg::E5M2Bias - 2;
  logic              e5m2, nan, round_up;
  logic        [8:0] largest, low;
  logic        [7:0] exponent, scale;
  logic signed [8:0] base;
  assign e5m2 = FormatSet == ng_format_set_pkg::E5m2
      || (FormatSet == ng_format_set_pkg::Fp8 && fmt_q);
  assign nan = &amax_q[14:7];
  assign round_up = Rceil && amax_q[6:0] > (FormatSet == 0 ? 7'd64 : 7'd96);
  assign largest = FormatSet == 0 ? 9'd2 : e5m2 ? 9'd15 : 9'd8;
  assign low = {1'b0, amax_q[14:7]} - largest + {8'b0, round_up};
  assign exponent = low[8] ? 8'd0 : low[7:0];
  assign scale = nan ? 8'hFF : exponent;
  assign base = $signed((FormatSet == 0 ? 9'(E2m1Base) : e5m2 ? 9'(E5m2Base) : 9'(E4m3Base))
      - {1'b0, exponent});

  // ---- elements
  logic [32*Bits-1:0] rounded, codes;
  for (genvar i = 0; i < 32; i++) begin : gen_lane
    ng_quantize_lane #(
      .FormatSet(FormatSet),
      .Bounded  (1'b1),
      .Cut      ((Cuts & ng_quant_pkg::MxCutShifted) != 0)
    ) u_lane (
      .clk_i,
      .en_i,
      .x_i         (block_q[16*i +: 16]),
      .base_i      (base),
      .nan_i       (1'b0),
      .fmt_i       (fmt_q),
      .stochastic_i(stochastic_q),
      .rand_i      (rand_q[8*i +: 8]),
      .code_o      (rounded[Bits*i +: Bits])
    );
  end

  logic       nan_q;
  logic [7:0] scale_q;
  ng_cut #(
    .Width (9),
    .Enable(Cuts & ng_quant_pkg::MxCutShifted)
  ) u_cut_shifted (
    .clk_i,
    .en_i,
    .d_i  ({nan, scale}),
    .q_o  ({nan_q, scale_q})
  );

  assign codes = rounded & {32*Bits{~nan_q}};
  ng_cut #(
    .Width (32 * Bits + 8),
    .Enable(Cuts & ng_quant_pkg::MxCutCodes)
  ) u_cut_codes (
    .clk_i,
    .en_i,
    .d_i  ({codes, scale_q}),
    .q_o  ({codes_o, scale_o})
  );
endmodule
