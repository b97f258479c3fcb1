// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/softmax/exaq.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/require.hpp"

namespace narrowgauge {
namespace {

using detail::require;

void require_bits(int bits) {
  require(bits >= 2 && bits <= 4, [&] { return "bits is " + std::to_string(bits) + "; expected 2 to 4"; });
}

/// How the paper's code quantizes: low in FP32, and the steps of a unit.
struct Grid {
  float low, scale;
  float largest;  ///< code
};

Grid grid_of(double clip, int bits) {
  require_bits(bits);
  require(clip == 0 || (clip >= -1e30 && clip <= -1e-30),
          [&] { return "clip is " + std::to_string(clip) + "; expected 0, or -1e30 to -1e-30"; });
  const int largest = (1 << bits) - 1;
  return {static_cast<float>(clip), clip == 0 ? 0 : static_cast<float>(largest / -clip), static_cast<float>(largest)};
}

/// The code of a difference t <= 0, an operation at a time.
float code_of(const Grid& grid, float t) {
  const float above = std::clamp(t, grid.low, 0.0F) - grid.low;
  return std::nearbyint(above * grid.scale);
}

void require_rows(std::size_t size, std::size_t columns) {
  require(columns > 0 && size % columns == 0, [&] {
    return std::to_string(size) + " scores are no rows of " + std::to_string(columns) +
           "; expected a multiple of the columns, which are 1 or more";
  });
}

int bits_of(std::size_t codes, const char* what, std::size_t less) {
  for (int bits = 2; bits <= 4; ++bits) {
    if (codes + less == std::size_t{1} << bits) return bits;
  }
  throw Error(std::string(what) + " are " + std::to_string(codes) + "; expected " + std::to_string(4 - less) + ", " +
              std::to_string(8 - less) + " or " + std::to_string(16 - less));
}

/// Calls use(index, s - m) for each attended score, m the largest of its row.
void each_difference(std::span<const float> scores, std::span<const std::uint8_t> mask, std::size_t columns,
                     auto&& use) {
  require_rows(scores.size(), columns);
  require(mask.size() == scores.size(), [&] {
    return std::to_string(mask.size()) + " elements of the mask for " + std::to_string(scores.size()) +
           " scores; expected one for each";
  });
  detail::Pace pace;
  for (std::size_t row = 0; row < scores.size(); row += columns) {
    pace(columns);
    float largest = -std::numeric_limits<float>::infinity();
    for (std::size_t i = row; i < row + columns; ++i) {
      if (!mask[i]) continue;
      require(std::isfinite(scores[i]), [&] {
        return "score " + std::to_string(i - row) + " of row " + std::to_string(row / columns) + " is " +
               std::to_string(scores[i]) + "; expected a finite number, or a mask of 0";
      });
      largest = std::max(largest, scores[i]);
    }
    for (std::size_t i = row; i < row + columns; ++i) {
      if (mask[i]) use(i, scores[i] - largest);
    }
  }
}

/// Counts of a row, thermometer-wise, checked.
void count_row(std::span<const std::uint8_t> codes, std::span<std::uint32_t> counts) {
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == exaq_masked) continue;
    require(codes[i] < counts.size(), [&] {
      return "code " + std::to_string(i) + " of a row is " + std::to_string(codes[i]) + "; expected 0 to " +
             std::to_string(counts.size() - 1) + ", or 255 where nothing is attended";
    });
    for (std::size_t k = 0; k <= codes[i]; ++k) ++counts[k];
  }
}

}  // namespace

double exaq_clip(double sigma, int bits) {
  require_bits(bits);
  require(std::isfinite(sigma) && sigma >= 0,
          [&] { return "sigma is " + std::to_string(sigma) + "; expected a finite number, 0 or more"; });
  constexpr std::array<double, 3> slope{-1.66, -1.75, -1.83}, offset{-1.85, -2.06, -2.27};
  const auto row = static_cast<std::size_t>(bits - 2);
  return sigma == 0 ? 0 : slope[row] * sigma + offset[row];
}

double exaq_sigma(std::span<const float> scores, std::span<const std::uint8_t> mask, std::size_t columns) {
  double sum = 0, squares = 0, count = 0;
  each_difference(scores, mask, columns, [&](std::size_t, double t) { sum += t, ++count; });
  if (count < 2) return 0;
  const double mean = sum / count;
  each_difference(scores, mask, columns, [&](std::size_t, double t) { squares += (t - mean) * (t - mean); });
  return std::sqrt(squares / (count - 1));
}

std::vector<float> exaq_thresholds(double clip, int bits) {
  const Grid grid = grid_of(clip, bits);
  std::vector<float> thresholds(static_cast<std::size_t>(grid.largest), -std::numeric_limits<float>::infinity());
  if (clip == 0) return thresholds;
  // Codes rise with t, so each step is found by halving between C and 0; magnitudes of negative numbers are ordered as
  // their codes are.
  const auto number = [](std::uint32_t magnitude) { return -std::bit_cast<float>(magnitude); };
  float code = 0;
  for (float& threshold : thresholds) {
    ++code;
    std::uint32_t reached = 0, below = std::bit_cast<std::uint32_t>(-grid.low);  // 0 has the last code, C code 0
    while (below - reached > 1) {
      const std::uint32_t middle = reached + (below - reached) / 2;
      (code_of(grid, number(middle)) >= code ? reached : below) = middle;
    }
    threshold = number(reached);
  }
  return thresholds;
}

std::vector<float> exaq_levels(double clip, int bits) {
  const Grid grid = grid_of(clip, bits);
  std::vector<float> levels(static_cast<std::size_t>(grid.largest) + 1, 0.0F);
  if (clip == 0) return levels;
  float code = 0;
  for (float& level : levels) {
    const float above = code / grid.scale;
    level = above + grid.low;
    ++code;
  }
  return levels;
}

