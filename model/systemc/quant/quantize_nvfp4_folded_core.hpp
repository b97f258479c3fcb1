// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_quantize_nvfp4_folded.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "narrowgauge/quant/quantize_nvfp4.hpp"

namespace narrowgauge::systemc {

/// Beats of `lanes` BF16 codes. Outputs are functions of the state; step() is a clock edge.
template <std::size_t lanes, int rand_bits>
class QuantizeNvfp4FoldedCore {
 public:
  static constexpr std::size_t beats = 16 / lanes;
  struct Beat {
    std::array<std::uint16_t, lanes> x{};
    std::array<std::uint32_t, lanes> words{};  ///< random bits
  };

  void reset() { *this = {}; }

  bool ready() const { return collected_ + 1 != beats || !units_[in_].stages[0]; }
  bool valid() const { return registers_[2].has_value(); }
  /// Codes of this beat; codes(), scale() and last() have a meaning only while valid().
  std::array<std::uint8_t, lanes> codes() const {
    std::array<std::uint8_t, lanes> codes{};
    for (std::size_t i = 0; i < lanes && valid(); ++i)
      codes[i] = registers_[2]->block.codes[registers_[2]->beat * lanes + i];
    return codes;
  }
  std::uint8_t scale() const { return valid() ? registers_[2]->block.scale : 0; }
  bool last() const { return valid() && registers_[2]->beat + 1 == beats; }

  /// beat: the one offered, nullptr if valid_i is low; tensor scale and rounding belong to it. ready: ready_i.
  void step(const Beat* beat, float tensor_scale, bool stochastic, bool ready) {
    const bool push = beat && this->ready(), enable = !valid() || ready;
    const bool ends = active_ && active_->beat + 1 == beats;
    const bool take = !active_ || (enable && ends);

    if (enable) {
      for (std::size_t i = 2; i > 0; --i) registers_[i] = registers_[i - 1];
      registers_[0] = active_;
    }
    if (!take && enable) ++active_->beat;
    const std::size_t out = out_;
    if (take) {
      active_.reset();
      if (const auto& block = units_[out].stages[waiting]) {
        active_ = Leaving{*block, 0};
        out_ = (out + 1) % units;
      }
    }
    for (std::size_t u = 0; u < units; ++u) units_[u].step(take && u == out);
    if (!push) return;
    for (std::size_t i = 0; i < lanes; ++i) {
      x_[collected_ * lanes + i] = beat->x[i];
      random_.words[collected_ * lanes + i] = beat->words[i];
    }
    if (++collected_ < beats) return;
    collected_ = 0;
    random_.bits = rand_bits;
    units_[in_].stages[0] = quantize_nvfp4(x_, tensor_scale, false, stochastic ? &random_ : nullptr);
    in_ = (in_ + 1) % units;
  }

 private:
  struct Leaving {
    Nvfp4Block block;
    std::size_t beat;
  };
  static constexpr std::size_t waiting = 5;  ///< behind the block that came and four stages
  static constexpr std::size_t units = lanes == 8 ? 2 : 1;
  /// ng_nvfp4_block: a block moves on every fourth step.
  struct Unit {
    std::array<std::optional<Nvfp4Block>, waiting + 1> stages{};
    unsigned now = 0;
    void step(bool take) {
      bool inside = false;
      for (std::size_t i = 0; i < waiting; ++i) inside |= stages[i].has_value();
      if (now == 3 ? !inside : stages[waiting] && !take) return;
      stages[waiting].reset();
      if (now == 3) {
        for (std::size_t i = waiting; i > 0; --i) stages[i] = stages[i - 1];
        stages[0].reset();
      }
      now = (now + 1) % 4;
    }
  };
  std::array<std::uint16_t, 16> x_{};  ///< of the block that is collected
  Nvfp4Random random_{};
  std::size_t collected_ = 0;  ///< its beats so far
  std::array<Unit, units> units_{};
  std::size_t in_ = 0, out_ = 0;   ///< whose turn it is
  std::optional<Leaving> active_;  ///< with the beat that was read
  std::array<std::optional<Leaving>, 3> registers_{};
};

}  // namespace narrowgauge::systemc
