// SPDX-License-Identifier: Apache-2.0
// Dot product of bits by popcount, N places a beat, and the bit that a threshold makes of it: a
// binary layer with its batch norm. Twin of narrowgauge::popcount_dot and PopcountThreshold.
//
//   sum = sum over beats and places of mask & (x XNOR w),  bit = sum >= T or sum <= T
//
// With And the product is x & w: a pair of bit planes of integers. Of numbers +1 and -1 the dot
// product is 2 sum - n, n being the places that count.
//
// Four stages: products and counts of 32 places (ng_count_products); their sum; the sum of the
// row; the threshold, beside a queue of two results (ng_fifo2). The product that a level leaves
// over is the carry-in of the next level's adder, the last one of the row's sum. A beat passes every
// cycle, also where each is a row. All outputs come from registers.
//
// Width argument: clog2(N) bits count the N - 1 products of a beat before its last carry-in. The
// sum of a row is modulo 2^16: a row has at most 65535 products that are 1.
module ng_dot_xnor #(
  parameter int N   = 256,  // places of a beat
  parameter bit And = 1'b0  // products are AND, not XNOR
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,
  output logic         ready_o,
  input  logic [N-1:0] x_i,
  input  logic [N-1:0] w_i,
  input  logic [N-1:0] mask_i,       // places that count
  input  logic         first_i,      // a row begins
  input  logic         last_i,       // the row ends
  input  logic [15:0]  threshold_i,  // T of the row; beside last_i
  input  logic         at_most_i,    // the bit is sum <= T, not sum >= T; beside last_i
  output logic         valid_o,
  input  logic         ready_i,
  output logic [15:0]  sum_o,
  output logic         bit_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (N < 64 || N > 1024 || (N & (N - 1)) != 0) begin : gen_check_n
    $fatal(1, "ng_dot_xnor: N=%0d; expected 64 to 1024, a power of two", N);
  end
`endif

  localparam int Groups     = N / 32;
  localparam int CountWidth = $clog2(N);

  logic [3:1] valid_q;  // beats behind stages 1 and 2, the row's sum behind stage 3
  logic       first_q;  // of the beat behind stage 1
  logic [2:1] last_q;
  logic       move, room, push;
  assign move = room | ~valid_q[3];
  assign push = room & valid_q[3];
  assign ready_o = move;

  // ---- stage 1: products and counts of 32 places
  logic [Groups*6-1:0] counts;  // as signed numbers that are not negative
  logic [Groups-1:0]   carries_q;
  for (genvar i = 0; i < Groups; i++) begin : gen_group
    logic [4:0] count, count_q;
    logic       carry;
    ng_count_products #(
      .And(And)
    ) u_count (
      .x_i    (x_i[32*i +: 32]),
      .w_i    (w_i[32*i +: 32]),
      .mask_i (mask_i[32*i +: 32]),
      .count_o(count),
      .last_o (carry)
    );
    assign counts[6*i +: 6] = {1'b0, count_q};
    always_ff @(posedge clk_i) if (move) begin
      count_q      <= count;
      carries_q[i] <= carry;
    end
  end

  // ---- stage 2: the sum of the beat but for one product
  logic signed [CountWidth:0] beat;
  logic [CountWidth-1:0]      beat_q;
  logic                       carry_q, unused_sign;
  ng_sum_tree #(
    .Operands(Groups),
    .Width   (6)
  ) u_beat (
    .x_i    (counts),
    .carry_i(carries_q[Groups-2:0]),
    .sum_o  (beat)
  );
  assign unused_sign = beat[CountWidth];
  always_ff @(posedge clk_i) if (move) begin
    beat_q  <= beat[CountWidth-1:0];
    carry_q <= carries_q[Groups-1];
  end

  // ---- stage 3: the sum of the row, cleared while its first beat enters
  logic [15:0] row_q, sum, sum_q;
  logic        unused_half;
  assign {sum, unused_half} = {row_q, 1'b1} + {16'(beat_q), carry_q};
  always_ff @(posedge clk_i) if (move) begin
    if (valid_q[1] & first_q) row_q <= '0;
    else if (valid_q[2]) row_q <= sum;
    sum_q <= sum;
  end

  // ---- stage 4: the threshold
  logic [15:0] threshold_1_q, threshold_2_q, threshold_3_q;
  logic [3:1]  at_most_q;
  logic        result;
  always_ff @(posedge clk_i) if (move) begin
    threshold_1_q <= threshold_i;
    threshold_2_q <= threshold_1_q;
    threshold_3_q <= threshold_2_q;
    at_most_q     <= {at_most_q[2:1], at_most_i};
    first_q       <= first_i;
    last_q        <= {last_q[1], last_i};
  end
  ng_popcount_threshold u_threshold (
    .sum_i      (sum_q),
    .threshold_i(threshold_3_q),
    .at_most_i  (at_most_q[3]),
    .bit_o      (result)
  );
  ng_fifo2 #(
    .Width(17)
  ) u_results (
    .clk_i,
    .rst_ni,
    .valid_i(push),
    .ready_o(room),
    .data_i ({result, sum_q}),
    .valid_o,
    .ready_i,
    .data_o ({bit_o, sum_o})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (move) valid_q <= {valid_q[2] & last_q[2], valid_q[1], valid_i};
  end

endmodule
