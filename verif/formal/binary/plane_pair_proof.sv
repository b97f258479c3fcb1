// SPDX-License-Identifier: Apache-2.0
// ng_plane_pair gives each of two planes the sum of those of two INT8 numbers that it selects, for all numbers and masks.
module plane_pair_proof (
  input logic signed [7:0] even_i,
  input logic signed [7:0] odd_i,
  input logic [3:0]        select_i
);
  logic [17:0] sums;
  ng_plane_pair #(
    .Planes(2)
  ) u_pair (
    .even_i  (even_i),
    .odd_i   (odd_i),
    .select_i(select_i),
    .sums_o  (sums)
  );
  for (genvar k = 0; k < 2; k++) begin : gen_plane
    logic signed [8:0] even, odd, expected;
    assign even = select_i[2*k] ? 9'(even_i) : 9'sd0;
`ifdef PAIR_FALSE
    assign odd = select_i[1] ? 9'(odd_i) : 9'sd0;  // plane 0 selects for both
`else
    assign odd = select_i[2*k+1] ? 9'(odd_i) : 9'sd0;
`endif
    assign expected = even + odd;
    always_comb assert (sums[9*k +: 9] == expected);
  end
endmodule
