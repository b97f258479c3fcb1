// SPDX-License-Identifier: Apache-2.0
// Sum of an exact number x and an FP32 number c, rounded once to nearest even, with Odd to odd: the
// end of every floating-point multiply-accumulate. IEEE 754: subnormals are kept, an exact zero is
// +0 unless both operands are -0, infinities of opposite signs are NaN, every NaN is 32'h7FC00000.
//
//   x = (-1)^x_sign_i * x_sig_i * 2^(x_exp_i - (SigWidth-1)), that is, x_exp_i is the exponent of
//   x_sig_i's top bit; infinite if x_inf_i; not a number if x_nan_i. x_sig_i may have leading
//   zeros, at most Unnormal of them where x_exp_i > -126.
//
// The operand of the larger exponent leads; the other is shifted right into a frame of Frame bits,
// with a sticky bit below. A difference is made positive by comparing first: lead - other, or the
// complement of lead + ~other, which is other - lead.
//
// Width argument. Bits that fall off the frame must lie below the rounding of the result (24 bits
// and a guard), and then the sticky bit stands for all of them. Let the leader have u leading zeros
// and the other lie d places lower.
//   c leads, subnormal     its last place is that of FP32: 24 bits and a guard.
//   c leads, normal        d = 1: x must not lose a bit, SigWidth + 1. d > 1: the result is at
//                          least half of c's lowest power, 24 + 2 bits.
//   x leads, at -126       d = 0, nothing is shifted.
//   x leads, above -126    d <= u + 1: c must not lose a bit, 24 + u + 1. d > u + 1: the result's
//                          top bit is at most u + 1 places down, and 24 + 1 bits follow.
// So Frame = max(SigWidth + 1, Unnormal + 26). A sum carries into one bit more. The leader's
// exponent is -126 or more (c's is), and a cancelled sum is normalized by at most Frame + 1: the
// rounding module sees exponents from -126 - Frame.
//
// Cuts (docs/cuts.md): bit 0 where it is known which operand leads, 1 behind the alignment, 2
// behind the comparison, 3 behind the addition, 4 between the halves of the normalizer, 5 behind
// it, 6 in the rounding module.
module ng_add_fp32 #(
  parameter int SigWidth = 24,
  parameter int Unnormal = 0,    // most leading zeros of a non-zero x_sig_i
  parameter int ExpHi    = 127,  // largest x_exp_i of a finite x
  parameter bit Odd      = 1'b0, // round to odd; a result below 2^-126 has to be exact then
  // registers: 1 ordered + 2 aligned + 4 compared + 8 added + 16 coarse + 32 normalized + 64
  // shifted
  parameter int Cuts     = 0,
  localparam int ExpWidth = 10
) (
  input  logic                       clk_i,     // clock of the cuts
  input  logic                       en_i,      // enable of the cuts
  input  logic                       x_nan_i,
  input  logic                       x_inf_i,
  input  logic                       x_sign_i,
  input  logic signed [ExpWidth-1:0] x_exp_i,   // -384 to ExpHi
  input  logic [SigWidth-1:0]        x_sig_i,
  input  logic [31:0]                c_i,
  output logic [31:0]                sum_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (SigWidth < 1 || SigWidth > 64) begin : gen_check_sig_width
    $fatal(1, "ng_add_fp32: SigWidth=%0d; expected 1 to 64", SigWidth);
  end
  if (Unnormal < 0 || Unnormal >= SigWidth) begin : gen_check_unnormal
    $fatal(1, "ng_add_fp32: Unnormal=%0d; expected 0 to SigWidth-1=%0d", Unnormal, SigWidth - 1);
  end
  if (ExpHi < -126 || ExpHi > 383) begin : gen_check_exp_hi
    $fatal(1, "ng_add_fp32: ExpHi=%0d; expected -126 to 383", ExpHi);
  end
  if (Cuts < 0 || Cuts > 127) begin : gen_check_cuts
    $fatal(1, "ng_add_fp32: Cuts=%0d; expected 0 to 127", Cuts);
  end
`endif

  localparam int Frame = SigWidth + 1 > Unnormal + 26 ? SigWidth + 1 : Unnormal + 26;
  localparam int SumWidth = Frame + 2;  // carry, frame, sticky bit

  // ---- operands; a subnormal number has the exponent of the smallest normal one
  logic                       c_normal, c_special, c_mantissa;
  logic signed [ExpWidth-1:0] c_exp;
  logic [Frame-1:0]           x, c;
  assign c_normal = |c_i[30:23];
  assign c_special = &c_i[30:23];
  // ng-no-fault(ng_mxfp4_mac): the accumulator holds one NaN only, so no other payload comes
  assign c_mantissa = |c_i[22:0];
  assign c_exp = ExpWidth'({c_i[30:24], c_i[23] | ~c_normal}) - ExpWidth'(127);
  assign x = {x_sig_i, {(Frame - SigWidth){1'b0}}};
  assign c = {c_normal, c_i[22:0], {(Frame - 24){1'b0}}};

  // ---- order
  logic signed [ExpWidth-1:0] difference, lead_exp, lead_exp_q;
  logic                       x_leads, lead_sign, subtract;
  logic [ExpWidth-1:0]        distance, distance_q;
  logic [Frame-1:0]           lead, other, lead_q, other_q;
  assign difference = x_exp_i - c_exp;
  assign x_leads = ~difference[ExpWidth-1] & (|x_sig_i);
  assign distance = difference[ExpWidth-1] ? -difference : difference;
  assign lead = x_leads ? x : c;
  assign other = x_leads ? c : x;
  assign lead_exp = x_leads ? x_exp_i : c_exp;
  assign lead_sign = x_leads ? x_sign_i : c_i[31];
  assign subtract = x_sign_i ^ c_i[31];

  // What goes beside the numbers, from place to place.
  typedef struct packed {
    logic subtract;   // the operands' signs differ
    logic lead_sign;  // sign of the operand that leads
    logic nan;        // the sum is NaN
    logic inf;        // the sum is infinite, unless it is NaN
    logic inf_sign;   // sign of the infinity, where inf is set
  } beside_t;
  beside_t beside, align_beside, compare_beside, add_beside, sum_beside, coarse_beside;
  assign beside.subtract = subtract;
  assign beside.lead_sign = lead_sign;
  assign beside.nan = x_nan_i | (c_special & (c_mantissa | (x_inf_i & subtract)));
  assign beside.inf = x_inf_i | c_special;
  assign beside.inf_sign = x_inf_i ? x_sign_i : c_i[31];

  ng_cut #(
    .Width (2 * Frame + 2 * ExpWidth + 5),
    .Enable(Cuts & ng_mac_pkg::AddCutOrdered)
  ) u_ordered (
    .clk_i,
    .en_i,
    .d_i  ({lead, other, distance, lead_exp, beside}),
    .q_o  ({lead_q, other_q, distance_q, lead_exp_q, align_beside})
  );

  // ---- align
  logic             sticky;
  logic [Frame-1:0] aligned;
  ng_shift_sticky #(
    .Width  (Frame),
    .ByWidth(ExpWidth)
  ) u_align (
    .data_i  (other_q),
    .by_i    (distance_q),
    .data_o  (aligned),
    .sticky_o(sticky)
  );

  logic [SumWidth-1:0]        left, right;
  logic signed [ExpWidth-1:0] left_exp;
  ng_cut #(
    .Width (2 * Frame + ExpWidth + 6),
    .Enable(Cuts & ng_mac_pkg::AddCutAligned)
  ) u_aligned (
    .clk_i,
    .en_i,
    .d_i  ({lead_q, aligned, sticky, lead_exp_q, align_beside}),
    .q_o  ({left[Frame:1], right[Frame:0], left_exp, compare_beside})
  );
  assign {left[SumWidth-1], left[0], right[SumWidth-1]} = 3'b000;

  // ---- add or subtract
  logic [SumWidth-1:0]        add_left, add_right, sum, magnitude, magnitude_q;
  logic signed [ExpWidth-1:0] add_exp, sum_exp;
  logic                       ahead, sum_ahead, unused_half;
  ng_cut #(
    .Width (2 * SumWidth + ExpWidth + 6),
    .Enable(Cuts & ng_mac_pkg::AddCutCompared)
  ) u_compared (
    .clk_i,
    .en_i,
    .d_i  ({left, right, left >= right, left_exp, compare_beside}),
    .q_o  ({add_left, add_right, ahead, add_exp, add_beside})
  );
  // The carry-in as a half-unit column: 1/2 + 1/2. One addition, hence one carry chain.
  assign {sum, unused_half} = {add_left, 1'b1}
      + {add_right ^ {SumWidth{add_beside.subtract}}, add_beside.subtract & ahead};
  assign magnitude = sum ^ {SumWidth{add_beside.subtract & ~ahead}};
  ng_cut #(
    .Width (SumWidth + ExpWidth + 6),
    .Enable(Cuts & ng_mac_pkg::AddCutAdded)
  ) u_added (
    .clk_i,
    .en_i,
    .d_i  ({magnitude, ahead, add_exp, add_beside}),
    .q_o  ({magnitude_q, sum_ahead, sum_exp, sum_beside})
  );

  // ---- normalize
  logic                        rest, ahead_q, sign;
  logic [24:0]                 sig;
  logic [$clog2(SumWidth)-1:0] shift;
  logic signed [ExpWidth-1:0]  coarse_exp;
  ng_normalize #(
    .Width   (SumWidth),
    .OutWidth(25),
    .Cuts    ((Cuts & ng_mac_pkg::AddCutCoarse) != 0 ? ng_prim_pkg::NormalizeCutCoarse : 0)
  ) u_normalize (
    .clk_i,
    .en_i,
    .data_i  (magnitude_q),
    .fill_i  (1'b0),
    .sig_o   (sig),
    .sticky_o(rest),
    .shift_o (shift)
  );
  ng_cut #(
    .Width (ExpWidth + 6),
    .Enable(Cuts & ng_mac_pkg::AddCutCoarse)
  ) u_coarse (
    .clk_i,
    .en_i,
    .d_i  ({sum_exp, sum_ahead, sum_beside}),
    .q_o  ({coarse_exp, ahead_q, coarse_beside})
  );
  assign sign = coarse_beside.inf ? coarse_beside.inf_sign
      : coarse_beside.subtract ? sig[24] & (coarse_beside.lead_sign ^ ~ahead_q)
      : coarse_beside.lead_sign;

  // ---- round once; Odd puts the guard place and all below it into FP32's last place before that
  logic [25:0] rounded_sig;
  if (Odd) begin : gen_odd
    assign rounded_sig = {sig[24:2], sig[1] | sig[0] | rest, 2'b00};
  end else begin : gen_nearest
    assign rounded_sig = {sig, rest};
  end
  logic [25:0]                round_sig;
  logic signed [ExpWidth-1:0] round_exp;
  logic                       round_nan, round_inf, round_sign;
  ng_cut #(
    .Width (29 + ExpWidth),
    .Enable(Cuts & ng_mac_pkg::AddCutNormalized)
  ) u_normalized (
    .clk_i,
    .en_i,
    .d_i  ({rounded_sig, coarse_exp + ExpWidth'(1) - ExpWidth'(shift), coarse_beside.nan,
        coarse_beside.inf, sign & ~coarse_beside.nan}),
    .q_o  ({round_sig, round_exp, round_nan, round_inf, round_sign})
  );
  ng_round_pack #(
    .SigWidth(26),
    .ExpWidth(ExpWidth),
    .ExpLo   (-126 - Frame),
    .ExpHi   ((ExpHi > 127 ? ExpHi : 127) + 1),
    .RandBits(1),
    .Cuts    ((Cuts & ng_mac_pkg::AddCutShifted) != 0 ? ng_round_pkg::CutShifted : 0)
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
    .code_o(sum_o)
  );

endmodule
