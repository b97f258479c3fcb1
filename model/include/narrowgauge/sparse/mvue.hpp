// SPDX-License-Identifier: Apache-2.0
// Unbiased pruning of least variance (Chmiel et al., Minimum Variance Unbiased N:M Sparsity for the Neural Gradients,
// arXiv 2203.10991): elements stay at random, those that stay are scaled up, so that the expectation is the block.
//
// Magnitudes are integers, a sign goes with its element. All is exact: a draw is a random word k of r bits, which
// stands for u = (2k + 1) / 2^(r + 1), and what it decides is decided by integer comparisons. So the probability of an
// element is off by at most 2^-r; an element below 2^-r of its block's sum may never be kept. RTL twins:
// rtl/sparse/ng_mvue_1_2.sv, ng_mvue_2_4.sv.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace narrowgauge {

using Magnitudes4 = std::array<std::uint64_t, 4>;  ///< each below 2^61

struct Mvue12 {
  int index = 0;                ///< of the element that stays
  std::uint64_t magnitude = 0;  ///< its new one: the sum of both
};

/// MVUE 1:2: element i stays with probability a_i / (a_0 + a_1). Of two zeros the first stays. k < 2^r, 1 <= r <= 32.
Mvue12 mvue_1_2(std::span<const std::uint64_t, 2> a, std::uint32_t k, int r);

struct Mvue24 {
  std::array<int, 2> index{};                      ///< ascending
  std::array<std::uint64_t, 2> twice_magnitude{};  ///< their new ones, in halves of the unit
};

/// MVUE 2:4, one random word and no sorting. With S the sum, M the largest, T = S - M:
///   2M < S    element i stays with probability 2 a_i / S, as sign * S/2: those two in whose part of [0, S) lie uS/2
///   and
///             uS/2 + S/2, the parts being as long as the magnitudes, in the order of the elements
///   2M >= S   the largest stays as it is, and one of the others with probability a_i / T, as sign * T: the one in
///   whose
///             part of [0, T) lies uT
/// Beside a single non-zero element the first other one stays, as zero; of four zeros the first two.
/// Variance: S^2/2 - sum a_i^2, and T^2 - sum a_i^2 without the largest.
Mvue24 mvue_2_4(const Magnitudes4& a, std::uint32_t k, int r);

/// Probabilities of the pairs (0,1) (0,2) (0,3) (1,2) (1,3) (2,3), as numerators over one denominator.
struct PairTable {
  std::array<std::uint64_t, 6> numerators{};
  std::uint64_t denominator = 1;
};

/// The pairs' probabilities as the paper's table gives them, from sorted magnitudes. Single elements have the same
/// probabilities as under mvue_2_4, hence the same expectation and variance; pairs in general do not. Each magnitude
/// below 2^60.
PairTable mvue_2_4_pairs(const Magnitudes4& a);

/// MVUE 2:4 by drawing a pair from mvue_2_4_pairs(): a second implementation, to compare with.
Mvue24 mvue_2_4_by_table(const Magnitudes4& a, std::uint32_t k, int r);

struct ApproximateMvue24 {
  std::array<int, 2> index{};         ///< ascending
  std::array<double, 2> magnitude{};  ///< their new ones, a_i / p_i
};

/// approx-MVUE 2:4: the first element is drawn with probability a_i / S, the second one the same way from the rest, and
/// each is divided by the probability that it is drawn at all. Unbiased; up to twice the variance of mvue_2_4. Finite
/// magnitudes, 0 <= u < 1. Zeros as in mvue_2_4.
ApproximateMvue24 approximate_mvue_2_4(const std::array<double, 4>& a, const std::array<double, 2>& u);

}  // namespace narrowgauge
