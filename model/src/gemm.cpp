// SPDX-License-Identifier: Apache-2.0
// How: both operands are decoded to integers (or powers of two) in panels of register tiles, and the kernels run over
// chunks of k that fit the caches. Exactness, in each case by a bound on the partial sums:
//   nvfp4  int16 within a block (|dot| <= 16 * 144); over a chunk of 64 blocks int32 where the scales at hand, without
//          the factors of two that they share, keep the sum there, and double otherwise; int64 over all: a term is at
//          most 2304 * (448 * 2^9)^2 < 1.2123e14 in units of 2^-20, and 2^16 blocks of that stay below 2^63.
//   fp8    every element lies in one of up to three windows, 10 bits apart, as an integer below 2^13 in its window's
//          unit: nearly all of what was quantized in the topmost. The product of each window of A with each of B is
//          summed in int32 as long as the elements there keep it below 2^31 (32 products always do), in int64 over all;
//          pairs of k that are zero in a window of a tile's rows or columns are left out. The sums of the windows,
//          2^10 apart, are added in int128.
//   luq    as fp8: one window holds all numbers.
#include "narrowgauge/mac/gemm.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "gemm_blocked.hpp"
#include "gemm_parts.hpp"
#include "kernels.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/right_operand.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "windows.hpp"

namespace narrowgauge {
namespace {

using detail::ceil_div, detail::Contents, detail::fp4_chunk, detail::fp8_chunk, detail::Jobs, detail::kernels,
    detail::nan_result, detail::nan_vectors, detail::Patch, detail::RightWindows, detail::scale_table,
    detail::tile_columns, detail::tile_rows, detail::tile_size, detail::window_step, detail::WindowPanel,
    detail::WindowPanels, detail::Windows;

constexpr int window_bits = detail::wide_windows.bits;
constexpr std::size_t safe_pairs = 16;  // of any elements below 2^window_bits
static_assert(2 * safe_pairs * ((1 << window_bits) - 1LL) * ((1 << window_bits) - 1LL) <= INT32_MAX);
constexpr std::int64_t largest_dot = 2304;  // of 16 elements, each twice its value: 16 * 12 * 12
static_assert(largest_dot * 229376.0 * 229376 * (fp4_chunk / 16) < 0x1p53);
static_assert(largest_dot * 229376.0 * 229376 * (nvfp4_max_k / 16) < 0x1p63);

__extension__ using Int128 = __int128;

/// epilogue(), in loops: a function that a shared library may replace is not inlined.
inline float scaled(float sum, float alpha) {
  const float product = sum * alpha;
  return std::isnan(product) ? nan_result : product;
}

/// What bounds the sums of a chunk of a panel of nvfp4: of scales in units of 2^(shift - 9).
struct Fp4Range {
  int shift = 0;
  std::int64_t largest = 0, sum = 0;  ///< the sum of any one vector
};

/// Panels of Width vectors each of an FP4 operand, a chunk of k each in all its panels one after the other.
template <std::size_t Width>
class Fp4Panels {
 public:
  static constexpr bool columns = Width == tile_columns;
  static constexpr std::size_t pairs = fp4_chunk / 32;  ///< of blocks of 16, in a chunk
  using Code = std::conditional_t<columns, std::int8_t, std::uint8_t>;

  Fp4Panels(const QuantizedMatrix& q, std::size_t panels, std::size_t k) {
    const std::size_t all = panels * ceil_div(k, 32) * Width;
    codes_.resize(all * 32);
    if (columns) offsets_.resize(all * 2);
    if (q.scheme == Scheme::nvfp4) {
      scales_.resize(all * 2);
      short_scales_.resize(all * 2);
      ranges_.resize(panels * ceil_div(k, fp4_chunk));
    } else {
      powers_.resize(all);
    }
  }

