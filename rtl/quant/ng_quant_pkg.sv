// SPDX-License-Identifier: Apache-2.0
// What travels between the quantizers' modules, and names for the quantizers' cuts (docs/cuts.md):
// each of those constants is the bit of the unit's mask that puts registers at the place.
package ng_quant_pkg;

  // What ng_nvfp4_block gives to the elements of a block. Inverted is what is named minus.
  typedef struct packed {
    logic [8:0]   minus_near;  // of base - 1 - RandBits
    logic [2:0]   minus_sig;   // scale times g is (1 + sig / 8) 2^(base - 127)
    logic [1:0]   ties;        // x is beyond a threshold that it equals: 4th and 6th; 2nd
    logic [104:0] minus;       // thresholds, the lowest in the low bits
    logic         stochastic;  // codes are rounded stochastically
    logic         live;        // the scale is neither 0 nor NaN
    logic [7:0]   scale;       // UE4M3 code
  } nvfp4_block_t;

  // What ng_quantize_4over6_folded keeps of a block until one of both scales is chosen.
  typedef struct packed {
    logic       live6;   // the scale for 6 is not 0
    logic       differ;  // the scales are not the same
    logic [7:0] scale6;  // UE4M3 codes: of the scale for 6
    logic [7:0] scale4;  // of the scale for 4
  } four_six_choice_t;

  // What ng_quantize_4over6_folded keeps of a block until the sums of its elements are complete.
  typedef struct packed {
    logic             top6;     // the significand of the scale for 6 times g has bit 27
    logic [2:0]       factor6;  // significand of the scale for 6, less 8
    logic [2:0]       factor4;  // significand of the scale for 4, less 8
    logic             delta;    // the exponent of the scale for 4 is higher by one
    four_six_choice_t choice;
  } four_six_block_t;

  // A unit uses the cuts of its own places.
  // verilator lint_off UNUSEDPARAM

  // ng_quantize_nvfp4
  localparam int Nvfp4CutAmax = 1;        // behind the maximum
  localparam int Nvfp4CutEstimate = 2;    // behind the estimate f
  localparam int Nvfp4CutScale = 4;       // behind the scale and its product
  localparam int Nvfp4CutThresholds = 8;  // behind the thresholds
  localparam int Nvfp4CutCodes = 16;      // at the outputs
  localparam int Nvfp4Cuts = 31;          // all of them

  // ng_quantize_nvfp4_sr, whose lowest bits are those of its ng_quantize_nvfp4
  localparam int Nvfp4SrCutFloors = 32;   // behind the numbers below the elements
  localparam int Nvfp4SrCutRounded = 64;  // at the outputs

  // ng_quantize_4over6
  localparam int FourSixCutAmax = 1;         // behind the maximum
  localparam int FourSixCutEstimate = 2;     // inside the scales
  localparam int FourSixCutScales = 4;       // behind the scales
  localparam int FourSixCutBounds = 8;       // behind the bounds of codes
  localparam int FourSixCutCandidates = 16;  // behind both codes of each element
  localparam int FourSixCutSums = 32;        // behind the sums
  localparam int FourSixCutBalance = 64;     // behind T
  localparam int FourSixCutCodes = 128;      // at the outputs

  // ng_quantize_fp8
  localparam int Fp8CutShifted = 1;  // behind the shifts
  localparam int Fp8CutCodes = 2;    // at the outputs

  // ng_quantize_mx
  localparam int MxCutAmax = 1;     // behind the maximum
  localparam int MxCutShifted = 2;  // behind the shifts
  localparam int MxCutCodes = 4;    // at the outputs

  // ng_rht16
  localparam int RhtCutAligned = 1;     // behind the aligners
  localparam int RhtCutSummed = 2;      // behind the butterflies
  localparam int RhtCutNormalized = 4;  // behind the normalizers

endpackage
