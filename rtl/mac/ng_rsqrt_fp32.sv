// SPDX-License-Identifier: Apache-2.0
// 1 / sqrt(a) of an FP32 number, rounded once to nearest even, a bit of it a cycle. IEEE 754-2019,
// rSqrt: a zero gives the infinity of its sign, +infinity gives +0, all other numbers below zero
// and NaNs give 32'h7FC00000; subnormal numbers count. Twin of narrowgauge::rsqrt_fp32.
//
// a = m 4^h with m from 1 to below 4, so 1 / sqrt(a) = q 2^-h with q from above 1/2 to 1. The
// digits of q are found from the top: with q_j of j bits so far, the next bit is 1 iff (q_j + d)^2
// m <= 1, d = 2^-(j+1). The state is p = q_j m, s = 2^j (1 - q_j^2 m) and m d, so that the bit is 1
// iff 2 s - (2 p + m d) is not negative. Then this is the new s, and m d is added to p; else s is
// doubled. A subnormal a is shifted up first, by two places a cycle, so that h stays an integer.
// q has 25 bits: 24 of FP32 and the guard bit. q^2 m = 1 has no solution of 25 bits below 1, so
// what is left over is never zero, and the sticky bit is always 1. That holds for m = 1, too, whose
// q becomes 0.11...1, and rounds to 1.
//
// A number takes 25 cycles, one more for each two places a subnormal one is shifted by. valid_o
// comes after as many edges, that which took the number not counted, and stands with y_o until
// ready_i; the next number is taken in a later cycle.
//
// Width argument. 1 / sqrt(m) < q_j + 2^-j, so s < 2^j m (2 / sqrt(m)) 2^-j = 2 sqrt(m) < 4, p <
// sqrt(m) < 2 and 2 p + m d < 4. Exact they take 48 bits below the point, since m d does; of these
// the unit keeps Frac = 34, of s one less, and drops what is below. That changes no digit of any of
// the 2^24 significands: RsqrtFp32.ThirtyFourBitsFindEveryDigit in tests/model/rsqrt_fp32_test.cpp
// tries them all. The result's exponent is -64 (2^128) to 74 (2^-149): never subnormal, never
// beyond the range.
module ng_rsqrt_fp32 (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] a_i,
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] y_o  // beside valid_o only
);

  localparam int Frac = 34;  // bits below the point

  // ---- operand
  logic normal, special, mantissa, odd;
  assign normal = |a_i[30:23];
  assign special = &a_i[30:23];
  assign mantissa = |a_i[22:0];
  assign odd = normal & ~a_i[23];  // of the exponent: m is the significand doubled

  // ---- state
  logic              idle_q;
  logic              nan_q, infinite_q, zero_q, sign_q;  // of a
  logic              begun_q;  // m is normal, or does not matter
  logic [Frac:0]     m_q;      // m d
  logic [Frac+1:1]   s_q;
  logic [Frac:0]     p_q;
  logic [24:0]       root_q;
  logic signed [7:0] exp_q;
  assign ready_o = idle_q;
  assign valid_o = ~idle_q & root_q[24];

  // ---- a step
  logic            shift;  // a subnormal number is shifted up
  logic [Frac+3:0] less;
  logic            one;
  assign shift = ~(begun_q | (|m_q[Frac:Frac-1]));
  assign less = {1'b0, s_q, 2'b0} - ({2'b0, p_q, 1'b0} + {3'b0, m_q});
  assign one = ~less[Frac+3];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      idle_q     <= 1'b1;
      nan_q      <= 1'b0;
      infinite_q <= 1'b0;
      zero_q     <= 1'b0;
      sign_q     <= 1'b0;
      begun_q    <= 1'b0;
      m_q        <= '0;
      s_q        <= '0;
      p_q        <= '0;
      root_q     <= '0;
      exp_q      <= '0;
    end else if (idle_q) begin
      idle_q     <= ~valid_i;
      // Of use from the edge on that takes a number.
      nan_q      <= special & mantissa;
      infinite_q <= special & ~mantissa;
      zero_q     <= ~(normal | mantissa);
      sign_q     <= a_i[31];
      begun_q    <= normal | ~mantissa;
      m_q        <= {odd ? {1'b1, a_i[22:0], 1'b0} : {1'b0, normal, a_i[22:0]}, {Frac-24{1'b0}}};
      s_q        <= {2'b01, {Frac-1{1'b0}}};
      p_q        <= '0;
      root_q     <= '0;
      // -h - 1: half the exponent, rounded down
      exp_q      <= $signed({1'b0, 7'd62} - {1'b0, a_i[30:24]}) + $signed({7'b0, odd});
    end else if (!valid_o) begin
      m_q <= {1'b0, m_q[Frac:1]};
      if (shift) begin
        m_q[Frac-:26] <= {m_q[Frac-2-:23], 3'b0};
        exp_q         <= exp_q + 8'sd1;
      end else begin
        begun_q <= 1'b1;
        root_q  <= {root_q[23:0], one};
        s_q     <= one ? less[Frac+1:1] : {s_q[Frac:1], 1'b0};
        if (one) p_q <= p_q + m_q;
      end
    end else begin
      idle_q <= ready_i;
    end
  end

  // ---- the result
  logic nan, known;
  assign nan = nan_q | (sign_q & ~zero_q);
  assign known = nan | zero_q | infinite_q;
  ng_round_pack #(
    .SigWidth(26),
    .ExpWidth(8),
    .ExpLo   (-64),
    .ExpHi   (74),
    .RandBits(1)
  ) u_round (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .mode_i(ng_round_pkg::NearestEven),
    .nan_i (nan),
    .inf_i (zero_q),
    .sign_i(sign_q & zero_q),
    .exp_i (exp_q),
    .sig_i (known ? 26'b0 : {root_q, 1'b1}),
    .rand_i(1'b0),
    .code_o(y_o)
  );

  logic unused;
  assign unused = ^{less[Frac+2], less[0]};
endmodule
