// SPDX-License-Identifier: Apache-2.0
//
// For all inputs, ng_dot_luq is the sum of the products of the values of its codes. Two passes (prove.py --lemmas), because of more
// than two lanes no solver at hand decides the whole at once:
//
//   lemmas   each proven by itself, for free inputs. A lane's number and what the tree still owes it are the product of the values of
//            its two codes, in every lane. A tree of two operands is their sum and the carry, for each width of the tree. dot_o is
//            what a tree put together of trees of two operands makes of the unit's own lanes and owed bits, in which the adder of
//            two subtrees takes what the first lane of the right one owes.
//   whole    With NG_LEMMAS every lane is its product less what it is owed, every adder a sum. Then the root is the sum of the
//            products.
//
// The lemma of the adders is in 32-bit arithmetic, so that no node loses a bit; thus the second pass may count modulo 2^Width.
//
// LUQ_FALSE lets the table of values lie and the sum forget the last lane: both passes must refute that.
module dot_luq_proof #(
  parameter int Lanes = 16
) (
  input logic [Lanes*4-1:0] a_i,
  input logic [Lanes*4-1:0] b_i,
  input logic [31:0]        left_i,  // operands of the lemma of the adders
  input logic [31:0]        right_i,
  input logic               carry_i
);
  localparam int Levels = $clog2(Lanes);
  localparam int Width = 11 + Levels;

  logic [Lanes*13-1:0] products;
  logic [Lanes-1:0]    pending;  // what a lane is owed: lane 0 negates in full
  for (genvar i = 0; i < Lanes; i++) begin : gen_spec
    assign products[13*i +: 13] = ng_luq_spec_pkg::product(a_i[4*i +: 4], b_i[4*i +: 4]);
    assign pending[i] = i != 0 && b_i[4*i+3];
  end

`ifndef NG_LEMMAS
  logic signed [Width-1:0] dot;
  // The unit's wires of this name: Yosys connects them when it flattens.
  (* hierconn *) logic [Lanes*11-1:0] \u_dut.products ;
  logic [Lanes*11-1:0] lanes;
  ng_dot_luq #(
    .Lanes(Lanes)
  ) u_dut (
    .clk_i(1'b0),
    .en_i (1'b0),
    .a_i  (a_i),
    .b_i  (b_i),
    .dot_o(dot)
  );
  assign lanes = \u_dut.products ;
`endif

  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    for (genvar i = 0; i < (Lanes >> l); i++) begin : gen_node
`ifdef NG_LEMMAS
      logic [Width-1:0] sum;
      if (l == 0) begin : gen_lane
        assign sum = Width'(signed'(products[13*i +: 13])) - Width'(pending[i]);
      end else begin : gen_add
        assign sum = gen_level[l-1].gen_node[2*i].sum + gen_level[l-1].gen_node[2*i+1].sum
            + Width'(pending[(2 * i + 1) << (l - 1)]);
      end
`else
      logic [10+l:0] sum;
      if (l == 0) begin : gen_lane
        assign sum = lanes[11*i +: 11];
        always_comb assert (32'(signed'(sum)) + 32'(pending[i]) == 32'(signed'(products[13*i +: 13])));
      end else begin : gen_add
        ng_sum_tree #(
          .Operands(2),
          .Width   (10 + l)
        ) u_add (
          .x_i    ({gen_level[l-1].gen_node[2*i+1].sum, gen_level[l-1].gen_node[2*i].sum}),
          .carry_i(pending[(2 * i + 1) << (l - 1)]),
          .sum_o  (sum)
        );
        if (i == 0) begin : gen_lemma
          logic [10+l:0] lemma;
          ng_sum_tree #(
            .Operands(2),
            .Width   (10 + l)
          ) u_lemma (
            .x_i    ({right_i[9+l:0], left_i[9+l:0]}),
            .carry_i(carry_i),
            .sum_o  (lemma)
          );
          always_comb
            assert (32'(signed'(lemma)) == 32'(signed'(left_i[9+l:0])) + 32'(signed'(right_i[9+l:0])) + 32'(carry_i));
        end
      end
`endif
    end
  end

`ifdef NG_LEMMAS
`ifdef LUQ_FALSE
  localparam int Summed = Lanes - 1;
`else
  localparam int Summed = Lanes;
`endif
  logic [Width-1:0] total;
  always_comb begin
    total = '0;
    for (int i = 0; i < Summed; i++) total = total + Width'(signed'(products[13*i +: 13]));
    assert (gen_level[Levels].gen_node[0].sum == total);
  end
`else
  always_comb assert (dot == gen_level[Levels].gen_node[0].sum);
`endif
endmodule
