// SPDX-License-Identifier: Apache-2.0
// FP32 numbers as signed integers of Width bits under a shared exponent, rounded to nearest even.
// Twin of narrowgauge::shared_fixed. Numbers below 2^(exponent_i - 126) fit; larger ones and
// infinities saturate, and NaN is the least integer.
//
//   fixed_o = fp32_i * 2^(Width + 125 - exponent_i)
//
// The significand stands at the top of a frame, below the integer's sign, and goes right by
// exponent_i less its own exponent: where that is negative, the number is too large. Of what is
// left the top Width-1 bits are the magnitude, and rounding sees the next one, G, and the rest. A
// negative number is ~magnitude + 1, or one less where the magnitude rounds up. So rounding costs
// no addition beside the one of the sign.
//
// Latency: 2 edges at which en_i is 1. The addition stands behind the second one.
//
// Width argument: a difference of two exponents has 8 bits and a sign. The frame has the
// magnitude's Width-1 bits and one for G, or the 24 bits of a significand. A magnitude of all ones
// that rounds up is 2^(Width-1): -2^(Width-1) fits, and the positive one shows as a sign. It takes
// 24 bits at most, since a larger magnitude has room for all of a significand that is not moved.
module ng_fp32_to_fixed #(
  parameter int Width = 24  // bits of the integer
) (
  input  logic                    clk_i,
  input  logic                    en_i,        // the stages move
  input  logic [31:0]             fp32_i,
  input  logic [7:0]              exponent_i,  // the shared one, with FP32's bias; not 0
  output logic signed [Width-1:0] fixed_o      // two edges later
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 2 || Width > 64) begin : gen_check_width
    $fatal(1, "ng_fp32_to_fixed: Width=%0d; expected 2 to 64", Width);
  end
`endif

  localparam int FrameWidth = Width > 24 ? Width : 24;

  // ---- 1: how far the significand goes
  logic        special, too_large, sign_q, large_q;
  logic [7:0]  exponent, by, by_q;  // a subnormal number has the exponent 1
  logic [23:0] significand_q;
  assign special = &fp32_i[30:23];
  assign exponent = {fp32_i[30:24], fp32_i[23] | ~(|fp32_i[30:23])};
  assign {too_large, by} = {1'b0, exponent_i} - {1'b0, exponent};
  always_ff @(posedge clk_i) if (en_i) begin
    significand_q <= {|fp32_i[30:23], fp32_i[22:0]};
    by_q          <= by;
    large_q       <= too_large | special;
    sign_q        <= fp32_i[31] | (special & |fp32_i[22:0]);
  end

  // ---- 2: the magnitude in its place, and what is added to it
  logic [FrameWidth-1:0] shifted;
  logic                  sticky, guard, rest, up, moved_sign_q, moved_large_q, add_q;
  logic [Width-2:0]      magnitude_q;  // inverted if the number is negative
  ng_shift_sticky #(
    .Width  (FrameWidth),
    .ByWidth(8)
  ) u_shift (
    .data_i  ({significand_q, {(FrameWidth-24){1'b0}}}),
    .by_i    (by_q),
    .data_o  (shifted),
    .sticky_o(sticky)
  );
  assign guard = shifted[FrameWidth-Width];
  if (FrameWidth > Width) begin : gen_rest
    assign rest = sticky | (|shifted[FrameWidth-Width-1:0]);
  end else begin : gen_no_rest
    assign rest = sticky;
  end
  assign up = guard & (rest | shifted[FrameWidth-Width+1]);
  always_ff @(posedge clk_i) if (en_i) begin
    magnitude_q   <= shifted[FrameWidth-1 -: Width-1] ^ {(Width-1){sign_q}};
    add_q         <= up ^ sign_q;
    moved_sign_q  <= sign_q;
    moved_large_q <= large_q;
  end

  // ---- the integer
  logic [Width-1:0] sum;
  logic             saturates;
  assign sum = {moved_sign_q, magnitude_q} + Width'(add_q);
  if (Width > 24) begin : gen_no_carry
    assign saturates = moved_large_q;
  end else begin : gen_carry
    assign saturates = moved_large_q | (sum[Width-1] & ~moved_sign_q);
  end
  assign fixed_o = saturates ? {moved_sign_q, {(Width-1){~moved_sign_q}}} : sum;
endmodule
