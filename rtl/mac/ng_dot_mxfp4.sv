// SPDX-License-Identifier: Apache-2.0
// Dot product of two MXFP4 blocks: 32 pairs of E2M1 numbers, summed exactly, times both E8M0
// scales, rounded once to FP32 (nearest even; only subnormal results are inexact, and what is too
// large becomes infinite). A scale of 0xFF is NaN.
//
// Width argument. The sum is within +-32 * 144 = 4608 in units of 2^-2: magnitude of 13 bits, the
// top one of exponent 10. Scales are 2^(code - 127), so the exponent of a normalized result lies
// between 10 - 12 - 254 and 10 + 254.
//
// Cuts (docs/cuts.md): bit 0 in the tree of ng_dot_e2m1, 1 behind it, 2 behind the magnitude, 3
// behind the normalizer, 4 in the rounding module. What the scales give stands before bit 1.
module ng_dot_mxfp4 #(
  parameter int Cuts = 0  // registers: 1 nodes + 2 dot + 4 magnitude + 8 normalized + 16 shifted
) (
  input  logic         clk_i,  // clock of the cuts
  input  logic         en_i,   // enable of the cuts
  input  logic [127:0] a_i,
  input  logic [127:0] b_i,
  input  logic [7:0]   a_scale_i,
  input  logic [7:0]   b_scale_i,
  output logic [31:0]  fp32_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Cuts < 0 || Cuts > 31) begin : gen_check_cuts
    $fatal(1, "ng_dot_mxfp4: Cuts=%0d; expected 0 to 31", Cuts);
  end
`endif

  localparam int ExpWidth = 10;

  // ---- dot product, and beside it the exponent of its highest place
  logic signed [13:0]         dot, dot_q;
  logic [7:0]                 a_scale, b_scale;
  logic signed [ExpWidth-1:0] top_exp, top_exp_q, top_exp_qq;
  logic                       nan, nan_q, nan_qq;
  ng_dot_e2m1 #(
    .Lanes(32),
    .Cuts ((Cuts & ng_mac_pkg::DotMxfp4CutNodes) != 0 ? ng_mac_pkg::DotE2m1CutNodes : 0)
  ) u_dot (
    .clk_i,
    .en_i,
    .a_i,
    .b_i,
    .dot_o(dot)
  );
  ng_cut #(
    .Width (16),
    .Enable(Cuts & ng_mac_pkg::DotMxfp4CutNodes)
  ) u_nodes (
    .clk_i,
    .en_i,
    .d_i  ({a_scale_i, b_scale_i}),
    .q_o  ({a_scale, b_scale})
  );
  assign nan = (&a_scale) | (&b_scale);
  assign top_exp = ExpWidth'(a_scale) + ExpWidth'(b_scale) - ExpWidth'(254 - 10);
  ng_cut #(
    .Width (15 + ExpWidth),
    .Enable(Cuts & ng_mac_pkg::DotMxfp4CutDot)
  ) u_dot_cut (
    .clk_i,
    .en_i,
    .d_i  ({dot, top_exp, nan}),
    .q_o  ({dot_q, top_exp_q, nan_q})
  );

  // ---- magnitude, normalized
  logic        negative, negative_q, unused_sticky;
  logic [12:0] magnitude, magnitude_q, sig;
  logic [3:0]  shift;
  assign negative = dot_q[13];
  assign magnitude = 13'(negative ? -dot_q : dot_q);
  ng_cut #(
    .Width (15 + ExpWidth),
    .Enable(Cuts & ng_mac_pkg::DotMxfp4CutMagnitude)
  ) u_magnitude (
    .clk_i,
    .en_i,
    .d_i  ({magnitude, negative, top_exp_q, nan_q}),
    .q_o  ({magnitude_q, negative_q, top_exp_qq, nan_qq})
  );
  ng_normalize #(
    .Width   (13),
    .OutWidth(13)
  ) u_normalize (
    .clk_i,
    .en_i,
    .data_i  (magnitude_q),
    .fill_i  (1'b0),
    .sig_o   (sig),
    .sticky_o(unused_sticky),
    .shift_o (shift)
  );

  // ---- rounded once
  logic [12:0]                round_sig;
  logic signed [ExpWidth-1:0] round_exp;
  logic                       round_nan, round_sign;
  ng_cut #(
    .Width (15 + ExpWidth),
    .Enable(Cuts & ng_mac_pkg::DotMxfp4CutNormalized)
  ) u_normalized (
    .clk_i,
    .en_i,
    .d_i  ({sig, top_exp_qq - ExpWidth'(shift), nan_qq, negative_q & ~nan_qq}),
    .q_o  ({round_sig, round_exp, round_nan, round_sign})
  );
  ng_round_pack #(
    .SigWidth(13),
    .ExpWidth(ExpWidth),
    .ExpLo   (10 - 12 - 254),
    .ExpHi   (10 + 254),
    .RandBits(1),
    .Cuts    ((Cuts & ng_mac_pkg::DotMxfp4CutShifted) != 0 ? ng_round_pkg::CutShifted : 0)
  ) u_round (
    .clk_i,
    .en_i,
    .mode_i(ng_round_pkg::NearestEven),
    .nan_i (round_nan),
    .inf_i (1'b0),
    .sign_i(round_sign),
    .exp_i (round_exp),
    .sig_i (round_sig),
    .rand_i(1'b0),
    .code_o(fp32_o)
  );

endmodule
