// SPDX-License-Identifier: Apache-2.0
// The scores of ng_maxsim under any sequence of products, from reset, where a query's first product of a chunk says so. The
// reference keeps the maxima of the queries and adds them; the unit adds what they rise by. Both meet in an invariant: what the
// unit has summed, and the gain in its last stage, is the sum of the reference's maxima. A score waits unchanged, and a product
// is refused only while a score waits and another one is ready behind it. hierconn: see fifo_proof.sv.
module maxsim_proof #(
  parameter int Width   = 5,
  parameter int Queries = 4,
  localparam int QueryWidth = $clog2(Queries),
  localparam int SumWidth = Width + QueryWidth
) (
  input logic                  clk_i,
  input logic                  valid_i,
  input logic                  last_i,
  input logic                  ready_i,
  input logic [Width-1:0]      dot_i,
  input logic [QueryWidth-1:0] query_i
);
  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic                ready, valid;
  logic [SumWidth-1:0] score;
  logic [Queries-1:0]  met_in_q = '0;  // queries that had a product of the chunk that comes in
  ng_maxsim #(
    .Width  (Width),
    .Queries(Queries)
  ) u_maxsim (
    .clk_i  (clk_i),
    .rst_ni (running),
    .valid_i(valid_i),
    .ready_o(ready),
    .dot_i  (dot_i),
    .query_i(query_i),
    .first_i(~met_in_q[query_i]),
    .last_i (last_i),
    .valid_o(valid),
    .ready_i(ready_i),
    .score_o(score)
  );

  // ---- the reference: products a cycle after they were taken, chunks that ended a cycle later
  logic                  taken_q = 1'b0, last_q = 1'b0, ended_q = 1'b0, passed_q = 1'b0, valid_q = 1'b0;
  logic [Width-1:0]      dot_q;
  logic [QueryWidth-1:0] query_q;
  logic [Queries-1:0]    met_q = '0;
  logic [SumWidth-1:0]   ended_total_q, score_q;
  logic [Queries*Width-1:0]     maxima, maxima_q;
  logic [Queries-1:0]           met;
  logic [(Queries+1)*SumWidth-1:0] sums, sums_q;  // over the queries below
  assign met = met_q | Queries'(taken_q) << query_q;
  assign sums[SumWidth-1:0] = '0;
  assign sums_q[SumWidth-1:0] = '0;
  for (genvar q = 0; q < Queries; q++) begin : gen_query
    logic signed [Width-1:0] earlier, now;
    assign earlier = maxima_q[q*Width +: Width];
    assign now = taken_q && query_q == QueryWidth'(q) && (!met_q[q] || $signed(dot_q) > earlier) ? dot_q : earlier;
    assign maxima[q*Width +: Width] = now;
    assign sums[(q+1)*SumWidth +: SumWidth] = sums[q*SumWidth +: SumWidth] + (met[q] ? SumWidth'(now) : '0);
    assign sums_q[(q+1)*SumWidth +: SumWidth] = sums_q[q*SumWidth +: SumWidth] + (met_q[q] ? SumWidth'(earlier) : '0);
  end
  always_ff @(posedge clk_i) if (running && ready) begin
    taken_q  <= valid_i;
    last_q   <= last_i;
    dot_q    <= dot_i;
    query_q  <= query_i;
    passed_q <= taken_q;
    ended_q  <= taken_q & last_q;
    maxima_q <= maxima;
    met_q    <= taken_q & last_q ? '0 : met;
    ended_total_q <= sums[Queries*SumWidth +: SumWidth];
    if (ended_q) score_q <= ended_total_q;
    if (valid_i) met_in_q <= last_i ? '0 : met_in_q | Queries'(1) << query_i;
  end
  always_ff @(posedge clk_i) if (running) valid_q <= (valid_q & ~ready_i) | (ready & ended_q);

  // ---- both
  (* hierconn *) wire [2:1] \u_maxsim.valid_q , \u_maxsim.last_q ;
  (* hierconn *) wire \u_maxsim.first_q , \u_maxsim.again_q , \u_maxsim.open_q ;
  (* hierconn *) wire [QueryWidth-1:0] \u_maxsim.query_q ;
  (* hierconn *) wire [Width-1:0] \u_maxsim.dot_q , \u_maxsim.stored , \u_maxsim.before_q ;
  (* hierconn *) wire [Width:0] \u_maxsim.gain_q ;
  (* hierconn *) wire [SumWidth-1:0] \u_maxsim.sum_q ;
  (* hierconn *) wire [Queries*Width-1:0] \u_maxsim.u_largest.words ;
  logic [SumWidth-1:0] sum;
  assign sum = \u_maxsim.sum_q + SumWidth'($signed(\u_maxsim.gain_q ));
  for (genvar q = 0; q < Queries; q++) begin : gen_word
    always_comb begin
      if (met_q[q]) assert (\u_maxsim.u_largest.words [q*Width +: Width] == maxima_q[q*Width +: Width]);
    end
  end
  always_comb begin
    if (running) begin
      assert (\u_maxsim.valid_q == {passed_q, taken_q});
      if (taken_q) begin
        assert (\u_maxsim.dot_q == dot_q && \u_maxsim.query_q == query_q && \u_maxsim.last_q [1] == last_q);
        assert (\u_maxsim.first_q == !met_q[query_q]);
        assert (met_in_q == (last_q ? '0 : met));
        if (met_q[query_q]) begin
          assert ((\u_maxsim.again_q ? \u_maxsim.before_q : \u_maxsim.stored ) == maxima_q[query_q*Width +: Width]);
        end
      end else begin
        assert (met_in_q == met_q);
      end
      if (passed_q) assert (\u_maxsim.last_q [2] == ended_q);
      else assert (!ended_q);
      if (ended_q) begin
        assert (met_q == '0);
        assert (sum == ended_total_q);
      end else if (met_q != '0) begin
        assert (\u_maxsim.open_q || passed_q);
        assert (sum == sums_q[Queries*SumWidth +: SumWidth]);
      end else begin
        assert (!passed_q && !\u_maxsim.open_q );
      end
`ifdef MAXSIM_FALSE
      if (valid) assert (score < {1'b0, {(SumWidth-1){1'b1}}});  // as if no score were negative
`else
      if (valid) assert (score == score_q);
`endif
      assert (valid == valid_q);
      assert (ready == !(valid && ended_q));
    end else begin
      assert (!valid);
    end
  end
endmodule
