// SPDX-License-Identifier: Apache-2.0
// Largest magnitude of the numbers of a block: what a block scale is derived from. Codes are sign
// and magnitude, the sign on top, so magnitudes are ordered as their codes are; a NaN, whose code
// is above all numbers, wins.
//
// A tree of comparisons: node n below Lanes is lane n without its sign, node n from Lanes on the
// larger of nodes 2(n - Lanes) and 2(n - Lanes) + 1. So the last node, 2 Lanes - 2, has all of them
// below it, for any number of lanes. No width grows.
module ng_amax #(
  parameter int Lanes = 16,
  parameter int Width = 8  // bits of a code
) (
  input  logic [Lanes*Width-1:0] a_i,
  output logic [Width-2:0]       amax_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 1024) begin : gen_check_lanes
    $fatal(1, "ng_amax: Lanes=%0d; expected 1 to 1024", Lanes);
  end
  if (Width < 2 || Width > 32) begin : gen_check_width
    $fatal(1, "ng_amax: Width=%0d; expected 2 to 32", Width);
  end
`endif

  for (genvar n = 0; n < 2 * Lanes - 1; n++) begin : gen_node
    logic [Width-2:0] largest;
    if (n < Lanes) begin : gen_lane
      logic unused_sign;
      assign unused_sign = a_i[n*Width+Width-1];
      assign largest = a_i[n*Width +: Width-1];
    end else begin : gen_pair
      logic [Width-2:0] left, right;
      assign left = gen_node[2*(n-Lanes)].largest;
      assign right = gen_node[2*(n-Lanes)+1].largest;
      assign largest = left > right ? left : right;
    end
  end
  assign amax_o = gen_node[2*Lanes-2].largest;

endmodule
