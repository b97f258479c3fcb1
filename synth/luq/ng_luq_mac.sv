// SPDX-License-Identifier: Apache-2.0
//
// A multiply-accumulate of LUQ, to be counted (synth/luq_gates.py) and nothing else: a product by the standard datapath (Standard) or
// by ng_mul_luq in the shape Product, and an ng_luq_acc of the given kind behind it.
module ng_luq_mac #(
  parameter int Standard = 0,
  parameter int Product  = 1,  // the standard datapath gives FP7: 1
  parameter int Kind     = 1,
  localparam int ProductWidth = Product == 0 ? 11 : Product == 1 ? 7 : 8,
  localparam int Width = Kind == 1 ? 32 : Kind == 2 ? 16 : 24
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  input  logic             first_i,
  input  logic [3:0]       a_i,
  input  logic [3:0]       b_i,
  output logic [Width-1:0] acc_o
);
  logic [ProductWidth-1:0] product;
  if (Standard != 0) begin : gen_standard
    ng_mul_luq_standard u_mul (
      .a_i      (a_i),
      .b_i      (b_i),
      .product_o(product)
    );
  end else begin : gen_luq
    ng_mul_luq #(
      .Shape(Product)
    ) u_mul (
      .a_i      (a_i),
      .b_i      (b_i),
      .product_o(product)
    );
  end
  ng_luq_acc #(
    .Product(Product),
    .Kind   (Kind)
  ) u_acc (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .valid_i  (valid_i),
    .first_i  (first_i),
    .product_i(product),
    .acc_o    (acc_o)
  );
endmodule
