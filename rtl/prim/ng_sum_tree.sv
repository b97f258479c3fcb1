// SPDX-License-Identifier: Apache-2.0
//
// Balanced adder tree with one carry-in per adder: the sum of `Operands` signed numbers and of
// `Operands - 1` single bits.
//
//   sum_o = sum_i signed(x_i[i]) + sum_j carry_i[j]
//
// The bits are for the +1s that one's-complement operands still owe: an adder takes one for the
// price of its first carry cell. Any number of operands; in a level of odd size the last one moves
// up as it is.
//
// Width argument: 2^k numbers of Width bits sum to Width + k bits, and level l of the tree has
// Width + l of them. The bits do not count if each is owed by an operand -m - 1 of its own adder's
// subtree, for then they only complete a sum of numbers -m >= -2^(Width-1). Bits from elsewhere
// need room: operands that are short of the largest positive number by 1.

module ng_sum_tree #(
  parameter int Operands = 32,
  parameter int Width    = 37,
  localparam int SumWidth = Width + $clog2(Operands)
) (
  input  logic        [Operands*Width-1:0] x_i,
  input  logic        [Operands-2:0]       carry_i,
  output logic signed [SumWidth-1:0]       sum_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Operands < 2) begin : gen_check_operands
    $fatal(1, "ng_sum_tree: Operands=%0d; expected 2 or more", Operands);
  end
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_sum_tree: Width=%0d; expected 1 or more", Width);
  end
`endif

  localparam int Levels = $clog2(Operands);

  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    localparam int NodeWidth     = Width + l;
    localparam int Count = (Operands + (1 << l) - 1) >> l;
    localparam int Prev  = (l == 0) ? 0 : (Operands + (1 << l) / 2 - 1) >> (l - 1);
    for (genvar i = 0; i < Count; i++) begin : gen_node
      logic [NodeWidth-1:0] sum;
      if (l == 0) begin : gen_leaf
        assign sum = x_i[i*Width+:Width];
      end else if (2 * i + 1 < Prev) begin : gen_add
        logic [NodeWidth-2:0] left, right;
        logic         carry, unused_half;
        assign left = gen_level[l-1].gen_node[2*i].sum;
        assign right = gen_level[l-1].gen_node[2*i+1].sum;
        assign carry = carry_i[Operands-Prev+i];  // the levels below have the adders before it
        // The carry-in as a half-unit column: 1/2 + carry/2. One addition, hence one carry chain.
        assign {sum, unused_half} = {left[NodeWidth-2], left, 1'b1}
            + {right[NodeWidth-2], right, carry};
      end else begin : gen_pass
        logic [NodeWidth-2:0] only;
        assign only = gen_level[l-1].gen_node[2*i].sum;
        assign sum = {only[NodeWidth-2], only};
      end
    end
  end

  assign sum_o = gen_level[Levels].gen_node[0].sum;
endmodule