  /// Fills `count` positions from `k` of vectors first ... first + Width - 1, after `before` pairs of blocks and as
  /// chunk `chunk`. `table`: integers or powers of two of the codes of scales.
  template <class T>
  void pack(const QuantizedMatrix& q, std::size_t before, std::size_t chunk, std::size_t first, std::size_t k,
            std::size_t count, const std::array<T, 256>& table) {
    const std::size_t block = block_size(q.scheme), here = std::min(Width, q.rows - std::min(first, q.rows));
    for (std::size_t v = 0; v < here; ++v) {
      const std::uint8_t* const from = q.codes.data() + (first + v) * q.k_padded + k;
      if constexpr (columns) {
        kernels().fp4_pack_column(from, count, v, codes(before), offsets(before));
      } else {
        kernels().fp4_pack_row(from, count, v, codes(before));
      }
    }
    const auto scale = [&](std::size_t v, std::size_t n) {
      return table[q.scales[(first + v) * q.blocks() + k / block + n]];
    };
    if constexpr (std::is_floating_point_v<T>) {
      for (std::size_t v = 0; v < here; ++v) {
        for (std::size_t n = 0; n < count / block; ++n) powers_[(before + n) * Width + v] = scale(v, n);
      }
    } else {
      Fp4Range range;
      std::int32_t any = 0;
      for (std::size_t v = 0; v < here; ++v) {
        std::int64_t sum = 0;
        for (std::size_t n = 0; n < ceil_div(count, 32) * 2; ++n) {
          const std::int32_t x = n < count / block ? scale(v, n) : 0;
          scales_[((before + n / 2) * Width + v) * 2 + n % 2] = x;
          any |= x;
          range.largest = std::max<std::int64_t>(range.largest, x);
          sum += x;
        }
        range.sum = std::max(range.sum, sum);
      }
      if (any != 0) range.shift = std::countr_zero(static_cast<std::uint32_t>(any));
      range.largest >>= range.shift;
      range.sum >>= range.shift;
      const std::size_t from = before * Width * 2;
      for (std::size_t i = from; i < from + ceil_div(count, 32) * Width * 2; ++i) {
        short_scales_[i] = static_cast<std::int16_t>(scales_[i] >> range.shift);
      }
      ranges_[chunk] = range;
    }
  }

  /// After `before` pairs of blocks.
  Code* codes(std::size_t before) { return codes_.data() + before * Width * 32; }
  std::int32_t* offsets(std::size_t before) { return offsets_.data() + before * Width * 2; }
  const std::int32_t* scales(std::size_t before) const { return scales_.data() + before * Width * 2; }
  const std::int16_t* short_scales(std::size_t before) const { return short_scales_.data() + before * Width * 2; }
  const double* powers(std::size_t before) const { return powers_.data() + before * Width; }
  const Fp4Range& range(std::size_t chunk) const { return ranges_[chunk]; }

 private:
  std::vector<Code> codes_;
  std::vector<std::int32_t> offsets_, scales_;
  std::vector<std::int16_t> short_scales_;
  std::vector<double> powers_;
  std::vector<Fp4Range> ranges_;
};

/// A right operand of 4 bits.
struct Fp4Right {
  /// `table`: integers or powers of two of the codes of scales.
  template <class T>
  Fp4Right(const QuantizedMatrix& b, const std::array<T, 256>& table, unsigned threads)
      : panels(b, ceil_div(b.rows, tile_columns), b.k_padded), nan(nan_vectors(b, desc(scale_format(b.scheme)))) {
    using Panels = Fp4Panels<tile_columns>;
    const std::size_t k = b.k_padded, pairs = ceil_div(k, 32), chunks = ceil_div(k, fp4_chunk);
    detail::parallel_for(ceil_div(b.rows, tile_columns) * chunks, threads, [&](std::size_t i) {
      const std::size_t panel = i / chunks, chunk = i % chunks, first = chunk * fp4_chunk;
      panels.pack(b, panel * pairs + chunk * Panels::pairs, i, panel * tile_columns, first,
                  std::min(fp4_chunk, k - first), table);
    });
  }

