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
  logic [6:0] a, b;
  always_comb begin
    case (a_i)
      4'h0:       a[5:0] = 6'b0000_00;
      4'h1, 4'hF: a[5:0] = 6'b0001_00;
      4'h2, 4'hE: a[5:0] = 6'b0010_00;
      4'h3, 4'hD: a[5:0] = 6'b0010_10;
      4'h4, 4'hC: a[5:0] = 6'b0011_00;
      4'h5, 4'hB: a[5:0] = 6'b0011_01;
      4'h6, 4'hA: a[5:0] = 6'b0011_10;
      4'h7, 4'h9: a[5:0] = 6'b0011_11;
      default:    a[5:0] = 6'b0100_00;
    endcase
    a[6] = a_i[3];
  end
  assign b = {b_i[3], 1'b0, b_i[2:0], 2'b00};

  ng_mul_fp7 u_mul (
    .a_i      (a),
    .b_i      (b),
    .product_o(product_o)
  );
endmodule
