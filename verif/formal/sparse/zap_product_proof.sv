// SPDX-License-Identifier: Apache-2.0
// What zap_filter_proof takes for granted: 16 bits hold the product of an INT8 weight with a number of 0 to 255 or an INT8
// number, since of the 17 bits that any product of 9 bits with 8 fits in the two highest are equal; and ng_sum_tree adds nine
// numbers of 16 bits.
module zap_product_proof (
  input logic [7:0]        number_i,
  input logic              signed_i,
  input logic signed [7:0] weight_i,
  input logic [143:0]      products_i
);
  logic signed [8:0]  number;
  logic signed [16:0] whole;
`ifdef PRODUCT_FALSE
  assign number = {number_i == 8'd0 | (number_i[7] & signed_i), number_i};  // -256, times -128, takes 17 bits
`else
  assign number = {number_i[7] & signed_i, number_i};
`endif
  assign whole = number * weight_i;
  always_comb assert (whole[16] == whole[15]);

  logic signed [19:0] sum;
  ng_sum_tree #(
    .Operands(9),
    .Width   (16)
  ) u_sum (
    .x_i    (products_i),
    .carry_i(8'd0),
    .sum_o  (sum)
  );
  // Node by node: each is the sum of the two below it, and the ninth number goes up as it is.
  (* hierconn *) wire signed [16:0] \u_sum.gen_level[1].gen_node[0].sum ;
  (* hierconn *) wire signed [16:0] \u_sum.gen_level[1].gen_node[1].sum ;
  (* hierconn *) wire signed [16:0] \u_sum.gen_level[1].gen_node[2].sum ;
  (* hierconn *) wire signed [16:0] \u_sum.gen_level[1].gen_node[3].sum ;
  (* hierconn *) wire signed [16:0] \u_sum.gen_level[1].gen_node[4].sum ;
  (* hierconn *) wire signed [17:0] \u_sum.gen_level[2].gen_node[0].sum ;
  (* hierconn *) wire signed [17:0] \u_sum.gen_level[2].gen_node[1].sum ;
  (* hierconn *) wire signed [17:0] \u_sum.gen_level[2].gen_node[2].sum ;
  (* hierconn *) wire signed [18:0] \u_sum.gen_level[3].gen_node[0].sum , \u_sum.gen_level[3].gen_node[1].sum ;
  (* hierconn *) wire signed [19:0] \u_sum.gen_level[4].gen_node[0].sum ;
  always_comb begin
    assert (\u_sum.gen_level[1].gen_node[0].sum == 17'($signed(products_i[0 +: 16])) + 17'($signed(products_i[16 +: 16])));
    assert (\u_sum.gen_level[1].gen_node[1].sum == 17'($signed(products_i[32 +: 16])) + 17'($signed(products_i[48 +: 16])));
    assert (\u_sum.gen_level[1].gen_node[2].sum == 17'($signed(products_i[64 +: 16])) + 17'($signed(products_i[80 +: 16])));
    assert (\u_sum.gen_level[1].gen_node[3].sum == 17'($signed(products_i[96 +: 16])) + 17'($signed(products_i[112 +: 16])));
    assert (\u_sum.gen_level[1].gen_node[4].sum == 17'($signed(products_i[128 +: 16])));
    assert (\u_sum.gen_level[2].gen_node[0].sum == 18'(\u_sum.gen_level[1].gen_node[0].sum ) + 18'(\u_sum.gen_level[1].gen_node[1].sum ));
    assert (\u_sum.gen_level[2].gen_node[1].sum == 18'(\u_sum.gen_level[1].gen_node[2].sum ) + 18'(\u_sum.gen_level[1].gen_node[3].sum ));
    assert (\u_sum.gen_level[2].gen_node[2].sum == 18'(\u_sum.gen_level[1].gen_node[4].sum ));
    assert (\u_sum.gen_level[3].gen_node[0].sum == 19'(\u_sum.gen_level[2].gen_node[0].sum ) + 19'(\u_sum.gen_level[2].gen_node[1].sum ));
    assert (\u_sum.gen_level[3].gen_node[1].sum == 19'(\u_sum.gen_level[2].gen_node[2].sum ));
    assert (\u_sum.gen_level[4].gen_node[0].sum == 20'(\u_sum.gen_level[3].gen_node[0].sum ) + 20'(\u_sum.gen_level[3].gen_node[1].sum ));
    assert (sum == \u_sum.gen_level[4].gen_node[0].sum );
  end
endmodule
