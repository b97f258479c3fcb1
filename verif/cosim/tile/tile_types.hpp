// SPDX-License-Identifier: Apache-2.0
// The tile of this build, and what a bench gives to one: images, banks, loads, commands, words of its streams. Build
// parameters: NG_ROWS, NG_COLS, NG_LANES, NG_FORMAT_SET, NG_STREAM_WIDTH, NG_A_DEPTH, NG_B_DEPTH, NG_MAX_BEATS,
// NG_COUNTERS, NG_LOAD_CUTS, NG_COMMAND_CUTS, NG_CELL_CUTS, NG_CONVERT_CUTS, NG_SCALE_CUTS, NG_REQUANTIZE,
// NG_REQUANTIZE_CUTS, NG_SPARSE, NG_CODEC, NG_ENCODERS, NG_PROTECT, NG_DEADLINE, NG_INTEGERS, NG_MX.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "narrowgauge/format/format.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/sparse/metadata.hpp"
#include "narrowgauge/tile/tile_regs.hpp"

namespace narrowgauge::tile_bench {

namespace regs = narrowgauge::tile_regs;

inline constexpr unsigned rows = NG_ROWS, cols = NG_COLS, lanes = NG_LANES, format_set = NG_FORMAT_SET;
inline constexpr unsigned a_depth = NG_A_DEPTH, b_depth = NG_B_DEPTH, max_beats = NG_MAX_BEATS;
inline constexpr bool mx = NG_MX != 0;  // the formats are MX's
inline constexpr bool has_counters = NG_COUNTERS != 0;
inline constexpr bool has_fp4 = format_set & narrowgauge::format_set::nvfp4;
inline constexpr bool has_e4m3 = format_set & narrowgauge::format_set::e4m3;
inline constexpr bool has_e5m2 = format_set & narrowgauge::format_set::e5m2;
inline constexpr bool has_luq = format_set & narrowgauge::format_set::luq;
inline constexpr unsigned elem_width = narrowgauge::format_set::element_bits(format_set, mx);
inline constexpr unsigned blocks = mx ? 1 : has_fp4 ? lanes / 16 : 0;
// With a sparse A: elements of a column in a beat, and nibbles of metadata of a row.
inline constexpr bool sparse = NG_SPARSE != 0;
inline constexpr unsigned b_lanes = sparse ? 2 * lanes : lanes, metadata_a_row = sparse ? lanes / 2 : 0;
inline constexpr unsigned stream_words = NG_STREAM_WIDTH / 32;  // of 32 bits
inline constexpr unsigned groups = (cols + stream_words - 1) / stream_words;
inline constexpr unsigned stages = (has_fp4 || mx ? 3 : 2) + static_cast<unsigned>(std::popcount(NG_CELL_CUTS & ~2U));
// Cycles that the check of a command takes more.
inline constexpr unsigned command_cuts = static_cast<unsigned>(std::popcount(NG_COMMAND_CUTS + 0U));
// Cycles that the cuts add between the accumulators and the stream of results.
inline constexpr bool has_integers = NG_INTEGERS != 0;
inline constexpr unsigned drain_cuts =
    static_cast<unsigned>(std::popcount(NG_CONVERT_CUTS + 0U) + std::popcount(NG_SCALE_CUTS + 0U)) + NG_INTEGERS;
// Of tiles that follow each other as fast as the drain takes them, two words a row: with both cuts of the conversion
// the array's queue is full of a tile's last rows when the next one's first row enters, which waits a cycle behind the
// gap.
inline constexpr unsigned gap_cycles = NG_CONVERT_CUTS == 3 && groups == 2 && rows > 1 ? 1 : 0;
// Results as operand A: tiles side by side in an image.
inline constexpr bool requantizes = NG_REQUANTIZE != 0;
inline constexpr unsigned image_tiles = requantizes ? lanes / cols : 1;
inline constexpr bool has_codec = NG_CODEC != 0;        // loads may be compressed
inline constexpr bool has_encoders = NG_ENCODERS != 0;  // and results
inline constexpr bool has_deadline = NG_DEADLINE != 0;
inline constexpr unsigned queue_depth = 4;

enum Fmt : unsigned {
  e4m3 = static_cast<unsigned>(regs::TileElement::e4m3),
  e5m2 = static_cast<unsigned>(regs::TileElement::e5m2),
  nvfp4 = static_cast<unsigned>(regs::TileElement::nvfp4),
  luq = static_cast<unsigned>(regs::TileElement::luq)
};
inline constexpr bool has_int8 = mx && has_luq;  // LUQ's bit and code are MXINT8's
inline constexpr std::array<Format, 4> element_format{Format::e4m3, Format::e5m2, Format::e2m1,
                                                      has_int8 ? Format::int8_mx : Format::e3m0};
/// Formats of 4 bits.
constexpr bool narrow(unsigned fmt) { return fmt == nvfp4 || (fmt == luq && !has_int8); }
/// Formats with one code on both sides.
constexpr bool alike(unsigned fmt) { return fmt == nvfp4 || fmt == luq; }
/// The set has the product of these two.
constexpr bool legal(unsigned a, unsigned b) {
  const auto fp8 = [](unsigned f) { return (f == e4m3 && has_e4m3) || (f == e5m2 && has_e5m2); };
  return (fp8(a) && fp8(b)) || (a == b && ((a == nvfp4 && has_fp4) || (a == luq && has_luq)));
}

using Word = std::vector<std::uint32_t>;  // of a stream

/// What the array takes from one side in a beat: elements as they lie in the image, block scales, and metadata of a
/// sparse A, a nibble each.
struct Image {
  unsigned lanes = 0;  ///< elements of a vector
  std::vector<std::uint8_t> elements, scales, metadata = {};

