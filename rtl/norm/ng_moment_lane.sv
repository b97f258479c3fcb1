// SPDX-License-Identifier: Apache-2.0
// What a code of ng_moment_stats adds to its channel.
//
// Order 2: the code, and its square. With k the seven bits that are left of a negative code when all
// its bits are inverted, as they are of another, the square is k^2 or k^2 + 2k + 1. k^2 is folded: a
// product k_i k_j stands once, one column further left. Its rows overlap in four.
//
// Order 1: whether the code is above the centre, and the distance of both. The distance is
// centre - code, or its complement and a one that is owed wherever the code is above.
//
// Width argument: a square is 128^2 or less, 15 bits with no sign. Two codes are 255 apart or less.
module ng_moment_lane #(
  parameter int Order = 2,
  localparam int SpreadBits = Order == 2 ? 15 : 8,
  localparam int SumBits    = Order == 2 ? 8 : 1
) (
  input  logic [7:0]            code_i,
  input  logic [7:0]            centre_i,  // of order 1
  output logic [SpreadBits-1:0] spread_o,  // not negative
  output logic [SumBits:0]      sum_o,     // signed
  output logic                  owed_o     // one more belongs to the spread
);
  if (Order == 2) begin : gen_square
    logic [6:0]  k;
    logic [12:0] row_0_4_6, row_1_5, row_2, row_3;
    logic [7:0]  complement;
    logic        unused_centre;
    assign unused_centre = ^centre_i;
    assign k = code_i[6:0] ^ {7{code_i[7]}};
    assign row_0_4_6 = {k[6], k[6:5] & {2{k[4]}}, 1'b0, k[4], k[6:1] & {6{k[0]}}, 1'b0, k[0]};
    assign row_1_5 = {k[6] & k[5], 1'b0, k[5], 1'b0, k[6:2] & {5{k[1]}}, 1'b0, k[1], 2'b0};
    assign row_2 = {3'b0, k[6:3] & {4{k[2]}}, 1'b0, k[2], 4'b0};
    assign row_3 = {2'b0, k[6:4] & {3{k[3]}}, 1'b0, k[3], 6'b0};
    assign complement = {k, 1'b1} & {8{code_i[7]}};
    assign spread_o = ((15'(row_0_4_6) + 15'(row_1_5)) + (15'(row_2) + 15'(row_3))) + 15'(complement);
    assign sum_o = {code_i[7], code_i};
    assign owed_o = 1'b0;
  end else begin : gen_distance
    logic [8:0] distance;
    assign distance = 9'($signed(centre_i)) - 9'($signed(code_i));
    assign spread_o = distance[7:0] ^ {8{distance[8]}};
    assign sum_o = {1'b0, distance[8]};
    assign owed_o = distance[8];
  end
endmodule
