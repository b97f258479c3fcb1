// SPDX-License-Identifier: Apache-2.0
//
// For all numbers and scales, an element of ng_quantize_int4 is the quotient rounded to nearest even and saturated. In parts, as no
// solver at hand decides the whole at once:
//
//   products  product k of the unit is (2 k + 1) times the scale's significand.
//   over      the unit finds |x| over bound k if and only if 2 |x| > (2 k + 1) scale, or equals it where k is odd, by comparison in
//             integers with product k, in units of half a last place of the scale. Where the distance d of the exponents is 4 or
//             more |x| is above every bound, from -2 down below every one: there the rule is stated by itself.
//   code      where |x| is over the first n bounds and no other, the code is n with the sign of x, saturated.
//
// The bounds rise with k, so that by the second part |x| is always over the first n, where n is the rounded quotient.
// QUANTIZE_INT4_FALSE sends ties away from zero.
module quantize_int4_proof (
  input logic [15:0] x_i,
  input logic [30:0] scale_i
);
`ifdef QUANTIZE_INT4_FALSE
  localparam bit Even = 1'b0;
`else
  localparam bit Even = 1'b1;
`endif

  logic [3:0] code;
  logic       special;
  // The unit's wires of these names: Yosys connects them when it flattens.
  (* hierconn *) logic [223:0] \u_dut.products ;
  (* hierconn *) logic [7:0]   \u_dut.gen_lane[0].over ;
  ng_quantize_int4 #(
    .Lanes(1)
  ) u_dut (
    .clk_i    (1'b0),
    .en_i     (1'b1),
    .a_i      (x_i),
    .scale_i  (scale_i),
    .codes_o  (code),
    .special_o(special)
  );
  logic [223:0] products;
  logic [7:0]   over;
  assign products = \u_dut.products ;
  assign over = \u_dut.gen_lane[0].over ;

  logic        refused, nan, infinite;
  logic [7:0]  sig, exponent, scale_exponent;  // fields of the last places, 1 for subnormal ones
  logic [27:0] m;
  logic [8:0]  d;
  assign refused = (&scale_i[30:23]) || scale_i == '0;
  assign nan = refused || ((&x_i[14:7]) && x_i[6:0] != '0);
  assign infinite = (&x_i[14:7]) && x_i[6:0] == '0;
  assign sig = {x_i[14:7] != '0, x_i[6:0]};
  assign exponent = x_i[14:7] == '0 ? 8'd1 : x_i[14:7];
  assign m = {4'b0, scale_i[30:23] != '0, scale_i[22:0]};
  assign scale_exponent = scale_i[30:23] == '0 ? 8'd1 : scale_i[30:23];
  assign d = {1'b0, exponent} - {1'b0, scale_exponent};

  logic [3:0] most;  // with x's sign
  assign most = x_i[15] ? 4'd8 : 4'd7;

  always_comb begin
    if (nan) assert (code == 4'd7);
    else if (infinite) assert (code == most);
    assert (special == (nan || infinite));
  end

  logic [223:0] multiples;
  logic [8:0]   coded;
  for (genvar k = 0; k < 8; k++) begin : gen_multiple
    assign multiples[28*k +: 28] = m * 28'(2 * k + 1);
  end
  for (genvar n = 0; n < 9; n++) begin : gen_code
    assign coded[n] = over != 8'((1 << n) - 1) || nan || code == (n == 8 ? most : x_i[15] ? 4'(-n) : 4'(n));
  end

  always_comb begin
    assert (products == multiples);
    assert (&coded);
  end

  for (genvar k = 0; k < 8; k++) begin : gen_bound
    always_comb begin
      if (!nan && !infinite && ~d[8] && d >= 9'd4) assert (over[k]);
      if (!nan && !infinite && d[8] && d < 9'(-1)) assert (!over[k]);
    end
    // A distance of exponents each, which leaves constant shifts.
    for (genvar j = -1; j < 4; j++) begin : gen_distance
      logic [27:0] p, x;
      assign p = products[28*k +: 28];
      assign x = 28'(sig) << (17 + j);
      always_comb begin
        if (d == 9'(j) && !nan && !infinite) assert (over[k] == (x > p || (x == p && (k % 2 == 1 || !Even))));
      end
    end
  end
endmodule
