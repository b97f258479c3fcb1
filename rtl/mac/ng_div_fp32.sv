// SPDX-License-Identifier: Apache-2.0
// Quotient of two FP32 numbers, rounded once to nearest even, a bit of it a cycle. IEEE 754, all of
// it: subnormal operands and results, signed zeros, infinities; every NaN is 32'h7FC00000. Twin of
// narrowgauge::div_fp32.
//
// Restoring division: the rest is compared with b, a bit is shifted into the quotient, and the
// rest, less b if it was 1, is doubled. Zeros before the first 1 of the quotient are not kept, they
// lower the exponent: so a needs no normalizing, nor need its significand be the larger. b is
// shifted up first where it is subnormal, a place a cycle. The quotient is complete when its first
// 1 has come to the top of 25 bits: 24 of FP32 and the guard bit; what is left over is the sticky
// bit.
//
// A pair takes 25 cycles, one more for each zero before the quotient's first 1 and for each place b
// is shifted by; 1 where an operand is a zero, an infinity or a NaN. valid_o comes after as many
// edges, that which took the pair not counted (1: with it), and stands with y_o until ready_i; the
// next pair is taken in a later cycle.
//
// Width argument: the rest is below 2 b at each step: at first because a < 2^24 <= 2 b, later
// because the rest, below b after the subtraction, is doubled. So it has 25 bits. The exponent is
// that of a less that of b, -253 to 253, at most 23 more for b's shift and at most 24 less for
// zeros: -277 to 276.
module ng_div_fp32 #(
  // beyond the range, and over zero, the largest number of this sign instead of infinity
  parameter bit Saturate = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] y_o  // a_i / b_i; beside valid_o only
);
  // ---- operands
  logic a_normal, b_normal, a_special, b_special, a_mantissa, b_mantissa, a_zero, b_zero, nan, inf;
  assign a_normal = |a_i[30:23];
  assign b_normal = |b_i[30:23];
  assign a_special = &a_i[30:23];
  assign b_special = &b_i[30:23];
  assign a_mantissa = |a_i[22:0];
  assign b_mantissa = |b_i[22:0];
  assign a_zero = ~(a_normal | a_mantissa);
  assign b_zero = ~(b_normal | b_mantissa);
  assign nan = (a_special & (a_mantissa | b_special)) | (b_special & b_mantissa)
      | (a_zero & b_zero);
  assign inf = a_special | b_zero;

  // ---- state
  logic              idle_q;
  logic              known_q;  // no division: zero, or what nan_q and inf_q say
  logic              nan_q, inf_q, sign_q;
  logic              begun_q;  // the quotient has its first 1
  logic [24:0]       rest_q;
  logic [23:0]       divisor_q;
  logic [24:0]       quotient_q;
  logic signed [9:0] exp_q;
  assign ready_o = idle_q;
  assign valid_o = known_q | quotient_q[24];

  // ---- a step
  logic [24:0]       less;  // from -b to b
  logic              one;
  logic signed [1:0] exp_step;
  assign less = rest_q - {1'b0, divisor_q};
  assign one = ~less[24];
  assign exp_step = ~divisor_q[23] ? 2'sd1 : begun_q | one ? 2'sd0 : -2'sd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      idle_q     <= 1'b1;
      known_q    <= 1'b0;
      nan_q      <= 1'b0;
      inf_q      <= 1'b0;
      sign_q     <= 1'b0;
      begun_q    <= 1'b0;
      rest_q     <= '0;
      divisor_q  <= '0;
      quotient_q <= '0;
      exp_q      <= '0;
    end else if (idle_q) begin
      if (valid_i) begin
        idle_q  <= 1'b0;
        known_q <= nan | inf | a_zero | b_special;
        nan_q   <= nan;
        inf_q   <= inf;
        sign_q  <= a_i[31] ^ b_i[31];
        begun_q <= 1'b0;
        rest_q  <= {1'b0, a_normal, a_i[22:0]};
        divisor_q <= {b_normal, b_i[22:0]};
        exp_q   <= $signed({2'b0, a_i[30:24], a_i[23] | ~a_normal})
            - $signed({2'b0, b_i[30:24], b_i[23] | ~b_normal});
      end
    end else if (!valid_o) begin
      exp_q <= exp_q + 10'(exp_step);
      if (!divisor_q[23]) begin
        divisor_q <= {divisor_q[22:0], 1'b0};
      end else begin
        begun_q    <= begun_q | one;
        quotient_q <= {quotient_q[23:0], one};
        rest_q     <= {one ? less[23:0] : rest_q[23:0], 1'b0};
      end
    end else if (ready_i) begin
      idle_q     <= 1'b1;
      known_q    <= 1'b0;
      quotient_q <= '0;  // and so it is when a pair is taken
    end
  end

  ng_round_pack #(
    .Overflow(Saturate ? ng_round_pkg::Saturate : ng_round_pkg::Ieee),
    .SigWidth(26),
    .ExpWidth(10),
    .ExpLo   (-277),
    .ExpHi   (276),
    .RandBits(1)
  ) u_round (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .mode_i(ng_round_pkg::NearestEven),
    .nan_i (nan_q),
    .inf_i (inf_q),
    .sign_i(sign_q & ~nan_q),
    .exp_i (exp_q),
    .sig_i ({quotient_q, ~known_q & |rest_q}),  // the quotient is zero where it is known
    .rand_i(1'b0),
    .code_o(y_o)
  );

endmodule
