// SPDX-License-Identifier: Apache-2.0
// Decodes one element of an MX block: E4M3, E5M2, E2M3, E3M2 or E2M1, whichever fmt_i selects. The
// ports are those of ng_fp8_operand, and all exponents have E5M2's bias:
//
//   |value| = sig_o * 2^(exp_o + sub_o - 15 - 3)
//
// A narrow code stands in the low bits; what is above it is ignored. A subnormal has the lowest
// exponent of its format, an even one, and means 1 more (sub_o).
//
// Width argument: E4M3's exponents become 8 to 23, those of E2M3 and E2M1 14 to 17, and E3M2's 12
// to 19. The highest bit of a field is the highest bit there; the bits between are its complement.
module ng_mx_operand (
  input  logic [7:0] code_i,
  input  logic [2:0] fmt_i,   // 0 E4M3, 1 E5M2, 2 E2M3, 3 E3M2, 4 to 7 E2M1
  output logic       sign_o,
  output logic [4:0] exp_o,   // exponent field on E5M2's bias
  output logic       sub_o,   // the exponent field is 0
  output logic [3:0] sig_o,   // significand with three fraction bits
  output logic       zero_o,
  output logic       inf_o,
  output logic       nan_o
);
  logic       narrow, special;
  logic [2:0] mantissa;
  assign narrow = fmt_i[2] | fmt_i[1];
  always_comb begin
    unique case (fmt_i)
      3'b000: begin
        sub_o = code_i[6:3] == '0;
        exp_o = {code_i[6], ~code_i[6], code_i[5:3]};
        mantissa = code_i[2:0];
      end
      3'b001: begin
        sub_o = code_i[6:2] == '0;
        exp_o = code_i[6:2];
        mantissa = {code_i[1:0], 1'b0};
      end
      3'b010: begin
        sub_o = code_i[4:3] == '0;
        exp_o = {code_i[4], {3{~code_i[4]}}, code_i[3]};
        mantissa = code_i[2:0];
      end
      3'b011: begin
        sub_o = code_i[4:2] == '0;
        exp_o = {code_i[4], {2{~code_i[4]}}, code_i[3:2]};
        mantissa = {code_i[1:0], 1'b0};
      end
      default: begin
        sub_o = code_i[2:1] == '0;
        exp_o = {code_i[2], {3{~code_i[2]}}, code_i[1]};
        mantissa = {code_i[0], 2'b00};
      end
    endcase
  end
  assign sign_o = narrow ? (fmt_i[2] ? code_i[3] : code_i[5]) : code_i[7];
  assign sig_o = {~sub_o, mantissa};
  assign zero_o = sub_o & (mantissa == '0);
  assign special = ~narrow & fmt_i[0] & (&code_i[6:2]);
  assign inf_o = special & (code_i[1:0] == '0);
  assign nan_o = (special & (code_i[1:0] != '0)) | (~narrow & ~fmt_i[0] & (&code_i[6:0]));
endmodule