  bool illegal(unsigned row) const {
    const auto first = metadata.begin() + row * metadata_a_row;
    return std::any_of(first, first + metadata_a_row, [](unsigned nibble) { return !is_metadata(nibble); });
  }
};
/// Bits of an image of A or B.
constexpr unsigned image_bits(bool b) {
  return b ? cols * (b_lanes * elem_width + blocks * 8) : rows * (lanes * elem_width + blocks * 8 + metadata_a_row * 4);
}
constexpr unsigned words_per_image(bool b) { return (image_bits(b) + NG_STREAM_WIDTH - 1) / NG_STREAM_WIDTH; }
// Results as operand A: beats of an image and of a word of codes, and the words behind the codes.
inline constexpr unsigned image_numbers = std::min(NG_STREAM_WIDTH / 32U, cols + 0U);
inline constexpr unsigned image_slots = rows * lanes / image_numbers,
                          word_slots = NG_STREAM_WIDTH / (image_numbers * elem_width),
                          tail_words = words_per_image(false) - image_slots / word_slots;
/// Whole images follow each other without a stall.
inline constexpr bool images_flow = std::min(image_slots, word_slots) >= tail_words + 2;
/// Cycles that results in this format, a set of one, take more than FP32.
constexpr unsigned requantize_cycles(unsigned format) {
  const unsigned quantizer = format != narrowgauge::format_set::nvfp4 ? 0
                             : image_numbers < 16
                                 ? 21 + 16 / image_numbers
                                 : static_cast<unsigned>(std::popcount((NG_REQUANTIZE_CUTS + 0U) & 31));
  return 2 + image_slots + tail_words + quantizer +
         static_cast<unsigned>(
             format_set != narrowgauge::format_set::nvfp4 ? std::popcount((NG_REQUANTIZE_CUTS + 0U) >> 5) : 0);
}

struct Bank {
  unsigned fmt = 0;
  std::vector<Image> images;
};
struct Load {
  bool b = false, more = false;
  unsigned beats = 0;
  bool compressed = false;
};
struct Command {
  unsigned a_fmt = 0, b_fmt = 0, a_panels = 1, b_panels = 1, beats = 1, rows_used = rows, cols_used = cols;
  bool bf16 = false, first = true, last = true, release_a = true, release_b = true, irq = false;
  bool part_a = false, relu = false;
  unsigned results = 0;  // a set of one format, or of none
  bool int8 = false;
  int zero_point = 0;
  std::uint32_t scale = 0x3F800000, tensor_scale = 0x3F800000;

  std::uint32_t word() const {
    return regs::compute::beats.put(beats) | regs::compute::first.put(first) | regs::compute::last.put(last) |
           regs::compute::release_a.put(release_a) | regs::compute::release_b.put(release_b) |
           regs::compute::irq.put(irq) | regs::compute::part_a.put(part_a);
  }
};
struct StreamWord {
  Word data;
  bool last = false, irq = false;
};

/// Order of the counters in the map.
enum Counter { cycles, busy, stall_in, stall_out, products, zero_a, zero_b, flips_a, flips_b, counter_count };
inline constexpr std::array<const char*, counter_count> counter_name{
    "cycles", "busy", "stall_in", "stall_out", "products", "zero_a", "zero_b", "flips_a", "flips_b"};
using Counts = std::array<std::uint64_t, counter_count>;

/// The bank with rows or columns that are not in use zero.
inline Bank masked(Bank bank, unsigned used) {
  for (Image& image : bank.images) {
    std::fill(image.elements.begin() + used * image.lanes, image.elements.end(), std::uint8_t{0});
    std::fill(image.scales.begin() + used * blocks, image.scales.end(), std::uint8_t{0});
    if (!image.metadata.empty())
      std::fill(image.metadata.begin() + used * metadata_a_row, image.metadata.end(), metadata_of_none);
  }
  return bank;
}

}  // namespace narrowgauge::tile_bench
