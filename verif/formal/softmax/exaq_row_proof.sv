// SPDX-License-Identifier: Apache-2.0
// The handshake of ng_exaq_row for any counts and tables, from reset: probabilities of a row come from the highest code down
// to code 0, each waits unchanged while counts and table stand, and counts are taken only when no row is inside. Its quotients
// are the testbench's to judge.
module exaq_row_proof (
  input logic        clk_i,
  input logic        valid_i,
  input logic        ready_i,
  input logic [31:0] counts_i,
  input logic [63:0] table_i
);
  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic        ready, valid, last, empty;
  logic [31:0] probability;
  logic [1:0]  code;
  logic [23:0] sum;
  ng_exaq_row #(
    .Bits     (2),
    .CountBits(8)
  ) u_row (
    .clk_i        (clk_i),
    .rst_ni       (running),
    .valid_i      (valid_i),
    .ready_o      (ready),
    .counts_i     (counts_i),
    .table_i      (table_i),
    .valid_o      (valid),
    .ready_i      (ready_i),
    .probability_o(probability),
    .code_o       (code),
    .last_o       (last),
    .sum_o        (sum),
    .empty_o      (empty)
  );

  // ---- probabilities that are owed: code left_q - 1 comes next
`ifdef ROW_FALSE
  localparam logic [2:0] Owed = 3'd1;  // one after a reset already
`else
  localparam logic [2:0] Owed = 3'd0;
`endif
  logic [2:0] left_q = Owed;
  always_ff @(posedge clk_i) begin
    if (!running) left_q <= Owed;
    else if (valid_i & ready) left_q <= 3'd4;
    else if (valid & ready_i) left_q <= left_q - 3'd1;
  end

  logic        waited_q = 1'b0, empty_q;
  logic [31:0] probability_q;
  logic [23:0] sum_q;
  always_ff @(posedge clk_i) begin
    waited_q      <= running & valid & ~ready_i;
    probability_q <= probability;
    sum_q         <= sum;
    empty_q       <= empty;
  end

  (* hierconn *) wire [1:0] \u_row.state_q ;
  always_comb begin
    if (running) begin
      assert (\u_row.state_q != 2'd3);
      assert ((\u_row.state_q == 2'd0) == (left_q == 3'd0));
      if (left_q != 3'd0) assert (code == 2'(left_q - 3'd1));
      assert (left_q <= 3'd4);
      if (ready) assert (left_q == 3'd0);
      if (valid) begin
        assert (left_q != 3'd0);
        assert (last == (left_q == 3'd1));
      end
      if (waited_q) assert (valid && probability == probability_q && sum == sum_q && empty == empty_q);
    end else begin
      assert (!valid);
    end
  end
endmodule
