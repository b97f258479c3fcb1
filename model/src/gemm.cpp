// SPDX-License-Identifier: Apache-2.0
// How: both operands are decoded to integers (or powers of two) in panels of register tiles, and the kernels run over
// chunks of k that fit the caches. Exactness, in each case by a bound on the partial sums:
//   nvfp4  int16 within a block (|dot| <= 16 * 144), double over nvfp4_flush_blocks blocks, int64 over all: a term is
//   at most
//          2304 * (448 * 2^9)^2 < 1.2123e14 in units of 2^-20, and 2^16 blocks of that stay below 2^63.
//   fp8    elements are cut into slices of at most 229376 (E4M3 in units of 2^-9: one slice) or 114688 (E5M2 in units
//   of 2^-16:
//          one below 2^17, one of multiples of 2^15). Double sums of 2^17 products, or pairs of products for the two
//          mixed terms of E5M2, stay below 2^53; beyond, int128.
#include "narrowgauge/mac/gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "gemm_blocked.hpp"
#include "kernels.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace narrowgauge {
namespace {

using detail::kernels, detail::tile_columns, detail::tile_rows, detail::tile_size;

constexpr float nan_result = std::numeric_limits<float>::quiet_NaN();  // 0x7FC00000
constexpr std::size_t fp8_chunk = 256;  // k of a panel that stays in the first-level cache
constexpr std::size_t fp8_exact_k = std::size_t{1} << 17;
constexpr int slice_bits = 15;
static_assert(2304.0 * 229376 * 229376 * detail::nvfp4_flush_blocks < 0x1p53);
static_assert(2304.0 * 229376 * 229376 * (nvfp4_max_k / 16) < 0x1p63);
static_assert(229376.0 * 229376 * fp8_exact_k < 0x1p53 && fp8_exact_k % fp8_chunk == 0);

__extension__ using Int128 = __int128;

std::size_t ceil_div(std::size_t x, std::size_t y) { return (x + y - 1) / y; }

/// Rows x columns of the result cut into jobs: large enough to reuse packed panels, small enough to keep all threads
/// busy.
struct Jobs {
  Jobs(std::size_t m, std::size_t n, unsigned threads)
      : m(m), n(n), columns(8 * tile_columns), across(ceil_div(n, columns)) {
    const std::size_t wanted = ceil_div(4 * detail::thread_count(threads), across);
    rows = std::clamp(ceil_div(ceil_div(m, wanted), tile_rows) * tile_rows, tile_rows, 16 * tile_rows);
  }
  std::size_t count() const { return across * ceil_div(m, rows); }

  std::size_t m, n, rows = 0, columns, across;
};

/// One job's rectangle.
struct Patch {
  Patch(const Jobs& jobs, std::size_t job)
      : row(job / jobs.across * jobs.rows),
        column(job % jobs.across * jobs.columns),
        rows(std::min(jobs.rows, jobs.m - row)),
        columns(std::min(jobs.columns, jobs.n - column)),
        tiles_down(ceil_div(rows, tile_rows)),
        tiles_across(ceil_div(columns, tile_columns)) {}
  /// Calls f(row, column, index into tiles of results) for every result of the rectangle.
  template <class F>
  void each(const F& f) const {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        const std::size_t tile = j / tile_columns * tiles_down + i / tile_rows;
        f(row + i, column + j, tile * tile_size + i % tile_rows * tile_columns + j % tile_columns);
      }
    }
  }

  std::size_t row, column, rows, columns, tiles_down, tiles_across;
};

/// Codes of vectors first ... first + Width - 1, positions k ... k + count - 1, through a table, to
/// out[position][vector]; vectors beyond the last are zero.
template <std::size_t Width, class T>
void pack(const std::vector<std::uint8_t>& codes, std::size_t vectors, std::size_t pitch, std::size_t first,
          std::size_t k, std::size_t count, const std::array<T, 256>& table, T* out) {
  for (std::size_t v = 0; v < Width; ++v) {
    if (first + v < vectors) {
      const std::uint8_t* from = codes.data() + (first + v) * pitch + k;
      for (std::size_t i = 0; i < count; ++i) out[i * Width + v] = table[from[i]];
    } else {
      for (std::size_t i = 0; i < count; ++i) out[i * Width + v] = 0;
    }
  }
}

