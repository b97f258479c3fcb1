// SPDX-License-Identifier: Apache-2.0
// The dot product of a block times both E8M0 scales, rounded once to FP32, to nearest even: what is
// too large becomes infinite, and subnormal results are kept. A scale of 0xFF is NaN.
//
//   fp32_o = dot_i * 2^LsbExp * 2^(a_scale_i - 127) * 2^(b_scale_i - 127)
//
// NaN (nan_i, both infinities, or a scale's) gives 32'h7FC00000, an infinity its code, zero +0.
//
// Width argument. |dot_i| < 2^(Width-1) by contract: the magnitude has Width-1 bits, the top one of
// exponent LsbExp + Width - 2. Scales are 2^(code - 127), so a result's exponent lies between
// LsbExp - 254 and LsbExp + Width - 2 + 254. Of more than 26 bits the rounding sees the highest 25
// and a sticky one.
//
// Cuts (docs/cuts.md): bit 0 behind the magnitude, 1 behind the normalizer, 2 in the rounding
// module.
module ng_scale_mx #(
  parameter int Width  = 14,
  parameter int LsbExp = -2,
  parameter int Cuts   = 0  // registers: 1 magnitude + 2 normalized + 4 shifted
) (
  input  logic                    clk_i,  // clock of the cuts
  input  logic                    en_i,   // enable of the cuts
  input  logic signed [Width-1:0] dot_i,
  input  logic                    nan_i,
  input  logic                    pinf_i,
  input  logic                    ninf_i,
  input  logic [7:0]              a_scale_i,
  input  logic [7:0]              b_scale_i,
  output logic [31:0]             fp32_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 3 || Width > 128) begin : gen_check_width
    $fatal(1, "ng_scale_mx: Width=%0d; expected 3 to 128", Width);
  end
  if (LsbExp < -128 || LsbExp > 0) begin : gen_check_lsb_exp
    $fatal(1, "ng_scale_mx: LsbExp=%0d; expected -128 to 0", LsbExp);
  end
  if (Cuts < 0 || Cuts > 7) begin : gen_check_cuts
    $fatal(1, "ng_scale_mx: Cuts=%0d; expected 0 to 7", Cuts);
  end
`endif

  localparam int ExpWidth = 10;
  localparam int MagWidth = Width - 1;
  localparam int ShiftWidth = $clog2(MagWidth);
  localparam bit Long = MagWidth > 26;
  localparam int SigWidth = Long ? 26 : MagWidth;
  localparam int Kept = Long ? 25 : MagWidth;

  // ---- magnitude, and beside it the exponent of its highest place
  logic                       negative, negative_q, special, nan, nan_q, inf, inf_q;
  logic [MagWidth-1:0]        magnitude, magnitude_q;
  logic signed [ExpWidth-1:0] top_exp, top_exp_q;
  assign nan = nan_i | (pinf_i & ninf_i) | (&a_scale_i) | (&b_scale_i);
  assign inf = pinf_i | ninf_i;
  assign special = nan | inf;
  assign negative = special ? ninf_i & ~nan : dot_i[Width-1];
  assign magnitude = MagWidth'(dot_i[Width-1] ? -dot_i : dot_i);
  assign top_exp = ExpWidth'(a_scale_i) + ExpWidth'(b_scale_i)
      - ExpWidth'(254 - (LsbExp + MagWidth - 1));
  ng_cut #(
    .Width (MagWidth + ExpWidth + 3),
    .Enable(Cuts & ng_mac_pkg::ScaleMxCutMagnitude)
  ) u_magnitude (
    .clk_i,
    .en_i,
    .d_i  ({magnitude, top_exp, negative, nan, inf}),
    .q_o  ({magnitude_q, top_exp_q, negative_q, nan_q, inf_q})
  );

  // ---- normalized
  logic [Kept-1:0]       kept;
  logic [SigWidth-1:0]   sig;
  logic                  sticky;
  logic [ShiftWidth-1:0] shift;
  ng_normalize #(
    .Width   (MagWidth),
    .OutWidth(Kept)
  ) u_normalize (
    .clk_i,
    .en_i,
    .data_i  (magnitude_q),
    .fill_i  (1'b0),
    .sig_o   (kept),
    .sticky_o(sticky),
    .shift_o (shift)
  );
  if (Long) begin : gen_long
    assign sig = {kept, sticky};
  end else begin : gen_short
    logic unused_sticky;
    assign unused_sticky = sticky;
    assign sig = kept;
  end

  // ---- rounded once
  logic [SigWidth-1:0]        round_sig;
  logic signed [ExpWidth-1:0] round_exp;
  logic                       round_nan, round_inf, round_sign;
  ng_cut #(
    .Width (SigWidth + ExpWidth + 3),
    .Enable(Cuts & ng_mac_pkg::ScaleMxCutNormalized)
  ) u_normalized (
    .clk_i,
    .en_i,
    .d_i  ({sig, top_exp_q - ExpWidth'(shift), nan_q, inf_q, negative_q}),
    .q_o  ({round_sig, round_exp, round_nan, round_inf, round_sign})
  );
  ng_round_pack #(
    .SigWidth(SigWidth),
    .ExpWidth(ExpWidth),
    .ExpLo   (LsbExp - 254),
    .ExpHi   (LsbExp + MagWidth - 1 + 254),
    .RandBits(1),
    .Cuts    ((Cuts & ng_mac_pkg::ScaleMxCutShifted) != 0 ? ng_round_pkg::CutShifted : 0)
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
    .code_o(fp32_o)
  );

endmodule
