// SPDX-License-Identifier: Apache-2.0
// ng_max_node gives the larger of two keys of which either may be absent, as it is or complemented, for all keys.
module row_max_node_proof #(
  parameter int Width = 16
) (
  input logic             a_valid_i,
  input logic [Width-1:0] a_i,
  input logic             b_valid_i,
  input logic [Width-1:0] b_i
);
  logic             valid, valid_complemented;
  logic [Width-1:0] largest, complemented, expected;
  ng_max_node #(
    .Width(Width)
  ) u_node (
    .a_valid_i(a_valid_i),
    .a_i      (a_i),
    .b_valid_i(b_valid_i),
    .b_n_i    (~b_i),
    .valid_o  (valid),
    .max_o    (largest)
  );
  ng_max_node #(
    .Width     (Width),
    .Complement(1'b1)
  ) u_complement (
    .a_valid_i(a_valid_i),
    .a_i      (a_i),
    .b_valid_i(b_valid_i),
    .b_n_i    (~b_i),
    .valid_o  (valid_complemented),
    .max_o    (complemented)
  );

`ifdef MAX_FALSE
  assign expected = a_i > b_i ? a_i : b_i;  // as if both were there
`else
  assign expected = !b_valid_i || (a_valid_i && a_i > b_i) ? a_i : b_i;
`endif
  always_comb begin
    assert (valid == (a_valid_i || b_valid_i));
    assert (valid_complemented == valid);
    if (valid) assert (largest == expected);
    assert (complemented == ~largest);
  end
endmodule