  Fp4Panels<tile_columns> panels;
  std::vector<bool> nan;
};

/// Acc: int64 for nvfp4, float for mxfp4. `scales` are what the kernels take for codes of scales, `finish` turns a
/// tile's row of accumulators into FP32.
template <class Acc, class T, class Finish>
void fp4_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, Fp4Right& right, const std::array<T, 256>& scales,
              const Finish& finish, unsigned threads, const Progress& progress, float* out) {
  const std::vector<bool> a_nan = nan_vectors(a, desc(scale_format(a.scheme)));
  const std::vector<bool>& b_nan = right.nan;
  const bool any_nan = std::ranges::count(a_nan, true) + std::ranges::count(b_nan, true) != 0;
  const std::size_t k = a.k_padded, pairs = ceil_div(k, 32), chunks = ceil_div(k, fp4_chunk);
  using Left = Fp4Panels<tile_rows>;
  using Right = Fp4Panels<tile_columns>;
  Right& b_panels = right.panels;

  const Jobs jobs(a.rows, b.rows, threads);
  detail::parallel_for(
      jobs.count(), threads,
      [&](std::size_t job) {
        const Patch patch(jobs, job);
        std::vector<Acc> acc(patch.tiles_down * patch.tiles_across * tile_size);
        Left a_panels(a, patch.tiles_down, std::min(fp4_chunk, k));
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
          detail::breathe();
          const std::size_t first = chunk * fp4_chunk, count = std::min(fp4_chunk, k - first),
                            here = ceil_div(count, 32), pitch = std::min(pairs, Left::pairs);
          for (std::size_t i = 0; i < patch.tiles_down; ++i) {
            a_panels.pack(a, i * pitch, i, patch.row + i * tile_rows, first, count, scales);
          }
          for (std::size_t j = 0; j < patch.tiles_across; ++j) {
            const std::size_t panel = patch.column / tile_columns + j, y = panel * pairs + chunk * Right::pairs;
            for (std::size_t i = 0; i < patch.tiles_down; ++i) {
              const std::size_t x = i * pitch;
              Acc* const to = acc.data() + (j * patch.tiles_down + i) * tile_size;
              if constexpr (std::is_floating_point_v<T>) {
                kernels().mxfp4(a_panels.codes(x), a_panels.powers(x), b_panels.codes(y), b_panels.offsets(y),
                                b_panels.powers(y), here, to);
              } else {
                const Fp4Range &p = a_panels.range(i), &q = b_panels.range(panel * chunks + chunk);
                const std::int64_t bound = std::min(p.sum * q.largest, p.largest * q.sum);
                if (p.largest * q.largest <= INT16_MAX && largest_dot * bound <= INT32_MAX) {
                  kernels().nvfp4(a_panels.codes(x), a_panels.short_scales(x), b_panels.codes(y), b_panels.offsets(y),
                                  b_panels.short_scales(y), here, p.shift + q.shift, to);
                } else {
                  kernels().nvfp4_wide(a_panels.codes(x), a_panels.scales(x), b_panels.codes(y), b_panels.offsets(y),
                                       b_panels.scales(y), here, to);
                }
              }
            }
          }
        }
        patch.each_row([&](std::size_t i, std::size_t j, std::size_t here, std::size_t at) {
          std::array<float, tile_columns> sums;
          finish(acc.data() + at, sums.data());
          for (std::size_t n = 0; any_nan && n < here; ++n) {
            if (a_nan[i] || b_nan[j + n]) sums[n] = nan_result;
          }
          std::copy_n(sums.data(), here, out + i * b.rows + j);
        });
      },
      progress);
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

/// acc += the product of two panels: over the pairs of k that are not zero in either, of the first `rows` rows.
void add_product(const WindowPanel& a, const WindowPanel& b, std::size_t rows, std::int64_t* acc) {
  constexpr std::size_t parts = std::tuple_size_v<decltype(a.parts)>;
  bool as_a = true, as_b = true;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::uint64_t both = a.parts[i].pairs & b.parts[i].pairs;
    as_a &= both == a.parts[i].pairs;
    as_b &= both == b.parts[i].pairs;
  }
  std::array<std::uint8_t, fp8_chunk / 2> of_both;
  if (!as_a && !as_b) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      for (std::uint64_t left = a.parts[i].pairs & b.parts[i].pairs; left != 0; left &= left - 1) {
        of_both[found++] = static_cast<std::uint8_t>(i * detail::part_pairs + std::countr_zero(left));
      }
    }
  }
  const std::uint8_t* pairs = as_b ? b.pairs.data() : as_a ? a.pairs.data() : of_both.data();
  std::size_t count = 0;  // of pairs whose partial sums stay below `bound`
  std::int64_t bound = 0;
  const auto flush = [&] {
    if (count != 0) kernels().fp8(a.values, b.values, pairs, count, rows, acc);
    pairs += count;
    count = 0, bound = 0;
  };
  for (std::size_t i = 0; i < parts; ++i) {
    const detail::WindowPart &x = a.parts[i], &y = b.parts[i];
    const std::int64_t most = std::min(x.sum * y.largest, x.largest * y.sum);
    if (bound + most > INT32_MAX) flush();
    bound += most;
    for (std::size_t left = std::popcount(x.pairs & y.pairs); left != 0;) {
      const std::size_t now = most > INT32_MAX ? std::min(safe_pairs, left) : left;
      count += now;
      left -= now;
      if (most > INT32_MAX) flush();
    }
  }
  flush();
}

