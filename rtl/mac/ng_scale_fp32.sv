// SPDX-License-Identifier: Apache-2.0
// Product of two FP32 numbers, rounded once to nearest even: a sum times its tensor scale.
// Subnormal operands and results are kept, zeros have their sign, every NaN is 32'h7FC00000 (also infinity times zero).
//
// The significands (subnormal: hidden bit zero) are multiplied as they are, and the product is normalized, not the operands:
// the exact product loses nothing by leading zeros, and there is only one of it.
//
// Width argument. Product p < 2^48; its bit 47 has the exponent e_a + e_b + 1, from -251 (both subnormal, e = -126) to 255.
// FP32 keeps 24 bits and looks at a guard bit and at the "or" of the rest: 25 normalized bits and the sticky bit. Normalizing
// a p > 0 shifts by at most 47, so the rounding module sees exponents in [-298, 255]: 10 bits.
//
// Cuts (docs/cuts.md): bit 0 behind the product, 1 between the halves of the normalizer, 2 behind it, 3 in the rounding module.
module ng_scale_fp32 #(
  parameter int Cuts = 0  // registers: 1 product + 2 coarse + 4 normalized + 8 shifted
) (
  input  logic        clk_i,  // this and en_i: of the cuts
  input  logic        en_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] y_o
);

`ifndef __ICARUS__ // which has no elaboration tasks
  if (Cuts < 0 || Cuts > 15) begin : gen_check_cuts $fatal(1, "ng_scale_fp32: Cuts=%0d; expected 0 to 15", Cuts); end
`endif

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

  // ---- exact product
  logic [47:0]                product, product_q;
  logic signed [ExpWidth-1:0] top_exp, top_exp_q, top_exp_qq;
  logic                       nan_q, inf_q, sign_q, nan_qq, inf_qq, sign_qq;
  assign product = 48'({a_normal, a_i[22:0]}) * 48'({b_normal, b_i[22:0]});
  assign top_exp = ExpWidth'(a_exp) + ExpWidth'(b_exp) - ExpWidth'(2 * 127 - 1);
  ng_cut #(
    .Width (51 + ExpWidth),
    .Enable(Cuts & 1)
  ) u_product (
    .clk_i(clk_i),
    .en_i (en_i),
    .d_i  ({product, top_exp, nan, inf, (a_i[31] ^ b_i[31]) & ~nan}),
    .q_o  ({product_q, top_exp_q, nan_q, inf_q, sign_q})
  );

  // ---- normalized
  logic [24:0]                sig;
  logic                       sticky;
  logic [5:0]                 shift;
  logic signed [ExpWidth-1:0] exponent;
  ng_normalize #(
    .Width   (48),
    .OutWidth(25),
    .Cuts    ((Cuts >> 1) & 1)
  ) u_normalize (
    .clk_i   (clk_i),
    .en_i    (en_i),
    .data_i  (product_q),
    .fill_i  (1'b0),
    .sig_o   (sig),
    .sticky_o(sticky),
    .shift_o (shift)
  );
  ng_cut #(
    .Width (3 + ExpWidth),
    .Enable(Cuts & 2)
  ) u_coarse (
    .clk_i(clk_i),
    .en_i (en_i),
    .d_i  ({top_exp_q, nan_q, inf_q, sign_q}),
    .q_o  ({top_exp_qq, nan_qq, inf_qq, sign_qq})
  );
  assign exponent = top_exp_qq - ExpWidth'(shift);

  // ---- rounded once
  logic [25:0]                round_sig;
  logic signed [ExpWidth-1:0] round_exp;
  logic                       round_nan, round_inf, round_sign;
  ng_cut #(
    .Width (29 + ExpWidth),
    .Enable(Cuts & 4)
  ) u_normalized (
    .clk_i(clk_i),
    .en_i (en_i),
    .d_i  ({sig, sticky, exponent, nan_qq, inf_qq, sign_qq}),
    .q_o  ({round_sig, round_exp, round_nan, round_inf, round_sign})
  );
  ng_round_pack #(
    .SigWidth(26),
    .ExpWidth(ExpWidth),
    .ExpLo   (-298),
    .ExpHi   (255),
    .RandBits(1),
    .Cuts    ((Cuts >> 3) & 1)
  ) u_round (
    .clk_i (clk_i),
    .en_i  (en_i),
    .mode_i(2'd0),
    .nan_i (round_nan),
    .inf_i (round_inf),
    .sign_i(round_sign),
    .exp_i (round_exp),
    .sig_i (round_sig),
    .rand_i(1'b0),
    .code_o(y_o)
  );

endmodule
