// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/sparse/prune.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "block_kernels.hpp"
#include "kernels.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/mac/fixed_to_fp32.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/sparse/mvue.hpp"
#include "narrowgauge/sparse/nm_mask.hpp"
#include "prune_parts.hpp"
#include "sizes.hpp"

namespace narrowgauge {
namespace detail {

int align(std::span<const float> block, int top, std::span<std::uint64_t> magnitudes) {
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFF; };
  std::uint32_t largest = 0;
  for (const float x : block) largest = std::max(largest, bits(x));
  if (largest == 0) {
    std::fill(magnitudes.begin(), magnitudes.end(), 0);
    return 0;
  }
  const auto field = [](std::uint32_t code) { return std::max(static_cast<int>(code >> 23), 1); };
  const int up = largest < 0x800000 ? std::countl_zero(largest) - 8 : 0;  // of subnormal numbers
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::uint32_t code = bits(block[i]);
    const std::uint64_t significand = code - (static_cast<std::uint32_t>(field(code) - 1) << 23);
    magnitudes[i] = significand << up << (top - 23) >> std::min(field(largest) - field(code), 63);
  }
  return field(largest) - 127 - up - top;
}

void check_prunable(std::span<const float> x, std::size_t rows, std::size_t cols, const NmPattern& pattern) {
  const auto side = static_cast<std::size_t>(pattern.side());
  if (!is_product(x.size(), rows, cols))
    throw Error("pruning: " + std::to_string(x.size()) + " values; expected rows x columns, " +
                std::to_string(rows * cols));
  if (cols % side != 0)
    throw Error("pruning to " + pattern.name() + ": the matrix has " + std::to_string(cols) +
                " columns; expected a multiple of " + std::to_string(side) + "; pad it with zeros");
  if (pattern.transposable && rows % side != 0)
    throw Error("pruning to " + pattern.name() + ": the matrix has " + std::to_string(rows) +
                " rows; expected a multiple of " + std::to_string(side) + "; pad it with zeros");
  if (kernels().amax_bits(x.data(), x.size()) < 0x7F800000) return;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]))
      throw Error("pruning: row " + std::to_string(i / cols) + ", column " + std::to_string(i % cols) + " is " +
                  (std::isnan(x[i]) ? "NaN" : "infinite") + "; expected finite numbers");
}

}  // namespace detail

namespace {

using detail::align;

float rounded(bool negative, std::uint64_t magnitude, int unit) {
  const auto value = static_cast<__int128>(magnitude);
  const float result = fixed_to_fp32(negative ? -value : value, unit);
  if (!std::isfinite(result))
    throw Error(
        "pruning by mvue: the sum of a block is beyond float32's largest, 3.4028235e+38; scale the matrix down");
  return result;
}

/// Prunes groups of two or four by mvue, results of any size: values and mask, which may hold anything before.
void prune_by_mvue(std::span<const float> x, std::size_t m, std::span<const std::uint32_t> words, int bits,
                   float* values, std::uint8_t* mask) {
  std::fill_n(values, x.size(), 0.0F);
  std::fill_n(mask, x.size(), std::uint8_t{0});
  Magnitudes4 magnitudes{};
  for (std::size_t first = 0; first < x.size(); first += m) {
    const auto keep = [&](int index, std::uint64_t magnitude, int unit) {
      const std::size_t at = first + static_cast<std::size_t>(index);
      mask[at] = 1;
      values[at] = rounded(std::signbit(x[at]), magnitude, unit);
    };
    const int unit = align(x.subspan(first, m), 60, std::span(magnitudes).first(m));
    const std::uint32_t word = words[first / m];
    if (m == 2) {
      const Mvue12 drawn = mvue_1_2(std::span(magnitudes).first<2>(), word, bits);
      keep(drawn.index, drawn.magnitude, unit);
    } else {
      const Mvue24 drawn = mvue_2_4(magnitudes, word, bits);
      for (std::size_t i = 0; i < 2; ++i) keep(drawn.index[i], drawn.twice_magnitude[i], unit - 1);
    }
  }
}

/// Prunes groups of four by approximate mvue, of two words each; values and mask hold zeros before.
void prune_approximately(std::span<const float> x, std::span<const std::uint32_t> words, float* values,
                         std::uint8_t* mask) {
  for (std::size_t first = 0; first < x.size(); first += 4) {
    std::array<double, 4> a;
    for (std::size_t i = 0; i < 4; ++i) a[i] = std::abs(static_cast<double>(x[first + i]));
    const double u = (words[first / 2] + 0.5) * 0x1p-32, v = (words[first / 2 + 1] + 0.5) * 0x1p-32;
    const ApproximateMvue24 drawn = approximate_mvue_2_4(a, {u, v});
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t at = first + static_cast<std::size_t>(drawn.index[i]);
      const auto value = static_cast<float>(drawn.magnitude[i]);
      mask[at] = 1;
      values[at] = std::signbit(x[at]) ? -value : value;
    }
  }
}

