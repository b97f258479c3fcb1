// SPDX-License-Identifier: Apache-2.0
// Shifts an unsigned number left until the top bit is one, but by limit_i places at most, and keeps
// the top OutWidth bits: so a number that is subnormal where its exponent may fall by limit_i comes
// as it is written.
// Combinational. Zero is shifted by limit_i. Without the limit, and with what may follow the lowest
// bit: ng_normalize.
//
// Stage k (shift by 2^k, highest first) shifts if the places that this takes are zero, and bit k of
// the limit is one or a higher bit of it was left over, which is so where its stage did not shift:
// no stage below can reach the limit then. Else what remains of the limit is below 2^k. Width
// argument: after stage k at most 2^k - 1 places remain to shift, so only the top OutWidth + 2^k -
// 1 bits can still reach sig_o; the others drop into the sticky bit there and then.
//
// Cuts (docs/cuts.md): bit 0 between the coarse half of the stages and the fine one.
module ng_normalize_limited #(
  parameter int Width    = 73,
  parameter int OutWidth = 25,
  parameter int Cuts     = 0,  // registers: 1 coarse
  localparam int ShiftWidth = $clog2(Width)
) (
  input  logic                  clk_i,  // clock of the cuts
  input  logic                  en_i,   // enable of the cuts
  input  logic [Width-1:0]      data_i,
  input  logic [ShiftWidth-1:0] limit_i,
  output logic [OutWidth-1:0]   sig_o,
  output logic                  sticky_o,
  output logic [ShiftWidth-1:0] shift_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 2) begin : gen_check_width
    $fatal(1, "ng_normalize_limited: Width=%0d; expected 2 or more", Width);
  end
  if (OutWidth < 1 || OutWidth > Width) begin : gen_check_out_width
    $fatal(1, "ng_normalize_limited: OutWidth=%0d; expected 1 to Width=%0d", OutWidth, Width);
  end
  if (Cuts < 0 || Cuts > 1) begin : gen_check_cuts
    $fatal(1, "ng_normalize_limited: Cuts=%0d; expected 0 or 1", Cuts);
  end
`endif

  localparam int Fine = (ShiftWidth + 1) / 2;  // stages after the cut

  logic [Width-1:0]      coarse, coarse_q, fine, coarse_low, fine_low;
  logic [ShiftWidth-1:0] coarse_shift, coarse_shift_q, limit_q;
  logic                  coarse_sticky, coarse_sticky_q, coarse_free, coarse_free_q, fine_free;
`define NG_STAGES(From, To, x, low, shift, sticky, limit, free) \
    for (int k = From; k >= To; k--) begin \
      if ((x >> (Width - (1 << k))) != '0) begin \
        free = free | limit[k]; \
      end else if (free | limit[k]) begin \
        x = x << (1 << k); \
        shift[k] = 1'b1; \
      end \
      low = ~({Width{1'b1}} << (Width - OutWidth - (1 << k) + 1 > 0 ? Width - OutWidth - (1 << k) + 1 : 0)); \
      sticky = sticky | (|(x & low)); \
      x = x & ~low; \
    end

  // What the remaining stages cannot bring up drops into the sticky bit.
  always_comb begin
    coarse = data_i;
    coarse_sticky = 1'b0;
    coarse_shift = '0;
    coarse_low = '0;
    coarse_free = 1'b0;
    `NG_STAGES(ShiftWidth - 1, Fine, coarse, coarse_low, coarse_shift, coarse_sticky, limit_i,
        coarse_free)
  end
  ng_cut #(
    .Width (Width + 2 * ShiftWidth + 2),
    .Enable(Cuts & ng_prim_pkg::NormalizeCutCoarse)
  ) u_coarse (
    .clk_i,
    .en_i,
    .d_i  ({coarse, coarse_shift, coarse_sticky, limit_i, coarse_free}),
    .q_o  ({coarse_q, coarse_shift_q, coarse_sticky_q, limit_q, coarse_free_q})
  );
  always_comb begin
    fine = coarse_q;
    sticky_o = coarse_sticky_q;
    shift_o = coarse_shift_q;
    fine_low = '0;
    fine_free = coarse_free_q;
    `NG_STAGES(Fine - 1, 0, fine, fine_low, shift_o, sticky_o, limit_q, fine_free)
  end
`undef NG_STAGES
  assign sig_o = fine[Width-1 -: OutWidth];

endmodule
