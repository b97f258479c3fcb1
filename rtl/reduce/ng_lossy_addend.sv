// SPDX-License-Identifier: Apache-2.0
// A BF16 number as what a digit of an exact sum takes: an exact sum is the sum of digits d_c times
// 2^(16 c - 134), and a number goes whole into one digit, the one that its exponent's upper four
// bits name. Combinational.
//
// Width argument: a significand of 8 bits, shifted by at most 15 places, has 23 bits, and a sign. A
// subnormal number is twice its mantissa under exponent 0, so that no exponent needs a decrement.
module ng_lossy_addend (
  input  logic [15:0] value_i,   // BF16
  output logic [3:0]  digit_o,   // c
  output logic [23:0] addend_o,  // two's complement; no meaning beside nan_o
  output logic        nan_o      // infinity or NaN
);
  logic        sign, normal;
  logic [7:0]  exponent, significand;
  logic [22:0] shifted;
  assign {sign, exponent} = value_i[15:7];
  assign normal = |exponent;
  assign significand = normal ? {1'b1, value_i[6:0]} : {value_i[6:0], 1'b0};
  assign shifted = 23'(significand) << exponent[3:0];
  assign digit_o = exponent[7:4];
  assign addend_o = ({1'b0, shifted} ^ {24{sign}}) + 24'(sign);
  assign nan_o = &exponent;
endmodule
