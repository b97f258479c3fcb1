// SPDX-License-Identifier: Apache-2.0
//
// What ng_log_prune computes of a number, for every number at the head of its queue, threshold and random word, in every lane, and
// for whatever its registers hold (they have no initial value here, so each is any):
//
//   logarithm   log2 of every code, its correction taken from the logarithm itself at the middle of each sixteenth of an octave, to
//               FracBits fraction bits, halves up; which codes are zeros, special, counted
//   pruning     x stays iff |x| >= tau; what is compared a clock later decides |x| 2^r >= tau (2^r - R), stated without a fraction:
//               the exponents' difference is multiplied to tau's side. Where that is beyond the width the product is the larger one,
//               as it is never 0 there.
//   square      of every logarithm that the register may hold
//   beat        its sums are those of the lanes' logarithms, squares, counted and zero numbers, whatever they are
//   result      x, or tau or 0 with x's sign
//
// That registers and sums take these as they are: log_prune_steps_proof. hierconn: wires of the unit, which Yosys connects when it
// flattens.
//
// LOG_PRUNE_FALSE gives the numbers that equal the bound away.
module log_prune_lane_proof #(
  parameter int Lanes    = 4,
  parameter int FracBits = 4,
  parameter int RandBits = 8
) (
  input logic                      clk_i,
  input logic                      rst_ni,
  input logic                      valid_i,
  input logic [Lanes*16-1:0]       data_i,
  input logic                      last_i,
  input logic [14:0]               threshold_i,
  input logic [Lanes*RandBits-1:0] rand_i,
  input logic                      ready_i
);
`ifdef LOG_PRUNE_FALSE
  localparam bit Strict = 1'b1;
`else
  localparam bit Strict = 1'b0;
