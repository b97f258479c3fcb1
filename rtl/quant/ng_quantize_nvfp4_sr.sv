// SPDX-License-Identifier: Apache-2.0
//
// Quantizes a block of 16 BF16 numbers to NVFP4 as ng_quantize_nvfp4 does, to nearest even, or
// stochastically under tensor scales that are powers of two.
//
//   scale_o   that of ng_quantize_nvfp4 with TinyScales = 0
//   codes_o   its codes; stochastic_i: x / (scale g) rounded up if delta 2^RandBits + R >=
//             2^RandBits; g = tensor_scale_i stochastic_i, and g no power of two: scale NaN
//             (8'h7F), codes zero, as under every refused tensor scale
//
// The block's scale times g is u = (1 + sig / 8) 2^(base - 127), and what elements are compared
// with follows once for the block: ng_quantize_e2m1_lane is an element.
//
// Width argument: base is the exponent of g, at least 16, plus -2 to 15 less 7: at least 7. It is
// at most 252, as u is at most 17/16 of amax / 6 under normal scales, below 2^-6 g under others:
// eight bits, also that of 8 u. Under a scale of zero or NaN it may be anything, and codes are
// zero.
//
// Cuts (docs/cuts.md): bits 0 to 4 those of ng_quantize_nvfp4, 5 behind the numbers below the
// elements, 6 behind the codes.
module ng_quantize_nvfp4_sr #(
  parameter int RandBits = 8,  // random bits of an element
  // registers: 1 amax + 2 estimate + 4 scale + 8 thresholds + 16 codes + 32 floors + 64 rounded
  parameter int Cuts     = 0
) (
  input  logic                   clk_i,  // clock of the cuts
  input  logic                   en_i,   // enable of the cuts
  input  logic [255:0]           a_i,
  input  logic [31:0]            tensor_scale_i,
  input  logic                   stochastic_i,
  input  logic [16*RandBits-1:0] rand_i,  // used if stochastic_i
  output logic [63:0]            codes_o,
  output logic [7:0]             scale_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (RandBits < 1 || RandBits > 16) begin : gen_check_rand_bits
    $fatal(1, "ng_quantize_nvfp4_sr: RandBits=%0d; expected 1 to 16", RandBits);
  end
  if (Cuts < 0 || Cuts > 127) begin : gen_check_cuts
    $fatal(1, "ng_quantize_nvfp4_sr: Cuts=%0d; expected 0 to 127", Cuts);
  end
`endif

  // ---- the scale, and codes to nearest
  logic        refused;
  logic [63:0] nearest;
  logic [7:0]  scale;
  assign refused = stochastic_i & (|tensor_scale_i[22:0]);
  ng_quantize_nvfp4 #(
    .TinyScales(1'b0),
    .Cuts      (Cuts & ng_quant_pkg::Nvfp4Cuts)
  ) u_nearest (
    .clk_i,
    .en_i,
    .a_i,
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
      .clk_i,
      .en_i,
      .d_i  (early),
      .q_o  (late)
    );
  end
  logic [255:0]           block;
  logic [7:0]             g_exp;
  logic                   stochastic;
  logic [16*RandBits-1:0] random;
  assign {block, g_exp, stochastic, random} = gen_wait[4].late;

  // ---- scale times g: 1 + sig / 8, its exponent
  logic [2:0] sig;
  logic [7:0] exponent, base;
  always_comb begin
    sig = scale[2:0];
    exponent = {4'b0, scale[6:3]};
    if (scale[6:3] == '0) begin
      if (scale[2]) begin
        sig = {scale[1:0], 1'b0};
      end else if (scale[1]) begin
        sig = {scale[0], 2'b0};
        exponent = -8'd1;
      end else begin
        sig = '0;
        exponent = -8'd2;
      end
    end
  end
  assign base = g_exp + exponent - 8'd7;

  // ---- what elements are compared with
  localparam int CountBits = RandBits < 3 ? 2 : $clog2(RandBits + 1);
  logic [14:0]          minus_one, minus_half, minus_eight;
  logic [7:0]           minus_s, minus_s34, near;
  logic [8:0]           minus_s32, minus_near;
  logic [CountBits-1:0] top;
  assign minus_one = -{base, sig, 4'b0};
  assign minus_half = minus_one + 15'd128;
  assign minus_eight = minus_one - 15'd384;
  assign minus_s = -{1'b1, sig, 4'b0};
  assign minus_s34 = 8'd160 - {2'b0, sig, 3'b0} - {3'b0, sig, 2'b0};  // 256 - 96 - 12 sig
  assign minus_s32 = 9'd320 - {2'b0, sig, 4'b0} - {3'b0, sig, 3'b0};  // 512 - 192 - 24 sig
  // A bound of 1 is one of 0: subnormal elements count from 1 on. With few random bits it is more.
  assign near = base - 8'(RandBits + 1);
  assign minus_near = 9'd256 - {1'b0, base < 8'(RandBits + 3) ? 8'd0 : near};
  assign top = ~(base[CountBits-1:0] - CountBits'(1));

  logic [2:0]  sig_q;
  logic [63:0] nearest_q;
  logic [7:0]  scale_q;
  logic        stochastic_q;
  ng_cut #(
    .Width (76),
    .Enable(Cuts & ng_quant_pkg::Nvfp4SrCutFloors)
  ) u_cut_floors (
    .clk_i,
    .en_i,
    .d_i  ({sig, nearest, scale, stochastic}),
    .q_o  ({sig_q, nearest_q, scale_q, stochastic_q})
  );

  logic [63:0] rounded, codes;
  for (genvar i = 0; i < 16; i++) begin : gen_lane
    ng_quantize_e2m1_lane #(
      .RandBits(RandBits),
      .Cut     ((Cuts & ng_quant_pkg::Nvfp4SrCutFloors) != 0)
    ) u_lane (
      .clk_i,
      .en_i,
      .x_i          (block[16*i +: 16]),
      .minus_one_i  (minus_one),
      .minus_half_i (minus_half),
      .minus_eight_i(minus_eight),
      .minus_s_i    (minus_s),
      .minus_s34_i  (minus_s34),
      .minus_s32_i  (minus_s32),
      .minus_near_i (minus_near),
      .top_i        (top),
      .rand_i       (random[RandBits*i +: RandBits]),
      .significand_i(sig_q),
      .code_o       (rounded[4*i +: 4])
    );
  end

  logic live;
  assign live = (|scale_q[6:0]) & ~(&scale_q[6:0]);
  assign codes = stochastic_q ? rounded & {64{live}} : nearest_q;
  ng_cut #(
    .Width (72),
    .Enable(Cuts & ng_quant_pkg::Nvfp4SrCutRounded)
  ) u_cut_rounded (
    .clk_i,
    .en_i,
    .d_i  ({codes, scale_q}),
    .q_o  ({codes_o, scale_o})
  );
endmodule
