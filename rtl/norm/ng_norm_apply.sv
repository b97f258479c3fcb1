// SPDX-License-Identifier: Apache-2.0
// Applies a normalization to INT8 codes: of each element
//
//   y = (code * multiplier_i + offset_i) * 2^-FracBits   to INT8, saturated
//   y = (code * multiplier_i + offset_i) * 2^exp_i       to BF16
//
// The sum is exact and y is rounded once, to nearest even. (code - mean) * m + b is this with the
// offset b - mean * m, which is the same for a whole channel and is folded outside
// (narrowgauge::fold_norm): a lane multiplies 8 bits by 16. Each element is an ng_norm_apply_lane.
//
// With BF16, exp_i of -64 to 63 leaves results of 2^-64 to 2^87 or zero: none is subnormal, none
// overflows.
//
// Cuts (docs/cuts.md): bit 0 behind the product, 1 behind the sum, of BF16 also normalized, 2 at
// the outputs. Latency as many enabled edges as cuts, throughput a beat an enabled edge.
module ng_norm_apply #(
  parameter int Lanes    = 16,
  parameter bit Bf16     = 1'b0,  // 0: y_o is INT8
  parameter int FracBits = 10,    // of multiplier and offset, for INT8
  parameter int Cuts     = 0,     // registers: 1 product + 2 sum + 4 out
  localparam int OutBits = Bf16 ? 16 : 8
) (
  input  logic                     clk_i,         // clock of the cuts
  input  logic                     en_i,          // enable of the cuts
  input  logic [8*Lanes-1:0]       codes_i,       // two's complement
  input  logic [15:0]              multiplier_i,  // two's complement
  input  logic [23:0]              offset_i,      // two's complement
  input  logic [6:0]               exp_i,         // two's complement; unused for INT8
  output logic [OutBits*Lanes-1:0] y_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 256) begin : gen_check_lanes
    $fatal(1, "ng_norm_apply: Lanes=%0d; expected 1 to 256", Lanes);
  end
  if (FracBits < 2 || FracBits > 15) begin : gen_check_frac_bits
    $fatal(1, "ng_norm_apply: FracBits=%0d; expected 2 to 15", FracBits);
  end
  if (Cuts < 0 || Cuts > 7) begin : gen_check_cuts
    $fatal(1, "ng_norm_apply: Cuts=%0d; expected 0 to 7", Cuts);
  end
`endif

  logic [OutBits*Lanes-1:0] y;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    ng_norm_apply_lane #(
      .Bf16    (Bf16),
      .FracBits(FracBits),
      .Cuts    (Cuts & (ng_norm_pkg::NormApplyCutProduct | ng_norm_pkg::NormApplyCutSum))
    ) u_lane (
      .clk_i,
      .en_i,
      .code_i      (codes_i[8*i +: 8]),
      .multiplier_i(multiplier_i),
      .offset_i    (offset_i),
      .exp_i       (exp_i),
      .y_o         (y[OutBits*i +: OutBits])
    );
  end
  ng_cut #(
    .Width (OutBits * Lanes),
    .Enable(Cuts & ng_norm_pkg::NormApplyCutOut)
  ) u_cut_out (
    .clk_i,
    .en_i,
    .d_i (y),
    .q_o (y_o)
  );
endmodule