/// Groups of `unit` elements each, of which a nibble keeps two: halves of elements with 1:2, elements, pairs.
int elements_of_unit(const NmPattern& pattern) { return pattern.pairs ? 2 : 1; }

void check_compressible(const NmPattern& pattern) {
  if (!pattern.compressible())
    throw Error("pattern " + pattern.name() + " has no metadata to store it with; expected 1:2, 2:4, 2:4-T or 4:8pair");
}

}  // namespace

std::string NmPattern::name() const {
  return std::to_string(n) + ":" + std::to_string(m) + (pairs ? "pair" : transposable ? "-T" : "");
}

NmPattern NmPattern::of(std::string_view name) {
  NmPattern pattern;
  std::string_view rest = name;
  const auto take = [&rest](int& number) {
    const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return fault == std::errc() && number >= 1 && number <= 64;
  };
  bool good = take(pattern.n) && rest.starts_with(':');
  if (good) rest.remove_prefix(1);
  good = good && take(pattern.m) && pattern.n <= pattern.m;
  pattern.transposable = rest == "-T";
  pattern.pairs = rest == "pair" && pattern.n == 4 && pattern.m == 8;
  if (!good || !(rest.empty() || pattern.transposable || pattern.pairs))
    throw Error("sparsity pattern \"" + std::string(name) +
                "\" is unknown; expected N:M such as 2:4 (1 <= N <= M <= 64), N:M-T such as 2:4-T, or 4:8pair");
  return pattern;
}

bool NmPattern::compressible() const { return pairs || (n == 2 && m == 4) || (n == 1 && m == 2 && !transposable); }

std::vector<std::uint8_t> transposable_mask(std::span<const float> x, std::size_t rows, std::size_t cols,
                                            const NmPattern& pattern, TransposableMask method) {
  if (!pattern.transposable)
    throw Error("transposable mask of " + pattern.name() + "; expected a transposable pattern such as 4:8-T");
  detail::check_prunable(x, rows, cols, pattern);
  if (method == TransposableMask::enumerate && (pattern.n != 2 || pattern.m != 4))
    throw Error("transposable masks of " + pattern.name() + " are too many to enumerate; expected 2:4-T, which has 90");
  const auto m = static_cast<std::size_t>(pattern.m);
  std::vector<std::uint8_t> mask(x.size());
  detail::Pace pace;
  if (method == TransposableMask::enumerate) {
    constexpr std::size_t batch = 1024;  // blocks
    for (std::size_t row = 0; row < rows; row += 4) {
      for (std::size_t col = 0; col < cols; col += 4 * batch) {
        const std::size_t blocks = std::min(batch, (cols - col) / 4), at = row * cols + col;
        pace(16 * blocks);
        detail::block_kernels().transposable_2_4(x.data() + at, cols, blocks, 57, mask.data() + at);
      }
    }
    return mask;
  }
  std::vector<float> block(m * m);
  std::vector<std::uint64_t> magnitudes(m * m);
  for (std::size_t row = 0; row < rows; row += m) {
    for (std::size_t col = 0; col < cols; col += m) {
      pace(m * m);
      for (std::size_t i = 0; i < m * m; ++i) block[i] = x[(row + i / m) * cols + col + i % m];
      align(block, 57, magnitudes);
      const std::vector<std::uint8_t> kept = transposable_mask_greedy(magnitudes, pattern.n, pattern.m);
      for (std::size_t i = 0; i < m * m; ++i) mask[(row + i / m) * cols + col + i % m] = kept[i];
    }
  }
  return mask;
}

