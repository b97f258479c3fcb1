// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>
#include <thread>

#include "narrowgauge/error.hpp"

namespace narrowgauge::cli {

Difference compare(std::span<const float> got, std::span<const float> expected) {
  if (got.size() != expected.size()) {
    throw Error("The engine gave " + std::to_string(got.size()) + " results where the golden model has " +
                std::to_string(expected.size()) + "; this is a fault of the engine: please report it");
  }
  Difference difference;
  for (std::size_t i = got.size(); i-- > 0;) {  // downwards: the first difference is the last one seen
    const auto got_bits = std::bit_cast<std::uint32_t>(got[i]);
    const auto expected_bits = std::bit_cast<std::uint32_t>(expected[i]);
    if (got_bits != expected_bits) difference = {difference.count + 1, i, got_bits, expected_bits};
  }
  return difference;
}

std::vector<double> product_float64(std::span<const double> a, std::span<const double> b, std::size_t m, std::size_t k,
                                    std::size_t n, unsigned threads) {
  constexpr std::size_t strip = 8;  // rows of A that share one pass over B
  std::vector<double> c(m * n);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t first = next.fetch_add(strip); first < m; first = next.fetch_add(strip)) {
      for (std::size_t p = 0; p < k; ++p) {
        for (std::size_t i = first; i < std::min(first + strip, m); ++i) {
          const double factor = a[i * k + p];
          for (std::size_t j = 0; j < n; ++j) c[i * n + j] += factor * b[p * n + j];
        }
      }
    }
  };
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  for (unsigned t = 1; t < threads && t * strip < m; ++t) others.emplace_back(work);
  work();
  others.clear();
  return c;
}

}  // namespace narrowgauge::cli
