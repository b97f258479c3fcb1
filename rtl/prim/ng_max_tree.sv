// SPDX-License-Identifier: Apache-2.0
// The largest of 2^Levels unsigned numbers: a balanced tree of comparisons. Combinational.
module ng_max_tree #(
  parameter int Levels = 5,
  parameter int Width  = 7
) (
  input  logic [(1<<Levels)*Width-1:0] x_i,   // number 0 in the low bits
  output logic [Width-1:0]             max_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Levels < 1) begin : gen_check_levels
    $fatal(1, "ng_max_tree: Levels=%0d; expected 1 or more", Levels);
  end
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_max_tree: Width=%0d; expected 1 or more", Width);
  end
`endif

  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    for (genvar i = 0; i < (1 << (Levels - l)); i++) begin : gen_node
      logic [Width-1:0] largest;
      if (l == 0) begin : gen_leaf
        assign largest = x_i[Width*i+:Width];
      end else begin : gen_larger
        logic [Width-1:0] left, right;
        assign left = gen_level[l-1].gen_node[2*i].largest;
        assign right = gen_level[l-1].gen_node[2*i+1].largest;
        assign largest = left > right ? left : right;
      end
    end
  end
  assign max_o = gen_level[Levels].gen_node[0].largest;
endmodule
