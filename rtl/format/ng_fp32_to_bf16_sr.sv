// SPDX-License-Identifier: Apache-2.0
// Rounds FP32 to BF16 stochastically, with as many random bits as are lost: over all 2^16 words the
// expectation is the FP32 number. Combinational. Twin of narrowgauge::fp32_to_bf16_sr.
//
// The lower half is the share of the way to the next BF16 number, in all binades and among
// subnormal numbers. Where its sum with the random bits has a carry the upper half is rounded up,
// as an integer, from one exponent to the next too.
//
// No finite number becomes infinity: the largest BF16 number is not rounded up. A NaN whose upper
// half is that of an infinity has its last bit set.
//
// Width argument: 15'h7F7E is the largest upper half that is rounded up: no carry leaves the 15
// bits below the sign.
module ng_fp32_to_bf16_sr (
  input  logic [31:0] fp32_i,
  input  logic [15:0] rand_i,
  output logic [15:0] bf16_o
);

  logic        special, largest, carry, nan, round_up;
  logic [15:0] unused_sum;
  assign special = &fp32_i[30:23];
  assign largest = (&fp32_i[30:24]) & (&fp32_i[22:16]);
  assign nan = special & (|fp32_i[15:0]);
  assign {carry, unused_sum} = {1'b0, fp32_i[15:0]} + {1'b0, rand_i};
  assign round_up = carry & ~special & ~largest;
  assign bf16_o = {fp32_i[31], {fp32_i[30:17], fp32_i[16] | nan} + 15'(round_up)};

endmodule
