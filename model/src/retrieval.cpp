// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/retrieval/retrieval.hpp"

#include <cmath>
#include <numeric>
#include <string>

#include "exact_sum.hpp"
#include "narrowgauge/require.hpp"

namespace narrowgauge {

using detail::require;

std::vector<std::size_t> top_k(std::span<const std::uint32_t> keys, std::size_t k) {
  require(k >= 1 && k <= keys.size(), [&] {
    return "k is " + std::to_string(k) + "; expected 1 to the number of keys, " + std::to_string(keys.size());
  });
  std::vector<std::size_t> places(keys.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(k);
  std::partial_sort(places.begin(), end, places.end(),
                    [&](std::size_t a, std::size_t b) { return keys[a] != keys[b] ? keys[a] > keys[b] : a < b; });
  places.erase(end, places.end());
  return places;
}

__int128 max_sim(std::span<const std::int64_t> dots, std::size_t tokens) {
  require(tokens >= 1 && !dots.empty() && dots.size() % tokens == 0 && dots.size() / tokens <= 65536, [&] {
    return std::to_string(dots.size()) + " products in rows of " + std::to_string(tokens) +
           "; expected 1 to 65536 full rows";
  });
  __int128 score = 0;
  for (std::size_t row = 0; row < dots.size(); row += tokens) score += std::ranges::max(dots.subspan(row, tokens));
  return score;
}

std::vector<float> max_sim(std::span<const float> dots, std::span<const std::size_t> lengths) {
  std::size_t tokens = 0;
  for (const std::size_t length : lengths) {
    require(length >= 1, [] { return std::string("the length of a chunk is 0; expected 1 token or more"); });
    tokens += length;
  }
  require(tokens >= 1 && !dots.empty() && dots.size() % tokens == 0, [&] {
    return "the lengths of the chunks add up to " + std::to_string(tokens) + " tokens, with " +
           std::to_string(dots.size()) + " products; expected as many tokens as a row of products has";
  });
  require(std::ranges::all_of(dots, [](float dot) { return std::isfinite(dot); }),
          [] { return std::string("a product is not finite; expected finite numbers"); });
  std::vector<float> scores;
  scores.reserve(lengths.size());
  std::size_t begin = 0;
  for (const std::size_t length : lengths) {
    detail::ExactSum sum;
    for (std::size_t row = 0; row < dots.size(); row += tokens)
      sum.add(std::ranges::max(dots.subspan(row + begin, length)));
    scores.push_back(static_cast<float>(sum.rounded_to_odd()));
    begin += length;
  }
  return scores;
}

}  // namespace narrowgauge
