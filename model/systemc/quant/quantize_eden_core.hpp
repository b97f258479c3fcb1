// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_quantize_eden.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "narrowgauge/quant/quantize_eden.hpp"

namespace narrowgauge::systemc {

/// Groups of eight blocks at most. Outputs are functions of the state; step() is a clock edge.
template <int rand_bits = 24>
class QuantizeEdenCore {
 public:
  explicit QuantizeEdenCore(float element_max = eden_element_max) : element_max_(element_max) {}

  void reset() {
    blocks_.clear();
    words_.clear();
    whole_ = valid_ = last_ = false;
    given_ = 0;
    to_go_ = 0;
  }

  bool ready() const { return to_go_ == 0 && !whole_; }
  bool valid() const { return valid_; }
  /// The block ends the group; last(), codes() and scale() have a meaning only while valid().
  bool last() const { return last_ && given_ == blocks_.size(); }
  const std::array<std::uint8_t, 16>& codes() const { return block().codes; }
  std::uint8_t scale() const { return block().scale; }

  /// x: the block offered, nullptr if valid_i is low. ready: ready_i.
  void step(float p, const std::array<float, 16>* x, std::uint32_t word, bool last, bool ready) {
    if (to_go_ > 0) {
      --to_go_;
    } else if (!whole_) {
      if (!x) return;
      blocks_.push_back(eden_block(*x, p, element_max_));
      words_.push_back(word);
      to_go_ = eden_block_steps(*x, blocks_.back(), p, element_max_);
      last_ = last;
      whole_ = last || blocks_.size() == 8;
      if (!whole_) return;
      const EdenSums sums = eden_sums(blocks_);
      to_go_ += eden_sums_steps(blocks_, sums);
      for (std::size_t i = 0; i < blocks_.size(); ++i)
        blocks_[i].scale = eden_scale(blocks_[i].scale, sums.correction, words_[i], rand_bits);
    } else if (given_ < blocks_.size() && (!valid_ || ready)) {
      valid_ = true;
      ++given_;
    } else if (ready) {
      reset();
    }
  }

 private:
  const EdenBlock& block() const {
    static const EdenBlock none{};
    return valid_ ? blocks_[given_ - 1] : none;
  }

  float element_max_;
  std::vector<EdenBlock> blocks_;
  std::vector<std::uint32_t> words_;
  std::size_t given_ = 0;  ///< blocks offered so far
  int to_go_ = 0;          ///< edges until a block, or the group, is worked out
  bool whole_ = false, valid_ = false, last_ = false;
};

}  // namespace narrowgauge::systemc
