// SPDX-License-Identifier: Apache-2.0
// Random bits for stochastic rounding: a counter-based generator (software, seekable) and an LFSR (what hardware
// affords).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace narrowgauge {

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC'11), from which
/// Transformer Engine draws its rounding bits too: 128 random bits as a pure function of a 128-bit counter and a 64-bit
/// key.
struct Philox4x32 {
  using Counter = std::array<std::uint32_t, 4>;
  using Key = std::array<std::uint32_t, 2>;
  static constexpr int rounds = 10;
  static constexpr std::uint32_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
  static constexpr std::uint32_t weyl_0 = 0x9E3779B9, weyl_1 = 0xBB67AE85;

  static constexpr Counter block(const Counter& counter, const Key& key) { return after(counter, key, rounds); }

  /// What becomes of a counter in the first `count` rounds.
  static constexpr Counter after(Counter c, Key key, int count) {
    for (int round = 0; round < count; ++round) {
      const std::uint64_t p0 = std::uint64_t{multiplier_0} * c[0];
      const std::uint64_t p1 = std::uint64_t{multiplier_1} * c[2];
      c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
           static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
      key = {key[0] + weyl_0, key[1] + weyl_1};
    }
    return c;
  }

  /// The counter of the block after this one: an integer of 128 bits, word 0 lowest, that begins again at 0.
  static constexpr Counter next(Counter c) {
    for (std::uint32_t& word : c)
      if (++word != 0) break;
    return c;
  }
};

/// Bits that one random field takes in the stream: the narrowest of 8, 16, 32 that holds `bits`, so that a block of 16
/// elements at 8 bits costs one Philox block.
constexpr int random_lane_bits(int bits) { return bits <= 8 ? 8 : bits <= 16 ? 16 : 32; }

/// out[i] = random field number `first + i` of the stream `seed`, uniform in [0, 2^bits), 1 <= bits <= 32.
/// Field n is the low `bits` bits of lane n mod L of Philox block n / L, L = 128 / random_lane_bits(bits), lanes
/// counted from the least significant; the counter is {n / L (64 bits), 0, 0}, the key the seed. Independent of how a
/// range is split.
void random_fields(std::uint64_t seed, std::uint64_t first, int bits, std::span<std::uint32_t> out);

/// The fields of a seed one after the other. Seed and position are the whole state: reading, setting and resuming them
/// is exact. Field n lies in the block of counter {n / L, 0, 0}, L the fields of a block.
class PhiloxStream {
 public:
  explicit PhiloxStream(std::uint64_t seed, int bits = 8, std::uint64_t position = 0)
      : seed_(seed), position_(position), bits_(bits) {}

  std::uint64_t seed() const { return seed_; }
  int bits() const { return bits_; }
  /// Number of the next field.
  std::uint64_t position() const { return position_; }
  void seek(std::uint64_t position) { position_ = position; }
  /// Counter of the block that holds the next field.
  Philox4x32::Counter counter() const {
    const std::uint64_t block = position_ / static_cast<std::uint64_t>(128 / random_lane_bits(bits_));
    return {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0};
  }
  Philox4x32::Key key() const { return {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)}; }

  void draw(std::span<std::uint32_t> out) {
    random_fields(seed_, position_, bits_, out);
    position_ += out.size();
  }
  std::uint32_t draw() {
    std::uint32_t field = 0;
    draw(std::span(&field, 1));
    return field;
  }

 private:
  std::uint64_t seed_, position_;
  int bits_;
};

/// A number of N(0, 1) from `u` in (0, 1] and `v` in [0, 1], both uniform (Box and Muller). Built of additions,
/// products, quotients and square roots in a fixed order: the same bits on every machine, which the logarithms and
/// cosines of mathematical libraries do not promise.
double standard_normal(double u, double v);

/// Galois LFSR of maximal length: `width` bits, period 2^width - 1. A step shifts right and, if a 1 fell out, xors the
/// primitive polynomial of that width (bit i-1 is the coefficient of x^i).
class Lfsr {
 public:
  /// Width 8, 16, 24 and so on to 64; the state is neither 0, which is a fixed point, nor wider. Throws Error
  /// otherwise.
  Lfsr(int width, std::uint64_t state);
  std::uint64_t state() const { return state_; }

  /// One step; the bit that fell out.
  std::uint32_t step() {
    const std::uint32_t out = state_ & 1;
    state_ = (state_ >> 1) ^ (out ? polynomial_ : 0);
    return out;
  }
  /// `bits` fresh bits, at most 32, the first one lowest: as many steps, as hardware unrolls them.
  std::uint32_t draw(int bits) {
    std::uint32_t word = 0;
    for (int i = 0; i < bits; ++i) word |= step() << i;
    return word;
  }

 private:
  std::uint64_t polynomial_, state_;
};

}  // namespace narrowgauge
