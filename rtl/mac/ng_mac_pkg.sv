// SPDX-License-Identifier: Apache-2.0
// Names for the cuts (docs/cuts.md) of the multiply-accumulate units: each constant is the bit of
// the unit's mask that puts registers at the place.
package ng_mac_pkg;
  // A unit uses those of its own places.
  // verilator lint_off UNUSEDPARAM

  // ng_add_fp32
  localparam int AddCutOrdered = 1;      // it is known which operand leads
  localparam int AddCutAligned = 2;      // the smaller operand is shifted
  localparam int AddCutCompared = 4;     // the larger significand is known
  localparam int AddCutAdded = 8;        // sum or difference
  localparam int AddCutCoarse = 16;      // between the halves of the normalizer
  localparam int AddCutNormalized = 32;  // before the rounding
  localparam int AddCutShifted = 64;     // in the rounding module

  // ng_fma_fp32: its own place, and by how much the places of ng_add_fp32 are shifted up
  localparam int FmaCutProduct = 1;      // product of the significands
  localparam int FmaAddShift = 1;

  // ng_scale_fp32
  localparam int ScaleFp32CutOperands = 1;     // before the product
  localparam int ScaleFp32CutParts = 2;        // the four partial products
  localparam int ScaleFp32CutProduct = 4;      // the sum of the partial products
  localparam int ScaleFp32CutCoarse = 8;       // between the halves of the normalizer
  localparam int ScaleFp32CutNormalized = 16;  // before the rounding

  // ng_fixed_to_fp32
  localparam int ConvertCutCoarse = 1;      // between the halves of the normalizer
  localparam int ConvertCutNormalized = 2;  // before the rounding

  // ng_fp8_lane
  localparam int Fp8LaneCutProduct = 1;  // product of the significands, sum of the exponents

  // ng_dot_fp8
  localparam int DotFp8CutProduct = 1;  // in the lanes
  localparam int DotFp8CutLanes = 2;    // between lanes and tree
  localparam int DotFp8CutSum = 4;      // behind the tree

  // ng_dot_e2m1
  localparam int DotE2m1CutNodes = 1;  // within the tree

  // ng_scale_mx
  localparam int ScaleMxCutMagnitude = 1;   // the magnitude of the dot product
  localparam int ScaleMxCutNormalized = 2;  // before the rounding
  localparam int ScaleMxCutShifted = 4;     // in the rounding module

  // ng_dot_mxfp4: its own places, and by how much the places of ng_scale_mx are shifted up
  localparam int DotMxfp4CutNodes = 1;  // in the tree of ng_dot_e2m1
  localparam int DotMxfp4CutDot = 2;    // the dot product
  localparam int DotMxfp4ScaleShift = 2;

  // ng_scale_nvfp4
  localparam int ScaleNvfp4CutSignificand = 1;  // product of the scales' significands
  localparam int ScaleNvfp4CutProduct = 2;      // products with its nibbles
  localparam int ScaleNvfp4CutSum = 4;          // the sum of the nibbles' products
  localparam int ScaleNvfp4CutTerm = 8;         // behind the shift

  // ng_dot_nvfp4: its own place, and by how much the places of ng_scale_nvfp4 are shifted up
  localparam int DotNvfp4CutNodes = 1;  // in the tree of ng_dot_e2m1
  localparam int DotNvfp4ScaleShift = 1;

  // CellCuts of ng_mac_array and ng_mac_pe, and by how much the places of ng_scale_nvfp4 are
  // shifted up
  localparam int CellCutDot = 1;          // in the dot products
  localparam int CellCutSignificand = 2;  // product of the scales' significands, one stage earlier
  localparam int CellCutProduct = 4;      // products with its nibbles
  localparam int CellCutSum = 8;          // the sum of the nibbles' products
  localparam int CellScaleShift = 1;

endpackage
