// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/format/random.hpp"

#include <algorithm>
#include <vector>

#include "kernels.hpp"

namespace narrowgauge {

void random_fields(std::uint64_t seed, std::uint64_t first, int bits, std::span<std::uint32_t> out) {
  const std::uint64_t lane = random_lane_bits(bits), lanes = 128 / lane;
  const std::uint32_t mask = ~std::uint32_t{0} >> (32 - bits);
  constexpr std::size_t batch = 256;  // Philox blocks at a time
  std::array<std::uint32_t, 4 * batch> words;
  std::uint64_t block = first / lanes, skip = first % lanes;
  for (std::size_t at = 0; at < out.size(); block += batch, skip = 0) {
    const std::size_t count = std::min<std::size_t>(batch * lanes - skip, out.size() - at);
    detail::kernels().philox(seed, block, (skip + count + lanes - 1) / lanes, words.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t bit = (skip + i) * lane;
      out[at + i] = words[bit / 32] >> bit % 32 & mask;
    }
    at += count;
  }
}

}  // namespace narrowgauge
