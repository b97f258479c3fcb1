// SPDX-License-Identifier: Apache-2.0
// ng_fifo2 is a queue of two words, under any sequence of valid, ready and data, and fit to be a skid buffer and a register
// slice: a word is offered in the cycle after it came whenever none is before it, and a place is offered whenever fewer than
// two words are inside, so a word can pass in every cycle. (That no combinational path crosses it is shown on its netlist:
// ctest lint.comb_paths.ng_fifo2.) hierconn: see fifo_proof.sv.
module fifo2_proof #(
  parameter int Width = 2
) (
  input logic             clk_i,
  input logic             valid_i,
  input logic             ready_i,
  input logic [Width-1:0] data_i
);

  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic             ready, valid;
  logic [Width-1:0] data, data_in;
  ng_fifo2 #(
    .Width(Width)
  ) u_fifo2 (
    .clk_i  (clk_i),
    .rst_ni (running),
    .valid_i(valid_i),
    .ready_o(ready),
    .data_i (data_in),
    .valid_o(valid),
    .ready_i(ready_i),
    .data_o (data)
  );

  // ---- the list of the words inside, head lowest
  logic [1:0]         count_q = '0, left;
  logic [2*Width-1:0] list_q = '0, list_d;
  logic               push, pop;
  assign push = valid_i & (count_q != 2'd2);
  assign pop = (count_q != 2'd0) & ready_i;
  assign left = count_q - 2'(pop);
  always_comb begin
    list_d = pop ? list_q >> Width : list_q;
    if (push && left == 2'd0) list_d[0 +: Width] = data_i;
    if (push && left == 2'd1) list_d[Width +: Width] = data_i;
  end
  always_ff @(posedge clk_i) begin
    list_q  <= list_d;
    count_q <= running ? left + 2'(push) : 2'd0;
  end

`ifdef FIFO_FALSE
  assign data_in = data_i ^ Width'(count_q == 2'd1);  // the second place holds a wrong word
`else
  assign data_in = data_i;
`endif

  // ---- what it shows
  logic             waited_q = 1'b0, taken_q = 1'b0;
  logic [Width-1:0] data_q;
  always_ff @(posedge clk_i) begin
    waited_q <= running & valid & ~ready_i;
    taken_q  <= running & valid_i & ready;
    data_q   <= data;
  end
  always_comb begin
    if (running) begin
      assert (ready == (count_q != 2'd2));
      assert (valid == (count_q != 2'd0));
      if (valid) assert (data == list_q[0 +: Width]);
      if (waited_q) assert (valid && data == data_q);
      if (taken_q) assert (valid);
    end
  end

  // ---- what it has inside
  (* hierconn *) wire [Width-1:0] \u_fifo2.tail_q ;
  always_comb begin
    if (running) begin
      assert (count_q != 2'd3);
      if (count_q == 2'd2) assert (\u_fifo2.tail_q == list_q[Width +: Width]);
    end
  end

endmodule