std::vector<std::uint8_t> nm_mask(std::span<const float> x, std::size_t rows, std::size_t cols,
                                  const NmPattern& pattern) {
  if (pattern.transposable)
    return transposable_mask(
        x, rows, cols, pattern,
        pattern.n == 2 && pattern.m == 4 ? TransposableMask::enumerate : TransposableMask::approximate);
  detail::check_prunable(x, rows, cols, pattern);
  const auto m = static_cast<std::size_t>(pattern.m);
  std::vector<std::uint8_t> mask(x.size());
  detail::Pace pace;
  if (!pattern.pairs) {  // the codes have the numbers' order
    constexpr std::size_t batch = 1024;
    for (std::size_t first = 0; first < x.size(); first += batch * m) {
      const std::size_t groups = std::min(batch, (x.size() - first) / m);
      pace(groups * m);
      detail::block_kernels().largest(x.data() + first, groups, pattern.n, pattern.m, mask.data() + first);
    }
    return mask;
  }
  std::array<std::uint64_t, 8> magnitudes{};
  for (std::size_t first = 0; first < x.size(); first += 8) {
    pace(8);
    align(x.subspan(first, 8), 57, magnitudes);
    std::array<std::uint64_t, 4> sums{};
    for (std::size_t i = 0; i < 8; ++i) sums[i / 2] += magnitudes[i];
    std::array<int, 4> before{};
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j) {
        const int later = sums[j] > sums[i] ? 1 : 0;
        before[i] += later;
        before[j] += 1 - later;
      }
    }
    for (std::size_t i = 0; i < 8; ++i) mask[first + i] = before[i / 2] < 2;
  }
  return mask;
}

PrunedMatrix prune(std::span<const float> x, std::size_t rows, std::size_t cols, const NmPattern& pattern,
                   const PruneOptions& options) {
  if (options.random_bits < 1 || options.random_bits > 32)
    throw Error("random_bits is " + std::to_string(options.random_bits) + "; expected 1 to 32");
  PrunedMatrix result;
  if (options.method == Pruning::greedy) {
    result.mask = nm_mask(x, rows, cols, pattern);
    result.values.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      result.values[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x[i]) & -std::uint32_t{result.mask[i]});
    return result;
  }
  detail::check_prunable(x, rows, cols, pattern);
  const bool of_two = pattern.n == 1 && pattern.m == 2, of_four = pattern.n == 2 && pattern.m == 4;
  const bool exact = options.method == Pruning::mvue;
  if (pattern.transposable || !(of_four || (of_two && exact)))
    throw Error(std::string(exact ? "mvue" : "approx-mvue") + " prunes to " + (exact ? "1:2 and 2:4" : "2:4") +
                ", not to " + pattern.name());
  result.values.resize(x.size());
  result.mask.resize(x.size());
  const auto m = static_cast<std::size_t>(pattern.m);
  PhiloxStream random(options.seed, exact ? options.random_bits : 32);
  constexpr std::size_t batch = 1024;  // groups
  std::array<std::uint32_t, 2 * batch> words;
  detail::Pace pace;
  for (std::size_t first = 0; first < x.size(); first += batch * m) {
    const std::size_t groups = std::min(batch, (x.size() - first) / m);
    pace(groups * m);
    random.draw(std::span(words).first(exact ? groups : 2 * groups));
    const std::span<const float> in = x.subspan(first, groups * m);
    float* const values = result.values.data() + first;
    std::uint8_t* const mask = result.mask.data() + first;
    if (!exact) {
      prune_approximately(in, words, values, mask);
    } else {
      const detail::BlockKernels& kernels = detail::block_kernels();
      const auto kernel = of_two ? kernels.mvue_1_2 : kernels.mvue_2_4;
      if (!kernel(in.data(), groups, words.data(), options.random_bits, values, mask))
        prune_by_mvue(in, m, words, options.random_bits, values, mask);
    }
  }
  return result;
}

