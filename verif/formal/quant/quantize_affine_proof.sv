// SPDX-License-Identifier: Apache-2.0
//
// For all numbers, inverses, shifts, zero points and random words, an element of ng_quantize_affine is the product of number and
// inverse plus the zero point, in integers of full width, rounded once and saturated. The product is the unit's own wire: that it
// is the product of both is an assertion of its own, of the same operator as in the unit.
//
// The rule is stated for each distance D, the places by which the product is shifted, which leaves constant shifts: `exact` is the
// sum in units of 2^-D. Beyond the distances that a product's width allows, where a number is less than a quarter, and below 0,
// where a normal number is beyond all codes, the rule is stated by itself. QUANTIZE_AFFINE_FALSE sends ties the other way, and takes
// random words for one less than they are.
module quantize_affine_proof #(
  parameter int Bits     = 8,
  parameter int Input    = 0,
  parameter bit Pow2     = 1'b1,
  parameter bit Signed   = 1'b1,
  parameter bit TiesAway = 1'b0,
  parameter int RandBits = 0,
  localparam int ShiftWidth = ng_affine_pkg::shift_width(Input, Pow2),
  localparam int RandWidth  = RandBits > 0 ? RandBits : 1
) (
  input logic [31:0]           x_i,
  input logic [23:0]           inverse_i,
  input logic [ShiftWidth-1:0] shift_i,
  input logic [Bits:0]         zero_point_i,
  input logic                  stochastic_i,
  input logic [RandWidth-1:0]  rand_i
);
`ifdef QUANTIZE_AFFINE_FALSE
  localparam bit False = 1'b1;
`else
  localparam bit False = 1'b0;
`endif
  localparam bit Float = Input == ng_affine_pkg::Fp32;
  localparam int ProductWidth = (Float ? 24 : 32) + (Pow2 ? 0 : 24);
  localparam int Low = Signed ? -(1 << (Bits - 1)) : 0;
  localparam int High = Low + (1 << Bits) - (False ? 2 : 1);

  logic [Bits-1:0] code;
  logic            special;
  // The unit's wire of this name: Yosys connects it when it flattens.
  (* hierconn *) logic [ProductWidth-1:0] \u_dut.gen_lane[0].u_lane.product ;
  ng_quantize_affine #(
    .Lanes   (1),
    .Bits    (Bits),
    .Input   (Input),
    .Pow2    (Pow2),
    .Signed  (Signed),
    .TiesAway(TiesAway),
    .RandBits(RandBits)
  ) u_dut (
    .clk_i       (1'b0),
    .en_i        (1'b1),
    .a_i         (x_i),
    .inverse_i   (inverse_i),
    .shift_i     (shift_i),
    .zero_point_i(zero_point_i),
    .stochastic_i(stochastic_i),
    .rand_i      (rand_i),
    .codes_o     (code),
    .special_o   (special)
  );
  logic [ProductWidth-1:0] product;
  assign product = \u_dut.gen_lane[0].u_lane.product ;

  // ---- number and distance
  logic               nan, infinite, finite;
  logic        [23:0] sig;
  logic        [7:0]  exponent;  // 1 for subnormal numbers
  logic signed [10:0] distance;
  logic signed [56:0] number;    // the product with its sign
  assign nan = Float && (&x_i[30:23]) && x_i[22:0] != '0;
  assign infinite = Float && (&x_i[30:23]) && x_i[22:0] == '0;
  assign finite = !nan && !infinite;
  assign sig = {x_i[30:23] != '0, x_i[22:0]};
  assign exponent = x_i[30:23] == '0 ? 8'd1 : x_i[30:23];
  logic [ProductWidth-1:0] expected_product;
  if (Float) begin : gen_float
    assign distance = (Pow2 ? 11'd103 : 11'd126) + {5'b0, shift_i} - {3'b0, exponent};
    assign number = x_i[31] ? -{{57 - ProductWidth{1'b0}}, product} : {{57 - ProductWidth{1'b0}}, product};
    if (Pow2) begin : gen_alone
      assign expected_product = sig;
    end else begin : gen_times
      assign expected_product = 48'(sig) * 48'(inverse_i);
    end
  end else begin : gen_integer
    assign distance = {{11 - ShiftWidth{1'b0}}, shift_i};
    assign number = {{57 - ProductWidth{product[ProductWidth-1]}}, product};
    if (Pow2) begin : gen_alone
      assign expected_product = x_i;
    end else begin : gen_times
      assign expected_product = 56'($signed(x_i)) * 56'($signed({1'b0, inverse_i}));
    end
  end

  // ---- codes of both ends, and of the zero point alone
  logic                     random, negative;
  logic signed [Bits+2:0]   zero, floor_far, far;  // far: rounded, where a number is less than a quarter
  localparam logic signed [Bits+2:0] HighCode = High, LowCode = Low;
  logic [Bits-1:0]          most, least, zero_code, far_code;
  assign random = RandBits > 0 && stochastic_i;
  assign negative = number < 0;
  assign zero = {{2{zero_point_i[Bits]}}, zero_point_i};
  assign most = HighCode[Bits-1:0];
  assign least = LowCode[Bits-1:0];
  assign zero_code = zero > HighCode ? most : zero < LowCode ? least : zero[Bits-1:0];
  assign floor_far = negative && (rand_i == '0) != False ? zero - 1 : zero;
  assign far = random ? floor_far : zero;
  assign far_code = far > HighCode ? most : far < LowCode ? least : far[Bits-1:0];

  localparam int Last = !Float ? (1 << ShiftWidth) - 1 : ProductWidth + (RandBits > 1 ? RandBits : 1);
  always_comb begin
    assert (product == expected_product);
    assert (special == !finite);
    if (nan) assert (code == most);
    if (infinite) assert (code == (x_i[31] ? least : most));
    if (Float && finite && distance < 0)
      assert (code == (number == '0 ? zero_code : negative ? least : most));
    if (Float && finite && distance > Last) assert (code == far_code);
  end

  for (genvar d = 0; d <= Last; d++) begin : gen_distance
    // Units of 2^-Places, which both a product and a random word are whole numbers of.
    localparam int Places = RandBits > d ? RandBits : d;
    localparam int Width = 57 + Bits + 2 + Places;
    localparam logic signed [Width-1:0] Highest = High, Lowest = Low;
    logic signed [Width-1:0] exact, floor, rounded;
    logic [Places:0]         rest, half, drawn;
    logic                    up;
    assign exact = ({{Width - 57{number[56]}}, number} << (Places - d))
        + ({{Width - Bits - 1{zero_point_i[Bits]}}, zero_point_i} << Places);
    assign floor = exact >>> Places;
    assign rest = exact[Places:0] & ~({Places + 1{1'b1}} << Places);
    assign half = {{Places{1'b0}}, 1'b1} << Places >> 1;
    assign drawn = rest + (((Places + 1)'(rand_i) - (Places + 1)'(False)) << (Places - RandBits));
    assign up = random ? drawn[Places]
        : Places > 0 && (rest > half || (rest == half && ((TiesAway ? floor >= 0 : floor[0]) != False)));
    assign rounded = up ? floor + 1 : floor;
    always_comb begin
      if (finite && distance == d)
        assert (code == (rounded > Highest ? most : rounded < Lowest ? least : rounded[Bits-1:0]));
    end
  end
endmodule
