// SPDX-License-Identifier: Apache-2.0
// The handshake of ng_dot_xnor under any sequence of beats, from reset: each row that ended gives one result, a result waits
// unchanged, and a beat is refused only while two results wait and a third is ready behind them. The places are those of two
// bits, copied, since what is compared here are not counts but that they stay. hierconn: see fifo_proof.sv.
module dot_xnor_proof (
  input logic        clk_i,
  input logic        valid_i,
  input logic        first_i,
  input logic        last_i,
  input logic        ready_i,
  input logic        at_most_i,
  input logic [1:0]  x_i,
  input logic [15:0] threshold_i
);
  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic        ready, valid, result, ready_in;
  logic [15:0] sum;
  ng_dot_xnor #(
    .N(64)
  ) u_dot (
    .clk_i      (clk_i),
    .rst_ni     (running),
    .valid_i    (valid_i),
    .ready_o    (ready),
    .x_i        ({32{x_i}}),
    .w_i        (64'd0),
    .mask_i     ({64{1'b1}}),
    .first_i    (first_i),
    .last_i     (last_i),
    .threshold_i(threshold_i),
    .at_most_i  (at_most_i),
    .valid_o    (valid),
    .ready_i    (ready_in),
    .sum_o      (sum),
    .bit_o      (result)
  );
`ifdef ROW_FALSE
  assign ready_in = ready_i | valid_i;  // a result leaves without having been taken
`else
  assign ready_in = ready_i;
`endif

  // ---- rows that ended and have not left
  (* hierconn *) wire [3:1] \u_dot.valid_q ;
  (* hierconn *) wire [2:1] \u_dot.last_q ;
  (* hierconn *) wire \u_dot.u_results.full_q ;
  logic [1:0] ended;
  logic [2:0] count_q = '0;
  assign ended = \u_dot.valid_q [2:1] & \u_dot.last_q ;
  always_ff @(posedge clk_i) begin
    count_q <= running ? count_q + 3'(valid_i & ready & last_i) - 3'(valid & ready_i) : '0;
  end

  logic        waited_q = 1'b0, result_q;
  logic [15:0] sum_q;
  always_ff @(posedge clk_i) begin
    waited_q <= running & valid & ~ready_i;
    sum_q    <= sum;
    result_q <= result;
  end
  always_comb begin
    if (running) begin
      assert (valid || !\u_dot.u_results.full_q );
      assert (count_q == 3'(ended[0]) + 3'(ended[1]) + 3'(\u_dot.valid_q [3]) + 3'(valid) + 3'(\u_dot.u_results.full_q ));
      assert (ready == !(\u_dot.valid_q [3] && \u_dot.u_results.full_q ));
      if (waited_q) assert (valid && sum == sum_q && result == result_q);
    end else begin
      assert (!valid);
    end
  end
endmodule
