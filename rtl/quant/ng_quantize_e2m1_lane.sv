// SPDX-License-Identifier: Apache-2.0
// An element of ng_quantize_nvfp4_sr: a BF16 number, as a fixed-point one with noise, among the numbers of E2M1 times the unit.
//
// The unit is u = (1 + significand_i / 8) 2^(base - 127), base at least 7. Places are counted from 2^(base - 127): 4 before the point
// and RandBits + 4 behind. |x|, cut off there, is z. z + R step u / 2^RandBits reaches the next number if and only if delta 2^RandBits
// + R >= 2^RandBits; step is 1/2, from 2 u on 1, from 4 u on 2. What is cut off does not matter: numbers times u and noise are whole
// multiples of the last place.
//   code_o   how many numbers, times u, whose two's complements below_i are, the sum reaches; 7 from 2^4 2^(base - 127) on; the
//            sign of x
//
// Width argument: z has Width bits, and the noise, less than 2 u < 4 2^(base - 127), fewer: a bit more holds the sum. base is at most
// 262, an element's exponent 1 to 255, so their difference less 4 has 10 bits with sign. A subnormal element is below u / 2^4.
//
// Cut: between shift, product and the rest.
module ng_quantize_e2m1_lane #(
  parameter int RandBits = 8,
  parameter int Cut      = 0,
  localparam int Width = RandBits + 8
) (
  input  logic                   clk_i,  // this and en_i: of the cut
  input  logic                   en_i,
  input  logic [15:0]            x_i,
  input  logic signed [9:0]      base_i,
  input  logic [2:0]             significand_i,
  input  logic [RandBits-1:0]    rand_i,
  input  logic [7*(Width+1)-1:0] below_i,  // behind the cut
  output logic [3:0]             code_o
);
`ifndef __ICARUS__ // which has no elaboration tasks
  if (RandBits < 1) begin : gen_check_rand_bits $fatal(1, "ng_quantize_e2m1_lane: RandBits=%0d; expected 1 or more", RandBits); end
`endif
  localparam int CountBits = $clog2(Width + 1);

  // ---- |x|, the exponent base + 3 in the top place; less is ~(base + 3 - e)
  logic                 normal, beyond;
  logic signed [9:0]    less;
  logic [CountBits-1:0] count;
  logic [Width-1:0]     fixed;
  assign normal = x_i[14:7] != '0;
  assign less = $signed({2'b0, x_i[14:8], x_i[7] | ~normal}) + ~(base_i + 10'sd3);
  assign beyond = ~less[9];
  assign count = ~less[CountBits-1:0] | {CountBits{~(&less[8:CountBits])}};
  always_comb begin
    fixed = {normal, x_i[6:0], {Width - 8{1'b0}}};
    for (int k = CountBits - 1; k >= 0; k--) begin
      if (count[k]) fixed = fixed >> (1 << k);
    end
  end

  // ---- R times 8 + significand_i
  logic [RandBits+3:0] noise;
  for (genvar i = 0; i < 3; i++) begin : gen_noise
    logic [RandBits+1+i:0] partial, sum;
    logic [RandBits-1:0]   row;
    if (i == 0) begin : gen_first
      assign partial = {1'b0, rand_i, 1'b0};
    end else begin : gen_next
      assign partial = {gen_noise[i-1].sum, 1'b0};
    end
    assign row = rand_i & {RandBits{significand_i[2-i]}};
    assign sum = partial + (RandBits+2+i)'(row);
  end
  assign noise = gen_noise[2].sum;

  logic                sign_q, beyond_q;
  logic [Width-1:0]    fixed_q;
  logic [RandBits+3:0] noise_q;
  ng_cut #(
    .Width (2 + Width + RandBits + 4),
    .Enable(Cut)
  ) u_cut (
    .clk_i(clk_i),
    .en_i (en_i),
    .d_i  ({x_i[15], beyond, fixed, noise}),
    .q_o  ({sign_q, beyond_q, fixed_q, noise_q})
  );

  // ---- the step, the sum, the code
  logic                from2, from4;
  logic [Width:0]      unused_from2, unused_from4, noisy;
  logic [RandBits+5:0] scaled;
  assign {from2, unused_from2} = {2'b0, fixed_q} + {1'b0, below_i[3*(Width+1) +: Width+1]};
  assign {from4, unused_from4} = {2'b0, fixed_q} + {1'b0, below_i[5*(Width+1) +: Width+1]};
  assign scaled = from4 ? {noise_q, 2'b0} : from2 ? {1'b0, noise_q, 1'b0} : {2'b0, noise_q};
  assign noisy = {1'b0, fixed_q} + (Width + 1)'(scaled);

  logic [6:0] over;
  for (genvar k = 0; k < 7; k++) begin : gen_threshold
    // The carry of a sum with a negated number: no bit of the sum, so carry cells and no LUT.
    logic           reached;
    logic [Width:0] unused_sum;
    assign {reached, unused_sum} = {1'b0, noisy} + {1'b0, below_i[(Width+1)*k +: Width+1]};
    assign over[k] = reached | beyond_q;
  end
  assign code_o = {
      sign_q, over[3],
      over[3] ? over[5] : over[1],
      (over[0] & ~over[1]) | (over[2] & ~over[3]) | (over[4] & ~over[5]) | over[6]};
endmodule
