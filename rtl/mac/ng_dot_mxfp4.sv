// SPDX-License-Identifier: Apache-2.0
// Dot product of two MXFP4 blocks: 32 pairs of E2M1 numbers, summed exactly, times both E8M0 scales, rounded once to FP32 (nearest
// even; only subnormal results are inexact, and what is too large becomes infinite). A scale of 0xFF is NaN. Combinational.
//
// Width argument. The sum is within +-32 * 144 = 4608 in units of 2^-2: magnitude of 13 bits, the top one of exponent 10. Scales
// are 2^(code - 127), so the exponent of a normalized result lies between 10 - 12 - 254 and 10 + 254.
module ng_dot_mxfp4 (
  input  logic [127:0] a_i,
  input  logic [127:0] b_i,
  input  logic [7:0]   a_scale_i,
  input  logic [7:0]   b_scale_i,
  output logic [31:0]  fp32_o
);

  localparam int ExpWidth = 10;

  logic signed [13:0] dot;
  logic               nan, negative, unused_sticky;
  logic [12:0]        magnitude, sig;
  logic [3:0]         shift;
  ng_dot_e2m1 #(
    .Lanes(32)
  ) u_dot (
    .a_i  (a_i),
    .b_i  (b_i),
    .dot_o(dot)
  );
  assign nan = (&a_scale_i) | (&b_scale_i);
  assign negative = dot[13];
  assign magnitude = 13'(negative ? -dot : dot);
  ng_normalize #(
    .Width   (13),
    .OutWidth(13)
  ) u_normalize (
    .data_i  (magnitude),
    .fill_i  (1'b0),
    .sig_o   (sig),
    .sticky_o(unused_sticky),
    .shift_o (shift)
  );

  logic signed [ExpWidth-1:0] exponent;
  assign exponent = ExpWidth'(a_scale_i) + ExpWidth'(b_scale_i) - ExpWidth'(shift) - ExpWidth'(254 - 10);
  ng_round_pack #(
    .SigWidth(13),
    .ExpWidth(ExpWidth),
    .ExpLo   (10 - 12 - 254),
    .ExpHi   (10 + 254),
    .RandBits(1)
  ) u_round (
    .mode_i(2'd0),
    .nan_i (nan),
    .inf_i (1'b0),
    .sign_i(negative & ~nan),
    .exp_i (exponent),
    .sig_i (sig),
    .rand_i(1'b0),
    .code_o(fp32_o)
  );

endmodule
