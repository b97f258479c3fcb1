// SPDX-License-Identifier: Apache-2.0
// Rounds FP32 to BF16, to nearest even. Combinational. Overflow gives infinity; a NaN becomes the
// quiet NaN of its sign. Twin of narrowgauge::encode for bf16 with Overflow::ieee.
//
// BF16 is the upper half of FP32: the exponents have the same bias and width, and the significand
// keeps 7 of 23 bits. So a code rounds as an integer: the carry out of a significand of ones makes
// the next exponent, from the largest subnormal number the smallest normal one, from the largest
// number infinity. An infinity has nothing to round.
//
// Width argument: the largest code that is rounded up is 15'h7F7F, since one above is an infinity
// or a NaN: no carry leaves the 15 bits below the sign.
module ng_fp32_to_bf16 (
  input  logic [31:0] fp32_i,
  output logic [15:0] bf16_o
);

  logic nan, round_up;
  assign nan = (&fp32_i[30:23]) & (|fp32_i[22:0]);
  assign round_up = fp32_i[15] & (fp32_i[16] | (|fp32_i[14:0]));
  assign bf16_o = {fp32_i[31], nan ? 15'h7FC0 : fp32_i[30:16] + 15'(round_up)};

endmodule
