// SPDX-License-Identifier: Apache-2.0
//
// Exact dot product of two NVFP4 blocks: 16 E2M1 elements and one UE4M3 scale each. The FP32 tensor
// scales are applied elsewhere.
//
//   term_o = ue4m3(a_scale_i) * ue4m3(b_scale_i) * sum_i e2m1(a_i[4*i+:4]) * e2m1(b_i[4*i+:4]) in
//   units of 2^-20 nan_o  = either scale is NaN (payload 7'h7F); term_o is then 0
//
// Width argument: |sum| <= 16 * 36 = 576 and scales up to 448: 576 * 448^2 < 2^27, and 20 fraction
// bits and sign make 48.
//
// Cuts (docs/cuts.md): bit 0 in the tree of ng_dot_e2m1, the others in ng_scale_nvfp4; the first of
// these holds the finished dot product, beside which the scales' significands are multiplied.

module ng_dot_nvfp4 #(
  parameter int Cuts = 0  // registers: 1 nodes + 2 significand + 4 product + 8 sum + 16 term
) (
  input  logic               clk_i,  // clock of the cuts
  input  logic               en_i,   // enable of the cuts
  input  logic        [63:0] a_i,
  input  logic        [63:0] b_i,
  input  logic        [7:0]  a_scale_i,
  input  logic        [7:0]  b_scale_i,
  output logic signed [47:0] term_o,
  output logic               nan_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Cuts < 0 || Cuts > 31) begin : gen_check_cuts
    $fatal(1, "ng_dot_nvfp4: Cuts=%0d; expected 0 to 31", Cuts);
  end
`endif

  logic signed [12:0] dot;
  logic        [7:0]  a_scale, b_scale;

  ng_dot_e2m1 #(
    .Lanes(16),
    .Cuts ((Cuts & ng_mac_pkg::DotNvfp4CutNodes) != 0 ? ng_mac_pkg::DotE2m1CutNodes : 0)
  ) u_dot (
    .clk_i,
    .en_i,
    .a_i,
    .b_i,
    .dot_o(dot)
  );

  ng_cut #(
    .Width (16),
    .Enable(Cuts & ng_mac_pkg::DotNvfp4CutNodes)
  ) u_nodes (
    .clk_i,
    .en_i,
    .d_i  ({a_scale_i, b_scale_i}),
    .q_o  ({a_scale, b_scale})
  );

  ng_scale_nvfp4 #(
    .Cuts(Cuts >> ng_mac_pkg::DotNvfp4ScaleShift)
  ) u_scale (
    .clk_i,
    .en_i,
    .dot_i    (dot),
    .a_scale_i(a_scale),
    .b_scale_i(b_scale),
    .term_o,
    .nan_o
  );
endmodule
