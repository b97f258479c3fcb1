// SPDX-License-Identifier: Apache-2.0
//
// For all inputs, ng_dot_luq is the sum of the products of the values of its codes. Of more than two lanes no solver at hand
// decides it within ten minutes; there the bench has every pair in every lane.
module dot_luq_proof #(
  parameter int Lanes = 2
) (
  input logic [Lanes*4-1:0] a_i,
  input logic [Lanes*4-1:0] b_i
);
  localparam int Width = 11 + $clog2(Lanes);
  logic signed [Width-1:0] dot, sum;
  ng_dot_luq #(
    .Lanes(Lanes)
  ) u_dut (
    .clk_i(1'b0),
    .en_i (1'b0),
    .a_i  (a_i),
    .b_i  (b_i),
    .dot_o(dot)
  );
  always_comb begin
    sum = '0;
    for (int i = 0; i < Lanes; i++) sum = sum + Width'(ng_luq_spec_pkg::product(a_i[4*i+:4], b_i[4*i+:4]));
    assert (dot == sum);
  end
endmodule
