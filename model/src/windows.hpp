// SPDX-License-Identifier: Apache-2.0
// 8-bit operands as the kernels take them: integers of 16 bits in windows, in panels of register tiles.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gemm_parts.hpp"
#include "kernels.hpp"
#include "narrowgauge/format/format.hpp"
#include "narrowgauge/luq/mul_luq.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace narrowgauge::detail {

inline constexpr std::size_t fp8_chunk = 512;  // k of a panel that stays in the first-level cache
static_assert(fp8_chunk / 2 <= 256 && fp8_chunk / 2 % part_pairs == 0);  // pairs are numbered in a byte

/// Integers of a window are below 2^bits, and windows are `step` bits apart: no element of 8 bits needs more.
struct WindowSizes {
  int bits, step;
};
inline constexpr WindowSizes wide_windows{.bits = 13, .step = window_step};
/// For sums of 128 products in 32 bits. Largest integers are 3584 and 3840 = 15 * 2^8 (a window below the topmost).
inline constexpr WindowSizes narrow_windows{.bits = 12, .step = 9};
inline constexpr std::size_t max_windows = 4;

/// What there is in an 8-bit operand: positions of NaN and infinities in each vector, and the largest of all other
/// codes without its sign.
struct Contents {
  explicit Contents(const QuantizedMatrix& q) : specials(q.rows) {
    const FormatDesc& f = desc(q.element);
    const std::uint32_t last = f.last_code();
    std::array<std::uint8_t, 256> magnitudes;
    for (std::uint32_t code = 0; code < 256; ++code) magnitudes[code] = static_cast<std::uint8_t>(f.magnitude(code));
    const auto mask = static_cast<std::uint8_t>(f.payload_mask());
    for (std::size_t row = 0; row < q.rows; ++row) {
      const std::uint8_t* const codes = q.codes.data() + row * q.k_padded;
      std::uint8_t here = 0;
      for (std::size_t i = 0; !f.recodes() && i < q.k; ++i) {
        const std::uint8_t magnitude = codes[i] & mask;
        here = magnitude > here ? magnitude : here;
      }
      for (std::size_t i = 0; f.recodes() && i < q.k; ++i) here = std::max(here, magnitudes[codes[i]]);
      if (here <= last) {
        largest = std::max<std::uint32_t>(largest, here);
        continue;
      }
      for (std::size_t i = 0; i < q.k; ++i) {
        if (const std::uint32_t magnitude = magnitudes[codes[i]]; magnitude > last) {
          specials[row].push_back(i);
        } else {
          largest = std::max(largest, magnitude);
        }
      }
    }
  }
  std::vector<std::vector<std::size_t>> specials;
  std::uint32_t largest = 0;
};

/// The codes of an 8-bit operand as integers in windows: value = table[w] * 2^(unit + step w) for one w, and 0 in all
/// others. The topmost window begins where the operand's largest magnitude needs it. NaN and infinities are 0.
struct Windows {
  Windows(const FormatDesc& f, std::uint32_t largest, WindowSizes sizes) : step(sizes.step) {
    const int lowest = f.min_exp() - f.man_bits;
    const int top =
        largest ? std::max(lowest, std::ilogb(decode(f, f.with_sign(true, largest))) - (sizes.bits - 1)) : lowest;
    count = (top - lowest + step - 1) / step + 1;
    unit = top - step * (count - 1);
    for (unsigned code = 0; code < 256; ++code) {
      const double value = f.magnitude(code) > largest ? 0 : decode(f, code);
      for (int w = count - 1; w >= 0; --w) {
        const double integer = std::ldexp(value, -(unit + step * w));
        if (integer != std::rint(integer)) continue;
        table[w][code] = static_cast<std::int16_t>(integer);
        break;
      }
    }
  }
  /// Of integers below 2^13: one window, of unit 1.
  explicit Windows(int (&value)(unsigned)) : unit(0), count(1), step(window_step) {
    for (unsigned code = 0; code < 256; ++code) table[0][code] = static_cast<std::int16_t>(value(code));
  }
  static Windows of(const QuantizedMatrix& q, const Contents& contents, WindowSizes sizes) {
    if (q.scheme == Scheme::int4) return Windows(int4_value);
    if (q.scheme == Scheme::luq) return Windows(luq_value);
    return {desc(q.element), contents.largest, sizes};
  }
  /// The exponent of the topmost window's unit.
  int top() const { return unit + step * (count - 1); }

  int unit, count, step;
  std::array<std::array<std::int16_t, 256>, max_windows> table{};
};

/// A panel of vectors, a chunk of k long, in one window.
struct WindowPanel {
  std::int16_t* values;                           ///< [pair of k][vector][2]
  std::array<std::uint8_t, fp8_chunk / 2> pairs;  ///< those in which any vector is not zero
  std::array<WindowPart, fp8_chunk / 2 / part_pairs> parts;
};

