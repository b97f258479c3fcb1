// SPDX-License-Identifier: Apache-2.0
// Rounds a sign, an exponent and a significand to a target format and packs the code: the only
// place where RTL narrows. Twin of narrowgauge::round_pack, encode_nan and encode_inf
// (model/include/narrowgauge/format/round_pack.hpp).
//
// Operand: (-1)^sign_i * sig_i * 2^(exp_i - (SigWidth-1)), that is, exp_i is the exponent of
// sig_i's top bit.
//   * sig_i's top bit is one, or sig_i is zero, or exp_i is at most the target's smallest exponent
//     (subnormal operands need no normalization then).
//   * sig_i's lowest bit may be the "or" of everything below it (sticky), if it lies below every
//   bit that rounding looks at. * ExpLo <= exp_i <= ExpHi for non-zero sig_i: what the caller
//   promises, so that the denormalizing shifter (ExpLo) and
//     the overflow test (ExpHi) vanish where they cannot be needed. The default promises nothing.
//
// Rounding. `kept` ends at the target's last place (subnormal spacing below the smallest normal), g
// is the next bit, s the "or" of all the rest, F the RandBits bits after the last place (g first),
// l the last kept bit:
//   mode_i             one more unit in the last place iff
//   0 nearest even     g and (s or l)            (no mantissa bits: l is the hidden one, so ties go
//                                                 to the upper power; without zero the Oracles also
//                                                 go up on s alone in the lowest binade)
//   1 nearest away     g
//   2 stochastic       F + rand_i >= 2^RandBits  (carry-out; PTX cvt.rs)
//   3 toward zero      never
//
// Result. Rounding carries run through the mantissa into the exponent by plain addition. Then,
//   first match wins: case                     Saturate (0)      Ieee (1)              Oracle (2)
//   OracleSaturate (3)
//   nan_i, NaN codes exist   all ones, +       quiet NaN, own sign   as Ieee               as Ieee
//   nan_i, none              +max              +max                  -0 for +, +0 for -    as
//                            Oracle
//   inf_i < 0, unsigned      0                 0; NaN without zero   as Ieee               as Ieee
//   inf_i                    max, own sign     Inf, else NaN, else max, own sign           as Ieee
//   < 0, unsigned            0                 0; NaN without zero   as Ieee               0
//   zero                     0, own sign; a format without zero: 0 (its smallest), or NaN under
//                            Ieee and Oracle above max                max, own sign     Inf, else
//                            NaN, else max, own sign           max, own sign
//
// Widths. The significand is laid out as ManBits+1 kept bits and FracWidth >=
// max(SigWidth-ManBits-1, RandBits, 1) fraction bits, so nothing is lost before the shift; what the
// denormalizing shift pushes out below goes to the sticky bit, and the shift count clamps at a
// value that empties the register. The code before the overflow test is
// (exponent above the smallest) * 2^ManBits + kept, below (ExpHi - MinExp + 2) * 2^ManBits after
// the rounding carry, hence FieldWidth = clog2(ExpHi - MinExp + 2) exponent bits.
//
// Cuts (docs/cuts.md): bit 0 between the denormalizing shift and the rounding.
module ng_round_pack #(
  // Target format, in the terms of ng_format_pkg; the default is FP32.
  parameter int Bits     = 32,   // storage bits of a code
  parameter bit Sign     = 1'b1, // codes have a sign
  parameter int ExpBits  = 8,
  parameter int ManBits  = 23,
  parameter int Bias     = 127,
  parameter bit HasInf   = 1'b1, // codes of infinities
  parameter int Nan      = ng_format_pkg::NanIeee,
  parameter bit HasZero  = 1'b1, // codes of zero and of subnormals; E8M0 has none
  parameter int Overflow = ng_round_pkg::Ieee,
  // Operand.
  parameter int SigWidth = 28,
  parameter int ExpWidth = 10,   // of exp_i, signed
  parameter int ExpLo    = -(1 << (ExpWidth - 1)),
  parameter int ExpHi    = (1 << (ExpWidth - 1)) - 1,
  parameter int RandBits = 8,    // random bits of stochastic rounding, 1 to 32
  parameter int Cuts     = 0     // registers: 1 shifted
) (
  input  logic                       clk_i,    // clock of the cut
  input  logic                       en_i,     // enable of the cut
  input  logic [1:0]                 mode_i,   // of ng_round_pkg: NearestEven to TowardZero
  input  logic                       nan_i,
  input  logic                       inf_i,
  input  logic                       sign_i,
  input  logic signed [ExpWidth-1:0] exp_i,
  input  logic [SigWidth-1:0]        sig_i,
  input  logic [RandBits-1:0]        rand_i,   // used by mode 2 only
  output logic [Bits-1:0]            code_o
);

  // The format's special codes, magnitude part.
  localparam int Payload = ExpBits + ManBits;
  localparam logic [Payload-1:0] AllOnes = {Payload{1'b1}};  // not '1: Yosys 0.23 makes that 1
  localparam logic [Payload-1:0] InfCode = AllOnes << ManBits;
  localparam bit IeeeLike = HasInf || Nan == ng_format_pkg::NanIeee;
  localparam bit HasNan = Nan != ng_format_pkg::NanNone;
  localparam logic [Payload-1:0] MaxCode =
      IeeeLike ? InfCode - Payload'(1) : AllOnes - Payload'(Nan == ng_format_pkg::NanFn);
  localparam int QuietBit = ManBits > 0 ? ManBits - 1 : 0;
  localparam logic [Payload-1:0] NanCode =
      Nan == ng_format_pkg::NanIeee ? InfCode | (Payload'(1) << QuietBit) : AllOnes;
  localparam int MinExp = (HasZero ? 1 : 0) - Bias;

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (ExpBits < 1 || ManBits < 0 || Payload > 31) begin : gen_check_payload
    $fatal(1, "ng_round_pack: ExpBits=%0d, ManBits=%0d; expected 1 or more exponent, 0 or more mantissa bits, at most 31 together",
           ExpBits, ManBits);
  end
  if (Bits < Payload + (Sign ? 1 : 0)) begin : gen_check_bits
    $fatal(1, "ng_round_pack: Bits=%0d; expected at least sign + ExpBits + ManBits", Bits);
  end
  if (Nan < 0 || Nan > 2 || (Nan == ng_format_pkg::NanIeee && ManBits == 0)) begin : gen_check_nan
    $fatal(1, "ng_round_pack: Nan=%0d; expected 0 (none), 1 (fn) or, with mantissa bits, 2 (ieee)",
           Nan);
  end
  if (!HasZero && ManBits != 0) begin : gen_check_has_zero
    $fatal(1, "ng_round_pack: HasZero=0 with ManBits=%0d; expected a pure power-of-two format",
           ManBits);
  end
  if (Overflow < 0 || Overflow > 3) begin : gen_check_overflow
    $fatal(1, "ng_round_pack: Overflow=%0d; expected 0 to 3", Overflow);
  end
  if (SigWidth < 2) begin : gen_check_sig_width
    $fatal(1, "ng_round_pack: SigWidth=%0d; expected 2 or more", SigWidth);
  end
  if (RandBits < 1 || RandBits > 32) begin : gen_check_rand_bits
    $fatal(1, "ng_round_pack: RandBits=%0d; expected 1 to 32", RandBits);
  end
  if (ExpLo > ExpHi) begin : gen_check_exp_range
    $fatal(1, "ng_round_pack: ExpLo=%0d above ExpHi=%0d", ExpLo, ExpHi);
  end
  if (Cuts < 0 || Cuts > 1) begin : gen_check_cuts
    $fatal(1, "ng_round_pack: Cuts=%0d; expected 0 or 1", Cuts);
  end
`endif

  localparam bit SaturateAll = Overflow == ng_round_pkg::Saturate;  // infinities and NaNs too
  localparam bit SaturateFinite = SaturateAll || Overflow == ng_round_pkg::OracleSaturate;
  localparam bit OracleRules = Overflow == ng_round_pkg::Oracle
      || Overflow == ng_round_pkg::OracleSaturate;

  // ---- lay out: kept bits, fraction bits
  localparam int KeptWidth = ManBits + 1;
  localparam int SigFrac = SigWidth > KeptWidth ? SigWidth - KeptWidth : 1;
  localparam int FracWidth = SigFrac > RandBits ? SigFrac : RandBits;
  localparam int ExtWidth = KeptWidth + FracWidth;

  logic [ExtWidth-1:0] aligned;
  assign aligned = ExtWidth'(sig_i) << (ExtWidth - SigWidth);

  // ---- denormalize: shift right by MinExp - exp_i where that is positive
  // MinExp and exp_i, and their difference
  localparam int WorkWidth = (ExpWidth > 10 ? ExpWidth : 10) + 1;
  logic signed [WorkWidth-1:0] above_min_d, above_min;
  assign above_min_d = WorkWidth'(exp_i) - WorkWidth'(MinExp);

  logic [ExtWidth-1:0] shifted;
  logic                lost;
  if (ExpLo >= MinExp) begin : gen_never_subnormal
    assign shifted = aligned;
    assign lost = 1'b0;
  end else begin : gen_denormalize
    localparam int CountWidth = $clog2(ExtWidth + 1);
    logic [WorkWidth-1:0]  below_min;
    logic [CountWidth-1:0] count;
    // ng-no-fault(ng_div_fp32): the exponent of a quotient is never 256 or more below the least, so
    //   the upper bits repeat the sign
    assign below_min = above_min_d[WorkWidth-1] ? -above_min_d : '0;
    if (WorkWidth > CountWidth) begin : gen_clamp
      assign count = below_min[CountWidth-1:0] | {CountWidth{|below_min[WorkWidth-1:CountWidth]}};
    end else begin : gen_extend
      assign count = CountWidth'(below_min);
    end
    always_comb begin
      shifted = aligned;
      lost = 1'b0;
      for (int k = 0; k < CountWidth; k++) begin
        if (count[k]) begin
          lost = lost | (|(shifted & ~({ExtWidth{1'b1}} << (1 << k))));
          shifted = shifted >> (1 << k);
        end
      end
    end
  end

  logic [ExtWidth-1:0] shifted_q;
  logic [RandBits-1:0] rand_q;
  logic [1:0]          mode;
  logic                lost_q, nan, inf, sign, sig_top, sig_zero;
  ng_cut #(
    .Width (ExtWidth + WorkWidth + RandBits + 8),
    .Enable(Cuts & ng_round_pkg::CutShifted)
  ) u_shifted (
    .clk_i,
    .en_i,
    .d_i  ({shifted, above_min_d, rand_i, mode_i, lost, nan_i, inf_i, sign_i, sig_i[SigWidth-1],
        ~(|sig_i)}),
    .q_o  ({shifted_q, above_min, rand_q, mode, lost_q, nan, inf, sign, sig_top, sig_zero})
  );

  // ---- round
  logic [KeptWidth-1:0] kept;
  logic [FracWidth-1:0] frac;
  logic                 rest;
  logic [RandBits:0]    random_sum;
  logic                 up;
  assign {kept, frac} = shifted_q;
  assign random_sum = {1'b0, frac[FracWidth-1 -: RandBits]} + {1'b0, rand_q};
  if (FracWidth > 1) begin : gen_rest
    assign rest = lost_q | (|frac[FracWidth-2:0]);
  end else begin : gen_no_rest
    assign rest = lost_q;
  end
  // ml_dtypes 0.6 sends all of E8M0's lowest interval (2^-127, 2^-126) up, not only its upper half.
  logic oracle_up;
  assign oracle_up = OracleRules && !HasZero && above_min == '0 && rest;
  always_comb begin
    unique case (mode)
      ng_round_pkg::NearestEven: up = (frac[FracWidth-1] & (rest | kept[0])) | oracle_up;
      ng_round_pkg::NearestAway: up = frac[FracWidth-1];
      ng_round_pkg::Stochastic:  up = random_sum[RandBits];
      default:                   up = 1'b0;
    endcase
  end

  // ---- pack: the exponent counts from the smallest normal, which is the hidden one's place in the
  // code
  localparam int FieldRange = ExpHi - MinExp + 2 > 2 ? ExpHi - MinExp + 2 : 2;
  localparam int FieldWidth = $clog2(FieldRange) > ExpBits ? $clog2(FieldRange) : ExpBits;
  localparam bit NeverAbove = ExpHi < MinExp + (1 << ExpBits) - 3;
  localparam int PackWidth = NeverAbove ? Payload : FieldWidth + ManBits + 1;
  logic [FieldWidth-1:0] field;
  logic [PackWidth-1:0]  packed_code;
  logic [Payload-1:0]    finite_code;
  logic                  above_max;
  assign field = above_min[WorkWidth-1] | ~sig_top ? '0 : FieldWidth'(above_min);
  if (ManBits > 0) begin : gen_mantissa
    assign packed_code = PackWidth'({field, {ManBits{1'b0}}}) + PackWidth'(kept) + PackWidth'(up);
  end else if (HasZero) begin : gen_power_zero
    assign packed_code = PackWidth'(field) + PackWidth'(kept) + PackWidth'(up);
  end else begin : gen_power
    // Nothing lies below the smallest power: kept + up - 1, but at least 0.
    logic next;
    assign next = kept[0] & up;
    assign packed_code = PackWidth'(field) + PackWidth'(next);
  end
  if (NeverAbove) begin : gen_never_above
    assign above_max = 1'b0;
  end else if (IeeeLike && ManBits > 0) begin : gen_overflow_exponent
    // The exponents above the largest finite one: the mantissa has no say.
    assign above_max = packed_code[PackWidth-1:ManBits] >= (FieldWidth + 1)'((1 << ExpBits) - 1);
  end else begin : gen_overflow
    assign above_max = packed_code > PackWidth'(MaxCode);
  end
  assign finite_code = packed_code[Payload-1:0];

  // ---- special cases
  localparam logic [Payload-1:0] OverCode = HasInf ? InfCode : HasNan ? NanCode : MaxCode;
  logic [Payload-1:0] magnitude;
  always_comb begin
    magnitude = finite_code;
    if (nan) begin
      if (HasNan) magnitude = SaturateAll ? AllOnes : NanCode;
      else        magnitude = OracleRules ? '0 : MaxCode;
    end else if (inf) begin // ng-no-fault(ng_div_fp32): no digit of the quotient stands beside it
      if (!Sign && sign) magnitude = HasZero || SaturateAll ? '0 : NanCode;
      else               magnitude = SaturateAll ? MaxCode : OverCode;
    end else if ((!Sign && sign) || (!HasZero && sig_zero)) begin
      magnitude = HasZero || SaturateFinite ? '0 : NanCode;
    end else if (above_max) begin
      magnitude = SaturateFinite ? MaxCode : OverCode;
    end
  end

  if (Sign) begin : gen_signed
    logic nan_sign;
    assign nan_sign = HasNan ? !SaturateAll && sign : OracleRules && !sign;
    assign code_o = Bits'({nan ? nan_sign : sign, magnitude});
  end else begin : gen_unsigned
    assign code_o = Bits'(magnitude);
  end

endmodule