template <class T, class F>
std::array<T, 256> table_of(const F& f) {
  std::array<T, 256> table;
  for (unsigned code = 0; code < 256; ++code) table[code] = static_cast<T>(f(code));
  return table;
}

/// Which vectors hold a NaN block scale.
std::vector<bool> nan_vectors(const QuantizedMatrix& q, const FormatDesc& scale) {
  std::vector<bool> found(q.rows);
  for (std::size_t i = 0; i < q.scales.size(); ++i) {
    if (scale.is_nan(q.scales[i])) found[i / q.blocks()] = true;
  }
  return found;
}

/// Acc: int64 for nvfp4, float for mxfp4. `finish` turns one accumulator into FP32.
template <class Acc, class Kernel, class Finish>
void fp4_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, Format scale_format, double scale_unit,
              const Kernel& kernel, const Finish& finish, unsigned threads, const Progress& progress, float* out) {
  const FormatDesc& scale = desc(scale_format);
  const auto element = table_of<std::int16_t>([](unsigned code) { return decode(Format::e2m1, code) * 2; });
  const auto scales =
      table_of<double>([&](unsigned code) { return scale.is_nan(code) ? 0 : decode(scale, code) * scale_unit; });
  const std::vector<bool> a_nan = nan_vectors(a, scale), b_nan = nan_vectors(b, scale);
  const std::size_t block = block_size(a.scheme), k = a.k_padded, blocks = a.blocks();
  const std::size_t chunk = detail::nvfp4_flush_blocks * 16 / block;

  const std::size_t panels = ceil_div(b.rows, tile_columns);
  std::vector<std::int16_t> b_codes(panels * k * tile_columns);
  std::vector<double> b_scales(panels * blocks * tile_columns);
  detail::parallel_for(panels, threads, [&](std::size_t p) {
    pack<tile_columns>(b.codes, b.rows, k, p * tile_columns, 0, k, element, b_codes.data() + p * k * tile_columns);
    pack<tile_columns>(b.scales, b.rows, blocks, p * tile_columns, 0, blocks, scales,
                       b_scales.data() + p * blocks * tile_columns);
  });

  const Jobs jobs(a.rows, b.rows, threads);
  detail::parallel_for(
      jobs.count(), threads,
      [&](std::size_t job) {
        const Patch patch(jobs, job);
        std::vector<Acc> acc(patch.tiles_down * patch.tiles_across * tile_size);
        std::vector<std::int16_t> a_codes(patch.tiles_down * chunk * block * tile_rows);
        std::vector<double> a_scales(patch.tiles_down * chunk * tile_rows);
        for (std::size_t first = 0; first < blocks; first += chunk) {
          detail::breathe();
          const std::size_t count = std::min(chunk, blocks - first);
          for (std::size_t i = 0; i < patch.tiles_down; ++i) {
            const std::size_t row = patch.row + i * tile_rows;
            pack<tile_rows>(a.codes, a.rows, k, row, first * block, count * block, element,
                            a_codes.data() + i * chunk * block * tile_rows);
            pack<tile_rows>(a.scales, a.rows, blocks, row, first, count, scales,
                            a_scales.data() + i * chunk * tile_rows);
          }
          for (std::size_t j = 0; j < patch.tiles_across; ++j) {
            const std::size_t panel = patch.column / tile_columns + j;
            for (std::size_t i = 0; i < patch.tiles_down; ++i) {
              kernel(a_codes.data() + i * chunk * block * tile_rows, a_scales.data() + i * chunk * tile_rows,
                     b_codes.data() + (panel * k + first * block) * tile_columns,
                     b_scales.data() + (panel * blocks + first) * tile_columns, count,
                     acc.data() + (j * patch.tiles_down + i) * tile_size);
            }
          }
        }
        patch.each([&](std::size_t i, std::size_t j, std::size_t at) {
          out[i * b.rows + j] = a_nan[i] || b_nan[j] ? nan_result : finish(acc[at]);
        });
      },
      progress);
}

