// SPDX-License-Identifier: Apache-2.0
//
// Quantizes a block of 16 BF16 numbers to NVFP4, four over six: of the scales under which the
// block's largest number becomes 6 or 4, the one with the smaller sum of absolute errors, 6 where
// they are equal. The exact rule of the dialect `narrowgauge` with search=mae (docs/dialects.md):
// every quotient rounded to nearest even, errors and their sums not rounded at all.
//
//   scale_o   RNE to UE4M3 of amax / (6 g) or amax / (4 g), at most 448; g = tensor_scale_i
//   codes_o   RNE to E2M1 of x / (scale g), at most 6; all zero, signs too, where the scale is zero
//   a NaN or an infinity in the block, or a g that is not finite and at least 2^-111: scale NaN
//   (8'h7F), codes zero
//
// Scales are ng_nvfp4_scale's, codes ng_quantize_4over6_lane's. Errors are not made one by one.
// With q the number of a code and a = -1 where q s g is above |x|, 1 else, the error is a |x| - a q
// s g, so that
//
//   errors under 4 - errors under 6 = 2 V - g T
//     V = sum of (a4 - a6) / 2 |x|, each -|x|, 0 or |x|
//     T = s4 W4 - s6 W6,  W = sum of a q
//
// and 4 is taken if the scales differ and 2 V < g T. Where they differ, s4 / s6 is above 1 and at
// most 2 (or s6 is 0), and |x| <= 9 s6 g. Where a4 and a6 differ, |x| is at least s6 g / 4 and, if
// it is 8 s6 g and more, they do not, as s4 is 2 s6 then: so V is a sum of significands shifted by
// 0 to 5. Under a scale s6 of 0 the place of x is that under s4, the least scale.
//
// Width argument: |x| in V is below 2^8 * 2^5, 13 bits, V below 2^17. q is at most 12 halves, W 192
// of them. With s6 = F6 2^e and s4 = F4 2^(e+delta), F from 8 to 15 and delta 0 or 1, T is at most
// 45 * 192 < 2^14 in units of 2^e / 2, and its product with g is below 2^38. With S6 = F6 times the
// significand of g, from 2^26 to 2^28, a unit of V is 2^18 of g T, 2^19 if S6 has bit 27; twice
// that for 2 V.
//
// Cuts (docs/cuts.md): bit 0 behind the maximum, 1 inside the scales, 2 behind them, 3 behind the
// bounds, 4 behind the candidates, 5 behind the sums, 6 behind T, 7 behind the choice.
module ng_quantize_4over6 #(
  // registers: 1 amax + 2 estimate + 4 scales + 8 bounds + 16 candidates + 32 sums + 64 balance +
  // 128 codes
  parameter int Cuts = 0
) (
  input  logic         clk_i,  // clock of the cuts
  input  logic         en_i,   // enable of the cuts
  input  logic [255:0] a_i,
  input  logic [31:0]  tensor_scale_i,
  output logic [63:0]  codes_o,
  output logic [7:0]   scale_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Cuts < 0 || Cuts > 255) begin : gen_check_cuts
    $fatal(1, "ng_quantize_4over6: Cuts=%0d; expected 0 to 255", Cuts);
  end
