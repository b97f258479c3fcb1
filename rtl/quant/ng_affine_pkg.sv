// SPDX-License-Identifier: Apache-2.0
// What ng_quantize_affine and its lane have in common.
package ng_affine_pkg;
  // Not every module uses all of them.
  // verilator lint_off UNUSEDPARAM
  localparam int CutProduct = 1;  // behind the product
  localparam int CutShifted = 2;  // behind the shift
  localparam int CutCodes = 4;    // at the outputs
  localparam int Int32 = 0;       // what its elements are
  localparam int Fp32 = 1;

  // Bits of shift_i: INT32 without a multiplier needs 0 to 31.
  function automatic int shift_width(int format, bit pow2);
    shift_width = format == Int32 && pow2 ? 5 : 6;
  endfunction
endpackage
