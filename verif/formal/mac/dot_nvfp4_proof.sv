// SPDX-License-Identifier: Apache-2.0
//
// For all inputs, the 16-lane NVFP4 dot product is what its header says. The assertions, all for free inputs:
//
//   1. in ng_dot_e2m1 (macro FORMAL): every lane stands for the product of its two decoded codes (twice the value, from the
//      table of the format); every node of the tree for the sum of what its two children stand for, in 16-bit arithmetic,
//      which its values of at most 2 * 2304 cannot overflow; dot_o for what the root stands for. By induction over the levels,
//      dot_o is the sum of all products. (Asserted node by node because a SAT solver sees each step and not the whole: the
//      unit adds and subtracts magnitudes, so no inner signal equals one of a plain adder tree.)
//   2. here: nan_o is set if and only if a scale is NaN, and then the term is 0.
//
// The remaining step, term_o = dot * scale * scale, has only 4609 * 2^14 inputs: the bench rtl.scale_nvfp4 runs all of them
// against the golden model. ng_dot_nvfp4 is the two units and wires.
//
// DOT_E2M1_FALSE lets the table say 3.5 for code 5 (which is 3): this must be refuted.
module dot_nvfp4_proof (
  input logic [63:0] a_i,
  input logic [63:0] b_i,
  input logic [7:0]  a_scale_i,
  input logic [7:0]  b_scale_i
);
  logic signed [47:0] term;
  logic               nan, spec_nan;
  ng_dot_nvfp4 u_dut (
    .a_i      (a_i),
    .b_i      (b_i),
    .a_scale_i(a_scale_i),
    .b_scale_i(b_scale_i),
    .term_o   (term),
    .nan_o    (nan)
  );

  assign spec_nan = a_scale_i[6:0] == 7'h7F || b_scale_i[6:0] == 7'h7F;
  always_comb begin
    assert (nan == spec_nan);
    assert (!spec_nan || term == 48'sd0);
  end
endmodule
