// SPDX-License-Identifier: Apache-2.0
//
// For all numbers, scales and random words, an element of ng_quantize_luq is what LUQ's rule says, by comparison with the grid:
// |x| / alpha as an integer in units of 2^-(9 + RandBits), up if and only if floor(delta 2^r) + R >= 2^r.
//
// Beyond 2^8 alpha, and below 2^-(RandBits + 1) alpha, where nothing can go up, the integer would be too wide: there the rule is
// stated by itself. QUANTIZE_LUQ_FALSE lets nearest send half of alpha up.
module quantize_luq_proof #(
  parameter int RandBits = 4
) (
  input logic [15:0]         x_i,
  input logic [7:0]          scale_i,
  input logic                stochastic_i,
  input logic [RandBits-1:0] rand_i
);
  localparam int Unit = 9 + RandBits;          // fraction bits of the integer
  localparam int Width = 9 + Unit;
`ifdef QUANTIZE_LUQ_FALSE
  localparam bit Even = 1'b0;
`else
  localparam bit Even = 1'b1;
`endif

  logic [3:0] code;
  logic       special;
  ng_quantize_luq #(
    .Lanes   (1),
    .RandBits(RandBits)
  ) u_dut (
    .clk_i       (1'b0),
    .en_i        (1'b1),
    .a_i         (x_i),
    .scale_i     (scale_i),
    .stochastic_i(stochastic_i),
    .rand_i      (rand_i),
    .codes_o     (code),
    .special_o   (special)
  );

  logic               nan, infinite, up;
  logic        [7:0]  sig;
  logic signed [9:0]  d;
  logic [Width-1:0]   y, above, step;  // |x| / alpha, what it is above the grid's number below, the step from there
  logic [RandBits:0]  fraction;        // floor(delta 2^r)
  logic [2:0]         field;
  logic [3:0]         rounded;
  assign nan = (&scale_i) || ((&x_i[14:7]) && x_i[6:0] != '0);
  assign infinite = (&x_i[14:7]) && x_i[6:0] == '0;
  assign sig = x_i[14:7] == '0 ? {x_i[6:0], 1'b0} : {1'b1, x_i[6:0]};  // in units of 2^(e - 127 - 7)
  assign d = 10'({2'b0, x_i[14:7]}) - 10'({2'b0, scale_i});
  always_comb begin
    y = '0;
    if (d <= 7 && d >= -(RandBits + 2)) y = Width'(sig) << (d + RandBits + 2);
    field = 3'd0;
    above = y;
    step = Width'(1) << Unit;
    fraction = (RandBits + 1)'(y >> (Unit - RandBits));
    for (int c = 1; c <= 7; c++) begin
      if (y >= (Width'(1) << (Unit + c - 1))) begin
        field = 3'(c);
        step = Width'(1) << (Unit + c - 1);
        above = y - step;
        fraction = (RandBits + 1)'((y - step) >> (Unit + c - 1 - RandBits));
      end
    end
    if (stochastic_i) up = {1'b0, fraction} + {2'b0, rand_i} >= (RandBits + 2)'(1) << RandBits;
    else if (field == 3'd0 && Even) up = above << 1 > step;
    else up = above << 1 >= step;
    rounded = {1'b0, field} + {3'd0, up};
    if (field == 3'd7 || d > 7) rounded = 4'd7;
    if (nan) assert (code == 4'h7);
    else if (infinite) assert (code == {x_i[15], 3'h7});
    else assert (code == {x_i[15], rounded[2:0]});
    assert (special == (nan || infinite));
  end
endmodule
