// SPDX-License-Identifier: Apache-2.0
//
// Quantizes a block of 16 BF16 numbers to NVFP4: an E4M3 scale and 16 E2M1 codes, by the exact rule
// of the dialect `narrowgauge` (docs/dialects.md), each quotient rounded to nearest even. Nothing
// is divided but eight bits by six.
//
//   scale_o   RNE to UE4M3 of amax / (6 g), at most 448; g = tensor_scale_i
//   codes_o   RNE to E2M1 of x / (scale g), at most 6; all zero, signs too, where the scale is zero
//   a NaN or an infinity in the block, or a g that is not finite and positive (TinyScales = 0: not
//   finite and at least 2^-111): scale NaN (8'h7F), codes zero
//
// Scale. A is the significand of amax, s that of g (24 bits), M = 3 s that of 6 g, A doubled if six
// bits of it are below those of M; so q = A / M is in [1, 2), or below 1 but above 31/32, where six
// bits are equal. Such a q rounds to 1, and its double to 2, which is 1 in the next binade. M cut
// to six bits, plus one, is too large by less than 1/32: the quotient of 8 A by that, rounded down
// to 8 + f, is too small by less than 1/2. So with d bits fewer in a subnormal scale,
// 0 to 4, the result is N or N + 1, N = (8 + f) >> d, and the midpoint between both, as an odd
// multiple of 2^d, is a number T of five bits: 16 q is compared with T, exactly, as 16 A with T M.
// The factor of s is then 8 to 16, whatever d is: 16 is 8 and the next binade.
//
// Elements. |x| is compared with seven thresholds, the midpoints of E2M1 times scale times g. They
// belong to the block, not to the element, so they are rounded to BF16 there, and each comparison
// is one of two 15-bit integers. S is the significand of scale times g; with midpoints in quarters,
// ties down are |x| > floor(S), floor(5 S), and ties up |x| >= 3 S, 7 S, that is |x| > floor(3 S -
// 1), floor(7 S - 1); 10, 14 and 20 are 5, 7 and 5 in the next binades.
//
// Width argument: s is below 2^24, M below 3 * 2^24 and T M below 31 * 3 * 2^24 < 2^31. The factor
// of s is at most 15, S below 2^28, 7 S below 2^31. Exponents: of amax -6 to 254, of g -22 to 254
// (biased, normalized), so differences have 10 bits with sign. A threshold is at most 5 S <= 5/3
// amax: its biased exponent is at most 255.
//
// TinyScales = 0 spares what only tensor scales below 2^-115 need: normalizing subnormal g and
// amax, and subnormal thresholds.
//
// Cuts (docs/cuts.md): bit 0 behind the maximum, 1 behind f, 2 behind the scale and S, 3 behind the
// thresholds, 4 behind the codes.
module ng_quantize_nvfp4 #(
  parameter bit TinyScales = 1'b1,  // 0: tensor scales below 2^-111 are refused
  // registers: 1 amax + 2 estimate + 4 scale + 8 thresholds + 16 codes
  parameter int Cuts       = 0
) (
  input  logic         clk_i,  // clock of the cuts
  input  logic         en_i,   // enable of the cuts
  input  logic [255:0] a_i,
  input  logic [31:0]  tensor_scale_i,
  output logic [63:0]  codes_o,
  output logic [7:0]   scale_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Cuts < 0 || Cuts > 31) begin : gen_check_cuts
    $fatal(1, "ng_quantize_nvfp4: Cuts=%0d; expected 0 to 31", Cuts);
  end
