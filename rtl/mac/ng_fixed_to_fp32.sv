// SPDX-License-Identifier: Apache-2.0
// Rounds an exact signed fixed-point sum to FP32, once, to nearest even: the end of every MAC.
//
// Value: fixed_i * 2^LsbExp. NaN (nan_i, or both infinities) gives 32'h7FC00000, an infinity its
// FP32 code, zero +0.
//
// A negative sum x is normalized as ~x followed by ones without end, which is |x| without an adder.
// Of that FP32 keeps 24 bits T, and nearest even looks at the next one, G, and at the rest. "All
// ones without end" below G is one unit of G:
//   G  rest                         |x| is        rounding sees
//   0  all ones                     T.1 exactly   1, 0
//   1  all ones                     T + 1         1, 1: it rounds up to that
//   G  neither all ones nor zeros   above T.G     G, 1
// The last two pretend to be inexact by less than FP32's last place, hence LsbExp >= -125: no
// result is subnormal, nothing is rounded at a higher place.
//
// Width argument: |x| <= 2^(Width-1). Without the sign, and with one fill bit (so that the top one
// of ~(-1) has a place), it has Width bits in units of 2^(LsbExp-1); its exponent lies in [LsbExp -
// 1, LsbExp + Width - 2], which the rounding module is told: for the sums of this project it need
// not look for overflow either.
//
// Cuts (docs/cuts.md): bit 0 within the normalizer, behind its coarse stages, which test many bits
// and are fewer than half; 1 behind it, before the rounding.
module ng_fixed_to_fp32 #(
  parameter int Width  = 64,
  parameter int LsbExp = -20,
  parameter int Cuts   = 0  // registers: 1 coarse + 2 normalized
) (
  input  logic                    clk_i,  // clock of the cuts
  input  logic                    en_i,   // enable of the cuts
  input  logic signed [Width-1:0] fixed_i,
  input  logic                    nan_i,
  input  logic                    pinf_i,
  input  logic                    ninf_i,
  output logic [31:0]             fp32_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 2 || Width > 512) begin : gen_check_width
    $fatal(1, "ng_fixed_to_fp32: Width=%0d; expected 2 to 512", Width);
  end
  if (LsbExp < -125 || LsbExp > 400) begin : gen_check_lsb_exp
    $fatal(1, "ng_fixed_to_fp32: LsbExp=%0d; expected -125 to 400", LsbExp);
  end
  if (Cuts < 0 || Cuts > 3) begin : gen_check_cuts
    $fatal(1, "ng_fixed_to_fp32: Cuts=%0d; expected 0 to 3", Cuts);
  end
`endif

  localparam int DataWidth = Width > 25 ? Width : 25;  // room for T and G: more fill bits
  localparam int ShiftWidth = $clog2(DataWidth);
  localparam int ExpWidth = 11;

  // ---- normalized
  logic                       sign, sign_q, guard, sticky;
  logic [DataWidth-1:0]       data;
  logic [24:0]                sig;
  logic [ShiftWidth-1:0]      shift;
  logic signed [ExpWidth-1:0] exponent;
  assign sign = fixed_i[Width-1];
  assign data = {fixed_i[Width-2:0] ^ {(Width-1){sign}}, {(DataWidth-Width+1){sign}}};

  ng_normalize #(
    .Width   (DataWidth),
    .OutWidth(25),
    .Cuts    ((Cuts & ng_mac_pkg::ConvertCutCoarse) != 0 ? ng_prim_pkg::NormalizeCutCoarse : 0),
    .Fine    (ShiftWidth / 2 + 1)
  ) u_normalize (
    .clk_i,
    .en_i,
    .data_i  (data),
    .fill_i  (sign),
    .sig_o   (sig),
    .sticky_o(sticky),
    .shift_o (shift)
  );

  logic code_sign, nan_q, inf_q, code_sign_q;
  assign code_sign = nan_i | pinf_i ? 1'b0 : ninf_i | sign;
  ng_cut #(
    .Width (4),
    .Enable(Cuts & ng_mac_pkg::ConvertCutCoarse)
  ) u_coarse (
    .clk_i,
    .en_i,
    .d_i  ({sign, code_sign, nan_i | (pinf_i & ninf_i), pinf_i | ninf_i}),
    .q_o  ({sign_q, code_sign_q, nan_q, inf_q})
  );
  assign exponent = ExpWidth'(LsbExp + Width - 2) - ExpWidth'(shift);
  assign guard = sig[0] | (sign_q & ~sticky);

  // ---- rounded
  logic                       round_sign, round_nan, round_inf;
  logic [25:0]                round_sig;
  logic signed [ExpWidth-1:0] round_exponent;
  ng_cut #(
    .Width (29 + ExpWidth),
    .Enable(Cuts & ng_mac_pkg::ConvertCutNormalized)
  ) u_normalized (
    .clk_i,
    .en_i,
    .d_i  ({code_sign_q, nan_q, inf_q, exponent, sig[24:1], guard, sticky | (sign_q & sig[0])}),
    .q_o  ({round_sign, round_nan, round_inf, round_exponent, round_sig})
  );

  ng_round_pack #(
    .SigWidth(26),
    .ExpWidth(ExpWidth),
    .ExpLo   (LsbExp - 1),
    .ExpHi   (LsbExp + Width - 2),
    .RandBits(1)
  ) u_round (
    .clk_i,
    .en_i,
    .mode_i(ng_round_pkg::NearestEven),
    .nan_i (round_nan),
    .inf_i (round_inf),
    .sign_i(round_sign),
    .exp_i (round_exponent),
    .sig_i (round_sig),
    .rand_i(1'b0),
    .code_o(fp32_o)
  );

endmodule
