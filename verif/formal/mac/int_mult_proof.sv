// SPDX-License-Identifier: Apache-2.0
//
// For all inputs, each structure of ng_int_mult, each combination of signs, is the product as `*` defines it.
//
// MULT_FALSE lets the specification take the operands of the mixed products for what they are not.
module int_mult_proof #(
  parameter int AWidth = 4,
  parameter int BWidth = 4
) (
  input logic [AWidth-1:0] a_i,
  input logic [BWidth-1:0] b_i
);
`ifdef MULT_FALSE
  localparam bit Swapped = 1'b1;
`else
  localparam bit Swapped = 1'b0;
`endif
  localparam int Width = AWidth + BWidth;
  for (genvar s = 0; s < 3; s++) begin : gen_structure
    for (genvar signs = 0; signs < 4; signs++) begin : gen_signs
      localparam bit ASigned = signs % 2 != 0;
      localparam bit BSigned = signs / 2 != 0;
      logic [Width-1:0] product, a, b;
      ng_int_mult #(
        .AWidth   (AWidth),
        .BWidth   (BWidth),
        .ASigned  (ASigned ? 1 : 0),
        .BSigned  (BSigned ? 1 : 0),
        .Structure(s)
      ) u_dut (
        .a_i      (a_i),
        .b_i      (b_i),
        .product_o(product)
      );
      assign a = {{BWidth{(Swapped ? BSigned : ASigned) && a_i[AWidth-1]}}, a_i};
      assign b = {{AWidth{(Swapped ? ASigned : BSigned) && b_i[BWidth-1]}}, b_i};
      always_comb assert (product == a * b);
    end
  end
endmodule