/// What the kernels' finish() does, of any sums.
void finish_wide(const std::int64_t* acc, std::size_t pitch, int powers, float unit, float* out) {
  for (std::size_t i = 0; i < tile_columns; ++i) {
    Int128 sum = 0;
    for (int p = powers - 1; p >= 0; --p) sum = sum * (1 << window_step) + acc[static_cast<std::size_t>(p) * pitch + i];
    out[i] = static_cast<float>(sum) * unit;
  }
}

/// The exact sums of FP8 operands, and of LUQ's.
void fp8_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, const RightWindows& unpacked, unsigned threads,
              const Progress& progress, float* out) {
  const Contents in_a(a);
  const Contents& in_b = unpacked.contents;
  const Windows left = Windows::of(a, in_a, detail::wide_windows);
  const Windows& right = unpacked.windows;
  const auto& b_panels = unpacked.panels;
  const std::size_t k = a.k, chunks = ceil_div(k, fp8_chunk);
  const int powers = left.count + right.count - 1;  // of 2^window_step in the products
  const int unit = left.unit + right.unit;
  const float least = std::ldexp(1.0F, unit);
  const int powers_at_once = powers > 3 ? powers - 2 : powers;  // as finish() takes them
  const double largest = static_cast<double>(k) * std::ldexp(1.0, 2 * window_bits + window_step * (powers_at_once - 1));
  const auto finish = largest < 0x1p62 ? kernels().finish : finish_wide;
  const auto &a_specials = in_a.specials, &b_specials = in_b.specials;
  const auto special = [](const std::vector<std::size_t>& positions) { return !positions.empty(); };
  const bool any_special = std::ranges::any_of(a_specials, special) || std::ranges::any_of(b_specials, special);

  const Jobs jobs(a.rows, b.rows, threads);
  detail::parallel_for(
      jobs.count(), threads,
      [&](std::size_t job) {
        const Patch patch(jobs, job);
        const std::size_t size = patch.tiles_down * patch.tiles_across * tile_size;
        std::vector<std::int64_t> acc(powers * size);
        WindowPanels<tile_rows> a_panels(left, patch.tiles_down, std::min(fp8_chunk, k));
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
          detail::breathe();
          const std::size_t first = chunk * fp8_chunk, count = std::min(fp8_chunk, k - first);
          for (std::size_t i = 0; i < patch.tiles_down; ++i) {
            a_panels.pack(a, i, 0, patch.row + i * tile_rows, first, count);
          }
          for (std::size_t j = 0; j < patch.tiles_across; ++j) {
            const std::size_t panel = patch.column / tile_columns + j;
            const WindowPanel* const next = j + 1 < patch.tiles_across ? b_panels.at(panel + 1, chunk) : nullptr;
            for (int v = 0; v < right.count; ++v) {
              for (std::size_t i = 0; i < patch.tiles_down; ++i) {
                if (next && v == right.count - 1) b_panels.fetch(next[v], i, patch.tiles_down);
                for (int w = 0; w < left.count; ++w) {
                  add_product(a_panels.at(i, 0)[w], b_panels.at(panel, chunk)[v],
                              std::min(tile_rows, patch.rows - i * tile_rows),
                              acc.data() + (v + w) * size + (j * patch.tiles_down + i) * tile_size);
                }
              }
            }
          }
        }
        patch.each_row([&](std::size_t i, std::size_t j, std::size_t here, std::size_t at) {
          std::array<float, tile_columns> sums;
          finish(acc.data() + at, size, powers, least,
                 sums.data());  // least times a float is exact: far from subnormal
          for (std::size_t n = 0; any_special && n < here; ++n) {
            const auto &x = a_specials[i], &y = b_specials[j + n];
            if (special(x) || special(y)) sums[n] = special_sum(a, i, x, b, j + n, y, sums[n]);
          }
          std::copy_n(sums.data(), here, out + i * b.rows + j);
        });
      },
      progress);
}

}  // namespace

