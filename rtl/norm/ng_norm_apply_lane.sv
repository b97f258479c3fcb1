// SPDX-License-Identifier: Apache-2.0
// A lane of ng_norm_apply: sum = code * multiplier + offset, exact, then rounded once to nearest
// even, to INT8 or BF16.
//
// Width argument: |code * multiplier| <= 2^7 * 2^15 = 2^22, so the product has 24 bits with its
// sign, and the sum with an offset of 24 bits has 25. A magnitude of at most 2^23 + 2^22 has 24.
//
// INT8: the floor of sum / 2^FracBits is incremented where rounding goes up. A floor beyond the
// codes saturates whatever the rounding does, and -129 + 1 is -128 as well; 127 + 1 shows in the
// sign of eight bits.
//
// Cuts (docs/cuts.md): bit 0 behind the product, 1 behind the sum, of BF16 also normalized.
module ng_norm_apply_lane #(
  parameter bit Bf16     = 1'b0,  // 0: y_o is INT8
  parameter int FracBits = 10,    // of the sum, for INT8
  parameter int Cuts     = 0,     // registers: 1 product + 2 sum
  localparam int OutBits = Bf16 ? 16 : 8
) (
  input  logic               clk_i,         // clock of the cuts
  input  logic               en_i,          // enable of the cuts
  input  logic signed [7:0]  code_i,
  input  logic signed [15:0] multiplier_i,
  input  logic signed [23:0] offset_i,
  input  logic signed [6:0]  exp_i,         // of the sum's lowest bit, for BF16
  output logic [OutBits-1:0] y_o
);
  logic signed [23:0] product, product_q, offset_q;
  logic signed [6:0]  exponent;
  logic signed [24:0] sum;
  assign product = 24'(code_i) * 24'(multiplier_i);
  ng_cut #(
    .Width (55),
    .Enable(Cuts & ng_norm_pkg::NormApplyCutProduct)
  ) u_cut_product (
    .clk_i,
    .en_i,
    .d_i ({product, offset_i, exp_i}),
    .q_o ({product_q, offset_q, exponent})
  );
  assign sum = 25'(product_q) + 25'(offset_q);

  if (Bf16) begin : gen_bf16
    logic        sign, sign_q, unused_sticky;
    logic [23:0] magnitude, sig, sig_q;
    logic [4:0]  shift;
    // The top bit's exponent: exp_i + 23 - shift, -64 to 86.
    logic signed [7:0] top, top_q;
    assign sign = sum[24];
    assign magnitude = (sum[23:0] ^ {24{sign}}) + 24'(sign);
    ng_normalize #(
      .Width   (24),
      .OutWidth(24)
    ) u_normalize (
      .clk_i,
      .en_i,
      .data_i  (magnitude),
      .fill_i  (1'b0),
      .sig_o   (sig),
      .sticky_o(unused_sticky),
      .shift_o (shift)
    );
    assign top = 8'(exponent) + 8'sd23 - 8'(shift);
    ng_cut #(
      .Width (33),
      .Enable(Cuts & ng_norm_pkg::NormApplyCutSum)
    ) u_cut_sum (
      .clk_i,
      .en_i,
      .d_i ({sign, top, sig}),
      .q_o ({sign_q, top_q, sig_q})
    );
    ng_round_pack #(
      .Bits    (16),
      .ExpBits (8),
      .ManBits (7),
      .SigWidth(24),
      .ExpWidth(8),
      .ExpLo   (-64),
      .ExpHi   (86),
      .RandBits(1)
    ) u_round (
      .clk_i,
      .en_i,
      .mode_i(ng_round_pkg::NearestEven),
      .nan_i (1'b0),
      .inf_i (1'b0),
      .sign_i(sign_q),
      .exp_i (top_q),
      .sig_i (sig_q),
      .rand_i(1'b0),
      .code_o(y_o)
    );
  end else begin : gen_int8
    logic [24:0] sum_q;
    logic        up, most, least, unused_exponent;
    logic [7:0]  code;
    assign unused_exponent = ^exponent;
    ng_cut #(
      .Width (25),
      .Enable(Cuts & ng_norm_pkg::NormApplyCutSum)
    ) u_cut_sum (
      .clk_i,
      .en_i,
      .d_i (sum),
      .q_o (sum_q)
    );
    assign up = sum_q[FracBits-1] & (sum_q[FracBits] | (|sum_q[FracBits-2:0]));
    assign code = sum_q[FracBits +: 8] + 8'(up);
    assign most = ~sum_q[24] & ((|sum_q[23:FracBits+7]) | code[7]);
    assign least = sum_q[24] & ~(&sum_q[23:FracBits+7]);
    assign y_o = {(code[7] & ~most) | least, (code[6:0] | {7{most}}) & ~{7{least}}};
  end
endmodule
