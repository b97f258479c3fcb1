// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>
#include <thread>

#include "narrowgauge/error.hpp"

namespace narrowgauge::cli {

namespace {

/// `got(i)` and `expected(i)` are the bits of result i.
template <class Got, class Expected>
Difference compare_bits(std::size_t count, std::size_t expected_count, const Got& got, const Expected& expected) {
  if (count != expected_count) {
    throw Error("the engine gave " + std::to_string(count) + " results; expected " + std::to_string(expected_count) +
                ", as the golden model has; please report this fault of the engine");
  }
  Difference difference;
  for (std::size_t i = count; i-- > 0;) {  // downwards: the first difference is the last one seen
    if (got(i) != expected(i)) difference = {difference.count + 1, i, got(i), expected(i)};
  }
  return difference;
}

}  // namespace

Difference compare(std::span<const float> got, std::span<const float> expected) {
  const auto bits = [](std::span<const float> of) {
    return [of](std::size_t i) { return std::bit_cast<std::uint32_t>(of[i]); };
  };
  return compare_bits(got.size(), expected.size(), bits(got), bits(expected));
}

Difference compare(const QuantizedMatrix& got, const QuantizedMatrix& expected) {
  const auto bits = [](const QuantizedMatrix& of) {
    return [&of](std::size_t i) {
      const std::size_t at = i / of.k * of.k_padded + i % of.k;
      return of.scales.empty() ? std::uint32_t{of.codes[at]}
                               : std::uint32_t{of.scales[at / block_size(of.scheme)]} << 4 | of.codes[at];
    };
  };
  return compare_bits(got.rows * got.k, expected.rows * expected.k, bits(got), bits(expected));
}

namespace {

constexpr std::size_t tile_rows = 4, tile_columns = 8;  // of results that stay in registers
constexpr std::size_t chunk = 256;                      // of k: panels that stay in the cache

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define NG_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define NG_CLONES
#endif

/// acc += a x b over `count` steps: a has tile_rows values a step, b tile_columns. No contraction (build flags), so
/// every processor gives the same bits.
NG_CLONES void multiply_tile(const double* __restrict a, const double* __restrict b, std::size_t count,
                             double* __restrict acc) {
  double sum[tile_rows][tile_columns];
  for (std::size_t i = 0; i < tile_rows; ++i) {
    for (std::size_t j = 0; j < tile_columns; ++j) sum[i][j] = acc[i * tile_columns + j];
  }
  for (std::size_t p = 0; p < count; ++p) {
    for (std::size_t i = 0; i < tile_rows; ++i) {
      for (std::size_t j = 0; j < tile_columns; ++j) sum[i][j] += a[p * tile_rows + i] * b[p * tile_columns + j];
    }
  }
  for (std::size_t i = 0; i < tile_rows; ++i) {
    for (std::size_t j = 0; j < tile_columns; ++j) acc[i * tile_columns + j] = sum[i][j];
  }
}

}  // namespace

std::vector<double> product_float64(std::span<const double> a, std::span<const double> b, std::size_t m, std::size_t k,
                                    std::size_t n, unsigned threads, const Progress& progress) {
  constexpr std::size_t height = 16 * tile_rows, width = 8 * tile_columns;  // of a job's patch of C
  const std::size_t across = (n + width - 1) / width, jobs = (m + height - 1) / height * across;
  std::vector<double> c(m * n);
  std::atomic<std::size_t> next = 0, done = 0;
  const auto patch = [&](std::size_t row, std::size_t column) {
    const std::size_t rows = std::min(height, m - row), columns = std::min(width, n - column);
    const std::size_t down = (rows + tile_rows - 1) / tile_rows, wide = (columns + tile_columns - 1) / tile_columns;
    std::vector<double> left(down * tile_rows * chunk), right(wide * tile_columns * chunk);
    std::vector<double> acc(down * wide * tile_rows * tile_columns);
    for (std::size_t first = 0; first < k; first += chunk) {
      const std::size_t count = std::min(chunk, k - first);
      for (std::size_t i = 0; i < rows; ++i) {
        double* const to = left.data() + i / tile_rows * tile_rows * chunk + i % tile_rows;
        for (std::size_t p = 0; p < count; ++p) to[p * tile_rows] = a[(row + i) * k + first + p];
      }
      for (std::size_t p = 0; p < count; ++p) {
        for (std::size_t j = 0; j < columns; ++j) {
          right[j / tile_columns * tile_columns * chunk + p * tile_columns + j % tile_columns] =
              b[(first + p) * n + column + j];
        }
      }
      for (std::size_t i = 0; i < down; ++i) {
        for (std::size_t j = 0; j < wide; ++j) {
          multiply_tile(left.data() + i * tile_rows * chunk, right.data() + j * tile_columns * chunk, count,
                        acc.data() + (i * wide + j) * tile_rows * tile_columns);
        }
      }
    }
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        const std::size_t tile = i / tile_rows * wide + j / tile_columns;
        c[(row + i) * n + column + j] =
            acc[tile * tile_rows * tile_columns + i % tile_rows * tile_columns + j % tile_columns];
      }
    }
  };
  const auto work = [&](bool reports) {
    for (std::size_t job; (job = next++) < jobs;) {
      patch(job / across * height, job % across * width);
      const std::size_t now = ++done;
      if (reports && progress) progress(now, jobs);
    }
  };
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < std::min<std::size_t>(threads, jobs); ++t) others.emplace_back(work, false);
  work(true);
  others.clear();
  return c;
}

}  // namespace narrowgauge::cli
