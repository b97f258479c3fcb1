// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_requantize.sv. Quantizing is narrowgauge::quantize_nvfp4 and requantize_single.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <type_traits>

#include "narrowgauge/quant/quantize_nvfp4.hpp"
#include "narrowgauge/quant/requantize.hpp"
#include "systemc/pipe_core.hpp"
#include "systemc/quant/quantize_nvfp4_folded_core.hpp"
#include "systemc/tile/tile_image_core.hpp"

namespace narrowgauge::systemc {

/// Outputs are functions of the state; step() is a clock edge.
template <int rows, int cols, int lanes, unsigned format_set, int stream_width, unsigned cuts>
class TileRequantizeCore {
  static constexpr bool has_fp4 = format_set & narrowgauge::format_set::nvfp4;
  static constexpr bool has_single = format_set & ~narrowgauge::format_set::nvfp4;  // formats of single numbers

 public:
  static constexpr std::size_t units = stream_width / 32, numbers = std::min<std::size_t>(units, cols);
  using Numbers = std::array<std::uint16_t, numbers>;
  using Word = std::array<std::uint32_t, units>;  ///< of the stream
  struct Beat {
    Numbers data{};                  ///< BF16
    std::uint8_t format = 0;         ///< a set of one; does not matter where format_set is one
    std::uint32_t tensor_scale = 0;  ///< FP32 code
    bool end = false, last = false, irq = false;
  };

  void reset() { *this = {}; }

  bool ready() const { return !waits_; }
  bool valid() const { return image_.valid(); }
  const Word& data() const { return image_.data(); }
  bool last() const { return image_.last(); }
  bool irq() const { return image_.irq(); }
  bool busy() const { return singles_.busy() || reading_ || !marks_.empty() || image_.busy(); }
  std::uint16_t amax() const { return amax_; }

  /// `beat`: nullptr if valid_i is low. `ready`: ready_i.
  void step(const Beat* beat, bool ready, bool clear_amax) {
    const bool move = this->ready(), slot_ready = image_.ready();
    const bool leaves_fp4 = !marks_.empty() && marks_.front().fp4;
    const bool direct = held_ && !held_->fp4 && !marks_.empty() && !leaves_fp4;
    const bool sent = held_ && (held_->fp4 ? quantizer_.ready(slot_ready) : direct && slot_ready);
    const bool fetch = reading_ && (!held_ || sent) && (read_ != 0 || marks_.size() < marks_depth);
    const bool finish = fetch && read_ == beats - 1;

    const Numbers* const to_fp4 = held_ && held_->fp4 ? &held_->data : nullptr;
    std::optional<Slot> slot;
    if (slot_ready && leaves_fp4) slot = quantizer_.slot(to_fp4, held_ ? held_->scale : 0);
    if (slot_ready && direct) slot = codes(held_->data);
    if (slot) {
      slot->last = marks_.front().last;
      slot->irq = marks_.front().irq;
    }
    const bool ends = slot && image_.end();
    image_.step(slot ? &*slot : nullptr, ready);
    quantizer_.step(to_fp4, held_ ? held_->scale : 0, slot_ready);
    if (ends) marks_.pop_front();

    if (sent) held_.reset();
    if (fetch) {
      if (read_ == 0) marks_.push_back(read_flags_);
      held_ = Held{memory_[read_half_][read_], read_flags_.fp4, read_flags_.scale};
      if (read_ % segments / groups > read_flags_.tile) held_->data.fill(0);
      read_ = finish ? 0 : read_ + 1;
    }
    if (finish) {
      read_half_ = !read_half_;
      reading_ = waits_;
      read_flags_ = waiting_;
      waits_ = false;
    }

    if (clear_amax) amax_ = 0;
    if (!move) return;
    if (beat)
      for (const std::uint16_t code : beat->data) amax_ = std::max<std::uint16_t>(amax_, code & 0x7FFF);
    if (const auto coded = singles_.step(beat ? std::optional(code(*beat)) : std::nullopt)) take(*coded);
  }

 private:
  static constexpr std::size_t segments = lanes / numbers, groups = static_cast<std::size_t>(cols) / numbers;
  static constexpr std::size_t beats = rows * segments;  // of an image
  static constexpr unsigned elem_width = narrowgauge::format_set::element_bits(format_set);
  static constexpr std::size_t blocks = has_fp4 ? lanes / 16 : 0;
  static constexpr int single_stages = has_single ? std::popcount(cuts >> 5) : 0;
  static constexpr int block_stages = std::popcount(cuts & 31);
  static constexpr std::size_t marks_depth = rows * lanes < 128 ? 16 : 4;
  using Image = TileImageCore<numbers * elem_width, beats, rows * blocks * 8, stream_width>;
  using Slot = typename Image::Slot;

  struct Flags {
    std::uint32_t scale = 0;
    bool fp4 = false, last = false, irq = false;
    std::size_t tile = 0;  ///< the image's last one
  };
  struct Held {
    Numbers data;
    bool fp4;
    std::uint32_t scale;
  };

