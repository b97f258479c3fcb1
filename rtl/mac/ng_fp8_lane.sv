// SPDX-License-Identifier: Apache-2.0
//
// Exact product of two FP8 numbers as a fixed-point term. A negative one may be left at one's
// complement: then it owes the 1 that an adder behind it takes as carry-in.
//
//   signed(term_o) + owed_o = value(a_i) * value(b_i) in units of 2^-18 (E4M3 alone) or 2^-32 (with
//   E5M2 in the set)
//
// nan_o: an operand is NaN, or infinity meets zero. pinf_o, ninf_o: the product is that infinity.
// Then the term stands for what ng_fp8_operand makes of the special operand (E4M3's NaN: 480,
// E5M2's specials: 0) and is of no further use.
//
//   product   significands 4 x 4 bits from four 2 x 2 products, each bit of which is a function of
//             four bits: one LUT4 exponent  s = e_a + e_b, with a 1 for each subnormal: one adder
//   shift     by s in two steps: by s mod 8 into the window v, 15 bits and a sign; then byte q of
//             the result takes the window's low byte if s / 8 = q, its high byte if s / 8 = q - 1,
//             and else the sign
//
// Cuts (docs/cuts.md): bit 0 between product and shift.
//
// Width argument: shifted by s, the product (225 at most: 8 bits) has the unit 2^(-2 * (Bias + 3))
// = 2^-20 (E4M3) or 2^-36. E4M3: s >= 2, so bits 1..0 are never occupied and bit 2 is 2^-18. With
// E5M2: s >= 2 and the two padding bits of its significands (E5M2 x E5M2), or s >= 10 (others),
// leave bits 3..0 empty: bit 4 is 2^-32. At the top s <= 30 puts the last bit at 37 (448^2 < 2^18),
// and s <= 60 at 67 (57344^2 < 2^32); the sign above it: 37 - 2 + 2 = 37 bits, 67 - 4 + 2 = 65
// bits.

