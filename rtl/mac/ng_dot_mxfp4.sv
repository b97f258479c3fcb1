// SPDX-License-Identifier: Apache-2.0
// Dot product of two MXFP4 blocks: 32 pairs of E2M1 numbers, summed exactly, times both E8M0
// scales, rounded once to FP32 (nearest even; only subnormal results are inexact, and what is too
// large becomes infinite). A scale of 0xFF is NaN.
//
// Width argument. The sum is within +-32 * 144 = 4608 in units of 2^-2, 14 bits with its sign; the
// rest is that of ng_scale_mx.
//
// Cuts (docs/cuts.md): bit 0 in the tree of ng_dot_e2m1, 1 behind it, and from bit 2 on those of
// ng_scale_mx: behind the magnitude, behind the normalizer, in the rounding module.
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

  logic signed [13:0] dot, dot_q;
  logic [15:0]        scales, scales_q;
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
    .q_o  (scales)
  );
  ng_cut #(
    .Width (30),
    .Enable(Cuts & ng_mac_pkg::DotMxfp4CutDot)
  ) u_dot_cut (
    .clk_i,
    .en_i,
    .d_i  ({dot, scales}),
    .q_o  ({dot_q, scales_q})
  );
  ng_scale_mx #(
    .Width (14),
    .LsbExp(-2),
    .Cuts  (Cuts >> ng_mac_pkg::DotMxfp4ScaleShift)
  ) u_scale (
    .clk_i,
    .en_i,
    .dot_i    (dot_q),
    .nan_i    (1'b0),
    .pinf_i   (1'b0),
    .ninf_i   (1'b0),
    .a_scale_i(scales_q[15:8]),
    .b_scale_i(scales_q[7:0]),
    .fp32_o
  );

endmodule
