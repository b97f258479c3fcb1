// SPDX-License-Identifier: Apache-2.0
// Runs of zeros and the bytes that stand for them, for the benches of the codec's units.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../bench.hpp"
#include "narrowgauge/codec/zero_runs.hpp"

namespace narrowgauge::bench {

/// So many different bytes that stand for runs of zeros, none of them 0.
inline ZeroRunSlots random_slots(Rng& rng, std::size_t count) {
  ZeroRunSlots slots;
  while (slots.size() < count) {
    const auto slot = static_cast<std::uint8_t>(1 + rng.below(255));
    if (std::find(slots.begin(), slots.end(), slot) == slots.end()) slots.push_back(slot);
  }
  return slots;
}

/// What the table's port of ng_zero_runs and ng_zero_expand takes: address, data.
inline std::vector<std::array<std::uint32_t, 2>> table_writes(const ZeroRunSlots& slots) {
  std::vector<std::array<std::uint32_t, 2>> writes{{0, static_cast<std::uint32_t>(slots.size())}};
  for (std::uint32_t i = 0; i < slots.size(); ++i) writes.push_back({i + 1, slots[i]});
  return writes;
}

/// The length of a run of zeros: short, any, around a power of two, or around the longest and twice that.
inline std::size_t random_run(Rng& rng) {
  switch (rng.below(5)) {
    case 0:
      return 1 + rng.below(4);
    case 1:
      return 1 + rng.below(40);
    case 2:
      return (std::size_t{1} << (1 + rng.below(8))) - 1 + rng.below(3);
    case 3:
      return longest_zero_run * (1 + rng.below(2)) - 1 + rng.below(3);
    default:
      return 1 + rng.below(300);
  }
}

/// Values of a tile, runs of zeros among them, and often at its end one of a few times a power of two.
inline std::vector<std::uint8_t> random_runs(Rng& rng, std::size_t count) {
  std::vector<std::uint8_t> values;
  const double zero = rng.below(5) / 4.0;
  const bool single = rng.chance(0.3);
  while (values.size() < count) {
    if (rng.chance(zero)) {
      values.insert(values.end(), std::min(single ? 1 + rng.below(3) : random_run(rng), count - values.size()), 0);
    } else {
      values.push_back(static_cast<std::uint8_t>(1 + rng.below(255)));
    }
  }
  if (rng.chance(0.7)) {
    const std::size_t run = std::size_t{1 + rng.below(4)} << rng.below(7);
    std::fill(values.end() - static_cast<std::ptrdiff_t>(std::min(run, count)), values.end(), std::uint8_t{0});
    if (count > run) values[count - run - 1] = 1;
  }
  return values;
}

}  // namespace narrowgauge::bench
