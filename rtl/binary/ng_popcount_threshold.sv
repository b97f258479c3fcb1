// SPDX-License-Identifier: Apache-2.0
// The bit that a threshold makes of a popcount: sum >= threshold, or, with at_most_i, sum <=
// threshold. Twin of narrowgauge::PopcountThreshold. One carry chain: sum + ~threshold + 1 carries
// out where sum >= threshold, sum + ~threshold where sum > threshold.
module ng_popcount_threshold (
  input  logic [15:0] sum_i,
  input  logic [15:0] threshold_i,
  input  logic        at_most_i,
  output logic        bit_o
);
  logic        above, unused_half;
  logic [15:0] unused_less;
  // The carry-in as a half-unit column: one addition, hence one carry chain.
  assign {above, unused_less, unused_half} = {1'b0, sum_i, 1'b1}
      + {1'b0, ~threshold_i, ~at_most_i};
  assign bit_o = above ^ at_most_i;
endmodule
