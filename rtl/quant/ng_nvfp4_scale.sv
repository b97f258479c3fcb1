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
  parameter int Cut     = 0
) (
  input  logic              clk_i,  // this and en_i: of the cut
  input  logic              en_i,
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
`ifndef __ICARUS__ // which has no elaboration tasks
  if (Largest != 4 && Largest != 6) begin : gen_check_largest
    $fatal(1, "ng_nvfp4_scale: Largest=%0d; expected 4 or 6", Largest);
  end
`endif

  // ---- A and M, the exponent of the scale
  logic       [25:0] m;
  logic              m_top, above, nan;
  logic       [7:0]  m_byte, a_sig;
  logic       [6:0]  m_high;
  logic signed [9:0] exponent;  // of the scale: 0 is that of the least normal ones
  logic       [8:0]  a_wide;    // of m_byte, from 1 on
  if (Largest == 6) begin : gen_six
    assign m = {2'b0, g_sig_i} + {1'b0, g_sig_i, 1'b0};
  end else begin : gen_four
    assign m = {1'b0, g_sig_i, 1'b0};
  end
  assign m_top = m[25];
  assign m_byte = m_top ? m[25:18] : m[24:17];
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
  logic              f2, f1, f0;
  assign rest3 = $signed({a_wide, 1'b0}) - $signed({m_high, 3'b0});
  assign less3 = rest3 - $signed({1'b0, m_high, 2'b0});
  assign f2 = ~less3[9];
  assign rest2 = f2 ? less3[8:0] : rest3[8:0];
  assign less2 = rest2 - $signed({1'b0, m_high, 1'b0});
  assign f1 = ~less2[8];
  assign rest1 = f1 ? less2[7:0] : rest2[7:0];
  assign less1 = 9'(rest1) - $signed({2'b0, m_high});
  assign f0 = ~less1[8];

  logic              largest, zero;
  logic signed [4:0] field;  // -4 to 14
  logic        [2:0] f_low;
  assign largest = ~exponent[9] & ((|exponent[8:4]) | (&exponent[3:0])
      | ((&exponent[3:1]) & f2 & f1));
  assign zero = ~a_sig[7] | (exponent[9] & ~(&exponent[8:2]));
  assign field = zero ? -5'sd4 : largest ? 5'sd14 : exponent[4:0];
  assign f_low = largest ? 3'd6 : {f2, f1, f0};

  logic        [23:0] g_sig_q;
  logic        [7:0]  g_exp_q;
  logic        [25:0] m_q;
  logic        [8:0]  a_wide_q;
  logic        [2:0]  f_q;
  logic signed [4:0]  field_q;
  logic               largest_q, zero_q, nan_q;
  ng_cut #(
    .Width (78),
    .Enable(Cut)
  ) u_cut (
    .clk_i(clk_i),
    .en_i (en_i),
    .d_i  ({g_sig_i, g_exp_i, m, a_wide, f_low, field, largest, zero, nan}),
    .q_o  ({g_sig_q, g_exp_q, m_q, a_wide_q, f_q, field_q, largest_q, zero_q, nan_q})
  );

  // ---- N or N + 1
  logic [3:0] t;       // the midpoint is 16 + t
  logic [3:0] n_low;   // N
  logic [3:0] n_unit;  // 2^d; 0 for 16
  always_comb begin
    t = {f_q, 1'b1};
    n_low = {1'b1, f_q};
    n_unit = 4'd1;
    if (field_q[4]) begin
      unique case (field_q[1:0])
        2'd3: begin t = {f_q[2:1], 2'b10};  n_low = {2'b01, f_q[2:1]}; n_unit = 4'd2; end
        2'd2: begin t = {f_q[2], 3'b100};  n_low = {3'b001, f_q[2]};  n_unit = 4'd4; end
        2'd1: begin t = 4'b1000;              n_low = 4'd1;              n_unit = 4'd8; end
        2'd0: begin t = 4'b0000;              n_low = 4'd0;              n_unit = 4'd0; end
      endcase
    end
  end

  logic [30:0] t_m, left;
  logic        up;
  for (genvar i = 0; i < 4; i++) begin : gen_m
    logic [27+i:0] partial, sum;
    if (i == 0) begin : gen_first
      assign partial = {1'b0, m_q, 1'b0};
    end else begin : gen_next
      assign partial = {gen_m[i-1].sum, 1'b0};
    end
    assign sum = t[3-i] ? partial + (28+i)'(m_q) : partial;
  end
  assign t_m = gen_m[3].sum;
  assign left = m_q[25] ? {a_wide_q, 22'b0} : {1'b0, a_wide_q, 21'b0};
  assign up = ~largest_q & ({t_m, ~n_low[0]} < {left, 1'b1});

  // ---- the scale, and S
  logic carry;
  assign live_o = ~nan_q & ~zero_q & (up | (n_low != '0));
  assign scale_o = nan_q ? 8'h7F : zero_q ? 8'h00
      : {1'b0, field_q[3:0] & {4{~field_q[4]}}, 3'b0} + {4'b0, n_low} + {7'b0, up};
  // 16 is 8 with a carry
  assign {carry, factor_o} = {1'b0, t[3:1] & ~n_unit[3:1]} + (up ? n_unit : 4'd0);

  for (genvar i = 0; i < 3; i++) begin : gen_s
    logic [25+i:0] partial, sum;
    if (i == 0) begin : gen_first
      assign partial = {1'b0, g_sig_q, 1'b0};
    end else begin : gen_next
      assign partial = {gen_s[i-1].sum, 1'b0};
    end
    assign sum = factor_o[2-i] ? partial + (26+i)'(g_sig_q) : partial;
  end
  assign s_o = gen_s[2].sum;
  assign s_exp_o = $signed({2'b0, g_exp_q}) + 10'(field_q)
      - (carry | (n_low == '0) ? 10'sd5 : 10'sd6);

  logic unused;
  assign unused = ^{m[16:0], less1[7:0]};
endmodule
