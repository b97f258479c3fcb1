// SPDX-License-Identifier: Apache-2.0
// The arithmetic of ng_zap_predict for all inputs, register by register, from any state: products of ng_zap_filter, what
// ng_sum_tree makes of them, and what ng_zap_hidden makes of a sum. That 16 bits hold a product, and that the tree adds, is in
// zap_product_proof. hierconn: see verif/formal/prim/fifo_proof.sv.
module zap_filter_proof #(
  parameter bit Signed = 1'b0
) (
  input logic               clk_i,
  input logic               move_i,
  input logic [71:0]        numbers_i,
  input logic [71:0]        weights_i,
  input logic signed [19:0] sum_i,
  input logic signed [23:0] bias_i,
  input logic [3:0]         shift_i
);
  logic signed [19:0] sum;
  logic [7:0]         hidden;
  ng_zap_filter #(
    .Signed(Signed)
  ) u_filter (
    .clk_i    (clk_i),
    .move_i   (move_i),
    .numbers_i(numbers_i),
    .weights_i(weights_i),
    .sum_o    (sum)
  );
  ng_zap_hidden u_hidden (
    .clk_i   (clk_i),
    .move_i  (move_i),
    .sum_i   (sum_i),
    .bias_i  (bias_i),
    .shift_i (shift_i),
    .hidden_o(hidden)
  );
  (* hierconn *) wire [143:0] \u_filter.products_q ;
  (* hierconn *) wire signed [24:0] \u_hidden.biased_q ;

  // ---- what stood there before the edge
  logic               begun_q = 1'b0, moved_q;
  logic [143:0]       products_q;
  logic signed [19:0] old_sum_q, sum_q;
  logic signed [23:0] bias_q;
  logic signed [24:0] biased_q;
  logic [3:0]         shift_q;
  logic [7:0]         old_hidden_q;
  always_ff @(posedge clk_i) begin
    begun_q      <= 1'b1;
    moved_q      <= move_i;
    products_q   <= \u_filter.products_q ;
    old_sum_q    <= sum;
    sum_q        <= sum_i;
    bias_q       <= bias_i;
    biased_q     <= \u_hidden.biased_q ;
    shift_q      <= shift_i;
    old_hidden_q <= hidden;
  end

  // ---- nine products
  for (genvar i = 0; i < 9; i++) begin : gen_product
    logic signed [8:0]  number;
    logic signed [7:0]  weight;
    logic signed [15:0] product;  // which 16 bits hold: zap_product_proof
    assign number = {Signed & numbers_i[8*i+7], numbers_i[8*i +: 8]};
    assign weight = weights_i[8*i +: 8];
    always_ff @(posedge clk_i) product <= 16'(number * weight);
    always_comb begin
      if (begun_q && moved_q) assert (\u_filter.products_q [16*i +: 16] == product);
    end
  end

  // ---- the sum, and the hidden number
  logic signed [19:0] nine, nine_q;
  ng_sum_tree #(
    .Operands(9),
    .Width   (16)
  ) u_sum (
    .x_i    (\u_filter.products_q ),
    .carry_i(8'd0),
    .sum_o  (nine)
  );
  always_ff @(posedge clk_i) nine_q <= nine;
  logic signed [24:0] shifted;
  logic signed [24:0] largest;
  assign shifted = biased_q >>> shift_q;
`ifdef ZAP_FALSE
  assign largest = 25'sd254;
`else
  assign largest = 25'sd255;
`endif
  always_comb begin
    if (begun_q && moved_q) begin
      assert (sum == nine_q);
      assert (\u_hidden.biased_q == 25'(sum_q) + 25'(bias_q));
      assert (25'(hidden) == (shifted < 25'sd0 ? 25'sd0 : shifted > largest ? largest : shifted));
    end
    if (begun_q && !moved_q) assert (sum == old_sum_q && hidden == old_hidden_q && \u_filter.products_q == products_q);
  end
endmodule
