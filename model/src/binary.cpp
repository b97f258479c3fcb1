// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/binary/binary.hpp"

#include <cmath>
#include <string>

#include "narrowgauge/parallel.hpp"
#include "narrowgauge/require.hpp"

namespace narrowgauge {
namespace {

using detail::require;

void require_finite(double value, const char* name) {
  require(std::isfinite(value),
          [&] { return std::string(name) + " is " + std::to_string(value) + "; expected a finite number"; });
}

/// Rows of packed bits as words, what is not among the n elements cleared.
class Words {
 public:
  Words(std::span<const std::uint8_t> bytes, std::size_t n)
      : row_bytes_((n + 7) / 8), row_words_((n + 63) / 64), words_(bytes.size() / row_bytes_ * row_words_) {
    const std::uint64_t last = ~std::uint64_t{0} >> (row_words_ * 64 - n);
    for (std::size_t row = 0; row < rows(); ++row) {
      std::uint64_t* const words = &words_[row * row_words_];
      for (std::size_t i = 0; i < row_bytes_; ++i) {
        words[i / 8] |= std::uint64_t{bytes[row * row_bytes_ + i]} << (i % 8 * 8);
      }
      words[row_words_ - 1] &= last;
    }
  }

  std::size_t rows() const { return words_.size() / row_words_; }
  std::size_t row_words() const { return row_words_; }
  std::span<const std::uint64_t> row(std::size_t row) const {
    return std::span(words_).subspan(row * row_words_, row_words_);
  }

