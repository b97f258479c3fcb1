// SPDX-License-Identifier: Apache-2.0
// Chunks of a memory that a query attends to most (arXiv 2605.05806): scores by MaxSim, and the best k of a stream of
// them. Contract: docs/retrieval.md. RTL twins: rtl/retrieval/.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace narrowgauge {

// ---- The best k

/// Bits of a score_key().
inline constexpr int score_key_bits = 24;

/// Key of a score, an unsigned integer in the order of the numbers: sign, exponent and the upper 15 bits of the
/// significand, all of which are inverted for a negative number, and the sign for a positive one. -0 is below +0; NaNs
/// are at both ends.
constexpr std::uint32_t score_key(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score);
  return (bits >> 31 ? ~bits : bits | 0x80000000U) >> (32 - score_key_bits);
}

/// Key of a signed integer of `bits` bits, 1 to 64, in the order of the numbers: its sign inverted.
constexpr std::uint64_t integer_key(std::int64_t value, int bits) {
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return (static_cast<std::uint64_t>(value) ^ sign) & (sign | (sign - 1));
}

/// A candidate of a choice.
struct Candidate {
  std::uint64_t key = 0;    ///< candidates are ordered by it
  std::uint64_t index = 0;  ///< what says which one it is

  friend constexpr bool operator==(const Candidate&, const Candidate&) = default;
};

/// Puts a candidate before the first of `best` whose key it exceeds, and drops what is then behind the k-th.
constexpr void insert_candidate(std::vector<Candidate>& best, const Candidate& candidate, std::size_t k) {
  const auto place =
      std::find_if(best.begin(), best.end(), [&](const Candidate& other) { return candidate.key > other.key; });
  best.insert(place, candidate);
  if (best.size() > k) best.pop_back();
}

/// Places of the k largest keys, largest first; of equal ones, the earlier first. Throws Error unless k is 1 to the
/// number of keys.
std::vector<std::size_t> top_k(std::span<const std::uint32_t> keys, std::size_t k);

// ---- Scores

/// What a query's product adds to the exact score of its chunk: all of it where it is the query's first of the chunk,
/// later what it exceeds the largest one so far by.
constexpr __int128 max_sim_gain(std::int64_t dot, std::int64_t largest, bool first) {
  return first ? __int128{dot} : std::max<__int128>(__int128{dot} - largest, 0);
}

/// Exact score of a chunk: the largest of each row of `dots`, a row of `tokens` numbers for each query, summed. Throws
/// Error unless there are 1 to 2^16 full rows.
__int128 max_sim(std::span<const std::int64_t> dots, std::size_t tokens);

/// Scores of chunks: the largest number of each query within a chunk, summed over the queries, exact and rounded once.
/// `dots`: a row for each query, of all chunks' tokens one after another; `lengths`: tokens of each chunk. Throws Error
/// for numbers that are not finite, for a length of 0, and where the lengths do not add up to rows.
std::vector<float> max_sim(std::span<const float> dots, std::span<const std::size_t> lengths);

// ---- Chunks from a tile's results

/// A number as an integer of `bits` bits, 2 to 64, under a shared exponent with FP32's bias, 1 to 255: the number times
/// 2^(bits + 125 - exponent), to nearest even. Numbers of 2^(exponent - 126) or more saturate, and so do those that
/// round up to it; a NaN is the least integer.
constexpr std::int64_t shared_fixed(float number, unsigned exponent, int bits) {
  const auto code = std::bit_cast<std::uint32_t>(number);
  const std::int64_t most = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits)), least = -most - 1;
  const unsigned stored = code >> 23 & 0xFF, own = std::max(stored, 1U);
  const std::uint32_t fraction = code & 0x7FFFFF;
  const bool negative = code >> 31 != 0;
  if (stored == 255 && fraction != 0) return least;
  if (stored == 255 || own > exponent) return negative ? least : most;
  const std::uint64_t significand = fraction | (stored != 0 ? 0x800000U : 0U);
  // Places that the significand moves to the left.
  const int left = bits - 25 - static_cast<int>(exponent - own);
  std::uint64_t magnitude = 0;
  if (left >= 0) {
    magnitude = significand << left;
  } else if (left >= -25) {  // else below a quarter
    const std::uint64_t half = std::uint64_t{1} << (-left - 1), rest = significand & (2 * half - 1);
    magnitude = significand >> -left;
    magnitude += rest > half || (rest == half && magnitude % 2 != 0);
  }
  const auto value = static_cast<std::int64_t>(magnitude);
  return negative ? -value : std::min(value, most);
}

/// How chunks are scored and chosen by retrieve().
struct RetrievalRule {
  std::size_t queries = 1;  ///< query tokens
  std::size_t tokens = 1;   ///< of a chunk
  std::size_t k = 1;        ///< chunks that are found, at most
  unsigned exponent = 127;  ///< the shared one, with FP32's bias
  int product_bits = 24;    ///< of a product as an integer
  int score_bits = 28;      ///< of a score
};

/// The best chunks, best first; of equal scores, the earlier one first. `products`: a row for each token, chunk after
/// chunk, with a number for each query token. A product becomes an integer by shared_fixed(), a score is exact and a
/// key is its integer_key(). Throws Error unless there are full chunks, and where a score may exceed its bits.
std::vector<Candidate> retrieve(std::span<const float> products, const RetrievalRule& rule);

}  // namespace narrowgauge