namespace detail {

struct Unpacked {
  /// Each form is made when the first product asks for it.
  std::mutex guard;
  std::unique_ptr<RightWindows> wide, narrow;
  std::unique_ptr<Fp4Right> fp4;

  const RightWindows& windows(const QuantizedMatrix& b, bool blocked, unsigned threads) {
    const WindowSizes sizes = blocked ? blocked_windows(b.scheme) : wide_windows;
    const std::lock_guard lock(guard);
    std::unique_ptr<RightWindows>& form = sizes.bits == wide_windows.bits ? wide : narrow;
    if (!form) form = std::make_unique<RightWindows>(b, sizes, blocked ? blocked_length(b.scheme) : 0, threads);
    return *form;
  }
  template <class T>
  Fp4Right& of_fp4(const QuantizedMatrix& b, const std::array<T, 256>& table, unsigned threads) {
    const std::lock_guard lock(guard);
    if (!fp4) fp4 = std::make_unique<Fp4Right>(b, table, threads);
    return *fp4;
  }
};

}  // namespace detail

namespace {

std::vector<float> sums_of(const QuantizedMatrix& a, const QuantizedMatrix& b, detail::Unpacked& unpacked,
                           unsigned threads, const Progress& progress) {
  check_product(a, b);
  std::vector<float> sums(a.rows * b.rows);
  switch (a.scheme) {
    case Scheme::nvfp4: {
      const auto scales = scale_table<std::int32_t>(Format::ue4m3, 0x1p9);
      fp4_sums<std::int64_t>(
          a, b, unpacked.of_fp4(b, scales, threads), scales,
          [](const std::int64_t* acc, float* out) { kernels().finish(acc, 0, 1, 0x1p-20F, out); }, threads, progress,
          sums.data());
      break;
    }
    case Scheme::mxfp4: {  // elements are doubled on decoding, so each scale is halved
      const auto scales = scale_table<double>(Format::e8m0, 0x1p-1);
      fp4_sums<float>(
          a, b, unpacked.of_fp4(b, scales, threads), scales,
          [](const float* acc, float* out) {
            for (std::size_t i = 0; i < tile_columns; ++i) out[i] = std::isnan(acc[i]) ? nan_result : acc[i];
          },
          threads, progress, sums.data());
      break;
    }
    default: {  // elements of 6 and 8 bits, and LUQ's
      const bool blocked = is_mx(a.scheme) || has_blocked_scales(a, b);
      const detail::RightWindows& windows = unpacked.windows(b, blocked, threads);
      (blocked ? detail::blocked_sums : fp8_sums)(a, b, windows, threads, progress, sums.data());
      break;
    }
  }
  return sums;
}

/// The FP32 scales of the operands, where they are not part of the sums.
std::vector<float> with_scales(std::vector<float> c, const QuantizedMatrix& a, const QuantizedMatrix& b) {
  if (has_blocked_scales(a, b)) return c;
  std::vector<float> first(b.rows), second(b.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    if (i == 0 || a.fp32_scale(i, 0) != a.fp32_scale(i - 1, 0)) {
      for (std::size_t j = 0; j < b.rows; ++j) {
        const EpilogueScales scales = epilogue_scales(a.fp32_scale(i, 0), b.fp32_scale(j, 0));
        first[j] = scales.first, second[j] = scales.second;
      }
    }
    float* const row = c.data() + i * b.rows;
    for (std::size_t j = 0; j < b.rows; ++j) row[j] = scaled(scaled(row[j], first[j]), second[j]);
  }
  return c;
}

}  // namespace