`endif
  localparam int LogWidth = 9 + FracBits;
  localparam int SigWidth = 8 + RandBits;
  localparam int SquareBits = 15 + 2 * FracBits;
  localparam int CountBits = 4;

  localparam int Grow = $clog2(Lanes) + CountBits;
  logic                               ready, valid, last, special;
  logic [Lanes*16-1:0]                data;
  logic [LogWidth+Grow-1:0]           sum;
  logic [SquareBits+Grow-1:0]         squares;
  logic [Grow:0]                      count, zeros;
  ng_log_prune #(
    .Lanes    (Lanes),
    .FracBits (FracBits),
    .RandBits (RandBits),
    .CountBits(CountBits)
  ) u_dut (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
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
  (* hierconn *) wire [Lanes*16-1:0]         \u_dut.head_data ;
  (* hierconn *) wire [Lanes*RandBits-1:0]   \u_dut.head_rand ;
  (* hierconn *) wire [14:0]                 \u_dut.head_threshold ;
  (* hierconn *) wire [Lanes*LogWidth-1:0]   \u_dut.log_d ;
  (* hierconn *) wire [Lanes*LogWidth-1:0]   \u_dut.log_q ;
  (* hierconn *) wire [Lanes*SigWidth-1:0]   \u_dut.aligned_d ;
  (* hierconn *) wire [Lanes*SigWidth-1:0]   \u_dut.aligned_q ;
  (* hierconn *) wire [Lanes*SigWidth-1:0]   \u_dut.bound_d ;
  (* hierconn *) wire [Lanes*SigWidth-1:0]   \u_dut.bound_q ;
  (* hierconn *) wire [Lanes-1:0]            \u_dut.counted_d ;
  (* hierconn *) wire [Lanes-1:0]            \u_dut.zero_d ;
  (* hierconn *) wire [Lanes-1:0]            \u_dut.special_d ;
  (* hierconn *) wire [Lanes-1:0]            \u_dut.keep_d ;
  (* hierconn *) wire [Lanes-1:0]            \u_dut.keep_q ;
  (* hierconn *) wire [Lanes*16-1:0]         \u_dut.data_q ;
  (* hierconn *) wire [14:0]                 \u_dut.threshold_q ;
  (* hierconn *) wire [Lanes*SquareBits-1:0] \u_dut.squares ;
  (* hierconn *) wire [Lanes*16-1:0]         \u_dut.pruned_d ;

  // ---- the sums of a beat in the first register, none of which overflows where its logarithms are in their range
  localparam int BeatBits = $clog2(Lanes);
  (* hierconn *) wire signed [LogWidth+BeatBits-1:0] \u_dut.beat_sum_d ;
  (* hierconn *) wire [SquareBits+BeatBits-1:0]      \u_dut.beat_squares_d ;
  (* hierconn *) wire [BeatBits:0]                   \u_dut.beat_count_d ;
  (* hierconn *) wire [BeatBits:0]                   \u_dut.beat_zeros_d ;
  (* hierconn *) wire [Lanes-1:0]                    \u_dut.counted_q ;
  (* hierconn *) wire [Lanes-1:0]                    \u_dut.zero_q ;
  logic signed [31:0] beat_sum, beat_squares, beat_count, beat_zeros;
  always_comb begin
    beat_sum = 0;
    beat_squares = 0;
    beat_count = 0;
    beat_zeros = 0;
    for (int i = 0; i < Lanes; i++) begin
      beat_sum = beat_sum + 32'(signed'(\u_dut.log_q [LogWidth*i +: LogWidth]));
      beat_squares = beat_squares + 32'(\u_dut.squares [SquareBits*i +: SquareBits]);
      beat_count = beat_count + 32'(\u_dut.counted_q [i]);
      beat_zeros = beat_zeros + 32'(\u_dut.zero_q [i]);
    end
    assert (32'(\u_dut.beat_sum_d ) == beat_sum);
    assert (32'(\u_dut.beat_squares_d ) == beat_squares);
    assert (32'(\u_dut.beat_count_d ) == beat_count);
    assert (32'(\u_dut.beat_zeros_d ) == beat_zeros);
  end

  // ---- the table of corrections, from its definition
  logic [63:0] corrections;
  for (genvar k = 0; k < 16; k++) begin : gen_correction
    localparam real Middle = 8.0 * k + 3.5;  // of mantissas 8k to 8k + 7, in units of 1/128
    localparam int Correction = $rtoi($floor(128.0 * $ln(1.0 + Middle / 128.0) / $ln(2.0) - Middle + 0.5));
    assign corrections[4*k +: 4] = Correction;
  end

  logic [14:0]        tau;
  logic signed [31:0] tau_power;
  logic [7:0]         tau_sig;
  assign tau = \u_dut.head_threshold ;
  assign tau_power = tau[14:7] == '0 ? 1 : 32'(tau[14:7]);
  assign tau_sig = {tau[14:7] != '0, tau[6:0]};

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [15:0] x;
    logic        special, zero;
    assign x = \u_dut.head_data [16*i +: 16];
    assign special = x[14:7] == 8'hFF;
    assign zero = x[14:0] == '0;

    // ---- logarithm, in units of 1/256, and in those of the unit
    logic signed [31:0] power, twice, log;
    logic [6:0]         mantissa;
    always_comb begin
      power = 32'(x[14:7]) - 127;
      mantissa = x[6:0];
      if (x[14:7] == '0) begin  // x[6:0] 2^-133: the highest one leads
        power = -133;
        for (int h = 0; h < 7; h++) begin
          if (x[h]) begin
            power = h - 133;
            mantissa = x[6:0] << (7 - h);
          end
        end
      end
      twice = power * 256 + 2 * (32'(mantissa) + 32'(corrections[4 * mantissa[6:3] +: 4]));
      log = ((twice << FracBits) + 128) >>> 8;
    end
    always_comb begin
      assert (\u_dut.special_d [i] == special);
      assert (\u_dut.zero_d [i] == zero);
      assert (\u_dut.counted_d [i] == (!special && !zero));
      assert (special || zero || log >= -133 * (1 << FracBits) && log <= 128 * (1 << FracBits));
      assert (signed'(\u_dut.log_d [LogWidth*i +: LogWidth]) == (special || zero ? 0 : log));
    end

    // ---- pruning: |x| 2^r against tau (2^r - R) 2^distance
    localparam int Wide = 2 * SigWidth + 2;
    logic signed [31:0] distance;
    logic [RandBits:0]  complement;
    logic [Wide-1:0]    number, bound;
    logic               stays, up;
    assign stays = x[14:0] >= tau;
    assign distance = tau_power - (x[14:7] == '0 ? 1 : 32'(x[14:7]));
    assign complement = (RandBits + 1)'(1 << RandBits) - (RandBits + 1)'(\u_dut.head_rand [RandBits*i +: RandBits]);
    assign number = Wide'({x[14:7] != '0, x[6:0]}) << RandBits;
    assign bound = Wide'(\u_dut.bound_d [SigWidth*i +: SigWidth]) << distance;
    assign up = distance <= SigWidth && (Strict ? number > bound : number >= bound);
    always_comb begin
      assert (\u_dut.keep_d [i] == stays);
      assert (stays || (\u_dut.aligned_d [SigWidth*i +: SigWidth] >= \u_dut.bound_d [SigWidth*i +: SigWidth]) == up);
    end

    // ---- behind the register
    logic signed [LogWidth-1:0] held;
    logic [15:0]                pruned;
    assign held = \u_dut.log_q [LogWidth*i +: LogWidth];
    always_comb begin
      pruned = \u_dut.data_q [16*i +: 16];
      if (!\u_dut.keep_q [i]) begin
        pruned[14:0] = '0;
        if (\u_dut.aligned_q [SigWidth*i +: SigWidth] >= \u_dut.bound_q [SigWidth*i +: SigWidth]) pruned[14:0] = \u_dut.threshold_q ;
      end
      assert (held < -133 * (1 << FracBits) || held > 128 * (1 << FracBits) || 32'(\u_dut.squares [SquareBits*i +: SquareBits]) == 32'(held) * 32'(held));
      assert (\u_dut.pruned_d [16*i +: 16] == pruned);
    end
    always_comb assert (\u_dut.bound_d [SigWidth*i +: SigWidth] == SigWidth'(tau_sig) * SigWidth'(complement));
  end
endmodule
