// SPDX-License-Identifier: Apache-2.0
// One product of ng_mma_fp8, ng_mma_mx and ng_mma_rvbna: sign, magnitude, and a key that orders the
// products by their labels.
//
//   product = (-1)^negative_o * magnitude_o * 2^(exponents - 2 * Bias - 6)    if neither is zero
//
// key_o has from its top bit: that neither operand is zero; if Scaled, that not both are; the sum
// of the exponents, e = max(field, 1), 0 for a zero. Bias is E4M3's 7 if the set is E4M3 alone,
// else E5M2's 15. A zero counts as -126 in the label of its product, whatever the other operand is,
// so all products with a zero come below all others; and of those with one zero the other operand's
// exponent decides, which is what is left in the sum.
//
// nan_o: an operand is NaN, or infinity meets zero. inf_o: an operand is infinite. What else leaves
// the lane has no meaning then.
//
// Cuts (docs/cuts.md): bit 0 behind everything.
module ng_mma_lane #(
  // 2 E4M3 + 4 E5M2; 0: all elements of MX, which ng_mx_operand has
  parameter int FormatSet = ng_format_set_pkg::Fp8,
  parameter bit Scaled    = 1'b0,  // the key says whether both operands are zero
  parameter int Cuts      = 0,     // registers: 1 product
  localparam int ExpWidth = (FormatSet == ng_format_set_pkg::E4m3) ? 4 : 5,
  localparam int KeyWidth = ExpWidth + (Scaled ? 3 : 2)
) (
  input  logic                clk_i,        // clock of the cut
  input  logic                en_i,         // enable of the cut
  input  logic [7:0]          a_i,          // code
  input  logic [7:0]          b_i,          // code
  input  logic [2:0]          a_fmt_i,      // format of a_i; of FP8 bit 0 alone, of one format none
  input  logic [2:0]          b_fmt_i,      // format of b_i; of FP8 bit 0 alone, of one format none
  output logic                nan_o,        // the product is NaN
  output logic                inf_o,        // the product is infinite, if it is not NaN
  output logic                negative_o,   // sign of the product
  output logic [KeyWidth-1:0] key_o,        // orders the products by their labels
  output logic [7:0]          magnitude_o   // product of the significands, with 6 fraction bits
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Cuts < 0 || Cuts > 1) begin : gen_check_cuts
    $fatal(1, "ng_mma_lane: Cuts=%0d; expected 0 or 1", Cuts);
  end
`endif

  logic                a_sign, a_sub, a_zero, a_inf, a_nan, b_sign, b_sub, b_zero, b_inf, b_nan;
  logic [ExpWidth-1:0] a_exp, b_exp, a_label, b_label;
  logic [3:0]          a_sig, b_sig;
  if (FormatSet == 0) begin : gen_mx
    ng_mx_operand u_a (
      .code_i(a_i),
      .fmt_i (a_fmt_i),
      .sign_o(a_sign),
      .exp_o (a_exp),
      .sub_o (a_sub),
      .sig_o (a_sig),
      .zero_o(a_zero),
      .inf_o (a_inf),
      .nan_o (a_nan)
    );
    ng_mx_operand u_b (
      .code_i(b_i),
      .fmt_i (b_fmt_i),
      .sign_o(b_sign),
      .exp_o (b_exp),
      .sub_o (b_sub),
      .sig_o (b_sig),
      .zero_o(b_zero),
      .inf_o (b_inf),
      .nan_o (b_nan)
    );
  end else begin : gen_fp8
    logic unused;
    assign unused = ^{a_fmt_i[2:1], b_fmt_i[2:1]};
    ng_fp8_operand #(
      .FormatSet(FormatSet)
    ) u_a (
      .code_i(a_i),
      .fmt_i (a_fmt_i[0]),
      .sign_o(a_sign),
      .exp_o (a_exp),
      .sub_o (a_sub),
      .sig_o (a_sig),
      .zero_o(a_zero),
      .inf_o (a_inf),
      .nan_o (a_nan)
    );
    ng_fp8_operand #(
      .FormatSet(FormatSet)
    ) u_b (
      .code_i(b_i),
      .fmt_i (b_fmt_i[0]),
      .sign_o(b_sign),
      .exp_o (b_exp),
      .sub_o (b_sub),
      .sig_o (b_sig),
      .zero_o(b_zero),
      .inf_o (b_inf),
      .nan_o (b_nan)
    );
  end
  // A subnormal number's exponent is even, so that adding 1 is setting the lowest bit.
  assign a_label = {a_exp[ExpWidth-1:1], a_exp[0] | a_sub} & {ExpWidth{~a_zero}};
  assign b_label = {b_exp[ExpWidth-1:1], b_exp[0] | b_sub} & {ExpWidth{~b_zero}};

  logic [KeyWidth-1:0] key;
  logic [ExpWidth:0]   exponents;
  logic [7:0]          magnitude;
  assign exponents = {1'b0, a_label} + {1'b0, b_label};
  if (Scaled) begin : gen_scaled
    assign key = {~a_zero & ~b_zero, ~(a_zero & b_zero), exponents};
  end else begin : gen_unscaled
    assign key = {~a_zero & ~b_zero, exponents};
  end
  assign magnitude = a_sig * b_sig;
  ng_cut #(
    .Width (KeyWidth + 11),
    .Enable(Cuts & ng_mma_pkg::SumCutProduct)
  ) u_product (
    .clk_i,
    .en_i,
    .d_i  ({a_nan | b_nan | (a_inf & b_zero) | (b_inf & a_zero), a_inf | b_inf, a_sign ^ b_sign,
        key, magnitude}),
    .q_o  ({nan_o, inf_o, negative_o, key_o, magnitude_o})
  );
endmodule
