// SPDX-License-Identifier: Apache-2.0
// Masks of N:M sparsity of blocks: which n of m neighbours stay. Magnitudes are integers: codes of a floating-point
// format without their sign, whose order is that of the numbers, or fixed-point numbers where sums matter. RTL twins:
// rtl/sparse/ng_prune_2_4.sv (greedy), ng_transposable_2_4.sv.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace narrowgauge {

/// Keeps the n largest of a block of up to 64, the lower index among equals; bit i of the result: element i stays.
/// Least squared error of all masks.
std::uint64_t greedy_mask(std::span<const std::uint64_t> magnitudes, int n);

/// The 90 masks of 4 x 4 with two ones in every row and every column; bit 4 r + c: row r, column c.
/// Order: column counts of rows 0 and 1, then row 0, then row 2, all descending, column 0 being the most significant.
/// It decides among masks of equal sums.
std::span<const std::uint16_t> transposable_masks_2_4();

/// 2:4-T: the first of transposable_masks_2_4() whose kept magnitudes have the largest sum. 16 magnitudes, row by row,
/// each below 2^60. (Hubara et al., Accelerated Sparse Neural Training, arXiv 2102.08124.)
std::uint16_t transposable_mask_2_4(std::span<const std::uint64_t> magnitudes);

/// n:m-T by the 2-approximation: magnitudes of an m x m block from the largest down, the lower flat index first among
/// equals; each is kept if its row and its column have fewer than n yet. Rows and columns never have more than n, but
/// may have fewer. (arXiv 2102.08124, as in its published code.) One byte an element, 0 or 1.
std::vector<std::uint8_t> transposable_mask_greedy(std::span<const std::uint64_t> magnitudes, int n, int m);

/// How many m x m masks have exactly n ones in every row and column, m <= 8: 90 for 2:4, 116963796250 for 4:8.
std::uint64_t transposable_mask_count(int n, int m);

/// What arXiv 2102.08124 gives for it: m! (m - 1)! ... (m - n + 1)!, ordered choices, hence more: 144 for 2:4, 1.756e13
/// for 4:8.
double transposable_mask_count_paper(int n, int m);

}  // namespace narrowgauge