/// Panels of Width vectors each, all chunks of k in all windows.
template <std::size_t Width>
class WindowPanels {
 public:
  WindowPanels(const Windows& windows, std::size_t panels, std::size_t k)
      : windows_(windows), chunks_(ceil_div(k, fp8_chunk)), panels_(panels * chunks_ * windows.count) {
    // In memory as they are used: chunk by chunk.
    const std::size_t last = padded_pairs(k - (chunks_ - 1) * fp8_chunk), across = panels * windows.count;
    lines_.resize(ceil_div(across * ((chunks_ - 1) * (fp8_chunk / 2) + last) * 2 * Width, sizeof(Line) / 2));
    auto* const values = reinterpret_cast<std::int16_t*>(lines_.data());
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const std::size_t w = i % windows.count, chunk = i / windows.count % chunks_, panel = i / windows.count / chunks_;
      const std::size_t pairs = chunk + 1 < chunks_ ? fp8_chunk / 2 : last;
      panels_[i].values = values + (chunk * (fp8_chunk / 2) * across + (panel * windows.count + w) * pairs) * 2 * Width;
    }
  }

  /// The windows of one chunk of a panel, one after the other.
  const WindowPanel* at(std::size_t panel, std::size_t chunk) const {
    return panels_.data() + (panel * chunks_ + chunk) * windows_.count;
  }

  /// Fills a chunk of a panel with positions k ... k + count - 1 of vectors first ... first + Width - 1.
  void pack(const QuantizedMatrix& q, std::size_t panel, std::size_t chunk, std::size_t first, std::size_t k,
            std::size_t count) {
    const std::size_t whole = count / 2, pairs = padded_pairs(count);
    alignas(64) std::array<std::uint8_t, fp8_chunk * Width> codes;
    for (std::size_t v = 0; v < Width; ++v) {
      std::uint8_t* const to = codes.data() + 2 * v;
      const bool here = first + v < q.rows;
      const std::uint8_t* const from = q.codes.data() + (here ? (first + v) * q.k_padded + k : 0);
      for (std::size_t p = 0; here && p < whole; ++p) std::memcpy(to + p * 2 * Width, from + 2 * p, 2);
      for (std::size_t p = here ? whole : 0; p < pairs; ++p) std::memset(to + p * 2 * Width, 0, 2);
      if (here && count % 2 != 0) to[whole * 2 * Width] = from[count - 1];
    }
    for (int w = 0; w < windows_.count; ++w) {
      WindowPanel& out = panels_[(panel * chunks_ + chunk) * windows_.count + w];
      kernels().look_up(codes.data(), pairs * 2 * Width, windows_.table[w].data(), out.values);
      out.parts.fill({});
      const auto survey = Width == tile_rows ? kernels().survey_rows : kernels().survey_columns;
      survey(out.values, pairs, out.pairs.data(), out.parts.data());
    }
  }

  /// Asks for one of `parts` parts of a chunk that is wanted soon.
  void fetch(const WindowPanel& panel, std::size_t part, std::size_t parts) const {
    constexpr std::size_t lines = fp8_chunk * Width * 2 / sizeof(Line);
    const auto* const line = reinterpret_cast<const Line*>(panel.values);
    const std::size_t there = std::min<std::size_t>(lines, lines_.data() + lines_.size() - line);
    for (std::size_t i = there * part / parts; i < there * (part + 1) / parts; ++i) __builtin_prefetch(line + i, 0, 2);
  }

 private:
  struct alignas(64) Line {
    std::array<std::int16_t, 32> values;
  };
  /// An even number, for vectors that hold two pairs.
  static std::size_t padded_pairs(std::size_t k) { return ceil_div(k, 4) * 2; }

  Windows windows_;
  std::size_t chunks_;
  std::vector<WindowPanel> panels_;
  std::vector<Line> lines_;
};

/// Block scales of Width vectors: of MX as doubles that hold the unit of the vectors' topmost window as well; of FP8 as
/// they are. Of vectors beyond the matrix, and NaN, 0.
template <std::size_t Width>
struct BlockScales {
  std::vector<std::array<double, Width>> powers;
  std::vector<std::array<float, Width>> factors;

  /// Of `count` blocks from block `from`, of vectors from `first`.
  void fill(const QuantizedMatrix& q, int unit, std::size_t block, std::size_t first, std::size_t from,
            std::size_t count) {
    const std::size_t here = std::min(Width, q.rows - std::min(first, q.rows));
    if (is_mx(q.scheme)) {
      powers.assign(count, {});
      for (std::size_t v = 0; v < here; ++v) {
        const std::uint8_t* const codes = q.scales.data() + (first + v) * q.blocks() + from;
        for (std::size_t n = 0; n < count; ++n) {
          if (codes[n] != 0xFF) powers[n][v] = power_of_two(codes[n] - desc(Format::e8m0).bias + unit);
        }
      }
    } else {
      factors.assign(count, {});
      for (std::size_t v = 0; v < here; ++v) {
        for (std::size_t n = 0; n < count; ++n) factors[n][v] = q.fp32_scale(first + v, (from + n) * block);
      }
    }
  }

 private:
  /// Of a normal double.
  static double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  }
};

/// A right operand: what is in it, its panels, and the scales of blocks of `block` elements, if that is not 0.
struct RightWindows {
  RightWindows(const QuantizedMatrix& b, WindowSizes sizes, std::size_t block, unsigned threads)
      : block(block),
        contents(b),
        windows(Windows::of(b, contents, sizes)),
        panels(windows, ceil_div(b.rows, tile_columns), b.k) {
    const std::size_t chunks = ceil_div(b.k, fp8_chunk);
    parallel_for(ceil_div(b.rows, tile_columns) * chunks, threads, [&](std::size_t i) {
      const std::size_t panel = i / chunks, chunk = i % chunks, first = chunk * fp8_chunk;
      panels.pack(b, panel, chunk, panel * tile_columns, first, std::min(fp8_chunk, b.k - first));
    });
    if (block == 0) return;
    scales.resize(ceil_div(b.rows, tile_columns));
    parallel_for(scales.size(), threads, [&](std::size_t panel) {
      scales[panel].fill(b, windows.top(), block, panel * tile_columns, 0, ceil_div(b.k, block));
    });
  }

  std::size_t block;
  Contents contents;
  Windows windows;
  WindowPanels<tile_columns> panels;
  std::vector<BlockScales<tile_columns>> scales;
};

}  // namespace narrowgauge::detail
