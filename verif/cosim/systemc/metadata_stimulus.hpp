// SPDX-License-Identifier: Apache-2.0
// Metadata of 2:4 groups for lock-steps.
#pragma once

#include <cstdint>

#include "../bench.hpp"

namespace narrowgauge::bench {

/// A legal nibble for each group, group 0 in the low bits.
inline std::uint64_t legal_metadata(Rng& rng, int groups) {
  constexpr std::uint32_t legal = 0xED9C84;
  std::uint64_t nibbles = 0;
  for (int group = 0; group < groups; ++group)
    nibbles |= std::uint64_t{legal >> (4 * rng.below(6)) & 15} << (4 * group);
  return nibbles;
}

}  // namespace narrowgauge::bench