  /// The format of a beat.
  static ResultFormat format(const Beat& beat) {
    constexpr bool one = std::has_single_bit(format_set);
    return static_cast<ResultFormat>(one ? format_set : beat.format);
  }
  static bool is_fp4(const Beat& beat) { return format(beat) == ResultFormat::nvfp4; }

  /// What waits in the memory: numbers of NVFP4, and codes of other formats.
  static Beat code(Beat beat) {
    if (is_fp4(beat)) return beat;
    for (std::uint16_t& number : beat.data)
      number = requantize_single(number, format(beat), std::bit_cast<float>(beat.tensor_scale));
    return beat;
  }

  /// Without scales: those of other formats than NVFP4 are zero.
  template <class Codes>
  static Slot codes(const Codes& codes) {
    Slot slot;
    for (std::size_t i = 0; i < numbers; ++i)
      slot.codes[i * elem_width / 32] |= (codes[i] & ((1U << elem_width) - 1)) << i * elem_width % 32;
    return slot;
  }

  /// Beats of fewer than 16 numbers: ng_quantize_nvfp4_folded.
  struct Folded {
    QuantizeNvfp4FoldedCore<numbers, 1> core;
    bool ready(bool) const { return core.ready(); }
    std::optional<Slot> slot(const Numbers*, std::uint32_t) const {
      if (!core.valid()) return std::nullopt;
      Slot slot = codes(core.codes());
      if (core.last()) slot.scales[slot.scaled++] = core.scale();
      return slot;
    }
    void step(const Numbers* data, std::uint32_t scale, bool slot_ready) {
      typename QuantizeNvfp4FoldedCore<numbers, 1>::Beat beat;
      if (data) beat.x = *data;
      core.step(data ? &beat : nullptr, std::bit_cast<float>(scale), false, slot_ready);
    }
  };
  /// Beats of whole blocks: ng_quantize_nvfp4 for each.
  struct Whole {
    std::array<std::optional<Slot>, block_stages + 1> stages{};  ///< the last one comes out; [0] is not a register
    bool ready(bool slot_ready) const { return block_stages > 0 ? !stages[block_stages] || slot_ready : slot_ready; }
    std::optional<Slot> slot(const Numbers* data, std::uint32_t scale) const {
      return block_stages > 0 ? stages[block_stages] : quantized(data, scale);
    }
    void step(const Numbers* data, std::uint32_t scale, bool slot_ready) {
      if (block_stages == 0 || !ready(slot_ready)) return;
      stages[0] = quantized(data, scale);
      for (std::size_t i = block_stages; i > 0; --i) stages[i] = stages[i - 1];
    }
    static std::optional<Slot> quantized(const Numbers* data, std::uint32_t scale) {
      if (!data) return std::nullopt;
      std::array<std::uint8_t, numbers> found{};
      Slot slot;
      for (std::size_t b = 0; b < numbers / 16; ++b) {
        const auto block =
            quantize_nvfp4(std::span(*data).subspan(b * 16).template first<16>(), std::bit_cast<float>(scale), false);
        std::ranges::copy(block.codes, found.begin() + static_cast<std::ptrdiff_t>(b * 16));
        slot.scales[slot.scaled++] = block.scale;
      }
      slot.codes = codes(found).codes;
      return slot;
    }
  };
  struct None {
    static bool ready(bool) { return false; }
    static std::optional<Slot> slot(const Numbers*, std::uint32_t) { return std::nullopt; }
    void step(const Numbers*, std::uint32_t, bool) {}
  };
  using Quantizer = std::conditional_t<!has_fp4, None, std::conditional_t<(numbers < 16), Folded, Whole>>;

  void take(const Beat& beat) {
    memory_[write_half_][row_ * segments + tile_ * groups + group_] = beat.data;
    const bool group_end = group_ == groups - 1, row_end = row_ == rows - 1;
    const bool image_end = beat.end || (tile_ + 1) * groups == segments;
    if (group_end && row_end && image_end) {
      write_half_ = !write_half_;
      (reading_ ? waiting_ : read_flags_) = Flags{beat.tensor_scale, is_fp4(beat), beat.last, beat.irq, tile_};
      waits_ = reading_;
      reading_ = true;
    }
    group_ = group_end ? 0 : group_ + 1;
    if (group_end && row_end) tile_ = image_end ? 0 : tile_ + 1;
    if (group_end) row_ = row_end ? 0 : row_ + 1;
  }

  std::size_t group_ = 0, row_ = 0, tile_ = 0;  // of the next beat
  PipeCore<single_stages, Beat> singles_;       // codes of single numbers, computed before
  std::array<std::array<Numbers, beats>, 2> memory_{};
  bool write_half_ = false, read_half_ = false, reading_ = false, waits_ = false;
  Flags waiting_, read_flags_;
  std::size_t read_ = 0;  // the next beat of the image that is read
  std::optional<Held> held_;
  std::deque<Flags> marks_;  // images that have begun to be read and have not left
  Quantizer quantizer_;
  Image image_;
  std::uint16_t amax_ = 0;
};

}  // namespace narrowgauge::systemc
