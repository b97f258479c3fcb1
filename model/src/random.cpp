// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/format/random.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "kernels.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge {

namespace {

/// out[i] = the masked lane number `skip + i` of lanes of Bits bits.
template <std::size_t Bits>
void take_fields(const std::uint32_t* words, std::size_t skip, std::uint32_t mask, std::span<std::uint32_t> out) {
  constexpr std::size_t lanes = 32 / Bits;
  const auto one = [&](std::size_t i) { return words[(skip + i) / lanes] >> (skip + i) % lanes * Bits & mask; };
  std::size_t i = 0;
  for (; (skip + i) % lanes != 0 && i < out.size(); ++i) out[i] = one(i);
  words += (skip + i) / lanes;
  const std::size_t whole = (out.size() - i) / lanes;
  std::uint32_t* const first = out.data() + i;
  for (std::size_t w = 0; w < whole; ++w)
    for (std::size_t l = 0; l < lanes; ++l) first[lanes * w + l] = words[w] >> l * Bits & mask;
  for (i = lanes * whole; i < out.size() - static_cast<std::size_t>(first - out.data()); ++i)
    first[i] = words[i / lanes] >> i % lanes * Bits & mask;
}

}  // namespace

void random_fields(std::uint64_t seed, std::uint64_t first, int bits, std::span<std::uint32_t> out) {
  const std::uint64_t lane = random_lane_bits(bits), lanes = 128 / lane;
  const std::uint32_t mask = ~std::uint32_t{0} >> (32 - bits);
  constexpr std::size_t batch = 256;  // Philox blocks at a time
  std::array<std::uint32_t, 4 * batch> words;
  std::uint64_t block = first / lanes, skip = first % lanes;
  detail::Pace pace;
  for (std::size_t at = 0; at < out.size(); block += batch, skip = 0) {
    const std::size_t count = std::min<std::size_t>(batch * lanes - skip, out.size() - at);
    detail::kernels().philox(seed, block, (skip + count + lanes - 1) / lanes, words.data());
    const std::span<std::uint32_t> fields = out.subspan(at, count);
    switch (lane) {
      case 8:
        take_fields<8>(words.data(), skip, mask, fields);
        break;
      case 16:
        take_fields<16>(words.data(), skip, mask, fields);
        break;
      default:
        take_fields<32>(words.data(), skip, mask, fields);
    }
    at += count;
    pace(count);
  }
}

namespace {

/// Natural logarithm of 0 < x <= 1, within 2 units in the last place: 2 artanh((m - 1) / (m + 1)) for sqrt(1/2) <= m <
/// sqrt(2).
double natural_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < std::numbers::sqrt2 / 2) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), z = s * s;
  double series = 0;  // z < 0.0295: what is left out is below 2^-55
  for (int k = 10; k >= 0; --k) series = series * z + 1.0 / (2 * k + 1);
  return exponent * std::numbers::ln2 + 2 * s * series;
}

/// cos(2 pi v), 0 <= v <= 1.
double cosine_of_turns(double v) {
  const double quarter = std::floor(4 * v + 0.5);
  const double x = 2 * std::numbers::pi * (v - quarter / 4), z = x * x;  // |x| <= pi / 4
  const bool odd = static_cast<int>(quarter) % 2 != 0;
  double series = 0;  // Taylor's: 1 - z/2! + z^2/4! ... of the cosine, 1 - z/3! + z^2/5! ... of sin(x) / x
  for (int k = 9; k >= 0; --k) {
    const int n = 2 * k + (odd ? 1 : 0);
    series = 1 - series * z / ((n + 1) * (n + 2));
  }
  const double size = odd ? x * series : series;
  return static_cast<int>(quarter) % 4 == 1 || static_cast<int>(quarter) % 4 == 2 ? -size : size;
}

}  // namespace

double standard_normal(double u, double v) { return std::sqrt(-2 * natural_log(u)) * cosine_of_turns(v); }

Lfsr::Lfsr(int width, std::uint64_t state) : state_(state) {
  switch (width) {
    case 8:
      polynomial_ = 0xB8;  // x^8 + x^6 + x^5 + x^4 + 1
      break;
    case 16:
      polynomial_ = 0xB400;  // x^16 + x^14 + x^13 + x^11 + 1
      break;
    case 24:
      polynomial_ = 0xE10000;  // x^24 + x^23 + x^22 + x^17 + 1
      break;
    case 32:
      polynomial_ = 0x80200003;  // x^32 + x^22 + x^2 + x + 1
      break;
    case 40:
      polynomial_ = 0xA000140000;  // x^40 + x^38 + x^21 + x^19 + 1
      break;
    case 48:
      polynomial_ = 0xC00000180000;  // x^48 + x^47 + x^21 + x^20 + 1
      break;
    case 56:
      polynomial_ = 0xC0000600000000;  // x^56 + x^55 + x^35 + x^34 + 1
      break;
    case 64:
      polynomial_ = 0xD800000000000000;  // x^64 + x^63 + x^61 + x^60 + 1
      break;
    default:
      throw Error("an LFSR of " + std::to_string(width) +
                  " bits was asked for; expected a multiple of 8, from 8 to 64");
  }
  if (state == 0 || state >> (width - 1) >> 1)
    throw Error("the state of an LFSR of " + std::to_string(width) + " bits is " + std::to_string(state) +
                "; expected 1 to 2^" + std::to_string(width) + " - 1");
}

}  // namespace narrowgauge
