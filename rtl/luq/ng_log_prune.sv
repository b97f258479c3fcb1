// SPDX-License-Identifier: Apache-2.0
// For near-lognormal gradients (arXiv 2006.08173): the sums of log2|x| and of its square over a
// tensor that streams by in BF16, and its stochastic pruning. Twin of narrowgauge::LogSums and
// prune_bf16.
//
// Logarithm. log2((1 + m/128) 2^e) is e + (m + c)/128, c a correction of 4 bits for the upper 4
// bits of m; rounded to FracBits fraction bits, halves up. A subnormal number is normalized first.
// Zeros have no logarithm, nor have infinities and NaNs.
//
// Pruning. x stays where |x| >= tau; else it becomes tau, with its sign, if and only if |x|
// 2^RandBits >= tau (2^RandBits - R), R the random bits, and else 0: |x|'s significand shifted
// right by the difference of the exponents, against a product. What the shift drops is below the
// product's last place and decides nothing. All codes compare as magnitudes, so infinities and NaNs
// stay.
//
// A beat is taken into ng_fifo2, so that ready_o comes from a register, and passes three registers,
// which move together where the last one is empty or taken. The sums are those of the tensor up to
// the beat that is offered; last_o: of all of it.
//
// Width argument. Exponents with the subnormal numbers' are -133 to 127, the logarithm is -133 to
// 128: 9 bits before the point, its magnitude below 2^8, its square below 2^15. n = Lanes
// 2^CountBits of them add clog2(Lanes) + CountBits bits; a count of n takes one more. The
// significand of tau is below 2^8, so the product is below 2^(8 + RandBits).
module ng_log_prune #(
  parameter int Lanes     = 4,
  parameter int FracBits  = 4,
  parameter int RandBits  = 8,
  parameter int CountBits = 24,
  localparam int GrowBits    = $clog2(Lanes) + CountBits,
  localparam int SumWidth    = 9 + FracBits + GrowBits,
  localparam int SquareWidth = 15 + 2 * FracBits + GrowBits,
  localparam int CountWidth  = GrowBits + 1
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  output logic                       ready_o,
  input  logic [Lanes*16-1:0]        data_i,
  input  logic                       last_i,       // the last beat of a tensor
  // tau, the magnitude of a BF16 number; 0 prunes nothing
  input  logic [14:0]                threshold_i,
  input  logic [Lanes*RandBits-1:0]  rand_i,
  output logic                       valid_o,
  input  logic                       ready_i,
  output logic [Lanes*16-1:0]        data_o,
  output logic                       last_o,
  output logic signed [SumWidth-1:0] sum_o,        // of log2|x|, in units of 2^-FracBits
  output logic [SquareWidth-1:0]     squares_o,    // of its square, in units of 2^(-2 FracBits)
  output logic [CountWidth-1:0]      count_o,      // numbers in the sums
  output logic [CountWidth-1:0]      zeros_o,
  output logic                       special_o     // there was an infinity or a NaN
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 16) begin : gen_check_lanes
    $fatal(1, "ng_log_prune: Lanes=%0d; expected 1 to 16", Lanes);
  end
  if (FracBits < 1 || FracBits > 7) begin : gen_check_frac_bits
    $fatal(1, "ng_log_prune: FracBits=%0d; expected 1 to 7", FracBits);
  end
  if (RandBits < 1 || RandBits > 24) begin : gen_check_rand_bits
    $fatal(1, "ng_log_prune: RandBits=%0d; expected 1 to 24", RandBits);
  end
  if (CountBits < 0 || CountBits > 31) begin : gen_check_count_bits
    $fatal(1, "ng_log_prune: CountBits=%0d; expected 0 to 31", CountBits);
  end
