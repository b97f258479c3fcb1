// SPDX-License-Identifier: Apache-2.0
// Product of two FP32 numbers, rounded once to nearest even: a sum times its tensor scale.
// Subnormal operands and results are kept, zeros have their sign, every NaN is 32'h7FC00000 (also
// infinity times zero).
//
// The significands (subnormal: hidden bit zero) are multiplied as they are, and the product is
// normalized, not the operands: the exact product loses nothing by leading zeros, and there is only
// one of it.
//
// Width argument. Product p < 2^48; its bit 47 has the exponent e = e_a + e_b + 1, from -251 (both
// subnormal, e = -126) to 255. FP32 keeps 24 bits and looks at a guard bit and at the "or" of the
// rest: 25 normalized bits and the sticky bit. A subnormal result is not normalized further than to
// the exponent -126, so nothing is shifted back: with 25 zeros before p, the top place has the
// exponent e + 25, and e + 25 + 126 shifts are left to it. If that is below 0, then e <= -152 and
// |result| < 2^-151, less than half of the smallest number: nothing is shifted, only the sticky bit
// is set, and it rounds to zero. Else the rounding module sees exponents from -126 to 255: 10 bits,
// with what a p of zero brings.
//
// Cuts (docs/cuts.md): bit 0 before the product, 1 within, 2 behind it, 3 between the halves of the
// normalizer, 4 behind it, before the rounding. The significands are split into 16 and 8 bits, so
// that bit 1 has a place before their four products are added: with bit 0, too, each fills a DSP
// that has registers on both sides.
module ng_scale_fp32 #(
  parameter int Cuts = 0  // registers: 1 operands + 2 parts + 4 product + 8 coarse + 16 normalized
) (
  input  logic        clk_i,  // clock of the cuts
  input  logic        en_i,   // enable of the cuts
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] y_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Cuts < 0 || Cuts > 31) begin : gen_check_cuts
    $fatal(1, "ng_scale_fp32: Cuts=%0d; expected 0 to 31", Cuts);
  end
