// SPDX-License-Identifier: Apache-2.0
//
// MS-EDEN's rounding of a block scale, which makes a block unbiased with one random number: the
// scale times a correction, rounded to FP32 and then stochastically to UE4M3.
//
//   w = min(fl(s c), 448), nearest even; l <= w < h its neighbours in UE4M3; p = (w - l) / (h - l)
//   scale_o   h if rand_i / 2^RandBits < p, else l
//   a scale of NaN (7'h7F), or a c that is not finite and at least 2^-126: NaN
//
// With s = F 2^x, F of four bits, and the significand of c, w has 24 bits of their product. In
// units of 2^-24 of a code of UE4M3 it is W 2^4, shifted right where the scale is subnormal; below
// a code are then 24 bits and what fell off. p times 2^RandBits is a number f of RandBits and a
// rest, and rand_i below it if f - rand_i - 1 is not negative, or f - rand_i if there is a rest: a
// carry.
//
// Width argument: F times the significand is from 2^23 to 2^28 if F is not 0, so four places
// normalize it. The exponent field of the result is x - 126 - 4 to x + 254 - 126, x from 1 to 15:
// -129 to 143, 9 bits with sign. Shifted by 1 and more W 2^4 is below 2^28.
module ng_eden_scale #(
  parameter int RandBits = 24
) (
  input  logic [6:0]          scale_i,
  input  logic [31:0]         correction_i,  // FP32
  input  logic [RandBits-1:0] rand_i,
  output logic [6:0]          scale_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (RandBits < 1 || RandBits > 24) begin : gen_check_rand_bits
    $fatal(1, "ng_eden_scale: RandBits=%0d; expected 1 to 24", RandBits);
  end
`endif

  logic nan, normal;
  assign nan = (&scale_i) | correction_i[31] | (&correction_i[30:23]) | ~(|correction_i[30:23]);
  assign normal = |scale_i[6:3];

  // ---- the product, normalized, rounded to 24 bits
  logic [27:0] product;
  logic [24:0] rounded;
  logic [2:0]  shift;
  logic        unused_sign;
  ng_row_product #(
    .AWidth(24),
    .BWidth(5)
  ) u_product (
    .a_i      ({1'b1, correction_i[22:0]}),
    .b_i      ($signed({1'b0, normal, scale_i[2:0]})),
    .product_o({unused_sign, product})
  );
  logic [27:0] wide;
  always_comb begin
    wide = product;
    shift = 3'd0;
    if (wide[27:24] == 4'd0) begin wide = wide << 4; shift[2] = 1'b1; end
    if (wide[27:26] == 2'd0) begin wide = wide << 2; shift[1] = 1'b1; end
    if (~wide[27]) begin wide = wide << 1; shift[0] = 1'b1; end
  end
  assign rounded = {1'b0, wide[27:4]} + {24'b0, wide[3] & (wide[4] | (|wide[2:0]))};

  // ---- its place in UE4M3
  logic signed [8:0] field;
  logic              tiny;  // a subnormal scale
  logic        [8:0] distance;
  logic       [28:0] place;
  logic              rest;
  assign field = $signed({5'b0, scale_i[6:4], scale_i[3] | ~normal})
      + $signed({1'b0, correction_i[30:23]}) - 9'sd126
               - $signed({6'b0, shift});
  assign tiny = field < 9'sd1;
  assign distance = tiny ? 9'd1 - field : 9'd0;
  ng_shift_sticky #(
    .Width  (29),
    .ByWidth(9)
  ) u_shift (
    .data_i  ({rounded, 4'b0}),
    .by_i    (distance),
    .data_o  (place),
    .sticky_o(rest)
  );

  // ---- up?
  logic                full, round_up;
  logic [7:0]          binade;
  logic [7:0]          low;
  logic [RandBits-1:0] unused_difference;
  logic                some;
  if (RandBits < 24) begin : gen_rest
    assign some = rest | (|place[23-RandBits:0]);
  end else begin : gen_all
    assign some = rest;
  end
  assign {round_up, unused_difference} = {1'b0, place[23 -: RandBits]} + {1'b0, ~rand_i}
      + (RandBits + 1)'(some);
  assign binade = field[7:0] - 8'd1;
  assign full = ~tiny & ((|binade[7:4]) | low[7] | (&low[6:1]));
  assign low = {3'b0, place[28:24]} + (tiny ? 8'd0 : {1'b0, binade[3:0], 3'b0});
  assign scale_o = nan ? 7'h7F : ~normal & (scale_i[2:0] == 3'd0) ? 7'h00 : full ? 7'h7E
      : low[6:0] + {6'b0, round_up};

  logic unused;
  assign unused = unused_sign;
endmodule
