// SPDX-License-Identifier: Apache-2.0
// Memories and their products in the order in which a tile sends them, for testbench and lock-step of ng_retrieve.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bench.hpp"
#include "systemc/retrieval/retrieve_core.hpp"

namespace narrowgauge::bench {

/// A query, and the product of each token with each query token.
struct Memory {
  systemc::RetrievalQuery query;
  std::vector<float> products;  ///< a row for each token, chunk after chunk
};

/// Any product: near the shared exponent, of few or many bits below a random place, and now and then special.
inline float any_product(Rng& rng, unsigned exponent, unsigned width) {
  const std::uint32_t kind = rng.below(16);
  const std::uint32_t sign = static_cast<std::uint32_t>(rng.bits(1)) << 31;
  if (kind == 0) return std::bit_cast<float>(static_cast<std::uint32_t>(rng.bits(32)));
  if (kind == 1) return std::bit_cast<float>(sign | (rng.chance(0.5) ? 0x7F800000U : 0));
  if (kind == 2)
    return std::bit_cast<float>(sign | 0x7F800000U | std::uint32_t{1} << rng.below(23));  // a NaN of one bit
  const int near = static_cast<int>(exponent) + 1 - static_cast<int>(rng.below(kind < 9 ? 3 : width + 3));
  const std::uint32_t own = near < 0 ? 0 : near > 254 ? 254 : static_cast<std::uint32_t>(near);
  auto fraction = static_cast<std::uint32_t>(rng.bits(23));
  if (rng.chance(0.5)) {  // ends in 1000... or 0111..., where ties are
    const std::uint32_t low = (std::uint32_t{2} << rng.below(23)) - 1;
    fraction = (fraction & ~low) | (rng.chance(0.5) ? low / 2 + 1 : rng.chance(0.5) ? low / 2 : low);
  }
  return std::bit_cast<float>(sign | own << 23 | (fraction & 0x7FFFFF));
}

/// The numbers of a tile of rows x cols in its order, in words of `units` numbers. What stands behind the last query
/// token and behind a row is noise.
template <std::size_t rows, std::size_t cols, std::size_t units>
std::vector<std::array<float, units>> stream_of(Rng& rng, const Memory& memory) {
  const std::size_t queries = memory.query.last_query + 1, tokens = memory.products.size() / queries;
  std::vector<std::array<float, units>> words;
  for (std::size_t first_token = 0; first_token < tokens; first_token += rows) {
    for (std::size_t first_query = 0; first_query < queries; first_query += cols) {
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t col = 0; col < cols || col % units != 0; ++col) {
          if (col % units == 0) words.emplace_back();
          const std::size_t query = first_query + col;
          words.back()[col % units] = col < cols && query < queries
                                          ? memory.products[(first_token + row) * queries + query]
                                          : std::bit_cast<float>(static_cast<std::uint32_t>(rng.bits(32)));
        }
      }
    }
  }
  return words;
}

}  // namespace narrowgauge::bench
