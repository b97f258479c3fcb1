// SPDX-License-Identifier: Apache-2.0
// The handshake of ng_plane_acc under any sequence of beats, from reset: each last beat gives one result, a result waits
// unchanged, and a beat is refused only while a result waits and another beat is ready behind it. hierconn: see fifo_proof.sv.
module plane_acc_proof (
  input logic        clk_i,
  input logic        valid_i,
  input logic        first_i,
  input logic        last_i,
  input logic        ready_i,
  input logic [3:0]  planes_i,
  input logic [31:0] v_i
);
  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic        ready, valid, ready_in;
  logic [15:0] sums;
  ng_plane_acc #(
    .Rows   (4),
    .Cols   (1),
    .Planes (1),
    .SumBits(16)
  ) u_acc (
    .clk_i   (clk_i),
    .rst_ni  (running),
    .valid_i (valid_i),
    .ready_o (ready),
    .planes_i(planes_i),
    .v_i     (v_i),
    .first_i (first_i),
    .last_i  (last_i),
    .valid_o (valid),
    .ready_i (ready_in),
    .sums_o  (sums)
  );
`ifdef SUMS_FALSE
  assign ready_in = ready_i | valid_i;  // a result leaves without having been taken
`else
  assign ready_in = ready_i;
`endif

  // ---- results that are owed
  (* hierconn *) wire [2:1] \u_acc.valid_q , \u_acc.last_q ;
  logic [1:0] ended;
  logic [2:0] count_q = '0;
  assign ended = \u_acc.valid_q & \u_acc.last_q ;
  always_ff @(posedge clk_i) begin
    count_q <= running ? count_q + 3'(valid_i & ready & last_i) - 3'(valid & ready_i) : '0;
  end

  logic        waited_q = 1'b0;
  logic [15:0] sums_q;
  always_ff @(posedge clk_i) begin
    waited_q <= running & valid & ~ready_i;
    sums_q   <= sums;
  end
  always_comb begin
    if (running) begin
      assert (count_q == 3'(ended[0]) + 3'(ended[1]) + 3'(valid));
      assert (ready == !(valid && \u_acc.valid_q [2]));
      if (waited_q) assert (valid && sums == sums_q);
    end else begin
      assert (!valid);
    end
  end
endmodule
