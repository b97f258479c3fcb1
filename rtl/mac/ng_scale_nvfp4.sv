// SPDX-License-Identifier: Apache-2.0
//
// Applies the two block scales of an NVFP4 block to its integer dot product, exactly.
//
//   term_o = dot_i * ue4m3(a_scale_i) * ue4m3(b_scale_i) in units of 2^-20; dot_i in units of 2^-2
//   nan_o  = either scale is NaN (payload 7'h7F); term_o is then 0
//
// UE4M3 ignores the top bit of its byte. With n = (exponent field is not 0) a scale is the integer
// {n, mantissa} << max(exponent, 1) in units of 2^-10. Hence dot * (4-bit * 4-bit significand),
// then one shift by the sum of the two exponents, 2 to 30, which is 2 more than the unit asks for:
// the two low bits are 0 and dropped.
//
// The product is summed from conditional additions, sum = bit ? partial + dot : partial. Four LUT
// inputs hold one bit of that, so the gate costs nothing, where partial products gated before the
// addition would cost an "and" each. One chain of four for each nibble of the significand product,
// and an adder that joins them: shorter, and kept apart in synthesis.
//
// Width argument: dot_i is within +-2304 (16 lanes of +-144; the argument does not hold for other
// 13-bit numbers), the significand product at most 15 * 15: +-518400, 20 bits with sign. A running
// sum is within +-2 * 2304, 14 bits. The largest scale is 448 = 14 * 2^15 in units of 2^-10, so
// |term| <= 2304 * 14^2 * 2^28 < 2^47: 48 bits.
//
// Cuts (docs/cuts.md): bit 0 behind the product of the significands, 1 behind the products with its
// nibbles, 2 behind their sum, 3 behind the shift. What does not depend on dot_i stands before bit
// 0, beside the dot product.

module ng_scale_nvfp4 #(
  parameter int Cuts = 0  // registers: 1 significand + 2 product + 4 sum + 8 term
) (
  input  logic               clk_i,  // clock of the cuts
  input  logic               en_i,   // enable of the cuts
  input  logic signed [12:0] dot_i,
  input  logic        [7:0]  a_scale_i,
  input  logic        [7:0]  b_scale_i,
  output logic signed [47:0] term_o,
  output logic               nan_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Cuts < 0 || Cuts > 15) begin : gen_check_cuts
    $fatal(1, "ng_scale_nvfp4: Cuts=%0d; expected 0 to 15", Cuts);
  end
`endif

  // ---- scales
  logic a_normal, b_normal, nan;
  assign a_normal = a_scale_i[6:3] != '0;
  assign b_normal = b_scale_i[6:3] != '0;
  assign nan = (&a_scale_i[6:0]) | (&b_scale_i[6:0]);

  logic [3:0] a_significand, b_significand;
  logic [7:0] significand;
  assign a_significand = {a_normal, a_scale_i[2:0]} & {4{~nan}};
  assign b_significand = {b_normal, b_scale_i[2:0]};
  assign significand = a_significand * b_significand;

  // What goes beside the product, from place to place.
  typedef struct packed {
    logic [4:0] shift;  // sum of the exponents
    logic       nan;    // either scale is NaN
  } beside_t;
  beside_t beside, significand_beside, product_beside, sum_beside;
  assign beside.nan = nan;
  assign beside.shift = {1'b0, a_scale_i[6:4], a_scale_i[3] | ~a_normal}
      + {1'b0, b_scale_i[6:4], b_scale_i[3] | ~b_normal};

  logic signed [12:0] dot_q;
  logic        [7:0]  significand_q;
  ng_cut #(
    .Width (27),
    .Enable(Cuts & ng_mac_pkg::ScaleNvfp4CutSignificand)
  ) u_significand (
    .clk_i,
    .en_i,
    .d_i  ({dot_i, significand, beside}),
    .q_o  ({dot_q, significand_q, significand_beside})
  );

  // ---- products with the nibbles
  for (genvar n = 0; n < 2; n++) begin : gen_nibble
    logic signed [16:0] product;
    for (genvar i = 0; i < 4; i++) begin : gen_bit
      logic signed [13:0] partial, sum;  // from bit i up, before and after
      if (i == 0) begin : gen_first
        assign partial = '0;
      end else begin : gen_next
        assign partial = {gen_nibble[n].gen_bit[i-1].sum[13], gen_nibble[n].gen_bit[i-1].sum[13:1]};
      end
      assign sum = significand_q[4*n+i] ? partial + 14'(dot_q) : partial;
      if (i == 3) begin : gen_last
        assign product[16:3] = sum;
      end else begin : gen_low
        assign product[i] = sum[0];
      end
    end
  end

  logic signed [16:0] low_q, high_q;
  ng_cut #(
    .Width (40),
    .Enable(Cuts & ng_mac_pkg::ScaleNvfp4CutProduct)
  ) u_product (
    .clk_i,
    .en_i,
    .d_i  ({gen_nibble[0].product, gen_nibble[1].product, significand_beside}),
    .q_o  ({low_q, high_q, product_beside})
  );

  // ---- their sum
  logic signed [19:0] product, product_q;
  assign product = 20'(low_q) + {high_q[15:0], 4'b0};
  ng_cut #(
    .Width (26),
    .Enable(Cuts & ng_mac_pkg::ScaleNvfp4CutSum)
  ) u_sum (
    .clk_i,
    .en_i,
    .d_i  ({product, product_beside}),
    .q_o  ({product_q, sum_beside})
  );

  // ---- shifted
  logic signed [49:0] shifted;
  assign shifted = 50'(product_q) << sum_beside.shift;
  ng_cut #(
    .Width (49),
    .Enable(Cuts & ng_mac_pkg::ScaleNvfp4CutTerm)
  ) u_term (
    .clk_i,
    .en_i,
    .d_i  ({shifted[49:2], sum_beside.nan}),
    .q_o  ({term_o, nan_o})
  );

  logic unused;
  assign unused = ^{a_scale_i[7], b_scale_i[7], high_q[16], shifted[1:0]};
endmodule
