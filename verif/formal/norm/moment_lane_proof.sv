// SPDX-License-Identifier: Apache-2.0
// A lane of ng_moment_stats, for all codes and centres: of order 2 its code and the product of the code with itself, of order 1
// whether the code is above the centre, and how far from it. LANE_FALSE takes one less.
module moment_lane_proof (
  input logic [7:0] code_i,
  input logic [7:0] centre_i
);
`ifdef LANE_FALSE
  localparam int Less = 1;
`else
  localparam int Less = 0;
`endif
  logic [14:0] square;
  logic [8:0]  code;
  logic [7:0]  distance;
  logic [1:0]  above;
  logic        none, owed;
  ng_moment_lane #(
    .Order(2)
  ) u_square (
    .code_i  (code_i),
    .centre_i(centre_i),
    .spread_o(square),
    .sum_o   (code),
    .owed_o  (none)
  );
  ng_moment_lane #(
    .Order(1)
  ) u_distance (
    .code_i  (code_i),
    .centre_i(centre_i),
    .spread_o(distance),
    .sum_o   (above),
    .owed_o  (owed)
  );
  logic signed [8:0]  apart;
  logic signed [15:0] wide;
  assign apart = 9'(signed'(centre_i)) - 9'(signed'(code_i));
  assign wide = 16'(signed'(code_i));
  always_comb begin
    assert (16'(square) == wide * wide - 16'(Less));
    assert (code == 9'(signed'(code_i)) && !none);
    assert (9'(distance) + 9'(owed) == (apart < 0 ? -apart : apart) - 9'(Less));
    assert (above == 2'(signed'(code_i) > signed'(centre_i)) && owed == above[0]);
  end
endmodule
