// SPDX-License-Identifier: Apache-2.0
//
// For all pairs of codes, ng_mul_fp7 gives the FP7 [1,4,2] number that is nearest to the product of their values, the one with an even
// mantissa where two are as near, the largest one beyond it, and zero where an operand is; the sign is the product's of the signs.
// Stated by the middles between the result and its neighbours. A product of two numbers that are not zero is at least 1, the
// smallest number, so only sums of codes above it have a neighbour below.
//
// MUL_FP7_FALSE wants the odd mantissa of a tie.
module mul_fp7_proof (
  input logic [6:0] a_i,
  input logic [6:0] b_i
);
`ifdef MUL_FP7_FALSE
  localparam bit Odd = 1'b1;
`else
  localparam bit Odd = 1'b0;
`endif

  // Magnitude in units of 1/4, of codes with a field other than 0: (4 + m) 2^(E - 1).
  function automatic logic [39:0] magnitude(logic [6:0] code);
    magnitude = {37'd0, 1'b1, code[1:0]} << (code[6:2] - 5'd1);
  endfunction

  logic [6:0]  product;
  logic [5:0]  code;
  logic [39:0] exact, here, above, below;  // in units of 1/32: twice the product of two magnitudes, and middles
  logic        wanted;  // of a tie
  ng_mul_fp7 u_dut (
    .a_i      (a_i),
    .b_i      (b_i),
    .product_o(product)
  );
  assign code = product[5:0];
  assign exact = ({37'd0, 1'b1, a_i[1:0]} * {37'd0, 1'b1, b_i[1:0]}) << (6'(a_i[5:2]) + 6'(b_i[5:2]) - 6'd2) << 1;
  assign here = magnitude({1'b0, code}) << 3;
  assign above = (here >> 1) + (magnitude({1'b0, code} + 7'd1) << 2);
  assign below = (here >> 1) + (magnitude({1'b0, code} - 7'd1) << 2);
  assign wanted = code[0] == Odd;
  always_comb begin
    assert (product[6] == (a_i[6] ^ b_i[6]));
    if (a_i[5:2] == '0 || b_i[5:2] == '0) begin
      assert (code == '0);
    end else begin
      assert (code >= 6'd4);
      assert (code == 6'd63 || exact < above || (exact == above && wanted));
      assert (code == 6'd4 ? exact >= here : exact > below || (exact == below && wanted));
    end
  end
endmodule
