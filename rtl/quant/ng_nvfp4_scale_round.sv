// SPDX-License-Identifier: Apache-2.0
//
// The second half of the exact NVFP4 block scale: of two candidates N and N + 1 for the significand
// the one that is nearest to the quotient, then the scale's code, and its product with g.
// ng_quantize_nvfp4 and ng_nvfp4_scale have the first half; the header of ng_quantize_nvfp4 derives
// both. Combinational.
//
// With d bits fewer in a subnormal scale N = (8 + f) >> d, and the midpoint between N and N + 1 is
// T / 2^(d+1), where T = 16 + midpoint: 16 q is compared with T exactly, as 16 A with T M.
//
// Width argument: M is below 3 * 2^24 and T M below 31 * 3 * 2^24 < 2^31. The factor of s is at
// most 15, so S is below 2^28.
module ng_nvfp4_scale_round (
  input  logic        [23:0] g_sig_i,    // s, the significand of g
  input  logic signed  [9:0] g_exp_i,    // exponent of g, biased
  input  logic        [25:0] divisor_i,  // M
  input  logic         [8:0] a_wide_i,   // A, doubled if it is below M
  input  logic         [2:0] frac_i,     // f
  input  logic signed  [4:0] field_i,    // exponent field of the scale, -4 to 14
  input  logic               largest_i,  // the quotient is at or beyond the largest scale
  input  logic               zero_i,     // the quotient is too small for any scale
  input  logic               nan_i,      // the block has no scale
  output logic         [7:0] scale_o,    // UE4M3 code, 7Fh for NaN
  output logic               live_o,     // the scale is a number above zero
  output logic         [2:0] factor_o,   // significand of the scale less 8; 16 is 8 with a carry
  output logic        [27:0] s_o,        // S, the significand of scale times g
  output logic signed  [9:0] s_exp_o     // exponent of scale times g
);
  // ---- N or N + 1
  logic [3:0] midpoint;  // T - 16
  logic [3:0] n_low;     // N
  logic [3:0] n_unit;    // 2^d; 0 for 16
  ng_nvfp4_candidates u_candidates (
    .frac_i,
    .field_i,
    .midpoint_o(midpoint),
    .low_o     (n_low),
    .unit_o    (n_unit)
  );

  logic [30:0] t_m, left;
  logic        round_up;
  for (genvar i = 0; i < 4; i++) begin : gen_m
    logic [27+i:0] partial, sum;
    if (i == 0) begin : gen_first
      assign partial = {1'b0, divisor_i, 1'b0};
    end else begin : gen_next
      assign partial = {gen_m[i-1].sum, 1'b0};
    end
    assign sum = midpoint[3-i] ? partial + (28+i)'(divisor_i) : partial;
  end
  assign t_m = gen_m[3].sum;
  assign left = divisor_i[25] ? {a_wide_i, 22'b0} : {1'b0, a_wide_i, 21'b0};
  assign round_up = ~largest_i & ({t_m, ~n_low[0]} < {left, 1'b1});

  // ---- the scale, and S
  logic carry;
  assign live_o = ~nan_i & ~zero_i & (round_up | (n_low != '0));
  assign scale_o = nan_i ? 8'h7F : zero_i ? 8'h00
      : {1'b0, field_i[3:0] & {4{~field_i[4]}}, 3'b0} + {4'b0, n_low} + {7'b0, round_up};
  assign {carry, factor_o} = {1'b0, midpoint[3:1] & ~n_unit[3:1]} + (round_up ? n_unit : 4'd0);

  for (genvar i = 0; i < 3; i++) begin : gen_s
    logic [25+i:0] partial, sum;
    if (i == 0) begin : gen_first
      assign partial = {1'b0, g_sig_i, 1'b0};
    end else begin : gen_next
      assign partial = {gen_s[i-1].sum, 1'b0};
    end
    assign sum = factor_o[2-i] ? partial + (26+i)'(g_sig_i) : partial;
  end
  assign s_o = gen_s[2].sum;
  assign s_exp_o = g_exp_i + 10'(field_i) - (carry | (n_low == '0) ? 10'sd5 : 10'sd6);
endmodule
