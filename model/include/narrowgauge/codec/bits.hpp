// SPDX-License-Identifier: Apache-2.0
// Strings of bits, the first one in the highest bit of the first byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace narrowgauge {

/// Puts codes of up to 32 bits behind each other: what ng_bit_pack does.
class BitWriter {
 public:
  /// The lowest `count` bits of `value`, the highest of them first; count 0 to 32.
  void put(std::uint32_t value, unsigned count) {
    held_ = held_ << count | (value & ((std::uint64_t{1} << count) - 1));
    fill_ += count;
    while (fill_ >= 8) bytes_.push_back(static_cast<std::uint8_t>(held_ >> (fill_ -= 8)));
  }
  std::size_t bits() const { return bytes_.size() * 8 + fill_; }
  /// What was put, with zeros behind it up to a multiple of `word_bits`, itself a multiple of 8. Begins anew.
  std::vector<std::uint8_t> finish(unsigned word_bits = 8) {
    if (fill_ != 0) put(0, 8 - fill_);
    while (bytes_.size() * 8 % word_bits != 0) bytes_.push_back(0);
    held_ = 0;
    return std::exchange(bytes_, {});
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::uint64_t held_ = 0;  ///< its lowest fill_ bits are not in bytes_ yet
  unsigned fill_ = 0;
};

/// Reads them again. Behind the end there are zeros, and overrun() says that some were taken.
class BitReader {
 public:
  explicit BitReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  /// The next `count` bits, which are not taken; count 1 to 32.
  std::uint32_t peek(unsigned count) const {
    std::uint64_t word = 0;
    const std::size_t first = at_ / 8;
    for (std::size_t i = first; i < first + 5; ++i) word = word << 8 | (i < bytes_.size() ? bytes_[i] : 0);
    return static_cast<std::uint32_t>(word >> (40 - at_ % 8 - count) & ((std::uint64_t{1} << count) - 1));
  }
  void skip(unsigned count) { at_ += count; }
  std::uint32_t take(unsigned count) {
    const std::uint32_t value = peek(count);
    skip(count);
    return value;
  }
  /// Bits that were taken.
  std::size_t position() const { return at_; }
  bool overrun() const { return at_ > bytes_.size() * 8; }
  bool at_end() const { return at_ >= bytes_.size() * 8; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace narrowgauge
