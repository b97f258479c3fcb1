// SPDX-License-Identifier: Apache-2.0
//
// Exact dot product of two NVFP4 blocks: 16 E2M1 elements and one UE4M3 scale each. The FP32 tensor scales are applied
// elsewhere.
//
//   term_o = ue4m3(a_scale_i) * ue4m3(b_scale_i) * sum_i e2m1(a_i[4*i+:4]) * e2m1(b_i[4*i+:4]) in units of 2^-20
//   nan_o  = either scale is NaN (payload 7'h7F); term_o is then 0
//
// Width argument: |sum| <= 16 * 36 = 576 and scales up to 448: 576 * 448^2 < 2^27, and 20 fraction bits and sign make 48.

module ng_dot_nvfp4 (
  input  logic        [63:0] a_i,
  input  logic        [63:0] b_i,
  input  logic        [7:0]  a_scale_i,
  input  logic        [7:0]  b_scale_i,
  output logic signed [47:0] term_o,
  output logic               nan_o
);
  logic signed [12:0] dot;

  ng_dot_e2m1 #(
    .Lanes(16)
  ) u_dot (
    .a_i  (a_i),
    .b_i  (b_i),
    .dot_o(dot)
  );

  ng_scale_nvfp4 u_scale (
    .dot_i    (dot),
    .a_scale_i(a_scale_i),
    .b_scale_i(b_scale_i),
    .term_o   (term_o),
    .nan_o    (nan_o)
  );
endmodule
