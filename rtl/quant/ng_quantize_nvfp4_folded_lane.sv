// SPDX-License-Identifier: Apache-2.0
// A lane of ng_quantize_nvfp4_folded: a BF16 number a cycle becomes an E2M1 code under thresholds
// of ng_nvfp4_block, which say everything to nearest. Stochastically they give the number l below
// |x|, and then, in the terms of ng_quantize_e2m1_lane:
//
//   u = S 2^(base - 127), |x| = X 2^(exponent - 127), step from l to the next number, m = l / step,
//   Q = 2^RandBits - R x goes up if and only if X 2^e >= S (m + Q / 2^RandBits), where X 2^e is
//     4 X where l is at least 1 and X < S;   2 X where X >= S there, or l is 1/2 and X < S;   X
//                                            where l is 1/2 and X >= S X 2^-count where l is 0,
//                                            count = base - 1 - exponent
//
// The product is made once, negated: -(m + Q / 2^RandBits) is the bits 1, ~m and R. Each X 2^e that
// may be is added to it in a chain of its own, of which only the carry is wanted; X 2^-count is
// shifted by multiples of four before.
//
// The exponents that are near enough have a bound of base - 1 - RandBits or less, but more than
// base - 1 - 2^CountBits, where count begins anew: so it may be cut to a multiple of 2^NearBits,
// which spares comparing bits.
//
// Width argument: that of ng_quantize_e2m1_lane; the product has three bits before the point and
// RandBits + 3 behind it. The bound is at least 6 - RandBits, so it has a sign, and subnormal
// elements are near only if RandBits is at least 5.
//
// Registers: behind l, behind the first row of the product, behind the code.
module ng_quantize_nvfp4_folded_lane #(
  parameter int RandBits = 8,
  localparam int CountBits = RandBits < 3 ? 2 : $clog2(RandBits + 1)
) (
  input  logic                       clk_i,
  input  logic                       en_i,
  input  logic [15:0]                x_i,
  input  logic [RandBits-1:0]        rand_i,
  input  ng_quant_pkg::nvfp4_block_t block_i,         // what the block's elements share
  input  logic [CountBits-1:0]       minus_base_i,    // of base - 1, inverted
  input  logic                       row1_i,          // a register later: highest bit of sig
  input  logic                       stochastic1_i,   // a register later: codes are stochastic
  input  logic [1:0]                 rows2_i,         // two registers later: lower bits of sig
  input  logic                       live2_i,         // two registers later: codes are not zero
  output logic [3:0]                 code_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (RandBits < 1 || RandBits > 16) begin : gen_check_rand_bits
    $fatal(1, "ng_quantize_nvfp4_folded_lane: RandBits=%0d; expected 1 to 16", RandBits);
  end
`endif

  // ---- carries of sums of which no bit is wanted: x beyond each threshold
  logic [6:0] over;
  for (genvar k = 0; k < 7; k++) begin : gen_threshold
    logic        tie;
    logic [15:0] unused_sum;
    assign tie = k % 2 == 1 && block_i.ties[k == 1 ? 0 : 1];
    assign {over[k], unused_sum} = {1'b0, x_i[14:0], 1'b1} + {1'b0, block_i.minus[15*k +: 15], tie};
  end

  // ---- X at least S; base - 1 - exponent, its low bits; near enough
  logic                 normal, above, near;
  logic [7:0]           exponent;  // 1 of subnormal numbers
  logic [CountBits-1:0] count;
  logic [3:0]           unused_above;
  if (RandBits > 4) begin : gen_subnormal
    logic [7:0] unused_normal;
    assign {normal, unused_normal} = {1'b0, x_i[14:7]} + 9'd255;
  end else begin : gen_normal
    assign normal = 1'b1;
  end
  assign exponent = {x_i[14:8], x_i[7] | ~normal};
  assign {above, unused_above} = {1'b0, x_i[6:4], 1'b1} + {1'b0, block_i.minus_sig, 1'b1};
  assign count = ~(exponent[CountBits-1:0] + minus_base_i);

  localparam int Free = (1 << CountBits) - RandBits;  // the bound may be lower by less than that
  localparam int NearBits = Free >= 16 ? 4 : Free >= 8 ? 3 : Free >= 4 ? 2 : Free >= 2 ? 1 : 0;
  logic [9-NearBits:0] unused_near;
  assign {near, unused_near} = {2'b01, exponent[7:NearBits], 1'b1}
      + {1'b0, ~block_i.minus_near[8], block_i.minus_near[7:NearBits], 1'b1};

  logic                 sign1_q, one1_q, half1_q, above1_q, near1_q;
  logic [2:0]           floor1_q;
  logic [7:0]           sig_q;
  logic [CountBits-1:0] count1_q;
  logic [RandBits-1:0]  rand_q;
  always_ff @(posedge clk_i) if (en_i) begin
    sign1_q  <= x_i[15];
    half1_q  <= over[0];
    one1_q   <= over[1];
    floor1_q <= {over[3], over[3] ? over[5] : over[1], ^over};
    above1_q <= above;
    near1_q  <= near;
    count1_q <= count;
    sig_q    <= {normal, x_i[6:0]};
    rand_q   <= rand_i;
  end

  // ---- the first row of -(m + Q / 2^RandBits) times S; X shifted by multiples of 2^FineBits
  localparam int Width = RandBits + 6;
  localparam int FineBits = RandBits < 8 ? CountBits : 2;
  logic [RandBits+2:0] minus1, minus2_q;
  logic [RandBits+3:0] product1_q;
  logic [Width+6:0]    sig;
  logic [Width-1:0]    shifted, shifted_q;
  logic                sign2_q, one2_q, half2_q, above2_q, near2_q, may2_q;
  logic [2:0]          floor2_q;
  logic [6:0]          sig2_q;  // where l is not 0, x is normal
  logic [FineBits-1:0] fine2_q;
  assign minus1 = {1'b1, ~one1_q, ~floor1_q[0], rand_q};
  assign sig = {sig_q, {Width - 1{1'b0}}};
  always_comb begin
    shifted = {2'b0, sig[Width+6 -: Width-2]};
    for (int k = FineBits; k < CountBits; k++) begin
      if (count1_q[k]) shifted = shifted >> (1 << k);
    end
  end
  always_ff @(posedge clk_i) if (en_i) begin
    product1_q <= row1_i ? {minus1, 1'b0} + {1'b1, minus1} : {minus1, 1'b0};
    minus2_q   <= minus1;
    shifted_q  <= shifted;
    sig2_q     <= sig_q[6:0];
    fine2_q    <= count1_q[FineBits-1:0];
    sign2_q    <= sign1_q;
    one2_q     <= one1_q;
    half2_q    <= half1_q;
    above2_q   <= above1_q;
    near2_q    <= near1_q;
    floor2_q   <= floor1_q;
    may2_q     <= stochastic1_i & ~(&floor1_q);
  end

  // ---- the other rows; 4 X, 2 X and X 2^-count against them
  logic [RandBits+4:0]      product2;
  logic [Width-1:0]         product, unused_two, unused_four;
  logic [Width+6:0]         sig2;
  logic                     two, four;
  logic [(1<<FineBits)-1:0] reached;
  assign product2 = rows2_i[1] ? {product1_q, 1'b0} + {2'b11, minus2_q} : {product1_q, 1'b0};
  assign product = rows2_i[0] ? {product2, 1'b0} + {3'b111, minus2_q} : {product2, 1'b0};
  assign sig2 = {1'b1, sig2_q, {Width - 1{1'b0}}};
  assign {four, unused_four} = {1'b0, sig2[Width+6 -: Width]} + {1'b0, product};
  assign {two, unused_two} = {2'b0, sig2[Width+6 -: Width-1]} + {1'b0, product};
  for (genvar i = 0; i < 1 << FineBits; i++) begin : gen_fine
    if (i <= RandBits) begin : gen_chain
      logic [Width-1:0] unused_sum;
      assign {reached[i], unused_sum} = {1'b0, shifted_q >> i} + {1'b0, product};
    end else begin : gen_none
      assign reached[i] = 1'b0;
    end
  end

  // ---- the code
  logic round_up;
  always_comb begin
    if (one2_q) round_up = above2_q ? two : four;
    else if (half2_q) round_up = above2_q ? reached[0] : two;
    else round_up = near2_q & reached[fine2_q];
    round_up = round_up & may2_q;
  end
  always_ff @(posedge clk_i) if (en_i) begin
    if (live2_i) code_o <= {sign2_q, floor2_q[2] | (floor2_q[1] & floor2_q[0] & round_up),
        floor2_q[1] ^ (floor2_q[0] & round_up), floor2_q[0] ^ round_up};
    else code_o <= '0;
  end

  logic unused;
  assign unused = ^{sig, sig2, block_i};
endmodule
