// SPDX-License-Identifier: Apache-2.0
//
// The product of an INT4 and an FP4 [1,3,0] number on the standard datapath: both cast to FP7
// [1,4,2], multiplied, normalized, rounded. The baseline of ng_mul_luq, whose results in FP7 it
// equals for every pair.
module ng_mul_luq_standard (
  input  logic [3:0] a_i,  // INT4, two's complement
  input  logic [3:0] b_i,  // FP4 [1,3,0]: sign, exponent field
  output logic [6:0] product_o
);
  logic [6:0] a_fp7, b_fp7;
  always_comb begin
    case (a_i)
      4'h0:       a_fp7[5:0] = 6'b0000_00;
      4'h1, 4'hF: a_fp7[5:0] = 6'b0001_00;
      4'h2, 4'hE: a_fp7[5:0] = 6'b0010_00;
      4'h3, 4'hD: a_fp7[5:0] = 6'b0010_10;
      4'h4, 4'hC: a_fp7[5:0] = 6'b0011_00;
      4'h5, 4'hB: a_fp7[5:0] = 6'b0011_01;
      4'h6, 4'hA: a_fp7[5:0] = 6'b0011_10;
      4'h7, 4'h9: a_fp7[5:0] = 6'b0011_11;
      default:    a_fp7[5:0] = 6'b0100_00;
    endcase
    a_fp7[6] = a_i[3];
  end
  assign b_fp7 = {b_i[3], 1'b0, b_i[2:0], 2'b00};

  ng_mul_fp7 u_mul (
    .a_i      (a_fp7),
    .b_i      (b_fp7),
    .product_o
  );
endmodule
