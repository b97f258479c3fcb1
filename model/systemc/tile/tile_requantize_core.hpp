// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_requantize.sv. Quantizing is narrowgauge::quantize_nvfp4 and requantize_single.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "narrowgauge/quant/quantize_nvfp4.hpp"
#include "narrowgauge/quant/requantize.hpp"
#include "systemc/pipe_core.hpp"

namespace narrowgauge::systemc {

/// Outputs are functions of the state; step() is a clock edge.
template <int rows, int cols, int lanes, unsigned format_set, int stream_width, unsigned cuts>
class TileRequantizeCore {
  static constexpr bool has_fp4 = format_set & narrowgauge::format_set::nvfp4;
  static constexpr bool has_single = format_set & ~narrowgauge::format_set::nvfp4;  // formats of single numbers

 public:
  static constexpr std::size_t units = stream_width / 32, numbers = std::min<std::size_t>(units, cols);
  using Word = std::array<std::uint32_t, units>;  ///< of the stream
  struct Beat {
    std::array<std::uint16_t, numbers> data{};  ///< BF16
    std::uint8_t format = 0;                    ///< a set of one; does not matter where format_set is one
    std::uint32_t tensor_scale = 0;             ///< FP32 code
    bool end = false, last = false, irq = false;
  };

  void reset() {
    group_ = row_ = tile_ = 0;
    amax_ = 0;
    singles_.reset();
    block_.reset();
    quantized_.reset();
    put_row_ = 0;
    full_ = valid_ = false;
    word_ = 0;
  }

  bool ready() const { return !(full_ && valid_); }
  bool valid() const { return valid_; }
  const Word& data() const { return leaving_[word_]; }
  bool last() const { return leaving_last_ && word_ == words - 1; }
  bool irq() const { return leaving_irq_; }
  bool busy() const { return singles_.busy() || block_.has_value() || quantized_.busy() || full_ || valid_; }
  std::uint16_t amax() const { return amax_; }

  /// `beat`: nullptr if valid_i is low. `ready`: ready_i.
  void step(const Beat* beat, bool ready, bool clear_amax) {
    const bool leave = full_ && !valid_, move = this->ready(), taken = valid_ && ready;
    if (taken) word_ = word_ == words - 1 ? 0 : word_ + 1;
    if (leave) {
      leaving_ = image_;
      leaving_last_ = full_last_;
      leaving_irq_ = full_irq_;
    }
    valid_ = leave || (valid_ && !(taken && word_ == 0));
    if (leave) full_ = false;
    if (clear_amax) amax_ = 0;
    if (!move) return;
    if (const auto block = quantized_.step(block_)) put(*block);
    block_.reset();
    if (beat)
      for (const std::uint16_t code : beat->data) amax_ = std::max<std::uint16_t>(amax_, code & 0x7FFF);
    if (const auto coded = singles_.step(beat ? std::optional(code(*beat)) : std::nullopt)) take(*coded);
  }

 private:
  static constexpr std::size_t segments = lanes / numbers, groups = static_cast<std::size_t>(cols) / numbers;
  static constexpr unsigned elem_width = narrowgauge::format_set::element_bits(format_set);
  static constexpr std::size_t elements = static_cast<std::size_t>(rows) * lanes * elem_width;  // bits
  static constexpr std::size_t blocks = has_fp4 ? lanes / 16 : 0;
  static constexpr std::size_t words = (elements + rows * blocks * 8 + stream_width - 1) / stream_width;
  static constexpr int single_stages = has_single ? std::popcount(cuts >> 5) : 0;
  static constexpr int block_stages = has_fp4 ? std::popcount(cuts & 31) : 0;

  struct Block {
    std::array<std::uint8_t, lanes> codes{};
    std::array<std::uint8_t, blocks> scales{};
    bool image_last = false, last = false, irq = false;
  };

  /// The format of a beat.
  static ResultFormat format(const Beat& beat) {
    constexpr bool one = std::has_single_bit(format_set);
    return static_cast<ResultFormat>(one ? format_set : beat.format);
  }
  static bool is_fp4(const Beat& beat) { return format(beat) == ResultFormat::nvfp4; }

  /// What waits in the memories: numbers of NVFP4, and codes of other formats.
  static Beat code(Beat beat) {
    if (is_fp4(beat)) return beat;
    for (std::uint16_t& number : beat.data)
      number = requantize_single(number, format(beat), std::bit_cast<float>(beat.tensor_scale));
    return beat;
  }

  static Block block_of(const std::array<std::uint16_t, lanes>& numbers_of_block, const Beat& beat) {
    Block block;
    if (!is_fp4(beat)) {
      for (std::size_t i = 0; i < lanes; ++i) block.codes[i] = numbers_of_block[i] & ((1U << elem_width) - 1);
      return block;
    }
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto quantized = quantize_nvfp4(std::span(numbers_of_block).subspan(b * 16).template first<16>(),
                                            std::bit_cast<float>(beat.tensor_scale), false);
      std::ranges::copy(quantized.codes, block.codes.begin() + b * 16);
      block.scales[b] = quantized.scale;
    }
    return block;
  }

  void take(const Beat& beat) {
    auto& row = rows_[row_];
    std::copy(beat.data.begin(), beat.data.end(), row.begin() + (tile_ + group_) * numbers);
    const bool group_end = group_ == groups - 1, row_end = row_ == rows - 1;
    const bool image_end = beat.end || tile_ + groups == segments;
    if (group_end && image_end) {
      auto numbers_of_block = row;
      std::fill(numbers_of_block.begin() + (tile_ + groups) * numbers, numbers_of_block.end(), std::uint16_t{0});
      block_ = block_of(numbers_of_block, beat);
      block_->image_last = row_end;
      block_->last = beat.last;
      block_->irq = beat.irq;
    }
    group_ = group_end ? 0 : group_ + 1;
    if (group_end && row_end) tile_ = image_end ? 0 : tile_ + groups;
    if (group_end) row_ = row_end ? 0 : row_ + 1;
  }

  void put_bits(std::size_t at, unsigned width, std::uint32_t value) {
    std::uint32_t& word = image_[at / stream_width][at % stream_width / 32];
    word = (word & ~(((1U << width) - 1) << at % 32)) | value << at % 32;
  }

  void put(const Block& block) {
    for (std::size_t i = 0; i < lanes; ++i) put_bits((put_row_ * lanes + i) * elem_width, elem_width, block.codes[i]);
    for (std::size_t b = 0; b < blocks; ++b) put_bits(elements + (put_row_ * blocks + b) * 8, 8, block.scales[b]);
    put_row_ = block.image_last ? 0 : put_row_ + 1;
    if (!block.image_last) return;
    full_ = true;
    full_last_ = block.last;
    full_irq_ = block.irq;
  }

  std::size_t group_ = 0, row_ = 0, tile_ = 0;  // of the next beat; tile_: segment of the tile's first column
  PipeCore<single_stages, Beat> singles_;       // codes of single numbers, computed before
  std::array<std::array<std::uint16_t, lanes>, rows> rows_{};  // that wait
  std::uint16_t amax_ = 0;
  std::optional<Block> block_;  // at the quantizer; what it is there is computed before
  PipeCore<block_stages, Block> quantized_;
  std::size_t put_row_ = 0;
  std::array<Word, words> image_{}, leaving_{};
  bool full_ = false, full_last_ = false, full_irq_ = false;
  bool valid_ = false, leaving_last_ = false, leaving_irq_ = false;
  std::size_t word_ = 0;
};

}  // namespace narrowgauge::systemc
