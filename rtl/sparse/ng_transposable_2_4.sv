// SPDX-License-Identifier: Apache-2.0
// Transposable 2:4 mask of a 4 x 4 block: two ones in every row and every column, so that the
// pruned matrix and its transpose are both 2:4 sparse (arXiv 2102.08124). Of all 90 masks the one
// whose magnitudes have the largest sum. Magnitudes are fixed-point.
//
// The 90 share their sums: rows 0 and 1 leave the columns one of 19 counts, and rows 2 and 3 have
// to make up for them. So the best half of each count is found above and below (ng_mask_row_pair),
// and the best of 19 sums of two halves is the mask's.
//
// Among equal sums decides the descending order of the column counts of rows 0 and 1, then of row
// 0, then of row 2, column 0 being the most significant: left nodes of the tree win.
//
// Width argument: sums of eight magnitudes, three bits more.
module ng_transposable_2_4 #(
  parameter int Width = 8  // bits of a magnitude
) (
  input  logic [16*Width-1:0] magnitudes_i,  // row by row
  output logic [15:0]         mask_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1 || Width > 32) begin : gen_check_width
    $fatal(1, "ng_transposable_2_4: Width=%0d; expected 1 to 32", Width);
  end
`endif

  logic [19*(Width+2)-1:0] upper, lower;
  logic [19*8-1:0]         upper_masks, lower_masks;
  ng_mask_row_pair #(
    .Width(Width)
  ) u_upper (
    .upper_i(magnitudes_i[0 +: 4*Width]),
    .lower_i(magnitudes_i[4*Width +: 4*Width]),
    .sums_o (upper),
    .masks_o(upper_masks)
  );
  ng_mask_row_pair #(
    .Width(Width)
  ) u_lower (
    .upper_i(magnitudes_i[8*Width +: 4*Width]),
    .lower_i(magnitudes_i[12*Width +: 4*Width]),
    .sums_o (lower),
    .masks_o(lower_masks)
  );

  // Nodes 0 to 18 are the sums, in pairs up to node 36; node 19 + n has nodes 2n and 2n + 1. So
  // that left nodes stay in front of right ones, node 18 alone goes up to the last level, as node
  // 36's right child.
  for (genvar n = 0; n < 37; n++) begin : gen_node
    logic [Width+2:0] sum;
    logic [15:0]      mask;
    if (n < 19) begin : gen_leaf
      assign sum = {1'b0, upper[n*(Width+2) +: Width+2]}
          + {1'b0, lower[(18-n)*(Width+2) +: Width+2]};
      assign mask = {lower_masks[(18-n)*8 +: 8], upper_masks[n*8 +: 8]};
    end else begin : gen_pair
      // 19 to 27: 0 to 17 in pairs; 28 to 31: 19 to 26; 32, 33: 28 to 31; 34: 32, 33; 35: 34, 27;
      // 36: 35, 18
      localparam int Left = n < 28 ? 2 * (n - 19) : n < 32 ? 19 + 2 * (n - 28)
          : n < 34 ? 28 + 2 * (n - 32) : n == 34 ? 32 : n - 1;
      localparam int Right = n < 35 ? Left + 1 : n == 35 ? 27 : 18;
      logic right;
      assign right = gen_node[Right].sum > gen_node[Left].sum;
      assign sum = right ? gen_node[Right].sum : gen_node[Left].sum;
      assign mask = right ? gen_node[Right].mask : gen_node[Left].mask;
    end
  end
  assign mask_o = gen_node[36].mask;
  logic unused_sum;
  assign unused_sum = &gen_node[36].sum;
endmodule