`endif

  // ---- maximum
  logic [14:0] amax, amax_q;
  logic        g_bad, g_bad_q;
  ng_amax #(
    .Lanes(16),
    .Width(16)
  ) u_amax (
    .a_i,
    .amax_o(amax)
  );
  assign g_bad = tensor_scale_i[31] | (&tensor_scale_i[30:23]) | ~(|tensor_scale_i[30:27]);

  logic [255:0] block_q, block_qq, block_qqq, block_qqqq;
  logic [30:0]  tensor_q;
  logic [22:0]  g_qq, g_qqq, g_qqqq, g_qqqqq, g_qqqqqq, g_qqqqqqq;  // its fraction
  ng_cut #(
    .Width (303),
    .Enable(Cuts & ng_quant_pkg::FourSixCutAmax)
  ) u_cut_amax (
    .clk_i,
    .en_i,
    .d_i  ({a_i, amax, tensor_scale_i[30:0], g_bad}),
    .q_o  ({block_q, amax_q, tensor_q, g_bad_q})
  );
  ng_cut #(
    .Width (279),
    .Enable(Cuts & ng_quant_pkg::FourSixCutEstimate)
  ) u_cut_estimate (
    .clk_i,
    .en_i,
    .d_i  ({block_q, tensor_q[22:0]}),
    .q_o  ({block_qq, g_qq})
  );
  ng_cut #(
    .Width (279),
    .Enable(Cuts & ng_quant_pkg::FourSixCutScales)
  ) u_cut_scales (
    .clk_i,
    .en_i,
    .d_i  ({block_qq, g_qq}),
    .q_o  ({block_qqq, g_qqq})
  );
  ng_cut #(
    .Width (279),
    .Enable(Cuts & ng_quant_pkg::FourSixCutBounds)
  ) u_cut_bounds (
    .clk_i,
    .en_i,
    .d_i  ({block_qqq, g_qqq}),
    .q_o  ({block_qqqq, g_qqqq})
  );

  // ---- both scales, and what elements are compared with
  for (genvar c = 0; c < 2; c++) begin : gen_scale  // 6, 4
    logic              live, live_q, live_qq;
    logic        [2:0] factor, factor_q, factor_qq, halved, halved_q;
    logic        [7:0] scale, scale_q, scale_qq;
    logic       [27:0] sig, sig_q, sig1;
    logic signed [9:0] s_exp, s_exp_q;
    logic              odd_q;  // of s_exp
    ng_nvfp4_scale #(
      .Largest(c == 0 ? 6 : 4),
      .Cut    ((Cuts & ng_quant_pkg::FourSixCutEstimate) != 0)
    ) u_scale (
      .clk_i,
      .en_i,
      .amax_i  (amax_q),
      .g_sig_i ({1'b1, tensor_q[22:0]}),
      .g_exp_i (tensor_q[30:23]),
      .g_bad_i (g_bad_q),
      .scale_o (scale),
      .live_o  (live),
      .factor_o(factor),
      .s_o     (sig),
      .s_exp_o (s_exp)
    );
    ng_cut #(
      .Width (50),
      .Enable(Cuts & ng_quant_pkg::FourSixCutScales)
    ) u_cut_scale (
      .clk_i,
      .en_i,
      .d_i  ({live, factor, scale, sig, s_exp}),
      .q_o  ({live_q, factor_q, scale_q, sig_q, s_exp_q})
    );

    // Bounds that an equal number is above are taken lower by one.
    logic        [30:0] sig3, sig5, sig7;
    logic        [27:0] bounds_n, bounds_nq;
    logic signed [9:0]  least;  // 3 less the exponent
    logic        [8:0]  least_q;
    logic               top_q;
    assign sig1 = sig_q[27] ? sig_q : {sig_q[26:0], 1'b0};
    assign least = (sig_q[27] ? 10'sd2 : 10'sd3) - s_exp_q;
    assign sig3 = {1'b0, sig1, 2'b0} + {3'b111, ~sig1};
    assign sig5 = {1'b0, sig1, 2'b0} + {3'b0, sig1};
    assign sig7 = {sig1, 3'b0} + {3'b111, ~sig1};
    assign halved = {sig7[30], sig3[29], sig5[30]};
    assign bounds_n = ~{sig7[30] ? sig7[29:23] : sig7[28:22], sig3[29] ? sig3[28:22] : sig3[27:21],
                        sig5[30] ? sig5[29:23] : sig5[28:22], sig1[26:20]};
    ng_cut #(
      .Width (54),
      .Enable(Cuts & ng_quant_pkg::FourSixCutBounds)
    ) u_cut_bound (
      .clk_i,
      .en_i,
      .d_i  ({live_q, factor_q, scale_q, halved, bounds_n, least[8:0], s_exp_q[0], sig_q[27]}),
      .q_o  ({live_qq, factor_qq, scale_qq, halved_q, bounds_nq, least_q, odd_q, top_q})
    );
    logic unused;
    // the last of 4 only
    assign unused = ^{least[9], sig3[30], sig3[20:0], sig5[21:0], sig7[21:0], live_qq, least_q[8:1],
        top_q};
  end

  logic farther, delta, top;  // the exponent of s4 g above that of s6 g by one; that of its F4
  assign farther = gen_scale[0].least_q[0] ^ gen_scale[1].least_q[0];
  assign delta = gen_scale[0].odd_q ^ gen_scale[1].odd_q;
  assign top = gen_scale[0].top_q;

  // ---- candidates
  logic [303:0] elements, elements_q;  // sign, codes, whether they are above, place, fraction
  for (genvar i = 0; i < 16; i++) begin : gen_candidate
    logic [15:0] element;
    logic [8:0]  distance;
    logic [2:0]  place, place4, code6, code4;
    logic        above6, above4, less;
    assign element = block_qqqq[16*i +: 16];
    assign distance = {1'b0, element[14:7]} + gen_scale[0].least_q;
    assign place = distance[8] ? 3'd0 : distance[2:0] | {3{|distance[7:3]}};
    assign less = farther & (place != 3'd0);
    assign place4 = {place[2] & (~less | place[1] | place[0]), place[1] ^ (less & ~place[0]),
        place[0] ^ less};
    ng_quantize_4over6_lane u_six (
      .man_i   (element[6:0]),
      .place_i (place),
      .bounds_n(gen_scale[0].bounds_nq),
      .halved_i(gen_scale[0].halved_q),
      .code_o  (code6),
      .above_o (above6)
    );
    ng_quantize_4over6_lane u_four (
      .man_i   (element[6:0]),
      .place_i (place4),
      .bounds_n(gen_scale[1].bounds_nq),
      .halved_i(gen_scale[1].halved_q),
      .code_o  (code4),
      .above_o (above4)
    );
    assign elements[19*i +: 19] = {element[15], code6, code4, above6, above4, place, element[6:0]};
  end

  logic [7:0] scale6_q, scale4_q;
  logic       live6_q, delta_q, top_q, differ_q;
  logic [2:0] factor6_q, factor4_q;
  ng_cut #(
    .Width (353),
    .Enable(Cuts & ng_quant_pkg::FourSixCutCandidates)
  ) u_cut_candidates (
    .clk_i,
    .en_i,
    .d_i  ({elements, g_qqqq, gen_scale[0].scale_qq, gen_scale[1].scale_qq, gen_scale[0].live_qq,
        delta, top,
            gen_scale[0].scale_qq != gen_scale[1].scale_qq, gen_scale[0].factor_qq,
                gen_scale[1].factor_qq}),
    .q_o  ({elements_q, g_qqqqq, scale6_q, scale4_q, live6_q, delta_q, top_q, differ_q, factor6_q,
        factor4_q})
  );

  // ---- V, W6, W4; a code of 0 is never above
  // a q in halves, less 1 if above
  function automatic logic [4:0] weight_of(input logic [2:0] code, input logic above);
    weight_of = {1'b0, code[2] & code[1], code[2] & (~code[1] | code[0]), code[2]
        ? ~code[1] & code[0] : code[1],
                 ~code[2] & code[0]} ^ {5{above}};
  endfunction

  logic [223:0] terms;
  logic [79:0]  weights6, weights4;
  logic [111:0] both, both_q, both_qq;  // sign and codes
  logic [15:0]  minus, above6, above4;  // terms lack 1
  for (genvar i = 0; i < 16; i++) begin : gen_term
    logic [6:0]  man;
    logic [2:0]  place;
    logic        six;
    logic [8:0]  shifted1;
    logic [10:0] shifted2;
    logic [14:0] shifted4;
    assign {both[7*i +: 7], above6[i], above4[i], place, man} = elements_q[19*i +: 19];
    assign six = above6[i] & live6_q;
    assign minus[i] = above4[i] & ~six;
    // Places 0 and 7 are of terms that are zero.
    assign shifted1 = (place[0] ? {1'b1, man, 1'b0} : {2'b01, man}) & {9{above4[i] ^ six}};
    assign shifted2 = place[1] ? {shifted1, 2'b0} : {2'b0, shifted1};
    assign shifted4 = place[2] ? {shifted2, 4'b0} : {4'b0, shifted2};
    assign terms[14*i +: 14] = {1'b0, shifted4[13:1]} ^ {14{minus[i]}};
    assign weights6[5*i +: 5] = weight_of(both[7*i+3 +: 3], above6[i]);
    assign weights4[5*i +: 5] = weight_of(both[7*i +: 3], above4[i]);
    logic unused;
    assign unused = ^{shifted4[14], shifted4[0]};
  end

  logic signed [17:0] v_tree, v_sum, v_sum_q, v_qq;
  logic signed [8:0]  w6_tree, w4_tree, w6_sum, w4_sum, w6_sum_q, w4_sum_q;
  ng_sum_tree #(
    .Operands(16),
    .Width   (14)
  ) u_v (
    .x_i    (terms),
    .carry_i(minus[14:0]),
    .sum_o  (v_tree)
  );
  ng_sum_tree #(
    .Operands(16),
    .Width   (5)
  ) u_w6 (
    .x_i    (weights6),
    .carry_i(above6[14:0]),
    .sum_o  (w6_tree)
  );
  ng_sum_tree #(
    .Operands(16),
    .Width   (5)
  ) u_w4 (
    .x_i    (weights4),
    .carry_i(above4[14:0]),
    .sum_o  (w4_tree)
  );
  assign v_sum = v_tree + $signed({17'b0, minus[15]});
  assign w6_sum = w6_tree + $signed({8'b0, above6[15]});
  assign w4_sum = w4_tree + $signed({8'b0, above4[15]});

  logic [7:0] scale6_qq, scale4_qq, scale6_qqq, scale4_qqq;
  logic       live6_qq, live6_qqq, delta_qq, top_qq, top_qqq, differ_qq, differ_qqq;
  logic [2:0] factor6_qq, factor4_qq;
  ng_cut #(
    .Width (197),
    .Enable(Cuts & ng_quant_pkg::FourSixCutSums)
  ) u_cut_sums (
    .clk_i,
    .en_i,
    .d_i  ({both, g_qqqqq, scale6_q, scale4_q, live6_q, delta_q, top_q, differ_q, factor6_q,
        factor4_q, v_sum, w6_sum, w4_sum}),
    .q_o  ({both_q, g_qqqqqq, scale6_qq, scale4_qq, live6_qq, delta_qq, top_qq, differ_qq,
        factor6_qq, factor4_qq, v_sum_q, w6_sum_q, w4_sum_q})
  );

  // ---- T
  logic signed [12:0] t6_term, t4_term;
  logic signed [14:0] t_term, t_term_q;
  ng_row_product #(
    .AWidth(4),
    .BWidth(9)
  ) u_t6 (
    .a_i      ({1'b1, factor6_qq} & {4{live6_qq}}),
    .b_i      (w6_sum_q),
    .product_o(t6_term)
  );
  ng_row_product #(
    .AWidth(4),
    .BWidth(9)
  ) u_t4 (
    .a_i      ({1'b1, factor4_qq}),
    .b_i      (w4_sum_q),
    .product_o(t4_term)
  );
  assign t_term = (delta_qq ? {t4_term[12], t4_term, 1'b0} : {{2{t4_term[12]}}, t4_term})
      - 15'(t6_term);
  ng_cut #(
    .Width (187),
    .Enable(Cuts & ng_quant_pkg::FourSixCutBalance)
  ) u_cut_balance (
    .clk_i,
    .en_i,
    .d_i  ({both_q, g_qqqqqq, scale6_qq, scale4_qq, live6_qq, top_qq, differ_qq, v_sum_q, t_term}),
    .q_o  ({both_qq, g_qqqqqqq, scale6_qqq, scale4_qqq, live6_qqq, top_qqq, differ_qqq, v_qq,
        t_term_q})
  );

  // ---- 2 V < g T?
  logic signed [38:0] g_t;
  logic        [19:0] v_high;
  logic        [38:0] unused_difference;
  logic               less, four, live;
  ng_row_product #(
    .AWidth(24),
    .BWidth(15)
  ) u_g_t (
    .a_i      ({1'b1, g_qqqqqqq}),
    .b_i      (t_term_q),
    .product_o(g_t)
  );
  assign v_high = top_qqq ? {v_qq[17], v_qq, 1'b0} : {{2{v_qq[17]}}, v_qq};
  assign {less, unused_difference} = {1'b0, ~g_t[38], g_t[37:0]}
      + {1'b0, v_high[19], ~v_high[18:0], {19{1'b1}}};
  assign four = differ_qqq & less;
  assign live = four | live6_qqq;

  logic [63:0] codes;
  for (genvar i = 0; i < 16; i++) begin : gen_code
    assign codes[4*i +: 4] = {both_qq[7*i+6], four ? both_qq[7*i +: 3] : both_qq[7*i+3 +: 3]}
        & {4{live}};
  end
  ng_cut #(
    .Width (72),
    .Enable(Cuts & ng_quant_pkg::FourSixCutCodes)
  ) u_cut_codes (
    .clk_i,
    .en_i,
    .d_i  ({codes, four ? scale4_qqq : scale6_qqq}),
    .q_o  ({codes_o, scale_o})
  );
endmodule
