// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/rht16.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <string>

#include "exact_sum.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/quant/dialect.hpp"

namespace narrowgauge {

Rht16Result rht16(const Rht16Block& x, int window) {
  if (window < 0 || window > rht16_full_window)
    throw Error("the window of RHT16 is " + std::to_string(window) + "; expected 0 to " +
                std::to_string(rht16_full_window));
  const auto field = [](std::uint16_t code) { return code >> 7 & 0xFF; };
  int largest = 1;
  for (const std::uint16_t code : x) largest = std::max(largest, field(code));
  Rht16Result result{};
  if (largest == 0xFF) {
    result.y.fill(0x7FC0);
    return result;
  }
  result.exact = true;
  std::array<float, 16> in{}, out{};
  for (std::size_t r = 0; r < x.size(); ++r) {
    const int lost = std::min(largest - window - std::max(field(x[r]), 1), 8);  // places
    const std::uint32_t significand = (x[r] & 0x7FU) | (field(x[r]) ? 0x80U : 0U);
    const std::uint32_t cut = lost > 0 ? significand & ((1U << lost) - 1) : 0;
    result.exact = result.exact && cut == 0;
    const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(x[r] & 0x7F80) << 16);
    const auto kept = static_cast<float>(significand - cut);
    // Of one place 2^(field - 134): in double, since a subnormal has field 1.
    const double size = field(x[r]) ? double{kept} * (double{scale} / 128) : double{kept} * 0x1p-133;
    const bool negative = (x[r] >> 15 ^ rht16_signs >> r) & 1;
    in[r] = static_cast<float>(negative ? -size : size);
  }
  detail::hadamard(std::span<const float>(in), 1, -2, out.data());
  for (std::size_t c = 0; c < out.size(); ++c)
    result.y[c] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(out[c]) >> 16);
  return result;
}

}  // namespace narrowgauge
