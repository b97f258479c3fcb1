// SPDX-License-Identifier: Apache-2.0
// What quantizers of plain blocks, IF4 and HiFloat4, have in common: runs of blocks in parallel, and the largest
// magnitude of numbers that have to be finite.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "kernels.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge::detail {

inline constexpr std::size_t blocks_a_run = 1024;

/// Calls part(first block, end) for runs of blocks, in parallel.
template <class Part>
void block_runs(std::size_t blocks, unsigned threads, const Part& part) {
  parallel_for((blocks + blocks_a_run - 1) / blocks_a_run, threads,
               [&](std::size_t run) { part(run * blocks_a_run, std::min(blocks, (run + 1) * blocks_a_run)); });
}

/// Of part of an array, from its element `first` on. Throws Error, naming index and value, on NaN and infinity.
inline float finite_amax(std::span<const float> part, std::size_t first) {
  const auto amax = std::bit_cast<float>(kernels().amax_bits(part.data(), part.size()));
  if (std::isfinite(amax)) return amax;
  const auto bad = std::ranges::find_if(part, [](float number) { return !std::isfinite(number); }) - part.begin();
  throw Error("number " + std::to_string(first + static_cast<std::size_t>(bad)) + " is " +
              std::to_string(part[static_cast<std::size_t>(bad)]) + "; expected finite numbers");
}

}  // namespace narrowgauge::detail
