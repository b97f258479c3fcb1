// SPDX-License-Identifier: Apache-2.0
//
// Quantizes BF16 numbers to INT4, -8 to 7, under an FP32 scale: the quotient rounded to nearest
// even, saturating. With the scale fl(2 clip / 15) of SAWB's clip these are LUQ's weights and
// activations.
//
//   scale_i     an FP32 number without its sign, subnormal ones too
//   codes_o     two's complement
//   special_o   an element is an infinity or a NaN, or the scale is 0, an infinity or a NaN. An
//               infinity becomes 7 or -8, a NaN, or everything under such a scale, 7.
//
// No division: |x| becomes k + 1 or more if and only if it is above (k + 1/2) scale, or equal to it
// where k is odd. Those bounds belong to the tensor: eight odd multiples of half the scale, each
// cut to the BF16 code below, less one where x may be equal. An element is compared with them.
//
// Width argument: 15 times a significand of 24 bits takes 28 bits. Its exponent field is 257 at
// most; from 255 on no number is above.
//
// Cuts (docs/cuts.md): bit 0 between bounds and comparisons, 1 at the outputs.
module ng_quantize_int4 #(
  parameter int Lanes = 16,
  parameter int Cuts  = 0   // registers: 1 bounds + 2 codes
) (
  input  logic                clk_i,  // clock of the cuts
  input  logic                en_i,   // enable of the cuts
  input  logic [Lanes*16-1:0] a_i,
  input  logic [30:0]         scale_i,
  output logic [Lanes*4-1:0]  codes_o,
  output logic                special_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 256) begin : gen_check_lanes
    $fatal(1, "ng_quantize_int4: Lanes=%0d; expected 1 to 256", Lanes);
  end
  if (Cuts < 0 || Cuts > 3) begin : gen_check_cuts
    $fatal(1, "ng_quantize_int4: Cuts=%0d; expected 0 to 3", Cuts);
  end
`endif

  // ---- the bounds
  logic         normal, first, refused;
  logic [8:0]   exponent;  // of scale_i's last place, as a field: 1 for subnormal ones
  logic [27:0]  times_1;   // the significand
  logic [119:0] bounds;
  assign normal = |scale_i[30:23];
  assign first = ~(|scale_i[30:24]);  // the exponent is 1
  assign refused = (&scale_i[30:23]) | ~(|scale_i);
  assign exponent = {1'b0, scale_i[30:24], scale_i[23] | ~normal};
  assign times_1 = {4'b0, normal, scale_i[22:0]};
  // Products by constants as sums, which take no multiplier of an FPGA.
  logic [27:0]  times_3, times_5, times_7, times_8;
  logic [223:0] products;  // 2 k + 1 times the significand, in units of half a last place
  assign times_3 = times_1 + (times_1 << 1);
  assign times_5 = times_1 + (times_1 << 2);
  assign times_7 = times_3 + (times_1 << 2);
  assign times_8 = times_1 << 3;
  assign products = {times_8 + times_7, times_8 + times_5, times_8 + times_3, times_8 + times_1,
      times_7, times_5, times_3, times_1};
  for (genvar k = 0; k < 8; k++) begin : gen_bound
    logic [27:0] place_value;
    logic [8:0]  field;
    logic [6:0]  mantissa;
    logic        rest;
    logic [14:0] code;
    assign place_value = products[28*k +: 28];
    always_comb begin
      if (place_value[27]) begin
        field = exponent + 9'd3;
        mantissa = place_value[26:20];
        rest = |place_value[19:0];
      end else if (place_value[26]) begin
        field = exponent + 9'd2;
        mantissa = place_value[25:19];
        rest = |place_value[18:0];
      end else if (place_value[25]) begin
        field = exponent + 9'd1;
        mantissa = place_value[24:18];
        rest = |place_value[17:0];
      end else if (k != 0 || place_value[24] || first) begin
        // A product below 2^24 is that of a subnormal scale, or the significand alone.
        field = place_value[24] ? exponent : 9'd0;
        mantissa = place_value[23:17];
        rest = |place_value[16:0];
      end else begin
        field = exponent - 9'd1;
        mantissa = place_value[22:16];
        rest = |place_value[15:0];
      end
    end
    assign code = {field[7:0], mantissa} - {14'b0, k % 2 == 1 && !rest};
    assign bounds[15*k +: 15] = code | {15{field[8] | (&field[7:0])}};
  end

  logic [Lanes*16-1:0] block_q;
  logic [119:0]        bounds_q;
  logic                refused_q;
  ng_cut #(
    .Width (Lanes * 16 + 121),
    .Enable(Cuts & ng_luq_pkg::Int4CutBounds)
  ) u_cut_bounds (
    .clk_i,
    .en_i,
    .d_i  ({a_i, bounds, refused}),
    .q_o  ({block_q, bounds_q, refused_q})
  );

  // ---- elements
  logic [Lanes-1:0]   special;
  logic [Lanes*4-1:0] codes;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic        sign, nan, eight;
    logic [14:0] element;
    logic [7:0]  over;
    logic [2:0]  magnitude;
    assign {sign, element} = block_q[16*i +: 16];
    assign special[i] = &element[14:7];
    assign nan = (special[i] & (|element[6:0])) | refused_q;
    for (genvar k = 0; k < 8; k++) begin : gen_over
      // x > bound is the carry of x + ~bound.
      logic        carry;
      logic [14:0] unused_sum;
      assign {carry, unused_sum} = {1'b0, element} + {1'b0, ~bounds_q[15*k +: 15]};
      assign over[k] = carry | special[i];
    end
    assign eight = over[7] & sign;
    assign magnitude = {
        over[3] & ~eight,
        (over[3] ? over[5] : over[1]) & ~eight,
        (over[0] & ~over[1]) | (over[2] & ~over[3]) | (over[4] & ~over[5]) | (over[6] & ~eight)};
    assign codes[4*i +: 4] = {
        sign & (eight | (|magnitude)) & ~nan,
        (magnitude[2] ^ (sign & (|magnitude[1:0]))) | nan,
        (magnitude[1] ^ (sign & magnitude[0])) | nan,
        magnitude[0] | nan};
  end

  ng_cut #(
    .Width (Lanes * 4 + 1),
    .Enable(Cuts & ng_luq_pkg::Int4CutCodes)
  ) u_cut_codes (
    .clk_i,
    .en_i,
    .d_i  ({codes, refused_q | (|special)}),
    .q_o  ({codes_o, special_o})
  );
endmodule
