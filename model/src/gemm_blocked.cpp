// SPDX-License-Identifier: Apache-2.0
// How: operands in windows (windows.hpp), and per block of the contraction the products of windows in int32, exactly.
//   MX     blocks of 32, integers below 2^13: 32 products stay below 2^31.
//   fp8    blocks of 128, integers up to 3840: 128 products stay below 2^31.
// Nearly all elements lie in the two topmost windows, and the sums over these, `step` bits apart, are one integer below
// 2^53: a double, rounded once to FP32. Scales of MX are powers of two, which change no bit of that double. A block of
// a tile with lower windows adds in int128.
#include "gemm_blocked.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gemm_parts.hpp"
#include "kernels.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/fixed_to_fp32.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge::detail {
namespace {

__extension__ using Int128 = __int128;

constexpr std::size_t mx_block = block_size(Scheme::mxfp8);  // of all MX formats
static_assert(mx_block * 8191LL * 8191 <= INT32_MAX && fp32_block * 3840LL * 3840 <= INT32_MAX);
static_assert(fp8_chunk % fp32_block == 0 && fp32_block == 2 * part_pairs && fp32_block % mx_block == 0);

/// The pairs of a block of `block` elements, block `n` of its chunk, that are not zero; in place.
std::uint64_t pairs_of(const WindowPanel& panel, std::size_t n, std::size_t block) {
  const std::size_t first = n * block / 2;
  const std::uint64_t part = panel.parts[first / part_pairs].pairs;
  return block == fp32_block ? part : part >> first % part_pairs & ((std::uint64_t{1} << mx_block / 2) - 1);
}

/// fixed_to_fp32(sum, lsb_exp) with one conversion wherever the result is normal.
float rounded(Int128 sum, int lsb_exp) {
  const auto small = static_cast<std::int64_t>(sum);
  const float value = small == sum ? static_cast<float>(small) : static_cast<float>(sum);
  if (value == 0) return value;
  const int exponent = static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 23 & 0xFF) + lsb_exp;
  if (exponent < 1 || exponent > 254) return fixed_to_fp32(sum, lsb_exp);
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) & 0x807FFFFF) | static_cast<std::uint32_t>(exponent)
                                                                                       << 23);
}

/// One product, as it is asked for.
struct Product {
  const QuantizedMatrix &a, &b;
  const Contents &in_a, &in_b;
  std::size_t block;
  bool mx;

  /// The term of block `n`, of its exact sum or of NaN or infinity.
  float term(std::size_t i, std::size_t j, std::size_t n, float special, Int128 sum, int unit, bool is_special) const {
    if (mx) {
      const int exponent = a.scales[i * a.blocks() + n] + b.scales[j * b.blocks() + n] - 2 * desc(Format::e8m0).bias;
      return is_special ? special : rounded(sum, unit + exponent);
    }
    return epilogue(is_special ? special : rounded(sum, unit),
                    epilogue_scales(a.fp32_scale(i, n * block), b.fp32_scale(j, n * block)));
  }

  /// A sum with NaN or infinities in it, without NaN block scales: element by element.
  float slow_sum(std::size_t i, std::size_t j) const {
    const FormatDesc &fa = desc(a.element), &fb = desc(b.element);
    const int unit_a = fa.min_exp() - fa.man_bits, unit_b = fb.min_exp() - fb.man_bits;
    float total = 0;
    for (std::size_t first = 0; first < a.k; first += block) {
      Int128 sum = 0;
      double special = 0;
      bool is_special = false;
      for (std::size_t k = first; k < std::min(first + block, a.k); ++k) {
        const double x = decode(fa, a.codes[i * a.k_padded + k]), y = decode(fb, b.codes[j * b.k_padded + k]);
        special += x * y;
        if (!std::isfinite(x) || !std::isfinite(y)) {
          is_special = true;
        } else {
          sum += static_cast<Int128>(std::ldexp(x, -unit_a)) * static_cast<Int128>(std::ldexp(y, -unit_b));
        }
      }
      total += term(i, j, first / block, static_cast<float>(special), sum, unit_a + unit_b, is_special);
    }
    return std::isnan(total) ? nan_result : total;
  }

