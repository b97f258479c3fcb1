// SPDX-License-Identifier: Apache-2.0
// A sum of ng_rht16 normalized for its rounding to BF16, but not beyond the smallest exponent: a
// subnormal keeps its zeros in front, so the rounding is at the right place for it, too.
// Combinational.
//
// The sum is y = sum_i + owed_i, without an adder: with "s" for its sign, |y| is sum_i ^ s followed
// by owed_i ^ s without end. One such bit is appended. The number of places to shift is found as
// ng_normalize does, from the largest power of two on; a stage does not shift if that would exceed
// limit_i, which is compared along the way, from its highest bit on.
//
// sig_o is 8 bits, guard_o the next, sticky_o the "or" of the rest, all of |y|; what "ones without
// end" below mean for them is the table of ng_fixed_to_fp32.
//
// Width argument: |y| < 2^(Width - 1), and the appended bit makes Width again. After stage k at
// most 2^k - 1 places remain.
module ng_rht16_normalize #(
  parameter int Width = 21,  // bits of the sum
  localparam int ShiftWidth = $clog2(Width)
) (
  input  logic [Width-1:0]      sum_i,
  input  logic                  owed_i,
  input  logic [7:0]            limit_i,
  output logic                  sign_o,
  output logic [7:0]            sig_o,
  output logic                  guard_o,
  output logic                  sticky_o,
  output logic [ShiftWidth-1:0] shift_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 10 || Width > 512) begin : gen_check_width
    $fatal(1, "ng_rht16_normalize: Width=%0d; expected 10 to 512", Width);
  end
`endif

  localparam int LimitWidth = ShiftWidth > 8 ? ShiftWidth : 8;

  logic                  sign, fill, rest, tight, zeros;
  logic [Width-1:0]      number, low;
  logic [LimitWidth-1:0] limit;
  assign sign = sum_i[Width-1];
  assign fill = owed_i ^ sign;
  assign limit = LimitWidth'(limit_i);

  always_comb begin
    number = {sum_i[Width-2:0] ^ {(Width-1){sign}}, fill};
    rest = 1'b0;
    shift_o = '0;
    low = '0;
    tight = (limit >> ShiftWidth) == '0;
    for (int k = ShiftWidth - 1; k >= 0; k--) begin
      zeros = (number >> (Width - (1 << k))) == '0;
      shift_o[k] = zeros & (limit[k] | ~tight);
      tight = tight & ~(limit[k] & ~shift_o[k]);
      if (shift_o[k]) begin
        low = ~({Width{1'b1}} << (1 << k));
        number = (number << (1 << k)) | (low & {Width{fill}});
      end
      // What the remaining stages cannot bring up.
      low = ~({Width{1'b1}} << (Width - 9 - (1 << k) + 1 > 0 ? Width - 9 - (1 << k) + 1 : 0));
      rest = rest | (|((number ^ {Width{fill}}) & low));
      number = fill ? number | low : number & ~low;
    end
  end
  assign sign_o = sign & (fill | rest | (|number[Width-1 -: 9]));  // zero is +0
  assign sig_o = number[Width-1 -: 8];
  assign guard_o = number[Width-9] | (fill & ~rest);
  assign sticky_o = rest | (fill & number[Width-9]);

endmodule
