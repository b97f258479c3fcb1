// SPDX-License-Identifier: Apache-2.0
// Names for the cuts (docs/cuts.md) of the units that add as matrix instructions of others do: each
// constant is the bit of the unit's mask that puts registers at the place.
package ng_mma_pkg;
  // A unit uses those of its own places.
  // verilator lint_off UNUSEDPARAM

  // ng_mma_nvfp4; the first three are those of ng_mma_nvfp4_group, too
  localparam int Nvfp4CutNodes = 1;        // in the trees of ng_dot_e2m1
  localparam int Nvfp4CutDot = 2;          // the dot products
  localparam int Nvfp4CutProduct = 4;      // dot products times the scales' significands
  localparam int Nvfp4CutAligned = 8;      // all terms at one exponent
  localparam int Nvfp4CutSum = 16;         // sum of all terms
  localparam int Nvfp4CutNormalized = 32;  // before the rounding

  // ng_mma_fp8 and ng_mma_mx; the first is that of ng_mma_lane, the others are those of ng_mma_sum
  localparam int SumCutProduct = 1;      // products and labels of the lanes
  localparam int SumCutLargest = 2;      // the largest label
  localparam int SumCutAligned = 4;      // all products at one exponent
  localparam int SumCutSum = 8;          // sum of all terms
  localparam int SumCutNormalized = 16;  // before the rounding

  // ng_mma_rvbna; the first is that of ng_mma_lane, too
  localparam int RvbnaCutProduct = 1;       // products and labels of the lanes
  localparam int RvbnaCutLargest = 2;       // the largest label
  localparam int RvbnaCutAligned = 4;       // all products at one exponent
  localparam int RvbnaCutSum = 8;           // sum of the products
  localparam int RvbnaCutDot = 16;          // that sum as an FP32 number
  localparam int RvbnaCutOrdered = 32;      // whether that number or C leads
  localparam int RvbnaCutCompared = 64;     // whether that number or C is larger
  localparam int RvbnaCutNormalized = 128;  // before the rounding

  // Mode of ng_mma_fp8 and ng_mma_sum
  localparam int Blackwell = 0;
  localparam int Hopper = 1;

endpackage
