// SPDX-License-Identifier: Apache-2.0
// Tells whether the noise of stochastic rounding to NVFP4 drowns a tensor: sum x^2 < 3 sum (x -
// l)(u - x), l <= x <= u neighbours in the format. Both sums grow together as one, their
// difference, whose sign is the answer: no root, no division. Twin of narrowgauge::noise_excess.
//
// A beat is a block: magnitudes y = |x| / (s g) as fixed-point numbers, which is what is rounded to
// E2M1, and the block's scale s, UE4M3. The tensor scale g is common to all. The block adds s^2 sum
// (3 (y - l)(u - y) - y^2), exactly, in units of 2^(-2 FracBits - 18). A block whose scale is NaN
// adds nothing.
//
// valid_i: take a block. first_i: it begins a new tensor. A block is in the sum two cycles after it
// was taken.
//
// Width argument: an element has ng_noise_lane's 2 FracBits + 7 bits, the lanes add clog2(Lanes),
// the significand of s, at most 15, squared adds 8, its exponent, at most 14, twice that, 28;
// CountBits for as many blocks.
module ng_noise_monitor #(
  parameter int Lanes     = 16,
  parameter int FracBits  = 4,
  parameter int CountBits = 20,
  localparam int Width     = FracBits + 3,
  localparam int LaneWidth = 2 * FracBits + 7,
  localparam int SumWidth  = LaneWidth + $clog2(Lanes),
  localparam int TermWidth = SumWidth + 36,
  localparam int AccWidth  = TermWidth + CountBits
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  input  logic                       first_i,
  input  logic [Lanes*Width-1:0]     y_i,
  input  logic [6:0]                 scale_i,
  output logic signed [AccWidth-1:0] excess_o,  // 3 sum (x - l)(u - x) - sum x^2
  output logic                       noisy_o    // it is positive
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 2 || Lanes > 16) begin : gen_check_lanes
    $fatal(1, "ng_noise_monitor: Lanes=%0d; expected 2 to 16", Lanes);
  end
  if (FracBits < 2 || FracBits > 8) begin : gen_check_frac_bits
    $fatal(1, "ng_noise_monitor: FracBits=%0d; expected 2 to 8", FracBits);
  end
  if (CountBits < 0 || CountBits > 48) begin : gen_check_count_bits
    $fatal(1, "ng_noise_monitor: CountBits=%0d; expected 0 to 48", CountBits);
  end
`endif

  logic [Lanes*LaneWidth-1:0]  excess;
  logic signed [SumWidth-1:0]  sum, sum_q;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    ng_noise_lane #(
      .FracBits(FracBits)
    ) u_lane (
      .y_i     (y_i[i*Width +: Width]),
      .excess_o(excess[i*LaneWidth +: LaneWidth])
    );
  end
  ng_sum_tree #(
    .Operands(Lanes),
    .Width   (LaneWidth)
  ) u_sum (
    .x_i    (excess),
    .carry_i({(Lanes - 1){1'b0}}),  // sized: Yosys 0.23 loads the tree twice for '0, and stops
    .sum_o  (sum)
  );

  // s = significand 2^(shift - 9), so s^2 = significand^2 4^shift 2^-18.
  logic [3:0] significand, shift_q;
  logic [7:0] square_q;
  logic       normal, valid_q, first_q;
  assign normal = |scale_i[6:3];
  assign significand = &scale_i ? 4'd0 : {normal, scale_i[2:0]};

  // ng-no-fault: the enable of the data saves energy only, as nothing reads them without valid_q;
  //   the prover would have to look through the multiplier
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q    <= '0;
      square_q <= '0;
      shift_q  <= '0;
      valid_q  <= 1'b0;
      first_q  <= 1'b0;
    end else begin
      valid_q <= valid_i;
      if (valid_i) begin
        sum_q    <= sum;
        square_q <= {4'b0, significand} * {4'b0, significand};
        shift_q  <= scale_i[6:3] - {3'b0, normal};
        first_q  <= first_i;
      end
    end
  end

  logic signed [SumWidth+7:0]  scaled;
  logic signed [TermWidth-1:0] term;
  logic                        unused_nan, unused_pinf, unused_ninf;
  assign scaled = (SumWidth + 8)'(sum_q) * $signed({{SumWidth{1'b0}}, square_q});
  assign term = TermWidth'(scaled) <<< {shift_q, 1'b0};
  ng_exact_acc #(
    .TermWidth(TermWidth),
    .AccWidth (AccWidth)
  ) u_acc (
    .clk_i,
    .rst_ni,
    .valid_i(valid_q),
    .first_i(first_q),
    .term_i (term),
    .nan_i  (1'b0),
    .pinf_i (1'b0),
    .ninf_i (1'b0),
    .acc_o  (excess_o),
    .nan_o  (unused_nan),
    .pinf_o (unused_pinf),
    .ninf_o (unused_ninf)
  );
  // A lane's 3 (y - l)(u - y) - y^2 is 9/64 at most, less than 2^-2, and a scale's square less than
  // 2^18: so no positive sum has a bit from PositiveWidth on.
  localparam int PositiveWidth = 2 * FracBits - 2 + $clog2(Lanes) + 36 + CountBits;
  assign noisy_o = ~excess_o[AccWidth-1] & (|excess_o[PositiveWidth-1:0]);

endmodule
