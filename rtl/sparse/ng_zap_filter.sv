// SPDX-License-Identifier: Apache-2.0
// The sum of nine numbers of 8 bits, each times an INT8 weight: a 3 x 3 filter at one place. Two
// registers, behind the products and behind the sum.
//
// Width argument: a product is within -128 * 255 and 128 * 255, 16 bits; nine of them take 20.
module ng_zap_filter #(
  parameter bit Signed = 1'b0  // the numbers are two's complement
) (
  input  logic               clk_i,
  input  logic               move_i,     // enable of both registers
  input  logic [71:0]        numbers_i,
  input  logic [71:0]        weights_i,  // two's complement
  output logic signed [19:0] sum_o
);

  logic [9*16-1:0]    products_q;
  logic signed [19:0] sum;
  for (genvar i = 0; i < 9; i++) begin : gen_product
    logic signed [8:0]  number;
    logic signed [7:0]  weight;
    logic signed [15:0] product;
    assign number = {Signed & numbers_i[8*i+7], numbers_i[8*i +: 8]};
    assign weight = weights_i[8*i +: 8];
    assign product = 16'(number * weight);
    always_ff @(posedge clk_i) if (move_i) products_q[16*i +: 16] <= product;
  end
  ng_sum_tree #(
    .Operands(9),
    .Width   (16)
  ) u_sum (
    .x_i    (products_q),
    .carry_i(8'd0),
    .sum_o  (sum)
  );
  always_ff @(posedge clk_i) if (move_i) sum_o <= sum;

endmodule
