// SPDX-License-Identifier: Apache-2.0
// Normalizes an unsigned number: shifts left until the top bit is one and keeps the top OutWidth bits. Combinational.
//
// fill_i is what follows data_i's lowest bit without end. 0: the number is the integer data_i. 1: it is data_i.111..., which
// is data_i + 1, so that a negative integer x comes as ~x and needs no adder to become |x|.
// The number is (sig_o + fraction) * 2^(Width-OutWidth-shift_o); sticky_o: some bit of the fraction differs from fill_i.
// data_i = 0 with fill_i = 0 gives sig_o = 0, sticky_o = 0 and a shift_o without meaning.
//
// Leading zeros are not counted first: each stage tests the top 2^k bits and shifts by 2^k if they are zero, largest
// first. Width argument: after stage k at most 2^k - 1 places remain to shift, so only the top OutWidth + 2^k - 1 bits can
// still reach sig_o; the others drop into the sticky bit there and then. That makes the stages narrow (213 two-way
// multiplexers for 64 to 25 bits, a full shifter has 384).
module ng_normalize #(
  parameter int Width    = 64,
  parameter int OutWidth = 25,
  localparam int ShiftWidth = $clog2(Width)
) (
  input  logic [Width-1:0]      data_i,
  input  logic                  fill_i,
  output logic [OutWidth-1:0]   sig_o,
  output logic                  sticky_o,
  output logic [ShiftWidth-1:0] shift_o
);

  if (Width < 2) begin : gen_check_width $fatal(1, "ng_normalize: Width=%0d; expected 2 or more", Width); end
  if (OutWidth < 1 || OutWidth > Width) begin : gen_check_out_width $fatal(1, "ng_normalize: OutWidth=%0d; expected 1 to Width=%0d", OutWidth, Width); end

  logic [Width-1:0] x, low;
  always_comb begin
    x = data_i;
    sticky_o = 1'b0;
    shift_o = '0;
    low = '0;
    for (int k = ShiftWidth - 1; k >= 0; k--) begin
      if ((x >> (Width - (1 << k))) == '0) begin
        low = ~({Width{1'b1}} << (1 << k));
        x = (x << (1 << k)) | (low & {Width{fill_i}});
        shift_o[k] = 1'b1;
      end
      // What the remaining stages cannot bring up (nothing while Width is the smaller one).
      low = ~({Width{1'b1}} << (Width - OutWidth - (1 << k) + 1 > 0 ? Width - OutWidth - (1 << k) + 1 : 0));
      sticky_o = sticky_o | (|((x ^ {Width{fill_i}}) & low));
      x = fill_i ? x | low : x & ~low;
    end
  end
  assign sig_o = x[Width-1 -: OutWidth];

endmodule
