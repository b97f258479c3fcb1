// SPDX-License-Identifier: Apache-2.0
// Two rows of a column under the masks of several planes: for each plane the sum of those of the
// two numbers that it selects. The planes share the sum of both numbers and choose between zero,
// one of the numbers and that sum, so a plane needs no adder here. 9 bits hold the sum of two INT8.
module ng_plane_pair #(
  parameter int Planes = 3
) (
  input  logic [7:0]          even_i,    // two's complement
  input  logic [7:0]          odd_i,
  input  logic [2*Planes-1:0] select_i,  // of each plane: the even number, the odd number
  output logic [9*Planes-1:0] sums_o
);
  logic [8:0] even, odd, both;
  assign even = {even_i[7], even_i};
  assign odd = {odd_i[7], odd_i};
  assign both = even + odd;
  for (genvar k = 0; k < Planes; k++) begin : gen_plane
    logic take_even, take_odd;
    assign {take_odd, take_even} = select_i[2*k +: 2];
    assign sums_o[9*k +: 9] = take_even ? (take_odd ? both : even) : (odd & {9{take_odd}});
  end
endmodule