`endif

  localparam int LogWidth = 9 + FracBits;
  localparam int SigWidth = 8 + RandBits;
  localparam int ShiftWidth = $clog2(SigWidth + 1);

  logic                      head_valid, head_last, move;
  logic [Lanes*16-1:0]       head_data;
  logic [Lanes*RandBits-1:0] head_rand;
  logic [14:0]               head_threshold;
  ng_fifo2 #(
    .Width(Lanes * (16 + RandBits) + 16)
  ) u_fifo (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i ({data_i, rand_i, threshold_i, last_i}),
    .valid_o(head_valid),
    .ready_i(move),
    .data_o ({head_data, head_rand, head_threshold, head_last})
  );
  assign move = ~valid_o | ready_i;

  logic [3:0] valid;  // of the head and behind each of the three registers
  logic       unused_valid;
  ng_valid_pipe #(
    .Depth(3)
  ) u_valid (
    .clk_i,
    .rst_ni,
    .en_i   (move),
    .valid_i(head_valid),
    .valid_o(valid)
  );
  assign valid_o = valid[3];
  assign unused_valid = ^valid[1:0];

  // ---- first register: logarithms; |x| aligned with tau, and what it is compared with
  logic [Lanes*LogWidth-1:0] log_d, log_q;
  logic [Lanes*SigWidth-1:0] aligned_d, aligned_q, bound_d, bound_q;
  logic [Lanes-1:0]          counted_d, counted_q, zero_d, zero_q, special_d, special_q, keep_d,
      keep_q;
  logic [Lanes*16-1:0]       data_q;
  logic [14:0]               threshold_q;
  logic                      last_q;

  logic [7:0] tau_exponent, tau_sig;
  assign tau_exponent = {head_threshold[14:8], head_threshold[7] | ~(|head_threshold[14:7])};
  assign tau_sig = {|head_threshold[14:7], head_threshold[6:0]};
  for (genvar i = 0; i < Lanes; i++) begin : gen_log
    logic [7:0] field, exponent;
    logic [6:0] fraction, mantissa;
    logic [2:0] zeros;  // of the fraction, leading
    logic [8:0] power;
    logic [3:0] correction;
    logic       normal;
    assign field = head_data[16*i+7 +: 8];
    assign fraction = head_data[16*i +: 7];
    assign normal = |field;
    assign special_d[i] = &field;
    assign zero_d[i] = ~normal & ~(|fraction);
    assign counted_d[i] = ~special_d[i] & ~zero_d[i];
    always_comb begin
      casez (fraction)
        7'b1??????: zeros = 3'd0;
        7'b01?????: zeros = 3'd1;
        7'b001????: zeros = 3'd2;
        7'b0001???: zeros = 3'd3;
        7'b00001??: zeros = 3'd4;
        7'b000001?: zeros = 3'd5;
        default:    zeros = 3'd6;
      endcase
    end
    assign mantissa = normal ? fraction : (fraction << zeros) << 1;
    assign power = normal ? {1'b0, field} - 9'd127 : 9'd385 - {6'd0, zeros};  // -127 - zeros
    always_comb begin
      case (mantissa[6:3])
        4'd0, 4'd15: correction = 4'd1;
        4'd1:        correction = 4'd4;
        4'd2, 4'd12: correction = 4'd7;
        4'd3, 4'd11: correction = 4'd8;
        4'd4, 4'd9:  correction = 4'd10;
        4'd10:       correction = 4'd9;
        4'd13:       correction = 4'd5;
        4'd14:       correction = 4'd3;
        default:     correction = 4'd11;
      endcase
    end
    logic [15:0] log;  // 7 fraction bits
    assign log = {power, 7'd0} + {9'd0, mantissa} + {12'd0, correction};
    if (FracBits == 7) begin : gen_whole
      assign log_d[i*LogWidth +: LogWidth] = log & {LogWidth{counted_d[i]}};
    end else begin : gen_rounded
      logic [15:0]         rounded;
      logic [6-FracBits:0] unused_rounded;
      assign rounded = log + (16'd1 << (6 - FracBits));
      assign unused_rounded = rounded[6-FracBits:0];
      assign log_d[i*LogWidth +: LogWidth] = rounded[15 -: LogWidth] & {LogWidth{counted_d[i]}};
    end

    logic [7:0]            distance;
    logic [ShiftWidth-1:0] shift;
    logic [RandBits-1:0]   rest;  // 2^RandBits - R, less 1
    assign exponent = {field[7:1], field[0] | ~normal};
    assign keep_d[i] = {field, fraction} >= head_threshold;
    assign distance = tau_exponent - exponent;  // 0 or more where it counts
    if (ShiftWidth < 8) begin : gen_clamp
      assign shift = distance[ShiftWidth-1:0] | {ShiftWidth{|distance[7:ShiftWidth]}};
    end else begin : gen_plain
      assign shift = ShiftWidth'(distance);
    end
    assign aligned_d[i*SigWidth +: SigWidth] = {normal, fraction, {RandBits{1'b0}}} >> shift;
    assign rest = ~head_rand[i*RandBits +: RandBits];
    assign bound_d[i*SigWidth +: SigWidth] = {{RandBits{1'b0}}, tau_sig} * {8'd0, rest}
        + {{RandBits{1'b0}}, tau_sig};
  end

  // ---- second register: the sums of the beat, the numbers as they leave
  localparam int SquareBits = 15 + 2 * FracBits;
  localparam int BeatSumWidth = LogWidth + $clog2(Lanes);
  localparam int BeatSquareWidth = SquareBits + $clog2(Lanes);
  localparam int BeatCountWidth = $clog2(Lanes) + 1;
  logic signed [BeatSumWidth-1:0] beat_sum_d, beat_sum_q;
  logic [BeatSquareWidth-1:0]     beat_squares_d, beat_squares_q;
  logic [BeatCountWidth-1:0]      beat_count_d, beat_count_q, beat_zeros_d, beat_zeros_q;
  logic [Lanes*SquareBits-1:0]    squares;
  logic [Lanes*16-1:0]            pruned_d, pruned_q;
  logic                           pruned_last_q, pruned_special_q;
  for (genvar i = 0; i < Lanes; i++) begin : gen_prune
    logic                negative, round_up;
    logic [LogWidth-2:0] log, magnitude;
    assign {negative, log} = log_q[i*LogWidth +: LogWidth];
    assign magnitude = negative ? -log : log;
    assign squares[i*SquareBits +: SquareBits] = SquareBits'(magnitude) * SquareBits'(magnitude);
    assign round_up = aligned_q[i*SigWidth +: SigWidth] >= bound_q[i*SigWidth +: SigWidth];
    assign pruned_d[i*16 +: 16] = keep_q[i] ? data_q[i*16 +: 16]
        : {data_q[i*16+15], threshold_q & {15{round_up}}};
  end
  always_comb begin
    beat_sum_d = '0;
    beat_squares_d = '0;
    beat_count_d = '0;
    beat_zeros_d = '0;
    for (int i = 0; i < Lanes; i++) begin
      beat_sum_d = beat_sum_d + BeatSumWidth'($signed(log_q[i*LogWidth +: LogWidth]));
      beat_squares_d = beat_squares_d + BeatSquareWidth'(squares[i*SquareBits +: SquareBits]);
      beat_count_d = beat_count_d + BeatCountWidth'(counted_q[i]);
      beat_zeros_d = beat_zeros_d + BeatCountWidth'(zero_q[i]);
    end
  end

  // ---- third register: the tensor's sums, the beat that is offered
  logic first_q;  // the next beat begins a tensor
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (move & valid[2]) first_q <= pruned_last_q;
  end
  always_ff @(posedge clk_i) if (move) begin
    {log_q, aligned_q, bound_q} <= {log_d, aligned_d, bound_d};
    {counted_q, zero_q, special_q, keep_q} <= {counted_d, zero_d, special_d, keep_d};
    {data_q, threshold_q, last_q} <= {head_data, head_threshold, head_last};
    {beat_sum_q, beat_squares_q, beat_count_q, beat_zeros_q} <=
        {beat_sum_d, beat_squares_d, beat_count_d, beat_zeros_d};
    {pruned_q, pruned_last_q, pruned_special_q} <= {pruned_d, last_q, |special_q};
    if (valid[2]) begin
      data_o    <= pruned_q;
      last_o    <= pruned_last_q;
      sum_o     <= (first_q ? '0 : sum_o) + SumWidth'(beat_sum_q);
      squares_o <= (first_q ? '0 : squares_o) + SquareWidth'(beat_squares_q);
      count_o   <= (first_q ? '0 : count_o) + CountWidth'(beat_count_q);
      zeros_o   <= (first_q ? '0 : zeros_o) + CountWidth'(beat_zeros_q);
      special_o <= pruned_special_q | (special_o & ~first_q);
    end
  end
endmodule