template <class T>
CompressedMatrix<T> compress(std::span<const T> x, std::span<const std::uint8_t> mask, std::size_t rows,
                             std::size_t cols, const NmPattern& pattern) {
  check_compressible(pattern);
  const auto m = static_cast<std::size_t>(pattern.m);
  if (!detail::is_product(x.size(), rows, cols) || mask.size() != x.size() || cols % m != 0)
    throw Error("sparse storage has " + std::to_string(x.size()) + " values and a mask of " +
                std::to_string(mask.size()) + " for " + std::to_string(rows) + " x " + std::to_string(cols) +
                "; expected as many of both, and columns in multiples of " + std::to_string(m));
  CompressedMatrix<T> result{.rows = rows, .cols = cols, .pattern = pattern, .values = {}, .metadata = {}};
  result.values.reserve(x.size() / 2);
  result.metadata.resize(rows * result.metadata_bytes());
  const auto unit = static_cast<std::size_t>(elements_of_unit(pattern));
  const auto most = static_cast<unsigned>(pattern.n) / static_cast<unsigned>(unit);
  detail::Pace pace;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t group = 0; group < result.groups(); ++group) {
      pace(m);
      const std::size_t first = row * cols + group * m;
      unsigned kept = 0;  // units
      for (std::size_t i = 0; i < m; ++i) kept |= mask[first + i] != 0 ? 1U << (i / unit) : 0;
      if (static_cast<unsigned>(std::popcount(kept)) > most)
        throw Error("row " + std::to_string(row) + " keeps " + std::to_string(std::popcount(kept)) +
                    (unit == 1 ? " elements" : " pairs") + " of columns " + std::to_string(group * m) + " to " +
                    std::to_string(group * m + m - 1) + "; expected at most " + std::to_string(most) +
                    ", as pruning to " + pattern.name() + " leaves");
      if (m == 2) kept = kept == 2 ? 0b1100U : 0b0011U;  // halves of elements
      const std::uint8_t nibble = metadata_of(kept);
      result.metadata[row * result.metadata_bytes() + group / 2] |=
          static_cast<std::uint8_t>(nibble << (group % 2 * 4));
      const unsigned stored = mask_of_metadata(nibble);
      for (std::size_t i = 0; i < m; ++i) {
        const bool there = m == 2 ? (stored >> (2 * i) & 1) != 0 : (stored >> (i / unit) & 1) != 0;
        if (there) result.values.push_back(mask[first + i] != 0 ? x[first + i] : T{});
      }
    }
  }
  return result;
}

