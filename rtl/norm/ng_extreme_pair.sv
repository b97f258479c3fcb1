// SPDX-License-Identifier: Apache-2.0
// The larger and the smaller of two unsigned keys, by one comparison: a + ~b + 1 carries out where
// a >= b. Complement gives both as the second operand of ng_max_node needs them. The smaller one
// leaves as the complement of the key: as such, smaller keys are larger.
module ng_extreme_pair #(
  parameter int Width      = 8,    // bits of a key
  parameter bit Complement = 1'b0  // both results are complemented
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] max_o,   // the larger key
  output logic [Width-1:0] min_n_o  // the complement of the smaller key
);
  logic             reaches, unused_half;
  logic [Width-1:0] unused_less, largest, least;
  assign {reaches, unused_less, unused_half} = {1'b0, a_i, 1'b1} + {1'b0, ~b_i, 1'b1};
  assign largest = reaches ? a_i : b_i;
  assign least = reaches ? b_i : a_i;
  assign max_o = Complement ? ~largest : largest;
  assign min_n_o = Complement ? least : ~least;
endmodule
