// SPDX-License-Identifier: Apache-2.0
// Names for the cuts (docs/cuts.md) of the primitives, and what every unit with cuts counts.
package ng_prim_pkg;
  // A unit uses what it needs.
  // verilator lint_off UNUSEDPARAM

  // Bits of Cuts of ng_normalize and ng_normalize_limited.
  localparam int NormalizeCutCoarse = 1;  // between the coarse stages and the fine ones

  // Registers that a mask of cuts puts into a path: the latency of its unit.
  function automatic int cut_count(int cuts);
    cut_count = 0;
    for (int i = 0; i < 31; i++) cut_count = cut_count + ((cuts >> i) & 1);
  endfunction

endpackage
