// SPDX-License-Identifier: Apache-2.0
// NVFP4 multiply-accumulate: a block of 16 pairs a clock, summed exactly. The dot product with its
// block scales (ng_dot_nvfp4) and the exact accumulator (ng_exact_acc), with what sends "valid"
// along beside the cuts.
//
// valid_i: take the block. first_i: start a new sum. acc_o, nan_o: the sum of the blocks taken so
// far, in units of 2^-20, and whether a scale among them was NaN, as many clocks after the last of
// them as the unit's latency says:
// 1, one more for each bit of DotCuts, one more with Split. A block can come every clock; nothing
// holds the pipeline.
//
// Width argument: terms of ng_dot_nvfp4 have 48 bits; AccWidth = 48 + clog2(n) holds any n of them.
module ng_nvfp4_mac #(
  parameter int AccWidth = 64,
  parameter int DotCuts  = 0,  // registers: 1 nodes + 2 significand + 4 product + 8 sum + 16 term
  // low bits of the sum that are added a clock before the others; 0: all at once
  parameter int Split    = 0
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  input  logic                       first_i,
  input  logic        [63:0]         a_i,
  input  logic        [63:0]         b_i,
  input  logic        [7:0]          a_scale_i,
  input  logic        [7:0]          b_scale_i,
  output logic signed [AccWidth-1:0] acc_o,
  output logic                       nan_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (AccWidth < 48) begin : gen_check_acc_width
    $fatal(1, "ng_nvfp4_mac: AccWidth=%0d; expected 48 or more", AccWidth);
  end
  if (DotCuts < 0 || DotCuts > 31) begin : gen_check_dot_cuts
    $fatal(1, "ng_nvfp4_mac: DotCuts=%0d; expected 0 to 31", DotCuts);
  end
  if (Split < 0 || Split > 47) begin : gen_check_split
    $fatal(1, "ng_nvfp4_mac: Split=%0d; expected 0 to 47", Split);
  end
`endif

  localparam int Stages = ng_prim_pkg::cut_count(DotCuts);

  logic signed [47:0] term;
  logic               term_nan;
  ng_dot_nvfp4 #(
    .Cuts(DotCuts)
  ) u_dot (
    .clk_i,
    .en_i     (1'b1),
    .a_i,
    .b_i,
    .a_scale_i,
    .b_scale_i,
    .term_o   (term),
    .nan_o    (term_nan)
  );

  // ---- beside the cuts: [0] goes in, the highest comes out
  logic [Stages:0] valid, first;
  ng_valid_pipe #(
    .Depth(Stages)
  ) u_valid (
    .clk_i,
    .rst_ni,
    .en_i   (1'b1),
    .valid_i,
    .valid_o(valid)
  );
  assign first[0] = first_i;
  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    logic first_q;
    assign first[s+1] = first_q;
    always_ff @(posedge clk_i) first_q <= first[s];
  end

  logic unused_pinf, unused_ninf;  // E2M1 has no infinities
  ng_exact_acc #(
    .TermWidth(48),
    .AccWidth (AccWidth),
    .Split    (Split)
  ) u_acc (
    .clk_i,
    .rst_ni,
    .valid_i(valid[Stages]),
    .first_i(first[Stages]),
    .term_i (term),
    .nan_i  (term_nan),
    .pinf_i (1'b0),
    .ninf_i (1'b0),
    .acc_o,
    .nan_o,
    .pinf_o (unused_pinf),
    .ninf_o (unused_ninf)
  );
endmodule
