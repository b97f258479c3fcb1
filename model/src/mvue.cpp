// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/sparse/mvue.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

using Wide = unsigned __int128;

void check_draw(std::uint32_t k, int r) {
  if (r < 1 || r > 32 || std::uint64_t{k} >> r != 0)
    throw Error("random word " + std::to_string(k) + " of " + std::to_string(r) +
                " bits; expected 1 to 32 bits, and a word below 2 to their number");
}

/// floor(u x / 2^more), u = (2k + 1) / 2^(r + 1).
std::uint64_t part(std::uint64_t x, std::uint32_t k, int r, int more) {
  return static_cast<std::uint64_t>((Wide{2 * std::uint64_t{k} + 1} * x) >> (r + 1 + more));
}

/// The element in whose part of [0, sum) the whole number `point` lies.
int part_of(const Magnitudes4& lengths, std::uint64_t point) {
  int index = 0;
  for (std::uint64_t end = lengths[0]; index < 3 && point >= end; end += lengths[static_cast<std::size_t>(index)])
    ++index;
  return index;
}

int largest_of(const Magnitudes4& a) { return static_cast<int>(std::max_element(a.begin(), a.end()) - a.begin()); }

/// The two that stay, with what the rule makes of their magnitudes.
Mvue24 finish(const Magnitudes4& a, int first, int second) {
  const std::uint64_t sum = a[0] + a[1] + a[2] + a[3];
  const int largest = largest_of(a);
  const std::uint64_t most = a[static_cast<std::size_t>(largest)], rest = sum - most;
  Mvue24 result{.index = {std::min(first, second), std::max(first, second)}, .twice_magnitude = {}};
  for (std::size_t i = 0; i < 2; ++i)
    result.twice_magnitude[i] = most < rest ? sum : 2 * (result.index[i] == largest ? most : rest);
  return result;
}

constexpr std::array<std::array<int, 2>, 6> pairs{{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

}  // namespace

Mvue12 mvue_1_2(std::span<const std::uint64_t, 2> a, std::uint32_t k, int r) {
  check_draw(k, r);
  const std::uint64_t sum = a[0] + a[1];
  return {.index = a[1] != 0 && part(sum, k, r, 0) >= a[0] ? 1 : 0, .magnitude = sum};
}

Mvue24 mvue_2_4(const Magnitudes4& a, std::uint32_t k, int r) {
  check_draw(k, r);
  const int largest = largest_of(a);
  const std::uint64_t most = a[static_cast<std::size_t>(largest)];
  Magnitudes4 others = a;
  others[static_cast<std::size_t>(largest)] = 0;
  const std::uint64_t rest = others[0] + others[1] + others[2] + others[3];
  if (rest == 0) return finish(a, largest, largest == 0 ? 1 : 0);
  if (most >= rest) return finish(a, largest, part_of(others, part(rest, k, r, 0)));
  // uS/2 + S/2 = (2k + 1 + 2^(r + 1)) S / 2^(r + 2); a whole number is above it or not as it is above its floor.
  const std::uint64_t sum = most + rest;
  const auto high =
      static_cast<std::uint64_t>((Wide{2 * std::uint64_t{k} + 1} * sum + (Wide{sum} << (r + 1))) >> (r + 2));
  return finish(a, part_of(a, part(sum, k, r, 1)), part_of(a, high));
}

PairTable mvue_2_4_pairs(const Magnitudes4& a) {
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return a[x] < a[y]; });
  const std::uint64_t a1 = a[order[0]], a2 = a[order[1]], a3 = a[order[2]], a4 = a[order[3]];
  const std::uint64_t sum = a1 + a2 + a3 + a4;
  std::array<std::uint64_t, 6> sorted;  // pairs 12, 13, 14, 23, 24, 34 of the paper
  PairTable table;
  if (2 * a1 + a3 > a4) {
    sorted = {0, 2 * a1 + a3 - a4, 2 * a1 + a4 - a3, 2 * a2 + a3 - a4, 2 * a2 + a4 - a3, 2 * (a3 + a4 - a1 - a2)};
    table.denominator = 2 * sum;
  } else if (a4 < a1 + a2 + a3) {
    sorted = {0, 0, 2 * a1, a1 + a2 + a3 - a4, a2 + a4 - a1 - a3, a3 + a4 - a1 - a2};
    table.denominator = sum;
  } else {
    sorted = {0, 0, a1, 0, a2, a3};
    table.denominator = sum - a4;
  }
  if (table.denominator == 0) {  // at most one is not zero: it and the first other one
    const auto largest = static_cast<std::size_t>(largest_of(a));
    return {.numerators = {largest < 2, largest == 2, largest == 3, 0, 0, 0}, .denominator = 1};
  }
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const std::size_t x = order[static_cast<std::size_t>(pairs[p][0])],
                      y = order[static_cast<std::size_t>(pairs[p][1])];
    const std::array<int, 2> lanes{static_cast<int>(std::min(x, y)), static_cast<int>(std::max(x, y))};
    table.numerators[static_cast<std::size_t>(std::find(pairs.begin(), pairs.end(), lanes) - pairs.begin())] =
        sorted[p];
  }
  return table;
}

