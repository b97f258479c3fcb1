// SPDX-License-Identifier: Apache-2.0
// How: per block of the contraction an exact sum, in doubles that hold integers, then one FP32 term and one FP32
// addition. Elements are integers in units of the format's least one, cut in two slices where they exceed 2^18 (E5M2:
// below 2^17, and multiples of 2^15), so that a product of slices is below 2^36, and 128 pairs of them stay below 2^53.
#include "gemm_blocked.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/fixed_to_fp32.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge::detail {
namespace {

__extension__ using Int128 = __int128;

constexpr std::size_t columns = 32;  ///< of a panel
constexpr int slice_bits = 15;
constexpr std::size_t block_of(Scheme scheme) { return scheme == Scheme::mxfp8 ? block_size(scheme) : fp32_block; }
static_assert(2 * 0x1p18 * 0x1p18 * fp32_block < 0x1p53);

/// A format's codes as integers in units of 2^unit: low + high * 2^slice_bits. NaN and infinities are 0.
struct Slices {
  explicit Slices(const FormatDesc& f) : unit(f.min_exp() - f.man_bits), count(f.exp_bits > 4 ? 2 : 1) {
    for (unsigned code = 0; code < 256; ++code) {
      if (f.is_nan(code) || f.is_inf(code)) continue;
      const double integer = std::ldexp(decode(f, code), -unit);
      const bool high = count == 2 && std::abs(integer) >= 0x1p17;  // then it is a multiple of 2^15
      table[high][code] = high ? std::ldexp(integer, -slice_bits) : integer;
    }
  }
  int unit;
  std::size_t count;
  std::array<std::array<double, 256>, 2> table{};
};

/// For each block of each vector whether it holds a NaN or an infinity: rows x blocks.
std::vector<bool> special_blocks(const QuantizedMatrix& q, std::size_t block, std::size_t blocks) {
  const FormatDesc& f = desc(q.element);
  std::vector<bool> found(q.rows * blocks);
  for (std::size_t row = 0; row < q.rows; ++row) {
    for (std::size_t i = 0; i < q.k; ++i) {
      if ((q.codes[row * q.k_padded + i] & f.payload_mask()) > f.max_code()) found[row * blocks + i / block] = true;
    }
  }
  return found;
}

/// The sum of a block with NaN or infinities, by IEEE's rules on doubles; finite products do not matter.
float special_sum(const QuantizedMatrix& a, std::size_t i, const QuantizedMatrix& b, std::size_t j, std::size_t first,
                  std::size_t count) {
  double sum = 0;
  for (std::size_t k = first; k < first + count; ++k) {
    sum += decode(a.element, a.codes[i * a.k_padded + k]) * decode(b.element, b.codes[j * b.k_padded + k]);
  }
  return static_cast<float>(sum);
}

}  // namespace

void blocked_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads, const Progress& progress,
                  float* out) {
  const Slices left(desc(a.element)), right(desc(b.element));
  const std::size_t block = block_of(a.scheme), blocks = (a.k + block - 1) / block,
                    powers = left.count + right.count - 1;
  const int unit = left.unit + right.unit;
  const std::vector<bool> a_special = special_blocks(a, block, blocks), b_special = special_blocks(b, block, blocks);
  const std::size_t panels = (b.rows + columns - 1) / columns;

  parallel_for(
      panels, threads,
      [&](std::size_t panel) {
        const std::size_t first_column = panel * columns, count = std::min(columns, b.rows - first_column);
        std::vector<double> packed(right.count * a.k * columns);  // [slice][k][column]
        for (std::size_t s = 0; s < right.count; ++s) {
          for (std::size_t j = 0; j < count; ++j) {
            for (std::size_t k = 0; k < b.k; ++k) {
              packed[(s * a.k + k) * columns + j] = right.table[s][b.codes[(first_column + j) * b.k_padded + k]];
            }
          }
        }
        for (std::size_t i = 0; i < a.rows; ++i) {
          std::array<float, columns> total{};
          for (std::size_t n = 0; n < blocks; ++n) {
            if (n % 64 == 0) breathe();
            const std::size_t first = n * block, size = std::min(block, a.k - first);
            std::array<std::array<double, columns>, 3> sums{};  // of 2^(slice_bits * index)
            for (std::size_t sa = 0; sa < left.count; ++sa) {
              for (std::size_t sb = 0; sb < right.count; ++sb) {
                for (std::size_t k = first; k < first + size; ++k) {
                  const double x = left.table[sa][a.codes[i * a.k_padded + k]];
                  const double* const y = packed.data() + (sb * a.k + k) * columns;
                  for (std::size_t j = 0; j < columns; ++j) sums[sa + sb][j] += x * y[j];
                }
              }
            }
            for (std::size_t j = 0; j < count; ++j) {
              const std::size_t column = first_column + j;
              const bool special = a_special[i * blocks + n] || b_special[column * blocks + n];
              Int128 exact = 0;
              for (std::size_t p = 0; p < powers; ++p) {
                exact += static_cast<Int128>(sums[p][j]) * (1 << slice_bits * static_cast<int>(p));
              }
              if (a.scheme == Scheme::mxfp8) {
                const unsigned sa = a.scales[i * blocks + n], sb = b.scales[column * blocks + n];
                const int exponent = static_cast<int>(sa + sb) - 2 * desc(Format::e8m0).bias;
                if (sa == 0xFF || sb == 0xFF) {
                  total[j] = std::numeric_limits<float>::quiet_NaN();
                } else {
                  total[j] +=
                      special ? special_sum(a, i, b, column, first, size) : fixed_to_fp32(exact, unit + exponent);
                }
              } else {
                const float sum = special ? special_sum(a, i, b, column, first, size) : fixed_to_fp32(exact, unit);
                total[j] += epilogue(sum, epilogue_scales(a.fp32_scale(i, first), b.fp32_scale(column, first)));
              }
            }
          }
          for (std::size_t j = 0; j < count; ++j) {
            out[i * b.rows + first_column + j] =
                std::isnan(total[j]) ? std::numeric_limits<float>::quiet_NaN() : total[j];
          }
        }
      },
      progress);
}

}  // namespace narrowgauge::detail