`endif

  localparam int ExpWidth = 10;

  // ---- operands
  logic        a_mantissa, b_mantissa, mul_sign;
  logic [7:0]  a_field, b_field;
  logic [23:0] a_sig, b_sig;
  ng_cut #(
    .Width (67),
    .Enable(Cuts & ng_mac_pkg::ScaleFp32CutOperands)
  ) u_operands (
    .clk_i,
    .en_i,
    .d_i  ({|a_i[30:23], a_i[22:0], |b_i[30:23], b_i[22:0], a_i[30:23], b_i[30:23], |a_i[22:0],
        |b_i[22:0], a_i[31] ^ b_i[31]}),
    .q_o  ({a_sig, b_sig, a_field, b_field, a_mantissa, b_mantissa, mul_sign})
  );

  logic       a_normal, b_normal, a_special, b_special;
  // biased; a subnormal number has the exponent of the smallest normal one
  logic [7:0] a_exp, b_exp;
  assign a_normal = a_sig[23];
  assign b_normal = b_sig[23];
  assign a_special = &a_field;
  assign b_special = &b_field;
  assign a_exp = {a_field[7:1], a_field[0] | ~a_normal};
  assign b_exp = {b_field[7:1], b_field[0] | ~b_normal};

  // What goes beside the product, from place to place.
  typedef struct packed {
    logic signed [ExpWidth-1:0] top_exp;  // exponent of the product's top bit
    logic                       nan;
    logic                       inf;
    logic                       sign;     // 0 where nan is set
  } beside_t;
  beside_t beside, parts_beside, product_beside, coarse_beside;
  logic    nan;
  assign beside.inf = a_special | b_special;
  assign nan = (a_special & (a_mantissa | ~(b_normal | b_mantissa)))
      | (b_special & (b_mantissa | ~(a_normal | a_mantissa)));
  assign beside.top_exp = ExpWidth'(a_exp) + ExpWidth'(b_exp) - ExpWidth'(2 * 127 - 1);
  assign beside.nan = nan;
  assign beside.sign = mul_sign & ~nan;

  // ---- exact product, how far it may be shifted
  localparam int Ahead = 25;
  logic signed [ExpWidth-1:0] room;
  logic [6:0]                 limit, limit_q;
  assign room = parts_beside.top_exp + ExpWidth'(Ahead + 126);
  assign limit = room[ExpWidth-1] ? '0 : room[6:0] | {7{|room[ExpWidth-2:7]}};
  logic [31:0] low_d, low;
  logic [23:0] a_low_d, b_low_d, a_low, b_low;  // times the upper bits of the other
  logic [15:0] high_d, high;
  logic [47:0] product, product_q;
  assign low_d = 32'(a_sig[15:0]) * 32'(b_sig[15:0]);
  assign a_low_d = 24'(a_sig[15:0]) * 24'(b_sig[23:16]);
  assign b_low_d = 24'(a_sig[23:16]) * 24'(b_sig[15:0]);
  assign high_d = 16'(a_sig[23:16]) * 16'(b_sig[23:16]);
  ng_cut #(
    .Width (96),
    .Enable(Cuts & ng_mac_pkg::ScaleFp32CutParts)
  ) u_parts (
    .clk_i,
    .en_i,
    .d_i  ({low_d, a_low_d, b_low_d, high_d}),
    .q_o  ({low, a_low, b_low, high})
  );
  assign product = {{high, low[31:16]} + (32'(a_low) + 32'(b_low)), low[15:0]};
  ng_cut #(
    .Width (3 + ExpWidth),
    .Enable(Cuts & ng_mac_pkg::ScaleFp32CutParts)
  ) u_flags (
    .clk_i,
    .en_i,
    .d_i  (beside),
    .q_o  (parts_beside)
  );
  ng_cut #(
    .Width (58 + ExpWidth),
    .Enable(Cuts & ng_mac_pkg::ScaleFp32CutProduct)
  ) u_product (
    .clk_i,
    .en_i,
    .d_i  ({product, limit, parts_beside}),
    .q_o  ({product_q, limit_q, product_beside})
  );

  // ---- normalized
  logic [24:0]                sig;
  logic                       sticky;
  logic [6:0]                 shift;
  logic signed [ExpWidth-1:0] exponent;
  ng_normalize_limited #(
    .Width   (Ahead + 48),
    .OutWidth(25),
    .Cuts    ((Cuts & ng_mac_pkg::ScaleFp32CutCoarse) != 0 ? ng_prim_pkg::NormalizeCutCoarse : 0)
  ) u_normalize (
    .clk_i,
    .en_i,
    .data_i  ({{Ahead{1'b0}}, product_q}),
    .limit_i (limit_q),
    .sig_o   (sig),
    .sticky_o(sticky),
    .shift_o (shift)
  );
  ng_cut #(
    .Width (3 + ExpWidth),
    .Enable(Cuts & ng_mac_pkg::ScaleFp32CutCoarse)
  ) u_coarse (
    .clk_i,
    .en_i,
    .d_i  (product_beside),
    .q_o  (coarse_beside)
  );
  assign exponent = coarse_beside.top_exp + ExpWidth'(Ahead) - ExpWidth'(shift);

  // ---- rounded once
  logic [25:0]                round_sig;
  logic signed [ExpWidth-1:0] round_exp;
  logic                       round_nan, round_inf, round_sign;
  ng_cut #(
    .Width (29 + ExpWidth),
    .Enable(Cuts & ng_mac_pkg::ScaleFp32CutNormalized)
  ) u_normalized (
    .clk_i,
    .en_i,
    .d_i  ({sig, sticky, exponent, coarse_beside.nan, coarse_beside.inf, coarse_beside.sign}),
    .q_o  ({round_sig, round_exp, round_nan, round_inf, round_sign})
  );
  ng_round_pack #(
    .SigWidth(26),
    .ExpWidth(ExpWidth),
    .ExpLo   (-126),
    .ExpHi   (255),
    .RandBits(1)
  ) u_round (
    .clk_i,
    .en_i,
    .mode_i(ng_round_pkg::NearestEven),
    .nan_i (round_nan),
    .inf_i (round_inf),
    .sign_i(round_sign),
    .exp_i (round_exp),
    .sig_i (round_sig),
    .rand_i(1'b0),
    .code_o(y_o)
  );

endmodule