Mvue24 mvue_2_4_by_table(const Magnitudes4& a, std::uint32_t k, int r) {
  check_draw(k, r);
  const PairTable table = mvue_2_4_pairs(a);
  const std::uint64_t point = part(table.denominator, k, r, 0);
  std::size_t pair = 0;
  for (std::uint64_t end = table.numerators[0]; point >= end; end += table.numerators[pair]) ++pair;
  return finish(a, pairs[pair][0], pairs[pair][1]);
}

ApproximateMvue24 approximate_mvue_2_4(const std::array<double, 4>& a, const std::array<double, 2>& u) {
  const double sum = a[0] + a[1] + a[2] + a[3];
  if (sum == 0) return {.index = {0, 1}, .magnitude = {0, 0}};
  // The first element whose running sum is above u of the whole, or the last one that is not zero; zeros are never
  // drawn.
  const auto draw = [](const std::array<double, 4>& from, double whole, double at) {
    const double point = at * whole;
    const double end1 = from[0] + from[1], end2 = end1 + from[2];
    const std::size_t index = (point < from[0] ? 0U : 1U) + (point < end1 ? 0U : 1U) + (point < end2 ? 0U : 1U);
    if (from[index] != 0 && (index < 3 || point < end2 + from[3])) return index;
    std::size_t last = 3;
    while (last > 0 && from[last] == 0) --last;
    return last;
  };
  std::size_t first = draw(a, sum, u[0]);
  std::array<double, 4> rest = a;
  rest[first] = 0;
  const double left = rest[0] + rest[1] + rest[2] + rest[3];
  std::size_t second = left == 0 ? (first == 0 ? 1 : 0) : draw(rest, left, u[1]);
  if (second < first) std::swap(first, second);
  // The sums of the others, and the shares of the whole.
  const std::array<double, 4> others{a[1] + a[2] + a[3], a[0] + a[2] + a[3], a[0] + a[1] + a[3], a[0] + a[1] + a[2]};
  std::array<double, 4> share;
  for (std::size_t j = 0; j < 4; ++j) share[j] = a[j] / sum;
  const auto scaled = [&](std::size_t i) {
    if (a[i] == 0) return 0.0;
    double chance = share[i];
    for (std::size_t j = 0; j < 4; ++j) chance += j != i && a[j] != 0 ? share[j] * (a[i] / others[j]) : 0;
    return a[i] / chance;
  };
  return {.index = {static_cast<int>(first), static_cast<int>(second)}, .magnitude = {scaled(first), scaled(second)}};
}

}  // namespace narrowgauge
