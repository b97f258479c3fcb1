// SPDX-License-Identifier: Apache-2.0
//
// Quantizes INT32 or FP32 numbers to integers of 2 to 8 bits under a scale and a zero point.
//
//   codes_o     x / scale + zero point, rounded once: to nearest, or stochastically; saturated
//   1 / scale   inverse_i 2^(P - shift_i), inverse_i an integer, P = 0 for INT32 and 24 for FP32;
//               with Pow2 2^(P - shift_i), P = 0 and 47, and inverse_i is not used
//   special_o   an element is an infinity, which saturates, or a NaN, whose code is the largest
//
// The product with the inverse is exact and the zero point is added to it before it is rounded, so
// nothing is rounded twice. Dividing in float32, as papers do, gives another code only where the
// rounded quotient or the rounded inverse crosses a midpoint of codes
// (docs/units/quantize_affine.md).
// BF16 is FP32 whose low 16 bits are zeros. Each element is an ng_quantize_affine_lane.
//
// Cuts (docs/cuts.md): bit 0 behind the product, 1 behind the shift, 2 at the outputs.
module ng_quantize_affine #(
  parameter int Lanes    = 16,
  parameter int Bits     = 8,                          // of a code
  parameter int Input    = ng_affine_pkg::Int32,  // what the elements of a_i are
  parameter bit Pow2     = 1'b0,                       // 1: scales are powers of two
  parameter bit PerLane  = 1'b0,                       // 1: each element has its scale, zero point
  parameter bit Signed   = 1'b1,                       // 1: codes are two's complement
  parameter bit TiesAway = 1'b0,                       // 0: ties go to even, 1: away from zero
  parameter int RandBits = 0,                          // of an element; 0: to nearest only
  parameter int Cuts     = 0,  // registers: 1 product + 2 shifted + 4 codes
  localparam int Scales     = PerLane ? Lanes : 1,
  localparam int ShiftWidth = ng_affine_pkg::shift_width(Input, Pow2),
  localparam int RandWidth  = RandBits > 0 ? RandBits : 1
) (
  input  logic                         clk_i,         // clock of the cuts
  input  logic                         en_i,          // enable of the cuts
  input  logic [Lanes*32-1:0]          a_i,
  input  logic [Scales*24-1:0]         inverse_i,     // unused with Pow2
  input  logic [Scales*ShiftWidth-1:0] shift_i,
  input  logic [Scales*(Bits+1)-1:0]   zero_point_i,  // two's complement
  input  logic                         stochastic_i,  // ignored with RandBits = 0
  input  logic [Lanes*RandWidth-1:0]   rand_i,        // used if stochastic_i
  output logic [Lanes*Bits-1:0]        codes_o,
  output logic                         special_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 256) begin : gen_check_lanes
    $fatal(1, "ng_quantize_affine: Lanes=%0d; expected 1 to 256", Lanes);
  end
  if (Bits < 2 || Bits > 8) begin : gen_check_bits
    $fatal(1, "ng_quantize_affine: Bits=%0d; expected 2 to 8", Bits);
  end
  if (Input < 0 || Input > 1) begin : gen_check_input
    $fatal(1, "ng_quantize_affine: Input=%0d; expected 0 (int32) or 1 (fp32)", Input);
  end
  if (RandBits < 0 || RandBits > 12) begin : gen_check_rand_bits
    $fatal(1, "ng_quantize_affine: RandBits=%0d; expected 0 to 12", RandBits);
  end
  if (Cuts < 0 || Cuts > 7) begin : gen_check_cuts
    $fatal(1, "ng_quantize_affine: Cuts=%0d; expected 0 to 7", Cuts);
  end
`endif

  logic [Lanes*Bits-1:0] codes;
  logic [Lanes-1:0]      special;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    localparam int Scale = PerLane ? i : 0;
    ng_quantize_affine_lane #(
      .Bits    (Bits),
      .Input   (Input),
      .Pow2    (Pow2),
      .Signed  (Signed),
      .TiesAway(TiesAway),
      .RandBits(RandBits),
      .Cuts    (Cuts & (ng_affine_pkg::CutProduct | ng_affine_pkg::CutShifted))
    ) u_lane (
      .clk_i,
      .en_i,
      .x_i         (a_i[32*i +: 32]),
      .inverse_i   (inverse_i[24*Scale +: 24]),
      .shift_i     (shift_i[ShiftWidth*Scale +: ShiftWidth]),
      .zero_point_i(zero_point_i[(Bits+1)*Scale +: Bits+1]),
      .stochastic_i,
      .rand_i      (rand_i[RandWidth*i +: RandWidth]),
      .code_o      (codes[Bits*i +: Bits]),
      .special_o   (special[i])
    );
  end

  // The flag is known at once, and waits for the codes.
  logic special_p, special_q;
  ng_cut #(
    .Width (1),
    .Enable(Cuts & ng_affine_pkg::CutProduct)
  ) u_cut_product (
    .clk_i,
    .en_i,
    .d_i  (|special),
    .q_o  (special_p)
  );
  ng_cut #(
    .Width (1),
    .Enable(Cuts & ng_affine_pkg::CutShifted)
  ) u_cut_shifted (
    .clk_i,
    .en_i,
    .d_i  (special_p),
    .q_o  (special_q)
  );
  ng_cut #(
    .Width (Lanes * Bits + 1),
    .Enable(Cuts & ng_affine_pkg::CutCodes)
  ) u_cut_codes (
    .clk_i,
    .en_i,
    .d_i  ({codes, special_q}),
    .q_o  ({codes_o, special_o})
  );
endmodule
