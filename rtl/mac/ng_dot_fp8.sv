// SPDX-License-Identifier: Apache-2.0
//
// Exact dot product of two FP8 vectors; the format of each is chosen at run time if FormatSet has both.
//
//   term_o = sum_i value(a_i[8*i+:8]) * value(b_i[8*i+:8]) in units of 2^-18 (E4M3 alone) or 2^-32 (with E5M2 in the set)
//
// nan_o: some lane's product is NaN (a NaN operand, or infinity times zero). pinf_o, ninf_o: some lane's product is that
// infinity. The flags stand beside term_o, which then counts special operands as ng_fp8_operand says: E4M3's NaN as 480,
// E5M2's infinities and NaNs as 0.
//
// Width argument: a product has 37 or 65 bits with its sign (ng_fp8_lane), the sum clog2(Lanes) more. Each adder of the tree
// takes the 1 that its left-over lane owes; Lanes lanes and Lanes - 1 adders, so lane 0 owes nothing.

module ng_dot_fp8 #(
  parameter int Lanes     = 32,
  parameter int FormatSet = ng_format_set_pkg::Fp8,  // 2 E4M3 + 4 E5M2
  localparam int LaneWidth = (FormatSet == ng_format_set_pkg::E4m3) ? 37 : 65,
  localparam int TermWidth = LaneWidth + $clog2(Lanes)
) (
  input  logic        [Lanes*8-1:0]   a_i,
  input  logic        [Lanes*8-1:0]   b_i,
  input  logic                        a_fmt_i,  // 0: E4M3, 1: E5M2; ignored if the set has only one
  input  logic                        b_fmt_i,
  output logic signed [TermWidth-1:0] term_o,
  output logic                        nan_o,
  output logic                        pinf_o,
  output logic                        ninf_o
);
  if (Lanes < 1) begin : gen_check_lanes $fatal(1, "ng_dot_fp8: Lanes=%0d; expected 1 or more", Lanes); end
  if (FormatSet == 0 || (FormatSet & ~ng_format_set_pkg::Fp8) != 0) begin : gen_check_format_set $fatal(1, "ng_dot_fp8: FormatSet=%0d; expected 2 to 6, a multiple of 2 (2 E4M3 + 4 E5M2)", FormatSet); end

  logic [Lanes*LaneWidth-1:0] term;
  logic [Lanes-1:0]           owed, nan, pinf, ninf;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    ng_fp8_lane #(
      .FormatSet(FormatSet),
      .Owe      (i == 0 ? 0 : 1)
    ) u_lane (
      .a_i    (a_i[8*i+:8]),
      .b_i    (b_i[8*i+:8]),
      .a_fmt_i(a_fmt_i),
      .b_fmt_i(b_fmt_i),
      .term_o (term[i*LaneWidth+:LaneWidth]),
      .owed_o (owed[i]),
      .nan_o  (nan[i]),
      .pinf_o (pinf[i]),
      .ninf_o (ninf[i])
    );
  end
  assign nan_o = |nan;
  assign pinf_o = |pinf;
  assign ninf_o = |ninf;

  logic unused_owed;
  assign unused_owed = owed[0];
  if (Lanes == 1) begin : gen_one
    assign term_o = term;
  end else begin : gen_sum
    ng_sum_tree #(
      .Operands(Lanes),
      .Width   (LaneWidth)
    ) u_sum (
      .x_i    (term),
      .carry_i(owed[Lanes-1:1]),
      .sum_o  (term_o)
    );
  end
endmodule
