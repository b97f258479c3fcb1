// SPDX-License-Identifier: Apache-2.0
// A unit that is not of this library: the sum of absolute differences of four pairs of bytes, in plain Verilog.
module sad4 (
    input  [31:0] a_i,
    input  [31:0] b_i,
    output [ 9:0] sum_o
);
  function [7:0] distance(input [7:0] a, input [7:0] b);
    distance = a > b ? a - b : b - a;
  endfunction

  assign sum_o = distance(a_i[7:0], b_i[7:0]) + distance(a_i[15:8], b_i[15:8]) + distance(a_i[23:16], b_i[23:16])
      + distance(a_i[31:24], b_i[31:24]);
endmodule