std::vector<std::uint8_t> exaq_codes(std::span<const float> scores, std::span<const std::uint8_t> mask,
                                     std::size_t columns, std::span<const float> thresholds) {
  bits_of(thresholds.size(), "the thresholds", 1);
  std::vector<std::uint8_t> codes(scores.size(), exaq_masked);
  each_difference(scores, mask, columns, [&](std::size_t i, float t) {
    codes[i] = static_cast<std::uint8_t>(
        std::count_if(thresholds.begin(), thresholds.end(), [&](float threshold) { return t >= threshold; }));
  });
  return codes;
}

std::vector<float> exaq_softmax(std::span<const std::uint8_t> codes, std::size_t columns,
                                std::span<const float> levels) {
  const std::size_t size = levels.size();
  bits_of(size, "the levels", 0);
  require_rows(codes.size(), columns);
  std::vector<float> probabilities(codes.size(), 0.0F), of_code(size);
  std::vector<std::uint32_t> counts(size + 1);
  detail::Pace pace;
  for (std::size_t row = 0; row < codes.size(); row += columns) {
    pace(columns);
    std::fill(counts.begin(), counts.end(), 0);
    count_row(codes.subspan(row, columns), std::span(counts).first(size));
    double sum = 0;
    for (std::size_t k = 0; k < size; ++k) sum += (counts[k] - counts[k + 1]) * std::exp(double{levels[k]});
    for (std::size_t k = 0; k < size; ++k) of_code[k] = static_cast<float>(std::exp(double{levels[k]}) / sum);
    for (std::size_t i = row; i < row + columns; ++i) {
      if (codes[i] != exaq_masked) probabilities[i] = of_code[codes[i]];
    }
  }
  return probabilities;
}

std::vector<std::uint16_t> exaq_key_thresholds(std::uint16_t maximum, std::span<const float> thresholds) {
  const auto number = [](std::uint32_t key) {
    return std::bit_cast<float>(std::uint32_t{bf16_of_key(static_cast<std::uint16_t>(key))} << 16);
  };
  const float largest = number(maximum);
  require(std::isfinite(largest),
          [&] { return "the row's maximum is " + std::to_string(largest) + "; expected a finite number"; });
  std::vector<std::uint16_t> keys;
  for (const float threshold : thresholds) {
    std::uint32_t below = bf16_key(0xFF80) - 1U, reached = maximum;  // below: under -infinity
    require(threshold <= 0, [&] { return "a threshold is " + std::to_string(threshold) + "; expected 0 or less"; });
    while (reached - below > 1) {
      const std::uint32_t middle = below + (reached - below) / 2;
      (number(middle) - largest >= threshold ? reached : below) = middle;
    }
    keys.push_back(static_cast<std::uint16_t>(reached));
  }
  return keys;
}

std::vector<std::uint16_t> exaq_table(std::span<const float> levels) {
  bits_of(levels.size(), "the levels", 0);
  std::vector<std::uint16_t> table;
  for (const float level : levels) {
    table.push_back(static_cast<std::uint16_t>(std::nearbyint(std::min(std::exp(double{level}), 1.0) * 65535)));
  }
  return table;
}

std::vector<std::uint32_t> exaq_counts(std::span<const std::uint8_t> codes, int bits) {
  require_bits(bits);
  std::vector<std::uint32_t> counts(std::size_t{1} << bits);
  count_row(codes, counts);
  return counts;
}

ExaqRow exaq_row(std::span<const std::uint32_t> counts, std::span<const std::uint16_t> table) {
  bits_of(table.size(), "the entries of the table", 0);
  require(counts.size() == table.size(), [&] {
    return std::to_string(counts.size()) + " counts for " + std::to_string(table.size()) +
           " entries of the table; expected as many";
  });
  require(std::is_sorted(counts.rbegin(), counts.rend()) && counts[0] <= 65535,
          [] { return "the counts rise, or the first is above 65535; expected how many codes are 0, 1 ... or more"; });
  ExaqRow row{.sum = exaq_row_sum(counts, table), .probabilities = {}, .empty = false};
  row.empty = row.sum == 0;
  for (const std::uint16_t exponential : table) {
    row.probabilities.push_back(std::bit_cast<float>(exaq_probability(exponential, row.sum)));
  }
  return row;
}

std::vector<float> exaq_attention(std::span<const std::uint8_t> codes, std::span<const std::uint16_t> table,
                                  std::span<const std::int8_t> v, std::size_t width) {
  const int bits = bits_of(table.size(), "the entries of the table", 0);
  require(v.size() == codes.size() * width, [&] {
    return "v has " + std::to_string(v.size()) + " elements; expected " + std::to_string(width) + " for each of " +
           std::to_string(codes.size()) + " codes";
  });
  const ExaqRow row = exaq_row(exaq_counts(codes, bits), table);
  std::vector<std::int64_t> sums(width);
  detail::Pace pace;
  for (std::size_t k = 0; k < table.size(); ++k) {
    const std::int64_t step = table[k] - (k == 0 ? 0 : std::int64_t{table[k - 1]});
    for (std::size_t j = 0; j < codes.size(); ++j) {
      if (codes[j] == exaq_masked || codes[j] < k) continue;
      pace(width);
      for (std::size_t i = 0; i < width; ++i) sums[i] += step * v[j * width + i];
    }
  }
  std::vector<float> out;
  for (const std::int64_t sum : sums) {
    out.push_back(std::bit_cast<float>(exaq_quotient(static_cast<std::uint64_t>(std::abs(sum)), row.sum, sum < 0)));
  }
  return out;
}

}  // namespace narrowgauge
