// SPDX-License-Identifier: Apache-2.0
// Prunes two numbers to one, unbiased and with the least variance (MVUE 1:2, arXiv 2203.10991):
// element i stays with probability |a_i| / (|a_0| + |a_1|), as its sign times the sum. Numbers are
// fixed-point, sign and magnitude, the sign on top.
//
// With u = (2 rand_i + 1) / 2^(RandBits + 1), element 0 stays where u (|a_0| + |a_1|) < |a_0|, or
// element 1 is zero. A whole number is above u (|a_0| + |a_1|) or not as it is above its floor.
//
// Width argument: the sum of two magnitudes of Width - 1 bits has Width, its product with the
// RandBits + 1 bits of 2 rand_i + 1 has Width + RandBits + 1.
module ng_mvue_1_2 #(
  parameter int Width    = 8,  // bits of a number
  parameter int RandBits = 16
) (
  input  logic [2*Width-1:0]  a_i,
  input  logic [RandBits-1:0] rand_i,
  output logic [Width:0]      value_o,    // sign and magnitude
  output logic [3:0]          metadata_o  // 0100: element 0, 1110: element 1
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 2 || Width > 32) begin : gen_check_width
    $fatal(1, "ng_mvue_1_2: Width=%0d; expected 2 to 32", Width);
  end
  if (RandBits < 1 || RandBits > 32) begin : gen_check_rand_bits
    $fatal(1, "ng_mvue_1_2: RandBits=%0d; expected 1 to 32", RandBits);
  end
`endif

  logic [Width-1:0]          first, second, sum;
  logic [Width+RandBits:0]   product;
  logic                      takes_second;
  assign first = {1'b0, a_i[0 +: Width-1]};
  assign second = {1'b0, a_i[Width +: Width-1]};
  assign sum = first + second;
  assign product = (Width + RandBits + 1)'({rand_i, 1'b1}) * (Width + RandBits + 1)'(sum);
  assign takes_second = second != '0 && product[RandBits+1 +: Width] >= first;
  assign value_o = {takes_second ? a_i[2*Width-1] : a_i[Width-1], sum};
  assign metadata_o = {takes_second, 1'b1, takes_second, 1'b0};
  logic unused_fraction;
  assign unused_fraction = &product[RandBits:0];
endmodule
