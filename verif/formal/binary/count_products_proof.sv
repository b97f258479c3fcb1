// SPDX-License-Identifier: Apache-2.0
// ng_count_products and ng_popcount_threshold for all inputs, in parts: what the unit hands to its tree are the counts of
// three products each, and every fourth product, XNOR and AND under the mask; a tree of that shape over any such operands is
// plain additions in the same order; and a bit is that of its threshold. hierconn: see fifo_proof.sv.
module count_products_proof (
  input logic [31:0] x_i,
  input logic [31:0] w_i,
  input logic [31:0] mask_i,
  input logic [15:0] threes_i,   // counts of three products, for the tree
  input logic [6:0]  carries_i,
  input logic [15:0] sum_i,
  input logic [15:0] threshold_i,
  input logic        at_most_i
);
  logic [4:0] xnor_count, and_count;
  logic       xnor_last, and_last;
  ng_count_products u_xnor (
    .x_i    (x_i),
    .w_i    (w_i),
    .mask_i (mask_i),
    .count_o(xnor_count),
    .last_o (xnor_last)
  );
  ng_count_products #(
    .And(1'b1)
  ) u_and (
    .x_i    (x_i),
    .w_i    (w_i),
    .mask_i (mask_i),
    .count_o(and_count),
    .last_o (and_last)
  );
  (* hierconn *) wire [23:0] \u_xnor.rows , \u_and.rows ;
  (* hierconn *) wire [7:0] \u_xnor.carries , \u_and.carries ;
  (* hierconn *) wire [5:0] \u_xnor.sum , \u_and.sum ;
  logic [31:0] same, both;
  assign same = ~(x_i ^ w_i) & mask_i;
`ifdef COUNT_FALSE
  assign both = x_i & w_i;  // without the mask
`else
  assign both = x_i & w_i & mask_i;
`endif
  logic [23:0] same_rows, both_rows;
  logic [7:0]  same_carries, both_carries;
  for (genvar i = 0; i < 8; i++) begin : gen_row
    assign same_rows[3*i +: 3] = 3'(same[4*i]) + 3'(same[4*i+1]) + 3'(same[4*i+2]);
    assign both_rows[3*i +: 3] = 3'(both[4*i]) + 3'(both[4*i+1]) + 3'(both[4*i+2]);
    assign same_carries[i] = same[4*i+3];
    assign both_carries[i] = both[4*i+3];
  end
  always_comb begin
    assert (\u_xnor.rows == same_rows && \u_xnor.carries == same_carries);
    assert (\u_and.rows == both_rows && \u_and.carries == both_carries);
    assert (xnor_count == \u_xnor.sum [4:0] && and_count == \u_and.sum [4:0]);
    assert (xnor_last == same[31] && and_last == both[31]);
  end

  logic [23:0]       operands;
  logic signed [5:0] tree;
  logic [19:0]       pairs;
  logic [4:0]        low, high;
  for (genvar i = 0; i < 8; i++) begin : gen_operand
    assign operands[3*i +: 3] = {1'b0, threes_i[2*i +: 2]};
  end
  ng_sum_tree #(
    .Operands(8),
    .Width   (3)
  ) u_tree (
    .x_i    (operands),
    .carry_i(carries_i),
    .sum_o  (tree)
  );
  for (genvar i = 0; i < 4; i++) begin : gen_pair
    assign pairs[5*i +: 5] = 5'(threes_i[4*i +: 2]) + 5'(threes_i[4*i+2 +: 2]) + 5'(carries_i[i]);
  end
  assign low = pairs[4:0] + pairs[9:5] + 5'(carries_i[4]);
  assign high = pairs[14:10] + pairs[19:15] + 5'(carries_i[5]);
  always_comb assert (tree == 6'(low + high + 5'(carries_i[6])));

  logic result;
  ng_popcount_threshold u_threshold (
    .sum_i      (sum_i),
    .threshold_i(threshold_i),
    .at_most_i  (at_most_i),
    .bit_o      (result)
  );
  always_comb assert (result == (at_most_i ? sum_i <= threshold_i : sum_i >= threshold_i));
endmodule
