// SPDX-License-Identifier: Apache-2.0
// How many of 31 products of bits are 1, and the 32nd product by itself, which an adder further on
// takes as its carry-in. A product is XNOR (numbers +1 and -1) or AND (bits of two planes), and 0
// where the place does not count.
//
// Rows of full adders take three products each; adders with a carry-in (ng_sum_tree), which take a
// further product each for the price of a carry cell, add what the rows give: 8 rows of 3 and 7
// adders count 31 products. Width argument: 3 needs 2 bits, and a + b + 1 <= 2^k - 1 with a and b
// <= 2^(k-1) - 1, so every adder's sum is one bit wider than its operands; 31 needs 5 bits.
module ng_count_products #(
  parameter bit And = 1'b0  // products are AND
) (
  input  logic [31:0] x_i,
  input  logic [31:0] w_i,
  input  logic [31:0] mask_i,  // places that count
  output logic [4:0]  count_o,  // of the products 0 to 30
  output logic        last_o    // product 31
);
  logic [31:0] products;
  assign products = (And ? x_i & w_i : ~(x_i ^ w_i)) & mask_i;

  logic [23:0] rows;     // operands of 3 bits, as signed numbers that are not negative
  logic [7:0]  carries;
  for (genvar i = 0; i < 8; i++) begin : gen_row
    logic one, two, three;
    assign {carries[i], three, two, one} = products[4*i +: 4];
    assign rows[3*i +: 3] = {1'b0, (one & two) | (three & (one | two)), one ^ two ^ three};
  end

  logic signed [5:0] sum;
  logic              unused_sign;
  ng_sum_tree #(
    .Operands(8),
    .Width   (3)
  ) u_sum (
    .x_i    (rows),
    .carry_i(carries[6:0]),
    .sum_o  (sum)
  );
  assign {unused_sign, count_o} = sum;
  assign last_o = carries[7];
endmodule
