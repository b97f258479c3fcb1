// SPDX-License-Identifier: Apache-2.0
// Names of the units for softmax.
package ng_softmax_pkg;
  // A unit uses what it needs.
  // verilator lint_off UNUSEDPARAM

  // Bits of TreeCuts of ng_row_max.
  localparam int RowMaxCutPairs = 1;   // behind the first comparison of each group of four lanes
  localparam int RowMaxCutGroups = 2;  // behind the largest key of each group
  localparam int RowMaxCutBeat = 4;    // behind the largest key of the beat

endpackage
