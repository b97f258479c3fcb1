// SPDX-License-Identifier: Apache-2.0
// Names of the units for normalization.
package ng_norm_pkg;
  // A unit uses what it needs.
  // verilator lint_off UNUSEDPARAM

  // Bits of TreeCuts of ng_range_stats.
  localparam int RangeStatsCutQuads = 1;  // behind maximum, minimum and sum of four lanes
  localparam int RangeStatsCutBeat = 2;   // behind those of the beat

  // Bits of TreeCuts of ng_moment_stats.
  localparam int MomentStatsCutQuads = 1;  // behind the sums of four lanes
  localparam int MomentStatsCutBeat = 2;   // behind those of the beat

  // Bits of Cuts of ng_norm_apply.
  localparam int NormApplyCutProduct = 1;  // behind the product
  localparam int NormApplyCutSum = 2;      // behind the sum; of BF16 also normalized
  localparam int NormApplyCutOut = 4;      // at the outputs

endpackage
