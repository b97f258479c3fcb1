// SPDX-License-Identifier: Apache-2.0
// For all codes, multipliers, offsets and exponents, an element of ng_norm_apply is the sum of product and offset, rounded once to
// nearest even: to INT8, saturated, or to BF16. The product is the unit's own wire: that it is the product of both is an assertion
// of its own, of the same operator as in the unit. BF16 is stated for each place of the magnitude's top bit. NORM_APPLY_FALSE
// sends ties the other way.
module norm_apply_proof #(
  parameter bit Bf16     = 1'b0,
  parameter int FracBits = 10,
  localparam int OutBits = Bf16 ? 16 : 8
) (
  input logic [7:0]  code_i,
  input logic [15:0] multiplier_i,
  input logic [23:0] offset_i,
  input logic [6:0]  exp_i
);
`ifdef NORM_APPLY_FALSE
  localparam bit False = 1'b1;
`else
  localparam bit False = 1'b0;
`endif
  logic [OutBits-1:0] y;
  // The unit's wire of this name: Yosys connects it when it flattens.
  (* hierconn *) wire [23:0] \u_dut.gen_lane[0].u_lane.product ;
  ng_norm_apply #(
    .Lanes   (1),
    .Bf16    (Bf16),
    .FracBits(FracBits)
  ) u_dut (
    .clk_i       (1'b0),
    .en_i        (1'b1),
    .codes_i     (code_i),
    .multiplier_i(multiplier_i),
    .offset_i    (offset_i),
    .exp_i       (exp_i),
    .y_o         (y)
  );
  logic signed [23:0] product;
  logic signed [24:0] sum;
  assign product = \u_dut.gen_lane[0].u_lane.product ;
  assign sum = 25'(product) + 25'(signed'(offset_i));
  always_comb assert (product == 24'(signed'(code_i)) * 24'(signed'(multiplier_i)));

  if (!Bf16) begin : gen_int8
    localparam logic [FracBits-1:0] Half = 1 << (FracBits - 1);
    logic signed [25:0] floor, rounded;
    logic [FracBits-1:0] rest;
    assign floor = 26'(sum) >>> FracBits;
    assign rest = sum[FracBits-1:0];
    assign rounded = floor + 26'(rest > Half || (rest == Half && floor[0] != False));
    always_comb assert (y == (rounded > 127 ? 8'h7F : rounded < -128 ? 8'h80 : rounded[7:0]));
  end else begin : gen_bf16
    logic [24:0] magnitude;
    assign magnitude = sum[24] ? -sum : sum;
    always_comb if (sum == '0) assert (y == '0);
    for (genvar top = 0; top < 24; top++) begin : gen_top
      // Eight bits with the top one, and what is below them.
      logic [8:0]  kept;
      logic [32:0] wide;
      logic [9:0]  exponent;
      assign wide = {magnitude, 8'b0} >> top;  // eight bits, then up to 24 below in `rest`
      logic [24:0] rest, half;
      assign half = top > 7 ? 25'd1 << (top > 7 ? top - 8 : 0) : '0;
      assign rest = top > 7 ? magnitude & ~(25'h1FFFFFF << (top > 7 ? top - 7 : 0)) : '0;
      assign kept = {1'b0, wide[8:1]} + 9'(top > 7 && (rest > half || (rest == half && wide[1] != False)));
      assign exponent = 10'(signed'(exp_i)) + 10'(top) + 10'd127;
      always_comb begin
        if (magnitude[top] && (magnitude >> top) == 25'd1)
          assert (y == {sum[24], exponent[7:0] + 8'(kept[8]), kept[8] ? 7'b0 : kept[6:0]});
      end
    end
  end
endmodule
