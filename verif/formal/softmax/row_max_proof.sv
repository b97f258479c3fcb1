// SPDX-License-Identifier: Apache-2.0
// The handshake of ng_row_max under any sequence of beats, from reset: each row that ended gives one result, a result waits
// unchanged, and a beat is refused only while a result waits and another one is ready behind it. The keys have two bits,
// since what is compared here is not their order but that they stay. hierconn: see fifo_proof.sv.
module row_max_proof #(
  parameter int TreeCuts = 0
) (
  input logic        clk_i,
  input logic        valid_i,
  input logic        first_i,
  input logic        last_i,
  input logic        ready_i,
  input logic [15:0] mask_i,
  input logic [31:0] keys_i
);
  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic       ready, valid, any, ready_in;
  logic [1:0] largest;
  ng_row_max #(
    .Width   (2),
    .TreeCuts(TreeCuts)
  ) u_row_max (
    .clk_i  (clk_i),
    .rst_ni (running),
    .valid_i(valid_i),
    .ready_o(ready),
    .keys_i (keys_i),
    .mask_i (mask_i),
    .first_i(first_i),
    .last_i (last_i),
    .valid_o(valid),
    .ready_i(ready_in),
    .max_o  (largest),
    .any_o  (any)
  );
`ifdef ROW_FALSE
  assign ready_in = ready_i | valid_i;  // a result leaves without having been taken
`else
  assign ready_in = ready_i;
`endif

  // ---- rows that ended and have not left
  localparam int Depth = 2 + ng_prim_pkg::cut_count(TreeCuts);
  (* hierconn *) wire [Depth:1] \u_row_max.valid_q , \u_row_max.last_q ;
  logic [Depth-1:0] ended;
  logic [2:0]       count_q = '0, inside_count;
  assign ended = \u_row_max.valid_q & \u_row_max.last_q ;
  always_comb begin
    inside_count = 3'(valid);
    for (int i = 0; i < Depth; i++) inside_count = inside_count + 3'(ended[i]);
  end
  always_ff @(posedge clk_i) begin
    count_q <= running ? count_q + 3'(valid_i & ready & last_i) - 3'(valid & ready_i) : '0;
  end

  logic       waited_q = 1'b0, any_q;
  logic [1:0] largest_q;
  always_ff @(posedge clk_i) begin
    waited_q  <= running & valid & ~ready_i;
    largest_q <= largest;
    any_q     <= any;
  end
  always_comb begin
    if (running) begin
      assert (count_q == inside_count);
      assert (ready == !(valid && ended[Depth-1]));
      if (waited_q) assert (valid && largest == largest_q && any == any_q);
    end else begin
      assert (!valid);
    end
  end
endmodule
