// SPDX-License-Identifier: Apache-2.0
//
// Product of two FP7 [1,4,2] numbers, (1 + m/4) 2^(E-1), rounded to nearest even: what a datapath
// has that multiplies FP4 by casting it to the next wider format. It exists to be compared with
// ng_mul_luq.
//
//   multiply, add exponents, normalize by a place, round, correct the exponent; beyond E = 15 the
//   largest number E = 0 is zero whatever the mantissa, in both operands; a zero has the sign that
//   the two signs give
//
// Width argument: significands are 4 to 7, their product 16 to 49, 6 bits. E = Ea + Eb - 1 is 1 to
// 29, 31 at most when normalized and rounded: 5 bits.
module ng_mul_fp7 (
  input  logic [6:0] a_i,
  input  logic [6:0] b_i,
  output logic [6:0] product_o
);
  logic [5:0] product;
  logic [4:0] exponent;
  logic [1:0] mantissa;
  logic       high, half, rest, round_up, some;
  logic [6:0] code;

  assign some = (|a_i[5:2]) & (|b_i[5:2]);
  assign product = {3'd0, 1'b1, a_i[1:0]} * {3'd0, 1'b1, b_i[1:0]};
  assign high = product[5];
  assign exponent = {1'b0, a_i[5:2]} + {1'b0, b_i[5:2]} - {4'd0, ~high};
  assign mantissa = high ? product[4:3] : product[3:2];
  assign half = high ? product[2] : product[1];
  assign rest = (high & product[1]) | product[0];
  assign round_up = half & (rest | mantissa[0]);
  assign code = {exponent, mantissa} + {6'd0, round_up};
  assign product_o = {a_i[6] ^ b_i[6], (code[5:0] | {6{code[6]}}) & {6{some}}};
endmodule
