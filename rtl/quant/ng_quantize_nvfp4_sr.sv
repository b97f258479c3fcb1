// SPDX-License-Identifier: Apache-2.0
//
// Quantizes a block of 16 BF16 numbers to NVFP4 as ng_quantize_nvfp4 does, to nearest even, or stochastically under tensor scales
// that are powers of two.
//
//   scale_o   that of ng_quantize_nvfp4 with TinyScales = 0
//   codes_o   its codes; stochastic_i: x / (scale g) rounded up if delta 2^RandBits + R >= 2^RandBits; g = tensor_scale_i
//   stochastic_i, and g no power of two: scale NaN (8'h7F), codes zero, as under every refused tensor scale
//
// The block's scale times g has a significand of four bits, s, which R is multiplied by: ng_quantize_e2m1_lane is an element.
//
// Width argument: the exponent of scale times g, biased, is g's plus -2 to 15 less 7: from 7 to 262, g being at least 2^-111. The
// numbers of E2M1, in halves, times s are at most 12 * 15, below 2^8; RandBits + 1 to 3 places and a bit for the sum come on top.
//
// Cuts (docs/cuts.md): bits 0 to 4 those of ng_quantize_nvfp4, 5 behind shifts and products, 6 behind the codes.
module ng_quantize_nvfp4_sr #(
  parameter int RandBits = 8,  // random bits of an element
  parameter int Cuts     = 0   // registers: 1 amax + 2 estimate + 4 scale + 8 thresholds + 16 codes + 32 shifted + 64 rounded
) (
  input  logic                   clk_i,  // this and en_i: of the cuts
  input  logic                   en_i,
  input  logic [255:0]           a_i,
  input  logic [31:0]            tensor_scale_i,
  input  logic                   stochastic_i,
  input  logic [16*RandBits-1:0] rand_i,  // used if stochastic_i
  output logic [63:0]            codes_o,
  output logic [7:0]             scale_o
);
`ifndef __ICARUS__ // which has no elaboration tasks
  if (RandBits < 1 || RandBits > 16) begin : gen_check_rand_bits $fatal(1, "ng_quantize_nvfp4_sr: RandBits=%0d; expected 1 to 16", RandBits); end
  if (Cuts < 0 || Cuts > 127) begin : gen_check_cuts $fatal(1, "ng_quantize_nvfp4_sr: Cuts=%0d; expected 0 to 127", Cuts); end
`endif

  // ---- the scale, and codes to nearest
  logic        refused;
  logic [63:0] nearest;
  logic [7:0]  scale;
  assign refused = stochastic_i & (|tensor_scale_i[22:0]);
  ng_quantize_nvfp4 #(
    .TinyScales(0),
    .Cuts      (Cuts & 31)
  ) u_nearest (
    .clk_i         (clk_i),
    .en_i          (en_i),
    .a_i           (a_i),
    .tensor_scale_i({tensor_scale_i[31] | refused, tensor_scale_i[30:0]}),
    .codes_o       (nearest),
    .scale_o       (scale)
  );

  // What the elements need waits as long.
  localparam int WaitWidth = 265 + 16 * RandBits;
  for (genvar i = 0; i < 5; i++) begin : gen_wait
    logic [WaitWidth-1:0] early, late;
    if (i == 0) begin : gen_first
      assign early = {a_i, tensor_scale_i[30:23], stochastic_i, rand_i};
    end else begin : gen_next
      assign early = gen_wait[i-1].late;
    end
    ng_cut #(
      .Width (WaitWidth),
      .Enable(Cuts & (1 << i))
    ) u_cut (
      .clk_i(clk_i),
      .en_i (en_i),
      .d_i  (early),
      .q_o  (late)
    );
  end
  logic [255:0]           a;
  logic [7:0]             g_exp;
  logic                   stochastic;
  logic [16*RandBits-1:0] random;
  assign {a, g_exp, stochastic, random} = gen_wait[4].late;

  // ---- scale times g: 1 + sig / 8, its exponent
  logic        [2:0] sig;
  logic signed [9:0] exponent, base;
  always_comb begin
    sig = scale[2:0];
    exponent = $signed({6'b0, scale[6:3]});
    if (scale[6:3] == '0) begin
      if (scale[2]) begin
        sig = {scale[1:0], 1'b0};
      end else if (scale[1]) begin
        sig = {scale[0], 2'b0};
        exponent = -10'sd1;
      end else begin
        sig = '0;
        exponent = -10'sd2;
      end
    end
  end
  assign base = $signed({2'b0, g_exp}) + exponent - 10'sd7;

  // ---- the numbers of E2M1 times that, negated
  localparam int Width = RandBits + 9;
  logic [Width-1:0]   minus1, minus3;
  logic [7*Width-1:0] below, below_q;
  assign minus1 = -(Width'({1'b1, sig}));
  assign minus3 = minus1 - Width'({1'b1, sig, 1'b0});
  assign below = {
      minus3 << (RandBits + 2), minus1 << (RandBits + 3), minus3 << (RandBits + 1), minus1 << (RandBits + 2),
      minus3 << RandBits, minus1 << (RandBits + 1), minus1 << RandBits};

  logic [63:0] nearest_q;
  logic [7:0]  scale_q;
  logic        stochastic_q;
  ng_cut #(
    .Width (7 * Width + 73),
    .Enable(Cuts & 32)
  ) u_cut_shifted (
    .clk_i(clk_i),
    .en_i (en_i),
    .d_i  ({below, nearest, scale, stochastic}),
    .q_o  ({below_q, nearest_q, scale_q, stochastic_q})
  );

  logic [63:0] rounded, codes;
  for (genvar i = 0; i < 16; i++) begin : gen_lane
    ng_quantize_e2m1_lane #(
      .RandBits(RandBits),
      .Cut     (Cuts & 32)
    ) u_lane (
      .clk_i        (clk_i),
      .en_i         (en_i),
      .x_i          (a[16*i +: 16]),
      .base_i       (base),
      .significand_i(sig),
      .rand_i       (random[RandBits*i +: RandBits]),
      .below_i      (below_q),
      .code_o       (rounded[4*i +: 4])
    );
  end

  logic live;
  assign live = (|scale_q[6:0]) & ~(&scale_q[6:0]);
  assign codes = stochastic_q ? rounded & {64{live}} : nearest_q;
  ng_cut #(
    .Width (72),
    .Enable(Cuts & 64)
  ) u_cut_rounded (
    .clk_i(clk_i),
    .en_i (en_i),
    .d_i  ({codes, scale_q}),
    .q_o  ({codes_o, scale_o})
  );
endmodule