float epilogue(float sum, float alpha) { return scaled(sum, alpha); }

float epilogue(float sum, const EpilogueScales& scales) { return scaled(scaled(sum, scales.first), scales.second); }

void check_contraction(Scheme scheme, std::size_t k) {
  if (scheme == Scheme::nvfp4 && k > nvfp4_max_k) {
    throw Error("the contraction of an nvfp4 product has length " + std::to_string(k) + "; expected at most " +
                std::to_string(nvfp4_max_k) + "; split it and add the parts");
  }
}

void check_product(const QuantizedMatrix& a, const QuantizedMatrix& b) {
  check(a, "the left operand");
  check(b, "the right operand");
  if (a.scheme == Scheme::luq || b.scheme == Scheme::int4) {
    throw Error(
        "a product of luq takes INT4 on the left and FP4 [1,3,0] on the right: for the product the other way round, "
        "exchange the operands and transpose the result");
  }
  if (product_scheme(a.scheme) != b.scheme) {
    throw Error("the operands of the product differ in scheme: quantize both by the same one");
  }
  if (a.k != b.k) {
    throw Error("the operands' contractions differ: the left has vectors of " + std::to_string(a.k) +
                ", the right of " + std::to_string(b.k) + "; the columns of A must be as many as the rows of B");
  }
  check_contraction(a.scheme, a.k);
}

RightOperand::RightOperand(std::shared_ptr<const QuantizedMatrix> matrix)
    : matrix_(std::move(matrix)), unpacked_(std::make_shared<detail::Unpacked>()) {
  if (!matrix_) throw Error("the right operand is null; expected a matrix");
  check(*matrix_, "the right operand");
}

RightOperand::RightOperand(QuantizedMatrix matrix)
    : RightOperand(std::make_shared<const QuantizedMatrix>(std::move(matrix))) {}

std::vector<float> gemm_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads,
                             const Progress& progress) {
  detail::Unpacked unpacked;
  return sums_of(a, b, unpacked, threads, progress);
}

std::vector<float> gemm_sums(const QuantizedMatrix& a, const RightOperand& b, unsigned threads,
                             const Progress& progress) {
  return sums_of(a, b.matrix(), b.unpacked(), threads, progress);
}

std::vector<float> gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads,
                        const Progress& progress) {
  return with_scales(gemm_sums(a, b, threads, progress), a, b);
}

std::vector<float> gemm(const QuantizedMatrix& a, const RightOperand& b, unsigned threads, const Progress& progress) {
  return with_scales(gemm_sums(a, b, threads, progress), a, b.matrix());
}

}  // namespace narrowgauge
