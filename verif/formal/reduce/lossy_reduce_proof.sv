// SPDX-License-Identifier: Apache-2.0
// The handshake of ng_lossy_reduce under any beats, whatever the memories hold: a mean waits unchanged until it is taken, a request
// brings as many means as a packet has values, the last of them marked, and nothing is taken between the request and the moment
// when the last mean is there to be offered. hierconn: see fifo_proof.sv.
module lossy_reduce_proof #(
  parameter int Workers = 2,
  parameter int Values  = 4,
  parameter int Indices = 2
) (
  input logic                       clk_i,
  input logic                       valid_i,
  input logic                       close_i,
  input logic                       ready_i,
  input logic [$clog2(Workers)-1:0] worker_i,
  input logic [$clog2(Indices)-1:0] index_i,
  input logic [15:0]                value_i
);
  localparam int NumberBits = $clog2(Values);
  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic                     ready, valid, last;
  logic [15:0]              mean;
  logic [$clog2(Workers):0] count;
  ng_lossy_reduce #(
    .Workers(Workers),
    .Values (Values),
    .Indices(Indices)
  ) u_reduce (
    .clk_i   (clk_i),
    .rst_ni  (running),
    .valid_i (valid_i),
    .ready_o (ready),
    .worker_i(worker_i),
    .index_i (index_i),
    .close_i (close_i),
    .value_i (value_i),
    .valid_o (valid),
    .ready_i (ready_i),
    .mean_o  (mean),
    .count_o (count),
    .last_o  (last)
  );

  (* hierconn *) wire \u_reduce.clear_q , \u_reduce.divide_q , \u_reduce.mean_q ;
  (* hierconn *) wire [NumberBits-1:0] \u_reduce.number_q ;

  // Values of the packet so far, means that are owed and not offered yet, means that were taken.
  logic                  beat;
  logic [NumberBits-1:0] value_q = '0, taken_q = '0;
  logic [NumberBits:0]   owed_q = '0;
  assign beat = running & valid_i & ready;
  always_ff @(posedge clk_i) begin
    if (running) begin
      if (beat && value_q == '0 && close_i) begin
        owed_q <= (NumberBits + 1)'(Values);
      end else begin
        if (beat) value_q <= value_q + NumberBits'(1);
        if (\u_reduce.mean_q && owed_q != '0 && offered) owed_q <= owed_q - (NumberBits + 1)'(1);
      end
      if (valid && ready_i) taken_q <= taken_q + NumberBits'(1);
    end
  end

  logic offered;  // a mean: valid_o rises
  (* hierconn *) wire [5:0] \u_reduce.step_q ;
  assign offered = \u_reduce.step_q == 6'd44 && !valid;

  logic                     waited_q = 1'b0, last_q;
  logic [15:0]              mean_q;
  logic [$clog2(Workers):0] count_q;
  always_ff @(posedge clk_i) begin
    waited_q <= running & valid & ~ready_i;
    mean_q   <= mean;
    count_q  <= count;
    last_q   <= last;
  end

  always_comb begin
    if (running) begin
      // one thing at a time
      assert ((\u_reduce.clear_q & \u_reduce.divide_q ) == 1'b0);
      assert ((\u_reduce.clear_q & \u_reduce.mean_q ) == 1'b0);
      assert ((\u_reduce.divide_q & \u_reduce.mean_q ) == 1'b0);
`ifdef REDUCE_FALSE
      assert (ready == ~(\u_reduce.divide_q | \u_reduce.mean_q ));  // as if nothing were cleared first
`else
      assert (ready == ~(\u_reduce.clear_q | \u_reduce.divide_q | \u_reduce.mean_q ));
`endif
      // nothing is taken while means are owed
      assert ((owed_q != '0) == (\u_reduce.divide_q | \u_reduce.mean_q ));
      assert (owed_q <= (NumberBits + 1)'(Values));
      if (\u_reduce.divide_q ) begin
        assert (owed_q == (NumberBits + 1)'(Values));
      end
      if (!\u_reduce.clear_q ) begin
        assert (\u_reduce.number_q == value_q - owed_q[NumberBits-1:0]);
      end
      assert ((owed_q == '0 && !\u_reduce.clear_q ) || value_q == '0);
      // means come in turn: those that were taken, the one that waits, and those that are owed are whole packets
      assert (NumberBits'(taken_q + NumberBits'(valid) + owed_q[NumberBits-1:0]) == '0);
      if (valid) begin
        assert (last == (&taken_q));
      end
      // and wait
      if (waited_q) begin
        assert (valid && mean == mean_q && count == count_q && last == last_q);
      end
    end
  end
endmodule
