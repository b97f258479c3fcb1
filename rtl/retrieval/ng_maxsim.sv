// SPDX-License-Identifier: Apache-2.0
// Scores of chunks by MaxSim, exact: of each query token the largest dot product with a token of
// the chunk, summed over the query tokens. One dot product a cycle, in any order within a chunk.
// Twin of narrowgauge::max_sim_gain.
//
//   gain           = first_i ? dot : max(dot - largest[query], 0)
//   largest[query] = first_i ? dot : max(dot, largest[query])
//   score          = sum of the gains of a chunk
//
// As sums are exact, what a maximum rises by may be added when it rises: no pass over the maxima
// follows the chunk. The difference that says whether a maximum rises is what it rises by, so a
// maximum costs one subtractor and no comparison.
//
// Stages: 1 reads the query's maximum from RAM, 2 subtracts and writes, 3 adds. A maximum written
// in the cycle in which it is read comes from stage 2's register. A gain below 0 is cleared in its
// flip-flops, and so is the sum between chunks: neither costs a LUT.
//
// Latency: 3 edges, the first of which takes the chunk's last dot product. The result waits in a
// register of its own: a dot product passes every cycle, but the unit stands still while a result
// waits and the next chunk's last one has come to stage 3. All outputs come from registers.
//
// Width argument: |dot| <= 2^(Width-1), so a difference has Width+1 bits, and a sum over Queries
// maxima Width + clog2(Queries), at whatever gains have been added.
module ng_maxsim #(
  parameter int Width   = 32,  // bits of a dot product
  parameter int Queries = 16,  // query tokens
  localparam int QueryWidth = $clog2(Queries),
  localparam int SumWidth = Width + QueryWidth
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  output logic                       ready_o,
  input  logic signed [Width-1:0]    dot_i,
  input  logic [QueryWidth-1:0]      query_i,  // number of the query token, below Queries
  input  logic                       first_i,  // the query's first one of the chunk
  input  logic                       last_i,   // the chunk ends
  output logic                       valid_o,
  input  logic                       ready_i,
  output logic signed [SumWidth-1:0] score_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 2 || Width > 64) begin : gen_check_width
    $fatal(1, "ng_maxsim: Width=%0d; expected 2 to 64", Width);
  end
  if (Queries < 2 || Queries > 256) begin : gen_check_queries
    $fatal(1, "ng_maxsim: Queries=%0d; expected 2 to 256", Queries);
  end
`endif

  logic [2:1] valid_q, last_q;  // of the products in stages 2 and 3
  logic       move;
  assign move = ~(valid_o & valid_q[2] & last_q[2]);
  assign ready_o = move;

  // ---- stages 1 and 2: the query's maximum
  logic                  first_q, rises, again_q;
  logic [QueryWidth-1:0] query_q;
  logic [Width-1:0]      dot_q, before_q, stored, largest;
  logic [Width:0]        gain;
  ng_ram #(
    .Width(Width),
    .Depth(Queries)
  ) u_largest (
    .clk_i,
    .we_i   (move & valid_q[1] & rises),
    .waddr_i(query_q),
    .wdata_i(dot_q),
    .re_i   (move),
    .raddr_i(query_i),
    .rdata_o(stored)
  );
  assign largest = (again_q ? before_q : stored) & {Width{~first_q}};
  assign gain = {dot_q[Width-1], dot_q} - {largest[Width-1], largest};
  assign rises = first_q | ~gain[Width];
  always_ff @(posedge clk_i) if (move) begin
    dot_q    <= dot_i;
    query_q  <= query_i;
    first_q  <= first_i;
    before_q <= dot_q;
    again_q  <= valid_q[1] & rises & query_i == query_q;
  end

  // ---- stage 3: the chunk's sum
  logic                open_q;  // the chunk has begun
  logic [Width:0]      gain_q;
  logic [SumWidth-1:0] sum_q, sum;
  assign sum = sum_q + SumWidth'($signed(gain_q));
  always_ff @(posedge clk_i) if (move) begin
    last_q <= {last_q[1], last_i};
    gain_q <= gain;
    if (!(valid_q[1] & rises)) gain_q <= '0;
    // Also in the two cycles between a reset and the first gain.
    sum_q <= sum;
    if (valid_q[2] ? last_q[2] : !open_q) sum_q <= '0;
    if (valid_q[2] & last_q[2]) score_o <= sum;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      open_q  <= 1'b0;
      valid_o <= 1'b0;
    end else begin
      if (move) valid_q <= {valid_q[1], valid_i};
      if (move & valid_q[2]) open_q <= ~last_q[2];
      valid_o <= (valid_o & ~ready_i) | (move & valid_q[2] & last_q[2]);
    end
  end

endmodule
