// SPDX-License-Identifier: Apache-2.0
// Adam with moments in FP8 (arXiv 2409.12517): the first in E4M3, the second in E5M2, each under a
// scale of its tensor; weight, gradient and all arithmetic in FP32. An element in, its new weight
// and moments out. Twin of narrowgauge::fp8_adam.
//
// Every line is one operation, rounded once to nearest even; fma is fused. M and V are the values
//   of the old moments' codes. t = m_gain g;     m = fma(m_decay, M, t)
//   t = v_gain g;     t = t g;     v = fma(v_decay, V, t)
//   new code of m:  E4M3(m_scale m), of v:  E5M2(v_scale v), both saturating
//   s = v / sqrt(v): v times its reciprocal root (ng_rsqrt_fp32); v itself where it is a zero, an
//   infinity or a NaN d = fma(s, root_scale, epsilon);     n = rate m;     q = n / d (ng_div_fp32);
//   new weight = fma(w, keep, -q)
//
// One fused multiply-add does all but root and quotient, an operation a cycle. An element takes 62
// cycles, one more where n has the smaller significand than d, 25 less where n is a zero; subnormal
// numbers take more (v 12, n and d 46) and special ones less. Constants stay as they are while
// ready_o is low.
module ng_fp8_adam (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] gradient_i,    // FP32, as all of 32 bits
  input  logic [31:0] weight_i,
  input  logic [7:0]  m_i,           // E4M3
  input  logic [7:0]  v_i,           // E5M2
  input  logic [31:0] m_decay_i,     // beta1 over the scale of the old codes
  input  logic [31:0] m_gain_i,      // 1 - beta1
  input  logic [31:0] v_decay_i,     // beta2 over the scale of the old codes
  input  logic [31:0] v_gain_i,      // 1 - beta2
  input  logic [31:0] m_scale_i,     // of the new codes
  input  logic [31:0] v_scale_i,
  input  logic [31:0] root_scale_i,  // 1 / sqrt(1 - beta2^t)
  input  logic [31:0] epsilon_i,
  input  logic [31:0] rate_i,        // learning rate / (1 - beta1^t)
  input  logic [31:0] keep_i,        // 1 - learning rate * weight decay
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] weight_o,
  output logic [7:0]  m_o,
  output logic [7:0]  v_o,
  // the new moments before they were rounded to FP8: for their largest magnitudes
  output logic [31:0] m_fp32_o,
  output logic [31:0] v_fp32_o
);
  // added to a product, it keeps the sign of a zero
  localparam logic [31:0] MinusZero = 32'h80000000;

  typedef enum logic [3:0] {
    Idle, GainM, NewM, GainV, Square, NewV, CodeM, CodeV, Rate, Root, Denominator, Divide, Weight,
        Done
  } state_e;
  state_e      state_q;
  logic [31:0] gradient_q;  // the gradient, then n
  logic [31:0] weight_q, term_q, moment_m_q, moment_v_q;
  logic [7:0]  code_m_q, code_v_q;
  assign ready_o = state_q == Idle;
  assign valid_o = state_q == Done;
  assign weight_o = weight_q;
  assign m_o = code_m_q;
  assign v_o = code_v_q;
  assign m_fp32_o = moment_m_q;
  assign v_fp32_o = moment_v_q;

  // ---- values of the old codes, FP32
  logic [31:0] m_value, v_value;
  logic [10:0] m_top;  // exponent and the first bits of the mantissa
  logic [9:0]  v_top;
  assign m_top = (&code_m_q[6:0]) ? {8'd255, 3'd4}
               : (|code_m_q[6:3]) ? {8'd120 + {4'd0, code_m_q[6:3]}, code_m_q[2:0]}
               : code_m_q[2] ? {8'd120, code_m_q[1:0], 1'd0}
               : code_m_q[1] ? {8'd119, code_m_q[0], 2'd0}
               : {code_m_q[0] ? 8'd118 : 8'd0, 3'd0};
  assign v_top = (&code_v_q[6:2]) ? {8'd255, code_v_q[1:0]}
               : (|code_v_q[6:2]) ? {8'd112 + {3'd0, code_v_q[6:2]}, code_v_q[1:0]}
               : code_v_q[1] ? {8'd112, code_v_q[0], 1'd0}
               : {code_v_q[0] ? 8'd111 : 8'd0, 2'd0};
  assign m_value = {code_m_q[7], m_top, 20'd0};
  assign v_value = {code_v_q[7], v_top, 21'd0};

  // ---- root and quotient
  logic        v_plain, root_valid, quotient_valid, unused_root_ready, unused_quotient_ready;
  logic [31:0] root, quotient;
  assign v_plain = (|moment_v_q[30:0]) & ~(&moment_v_q[30:23]);
  ng_rsqrt_fp32 u_rsqrt (
    .clk_i,
    .rst_ni,
    .valid_i(state_q == CodeM),
    .ready_o(unused_root_ready),
    .a_i    (moment_v_q),
    .valid_o(root_valid),
    .ready_i(state_q == Root),
    .y_o    (root)
  );
  ng_div_fp32 u_div (
    .clk_i,
    .rst_ni,
    .valid_i(state_q == Divide),
    .ready_o(unused_quotient_ready),
    .a_i    (gradient_q),
    .b_i    (term_q),
    .valid_o(quotient_valid),
    .ready_i(1'b1),
    .y_o    (quotient)
  );

  // ---- the operation of the state
  logic [31:0] factor_a, factor_b, addend_c, result;
  always_comb begin
    unique case (state_q)
      NewM:                 factor_a = m_value;
      NewV:                 factor_a = v_value;
      CodeM, Rate:          factor_a = moment_m_q;
      CodeV, Root:          factor_a = moment_v_q;
      Denominator:          factor_a = term_q;
      Weight:               factor_a = weight_q;
      default:              factor_a = gradient_q;
    endcase
    unique case (state_q)
      GainM:       factor_b = m_gain_i;
      NewM:        factor_b = m_decay_i;
      GainV:       factor_b = v_gain_i;
      NewV:        factor_b = v_decay_i;
      CodeM:       factor_b = m_scale_i;
      CodeV:       factor_b = v_scale_i;
      Rate:        factor_b = rate_i;
      Root:        factor_b = v_plain ? root : 32'h3F800000;
      Denominator: factor_b = root_scale_i;
      Weight:      factor_b = keep_i;
      default:     factor_b = term_q;
    endcase
    unique case (state_q)
      NewM, NewV:  addend_c = term_q;
      Denominator: addend_c = epsilon_i;
      Weight:      addend_c = {~quotient[31], quotient[30:0]};
      default:     addend_c = MinusZero;
    endcase
  end
  ng_fma_fp32 #(
    .ExpBits(8),
    .ManBits(23)
  ) u_fma (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .a_i   (factor_a),
    .b_i   (factor_b),
    .c_i   (addend_c),
    .fp32_o(result)
  );

  // ---- FP32 to FP8: subnormal FP32 numbers are below both formats' smallest normal ones, so they
  // need no normalizing
  logic              nan, inf;
  logic signed [8:0] exponent;
  logic [23:0]       significand;
  logic [7:0]        m_code, v_code;
  assign nan = (&result[30:23]) & (|result[22:0]);
  assign inf = (&result[30:23]) & ~(|result[22:0]);
  assign exponent = $signed({1'b0, result[30:23]}) - 9'sd127;
  assign significand = {|result[30:23], result[22:0]};
  ng_round_pack #(
    .Bits    (ng_format_pkg::E4M3Bits),
    .Sign    (ng_format_pkg::E4M3Sign),
    .ExpBits (ng_format_pkg::E4M3ExpBits),
    .ManBits (ng_format_pkg::E4M3ManBits),
    .Bias    (ng_format_pkg::E4M3Bias),
    .HasInf  (ng_format_pkg::E4M3HasInf),
    .Nan     (ng_format_pkg::E4M3Nan),
    .HasZero (ng_format_pkg::E4M3HasZero),
    .Overflow(0),
    .SigWidth(24),
    .ExpWidth(9),
    .ExpLo   (-127),
    .ExpHi   (127),
    .RandBits(1)
  ) u_round_m (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .mode_i(2'd0),
    .nan_i (nan),
    .inf_i (inf),
    .sign_i(result[31]),
    .exp_i (exponent),
    .sig_i (significand),
    .rand_i(1'b0),
    .code_o(m_code)
  );
  ng_round_pack #(
    .Bits    (ng_format_pkg::E5M2Bits),
    .Sign    (ng_format_pkg::E5M2Sign),
    .ExpBits (ng_format_pkg::E5M2ExpBits),
    .ManBits (ng_format_pkg::E5M2ManBits),
    .Bias    (ng_format_pkg::E5M2Bias),
    .HasInf  (ng_format_pkg::E5M2HasInf),
    .Nan     (ng_format_pkg::E5M2Nan),
    .HasZero (ng_format_pkg::E5M2HasZero),
    .Overflow(0),
    .SigWidth(24),
    .ExpWidth(9),
    .ExpLo   (-127),
    .ExpHi   (127),
    .RandBits(1)
  ) u_round_v (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .mode_i(2'd0),
    .nan_i (nan),
    .inf_i (inf),
    .sign_i(result[31]),
    .exp_i (exponent),
    .sig_i (significand),
    .rand_i(1'b0),
    .code_o(v_code)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      unique case (state_q)
        Idle:        if (valid_i) state_q <= GainM;
        GainM:       state_q <= NewM;
        NewM:        state_q <= GainV;
        GainV:       state_q <= Square;
        Square:      state_q <= NewV;
        NewV:        state_q <= CodeM;
        CodeM:       state_q <= CodeV;
        CodeV:       state_q <= Rate;
        Rate:        state_q <= Root;
        Root:        if (root_valid) state_q <= Denominator;
        Denominator: state_q <= Divide;
        Divide:      state_q <= Weight;
        Weight:      if (quotient_valid) state_q <= Done;
        default:     if (ready_i) state_q <= Idle;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      gradient_q <= gradient_i;
      weight_q <= weight_i;
      code_m_q <= m_i;
      code_v_q <= v_i;
    end
    if (state_q == NewM) moment_m_q <= result;
    if (state_q == NewV) moment_v_q <= result;
    if (state_q == CodeM) code_m_q <= m_code;
    if (state_q == CodeV) code_v_q <= v_code;
    if (state_q == Rate) gradient_q <= result;
    if (state_q == Weight && quotient_valid) weight_q <= result;
    term_q <= result;  // while a state waits, the last one counts
  end
endmodule
