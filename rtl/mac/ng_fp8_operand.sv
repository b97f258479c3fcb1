// SPDX-License-Identifier: Apache-2.0
//
// Decodes one FP8 operand of ng_fp8_lane: E4M3 or E5M2 (OCP), whichever FormatSet has, or fmt_i
// selects if it has both.
//
//   |value| = sig_o * 2^(exp_o + sub_o - Bias - 3)      Bias: E4M3's 7 if the set is E4M3 alone,
//                                                       else E5M2's 15
//
// A subnormal has exponent field 0 and means 1; adding that is left to the lane, which has a
// carry-in to spare (sub_o).
//
// Width argument: significands have 4 bits (E5M2: 3, padded below). E4M3's exponents 0..15 become
// 8..23 on E5M2's bias: 5 bits. Specials: sig_o is 0 for E5M2's infinities and NaNs; E4M3's only
// NaN decodes as the 480 its bits would otherwise be, which costs nothing and stays within the
// bounds that the lane needs anyway.

module ng_fp8_operand #(
  parameter int FormatSet = ng_format_set_pkg::Fp8,  // 2 E4M3 + 4 E5M2
  localparam int ExpWidth = (FormatSet == ng_format_set_pkg::E4m3) ? 4 : 5
) (
  input  logic [7:0]          code_i,
  input  logic                fmt_i,  // 0: E4M3, 1: E5M2; ignored if the set has only one
  output logic                sign_o,
  output logic [ExpWidth-1:0] exp_o,
  output logic                sub_o,
  output logic [3:0]          sig_o,
  output logic                zero_o,
  output logic                inf_o,
  output logic                nan_o
);
  assign sign_o = code_i[7];
  assign zero_o = code_i[6:0] == '0;

  if (FormatSet == ng_format_set_pkg::E4m3) begin : gen_e4m3
    logic unused_fmt;
    assign unused_fmt = fmt_i;
    assign sub_o = code_i[6:3] == '0;
    assign exp_o = code_i[6:3];
    assign sig_o = {~sub_o, code_i[2:0]};
    assign inf_o = 1'b0;
    assign nan_o = &code_i[6:0];
  end else begin : gen_e5m2
    logic e5m2, special;
    assign e5m2 = (FormatSet == ng_format_set_pkg::E5m2) | fmt_i;
    assign special = e5m2 & (&code_i[6:2]);
    assign sub_o = (code_i[6:3] == '0) & ~(e5m2 & code_i[2]);
    // e + 8 without an adder: bit 3 flips, and carries into bit 4 if it was set.
    assign exp_o = e5m2 ? code_i[6:2] : {code_i[6], ~code_i[6], code_i[5:3]};
    assign sig_o = e5m2 ? {~sub_o, code_i[1:0], 1'b0} & {4{~special}} : {~sub_o, code_i[2:0]};
    assign inf_o = special & (code_i[1:0] == '0);
    assign nan_o = (special & (code_i[1:0] != '0)) | (~e5m2 & (&code_i[6:0]));
  end
endmodule
