// SPDX-License-Identifier: Apache-2.0
//
// Quantizes a block of 32 BF16 numbers to MXFP4: an E8M0 scale and 32 E2M1 codes, by the dialects `ocp_floor` (Rceil = 0) and
// `ocp_rceil` (Rceil = 1) of docs/dialects.md, to nearest even or stochastic.
//
//   scale_o   e - 2, at least 0; e is the exponent field of the largest magnitude, Rceil: plus 1 where its mantissa is above 1.5
//   codes_o   x 2^(127 - scale) rounded to E2M1, at most 6, signs kept
//   a NaN or an infinity in the block: scale NaN (8'hFF), codes zero
//
// Rceil is FP32's product of the largest magnitude and fl(1/6), rounded up to a power of two; of BF16 numbers that is a comparison:
// 1.5 * 2^n gives 2^(n-2) exactly, since fl(1/6) is too large by less than a quarter of the product's last place.
//
// An element's significand, one bit before the point and seven behind, is shifted right by scale - e, with a quarter bit to spare;
// e is its exponent field, and a subnormal number counts as e = 0 with its significand doubled, so that no field is special. Two bits
// are then what E2M1 keeps, from 2 on with its exponent added, and eight bits the fraction F. One carry rounds: of F + R, or of F
// + 127 + (odd or sticky), which is one from half a unit on, ties to even.
//
// Width argument: e - scale is at most 2, by either rule, and at least -253; shifts of 10 or more leave nothing of ten bits.
//
// Cuts (docs/cuts.md): bit 0 behind the maximum, 1 behind the shifts, 2 behind the codes.
module ng_quantize_mxfp4 #(
  parameter int Rceil = 0,  // 1: scales rounded up, so that nothing is clipped
  parameter int Cuts  = 0   // registers: 1 amax + 2 shifted + 4 codes
) (
  input  logic         clk_i,  // this and en_i: of the cuts
  input  logic         en_i,
  input  logic [511:0] a_i,
  input  logic         stochastic_i,
  input  logic [255:0] rand_i,  // eight bits an element, used if stochastic_i
  output logic [127:0] codes_o,
  output logic [7:0]   scale_o
);
`ifndef __ICARUS__ // which has no elaboration tasks
  if (Rceil < 0 || Rceil > 1) begin : gen_check_rceil $fatal(1, "ng_quantize_mxfp4: Rceil=%0d; expected 0 or 1", Rceil); end
  if (Cuts < 0 || Cuts > 7) begin : gen_check_cuts $fatal(1, "ng_quantize_mxfp4: Cuts=%0d; expected 0 to 7", Cuts); end
`endif

  // ---- the scale
  logic [14:0] amax, amax_q;
  ng_amax #(
    .Lanes(32),
    .Width(16)
  ) u_amax (
    .a_i   (a_i),
    .amax_o(amax)
  );

  logic [511:0] a_q;
  logic [255:0] rand_q;
  logic         stochastic_q;
  ng_cut #(
    .Width (784),
    .Enable(Cuts & 1)
  ) u_cut_amax (
    .clk_i(clk_i),
    .en_i (en_i),
    .d_i  ({a_i, rand_i, stochastic_i, amax}),
    .q_o  ({a_q, rand_q, stochastic_q, amax_q})
  );

  logic       nan, up;
  logic [8:0] low;
  logic [7:0] exponent, scale;
  assign nan = &amax_q[14:7];
  assign up = Rceil != 0 && amax_q[6:0] > 7'd64;
  assign low = {1'b0, amax_q[14:7]} - (up ? 9'd1 : 9'd2);
  assign exponent = low[8] ? 8'd0 : low[7:0];
  assign scale = nan ? 8'hFF : exponent;

  // ---- elements in quarters of E2M1's last place
  logic [32*14-1:0] shifted, shifted_q;  // sign, what is added to the two bits, these, the fraction, its sticky bit
  for (genvar i = 0; i < 32; i++) begin : gen_shift
    logic [15:0] x;
    logic        normal, sticky;
    logic [8:0]  right;
    logic [3:0]  shift;
    logic [9:0]  sig, by8, by4, by2, wide;
    logic [1:0]  above;
    assign x = a_q[16*i +: 16];
    assign normal = x[14:7] != '0;
    assign sig = {normal ? {1'b1, x[6:0]} : {x[6:0], 1'b0}, 2'b0};
    assign right = {1'b0, exponent} - {1'b0, x[14:7]};
    assign above = {2{right[8]}} & {~right[0], right[0]};
    assign shift = right[8] ? 4'd0 : right[3:0] | {4{|right[7:4]}};
    assign by8 = shift[3] ? sig >> 8 : sig;
    assign by4 = shift[2] ? by8 >> 4 : by8;
    assign by2 = shift[1] ? by4 >> 2 : by4;
    assign wide = shift[0] ? by2 >> 1 : by2;
    assign sticky = (shift[3] & (|sig[7:2])) | (shift[2] & (|by8[3:0])) | (shift[1] & (|by4[1:0])) | (shift[0] & by2[0]);
    assign shifted[14*i +: 14] = {x[15], above, wide, sticky};
  end

  logic [255:0] rand_qq;
  logic         stochastic_qq, nan_q;
  logic [7:0]   scale_q;
  ng_cut #(
    .Width (714),
    .Enable(Cuts & 2)
  ) u_cut_shifted (
    .clk_i(clk_i),
    .en_i (en_i),
    .d_i  ({shifted, rand_q, stochastic_q, nan, scale}),
    .q_o  ({shifted_q, rand_qq, stochastic_qq, nan_q, scale_q})
  );

  // ---- rounded
  logic [127:0] codes;
  for (genvar i = 0; i < 32; i++) begin : gen_round
    logic       sign, sticky, carry, first;
    logic [1:0] above, kept;
    logic [3:0] code;
    logic [7:0] fraction, addend, unused_sum;
    logic       unused_first;
    assign {sign, above, kept, fraction, sticky} = shifted_q[14*i +: 14];
    assign addend = stochastic_qq ? rand_qq[8*i +: 8] : 8'd127;
    assign first = ~stochastic_qq & (kept[0] | sticky);
    assign {carry, unused_sum, unused_first} = {1'b0, fraction, 1'b1} + {1'b0, addend, first};
    assign code = {1'b0, above, 1'b0} + {2'b0, kept} + {3'b0, carry};
    assign codes[4*i +: 4] = {4{~nan_q}} & {sign, code[2:0] | {3{code[3]}}};
  end

  ng_cut #(
    .Width (136),
    .Enable(Cuts & 4)
  ) u_cut_codes (
    .clk_i(clk_i),
    .en_i (en_i),
    .d_i  ({codes, scale_q}),
    .q_o  ({codes_o, scale_o})
  );
endmodule
