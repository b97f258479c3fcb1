// SPDX-License-Identifier: Apache-2.0
// The beat of ng_range_stats without cuts, for all codes: its maximum is the code of a lane and below none, its minimum is the
// code of a lane and above none, and its sum is that of the lanes, added in the same tree. They are looked at inside the unit,
// where the beat meets the chunk. hierconn: see fifo_proof.sv.
module range_stats_beat_proof (
  input logic         clk_i,
  input logic [127:0] codes_i
);
  logic        unused_ready, unused_valid;
  logic [11:0] unused_maxima, unused_minima;
  logic [23:0] unused_sum;
  ng_range_stats #(
    .TreeCuts(0)
  ) u_stats (
    .clk_i       (clk_i),
    .rst_ni      (1'b1),
    .valid_i     (1'b1),
    .ready_o     (unused_ready),
    .codes_i     (codes_i),
    .chunk_last_i(1'b1),
    .last_i      (1'b1),
    .valid_o     (unused_valid),
    .ready_i     (1'b1),
    .maxima_o    (unused_maxima),
    .minima_o    (unused_minima),
    .sum_o       (unused_sum)
  );
  (* hierconn *) wire [7:0] \u_stats.max_n , \u_stats.min ;
  (* hierconn *) wire [11:0] \u_stats.sum ;
  logic [7:0]  largest, least;
  logic [11:0] expected;
  logic [15:0] at_max, at_min, above, below;
  logic [39:0] quads;
  assign largest = \u_stats.max_n ^ 8'h7F;
  assign least = \u_stats.min ^ 8'h80;
  for (genvar i = 0; i < 16; i++) begin : gen_lane
    logic signed [7:0] code;
    assign code = codes_i[8*i +: 8];
    assign at_max[i] = largest == code;
    assign at_min[i] = least == code;
`ifdef BEAT_FALSE
    assign above[i] = code >= signed'(largest);  // as if no lane were as large
`else
    assign above[i] = code > signed'(largest);
`endif
    assign below[i] = code < signed'(least);
  end
  for (genvar q = 0; q < 4; q++) begin : gen_quad
    assign quads[10*q +: 10] = (10'(signed'(codes_i[32*q +: 8])) + 10'(signed'(codes_i[32*q+8 +: 8])))
                             + (10'(signed'(codes_i[32*q+16 +: 8])) + 10'(signed'(codes_i[32*q+24 +: 8])));
  end
  assign expected = (12'(signed'(quads[9:0])) + 12'(signed'(quads[19:10])))
                  + (12'(signed'(quads[29:20])) + 12'(signed'(quads[39:30])));
  always_comb begin
    assert (at_max != '0 && at_min != '0);
    assert (above == '0 && below == '0);
    assert (\u_stats.sum == expected);
  end
endmodule
