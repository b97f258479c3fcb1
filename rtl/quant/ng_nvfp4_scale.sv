// SPDX-License-Identifier: Apache-2.0
// Scale of an NVFP4 block for ng_quantize_4over6: RNE to UE4M3 of amax / (Largest g), at most 448,
// and its product with g, exact. The algorithm is that of ng_quantize_nvfp4 with TinyScales = 0,
// whose header derives it; M is s instead of 3 s for Largest = 4.
//
//   scale_o   7'h7E at most, 8'h7F if amax_i is no number or g_bad_i
//   live_o    scale_o is neither 0 nor NaN
//   s_o       (8 + factor_o) g_sig_i, factor_o below 8: scale times g is s_o 2^(s_exp_o - 127 - 26)
//
// Under a scale of 0 whose amax is at least 2^-126, s_o and s_exp_o are those of the least scale,
// 2^-9.
//
// Width argument: A is below 2^8, M below 3 * 2^24 and T M below 31 * 3 * 2^24 < 2^31; s_o is below
// 16 * 2^24. Exponents: of amax 0 to 255, of g 16 to 254 where it is not bad: differences have 10
// bits with sign.
//
// Cut: behind the estimate f.
module ng_nvfp4_scale #(
  parameter int Largest = 6,  // 6 or 4
  parameter bit Cut     = 1'b0
) (
  input  logic              clk_i,  // clock of the cut
  input  logic              en_i,   // enable of the cut
  input  logic       [14:0] amax_i,   // a BF16 code
  input  logic       [23:0] g_sig_i,
  input  logic       [7:0]  g_exp_i,  // biased
  input  logic              g_bad_i,
  output logic       [7:0]  scale_o,
  output logic              live_o,
  output logic       [2:0]  factor_o,
  output logic       [27:0] s_o,
  output logic signed [9:0] s_exp_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Largest != 4 && Largest != 6) begin : gen_check_largest
    $fatal(1, "ng_nvfp4_scale: Largest=%0d; expected 4 or 6", Largest);
  end
`endif

  // ---- A and M, the exponent of the scale
  logic       [25:0] divisor;
  logic              m_top, above, nan;
  logic       [7:0]  m_byte, a_sig;
  logic       [6:0]  m_high;
  logic signed [9:0] exponent;  // of the scale: 0 is that of the least normal ones
  logic       [8:0]  a_wide;    // of m_byte, from 1 on
  if (Largest == 6) begin : gen_six
    assign divisor = {2'b0, g_sig_i} + {1'b0, g_sig_i, 1'b0};
  end else begin : gen_four
    assign divisor = {1'b0, g_sig_i, 1'b0};
  end
  assign m_top = divisor[25];
  assign m_byte = m_top ? divisor[25:18] : divisor[24:17];
  assign m_high = {1'b0, m_byte[7:2]} + 7'd1;
  assign a_sig = {amax_i[14:7] != '0, amax_i[6:0]};
  assign above = a_sig >= m_byte;
  assign a_wide = above ? {1'b0, a_sig} : {a_sig, 1'b0};
  assign exponent = $signed({2'b0, amax_i[14:7]}) - $signed({2'b0, g_exp_i})
      + (m_top ? 10'sd2 : 10'sd3) + (above ? 10'sd1 : 10'sd0);
  assign nan = (&amax_i[14:7]) | g_bad_i;

  // ---- f: 2 a_wide / m_high is 8 + f, or just below 8
  logic signed [9:0] rest3, less3;
  logic signed [8:0] rest2, less2, less1;
  logic signed [7:0] rest1;
  logic              frac2, frac1, frac0;
  assign rest3 = $signed({a_wide, 1'b0}) - $signed({m_high, 3'b0});
  assign less3 = rest3 - $signed({1'b0, m_high, 2'b0});
  assign frac2 = ~less3[9];
  assign rest2 = frac2 ? less3[8:0] : rest3[8:0];
  assign less2 = rest2 - $signed({1'b0, m_high, 1'b0});
  assign frac1 = ~less2[8];
  assign rest1 = frac1 ? less2[7:0] : rest2[7:0];
  assign less1 = 9'(rest1) - $signed({2'b0, m_high});
  assign frac0 = ~less1[8];

  logic              largest, zero;
  logic signed [4:0] field;  // -4 to 14
  logic        [2:0] f_low;
  assign largest = ~exponent[9] & ((|exponent[8:4]) | (&exponent[3:0])
      | ((&exponent[3:1]) & frac2 & frac1));
  assign zero = ~a_sig[7] | (exponent[9] & ~(&exponent[8:2]));
  assign field = zero ? -5'sd4 : largest ? 5'sd14 : exponent[4:0];
  assign f_low = largest ? 3'd6 : {frac2, frac1, frac0};

  logic        [23:0] g_sig_q;
  logic        [7:0]  g_exp_q;
  logic        [25:0] divisor_q;
  logic        [8:0]  a_wide_q;
  logic        [2:0]  frac_q;
  logic signed [4:0]  field_q;
  logic               largest_q, zero_q, nan_q;
  ng_cut #(
    .Width (78),
    .Enable(Cut ? 1 : 0)
  ) u_cut (
    .clk_i,
    .en_i,
    .d_i  ({g_sig_i, g_exp_i, divisor, a_wide, f_low, field, largest, zero, nan}),
    .q_o  ({g_sig_q, g_exp_q, divisor_q, a_wide_q, frac_q, field_q, largest_q, zero_q, nan_q})
  );

  ng_nvfp4_scale_round u_round (
    .g_sig_i  (g_sig_q),
    .g_exp_i  ($signed({2'b0, g_exp_q})),
    .divisor_i(divisor_q),
    .a_wide_i (a_wide_q),
    .frac_i   (frac_q),
    .field_i  (field_q),
    .largest_i(largest_q),
    .zero_i   (zero_q),
    .nan_i    (nan_q),
    .scale_o,
    .live_o,
    .factor_o,
    .s_o,
    .s_exp_o
  );

  logic unused;
  assign unused = ^{divisor[16:0], less1[7:0]};
endmodule