module ng_fp8_lane #(
  parameter int FormatSet = ng_format_set_pkg::Fp8,  // 2 E4M3 + 4 E5M2
  parameter bit Owe       = 1'b1,  // one's complement; without, owed_o is 0
  parameter int Cuts      = 0,  // registers: 1 product
  localparam int TermWidth = (FormatSet == ng_format_set_pkg::E4m3) ? 37 : 65
) (
  input  logic                 clk_i,    // clock of the cut
  input  logic                 en_i,     // enable of the cut
  input  logic [7:0]           a_i,
  input  logic [7:0]           b_i,
  input  logic                 a_fmt_i,  // 0: E4M3, 1: E5M2; ignored if the set has only one
  input  logic                 b_fmt_i,
  output logic [TermWidth-1:0] term_o,
  output logic                 owed_o,
  output logic                 nan_o,
  output logic                 pinf_o,
  output logic                 ninf_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (FormatSet == 0 || (FormatSet & ~ng_format_set_pkg::Fp8) != 0) begin : gen_check_format_set
    $fatal(1, "ng_fp8_lane: FormatSet=%0d; expected 2 to 6, a multiple of 2 (2 E4M3 + 4 E5M2)",
           FormatSet);
  end
  if (Cuts < 0 || Cuts > 1) begin : gen_check_cuts
    $fatal(1, "ng_fp8_lane: Cuts=%0d; expected 0 or 1", Cuts);
  end
`endif

  localparam int ExpWidth = (FormatSet == ng_format_set_pkg::E4m3) ? 4 : 5;
  // empty bits below the unit
  localparam int Drop     = (FormatSet == ng_format_set_pkg::E4m3) ? 2 : 4;
  localparam int Top      = ExpWidth - 3;              // highest bit of s / 8
  localparam int Bytes    = (2 << Top) + 1;            // of the shifted window

  logic                a_sign, a_sub, a_zero, a_inf, a_nan, b_sign, b_sub, b_zero, b_inf, b_nan;
  logic [ExpWidth-1:0] a_exp, b_exp;
  logic [3:0]          a_sig, b_sig;
  ng_fp8_operand #(
    .FormatSet(FormatSet)
  ) u_a (
    .code_i(a_i),
    .fmt_i (a_fmt_i),
    .sign_o(a_sign),
    .exp_o (a_exp),
    .sub_o (a_sub),
    .sig_o (a_sig),
    .zero_o(a_zero),
    .inf_o (a_inf),
    .nan_o (a_nan)
  );
  ng_fp8_operand #(
    .FormatSet(FormatSet)
  ) u_b (
    .code_i(b_i),
    .fmt_i (b_fmt_i),
    .sign_o(b_sign),
    .exp_o (b_exp),
    .sub_o (b_sub),
    .sig_o (b_sig),
    .zero_o(b_zero),
    .inf_o (b_inf),
    .nan_o (b_nan)
  );

  // Specials.
  logic sign, inf, nan;
  assign sign = a_sign ^ b_sign;
  assign inf = (a_inf & ~b_zero & ~b_nan) | (b_inf & ~a_zero & ~a_nan);
  assign nan = a_nan | b_nan | (a_inf & b_zero) | (b_inf & a_zero);

  // Product of the significands. Bit 0 of low_high + high_low is left out of the addition, its
  // carry enters as a half-unit column: with three operands in plain sight Yosys would build a
  // carry-save stage. The table has the products of 2 x 2 bits. It is no function: cells that call
  // one do not share their code in Verilator (engines/rtl/mac_array.vlt).
  localparam logic [63:0] Table2 = 64'h9630_6420_3210_0000;
  logic [3:0] low_low, low_high, high_low, high_high;
  logic [4:0] middle;
  logic [7:0] product;
  logic       unused_middle;
  assign low_low = Table2[{a_sig[1:0], b_sig[1:0], 2'b00}+:4];
  assign low_high = Table2[{a_sig[1:0], b_sig[3:2], 2'b00}+:4];
  assign high_low = Table2[{a_sig[3:2], b_sig[1:0], 2'b00}+:4];
  assign high_high = Table2[{a_sig[3:2], b_sig[3:2], 2'b00}+:4];
  assign middle[0] = low_high[0] ^ high_low[0];
  assign {middle[4:1], unused_middle} = {1'b0, low_high[3:1], 1'b1}
      + {1'b0, high_low[3:1], low_high[0] & high_low[0]};
  assign product = {6'({high_high, low_low[3:2]} + 6'(middle)), low_low[1:0]};

  // s, and once more its top bit, xor the sign of the product: a copy by another path, for the
  // shift below.
  logic [ExpWidth:0] s_d, s;
  logic              s_top_xor_sign, s_top;
  logic [ExpWidth:0] unused_low;
  logic              unused_s;
  assign {s_d, unused_s} = {1'b0, a_exp, 1'b1}
      + {1'b0, b_exp[ExpWidth-1:1], b_exp[0] | b_sub, a_sub};
  assign {s_top_xor_sign, unused_low} = {a_sign, a_exp, 1'b1}
      + {b_sign, b_exp[ExpWidth-1:1], b_exp[0] | b_sub, a_sub};

  logic [7:0] product_q;
  logic       sign_q, s_top_q;
  ng_cut #(
    .Width (ExpWidth + 14),
    .Enable(Cuts & ng_mac_pkg::Fp8LaneCutProduct)
  ) u_product (
    .clk_i,
    .en_i,
    .d_i  ({product, s_d, s_top_xor_sign, sign, nan, inf & ~sign, inf & sign}),
    .q_o  ({product_q, s, s_top_q, sign_q, nan_o, pinf_o, ninf_o})
  );
  assign s_top = s_top_q ^ sign_q;

  // The number to shift, its sign, what to invert it with on the way.
  logic [7:0] number;
  logic       p_sign, invert;
  if (Owe) begin : gen_owe
    assign {p_sign, number, invert, owed_o} = {1'b0, product_q, sign_q, sign_q};
  end else begin : gen_exact
    logic unused_half;
    assign {p_sign, number, unused_half} = {{9{sign_q}} ^ {1'b0, product_q}, 1'b1} + {9'd0, sign_q};
    assign {invert, owed_o} = 2'b00;
  end

  // Window: that number shifted by s mod 8. Below it comes `invert`, above it `fill`, the sign of
  // the term.
  logic        fill;
  logic [8:0]  by_1;
  logic [10:0] by_3;
  logic [15:0] window;
  assign fill = p_sign ^ invert;
  assign by_1 = s[0] ? {number, 1'b0} : {p_sign, number};
  assign by_3 = (s[1] ? {by_1, 2'b00} : {{2{p_sign}}, by_1}) ^ {11{invert}};
  assign window = {fill, s[2] ? {by_3, {4{invert}}} : {{4{fill}}, by_3}};

  // Shift by 8 * (s / 8). `low` selects the half of the window where the byte has one, and is the
  // fill where it has none: so each bit is a function of four (taken, low, two of the window). It
  // is so for Yosys' ABC only if that cannot see that `taken` and `low` have variables in common,
  // for it would then take them apart: hence s_top, equal to s[ExpWidth].
  logic [8*Bytes-1:0] shifted;
  logic [Top:0]       coarse, coarse_too;
  assign coarse = s[ExpWidth:3];
  assign coarse_too = {s_top, s[ExpWidth-1:3]};
  assign shifted[7:0] = (coarse == '0) ? window[7:0] : {8{invert}};
  for (genvar q = 1; q < Bytes - 1; q++) begin : gen_byte
    localparam logic [Top:0] Here  = (Top + 1)'(q);
    localparam logic [Top:0] Below = (Top + 1)'(q - 1);
    logic taken, low;
    assign taken = (coarse == Here) | (coarse == Below);
    assign low = ((coarse_too == Here) | (coarse_too == Below)) ? coarse[0] == Here[0]
               : (coarse_too < Here) ? fill : invert;
    assign shifted[8*q+:8] = taken ? (low ? window[7:0] : window[15:8]) : {8{low}};
  end
  assign shifted[8*(Bytes-1)+:8] = (&coarse) ? window[15:8] : {8{fill}};

  logic [Drop-1:0] unused_bottom;
  logic [8*Bytes-Drop-TermWidth:0] unused_top;
  assign {unused_top, term_o[TermWidth-2:0], unused_bottom} = shifted;
  assign term_o[TermWidth-1] = fill;
endmodule
