// SPDX-License-Identifier: Apache-2.0
// The inner loops, compiled once per instruction set (kernels.inc) and chosen when the program starts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge::detail {

/// Rows and columns of a tile of the matrix kernels, for which operands are packed. Results are
/// [tile_rows][tile_columns].
inline constexpr std::size_t tile_rows = 8, tile_columns = 32;
inline constexpr std::size_t tile_size = tile_rows * tile_columns;

/// Of part_pairs pairs of k of a panel: which are not all zero, the largest magnitude, and the largest sum of
/// magnitudes of any one vector.
struct WindowPart {
  std::uint64_t pairs;
  std::int64_t largest, sum;
};
inline constexpr std::size_t part_pairs = 64;

/// A block of the contraction, at most part_pairs pairs of k, of a panel in its two topmost windows: values as
/// [pair][vector][2], and the pairs that are not all zero. `next` may be null where `next_pairs` is 0.
struct WindowBlock {
  const std::int16_t *top, *next;
  std::uint64_t top_pairs, next_pairs;
};

/// Elements along k of an FP4 panel. Block sums are below 2304 * (448 * 2^9)^2 < 2^46.8 in units of 2^-20: 64 of them
/// stay below 2^53, where double is exact.
inline constexpr std::size_t fp4_chunk = std::size_t{64} * 16;
/// Windows of 8-bit elements are this many bits apart.
inline constexpr int window_step = 10;
/// Added to the elements of one operand, which the integer instructions take without a sign.
inline constexpr int fp4_offset = 12;

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
  /// `n` codes of one row, at most fp4_chunk and whole blocks of 16, as twice their values plus fp4_offset, into a
  /// panel [pair of blocks][tile_rows][32]. Where the last pair has one block, the other's elements are 0.
  void (*fp4_pack_row)(const std::uint8_t* codes, std::size_t n, std::size_t row, std::uint8_t* out);
  /// `n` codes of one column as twice their values without the offset, into a panel [pair of blocks][tile_columns * 32]
  /// in an order of the kernels' own, and into [pair of blocks][tile_columns * 2] what undoes the offset of the rows.
  void (*fp4_pack_column)(const std::uint8_t* codes, std::size_t n, std::size_t column, std::int8_t* out,
                          std::int32_t* offsets);
  /// acc += 2^shift times the exact sums over `pairs` pairs of blocks, with scales [pair][row or column][2]. The caller
  /// sees to it that products of scales stay below 2^15 and partial sums below 2^31.
  void (*nvfp4)(const std::uint8_t* a, const std::int16_t* a_scale, const std::int8_t* b, const std::int32_t* offsets,
                const std::int16_t* b_scale, std::size_t pairs, int shift, std::int64_t* acc);
  /// acc += the exact sums over at most fp4_chunk elements, with any scales.
  void (*nvfp4_wide)(const std::uint8_t* a, const std::int32_t* a_scale, const std::int8_t* b,
                     const std::int32_t* offsets, const std::int32_t* b_scale, std::size_t pairs, std::int64_t* acc);
  /// acc = acc + fl32(block sum), block by block; scales [block][row or column] are powers of two whose product has the
  /// unit of a block sum.
  void (*mxfp4)(const std::uint8_t* a, const double* a_scale, const std::int8_t* b, const std::int32_t* offsets,
                const double* b_scale, std::size_t blocks, float* acc);
  /// acc += the sums over the `count` pairs of neighbouring k that `pairs` names, from [pair][tile_rows][2] and
  /// [pair][tile_columns][2], of the tile's first `rows` rows at least. The caller sees to it that no partial sum
  /// leaves 32 bits.
  void (*fp8)(const std::int16_t* a, const std::int16_t* b, const std::uint8_t* pairs, std::size_t count,
              std::size_t rows, std::int64_t* acc);
  /// total = total + fl32(s * (a_scale * b_scale)), where s = top a * top b + lower * (top a * next b +
  /// next a * top b) + lower^2 * (next a * next b) over the pairs of the block, exactly, of the tile's first `rows`
  /// rows at least. The caller sees to it that no sum leaves 32 bits; scales are powers of two, `lower` too, at least
  /// 2^-10.
  void (*mxfp8_block)(const WindowBlock& a, const WindowBlock& b, double lower, const double* a_scale,
                      const double* b_scale, std::size_t rows, float* total);
  /// total = total + epilogue(fl32(s) * unit, epilogue_scales(a_scale, b_scale)) in the same way. `unit` is a power of
  /// two that leaves results normal.
  void (*fp8_block)(const WindowBlock& a, const WindowBlock& b, double lower, float unit, const float* a_scale,
                    const float* b_scale, std::size_t rows, float* total);
  /// The ends of a tile's row of sums, at `acc` and every `pitch` accumulators after it: out = unit times the sum over
  /// p of acc[p * pitch] * 2^(window_step p), rounded once to FP32. `unit` is a power of two that leaves results
  /// normal. The caller sees to it that sums stay below 2^62, and with more than three powers those of the powers from
  /// the third on, in units of the third.
  void (*finish)(const std::int64_t* acc, std::size_t pitch, int powers, float unit, float* out);
  /// out[i] = table[codes[i]] for n codes of 8 bits, of 256 entries; quicker where table[c + 128] is -table[c]
  /// throughout.
  void (*look_up)(const std::uint8_t* codes, std::size_t n, const std::int16_t* table, std::int16_t* out);
  /// Finds which of `pairs` pairs of a panel [pair][tile_rows][2], or [pair][tile_columns][2], are not all zero, and of
  /// each part what bounds its products. Pairs are an even number, magnitudes below 2^15.
  void (*survey_rows)(const std::int16_t* panel, std::size_t pairs, std::uint8_t* list, WindowPart* parts);
  void (*survey_columns)(const std::int16_t* panel, std::size_t pairs, std::uint8_t* list, WindowPart* parts);
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
  /// The MXFP4 kernel: blocks of 32 with the floor rule.
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
  /// out[i] = table[16 * scales[i / block] + codes[i]] for n codes of 4 bits.
  void (*values4)(const std::uint8_t* codes, const std::uint8_t* scales, std::size_t block, std::size_t n,
                  const float* table, float* out);
};

/// The kernels for this machine. The environment variable NARROWGAUGE_ISA (baseline, avx2, avx512, avx512vnni) asks
/// for lesser ones.
const Kernels& kernels();

}  // namespace narrowgauge::detail
