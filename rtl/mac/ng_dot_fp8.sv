// SPDX-License-Identifier: Apache-2.0
//
// Exact dot product of two FP8 vectors; the format of each is chosen at run time if FormatSet has
// both.
//
//   term_o = sum_i value(a_i[8*i+:8]) * value(b_i[8*i+:8]) in units of 2^-18 (E4M3 alone) or 2^-32
//   (with E5M2 in the set)
//
// nan_o: some lane's product is NaN (a NaN operand, or infinity times zero). pinf_o, ninf_o: some
// lane's product is that infinity. The flags stand beside term_o, which then counts special
// operands as ng_fp8_operand says: E4M3's NaN as 480, E5M2's infinities and NaNs as 0.
//
// Width argument: a product has 37 or 65 bits with its sign (ng_fp8_lane), the sum clog2(Lanes)
// more. Each adder of the tree takes the 1 that its left-over lane owes; Lanes lanes and Lanes - 1
// adders, so lane 0 owes nothing.
//
// Cuts (docs/cuts.md): bit 0 in the lanes, 1 between lanes and tree, 2 behind the tree.

module ng_dot_fp8 #(
  parameter int Lanes     = 32,
  parameter int FormatSet = ng_format_set_pkg::Fp8,  // 2 E4M3 + 4 E5M2
  parameter int Cuts      = 0,  // registers: 1 product + 2 lanes + 4 sum
  localparam int LaneWidth = (FormatSet == ng_format_set_pkg::E4m3) ? 37 : 65,
  localparam int TermWidth = LaneWidth + $clog2(Lanes)
) (
  input  logic                        clk_i,    // clock of the cuts
  input  logic                        en_i,     // enable of the cuts
  input  logic        [Lanes*8-1:0]   a_i,
  input  logic        [Lanes*8-1:0]   b_i,
  input  logic                        a_fmt_i,  // 0: E4M3, 1: E5M2; ignored if the set has only one
  input  logic                        b_fmt_i,
  output logic signed [TermWidth-1:0] term_o,
  output logic                        nan_o,
  output logic                        pinf_o,
  output logic                        ninf_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1) begin : gen_check_lanes
    $fatal(1, "ng_dot_fp8: Lanes=%0d; expected 1 or more", Lanes);
  end
  if (FormatSet == 0 || (FormatSet & ~ng_format_set_pkg::Fp8) != 0) begin : gen_check_format_set
    $fatal(1, "ng_dot_fp8: FormatSet=%0d; expected 2 to 6, a multiple of 2 (2 E4M3 + 4 E5M2)",
           FormatSet);
  end
  if (Cuts < 0 || Cuts > 7) begin : gen_check_cuts
    $fatal(1, "ng_dot_fp8: Cuts=%0d; expected 0 to 7", Cuts);
  end
`endif

  logic [Lanes*LaneWidth-1:0] lane_term, term;
  logic [Lanes-1:0]           lane_owed, owed, lane_nan, lane_pinf, lane_ninf;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    ng_fp8_lane #(
      .FormatSet(FormatSet),
      .Owe      (i != 0),
      .Cuts     ((Cuts & ng_mac_pkg::DotFp8CutProduct) != 0 ? ng_mac_pkg::Fp8LaneCutProduct : 0)
    ) u_lane (
      .clk_i,
      .en_i,
      .a_i    (a_i[8*i+:8]),
      .b_i    (b_i[8*i+:8]),
      .a_fmt_i,
      .b_fmt_i,
      .term_o (lane_term[i*LaneWidth+:LaneWidth]),
      .owed_o (lane_owed[i]),
      .nan_o  (lane_nan[i]),
      .pinf_o (lane_pinf[i]),
      .ninf_o (lane_ninf[i])
    );
  end

  logic nan, pinf, ninf;
  ng_cut #(
    .Width (Lanes * (LaneWidth + 1) + 3),
    .Enable(Cuts & ng_mac_pkg::DotFp8CutLanes)
  ) u_lanes (
    .clk_i,
    .en_i,
    .d_i  ({lane_term, lane_owed, |lane_nan, |lane_pinf, |lane_ninf}),
    .q_o  ({term, owed, nan, pinf, ninf})
  );

  logic [TermWidth-1:0] sum;
  logic unused_owed;
  assign unused_owed = owed[0];
  if (Lanes == 1) begin : gen_one
    assign sum = term;
  end else begin : gen_sum
    ng_sum_tree #(
      .Operands(Lanes),
      .Width   (LaneWidth)
    ) u_sum (
      .x_i    (term),
      .carry_i(owed[Lanes-1:1]),
      .sum_o  (sum)
    );
  end
  ng_cut #(
    .Width (TermWidth + 3),
    .Enable(Cuts & ng_mac_pkg::DotFp8CutSum)
  ) u_sum (
    .clk_i,
    .en_i,
    .d_i  ({sum, nan, pinf, ninf}),
    .q_o  ({term_o, nan_o, pinf_o, ninf_o})
  );
endmodule
