// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_quantize_4over6_folded.sv.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "narrowgauge/quant/quantize_4over6.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// Enabled cycles from the one that takes the last numbers of a block to the one that gives its first codes to the
/// queue at the output.
constexpr int quantize_4over6_folded_latency(int lanes) { return 20 + (lanes > 1) + (lanes > 2) + 16 / lanes; }

/// Blocks of 16 BF16 numbers, `lanes` in a cycle; codes leave as the numbers came, each beside the block's scale.
/// Outputs are functions of the state; step() is a clock edge.
template <int lanes>
class Quantize4over6FoldedCore {
 public:
  static constexpr int beats = 16 / lanes;
  using Numbers = std::array<std::uint16_t, lanes>;
  struct Beat {
    std::array<std::uint8_t, lanes> codes{};
    std::uint8_t scale = 0;
    bool last = false;
  };

  void reset() { *this = {}; }

  bool ready() const { return output_.ready(); }
  bool valid() const { return output_.valid(); }
  const Beat& data() const { return output_.data(); }

  /// numbers: nullptr if valid_i is low. tensor_scale counts beside the last numbers of a block.
  void step(const Numbers* numbers, std::uint32_t tensor_scale, bool ready) {
    constexpr int first = quantize_4over6_folded_latency(lanes);
    Beat beat;
    const Beat* given = nullptr;
    if (!blocks_.empty() && blocks_.front().place >= first) {
      const std::size_t at = static_cast<std::size_t>(lanes * (blocks_.front().place - first));
      beat.scale = blocks_.front().result.scale;
      beat.last = at + lanes == 16;
      for (std::size_t i = 0; i < lanes; ++i) beat.codes[i] = blocks_.front().result.codes[at + i];
      given = &beat;
    }
    const bool enable = output_.ready();
    output_.step(given, ready);
    if (!enable) return;
    for (Block& block : blocks_) ++block.place;
    if (!blocks_.empty() && blocks_.front().place == first + beats) blocks_.pop_front();
    if (!numbers) return;
    for (const std::uint16_t number : *numbers) numbers_[count_++] = number;
    if (count_ < 16) return;
    count_ = 0;
    blocks_.push_back({quantize_4over6(numbers_, std::bit_cast<float>(tensor_scale)), 1});
  }

 private:
  struct Block {
    Nvfp4Block result;
    int place;  ///< enabled cycles behind the one that took its last numbers
  };
  std::array<std::uint16_t, 16> numbers_{};
  std::size_t count_ = 0;
  std::deque<Block> blocks_;
  Fifo2Core<Beat> output_;
};

}  // namespace narrowgauge::systemc
