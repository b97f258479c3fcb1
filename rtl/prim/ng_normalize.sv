// SPDX-License-Identifier: Apache-2.0
// Normalizes an unsigned number: shifts left until the top bit is one and keeps the top OutWidth
// bits. Combinational.
//
// fill_i is what follows data_i's lowest bit without end. 0: the number is the integer data_i. 1:
// it is data_i.111..., which is data_i + 1, so that a negative integer x comes as ~x and needs no
// adder to become |x|.
// The number is (sig_o + fraction) * 2^(Width-OutWidth-shift_o); sticky_o: some bit of the fraction
// differs from fill_i. data_i = 0 with fill_i = 0 gives sig_o = 0, sticky_o = 0 and a shift_o
// without meaning.
//
// Leading zeros are not counted first: each stage tests the top 2^k bits and shifts by 2^k if they
// are zero, largest first. Width argument: after stage k at most 2^k - 1 places remain to shift, so
// only the top OutWidth + 2^k - 1 bits can still reach sig_o; the others drop into the sticky bit
// there and then. That makes the stages narrow (213 two-way multiplexers for 64 to 25 bits, a full
// shifter has 384).
//
// Cuts (docs/cuts.md): bit 0 between the coarse stages and the fine ones, half of them unless said.
module ng_normalize #(
  parameter int Width    = 64,
  parameter int OutWidth = 25,
  parameter int Cuts     = 0,  // registers: 1 coarse
  parameter int Fine     = $clog2(Width) / 2,  // stages behind the cut
  localparam int ShiftWidth = $clog2(Width)
) (
  input  logic                  clk_i,  // clock of the cut
  input  logic                  en_i,   // enable of the cut
  input  logic [Width-1:0]      data_i,
  input  logic                  fill_i,
  output logic [OutWidth-1:0]   sig_o,
  output logic                  sticky_o,
  output logic [ShiftWidth-1:0] shift_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 2) begin : gen_check_width
    $fatal(1, "ng_normalize: Width=%0d; expected 2 or more", Width);
  end
  if (OutWidth < 1 || OutWidth > Width) begin : gen_check_out_width
    $fatal(1, "ng_normalize: OutWidth=%0d; expected 1 to Width=%0d", OutWidth, Width);
  end
  if (Fine < 0 || Fine > ShiftWidth) begin : gen_check_fine
    $fatal(1, "ng_normalize: Fine=%0d; expected 0 to clog2(Width)=%0d", Fine, ShiftWidth);
  end
  if (Cuts < 0 || Cuts > 1) begin : gen_check_cuts
    $fatal(1, "ng_normalize: Cuts=%0d; expected 0 or 1", Cuts);
  end
`endif

  // Stage k, down from `From` to `To`. What the remaining stages cannot bring up drops into the
  // sticky bit (nothing while Width is the smaller one).
  logic [Width-1:0]      coarse, coarse_q, fine, coarse_low, fine_low;
  logic [ShiftWidth-1:0] coarse_shift, coarse_shift_q;
  logic                  coarse_sticky, coarse_sticky_q, fill_q;
`define NG_STAGES(From, To, x, low, shift, sticky, fill) \
    for (int k = From; k >= To; k--) begin \
      if ((x >> (Width - (1 << k))) == '0) begin \
        low = ~({Width{1'b1}} << (1 << k)); \
        x = (x << (1 << k)) | (low & {Width{fill}}); \
        shift[k] = 1'b1; \
      end \
      low = ~({Width{1'b1}} << (Width - OutWidth - (1 << k) + 1 > 0 ? Width - OutWidth - (1 << k) + 1 : 0)); \
      sticky = sticky | (|((x ^ {Width{fill}}) & low)); \
      x = fill ? x | low : x & ~low; \
    end

  always_comb begin
    coarse = data_i;
    coarse_sticky = 1'b0;
    coarse_shift = '0;
    coarse_low = '0;
    `NG_STAGES(ShiftWidth - 1, Fine, coarse, coarse_low, coarse_shift, coarse_sticky, fill_i)
  end
  ng_cut #(
    .Width (Width + ShiftWidth + 2),
    .Enable(Cuts & ng_prim_pkg::NormalizeCutCoarse)
  ) u_coarse (
    .clk_i,
    .en_i,
    .d_i  ({coarse, coarse_shift, coarse_sticky, fill_i}),
    .q_o  ({coarse_q, coarse_shift_q, coarse_sticky_q, fill_q})
  );
  always_comb begin
    fine = coarse_q;
    sticky_o = coarse_sticky_q;
    shift_o = coarse_shift_q;
    fine_low = '0;
    `NG_STAGES(Fine - 1, 0, fine, fine_low, shift_o, sticky_o, fill_q)
  end
`undef NG_STAGES
  assign sig_o = fine[Width-1 -: OutWidth];

endmodule
