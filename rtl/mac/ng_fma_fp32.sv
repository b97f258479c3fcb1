// SPDX-License-Identifier: Apache-2.0
// a * b + c with one rounding (fused): a and b in a small IEEE format (BF16, FP16, TF32, FP32), c
// and the result FP32, nearest even. Subnormals, infinities, signed zeros as IEEE 754; every NaN is
// 32'h7FC00000.
//
// The significands (subnormal: hidden bit zero) are multiplied as they are; the exact product goes
// to ng_add_fp32.
//
// Width argument. The product of two significands of ManBits + 1 bits has twice as many; its top
// bit has the exponent e_a + e_b + 1. Leading zeros: at most one for normal numbers, ManBits + 1
// with one subnormal operand, all but one with two, whose product, however, is below 2^-126 if the
// format has 8 exponent bits, and then never leads the sum.
//
// Cuts (docs/cuts.md): bit 0 behind the product, the others in ng_add_fp32.
module ng_fma_fp32 #(
  parameter int ExpBits = 8,   // of a and b: 8/7 BF16, 5/10 FP16, 8/10 TF32, 8/23 FP32
  parameter int ManBits = 7,
  // Registers: 1 product + 2 ordered + 4 aligned + 8 compared + 16 added + 32 coarse + 64
  // normalized + 128 shifted.
  parameter int Cuts    = 0,
  localparam int Bits = 1 + ExpBits + ManBits
) (
  input  logic            clk_i,  // clock of the cuts
  input  logic            en_i,   // enable of the cuts
  input  logic [Bits-1:0] a_i,
  input  logic [Bits-1:0] b_i,
  input  logic [31:0]     c_i,
  output logic [31:0]     fp32_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (ExpBits < 2 || ExpBits > 8) begin : gen_check_exp_bits
    $fatal(1, "ng_fma_fp32: ExpBits=%0d; expected 2 to 8", ExpBits);
  end
  if (ManBits < 1 || ManBits > 23) begin : gen_check_man_bits
    $fatal(1, "ng_fma_fp32: ManBits=%0d; expected 1 to 23", ManBits);
  end
  if (Cuts < 0 || Cuts > 255) begin : gen_check_cuts
    $fatal(1, "ng_fma_fp32: Cuts=%0d; expected 0 to 255", Cuts);
  end
`endif

  localparam int ExpWidth = 10;
  localparam int ProductWidth = 2 * ManBits + 2;
  localparam int Bias = (1 << (ExpBits - 1)) - 1;

  // ---- operands; a subnormal number has the exponent of the smallest normal one
  logic               a_normal, b_normal, a_special, b_special, a_mantissa, b_mantissa;
  logic [ExpBits-1:0] a_exp, b_exp;
  assign a_normal = |a_i[ManBits +: ExpBits];
  assign b_normal = |b_i[ManBits +: ExpBits];
  assign a_special = &a_i[ManBits +: ExpBits];
  assign b_special = &b_i[ManBits +: ExpBits];
  assign a_mantissa = |a_i[ManBits-1:0];
  assign b_mantissa = |b_i[ManBits-1:0];
  assign a_exp = {a_i[ManBits+1 +: ExpBits-1], a_i[ManBits] | ~a_normal};
  assign b_exp = {b_i[ManBits+1 +: ExpBits-1], b_i[ManBits] | ~b_normal};

  logic nan, inf;
  assign inf = a_special | b_special;
  assign nan = (a_special & (a_mantissa | ~(b_normal | b_mantissa)))
      | (b_special & (b_mantissa | ~(a_normal | a_mantissa)));

  logic [ProductWidth-1:0]    product, x_sig;
  logic signed [ExpWidth-1:0] exponent, x_exp;
  logic                       x_nan, x_inf, x_sign;
  logic [31:0]                addend;
  assign product = ProductWidth'({a_normal, a_i[ManBits-1:0]})
      * ProductWidth'({b_normal, b_i[ManBits-1:0]});
  assign exponent = ExpWidth'(a_exp) + ExpWidth'(b_exp) - ExpWidth'(2 * Bias - 1);
  ng_cut #(
    .Width (ProductWidth + ExpWidth + 35),
    .Enable(Cuts & ng_mac_pkg::FmaCutProduct)
  ) u_product (
    .clk_i,
    .en_i,
    .d_i  ({product, exponent, nan, inf, a_i[Bits-1] ^ b_i[Bits-1], c_i}),
    .q_o  ({x_sig, x_exp, x_nan, x_inf, x_sign, addend})
  );

  ng_add_fp32 #(
    .SigWidth(ProductWidth),
    .Unnormal(ExpBits < 8 ? ProductWidth - 1 : ManBits + 1),
    .ExpHi   (2 * Bias + 1),
    .Cuts    (Cuts >> ng_mac_pkg::FmaAddShift)
  ) u_add (
    .clk_i,
    .en_i,
    .x_nan_i (x_nan),
    .x_inf_i (x_inf),
    .x_sign_i(x_sign),
    .x_exp_i (x_exp),
    .x_sig_i (x_sig),
    .c_i     (addend),
    .sum_o   (fp32_o)
  );

endmodule
