// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/sparse/nm_mask.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

/// From the largest down, the lower index first among equals.
std::vector<std::size_t> descending(std::span<const std::uint64_t> magnitudes) {
  std::vector<std::size_t> order(magnitudes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return magnitudes[a] > magnitudes[b]; });
  return order;
}

void check(int n, int m, int most) {
  if (m < 1 || m > most || n < 1 || n > m) {
    throw Error("sparsity " + std::to_string(n) + ":" + std::to_string(m) + "; expected N from 1 to M, M from 1 to " +
                std::to_string(most));
  }
}

std::vector<std::uint16_t> make_masks_2_4() {
  const auto descend = [](unsigned row) {  // larger for what comes first
    return (row & 1) << 3 | (row & 2) << 1 | (row & 4) >> 1 | (row & 8) >> 3;
  };
  const auto key = [&](std::uint16_t mask) {
    unsigned counts = 0;
    for (int c = 0; c < 4; ++c) counts = 3 * counts + (mask >> c & 1U) + (mask >> (4 + c) & 1U);
    return std::tuple(counts, descend(mask & 15U), descend(mask >> 8 & 15U));
  };
  std::vector<std::uint16_t> masks;
  for (unsigned mask = 0; mask < 1U << 16; ++mask) {
    bool fits = true;
    for (int i = 0; i < 4; ++i)
      fits = fits && std::popcount(mask >> (4 * i) & 0xFU) == 2 && std::popcount(mask >> i & 0x1111U) == 2;
    if (fits) masks.push_back(static_cast<std::uint16_t>(mask));
  }
  std::sort(masks.begin(), masks.end(), [&](std::uint16_t a, std::uint16_t b) { return key(a) > key(b); });
  return masks;
}

}  // namespace

std::uint64_t greedy_mask(std::span<const std::uint64_t> magnitudes, int n) {
  check(n, static_cast<int>(magnitudes.size()), 64);
  const std::vector<std::size_t> order = descending(magnitudes);
  std::uint64_t mask = 0;
  for (int i = 0; i < n; ++i) mask |= std::uint64_t{1} << order[static_cast<std::size_t>(i)];
  return mask;
}

std::span<const std::uint16_t> transposable_masks_2_4() {
  static const std::vector<std::uint16_t> masks = make_masks_2_4();
  return masks;
}

std::uint16_t transposable_mask_2_4(std::span<const std::uint64_t> magnitudes) {
  if (magnitudes.size() != 16)
    throw Error("2:4-T mask of " + std::to_string(magnitudes.size()) + " magnitudes; expected 16, a 4 x 4 block");
  std::uint16_t best = 0;
  std::uint64_t most = 0;
  for (const std::uint16_t mask : transposable_masks_2_4()) {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < 16; ++i) sum += (mask >> i & 1) != 0 ? magnitudes[i] : 0;
    if (best == 0 || sum > most) std::tie(best, most) = std::pair(mask, sum);
  }
  return best;
}

std::vector<std::uint8_t> transposable_mask_greedy(std::span<const std::uint64_t> magnitudes, int n, int m) {
  check(n, m, 64);
  const auto side = static_cast<std::size_t>(m);
  if (magnitudes.size() != side * side)
    throw Error("transposable mask of " + std::to_string(magnitudes.size()) + " magnitudes; expected " +
                std::to_string(side * side) + ", a square block");
  std::vector<std::uint8_t> mask(side * side);
  std::vector<int> in_row(side), in_column(side);
  for (const std::size_t i : descending(magnitudes)) {
    int& row = in_row[i / side];
    int& column = in_column[i % side];
    if (row == n || column == n) continue;
    mask[i] = 1;
    ++row;
    ++column;
  }
  return mask;
}

std::uint64_t transposable_mask_count(int n, int m) {
  check(n, m, 8);
  // Row by row; what matters of the rows before is how many ones the columns still lack, in any order.
  std::map<std::vector<int>, std::uint64_t> ways{{std::vector<int>(static_cast<std::size_t>(m), n), 1}};
  for (int row = 0; row < m; ++row) {
    std::map<std::vector<int>, std::uint64_t> next;
    for (const auto& [lacking, count] : ways) {
      for (unsigned pattern = 0; pattern < 1U << m; ++pattern) {
        if (std::popcount(pattern) != n) continue;
        std::vector<int> rest = lacking;
        for (int c = 0; c < m; ++c) rest[static_cast<std::size_t>(c)] -= static_cast<int>(pattern >> c & 1);
        if (*std::min_element(rest.begin(), rest.end()) < 0) continue;
        std::sort(rest.begin(), rest.end());
        next[rest] += count;
      }
    }
    ways = std::move(next);
  }
  return ways.begin()->second;
}

double transposable_mask_count_paper(int n, int m) {
  check(n, m, 64);
  double product = 1;
  for (int i = 0; i < n; ++i)
    for (int k = 2; k <= m - i; ++k) product *= k;
  return product;
}

}  // namespace narrowgauge
