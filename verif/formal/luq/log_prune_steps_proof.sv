// SPDX-License-Identifier: Apache-2.0
//
// What ng_log_prune's registers take, for any contents of them and any sequence of beats and stalls, by induction over one clock:
//
//   move     where the beat that is offered waits, nothing changes; else each stage takes what the one before computed and had beside
//            it, of whole beats, and the head leaves the queue
//   tensor   the sums become those of the beat, added to what they were, or to nothing where a tensor begins: behind a reset and
//            behind a last beat. A place that holds no beat changes nothing.
//
// What a stage computes, and that a beat's sums are those of its lanes: log_prune_lane_proof. The queue in front: fifo2_proof.
//
// LOG_PRUNE_FALSE lets the specification sum places that hold no beat.
module log_prune_steps_proof #(
  parameter int Lanes     = 4,
  parameter int FracBits  = 4,
  parameter int RandBits  = 8,
  parameter int CountBits = 4
) (
  input logic                      clk_i,
  input logic                      valid_i,
  input logic [Lanes*16-1:0]       data_i,
  input logic                      last_i,
  input logic [14:0]               threshold_i,
  input logic [Lanes*RandBits-1:0] rand_i,
  input logic                      ready_i
);
  localparam int LogWidth = 9 + FracBits;
  localparam int SquareBits = 15 + 2 * FracBits;
  localparam int Grow = $clog2(Lanes) + CountBits;
  localparam int SumWidth = LogWidth + Grow;
  localparam int SquareWidth = SquareBits + Grow;
  localparam int BeatBits = $clog2(Lanes);

  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic                       ready, valid, last, special;
  logic [Lanes*16-1:0]        data;
  logic signed [SumWidth-1:0] sum;
  logic [SquareWidth-1:0]     squares;
  logic [Grow:0]              count, zeros;
  ng_log_prune #(
    .Lanes    (Lanes),
    .FracBits (FracBits),
    .RandBits (RandBits),
    .CountBits(CountBits)
  ) u_dut (
    .clk_i      (clk_i),
    .rst_ni     (running),
    .valid_i    (valid_i),
    .ready_o    (ready),
    .data_i     (data_i),
    .last_i     (last_i),
    .threshold_i(threshold_i),
    .rand_i     (rand_i),
    .valid_o    (valid),
    .ready_i    (ready_i),
    .data_o     (data),
    .last_o     (last),
    .sum_o      (sum),
    .squares_o  (squares),
    .count_o    (count),
    .zeros_o    (zeros),
    .special_o  (special)
  );

  localparam int SigWidth = 8 + RandBits;
  localparam int First = Lanes * (LogWidth + 2 * SigWidth + 4 + 16) + 16;  // bits of the first register
  (* hierconn *) wire                                 \u_dut.head_valid ;
  (* hierconn *) wire                                 \u_dut.head_last ;
  (* hierconn *) wire [Lanes*16-1:0]                  \u_dut.head_data ;
  (* hierconn *) wire [14:0]                          \u_dut.head_threshold ;
  (* hierconn *) wire                                 \u_dut.move ;
  (* hierconn *) wire [3:0]                           \u_dut.valid ;
  (* hierconn *) wire [Lanes*LogWidth-1:0]            \u_dut.log_d ;
  (* hierconn *) wire [Lanes*LogWidth-1:0]            \u_dut.log_q ;
  (* hierconn *) wire [Lanes*SigWidth-1:0]            \u_dut.aligned_d ;
  (* hierconn *) wire [Lanes*SigWidth-1:0]            \u_dut.aligned_q ;
  (* hierconn *) wire [Lanes*SigWidth-1:0]            \u_dut.bound_d ;
  (* hierconn *) wire [Lanes*SigWidth-1:0]            \u_dut.bound_q ;
  (* hierconn *) wire [Lanes-1:0]                     \u_dut.counted_d ;
  (* hierconn *) wire [Lanes-1:0]                     \u_dut.counted_q ;
  (* hierconn *) wire [Lanes-1:0]                     \u_dut.zero_d ;
  (* hierconn *) wire [Lanes-1:0]                     \u_dut.zero_q ;
  (* hierconn *) wire [Lanes-1:0]                     \u_dut.special_d ;
  (* hierconn *) wire [Lanes-1:0]                     \u_dut.special_q ;
  (* hierconn *) wire [Lanes-1:0]                     \u_dut.keep_d ;
  (* hierconn *) wire [Lanes-1:0]                     \u_dut.keep_q ;
  (* hierconn *) wire [Lanes*16-1:0]                  \u_dut.data_q ;
  (* hierconn *) wire [14:0]                          \u_dut.threshold_q ;
  (* hierconn *) wire                                 \u_dut.last_q ;
  (* hierconn *) wire [Lanes*16-1:0]                  \u_dut.pruned_d ;
  (* hierconn *) wire                                 \u_dut.pruned_last_q ;
  (* hierconn *) wire                                 \u_dut.pruned_special_q ;
  (* hierconn *) wire [Lanes*16-1:0]                  \u_dut.pruned_q ;
  (* hierconn *) wire signed [LogWidth+BeatBits-1:0]  \u_dut.beat_sum_d ;
  (* hierconn *) wire signed [LogWidth+BeatBits-1:0]  \u_dut.beat_sum_q ;
  (* hierconn *) wire [SquareBits+BeatBits-1:0]       \u_dut.beat_squares_d ;
  (* hierconn *) wire [SquareBits+BeatBits-1:0]       \u_dut.beat_squares_q ;
  (* hierconn *) wire [BeatBits:0]                    \u_dut.beat_count_d ;
  (* hierconn *) wire [BeatBits:0]                    \u_dut.beat_count_q ;
  (* hierconn *) wire [BeatBits:0]                    \u_dut.beat_zeros_d ;
  (* hierconn *) wire [BeatBits:0]                    \u_dut.beat_zeros_q ;

  logic [First-1:0] first_d, first_q;
  assign first_d = {\u_dut.log_d , \u_dut.aligned_d , \u_dut.bound_d , \u_dut.counted_d , \u_dut.zero_d , \u_dut.special_d ,
                    \u_dut.keep_d , \u_dut.head_data , \u_dut.head_threshold , \u_dut.head_last };
  assign first_q = {\u_dut.log_q , \u_dut.aligned_q , \u_dut.bound_q , \u_dut.counted_q , \u_dut.zero_q , \u_dut.special_q ,
                    \u_dut.keep_q , \u_dut.data_q , \u_dut.threshold_q , \u_dut.last_q };

  localparam int Second = Lanes * 16 + 2 + LogWidth + SquareBits + 4 * BeatBits + 2;
  logic [Second-1:0] second_d, second_q;
  assign second_d = {\u_dut.pruned_d , \u_dut.last_q , \u_dut.special_q != '0, \u_dut.beat_sum_d , \u_dut.beat_squares_d ,
                     \u_dut.beat_count_d , \u_dut.beat_zeros_d };
  assign second_q = {\u_dut.pruned_q , \u_dut.pruned_last_q , \u_dut.pruned_special_q , \u_dut.beat_sum_q , \u_dut.beat_squares_q ,
                     \u_dut.beat_count_q , \u_dut.beat_zeros_q };
  localparam int Third = Lanes * 16 + 2 + SumWidth + SquareWidth + 2 * Grow + 2;
  logic [Third-1:0] third_d, third_q;
  logic             begins;  // the next beat that is summed begins a tensor
  assign third_q = {data, last, special, sum, squares, count, zeros};
  assign third_d = {
    \u_dut.pruned_q ,
    \u_dut.pruned_last_q ,
    \u_dut.pruned_special_q || (!begins && special),
    SumWidth'(32'(\u_dut.beat_sum_q ) + (begins ? 0 : 32'(sum))),
    SquareWidth'(32'(\u_dut.beat_squares_q ) + (begins ? 0 : 32'(squares))),
    (Grow + 1)'(32'(\u_dut.beat_count_q ) + (begins ? 0 : 32'(count))),
    (Grow + 1)'(32'(\u_dut.beat_zeros_q ) + (begins ? 0 : 32'(zeros)))
  };

  // ---- the clock before: what each register was to take
  logic              ran = 1'b0;
  logic [2:0]        valid_w;
  logic [First-1:0]  first_w;
  logic [Second-1:0] second_w;
  logic [Third-1:0]  third_w;
  logic              moves;
  assign moves = !valid || ready_i;
  always_ff @(posedge clk_i) begin
    ran      <= running;
    valid_w  <= moves ? {\u_dut.head_valid , \u_dut.valid [1], \u_dut.valid [2]} : {\u_dut.valid [1], \u_dut.valid [2], valid};
    first_w  <= moves ? first_d : first_q;
    second_w <= moves ? second_d : second_q;
`ifdef LOG_PRUNE_FALSE
    third_w  <= moves ? third_d : third_q;
`else
    third_w  <= moves && \u_dut.valid [2]? third_d : third_q;
`endif
  end

  // A tensor begins behind a reset, and behind the last beat of another: the one that was summed most recently.
  logic summed = 1'b0;  // a beat has been, since the reset
  always_ff @(posedge clk_i) summed <= running && (summed || (moves && \u_dut.valid [2]));
  assign begins = !summed || last;
  (* hierconn *) wire \u_dut.first_q ;

  always_comb begin
    if (running) begin
      assert (\u_dut.move == moves);
      assert (\u_dut.first_q == begins);
    end
    if (running && ran) begin
      assert ({\u_dut.valid [1], \u_dut.valid [2], valid} == valid_w);
      assert (first_q == first_w);
      assert (second_q == second_w);
      assert (third_q == third_w);
    end
  end
endmodule
