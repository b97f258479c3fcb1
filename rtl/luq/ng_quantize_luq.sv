// SPDX-License-Identifier: Apache-2.0
//
// LUQ's quantizer: BF16 numbers to FP4 [1,3,0], 0 and +-alpha 2^0 to 2^6, under an alpha that is a power of two.
//
//   codes_o     sign and exponent field c of the numbers of the grid, 0 or alpha 2^(c-1)
//   scale_i     E8M0: alpha = 2^(scale_i - 127)
//   special_o   an element is an infinity or a NaN, or the scale is NaN: FP4 has no code for what came. An infinity becomes
//               the largest number, a NaN, or everything under a scale of NaN, 7.
//
// Stochastic underflow and logarithmic stochastic rounding are one rule: between neighbours l < u of the grid the RandBits bits behind
// the binary point of (|x| - l) / (u - l) are added to the random ones, and the carry goes up. From alpha on these bits are x's mantissa,
// below they are its significand shifted right: an exponent subtracted and a short sum is the whole unit.
//
// Not stochastic: to the nearer of the two (RDNP); the middle of two powers goes up, half of alpha to 0.
//
// d = e - s is the exponent of |x| / alpha; below 0 the significand is shifted right by -d = ~d + 1, one place by wiring. A
// subnormal number counts with e = 0 and its significand doubled, which has no leading one: it reaches alpha only at
// d = 0, the other numbers always.
//
// Width argument: d is -254 to 255, 9 bits. The grid ends at 2^6: from d = 7 on the number is the largest, and a sum of 7 and 1 too.
module ng_quantize_luq #(
  parameter int Lanes    = 16,
  parameter int RandBits = 8
) (
  input  logic [Lanes*16-1:0]       a_i,
  input  logic [7:0]                scale_i,
  input  logic                      stochastic_i,
  input  logic [Lanes*RandBits-1:0] rand_i,  // used if stochastic_i
  output logic [Lanes*4-1:0]        codes_o,
  output logic                      special_o
);
`ifndef __ICARUS__ // which has no elaboration tasks
  if (Lanes < 1 || Lanes > 256) begin : gen_check_lanes $fatal(1, "ng_quantize_luq: Lanes=%0d; expected 1 to 256", Lanes); end
  if (RandBits < 1 || RandBits > 24) begin : gen_check_rand_bits $fatal(1, "ng_quantize_luq: RandBits=%0d; expected 1 to 24", RandBits); end
`endif

  // Bits behind the one in front of the binary point: what nearest looks at, and as many as there are random ones.
  localparam int FracBits = RandBits > 8 ? RandBits : 8;
  localparam int CountBits = $clog2(FracBits + 2);

  logic             nan_scale;
  logic [Lanes-1:0] special;
  assign nan_scale = &scale_i;
  assign special_o = nan_scale | (|special);

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic                 sign, normal, below, nan, kept, over, up;
    logic [7:0]           exponent, sig;
    logic [6:0]           mantissa;
    logic [8:0]           d;
    logic [CountBits-1:0] count;
    logic [FracBits:0]    aligned, shifted;
    assign {sign, exponent, mantissa} = a_i[16*i +: 16];
    assign normal = |exponent;
    assign special[i] = &exponent;
    assign nan = special[i] & (|mantissa);
    assign sig = normal ? {1'b1, mantissa} : {mantissa, 1'b0};
    assign d = {1'b0, exponent} - {1'b0, scale_i};
    assign below = d[8];

    assign aligned = below ? (FracBits + 1)'(sig) << (FracBits - 8) : (FracBits + 1)'(sig) << (FracBits - 7);
    // All ones, which empties the register, if ~d has a bit above those of the count.
    assign count = {CountBits{below}} & (~d[CountBits-1:0] | {CountBits{~(&d[7:CountBits])}});
    assign shifted = aligned >> count;

    logic up_random, half, rest;
    logic [RandBits-1:0] unused_sum;
    assign kept = shifted[FracBits];
    assign half = shifted[FracBits-1];
    assign rest = |shifted[FracBits-2:0];
    assign {up_random, unused_sum} = {1'b0, shifted[FracBits-1 -: RandBits]} + {1'b0, rand_i[RandBits*i +: RandBits]};
    assign up = stochastic_i ? up_random : half & (kept | rest);

    logic [3:0] field;
    assign over = kept & (|d[7:3]);
    assign field = {1'b0, d[2:0] & {3{kept}}} + {2'b0, kept & up, kept ^ up};  // and 1 each for kept and up
    assign codes_o[4*i +: 4] = {sign & ~(nan | nan_scale), field[2:0] | {3{field[3] | over | special[i] | nan_scale}}};
  end
endmodule
