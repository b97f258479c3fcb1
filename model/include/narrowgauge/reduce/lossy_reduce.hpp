// SPDX-License-Identifier: Apache-2.0
// Means of the packets that arrive, in any order (arXiv 2507.07114). Sums are exact, so that their bits do not depend
// on the order. Contract: docs/units/lossy_reduce.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace narrowgauge {

/// A reciprocal as FP32 rounds it: significand * 2^-(23 + exponent).
struct CountReciprocal {
  std::uint32_t significand = 0;  ///< 2^23 to 2^24 - 1; 0 for a count of 0
  int exponent = 0;
};

/// 1/count, count being 64 at most. Nothing arrived: 0.
CountReciprocal count_reciprocal(unsigned count);

/// The exact sum of BF16 numbers, 64 at most. An infinity or a NaN makes it a NaN.
class Bf16Sum {
 public:
  void add(std::uint16_t code);
  /// The sum times 1/count as FP32 rounds that, rounded once to BF16, to nearest even. A sum of zero is +0.
  std::uint16_t mean(unsigned count) const;

 private:
  std::array<std::uint64_t, 5> words_{};  ///< two's complement, lowest first, in units of 2^-133
  bool nan_ = false;
};

/// Sums of packets of several workers. A packet that arrives again is a copy, and is left out.
class LossyReducer {
 public:
  /// workers: 1 to 64. values: numbers of a packet. indices: packets of a worker. Throws Error for sizes of zero and
  /// for more workers.
  LossyReducer(std::size_t workers, std::size_t values, std::size_t indices);

  /// Counts a packet, unless it came before; false for one that did, which is not to be added.
  bool arrives(std::size_t worker, std::size_t index);
  /// Adds a number of a packet that arrived for the first time.
  void add(std::size_t index, std::size_t number, std::uint16_t code) { sum(index, number).add(code); }
  /// Both for a whole packet.
  bool take(std::size_t worker, std::size_t index, std::span<const std::uint16_t> codes);

  /// Workers whose packet arrived.
  unsigned count(std::size_t index) const { return counts_[index]; }
  /// The mean of what arrived; +0 where nothing did.
  std::uint16_t mean(std::size_t index, std::size_t number) const { return sum(index, number).mean(count(index)); }
  /// Forgets what arrived.
  void close(std::size_t index);

 private:
  Bf16Sum& sum(std::size_t index, std::size_t number) { return sums_[index * values_ + number]; }
  const Bf16Sum& sum(std::size_t index, std::size_t number) const { return sums_[index * values_ + number]; }

  std::size_t workers_, values_;
  std::vector<Bf16Sum> sums_;
  std::vector<std::uint8_t> arrived_, counts_;
};

}  // namespace narrowgauge
