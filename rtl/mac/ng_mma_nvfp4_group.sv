// SPDX-License-Identifier: Apache-2.0
// One group of ng_mma_nvfp4: 16 products of E2M1 numbers, summed exactly, times the significands of
// both scales, as a sign and a magnitude.
//
//   UE4M3   term = (-1)^negative_o * magnitude_o * 2^(exp_o - 22)
//   E8M0    term = (-1)^negative_o * magnitude_o * 2^(exp_o - 256)
//
// UE4M3 ignores the top bit of its byte. With n = (exponent field is not 0) a scale is {n,
// mantissa} * 2^(max(field, 1) - 10), and exp_o is the sum of both max(field, 1): 2 to 30. It is 0
// if a scale is zero, and then the magnitude is, too. The dot product is in units of 2^-2.
//
// E8M0 is a power of two, so the magnitude is that of the dot product, and exp_o the sum of both
// codes. FF is NaN.
//
// The product is summed from conditional additions, a chain of four for each nibble of the product
// of the significands, as in ng_scale_nvfp4, but of magnitudes: what is dropped later is dropped
// toward zero.
//
// Width argument: |dot| <= 16 * 144 = 2304, 12 bits; a running sum is below 2 * 2304, 13 bits; the
// significands' product is at most 15 * 15, and 2304 * 225 = 518400 has 19 bits. The sum of two
// E8M0 codes has 9.
//
// Cuts (docs/cuts.md): those of ng_mma_nvfp4 up to the product. exp_o and nan_o come before the
// last of them, because what follows from the exponents is computed beside the product.
module ng_mma_nvfp4_group #(
  parameter bit E8m0 = 1'b0,  // scales are E8M0, not UE4M3
  parameter int Cuts = 0,     // registers: 1 nodes + 2 dot + 4 product
  localparam int ExpWidth = E8m0 ? 9 : 5,
  localparam int MagnitudeWidth = E8m0 ? 12 : 19
) (
  input  logic                      clk_i,       // clock of the cuts
  input  logic                      en_i,        // enable of the cuts
  input  logic [63:0]               a_i,         // 16 E2M1 codes, lane 0 in the low bits
  input  logic [63:0]               b_i,         // 16 E2M1 codes, lane 0 in the low bits
  input  logic [7:0]                a_scale_i,   // scale of a_i
  input  logic [7:0]                b_scale_i,   // scale of b_i
  output logic                      nan_o,       // behind the cut "dot": a scale is NaN
  output logic [ExpWidth-1:0]       exp_o,       // behind the cut "dot": sum of the exponents, or 0
  output logic                      negative_o,  // sign of the term
  output logic [MagnitudeWidth-1:0] magnitude_o  // magnitude of the term
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Cuts < 0 || Cuts > 7) begin : gen_check_cuts
    $fatal(1, "ng_mma_nvfp4_group: Cuts=%0d; expected 0 to 7", Cuts);
  end
`endif

  // ---- dot product, and beside it what the scales give
  localparam int BesideWidth = E8m0 ? 10 : 14;
  logic signed [12:0]            dot, dot_q;
  logic        [BesideWidth-1:0] nodes_d, nodes, beside_d, beside;
  ng_dot_e2m1 #(
    .Lanes(16),
    .Cuts ((Cuts & ng_mma_pkg::Nvfp4CutNodes) != 0 ? ng_mac_pkg::DotE2m1CutNodes : 0)
  ) u_dot (
    .clk_i,
    .en_i,
    .a_i,
    .b_i,
    .dot_o(dot)
  );
  ng_cut #(
    .Width (BesideWidth),
    .Enable(Cuts & ng_mma_pkg::Nvfp4CutNodes)
  ) u_nodes (
    .clk_i,
    .en_i,
    .d_i  (nodes_d),
    .q_o  (nodes)
  );
  ng_cut #(
    .Width (13 + BesideWidth),
    .Enable(Cuts & ng_mma_pkg::Nvfp4CutDot)
  ) u_dot_cut (
    .clk_i,
    .en_i,
    .d_i  ({dot, beside_d}),
    .q_o  ({dot_q, beside})
  );

  logic [11:0]               dot_magnitude;
  logic [MagnitudeWidth-1:0] magnitude;
  assign dot_magnitude = 12'(dot_q[12] ? -dot_q : dot_q);
  if (E8m0) begin : gen_e8m0
    assign nodes_d = {{1'b0, a_scale_i} + {1'b0, b_scale_i}, (&a_scale_i) | (&b_scale_i)};
    assign beside_d = nodes;
    assign {exp_o, nan_o} = beside;
    assign magnitude = dot_magnitude;
  end else begin : gen_ue4m3
    logic       a_normal, b_normal, counts;
    logic [6:0] a_scale, b_scale;
    logic [4:0] exponent;
    logic [7:0] significand, significand_q;
    assign nodes_d = {a_scale_i[6:0], b_scale_i[6:0]};
    assign {a_scale, b_scale} = nodes;
    assign a_normal = a_scale[6:3] != '0;
    assign b_normal = b_scale[6:3] != '0;
    assign counts = (a_scale != '0) & (b_scale != '0);
    assign significand = {a_normal, a_scale[2:0]} * {b_normal, b_scale[2:0]};
    assign exponent = {1'b0, a_scale[6:4], a_scale[3] | ~a_normal}
        + {1'b0, b_scale[6:4], b_scale[3] | ~b_normal};
    assign beside_d = {significand, exponent & {5{counts}}, (&a_scale) | (&b_scale)};
    assign {significand_q, exp_o, nan_o} = beside;

    // ---- |dot| times the nibbles of the significand
    for (genvar n = 0; n < 2; n++) begin : gen_nibble
      logic [15:0] product;
      for (genvar i = 0; i < 4; i++) begin : gen_bit
        logic [12:0] partial, sum;  // from bit i up, before and after
        if (i == 0) begin : gen_first
          assign partial = '0;
        end else begin : gen_next
          assign partial = {1'b0, gen_nibble[n].gen_bit[i-1].sum[12:1]};
        end
        assign sum = significand_q[4*n+i] ? partial + 13'(dot_magnitude) : partial;
        if (i == 3) begin : gen_last
          assign product[15:3] = sum;
        end else begin : gen_low
          assign product[i] = sum[0];
        end
      end
    end
    assign magnitude = 19'(gen_nibble[0].product) + {gen_nibble[1].product[14:0], 4'b0};

    logic unused;
    assign unused = ^{a_scale_i[7], b_scale_i[7], gen_nibble[1].product[15]};
  end
  ng_cut #(
    .Width (MagnitudeWidth + 1),
    .Enable(Cuts & ng_mma_pkg::Nvfp4CutProduct)
  ) u_product (
    .clk_i,
    .en_i,
    .d_i  ({magnitude, dot_q[12]}),
    .q_o  ({magnitude_o, negative_o})
  );
endmodule
