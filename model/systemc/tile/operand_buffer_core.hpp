// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_operand_buffer.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace narrowgauge::systemc {

/// Two banks of `depth` images of `words` stream words, of `word_bytes` bytes each. Outputs are functions of the state;
/// step() is a clock edge.
template <int words, int word_bytes, int depth>
class OperandBufferCore {
 public:
  static constexpr std::size_t image_bytes = static_cast<std::size_t>(words) * word_bytes;

  void reset() {
    banks_ = {};
    fill_ = turn_ = word_ = 0;
  }

  bool open() const { return !banks_[fill_].complete; }
  int filled() const { return banks_[fill_].count; }
  bool last_word() const { return word_ == words - 1; }
  bool complete() const { return banks_[turn_].complete; }
  int images() const { return banks_[turn_].count; }
  const std::uint8_t* image() const { return image_.data(); }

  struct In {
    const void* write = nullptr;  ///< data_i; nullptr if write_i is low
    bool close = false;
    bool read = false;
    int addr = 0;
    bool release = false;
  };

  void step(const In& in) {
    if (in.read) std::memcpy(image_.data(), at(turn_, in.addr), image_bytes);
    const unsigned turn = turn_;
    if (in.write) {
      std::memcpy(at(fill_, filled()) + word_ * word_bytes, in.write, word_bytes);
      const bool image_end = last_word();
      word_ = image_end ? 0 : word_ + 1;
      banks_[fill_].count += image_end;
      if (image_end && in.close) {
        banks_[fill_].complete = true;
        fill_ ^= 1;
      }
    }
    if (in.release) {
      banks_[turn] = {};
      turn_ ^= 1;
    }
  }

 private:
  struct Bank {
    bool complete = false;
    int count = 0;
  };

  std::uint8_t* at(unsigned bank, int image) {
    return memory_.data() + (bank * depth + static_cast<std::size_t>(image) % depth) * image_bytes;
  }

  std::array<Bank, 2> banks_;
  unsigned fill_ = 0, turn_ = 0;  // the bank under fill, the bank to compute with
  int word_ = 0;
  std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(2 * depth * image_bytes);
  alignas(8) std::array<std::uint8_t, image_bytes> image_{};
};

}  // namespace narrowgauge::systemc
