// SPDX-License-Identifier: Apache-2.0
// One element of ng_noise_monitor: 3 (y - l)(u - y) - y^2, y = y_i / 2^FracBits a magnitude and l
// <= y <= u its neighbours in E2M1, in units of 4^-FracBits. Combinational. Beyond 6, and at a
// number of the grid, the first part is 0.
//
// With f = y - l below the step h, the first part is 3 f (h - f), and the whole is f (3 h - 2 l) -
// 4 f^2 - l^2. Each number of the grid is a multiple of the step above it, so f is y modulo h. In
// halves, from l = 0 on:
//   2 l         0   1   2   3   4   6   8   from 12 on, f (-2 l) - f^2 - l^2:
//   2 h         1   1   1   1   2   2   4
//   6 h - 4 l   3   1  -1  -3  -2  -6  -4   -24
// All of them are 1 or 3 times a power of two, so there is no product but the square of f.
//
// Width argument: y < 8, so y^2 < 2^(2 FracBits + 6), and f (h - f) <= h^2 / 4 = 4^FracBits.
module ng_noise_lane #(
  parameter int FracBits = 4,
  localparam int Width = FracBits + 3,
  localparam int ExcessWidth = 2 * FracBits + 7
) (
  input  logic        [Width-1:0]       y_i,
  output logic signed [ExcessWidth-1:0] excess_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (FracBits < 2 || FracBits > 8) begin : gen_check_frac_bits
    $fatal(1, "ng_noise_lane: FracBits=%0d; expected 2 to 8", FracBits);
  end
`endif

  localparam int PartWidth = FracBits + 1;
  localparam int SquareWidth = 2 * PartWidth;

  // l by the three integer bits and the half: index of the number of the grid.
  logic       beyond, three, minus;
  logic [1:0] shift;
  logic [7:0] low_square;  // (2 l)^2
  always_comb begin
    beyond = 1'b0;
    unique casez (y_i[Width-1 -: 4])
      4'b0000: {three, minus, shift, low_square} = {1'b1, 1'b0, 2'd0, 8'd0};
      4'b0001: {three, minus, shift, low_square} = {1'b0, 1'b0, 2'd0, 8'd1};
      4'b0010: {three, minus, shift, low_square} = {1'b0, 1'b1, 2'd0, 8'd4};
      4'b0011: {three, minus, shift, low_square} = {1'b1, 1'b1, 2'd0, 8'd9};
      4'b010?: {three, minus, shift, low_square} = {1'b0, 1'b1, 2'd1, 8'd16};
      4'b011?: {three, minus, shift, low_square} = {1'b1, 1'b1, 2'd1, 8'd36};
      4'b10??: {three, minus, shift, low_square} = {1'b0, 1'b1, 2'd2, 8'd64};
      default: begin
        {three, minus, shift, low_square} = {1'b1, 1'b1, 2'd3, 8'd144};
        beyond = 1'b1;
      end
    endcase
  end

  logic [PartWidth-1:0]   mask, part;
  logic [SquareWidth-1:0] square;
  logic [PartWidth+1:0]   multiple;
  logic [ExcessWidth-1:0] linear, quadratic, rest;
  assign mask = {y_i[Width-1], |y_i[Width-1 -: 2], {(PartWidth-2){1'b1}}};
  assign part = y_i[PartWidth-1:0] & mask;
  assign square = SquareWidth'(part) * SquareWidth'(part);
  assign multiple = {2'b0, part} + (three ? {1'b0, part, 1'b0} : '0);
  assign linear = (ExcessWidth'(multiple) << (FracBits - 1)) << shift;
  // Minus all: quadratic and l^2, and linear where it is subtracted.
  assign quadratic = beyond ? ExcessWidth'(square) : ExcessWidth'(square) << 2;
  assign rest = quadratic + (ExcessWidth'(low_square) << (2 * FracBits - 2));
  assign excess_o = $signed((minus ? ~linear : linear) - rest + {{(ExcessWidth-1){1'b0}}, minus});

endmodule
