// SPDX-License-Identifier: Apache-2.0
//
// For all inputs, the 16-lane NVFP4 dot product is what its header says. Two passes (prove.py --lemmas):
//
//   lemmas   each asserted, and proven, by itself for free inputs. In ng_dot_e2m1 (macro FORMAL): every lane stands for the
//            product of its two decoded codes; every node of the tree for the sum of what its two children stand for; dot_o for
//            what the root stands for. Here: nan_o is set if and only if a scale is NaN, and then the term is 0.
//   whole    With NG_LEMMAS every lane and node is what its lemma says. Then dot_o is the sum of the products of the table's
//            values. (In two passes because the unit adds and subtracts magnitudes: no inner signal equals one of a plain adder
//            tree, and no solver at hand decides the whole at once.)
//
// All in 13-bit arithmetic, which the sum of at most 16 * 144 = 2304 does not overflow.
//
// The remaining step, term_o = dot * scale * scale, has only 4609 * 2^14 inputs: the bench rtl.scale_nvfp4 runs all of them
// against the golden model. ng_dot_nvfp4 is the two units and wires.
//
// DOT_E2M1_FALSE lets the table say 3.5 for code 5 (which is 3), and the sum forget lane 15: both passes must refute that.
module dot_nvfp4_proof (
  input logic [63:0] a_i,
  input logic [63:0] b_i,
  input logic [7:0]  a_scale_i,
  input logic [7:0]  b_scale_i
);
`ifdef NG_LEMMAS
`ifdef DOT_E2M1_FALSE
  localparam int Summed = 15;
`else
  localparam int Summed = 16;
`endif
  logic signed [12:0] dot, sum;
  ng_dot_e2m1 #(
    .Lanes(16)
  ) u_dut (
    .clk_i(1'b0),
    .en_i (1'b0),
    .a_i  (a_i),
    .b_i  (b_i),
    .dot_o(dot)
  );
  always_comb begin
    sum = '0;
    for (int i = 0; i < Summed; i++)
      sum = sum + 13'(ng_e2m1_spec_pkg::twice_value(a_i[4*i+:4])) * 13'(ng_e2m1_spec_pkg::twice_value(b_i[4*i+:4]));
    assert (dot == sum);
  end
`else
  logic signed [47:0] term;
  logic               nan, spec_nan;
  ng_dot_nvfp4 u_dut (
    .clk_i    (1'b0),
    .en_i     (1'b0),
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
`endif
endmodule
