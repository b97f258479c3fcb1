// SPDX-License-Identifier: Apache-2.0
// The larger of two unsigned keys, either of which may be absent. One comes as it is and the other
// complemented: a + ~b + 1 carries out where a >= b, so the comparison is a carry chain without
// inverters. Complement makes a node fit to be the other kind of operand of the next.
module ng_max_node #(
  parameter int Width      = 16,   // bits of a key
  parameter bit Complement = 1'b0  // max_o is complemented
) (
  input  logic             a_valid_i,
  input  logic [Width-1:0] a_i,
  input  logic             b_valid_i,
  input  logic [Width-1:0] b_n_i,      // the key complemented
  output logic             valid_o,    // one of the two is there
  output logic [Width-1:0] max_o       // without meaning where valid_o is low
);
  logic             reaches, take_a, unused_half;
  logic [Width-1:0] unused_less, largest;
  // The carry-in as a half-unit column: one addition, hence one carry chain.
  assign {reaches, unused_less, unused_half} = {1'b0, a_i, 1'b1} + {1'b0, b_n_i, 1'b1};
  assign take_a = a_valid_i & (reaches | ~b_valid_i);
  assign largest = take_a ? a_i : ~b_n_i;
  assign max_o = Complement ? ~largest : largest;
  assign valid_o = a_valid_i | b_valid_i;
endmodule