  /// The same where the total without the blocks' NaN and infinities is finite: then nothing overflowed, and only these
  /// blocks count.
  float special_sum(std::size_t i, std::size_t j) const {
    const auto &x = in_a.specials[i], &y = in_b.specials[j];
    float total = 0;
    for (std::size_t at_x = 0, at_y = 0; at_x < x.size() || at_y < y.size();) {
      const std::size_t next = std::min(at_x < x.size() ? x[at_x] : a.k, at_y < y.size() ? y[at_y] : a.k);
      const std::size_t n = next / block;
      double sum = 0;
      const auto add = [&](const std::vector<std::size_t>& positions, std::size_t& at) {
        for (; at < positions.size() && positions[at] / block == n; ++at) {
          const std::size_t k = positions[at];
          sum += decode(a.element, a.codes[i * a.k_padded + k]) * decode(b.element, b.codes[j * b.k_padded + k]);
        }
      };
      add(x, at_x);
      add(y, at_y);
      total += term(i, j, n, static_cast<float>(sum), 0, 0, true);
    }
    return std::isnan(total) ? nan_result : total;
  }
};

/// A block of a tile whose elements lie in any windows; its columns and rows are `first_row`, `first_column` and on.
void add_wide_block(const Product& product, const WindowPanel* x, const Windows& left, const WindowPanel* y,
                    const Windows& right, std::size_t n_in_chunk, std::size_t n, std::size_t first_row,
                    std::size_t first_column, float* total) {
  std::array<std::array<std::int64_t, tile_size>, 2 * max_windows - 1> acc{};
  for (int w = 0; w < left.count; ++w) {
    for (int v = 0; v < right.count; ++v) {
      std::array<std::uint8_t, part_pairs> list;
      std::size_t count = 0;
      const std::size_t start = n_in_chunk * product.block / 2 / part_pairs * part_pairs,
                        shift = n_in_chunk * product.block / 2 % part_pairs;
      for (std::uint64_t pairs = pairs_of(x[w], n_in_chunk, product.block) & pairs_of(y[v], n_in_chunk, product.block);
           pairs != 0; pairs &= pairs - 1) {
        list[count++] = static_cast<std::uint8_t>(start + shift + static_cast<std::size_t>(std::countr_zero(pairs)));
      }
      if (count != 0) kernels().fp8(x[w].values, y[v].values, list.data(), count, tile_rows, acc[w + v].data());
    }
  }
  const std::size_t rows = std::min(tile_rows, product.a.rows - first_row),
                    columns = std::min(tile_columns, product.b.rows - first_column);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      Int128 sum = 0;
      for (int p = left.count + right.count - 2; p >= 0; --p) {
        sum = sum * (1 << left.step) + acc[p][i * tile_columns + j];
      }
      total[i * tile_columns + j] +=
          product.term(first_row + i, first_column + j, n, 0, sum, left.unit + right.unit, false);
    }
  }
}

}  // namespace

WindowSizes blocked_windows(Scheme scheme) { return is_mx(scheme) ? wide_windows : narrow_windows; }

std::size_t blocked_length(Scheme scheme) { return is_mx(scheme) ? mx_block : fp32_block; }

