// SPDX-License-Identifier: Apache-2.0
//
// LUQ's quantizer: BF16 numbers to FP4 [1,3,0], 0 and +-alpha 2^0 to 2^6, under an alpha that is a
// power of two.
//
//   codes_o     sign and exponent field c of the numbers of the grid, 0 or alpha 2^(c-1)
//   scale_i     E8M0: alpha = 2^(scale_i - 127)
//   special_o   an element is an infinity or a NaN, or the scale is NaN: FP4 has no code for what
//               came. An infinity becomes the largest number, a NaN, or everything under a scale of
//               NaN, 7.
//
// Stochastic underflow and logarithmic stochastic rounding are one rule: between neighbours l < u
// of the grid the RandBits bits behind the binary point of (|x| - l) / (u - l) are added to the
// random ones, and the carry goes up. From alpha on these bits are x's mantissa, below they are its
// significand shifted right: an exponent subtracted and a short sum is the whole unit.
//
// Not stochastic: to the nearer of the two (RDNP); the middle of two powers goes up, half of alpha
// to 0.
//
// d = e - s is the exponent of |x| / alpha; below 0 the significand is shifted right by -d = ~d +
// 1, one place by wiring. A subnormal number counts with e = 0 and its significand doubled, which
// has no leading one: it reaches alpha only at d = 0, the other numbers always.
//
// Width argument: d is -254 to 255, 9 bits. The grid ends at 2^6: from d = 7 on the number is the
// largest, and a sum of 7 and 1 too.
//
// Cuts (docs/cuts.md): bit 0 between shift and sum, 1 at the outputs.
module ng_quantize_luq #(
  parameter int Lanes    = 16,
  parameter int RandBits = 8,
  parameter int Cuts     = 0   // registers: 1 shifted + 2 codes
) (
  input  logic                      clk_i,  // clock of the cuts
  input  logic                      en_i,   // enable of the cuts
  input  logic [Lanes*16-1:0]       a_i,
  input  logic [7:0]                scale_i,
  input  logic                      stochastic_i,
  input  logic [Lanes*RandBits-1:0] rand_i,  // used if stochastic_i
  output logic [Lanes*4-1:0]        codes_o,
  output logic                      special_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 256) begin : gen_check_lanes
    $fatal(1, "ng_quantize_luq: Lanes=%0d; expected 1 to 256", Lanes);
  end
  if (RandBits < 1 || RandBits > 24) begin : gen_check_rand_bits
    $fatal(1, "ng_quantize_luq: RandBits=%0d; expected 1 to 24", RandBits);
  end
  if (Cuts < 0 || Cuts > 3) begin : gen_check_cuts
    $fatal(1, "ng_quantize_luq: Cuts=%0d; expected 0 to 3", Cuts);
  end
`endif

  // Bits behind the one in front of the binary point: what nearest looks at, and as many as there
  // are random ones.
  localparam int FracBits = RandBits > 8 ? RandBits : 8;
  localparam int CountBits = $clog2(FracBits + 2);

  logic               nan_scale, nan_scale_q, stochastic_q, special_q;
  logic [Lanes-1:0]   special;
  logic [Lanes*4-1:0] codes;
  assign nan_scale = &scale_i;
  ng_cut #(
    .Width (3),
    .Enable(Cuts & ng_luq_pkg::QuantizeCutShifted)
  ) u_cut_shifted (
    .clk_i,
    .en_i,
    .d_i  ({nan_scale, stochastic_i, nan_scale | (|special)}),
    .q_o  ({nan_scale_q, stochastic_q, special_q})
  );

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic                 sign, normal, below, nan, over;
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

    assign aligned = below ? (FracBits + 1)'(sig) << (FracBits - 8)
        : (FracBits + 1)'(sig) << (FracBits - 7);
    // All ones, which empties the register, if ~d has a bit above those of the count.
    assign count = {CountBits{below}} & (~d[CountBits-1:0] | {CountBits{~(&d[7:CountBits])}});
    assign shifted = aligned >> count;

    // The exponent counts where a one is kept: beyond the grid, and its three bits.
    assign over = |d[7:3];
    logic [FracBits:0]   sum_shifted;
    logic [RandBits-1:0] sum_rand, unused_sum;
    logic [2:0]          sum_d;
    logic                sum_sign, sum_nan, sum_special, sum_over, kept, half, rest, up_random,
        round_up;
    ng_cut #(
      .Width (FracBits + RandBits + 8),
      .Enable(Cuts & ng_luq_pkg::QuantizeCutShifted)
    ) u_cut_shifted (
      .clk_i,
      .en_i,
      .d_i  ({shifted, rand_i[RandBits*i +: RandBits], d[2:0], sign, nan, special[i], over}),
      .q_o  ({sum_shifted, sum_rand, sum_d, sum_sign, sum_nan, sum_special, sum_over})
    );
    assign kept = sum_shifted[FracBits];
    assign half = sum_shifted[FracBits-1];
    assign rest = |sum_shifted[FracBits-2:0];
    assign {up_random, unused_sum} = {1'b0, sum_shifted[FracBits-1 -: RandBits]} + {1'b0, sum_rand};
    assign round_up = stochastic_q ? up_random : half & (kept | rest);

    logic [3:0] field;
    // and 1 each for kept and up
    assign field = {1'b0, sum_d & {3{kept}}} + {2'b0, kept & round_up, kept ^ round_up};
    assign codes[4*i +: 4] = {
      sum_sign & ~(sum_nan | nan_scale_q), field[2:0]
          | {3{field[3] | (kept & sum_over) | sum_special | nan_scale_q}}
    };
  end

  ng_cut #(
    .Width (Lanes * 4 + 1),
    .Enable(Cuts & ng_luq_pkg::QuantizeCutCodes)
  ) u_cut_codes (
    .clk_i,
    .en_i,
    .d_i  ({codes, special_q}),
    .q_o  ({codes_o, special_o})
  );
endmodule
