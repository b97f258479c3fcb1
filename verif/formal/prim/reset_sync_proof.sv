// SPDX-License-Identifier: Apache-2.0
// ng_reset_sync is in reset whenever rst_ni is low, and from then on until the Stages-th rising edge, and no longer. hierconn:
// see fifo_proof.sv.
module reset_sync_proof #(
  parameter int Stages = 3
) (
  input logic clk_i,
  input logic rst_ni
);

  logic running = 1'b0;  // the first cycle is in reset
  always_ff @(posedge clk_i) running <= 1'b1;
  logic reset_n;
  assign reset_n = rst_ni & running;

  logic released;
  ng_reset_sync #(
    .Stages(Stages)
  ) u_reset_sync (
    .clk_i (clk_i),
    .rst_ni(reset_n),
    .rst_no(released)
  );

`ifdef RESET_SYNC_FALSE
  localparam int Edges = Stages - 1;
`else
  localparam int Edges = Stages;
`endif

  // ---- rising edges without reset, up to Stages
  logic [4:0] edges_q = '0;
  always_ff @(posedge clk_i) begin
    if (!reset_n) edges_q <= '0;
    else if (edges_q != 5'(Stages)) edges_q <= edges_q + 5'd1;
  end

  // ---- what it shows
  always_comb assert (released == (reset_n && edges_q >= 5'(Edges)));

  // ---- what it has inside
  (* hierconn *) wire [Stages-1:0] \u_reset_sync.released_q ;
  always_comb begin
    if (running) begin
      assert (edges_q <= 5'(Stages));
      if (reset_n) assert (\u_reset_sync.released_q == ~({Stages{1'b1}} << edges_q));
    end
  end

endmodule
