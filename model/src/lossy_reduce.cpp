// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/reduce/lossy_reduce.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/require.hpp"

namespace narrowgauge {
namespace {

constexpr std::size_t most_workers = 64;

/// words plus number * 2^(64 start), modulo their width; the number is signed.
template <std::size_t size>
void add_at(std::array<std::uint64_t, size>& words, std::size_t start, std::uint64_t low, std::uint64_t high,
            bool negative) {
  std::uint64_t carry = negative ? 1 : 0;
  const std::uint64_t flip = negative ? ~std::uint64_t{0} : 0;
  for (std::size_t i = start; i < size; ++i) {
    const std::uint64_t part = (i == start ? low : i == start + 1 ? high : 0) ^ flip;
    const std::uint64_t once = words[i] + part, twice = once + carry;
    carry = (once < part ? 1U : 0U) | (twice < once ? 1U : 0U);
    words[i] = twice;
  }
}

}  // namespace

CountReciprocal count_reciprocal(unsigned count) {
  if (count == 0) return {};
  const int exponent = std::bit_width(count - 1);
  const std::uint64_t power = std::uint64_t{1} << (23 + exponent);
  return {.significand = static_cast<std::uint32_t>((power + count / 2) / count), .exponent = exponent};
}

void Bf16Sum::add(std::uint16_t code) {
  const unsigned exponent = code >> 7 & 0xFF;
  if (exponent == 0xFF) {
    nan_ = true;
    return;
  }
  const std::uint64_t significand = (code & 0x7FU) | (exponent > 0 ? 0x80U : 0U);
  const unsigned shift = exponent > 0 ? exponent - 1 : 0;
  const unsigned here = shift % 64;
  if (significand == 0) return;
  add_at(words_, shift / 64, significand << here, here > 0 ? significand >> (64 - here) : 0, (code >> 15) != 0);
}

std::uint16_t Bf16Sum::mean(unsigned count) const {
  const FormatDesc& bf16 = desc(Format::bf16);
  if (nan_) return static_cast<std::uint16_t>(encode_nan(bf16, false, Overflow::ieee));
  const CountReciprocal reciprocal = count_reciprocal(count);
  auto words = words_;
  const bool negative = words.back() >> 63 != 0;
  if (negative) {
    words = {};
    for (std::size_t i = 0; i < words.size(); ++i) add_at(words, i, words_[i], 0, true);
  }
  std::array<std::uint64_t, std::tuple_size_v<decltype(words)> + 1> product{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto wide = static_cast<unsigned __int128>(words[i]) * reciprocal.significand;
    add_at(product, i, static_cast<std::uint64_t>(wide), static_cast<std::uint64_t>(wide >> 64), false);
  }
  // The highest 64 bits from the leading one on, and whether anything is below.
  std::size_t top = product.size() - 1;
  while (top > 0 && product[top] == 0) --top;
  std::uint64_t kept = product[top];
  int exponent = static_cast<int>(64 * top);
  if (top > 0) {
    const int spare = std::countl_zero(kept);
    if (spare > 0) kept = kept << spare | product[top - 1] >> (64 - spare);
    exponent -= spare;
    const bool rest = product[top - 1] << spare != 0 ||
                      std::any_of(product.begin(), product.begin() + static_cast<std::ptrdiff_t>(top - 1),
                                  [](std::uint64_t word) { return word != 0; });
    kept |= rest ? 1 : 0;
  }
  exponent += -133 - 23 - reciprocal.exponent;
  return static_cast<std::uint16_t>(
      round_pack(bf16, negative, exponent, kept, {.rounding = Rounding::nearest_even, .overflow = Overflow::ieee}));
}

LossyReducer::LossyReducer(std::size_t workers, std::size_t values, std::size_t indices)
    : workers_(workers), values_(values), sums_(values * indices), arrived_(workers * indices), counts_(indices) {
  detail::require(workers >= 1 && workers <= most_workers,
                  [&] { return "workers is " + std::to_string(workers) + "; expected 1 to 64"; });
  detail::require(values > 0 && indices > 0, [&] {
    return "packets have " + std::to_string(values) + " values and " + std::to_string(indices) +
           " indices; expected 1 or more of both";
  });
}

bool LossyReducer::arrives(std::size_t worker, std::size_t index) {
  std::uint8_t& arrived = arrived_.at(index * workers_ + worker);
  const bool first = arrived == 0;
  arrived = 1;
  if (first) ++counts_[index];
  return first;
}

bool LossyReducer::take(std::size_t worker, std::size_t index, std::span<const std::uint16_t> codes) {
  detail::require(codes.size() == values_, [&] {
    return "a packet has " + std::to_string(codes.size()) + " values; expected " + std::to_string(values_);
  });
  if (!arrives(worker, index)) return false;
  for (std::size_t i = 0; i < codes.size(); ++i) add(index, i, codes[i]);
  return true;
}

void LossyReducer::close(std::size_t index) {
  std::fill_n(sums_.begin() + static_cast<std::ptrdiff_t>(index * values_), values_, Bf16Sum{});
  std::fill_n(arrived_.begin() + static_cast<std::ptrdiff_t>(index * workers_), workers_, std::uint8_t{0});
  counts_[index] = 0;
}

}  // namespace narrowgauge
