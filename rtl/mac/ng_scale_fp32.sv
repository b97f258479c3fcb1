// SPDX-License-Identifier: Apache-2.0
// Product of two FP32 numbers, rounded once to nearest even: a sum times its tensor scale. Combinational.
// Subnormal operands and results are kept, zeros have their sign, every NaN is 32'h7FC00000 (also infinity times zero).
//
// The significands (subnormal: hidden bit zero) are multiplied as they are, and the product is normalized, not the operands:
// the exact product loses nothing by leading zeros, and there is only one of it.
//
// Width argument. Product p < 2^48; its bit 47 has the exponent e_a + e_b + 1, from -251 (both subnormal, e = -126) to 255.
// FP32 keeps 24 bits and looks at a guard bit and at the "or" of the rest: 25 normalized bits and the sticky bit. Normalizing
// a p > 0 shifts by at most 47, so the rounding module sees exponents in [-298, 255]: 10 bits.
module ng_scale_fp32 (
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] y_o
);

  localparam int ExpWidth = 10;

  // ---- operands
  logic       a_normal, b_normal, a_special, b_special, a_mantissa, b_mantissa;
  logic [7:0] a_exp, b_exp;  // biased; a subnormal number has the exponent of the smallest normal one
  assign a_normal = |a_i[30:23];
  assign b_normal = |b_i[30:23];
  assign a_special = &a_i[30:23];
  assign b_special = &b_i[30:23];
  assign a_mantissa = |a_i[22:0];
  assign b_mantissa = |b_i[22:0];
  assign a_exp = {a_i[30:24], a_i[23] | ~a_normal};
  assign b_exp = {b_i[30:24], b_i[23] | ~b_normal};

  logic nan, inf;
  assign inf = a_special | b_special;
  assign nan = (a_special & (a_mantissa | ~(b_normal | b_mantissa))) | (b_special & (b_mantissa | ~(a_normal | a_mantissa)));

  // ---- exact product, normalized
  logic [47:0] product;
  assign product = 48'({a_normal, a_i[22:0]}) * 48'({b_normal, b_i[22:0]});

  logic [24:0]                sig;
  logic                       sticky;
  logic [5:0]                 shift;
  logic signed [ExpWidth-1:0] exponent;
  ng_normalize #(
    .Width(48),
    .OutWidth(25)
  ) u_normalize (
    .data_i  (product),
    .fill_i  (1'b0),
    .sig_o   (sig),
    .sticky_o(sticky),
    .shift_o (shift)
  );
  assign exponent = ExpWidth'(a_exp) + ExpWidth'(b_exp) - ExpWidth'(shift) - ExpWidth'(2 * 127 - 1);

  // ---- rounded once
  ng_round_pack #(
    .SigWidth(26),
    .ExpWidth(ExpWidth),
    .ExpLo   (-298),
    .ExpHi   (255),
    .RandBits(1)
  ) u_round (
    .mode_i(2'd0),
    .nan_i (nan),
    .inf_i (inf),
    .sign_i((a_i[31] ^ b_i[31]) & ~nan),
    .exp_i (exponent),
    .sig_i ({sig, sticky}),
    .rand_i(1'b0),
    .code_o(y_o)
  );

endmodule
