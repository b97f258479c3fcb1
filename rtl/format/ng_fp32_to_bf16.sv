// SPDX-License-Identifier: Apache-2.0
// Rounds FP32 to BF16, to nearest even. Combinational. Overflow gives infinity; a NaN becomes the quiet NaN of its sign.
// Twin of narrowgauge::encode for bf16 with Overflow::ieee.
//
// Width argument: the exponent ranges are equal, so the significand is a hidden one (zero when subnormal), 23 mantissa bits,
// and nothing is shifted: an FP32 subnormal comes with BF16's smallest exponent, -126.
module ng_fp32_to_bf16 (
  input  logic [31:0] fp32_i,
  output logic [15:0] bf16_o
);

  logic              normal, special;
  logic signed [8:0] exponent;
  assign normal = |fp32_i[30:23];
  assign special = &fp32_i[30:23];
  assign exponent = $signed({1'b0, fp32_i[30:23]}) - (normal ? 9'sd127 : 9'sd126);

  ng_round_pack #(
    .Bits    (ng_format_pkg::BF16Bits),
    .Sign    (ng_format_pkg::BF16Sign),
    .ExpBits (ng_format_pkg::BF16ExpBits),
    .ManBits (ng_format_pkg::BF16ManBits),
    .Bias    (ng_format_pkg::BF16Bias),
    .HasInf  (ng_format_pkg::BF16HasInf),
    .Nan     (ng_format_pkg::BF16Nan),
    .HasZero (ng_format_pkg::BF16HasZero),
    .Overflow(1),
    .SigWidth(24),
    .ExpWidth(9),
    .ExpLo   (-126),
    .ExpHi   (127),
    .RandBits(1)
  ) u_round (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .mode_i(2'd0),
    .nan_i (special & (|fp32_i[22:0])),
    .inf_i (special & ~(|fp32_i[22:0])),
    .sign_i(fp32_i[31]),
    .exp_i (exponent),
    .sig_i ({normal, fp32_i[22:0]}),
    .rand_i(1'b0),
    .code_o(bf16_o)
  );

endmodule
