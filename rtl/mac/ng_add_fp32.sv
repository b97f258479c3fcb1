// SPDX-License-Identifier: Apache-2.0
// Sum of an exact number x and an FP32 number c, rounded once to nearest even: the end of every floating-point
// multiply-accumulate. Combinational. IEEE 754: subnormals are kept, an exact zero is +0 unless both operands are -0,
// infinities of opposite signs are NaN, every NaN is 32'h7FC00000.
//
//   x = (-1)^x_sign_i * x_sig_i * 2^(x_exp_i - (SigWidth-1)), that is, x_exp_i is the exponent of x_sig_i's top bit; infinite
//   if x_inf_i; not a number if x_nan_i. x_sig_i may have leading zeros, at most Unnormal of them where x_exp_i > -126.
//
// The operand of the larger exponent leads; the other is shifted right into a frame of Frame bits, with a sticky bit below.
// A difference is made positive by comparing first: lead - other, or the complement of lead + ~other, which is other - lead.
//
// Width argument. Bits that fall off the frame must lie below the rounding of the result (24 bits and a guard), and then the
// sticky bit stands for all of them. Let the leader have u leading zeros and the other lie d places lower.
//   c leads, subnormal     its last place is that of FP32: 24 bits and a guard.
//   c leads, normal        d = 1: x must not lose a bit, SigWidth + 1. d > 1: the result is at least half of c's lowest
//                          power, 24 + 2 bits.
//   x leads, at -126       d = 0, nothing is shifted.
//   x leads, above -126    d <= u + 1: c must not lose a bit, 24 + u + 1. d > u + 1: the result's top bit is at most u + 1
//                          places down, and 24 + 1 bits follow.
// So Frame = max(SigWidth + 1, Unnormal + 26). A sum carries into one bit more. The leader's exponent is -126 or more (c's
// is), and a cancelled sum is normalized by at most Frame + 1: the rounding module sees exponents from -126 - Frame.
module ng_add_fp32 #(
  parameter int SigWidth = 24,
  parameter int Unnormal = 0,    // most leading zeros of a non-zero x_sig_i
  parameter int ExpHi    = 127,  // largest x_exp_i of a finite x
  localparam int ExpWidth = 10
) (
  input  logic                       x_nan_i,
  input  logic                       x_inf_i,
  input  logic                       x_sign_i,
  input  logic signed [ExpWidth-1:0] x_exp_i,   // -384 to ExpHi
  input  logic [SigWidth-1:0]        x_sig_i,
  input  logic [31:0]                c_i,
  output logic [31:0]                sum_o
);

  if (SigWidth < 1 || SigWidth > 64) begin : gen_check_sig_width $fatal(1, "ng_add_fp32: SigWidth=%0d; expected 1 to 64", SigWidth); end
  if (Unnormal < 0 || Unnormal >= SigWidth) begin : gen_check_unnormal $fatal(1, "ng_add_fp32: Unnormal=%0d; expected 0 to SigWidth-1=%0d", Unnormal, SigWidth - 1); end
  if (ExpHi < -126 || ExpHi > 383) begin : gen_check_exp_hi $fatal(1, "ng_add_fp32: ExpHi=%0d; expected -126 to 383", ExpHi); end

  localparam int Frame = SigWidth + 1 > Unnormal + 26 ? SigWidth + 1 : Unnormal + 26;
  localparam int SumWidth = Frame + 2;  // carry, frame, sticky bit

  // ---- operands; a subnormal number has the exponent of the smallest normal one
  logic                       c_normal, c_special, c_mantissa;
  logic signed [ExpWidth-1:0] c_exp;
  logic [Frame-1:0]           x, c;
  assign c_normal = |c_i[30:23];
  assign c_special = &c_i[30:23];
  assign c_mantissa = |c_i[22:0];
  assign c_exp = ExpWidth'({c_i[30:24], c_i[23] | ~c_normal}) - ExpWidth'(127);
  assign x = {x_sig_i, {(Frame - SigWidth){1'b0}}};
  assign c = {c_normal, c_i[22:0], {(Frame - 24){1'b0}}};

  // ---- align
  logic signed [ExpWidth-1:0] difference, lead_exp;
  logic                       x_leads, lead_sign, sticky;
  logic [ExpWidth-1:0]        distance;
  logic [Frame-1:0]           lead, other, aligned;
  assign difference = x_exp_i - c_exp;
  assign x_leads = ~difference[ExpWidth-1] & (|x_sig_i);
  assign distance = difference[ExpWidth-1] ? -difference : difference;
  assign lead = x_leads ? x : c;
  assign other = x_leads ? c : x;
  assign lead_exp = x_leads ? x_exp_i : c_exp;
  assign lead_sign = x_leads ? x_sign_i : c_i[31];
  ng_shift_sticky #(
    .Width  (Frame),
    .ByWidth(ExpWidth)
  ) u_align (
    .data_i  (other),
    .by_i    (distance),
    .data_o  (aligned),
    .sticky_o(sticky)
  );

  // ---- add or subtract
  logic                subtract, ahead, unused_half;
  logic [SumWidth-1:0] left, right, sum, magnitude;
  assign subtract = x_sign_i ^ c_i[31];
  assign left = {1'b0, lead, 1'b0};
  assign right = {1'b0, aligned, sticky};
  assign ahead = left >= right;
  // The carry-in as a half-unit column: 1/2 + 1/2. One addition, hence one carry chain.
  assign {sum, unused_half} = {left, 1'b1} + {right ^ {SumWidth{subtract}}, subtract & ahead};
  assign magnitude = sum ^ {SumWidth{subtract & ~ahead}};

  // ---- normalize, round once
  logic                        rest, nan, inf, sign;
  logic [24:0]                 sig;
  logic [$clog2(SumWidth)-1:0] shift;
  logic signed [ExpWidth-1:0]  exponent;
  ng_normalize #(
    .Width   (SumWidth),
    .OutWidth(25)
  ) u_normalize (
    .data_i  (magnitude),
    .fill_i  (1'b0),
    .sig_o   (sig),
    .sticky_o(rest),
    .shift_o (shift)
  );
  assign exponent = lead_exp + ExpWidth'(1) - ExpWidth'(shift);
  assign nan = x_nan_i | (c_special & (c_mantissa | (x_inf_i & subtract)));
  assign inf = x_inf_i | c_special;
  assign sign = inf ? (x_inf_i ? x_sign_i : c_i[31]) : subtract ? sig[24] & (lead_sign ^ ~ahead) : lead_sign;

  ng_round_pack #(
    .SigWidth(26),
    .ExpWidth(ExpWidth),
    .ExpLo   (-126 - Frame),
    .ExpHi   ((ExpHi > 127 ? ExpHi : 127) + 1),
    .RandBits(1)
  ) u_round (
    .mode_i(2'd0),
    .nan_i (nan),
    .inf_i (inf),
    .sign_i(sign & ~nan),
    .exp_i (exponent),
    .sig_i ({sig, rest}),
    .rand_i(1'b0),
    .code_o(sum_o)
  );

endmodule