 private:
  std::size_t row_bytes_, row_words_;
  std::vector<std::uint64_t> words_;
};

}  // namespace

PopcountThreshold fuse_batch_norm(double gamma, double beta, double mean, double variance, std::uint32_t n,
                                  double scale, double epsilon) {
  require_finite(gamma, "gamma");
  require_finite(beta, "beta");
  require_finite(mean, "mean");
  require(std::isfinite(variance) && variance >= 0,
          [&] { return "variance is " + std::to_string(variance) + "; expected a finite number, 0 or more"; });
  require(std::isfinite(scale) && scale >= 0,
          [&] { return "scale is " + std::to_string(scale) + "; expected a finite number, 0 or more"; });
  require(std::isfinite(epsilon) && epsilon > 0,
          [&] { return "epsilon is " + std::to_string(epsilon) + "; expected a finite number above 0"; });
  require(n <= 0x7FFFFFFF, [&] { return "n is " + std::to_string(n) + "; expected at most 2147483647"; });
  const double deviation = std::sqrt(variance + epsilon);
  const auto constant = [&](bool bit) {
    return PopcountThreshold{.value = bit ? 0 : std::int64_t{n} + 1, .at_most = false};
  };
  if (gamma == 0) return constant(beta >= 0);
  if (scale == 0) return constant(beta - gamma * mean / deviation >= 0);
  const double at = ((mean - beta * deviation / gamma) / scale + n) / 2;
  const bool at_most = gamma < 0;
  const double value = at_most ? std::floor(at) : std::ceil(at);
  // What is far outside 0 to n decides as well as the number itself.
  if (!(std::abs(value) < 0x1p62)) return constant((value > 0) == at_most);
  return {.value = static_cast<std::int64_t>(value), .at_most = at_most};
}

std::vector<std::uint8_t> binarize(std::span<const float> x, std::span<const float> shift) {
  require(!shift.empty() && x.size() % shift.size() == 0, [&] {
    return std::to_string(shift.size()) + " shifts for " + std::to_string(x.size()) +
           " activations; expected one, or one for each element of a row";
  });
  for (const float value : shift) {
    require(!std::isnan(value), [] { return std::string("a shift is NaN; expected a number"); });
  }
  std::vector<std::uint8_t> bits(x.size());
  detail::Pace pace;
  for (std::size_t row = 0; row < x.size(); row += shift.size()) {
    pace(shift.size());
    for (std::size_t i = 0; i < shift.size(); ++i) {
      require(!std::isnan(x[row + i]),
              [&] { return "activation " + std::to_string(row + i) + " is NaN; expected a number"; });
      bits[row + i] = x[row + i] > shift[i];
    }
  }
  return bits;
}

BinaryWeights binarize_weights(std::span<const float> w, std::size_t columns) {
  require(columns > 0 && w.size() % columns == 0, [&] {
    return std::to_string(w.size()) + " weights are no rows of " + std::to_string(columns) +
           "; expected a multiple of the columns, which are 1 or more";
  });
  BinaryWeights binary;
  detail::Pace pace;
  for (std::size_t row = 0; row < w.size(); row += columns) {
    pace(columns);
    double sum = 0;
    for (std::size_t i = row; i < row + columns; ++i) {
      require(std::isfinite(w[i]), [&] {
        return "weight " + std::to_string(i - row) + " of row " + std::to_string(row / columns) + " is " +
               std::to_string(w[i]) + "; expected a finite number";
      });
      sum += std::abs(double{w[i]});
      binary.bits.push_back(w[i] > 0);
    }
    binary.scale.push_back(static_cast<float>(sum / static_cast<double>(columns)));
  }
  return binary;
}

std::vector<std::uint32_t> popcount_gemm(std::span<const std::uint8_t> x, std::span<const std::uint8_t> w,
                                         std::span<const std::uint8_t> valid, std::size_t n, BitProduct product) {
  require(n >= 1 && n <= 0x7FFFFFFF,
          [&] { return "rows have " + std::to_string(n) + " bits; expected 1 to 2147483647"; });
  const std::size_t bytes = (n + 7) / 8;
  const auto require_rows = [&](std::span<const std::uint8_t> rows, const char* name) {
    require(rows.size() % bytes == 0, [&] {
      return std::string(name) + " has " + std::to_string(rows.size()) + " bytes; expected rows of " +
             std::to_string(bytes);
    });
  };
  require_rows(x, "x");
  require_rows(w, "w");
  require(valid.empty() || valid.size() == x.size(), [&] {
    return "valid has " + std::to_string(valid.size()) + " bytes; expected as many as x, " + std::to_string(x.size()) +
           ", or none";
  });
  const std::vector<std::uint8_t> all(valid.empty() ? bytes : 0, std::uint8_t{0xFF});
  const Words rows(x, n), columns(w, n), masks(valid.empty() ? std::span<const std::uint8_t>(all) : valid, n);
  std::vector<std::uint32_t> counts;
  counts.reserve(rows.rows() * columns.rows());
  detail::Pace pace;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    for (std::size_t column = 0; column < columns.rows(); ++column) {
      pace(rows.row_words());
      counts.push_back(popcount_dot(rows.row(row), columns.row(column), masks.row(valid.empty() ? 0 : row), product));
    }
  }
  return counts;
}

std::vector<std::int64_t> plane_sums(std::span<const std::uint8_t> planes, std::span<const std::int8_t> v,
                                     std::size_t columns) {
  require(columns > 0 && v.size() % columns == 0, [&] {
    return "v has " + std::to_string(v.size()) + " elements; expected rows of " + std::to_string(columns) +
           ", which is 1 or more";
  });
  const std::size_t rows = v.size() / columns;
  require(rows > 0 && planes.size() % rows == 0, [&] {
    return "the planes have " + std::to_string(planes.size()) + " elements; expected one for each of " +
           std::to_string(rows) + " rows of v, which are 1 or more";
  });
  std::vector<std::int64_t> sums(planes.size() / rows * columns);
  detail::Pace pace;
  for (std::size_t at = 0; at < planes.size(); ++at) {
    if (!planes[at]) continue;
    pace(columns);
    for (std::size_t i = 0; i < columns; ++i) sums[at / rows * columns + i] += v[at % rows * columns + i];
  }
  return sums;
}

}  // namespace narrowgauge
