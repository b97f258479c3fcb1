// SPDX-License-Identifier: Apache-2.0
// Rounds FP32 to BF16, to odd: what is no BF16 number becomes its neighbour whose last bit is 1.
// Combinational. Twin of narrowgauge::fp32_to_bf16_odd.
//
// The result is on the same side of every BF16 number with an even code as the FP32 number was, so
// a unit that compares with such numbers decides as if it had all 32 bits: rounding to fewer bits
// behind this one rounds once.
//
// Width argument: no carry, since the upper half is kept and its last bit only ever set.
module ng_fp32_to_bf16_odd (
  input  logic [31:0] fp32_i,
  output logic [15:0] bf16_o
);

  assign bf16_o = {fp32_i[31:17], |fp32_i[16:0]};

endmodule
