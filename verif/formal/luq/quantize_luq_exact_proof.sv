// SPDX-License-Identifier: Apache-2.0
//
// For all numbers, alphas and random words, an element of ng_quantize_luq_exact is what LUQ's rule says, by comparison with the grid, in
// integers: |x| and alpha in units of 2^-Unit of alpha's exponent, up if and only if (|x| - l) 2^r >= (u - l) (2^r - R).
//
// From 2^Levels times alpha's power of two on, and below 2^-Unit of it, where nothing can go up, the integer would be too wide: there
// the rule is stated by itself. QUANTIZE_LUQ_EXACT_FALSE lets nearest send half of alpha up.
module quantize_luq_exact_proof #(
  parameter int Levels   = 7,
  parameter int Alpha    = 0,
  parameter int RandBits = 4,
  localparam int ManBits  = Alpha == 0 ? 7 : 23,
  localparam int CodeBits = Levels == 8 ? 5 : 4
) (
  input logic [15:0]         x_i,
  input logic [ManBits+7:0]  scale_i,
  input logic                stochastic_i,
  input logic [RandBits-1:0] rand_i
);
  localparam int Unit = RandBits + 3;
  localparam int Width = ManBits + 1 + Unit + Levels + RandBits;
`ifdef QUANTIZE_LUQ_EXACT_FALSE
  localparam bit Even = 1'b0;
`else
  localparam bit Even = 1'b1;
`endif

  logic [CodeBits-1:0] code;
  logic                special;
  ng_quantize_luq_exact #(
    .Lanes   (1),
    .Levels  (Levels),
    .Alpha   (Alpha),
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

  logic                        refused, nan, infinite;
  logic [7:0]                  sig;
  logic [8:0]                  d;
  logic [ManBits+RandBits+1:0] m, product;  // of alpha's significand and 2^r - R
  logic [Width-1:0]            alpha;
  assign refused = (&scale_i[ManBits +: 8]) || scale_i[ManBits +: 8] == '0;
  assign nan = refused || ((&x_i[14:7]) && x_i[6:0] != '0);
  assign infinite = (&x_i[14:7]) && x_i[6:0] == '0;
  assign sig = x_i[14:7] == '0 ? {x_i[6:0], 1'b0} : {1'b1, x_i[6:0]};  // in units of 2^(e - 127 - 7)
  assign d = {1'b0, x_i[14:7]} - {1'b0, scale_i[ManBits +: 8]};
  assign m = {{RandBits+1{1'b0}}, 1'b1, scale_i[ManBits-1:0]};
  assign product = m * ((ManBits + RandBits + 2)'(1 << RandBits) - (ManBits + RandBits + 2)'(rand_i));
  assign alpha = Width'(m) << Unit;

  always_comb begin
    if (nan) assert (code == CodeBits'(Levels));
    else if (infinite) assert (code == {x_i[15], (CodeBits - 1)'(Levels)});
    else if (~d[8] && d >= 9'(Levels)) assert (code == {x_i[15], (CodeBits - 1)'(Levels)});
    else if (d[8] && d < 9'(-Unit)) assert (code == {x_i[15], (CodeBits - 1)'(0)});
    assert (special == (nan || infinite));
  end

  // A distance of exponents each, which leaves constant shifts.
  for (genvar k = -Unit; k < Levels; k++) begin : gen_distance
    logic [Width-1:0] x, low, step, bound;
    logic [3:0]       field;
    logic             up;
    assign x = Width'(sig) << (k + ManBits - 7 + Unit);
    always_comb begin
      field = 4'd0;
      low = '0;
      step = alpha;
      bound = Width'(product) << Unit;
      for (int c = 1; c <= Levels; c++) begin
        if (x >= alpha << (c - 1)) begin
          field = 4'(c);
          low = alpha << (c - 1);
          step = alpha << (c - 1);
          bound = Width'(product) << (Unit + c - 1);
        end
      end
      if (stochastic_i) up = (x - low) << RandBits >= bound;
      else if (field == 4'd0 && Even) up = x << 1 > step;
      else up = (x - low) << 1 >= step;
      if (field == 4'(Levels)) up = 1'b0;
      if (d == 9'(k) && !nan && !infinite) assert (code == {x_i[15], (CodeBits - 1)'(field + {3'd0, up})});
    end
  end
endmodule