/// An FP8 format cut into integer slices: value = sum over s of slice[s] * 2^(slice_bits s + unit).
struct Slices {
  explicit Slices(const FormatDesc& f) : unit(f.min_exp() - f.man_bits), count(f.exp_bits > 4 ? 2 : 1) {
    for (int s = 0; s < count; ++s) {
      table[s] = table_of<float>([&](unsigned code) {
        if (f.is_nan(code) || f.is_inf(code)) return 0.0;
        const double integer = std::ldexp(decode(f, code), -unit);
        const bool high = count == 2 && std::abs(integer) >= 0x1p17;  // then it is a multiple of 2^15
        return high == (s == 1) ? std::ldexp(integer, -slice_bits * s) : 0.0;
      });
    }
  }
  int unit, count;
  std::array<std::array<float, 256>, 2> table{};
};

/// Positions of NaN and infinities in each vector.
std::vector<std::vector<std::size_t>> specials(const QuantizedMatrix& q) {
  const FormatDesc& f = desc(q.element);
  std::vector<std::vector<std::size_t>> found(q.rows);
  for (std::size_t row = 0; row < q.rows; ++row) {
    const std::uint8_t* codes = q.codes.data() + row * q.k_padded;
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < q.k; ++i) largest = std::max(largest, codes[i] & f.payload_mask());
    for (std::size_t i = 0; largest > f.max_code() && i < q.k; ++i) {
      if ((codes[i] & f.payload_mask()) > f.max_code()) found[row].push_back(i);
    }
  }
  return found;
}

/// The result of a sum in which NaN or infinities take part, at the given positions.
float special_sum(const QuantizedMatrix& a, std::size_t row, const std::vector<std::size_t>& a_at,
                  const QuantizedMatrix& b, std::size_t column, const std::vector<std::size_t>& b_at,
                  float finite_sum) {
  double sum = finite_sum;  // IEEE's own rules on doubles: infinity * 0 and infinity - infinity are NaN, a NaN stays
  for (const auto* positions : {&a_at, &b_at}) {
    for (const std::size_t k : *positions) {
      sum += decode(a.element, a.codes[row * a.k_padded + k]) * decode(b.element, b.codes[column * b.k_padded + k]);
    }
  }
  return std::isnan(sum) ? nan_result : static_cast<float>(sum);
}

void fp8_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads, const Progress& progress,
              float* out) {
  const Slices a_slices(desc(a.element)), b_slices(desc(b.element));
  const std::size_t k = a.k, panels = ceil_div(b.rows, tile_columns);
  const int powers = a_slices.count + b_slices.count - 1;  // of 2^slice_bits in the products
  const int unit = a_slices.unit + b_slices.unit;
  const auto a_specials = specials(a), b_specials = specials(b);
  std::array<std::array<double, 256>, 2> a_tables;
  for (int s = 0; s < 2; ++s) std::copy(a_slices.table[s].begin(), a_slices.table[s].end(), a_tables[s].begin());

  std::vector<float> b_codes(b_slices.count * panels * k * tile_columns);
  const auto b_panel = [&](int s, std::size_t p) { return b_codes.data() + (s * panels + p) * k * tile_columns; };
  detail::parallel_for(panels, threads, [&](std::size_t p) {
    for (int s = 0; s < b_slices.count; ++s) {
      pack<tile_columns>(b.codes, b.rows, b.k_padded, p * tile_columns, 0, k, b_slices.table[s], b_panel(s, p));
    }
  });

  const Jobs jobs(a.rows, b.rows, threads);
  detail::parallel_for(
      jobs.count(), threads,
      [&](std::size_t job) {
        const Patch patch(jobs, job);
        const std::size_t size = patch.tiles_down * patch.tiles_across * tile_size;
        std::vector<double> acc(powers * size);
        std::vector<Int128> wide(k > fp8_exact_k ? size : 0);
        std::vector<double> a_codes(a_slices.count * patch.tiles_down * fp8_chunk * tile_rows);
        const auto a_panel = [&](int s, std::size_t i) {
          return a_codes.data() + (s * patch.tiles_down + i) * fp8_chunk * tile_rows;
        };
        const auto total = [&](std::size_t at) {
          Int128 sum = 0;
          for (int p = 0; p < powers; ++p) sum += static_cast<Int128>(acc[p * size + at]) * (1 << slice_bits * p);
          return sum;
        };
        for (std::size_t first = 0; first < k; first += fp8_chunk) {
          detail::breathe();
          const std::size_t count = std::min(fp8_chunk, k - first);
          for (int s = 0; s < a_slices.count; ++s) {
            for (std::size_t i = 0; i < patch.tiles_down; ++i) {
              pack<tile_rows>(a.codes, a.rows, a.k_padded, patch.row + i * tile_rows, first, count, a_tables[s],
                              a_panel(s, i));
            }
          }
          for (std::size_t j = 0; j < patch.tiles_across; ++j) {
            for (int sb = 0; sb < b_slices.count; ++sb) {
              const float* right = b_panel(sb, patch.column / tile_columns + j) + first * tile_columns;
              for (std::size_t i = 0; i < patch.tiles_down; ++i) {
                for (int sa = 0; sa < a_slices.count; ++sa) {
                  kernels().fp8(a_panel(sa, i), right, count,
                                acc.data() + (sa + sb) * size + (j * patch.tiles_down + i) * tile_size);
                }
              }
            }
          }
          if (!wide.empty() && ((first + count) % fp8_exact_k == 0 || first + count == k)) {
            for (std::size_t at = 0; at < size; ++at) wide[at] += total(at);
            std::fill(acc.begin(), acc.end(), 0.0);
          }
        }
        patch.each([&](std::size_t i, std::size_t j, std::size_t at) {
          const auto rounded = static_cast<float>(wide.empty() ? total(at) : wide[at]);
          const float sum = std::ldexp(rounded, unit);  // exact: far from subnormal
          const bool special = !a_specials[i].empty() || !b_specials[j].empty();
          out[i * b.rows + j] = special ? special_sum(a, i, a_specials[i], b, j, b_specials[j], sum) : sum;
        });
      },
      progress);
}

}  // namespace