template <class T>
std::vector<T> decompress(const CompressedMatrix<T>& compressed) {
  const NmPattern& pattern = compressed.pattern;
  check_compressible(pattern);
  const auto m = static_cast<std::size_t>(pattern.m);
  const std::size_t cols = compressed.cols, half = m / 2;
  if (cols % m != 0 || !detail::is_product(compressed.values.size(), compressed.rows, cols / 2) ||
      !detail::is_product(compressed.metadata.size(), compressed.rows, compressed.metadata_bytes()))
    throw Error("sparse storage has " + std::to_string(compressed.values.size()) + " values and " +
                std::to_string(compressed.metadata.size()) + " bytes of metadata for " +
                std::to_string(compressed.rows) + " x " + std::to_string(cols) +
                "; expected half as many values, and a nibble for every " + std::to_string(m) +
                " columns, each row in whole bytes");
  const auto unit = static_cast<std::size_t>(elements_of_unit(pattern));
  std::vector<T> x(compressed.rows * cols);
  detail::Pace pace;
  for (std::size_t row = 0; row < compressed.rows; ++row) {
    for (std::size_t group = 0; group < compressed.groups(); ++group) {
      pace(m);
      const unsigned nibble = compressed.nibble(row, group);
      if (!is_metadata(nibble) || (m == 2 && nibble != 0b0100 && nibble != 0b1110))
        throw Error("sparse storage of row " + std::to_string(row) + ", group " + std::to_string(group) +
                    ": metadata " + std::to_string(nibble) + " is illegal; expected " +
                    (m == 2 ? "4 or 14" : "two ascending positions: 4, 8, 9, 12, 13 or 14"));
      const unsigned stored = mask_of_metadata(nibble);
      std::size_t from = row * cols / 2 + group * half;
      for (std::size_t i = 0; i < m; ++i) {
        const bool there = m == 2 ? (stored >> (2 * i) & 1) != 0 : (stored >> (i / unit) & 1) != 0;
        if (there) x[row * cols + group * m + i] = compressed.values[from++];
      }
    }
  }
  return x;
}

template CompressedMatrix<float> compress(std::span<const float>, std::span<const std::uint8_t>, std::size_t,
                                          std::size_t, const NmPattern&);
template CompressedMatrix<std::uint8_t> compress(std::span<const std::uint8_t>, std::span<const std::uint8_t>,
                                                 std::size_t, std::size_t, const NmPattern&);
template std::vector<float> decompress(const CompressedMatrix<float>&);
template std::vector<std::uint8_t> decompress(const CompressedMatrix<std::uint8_t>&);

double relative_error(std::span<const float> x, std::span<const float> pruned) {
  double error = 0, energy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = static_cast<double>(pruned[i]) - static_cast<double>(x[i]);
    error += difference * difference;
    energy += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
  return energy == 0 ? 0 : error / energy;
}

double expected_error(std::span<const float> x, std::size_t rows, std::size_t cols, const NmPattern& pattern,
                      Pruning method) {
  if (method == Pruning::greedy) return relative_error(x, prune(x, rows, cols, pattern).values);
  static_cast<void>(prune(x, rows, cols, pattern, {.method = method}));  // refuses what cannot be pruned
  const auto m = static_cast<std::size_t>(pattern.m);
  double error = 0, energy = 0;
  detail::Pace pace;
  for (std::size_t first = 0; first < x.size(); first += m) {
    pace(m);
    std::array<double, 4> a{};
    double sum = 0, squares = 0, largest = 0;
    for (std::size_t i = 0; i < m; ++i) {
      a[i] = std::abs(static_cast<double>(x[first + i]));
      sum += a[i];
      squares += a[i] * a[i];
      largest = std::max(largest, a[i]);
    }
    energy += squares;
    if (m == 2) {
      error += 2 * a[0] * a[1];
    } else if (method == Pruning::mvue) {
      const double rest = sum - largest;
      error += largest < rest ? sum * sum / 2 - squares : rest * rest - (squares - largest * largest);
    } else {
      for (std::size_t i = 0; i < 4; ++i) {  // a^2 (1/p - 1)
        if (a[i] == 0) continue;
        double chance = a[i] / sum;
        for (std::size_t j = 0; j < 4; ++j)
          if (j != i && a[j] != 0) chance += a[j] / sum * (a[i] / (sum - a[j]));
        error += a[i] * a[i] * (1 / std::min(chance, 1.0) - 1);
      }
    }
  }
  return energy == 0 ? 0 : error / energy;
}

}  // namespace narrowgauge
