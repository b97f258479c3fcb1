// SPDX-License-Identifier: Apache-2.0
// Names for the cuts (docs/cuts.md) of LUQ's units: each constant is the bit of the unit's mask
// that puts registers at the place.
package ng_luq_pkg;
  // A unit uses those of its own places.
  // verilator lint_off UNUSEDPARAM

  // ng_dot_luq
  localparam int DotCutProducts = 1;  // between the shifts and the tree

  // ng_quantize_int4
  localparam int Int4CutBounds = 1;  // between bounds and comparisons
  localparam int Int4CutCodes = 2;   // at the outputs

  // ng_quantize_luq
  localparam int QuantizeCutShifted = 1;  // between shift and sum
  localparam int QuantizeCutCodes = 2;    // at the outputs

  // ng_quantize_luq_exact
  localparam int ExactCutCompared = 1;  // between product and comparison
  localparam int ExactCutCodes = 2;     // at the outputs

endpackage