`endif

  // ---- maximum; beside it, what depends on the tensor only
  logic [14:0] amax;
  ng_amax #(
    .Lanes(16),
    .Width(16)
  ) u_amax (
    .a_i,
    .amax_o(amax)
  );

  logic               g_bad;
  logic        [23:0] g_sig;
  logic signed [9:0]  g_exp;  // biased
  if (TinyScales) begin : gen_tiny
    logic       normal, unused_sticky;
    logic [4:0] shift;
    assign normal = tensor_scale_i[30:23] != '0;
    ng_normalize #(
      .Width   (24),
      .OutWidth(24)
    ) u_normalize (
      .clk_i   (1'b0),
      .en_i    (1'b0),
      .data_i  ({normal, tensor_scale_i[22:0]}),
      .fill_i  (1'b0),
      .sig_o   (g_sig),
      .sticky_o(unused_sticky),
      .shift_o (shift)
    );
    assign g_exp = $signed({2'b0, tensor_scale_i[30:24], tensor_scale_i[23] | ~normal})
        - $signed({5'b0, shift});
    assign g_bad = tensor_scale_i[31] | (&tensor_scale_i[30:23]) | ~g_sig[23];
  end else begin : gen_normal
    assign g_sig = {1'b1, tensor_scale_i[22:0]};
    assign g_exp = $signed({2'b0, tensor_scale_i[30:23]});
    assign g_bad = tensor_scale_i[31] | (&tensor_scale_i[30:23]) | ~(|tensor_scale_i[30:27]);
  end

  logic [255:0]      block_q;
  logic [14:0]       amax_q;
  logic [23:0]       g_sig_q;
  logic signed [9:0] g_exp_q;
  logic              g_bad_q;
  ng_cut #(
    .Width (306),
    .Enable(Cuts & ng_quant_pkg::Nvfp4CutAmax)
  ) u_cut_amax (
    .clk_i,
    .en_i,
    .d_i  ({a_i, amax, g_sig, g_exp, g_bad}),
    .q_o  ({block_q, amax_q, g_sig_q, g_exp_q, g_bad_q})
  );

  // ---- A and M, the exponent of the scale
  logic        [25:0] divisor;  // 3 s
  logic               m_top;
  logic        [5:0]  m_six;
  logic        [6:0]  m_high;
  assign divisor = {2'b0, g_sig_q} + {1'b0, g_sig_q, 1'b0};
  assign m_top = divisor[25];
  assign m_six = m_top ? divisor[25:20] : divisor[24:19];
  assign m_high = {1'b0, m_six} + 7'd1;

  logic               above, nan;
  logic        [7:0]  a_sig;
  logic signed [9:0]  a_exp, exponent;  // of the scale: 0 is that of the least normal ones
  logic        [8:0]  a_wide;           // A, or its double
  if (TinyScales) begin : gen_a_tiny
    logic       normal, unused_sticky;
    logic [2:0] shift;
    assign normal = amax_q[14:7] != '0;
    ng_normalize #(
      .Width   (8),
      .OutWidth(8)
    ) u_normalize (
      .clk_i   (1'b0),
      .en_i    (1'b0),
      .data_i  ({normal, amax_q[6:0]}),
      .fill_i  (1'b0),
      .sig_o   (a_sig),
      .sticky_o(unused_sticky),
      .shift_o (shift)
    );
    assign a_exp = $signed({2'b0, amax_q[14:8], amax_q[7] | ~normal}) - $signed({7'b0, shift});
  end else begin : gen_a_normal
    assign a_sig = {amax_q[14:7] != '0, amax_q[6:0]};
    assign a_exp = $signed({2'b0, amax_q[14:7]});
  end
  assign above = a_sig[7:2] >= m_six;
  assign a_wide = above ? {1'b0, a_sig} : {a_sig, 1'b0};
  assign exponent = a_exp - g_exp_q + (m_top ? 10'sd2 : 10'sd3) + (above ? 10'sd1 : 10'sd0);
  assign nan = (&amax_q[14:7]) | g_bad_q;

  // ---- f: 2 a_wide / m_high is 8 + f, or just below 8
  logic signed [9:0] rest3;
  logic signed [8:0] rest2;
  logic signed [7:0] rest1;
  logic              frac2, frac1, frac0;
  logic signed [9:0] less3;
  logic signed [8:0] less2;
  logic signed [8:0] less1;
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
  assign field = largest ? 5'sd14 : exponent[4:0];
  assign f_low = largest ? 3'd6 : {frac2, frac1, frac0};

  logic        [255:0] block_qq;
  logic        [23:0]  g_sig_qq;
  logic        [25:0]  divisor_q;
  logic signed [9:0]   g_exp_qq;
  logic        [8:0]   a_wide_q;
  logic        [2:0]   frac_q;
  logic signed [4:0]   field_q;
  logic                largest_q, zero_q, nan_q;
  ng_cut #(
    .Width (336),
    .Enable(Cuts & ng_quant_pkg::Nvfp4CutEstimate)
  ) u_cut_estimate (
    .clk_i,
    .en_i,
    .d_i  ({block_q, g_sig_q, divisor, g_exp_q, a_wide, f_low, field, largest, zero, nan}),
    .q_o  ({block_qq, g_sig_qq, divisor_q, g_exp_qq, a_wide_q, frac_q, field_q, largest_q, zero_q,
        nan_q})
  );

  // ---- the scale, and S
  logic              live;
  logic        [7:0] scale;
  logic       [27:0] scaled;
  logic signed [9:0] s_exp;
  logic        [2:0] unused_factor;
  ng_nvfp4_scale_round u_round (
    .g_sig_i  (g_sig_qq),
    .g_exp_i  (g_exp_qq),
    .divisor_i(divisor_q),
    .a_wide_i (a_wide_q),
    .frac_i   (frac_q),
    .field_i  (field_q),
    .largest_i(largest_q),
    .zero_i   (zero_q),
    .nan_i    (nan_q),
    .scale_o  (scale),
    .live_o   (live),
    .factor_o (unused_factor),
    .s_o      (scaled),
    .s_exp_o  (s_exp)
  );

  logic        [255:0] block_qqq;
  logic        [27:0]  scaled_q;
  logic signed [9:0]   s_exp_q;
  logic        [7:0]   scale_q;
  logic                live_q;
  ng_cut #(
    .Width (303),
    .Enable(Cuts & ng_quant_pkg::Nvfp4CutScale)
  ) u_cut_scale (
    .clk_i,
    .en_i,
    .d_i  ({block_qq, scaled, s_exp, scale, live}),
    .q_o  ({block_qqq, scaled_q, s_exp_q, scale_q, live_q})
  );

  // ---- thresholds, inverted
  logic        [27:0] scaled1;
  logic signed [9:0]  base;
  assign scaled1 = scaled_q[27] ? scaled_q : {scaled_q[26:0], 1'b0};
  assign base = s_exp_q + (scaled_q[27] ? 10'sd1 : 10'sd0);

  logic [30:0] scaled3, scaled5, scaled7;
  assign scaled3 = {1'b0, scaled1, 2'b0} + {3'b111, ~scaled1};
  assign scaled5 = {1'b0, scaled1, 2'b0} + {3'b0, scaled1};
  assign scaled7 = {scaled1, 3'b0} + {3'b111, ~scaled1};

  // The code of the BF16 number sig/128 * 2^(biased - 127), rounded down.
  function automatic logic [14:0] code_of(input logic signed [9:0] biased, input logic [7:0] sig);
    logic signed [9:0] right;
    right = 10'sd1 - biased;
    code_of = !TinyScales || biased > 10'sd0 ? {biased[7:0], sig[6:0]}
                                                 : {7'b0, right > 10'sd7 ? 8'b0
                                                 : sig >> right[2:0]};
  endfunction

  logic        [7:0]   sig3, sig5, sig7;
  logic signed [9:0]   exp3, exp5, exp7;
  logic        [104:0] below, below_q;  // the seven thresholds, inverted
  assign sig3 = scaled3[29] ? scaled3[29:22] : scaled3[28:21];
  assign sig5 = scaled5[30] ? scaled5[30:23] : scaled5[29:22];
  assign sig7 = scaled7[30] ? scaled7[30:23] : scaled7[29:22];
  assign exp3 = base - (scaled3[29] ? 10'sd0 : 10'sd1);
  assign exp5 = base + (scaled5[30] ? 10'sd1 : 10'sd0);
  assign exp7 = base + (scaled7[30] ? 10'sd1 : 10'sd0);
  assign below = ~{code_of(exp5 + 10'sd2, sig5), code_of(exp7 + 10'sd1, sig7),
      code_of(exp5 + 10'sd1, sig5),
                   code_of(exp7, sig7), code_of(exp5, sig5), code_of(exp3, sig3),
                       code_of(base - 10'sd2, scaled1[27:20])};

  logic [255:0] block_qqqq;
  logic [7:0]   scale_qq;
  logic         live_qq;
  ng_cut #(
    .Width (370),
    .Enable(Cuts & ng_quant_pkg::Nvfp4CutThresholds)
  ) u_cut_thresholds (
    .clk_i,
    .en_i,
    .d_i  ({block_qqq, below, scale_q, live_q}),
    .q_o  ({block_qqqq, below_q, scale_qq, live_qq})
  );

  // ---- codes
  logic [63:0] codes;
  for (genvar i = 0; i < 16; i++) begin : gen_lane
    logic [15:0] element;
    logic [6:0]  over;
    assign element = block_qqqq[16*i +: 16];
    for (genvar k = 0; k < 7; k++) begin : gen_threshold
      // |x| > threshold is the carry of |x| + ~threshold: no bit of the sum, so carry cells and no
      // LUT.
      logic [14:0] unused_sum;
      assign {over[k], unused_sum} = {1'b0, element[14:0]} + {1'b0, below_q[15*k +: 15]};
    end
    assign codes[4*i +: 4] = {
        live_qq & element[15],
        live_qq & over[3],
        live_qq & (over[3] ? over[5] : over[1]),
        live_qq & ((over[0] & ~over[1]) | (over[2] & ~over[3]) | (over[4] & ~over[5]) | over[6])};
  end

  ng_cut #(
    .Width (72),
    .Enable(Cuts & ng_quant_pkg::Nvfp4CutCodes)
  ) u_cut_codes (
    .clk_i,
    .en_i,
    .d_i  ({codes, scale_qq}),
    .q_o  ({codes_o, scale_o})
  );

  logic unused;
  assign unused = ^{divisor[18:0], less1[7:0], scaled3[30], scaled3[20:0], scaled5[21:0],
      scaled7[21:0]};
endmodule
