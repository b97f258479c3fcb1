// SPDX-License-Identifier: Apache-2.0
// An element of ng_quantize_nvfp4_sr: a BF16 number, rounded stochastically to a number of E2M1
// times the unit.
//
// The unit is u = S 2^(base - 127), S = 1 + significand_i / 8, base at least 7; |x| = X 2^(exponent
// - 127). With l the number below |x| / u, step the distance to the next one and Q = 2^RandBits -
// R, x goes up if and only if |x| >= (l + step Q / 2^RandBits) u. In units of step that is X 2^e >=
// S (m + Q / 2^RandBits), m = l / step from 0 to 3, without one shift of x where l is at least 1/2:
//
//   l from 1 on   X 2^e is in [2 S, 4 S), hence 2 X, or 4 X where X < S
//   l = 1/2       X 2^e is in [S, 2 S), hence X, or 2 X where X < S
//   l = 0         e is 1 + exponent - base, at most 0
//
// So the product is made once, negated, as S times the two's complement number -(m + Q /
// 2^RandBits), which is the bits 1, ~m and R; each X 2^e that may be is added to it in a chain of
// its own, of which only the carry is wanted, and one of the carries is taken. Those of l = 0 are
// shifted by multiples of 2^FineBits before. Comparisons with what the block shares are carries,
// too.
//
//   code_o   sign and E2M1 number; anything if the unit's scale is none. What is named minus is a
//            two's complement.
//
// Width argument: m + Q / 2^RandBits is at most 4, S below 2, X 2^e below 8: three bits before the
// point, carries beyond say >= 0. The product has RandBits + 3 places behind it; what of X falls
// off there does not matter, being less than a place. Below S / 2^RandBits, from exponent = base -
// 2 - RandBits down, x never goes up: near_i is that bound. With base >= 7 an element is subnormal
// and above it only if RandBits is at least 5.
//
// Cut: between the number below x and the product.
module ng_quantize_e2m1_lane #(
  parameter int RandBits = 8,
  parameter bit Cut      = 1'b0,
  localparam int CountBits = RandBits < 3 ? 2 : $clog2(RandBits + 1)
) (
  input  logic                 clk_i,  // clock of the cut
  input  logic                 en_i,   // enable of the cut
  input  logic [15:0]          x_i,
  input  logic [14:0]          minus_one_i,   // of u as a BF16 code
  input  logic [14:0]          minus_half_i,  // of u / 2
  input  logic [14:0]          minus_eight_i,  // of 8 u
  input  logic [7:0]           minus_s_i,     // of 128 S
  input  logic [7:0]           minus_s34_i,   // of 96 S
  input  logic [8:0]           minus_s32_i,   // of 192 S
  input  logic [8:0]           minus_near_i,  // of 256 + max(base - 1 - RandBits, 0), 0 also for 1
  input  logic [CountBits-1:0] top_i,         // ~(base - 1)
  input  logic [RandBits-1:0]  rand_i,
  input  logic [2:0]           significand_i,  // behind the cut
  output logic [3:0]           code_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (RandBits < 1 || RandBits > 16) begin : gen_check_rand_bits
    $fatal(1, "ng_quantize_e2m1_lane: RandBits=%0d; expected 1 to 16", RandBits);
  end
`endif

  // ---- comparisons: carries of sums of which no bit is wanted
  logic [8:0]  unused_near;
  logic [7:0]  unused_above, unused_s34;
  logic [8:0]  unused_s32;
  logic [14:0] unused_one, unused_half, unused_eight;
  logic        near, one, half, eight;  // |x| at least the bound, u, u / 2, 8 u
  logic        above, s34, s32;         // X at least S, 3/4 S, 3/2 S
  assign {near, unused_near} = {2'b01, x_i[14:7]} + {1'b0, minus_near_i};
  assign {above, unused_above} = {2'b01, x_i[6:0]} + {1'b0, minus_s_i};
  assign {s34, unused_s34} = {2'b01, x_i[6:0]} + {1'b0, minus_s34_i};
  assign {s32, unused_s32} = {3'b001, x_i[6:0]} + {1'b0, minus_s32_i};
  assign {one, unused_one} = {1'b0, x_i[14:0]} + {1'b0, minus_one_i};
  assign {half, unused_half} = {1'b0, x_i[14:0]} + {1'b0, minus_half_i};
  assign {eight, unused_eight} = {1'b0, x_i[14:0]} + {1'b0, minus_eight_i};

  // ---- base - 1 - exponent, its low bits
  logic                 normal;
  logic [CountBits-1:0] count;
  if (RandBits > 4) begin : gen_subnormal
    logic [7:0] unused_normal;
    assign {normal, unused_normal} = {1'b0, x_i[14:7]} + 9'd255;
  end else begin : gen_normal
    assign normal = 1'b1;
  end
  assign count = ~({x_i[CountBits+6:8], x_i[7] | ~normal} + top_i);

  // ---- the number below: from 1 on its exponent is that of x, less one where X < S; scales too
  // small leave numbers of 8 u and more
  logic       odd;
  logic [2:0] floor;
  assign odd = count[0] ^ above;
  assign floor = {one & (~count[1] | odd), one & ~odd, one ? s32 | (s34 & ~above) : half}
      | {3{eight}};

  logic                 sign_q, near_q, above_q, one_q, half_q;
  logic [2:0]           floor_q;
  logic [7:0]           sig_q;
  logic [CountBits-1:0] count_q;
  logic [RandBits-1:0]  rand_q;
  ng_cut #(
    .Width (16 + CountBits + RandBits),
    .Enable(Cut ? 1 : 0)
  ) u_cut (
    .clk_i,
    .en_i,
    .d_i  ({x_i[15], near, above, one, half, floor, normal, x_i[6:0], count, rand_i}),
    .q_o  ({sign_q, near_q, above_q, one_q, half_q, floor_q, sig_q, count_q, rand_q})
  );

  // ---- -(m + Q / 2^RandBits) times S
  // A row that is added or not costs a LUT a bit, as its multiplexer fits into that of the sum: but
  // Yosys finds it for two of three rows in turn, so the first is masked.
  localparam int Width = RandBits + 6;
  logic [RandBits+2:0] minus;
  logic [RandBits+3:0] product1;
  logic [RandBits+4:0] product2;
  logic [Width-1:0]    product;
  assign minus = {1'b1, ~one_q, ~floor_q[0], rand_q};
  assign product1 = {minus, 1'b0} + ({1'b1, minus} & {RandBits + 4{significand_i[2]}});
  assign product2 = significand_i[1] ? {product1, 1'b0} + {2'b11, minus} : {product1, 1'b0};
  assign product = significand_i[0] ? {product2, 1'b0} + {3'b111, minus} : {product2, 1'b0};

  // ---- 4 X and 2 X; X shifted down by count
  localparam int FineBits = RandBits < 8 ? CountBits : 2;
  logic [Width+6:0] sig;  // 4 X and what falls off
  logic [Width-1:0] shifted, unused_two, unused_four;
  logic             two, four;
  assign sig = {sig_q, {Width - 1{1'b0}}};
  assign {four, unused_four} = {1'b0, sig[Width+6 -: Width]} + {1'b0, product};
  assign {two, unused_two} = {2'b0, sig[Width+6 -: Width-1]} + {1'b0, product};
  always_comb begin
    shifted = {2'b0, sig[Width+6 -: Width-2]};
    for (int k = FineBits; k < CountBits; k++) begin
      if (count_q[k]) shifted = shifted >> (1 << k);
    end
  end

  logic [(1<<FineBits)-1:0] reached;
  for (genvar i = 0; i < 1 << FineBits; i++) begin : gen_fine
    if (i <= RandBits) begin : gen_chain
      logic [Width-1:0] unused_sum;
      assign {reached[i], unused_sum} = {1'b0, shifted >> i} + {1'b0, product};
    end else begin : gen_none
      assign reached[i] = 1'b0;
    end
  end

  // ---- the code
  logic high, from_half, round_up;
  assign high = one_q & ~above_q ? four : two;
  assign from_half = ~one_q & above_q ? reached[0] : high;
  assign round_up = half_q ? from_half : near_q & reached[count_q[FineBits-1:0]];
  assign code_o = {
      sign_q,
      floor_q[2] | (floor_q[1] & floor_q[0] & round_up),
      (floor_q[1] ^ (floor_q[0] & round_up)) | (floor_q[2] & floor_q[1]),
      (floor_q[0] ^ round_up) | (&floor_q)};

  logic unused;
  assign unused = ^sig;
endmodule
