// SPDX-License-Identifier: Apache-2.0
//
// For all pairs, ng_mul_luq in all shapes gives the product of the values of the codes, and ng_mul_luq_standard what it gives in FP7.
module mul_luq_proof (
  input logic [3:0] a_i,
  input logic [3:0] b_i
);
  logic signed [10:0] fixed;
  logic        [6:0]  fp7, standard;
  logic        [7:0]  split;
  logic signed [12:0] product, fixed_value;
  logic        [15:0] magnitude;
  ng_mul_luq #(
    .Shape(0)
  ) u_fixed (
    .a_i      (a_i),
    .b_i      (b_i),
    .product_o(fixed)
  );
  ng_mul_luq #(
    .Shape(1)
  ) u_fp7 (
    .a_i      (a_i),
    .b_i      (b_i),
    .product_o(fp7)
  );
  ng_mul_luq #(
    .Shape(2)
  ) u_split (
    .a_i      (a_i),
    .b_i      (b_i),
    .product_o(split)
  );
  ng_mul_luq_standard u_standard (
    .a_i      (a_i),
    .b_i      (b_i),
    .product_o(standard)
  );
  assign product = ng_luq_spec_pkg::product(a_i, b_i);
  assign magnitude = {3'd0, product[12] ? -product : product};
  assign fixed_value = {{2{fixed[10]}}, fixed};
  always_comb begin
    assert (fixed_value == product);
    assert (ng_luq_spec_pkg::fp7_magnitude(fp7[5:0]) == magnitude << 2);
    assert (fp7[5:2] != 4'd0 || fp7[1:0] == 2'd0);
    assert (fp7[6] == (a_i[3] ^ b_i[3]));
    assert ({12'd0, split[3:0]} << split[6:4] == magnitude << 1);
    assert (split[7] == (a_i[3] ^ b_i[3]));
    assert (ng_luq_spec_pkg::fp7_magnitude(standard[5:0]) == magnitude << 2);
    assert (standard == fp7);
  end
endmodule
