// SPDX-License-Identifier: Apache-2.0
// The handshake of ng_moment_stats with both cuts under any sequence of beats, from reset: each channel that ended gives one
// result, a result waits unchanged, and a beat is refused only while a result waits and another one is ready behind it. The
// codes of a beat are all 0 or all -1, since their order is not compared here. hierconn: see fifo_proof.sv.
module moment_stats_proof #(
  parameter int TreeCuts = 3
) (
  input logic clk_i,
  input logic valid_i,
  input logic last_i,
  input logic ready_i,
  input logic code_i
);
  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic        ready, valid, ready_in;
  logic [30:0] spread, spread_q;
  logic [23:0] sum, sum_q;
  ng_moment_stats #(
    .Order   (1),
    .TreeCuts(TreeCuts)
  ) u_stats (
    .clk_i   (clk_i),
    .rst_ni  (running),
    .valid_i (valid_i),
    .ready_o (ready),
    .codes_i ({128{code_i}}),
    .centre_i(8'd0),
    .last_i  (last_i),
    .valid_o (valid),
    .ready_i (ready_in),
    .spread_o(spread),
    .sum_o   (sum)
  );
`ifdef STATS_FALSE
  assign ready_in = ready_i | valid_i;  // a result leaves without having been taken
`else
  assign ready_in = ready_i;
`endif

  // ---- channels that ended and have not left
  (* hierconn *) wire [2:0] \u_stats.valid ;
  (* hierconn *) wire \u_stats.quad_last , \u_stats.last  ;
  logic [1:0] ended;
  logic [2:0] count_q = '0;
  assign ended = {\u_stats.valid [2] & \u_stats.last , \u_stats.valid [1] & \u_stats.quad_last };
  always_ff @(posedge clk_i) begin
    count_q <= running ? count_q + 3'(valid_i & ready & last_i) - 3'(valid & ready_i) : '0;
  end

  logic waited_q = 1'b0;
  always_ff @(posedge clk_i) begin
    waited_q <= running & valid & ~ready_i;
    spread_q <= spread;
    sum_q    <= sum;
  end
  always_comb begin
    if (running) begin
      assert (count_q == 3'(ended[0]) + 3'(ended[1]) + 3'(valid));
      assert (ready == !(valid && ended[1]));
      if (waited_q) assert (valid && spread == spread_q && sum == sum_q);
    end else begin
      assert (!valid);
    end
  end
endmodule