float epilogue(float sum, float alpha) {
  const float scaled = sum * alpha;
  return std::isnan(scaled) ? nan_result : scaled;
}

float epilogue(float sum, const EpilogueScales& scales) { return epilogue(epilogue(sum, scales.first), scales.second); }

void check_contraction(Scheme scheme, std::size_t k) {
  if (scheme == Scheme::nvfp4 && k > nvfp4_max_k) {
    throw Error("the contraction of an nvfp4 product has length " + std::to_string(k) + ": expected at most " +
                std::to_string(nvfp4_max_k) + "; split it and add the parts");
  }
}

void check_product(const QuantizedMatrix& a, const QuantizedMatrix& b) {
  check(a, "the left operand");
  check(b, "the right operand");
  if (a.scheme != b.scheme) throw Error("the operands of the product differ in scheme: quantize both by the same one");
  if (a.k != b.k) {
    throw Error("the operands' contractions differ: the left has vectors of " + std::to_string(a.k) +
                ", the right of " + std::to_string(b.k) + "; the columns of A must be as many as the rows of B");
  }
  check_contraction(a.scheme, a.k);
}

std::vector<float> gemm_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads,
                             const Progress& progress) {
  check_product(a, b);
  std::vector<float> sums(a.rows * b.rows);
  switch (a.scheme) {
    case Scheme::nvfp4:
      fp4_sums<std::int64_t>(
          a, b, Format::ue4m3, 0x1p9, kernels().nvfp4,
          [](std::int64_t sum) { return std::ldexp(static_cast<float>(sum), -20); }, threads, progress, sums.data());
      break;
    case Scheme::mxfp4:  // elements are doubled on decoding, so each scale is halved
      fp4_sums<float>(
          a, b, Format::e8m0, 0x1p-1, kernels().mxfp4, [](float sum) { return std::isnan(sum) ? nan_result : sum; },
          threads, progress, sums.data());
      break;
    case Scheme::fp8:
      if (has_blocked_scales(a, b)) {
        detail::blocked_sums(a, b, threads, progress, sums.data());
      } else {
        fp8_sums(a, b, threads, progress, sums.data());
      }
      break;
    case Scheme::mxfp8:
      detail::blocked_sums(a, b, threads, progress, sums.data());
      break;
  }
  return sums;
}

std::vector<float> gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads,
                        const Progress& progress) {
  std::vector<float> c = gemm_sums(a, b, threads, progress);
  if (has_blocked_scales(a, b)) return c;
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.rows; ++j) {
      float& x = c[i * b.rows + j];
      x = epilogue(x, epilogue_scales(a.fp32_scale(i, 0), b.fp32_scale(j, 0)));
    }
  }
  return c;
}

}  // namespace narrowgauge
