// SPDX-License-Identifier: Apache-2.0
// Names for what ng_round_pack is told, in the order of narrowgauge::Rounding and
// narrowgauge::Overflow.
package ng_round_pkg;
  // A unit uses those of its own choices.
  // verilator lint_off UNUSEDPARAM

  // mode_i
  localparam logic [1:0] NearestEven = 2'd0;
  localparam logic [1:0] NearestAway = 2'd1;
  localparam logic [1:0] Stochastic = 2'd2;
  localparam logic [1:0] TowardZero = 2'd3;

  // Overflow
  localparam int Saturate = 0;        // the largest number
  localparam int Ieee = 1;            // infinity, or NaN where there is none
  localparam int Oracle = 2;          // as ml_dtypes
  localparam int OracleSaturate = 3;  // as ml_dtypes, but finite numbers saturate

  // Bits of Cuts
  localparam int CutShifted = 1;  // between the denormalizing shift and the rounding

endpackage
