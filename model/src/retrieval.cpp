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

std::vector<Candidate> retrieve(std::span<const float> products, const RetrievalRule& rule) {
  const std::size_t size = rule.queries * rule.tokens;
  require(size >= 1 && rule.k >= 1 && !products.empty() && products.size() % size == 0, [&] {
    return std::to_string(products.size()) + " products of chunks with " + std::to_string(rule.tokens) +
           " tokens and " + std::to_string(rule.queries) + " query tokens; expected full chunks";
  });
  require(rule.exponent >= 1 && rule.exponent <= 255,
          [&] { return "the shared exponent is " + std::to_string(rule.exponent) + "; expected 1 to 255"; });
  const int growth = static_cast<int>(std::bit_width(rule.queries - 1));
  require(rule.product_bits >= 2 && rule.score_bits <= 64 && rule.product_bits + growth <= rule.score_bits, [&] {
    return "scores have " + std::to_string(rule.score_bits) + " bits; expected " +
           std::to_string(rule.product_bits + growth) + " to 64 for products of " + std::to_string(rule.product_bits) +
           " bits, 2 or more, and " + std::to_string(rule.queries) + " query tokens";
  });
  std::vector<Candidate> best;
  std::vector<std::int64_t> largest(rule.queries);
  for (std::size_t chunk = 0; chunk * size < products.size(); ++chunk) {
    const std::span<const float> rows = products.subspan(chunk * size, size);
    __int128 score = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const bool first = i < rule.queries;
      std::int64_t& maximum = largest[i % rule.queries];
      const std::int64_t product = shared_fixed(rows[i], rule.exponent, rule.product_bits);
      score += max_sim_gain(product, maximum, first);
      maximum = first ? product : std::max(product, maximum);
    }
    insert_candidate(best, {integer_key(static_cast<std::int64_t>(score), rule.score_bits), chunk}, rule.k);
  }
  return best;
}

}  // namespace narrowgauge
