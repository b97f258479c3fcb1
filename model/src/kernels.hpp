// SPDX-License-Identifier: Apache-2.0
// The inner loops, compiled once per instruction set (kernels.inc) and chosen when the program starts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge::detail {

/// Rows and columns of a register tile of the matrix kernels. Operands are packed for it: A as [k][tile_rows], B as
/// [k][tile_columns], scales as [block][tile_rows] and [block][tile_columns], results as [tile_rows][tile_columns].
inline constexpr std::size_t tile_rows = 4, tile_columns = 32;
inline constexpr std::size_t tile_size = tile_rows * tile_columns;

/// A narrow format prepared for encoding: everything that depends on the sign as [negative].
struct Encoding {
  int man_bits, min_exp, random_bits;
  std::uint32_t max_code;
  std::array<std::uint32_t, 2> sign, overflow, inf, nan;
  std::uint32_t keep_negative;  ///< all ones, or 0 where negative values become 0
};

/// Thresholds of a block's E2M1 codes as bit patterns: |x| has code c or more iff its bits are at least first[c - 1].
struct Fp4Row {
  std::array<std::uint32_t, 7> first;
  std::uint32_t sign_mask;  ///< 8, or 0 where the scale is zero and codes carry no sign
};

struct Kernels {
  std::string_view isa;
  /// acc += the exact sums over at most nvfp4_flush_blocks blocks; scales are in units of 2^-9.
  void (*nvfp4)(const std::int16_t* a, const double* a_scale, const std::int16_t* b, const double* b_scale,
                std::size_t blocks, std::int64_t* acc);
  /// acc = acc + fl32(block sum), block by block; scales are powers of two whose product has the unit of a block sum.
  void (*mxfp4)(const std::int16_t* a, const double* a_scale, const std::int16_t* b, const double* b_scale,
                std::size_t blocks, float* acc);
  /// acc += the sum over k of a * b, in double.
  void (*fp8)(const double* a, const float* b, std::size_t k, double* acc);
  /// Codes of n values; `random` has n fields, and is read for stochastic rounding only.
  void (*encode_float8)(const Encoding&, Rounding, const float* x, const std::uint32_t* random, std::size_t n,
                        std::uint8_t* codes);
  void (*encode_float16)(const Encoding&, Rounding, const float* x, const std::uint32_t* random, std::size_t n,
                         std::uint16_t* codes);
  void (*encode_double8)(const Encoding&, Rounding, const double* x, const std::uint32_t* random, std::size_t n,
                         std::uint8_t* codes);
  /// The largest of the magnitudes' bit patterns: of |x| if finite, at least 0x7F800000 if anything is not.
  std::uint32_t (*amax_bits)(const float* x, std::size_t n);
  /// E2M1 codes of `blocks` blocks of 16: scale code c from the 128 thresholds of `scale_first` (the bits of a block's
  /// maximum are at least scale_first[c]; scale_first[0] is 0), element codes from rows[c].
  void (*nvfp4_quantize)(const float* x, std::size_t blocks, const std::uint32_t* scale_first, const Fp4Row* rows,
                         std::uint8_t* codes, std::uint8_t* scales);
  /// The same for blocks of 32 with the floor rule.
  void (*mxfp4_quantize)(const float* x, std::size_t blocks, const Fp4Row* rows, std::uint8_t* codes,
                         std::uint8_t* scales);
  /// out = x / unit in double.
  void (*divide)(const float* x, double unit, std::size_t n, double* out);
  /// Turns codes rounded toward zero into stochastically rounded ones, as quantize_element does: `value` and `step` by
  /// magnitude code; a step of infinity where there is nothing above.
  void (*round_up)(const float* x, double unit, const double* value, const double* step, std::uint32_t magnitude_mask,
                   const std::uint32_t* random, double range, std::size_t n, std::uint8_t* codes);
  /// n Philox blocks from counter `first`, 4 words each.
  void (*philox)(std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint32_t* words);
};

/// Block sums are below 2304 * (448 * 2^9)^2 < 2^46.8 in units of 2^-20: 64 of them stay below 2^53, where double is
/// exact.
inline constexpr std::size_t nvfp4_flush_blocks = 64;

/// The kernels for this machine. The environment variable NARROWGAUGE_ISA (baseline, avx2, avx512) asks for lesser
/// ones.
const Kernels& kernels();

}  // namespace narrowgauge::detail
