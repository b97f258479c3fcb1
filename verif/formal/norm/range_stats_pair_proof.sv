// SPDX-License-Identifier: Apache-2.0
// ng_extreme_pair gives the larger and the complement of the smaller of two keys, as they are or complemented, for all keys.
module range_stats_pair_proof (
  input logic [7:0] a_i,
  input logic [7:0] b_i
);
  logic [7:0] largest, least_n, largest_n, least, expected;
  ng_extreme_pair u_pair (
    .a_i    (a_i),
    .b_i    (b_i),
    .max_o  (largest),
    .min_n_o(least_n)
  );
  ng_extreme_pair #(
    .Complement(1'b1)
  ) u_complement (
    .a_i    (a_i),
    .b_i    (b_i),
    .max_o  (largest_n),
    .min_n_o(least)
  );
`ifdef PAIR_FALSE
  assign expected = a_i;  // as if the first were never larger
`else
  assign expected = a_i < b_i ? a_i : b_i;
`endif
  always_comb begin
    assert (largest == (a_i > b_i ? a_i : b_i));
    assert (least == expected);
    assert (largest_n == ~largest);
    assert (least_n == ~least);
  end
endmodule