void blocked_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, const RightWindows& unpacked, unsigned threads,
                  const Progress& progress, float* out) {
  const bool mx = is_mx(a.scheme);
  const std::size_t block = unpacked.block, k = a.k, chunks = ceil_div(k, fp8_chunk), chunk_blocks = fp8_chunk / block;
  const Contents in_a(a);
  const Product product{.a = a, .b = b, .in_a = in_a, .in_b = unpacked.contents, .block = block, .mx = mx};
  const Windows left = Windows::of(a, in_a, blocked_windows(a.scheme));
  const Windows& right = unpacked.windows;
  const auto special = [](const std::vector<std::size_t>& positions) { return !positions.empty(); };
  const bool any_special =
      std::ranges::any_of(in_a.specials, special) || std::ranges::any_of(unpacked.contents.specials, special);
  std::vector<bool> a_nan(a.rows), b_nan(b.rows);
  if (mx) a_nan = nan_vectors(a, desc(Format::e8m0)), b_nan = nan_vectors(b, desc(Format::e8m0));
  const bool any_nan = std::ranges::count(a_nan, true) + std::ranges::count(b_nan, true) != 0;
  const float unit = std::ldexp(1.0F, left.top() + right.top());
  const double lower = std::ldexp(1.0, -left.step);

  const auto& b_scales = unpacked.scales;
  const Jobs jobs(a.rows, b.rows, threads);
  const auto run = [&](std::size_t job) {
    const Patch patch(jobs, job);
    std::vector<float> totals(patch.tiles_down * patch.tiles_across * tile_size);
    WindowPanels<tile_rows> a_panels(left, patch.tiles_down, std::min(fp8_chunk, k));
    std::vector<BlockScales<tile_rows>> a_scales(patch.tiles_down);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      breathe();
      const std::size_t first = chunk * fp8_chunk, count = std::min(fp8_chunk, k - first),
                        here = ceil_div(count, block);
      for (std::size_t i = 0; i < patch.tiles_down; ++i) {
        a_panels.pack(a, i, 0, patch.row + i * tile_rows, first, count);
        a_scales[i].fill(a, left.top(), block, patch.row + i * tile_rows, chunk * chunk_blocks, here);
      }
      for (std::size_t j = 0; j < patch.tiles_across; ++j) {
        const std::size_t panel = patch.column / tile_columns + j;
        const WindowPanel* const y = unpacked.panels.at(panel, chunk);
        for (std::size_t i = 0; i < patch.tiles_down; ++i) {
          const WindowPanel* const x = a_panels.at(i, 0);
          const std::size_t rows = std::min(tile_rows, patch.rows - i * tile_rows);
          float* const total = totals.data() + (j * patch.tiles_down + i) * tile_size;
          for (std::size_t n = 0; n < here; ++n) {
            bool deep = false;
            for (int w = 0; w + 2 < left.count; ++w) deep |= pairs_of(x[w], n, block) != 0;
            for (int v = 0; v + 2 < right.count; ++v) deep |= pairs_of(y[v], n, block) != 0;
            if (deep) {
              add_wide_block(product, x, left, y, right, n, chunk * chunk_blocks + n, patch.row + i * tile_rows,
                             panel * tile_columns, total);
              continue;
            }
            const std::size_t pair = n * block / 2;
            const auto block_of = [&]<std::size_t Width>(const WindowPanel* windows, int windows_count,
                                                         std::integral_constant<std::size_t, Width>) {
              const WindowPanel& top = windows[windows_count - 1];
              const WindowPanel* const next = windows_count > 1 ? windows + windows_count - 2 : nullptr;
              return WindowBlock{.top = top.values + pair * 2 * Width,
                                 .next = next ? next->values + pair * 2 * Width : nullptr,
                                 .top_pairs = pairs_of(top, n, block),
                                 .next_pairs = next ? pairs_of(*next, n, block) : 0};
            };
            const WindowBlock p = block_of(x, left.count, std::integral_constant<std::size_t, tile_rows>{}),
                              q = block_of(y, right.count, std::integral_constant<std::size_t, tile_columns>{});
            if (mx) {
              kernels().mxfp8_block(p, q, lower, a_scales[i].powers[n].data(),
                                    b_scales[panel].powers[chunk * chunk_blocks + n].data(), rows, total);
            } else {
              kernels().fp8_block(p, q, lower, unit, a_scales[i].factors[n].data(),
                                  b_scales[panel].factors[chunk * chunk_blocks + n].data(), rows, total);
            }
          }
        }
      }
    }
    patch.each_row([&](std::size_t i, std::size_t j, std::size_t here, std::size_t at) {
      float* const to = out + i * b.rows + j;
      for (std::size_t n = 0; n < here; ++n) to[n] = std::isnan(totals[at + n]) ? nan_result : totals[at + n];
      if (!any_nan && !any_special) return;
      for (std::size_t n = 0; n < here; ++n) {
        if (a_nan[i] || b_nan[j + n]) {
          to[n] = nan_result;
        } else if (special(in_a.specials[i]) || special(unpacked.contents.specials[j + n])) {
          to[n] = std::isfinite(to[n]) ? product.special_sum(i, j + n) : product.slow_sum(i, j + n);
        }
      }
    });
  };
  parallel_for(jobs.count(), threads, run, progress);
}

}  // namespace narrowgauge::detail
