// SPDX-License-Identifier: Apache-2.0
// Random combinations of a dialect's fields on numbers that are hard for scales: what is not refused keeps the
// promises that all dialects make.
#include "narrowgauge/quant/dialect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/convert.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace narrowgauge {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : rng_(seed) {}
  std::uint64_t below(std::uint64_t n) { return rng_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  T of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  float sign() { return one_in(2) ? -1.0F : 1.0F; }
  float unit() { return static_cast<float>(rng_() >> 40) * 0x1p-24F; }

 private:
  std::mt19937_64 rng_;
};

/// A named dialect with a few fields that are others.
Dialect any_dialect(Dice& dice) {
  Dialect d = dialects[dice.below(dialects.size())];
  const auto now = [&] { return dice.one_in(4); };
  if (now()) d.scheme = dice.of({Scheme::nvfp4, Scheme::mxfp4, Scheme::mxfp6, Scheme::mxfp8, Scheme::mxint8});
  if (d.scheme == Scheme::mxfp8) d.element = dice.of({Format::e4m3, Format::e5m2});
  if (d.scheme == Scheme::mxfp6) d.element = dice.of({Format::e2m3, Format::e3m2});
  if (d.scheme == Scheme::mxint8) d.element = Format::int8_mx;
  if (now()) {
    d.order = dice.of({ScaleOrder::exact, ScaleOrder::reciprocals, ScaleOrder::quotient, ScaleOrder::quotients,
                       ScaleOrder::divisions, ScaleOrder::products, ScaleOrder::least_error});
  }
  if (now()) d.shape = dice.of({BlockShape::row, BlockShape::tile_16x16});
  if (now()) d.bound = dice.of({1.0F, 256.0F, 255.99F, 448.0F, 1.0F + 447 * dice.unit()});
  if (now()) d.element_max = dice.of({1.0F, 2.0F, 4.0F, 6.0F, 2.0F + 4 * dice.unit()});
  if (now()) d.scale = dice.of({ScaleCode::exact, ScaleCode::ggml});
  if (now()) {
    d.power_rule = dice.of({PowerRule::floor, PowerRule::ceil, PowerRule::rceil, PowerRule::even, PowerRule::quotient});
  }
  if (now()) d.search = dice.of({ScaleSearch::none, ScaleSearch::mae, ScaleSearch::mse, ScaleSearch::largest});
  if (now()) d.search_error = dice.of({SearchError::input, SearchError::scaled});
  if (now()) d.error_sum = dice.of({ErrorSum::sequential, ErrorSum::pairwise, ErrorSum::lanes});
  if (now()) {
    d.zero_scale = dice.of(
        {ZeroScale::codes, ZeroScale::zero, ZeroScale::floor, ZeroScale::one, ZeroScale::least, ZeroScale::zeros_one});
  }
  if (now()) d.zero_sign = dice.of({ZeroSign::keep, ZeroSign::drop, ZeroSign::minus, ZeroSign::plus});
  if (now()) {
    d.rounding = dice.of({Rounding::nearest_even, Rounding::nearest_away, Rounding::stochastic, Rounding::toward_zero});
  }
  if (now()) d.point = dice.of({RoundingPoint::element, RoundingPoint::scale});
  if (now()) d.random_bits = static_cast<int>(1 + dice.below(24));
  if (now()) d.front = dice.of({FrontStage::none, FrontStage::mean, FrontStage::rht16, FrontStage::rht128});
  if (now()) d.constant_amax = dice.of({1e-38F, 1e-3F, 1.0F, 1e30F});
  if (now()) d.nonfinite = dice.of({Nonfinite::refuse, Nonfinite::nan_scale});
  return d;
}

/// Blocks that span all scales, zeros of both signs, numbers beside the ends of FP32; all of one power of two or not.
std::vector<float> any_matrix(Dice& dice, std::size_t rows, std::size_t cols) {
  std::vector<float> x(rows * cols);
  const int center = dice.of({0, 0, 0, -60, -120, -140, 60, 120});
  const bool flat = dice.one_in(4);
  for (std::size_t first = 0; first < x.size(); first += 16) {
    const int scale = center - (flat ? 0 : dice.of({0, 0, 3, 10, 17, 18, 19, 24, 30, 60, 100}));
    const std::uint64_t kind = dice.below(8);
    for (std::size_t i = first; i < std::min(first + 16, x.size()); ++i) {
      const float magnitude = kind == 0   ? 0.0F
                              : kind == 1 ? 1.0F
                                          : std::ldexp(1 + dice.unit(), -static_cast<int>(dice.below(5)));
      x[i] = dice.sign() * std::ldexp(magnitude, std::min(scale, 126));
    }
  }
  if (dice.one_in(6)) x[dice.below(x.size())] = std::numeric_limits<float>::max();
  if (dice.one_in(6)) x[dice.below(x.size())] = std::numeric_limits<float>::denorm_min();
  return x;
}

std::string described(const Dialect& d) {
  std::string out(d.name);
  for (const DialectField& f : fields(d)) out += ' ' + std::string(f.name) + '=' + f.value;
  return out;
}

bool is_finite_code(Format element, std::uint8_t code) {
  return element == Format::e2m1 ? code < 16 : std::isfinite(decode(desc(element), code));
}

TEST(Dialects, RandomFieldsKeepThePromises) {
  constexpr std::size_t rows = 17, cols = 130;
  Dice dice(20);
  std::size_t refused = 0, refused_numbers = 0, made = 0, by_scale = 0, marked = 0;
  for (int round = 0; round < 6000; ++round) {
    const Dialect d = any_dialect(dice);
    const std::string what = "round " + std::to_string(round) + ": " + described(d);
    SCOPED_TRACE(what);
    try {
      check(d);
    } catch (const Error&) {
      ++refused;
      continue;
    }
    std::vector<float> x = any_matrix(dice, rows, cols);
    const bool holes = d.nonfinite == Nonfinite::nan_scale && d.front == FrontStage::none && dice.one_in(2);
    if (holes) x[dice.below(x.size())] = dice.of({infinity, -infinity, std::nanf("")});
    DialectInputs inputs{.seed = dice.below(1U << 20), .threads = 1};
    const bool mx = is_mx(d.scheme);
    if (!mx && !d.constant_amax && dice.one_in(8)) {
      (dice.one_in(2) ? inputs.amax : inputs.tensor_scale) = dice.of({1e-38F, 1e-3F, 1.0F, 1e30F, 3e38F});
    }
    const bool measured = !inputs.amax && !inputs.tensor_scale && !d.constant_amax;
    QuantizedMatrix q;
    try {
      q = quantize(x, rows, cols, Axis::rows, d, inputs);
      if (d.front != FrontStage::none) x = front_stage(x, rows, cols, d.front, 1).x;
    } catch (const Error&) {
      ++refused_numbers;
      EXPECT_TRUE(d.front != FrontStage::none || mx || inputs.tensor_scale ||
                  (d.point == RoundingPoint::scale && !measured));
      continue;
    }
    ++made;
    by_scale += d.point == RoundingPoint::scale;
    const std::size_t block = block_size(d.scheme), high = d.shape == BlockShape::tile_16x16 ? 16 : 1;
    ASSERT_EQ(q.scales.size(), rows * q.blocks());
    ASSERT_TRUE(std::isfinite(q.tensor_scale) && q.tensor_scale >= 0);
    float amax = 0;
    for (const float v : x) amax = std::max(amax, std::isfinite(v) ? std::abs(v) : 0.0F);
    const std::vector<double> values = dequantize(q);
    for (std::size_t v = 0; v < rows; ++v) {
      for (std::size_t b = 0; b < q.blocks(); ++b) {
        float largest = 0;
        bool finite = true;
        for (std::size_t r = v / high * high; r < std::min(v / high * high + high, rows); ++r) {
          for (std::size_t i = b * block; i < std::min((b + 1) * block, q.k); ++i) {
            finite = finite && std::isfinite(x[r * q.k + i]);
            largest = std::max(largest, std::abs(x[r * q.k + i]));
          }
        }
        const std::uint8_t scale = q.scales[v * q.blocks() + b];
        const bool nan = scale == (mx ? 0xFF : 0x7F);
        marked += nan;
        ASSERT_TRUE(mx || scale < 128) << int{scale};
        const bool beyond = mx && largest > 0x1p125F && d.nonfinite == Nonfinite::nan_scale;  // no such power of two
        ASSERT_TRUE(finite ? !nan || beyond : nan)
            << "block " << b << " of vector " << v << " has scale " << int{scale};
        for (std::size_t i = b * block; i < (b + 1) * block; ++i) {
          const std::uint8_t code = q.codes[v * q.k_padded + i];
          ASSERT_TRUE(is_finite_code(d.element, code)) << "code " << int{code};
          ASSERT_TRUE(!nan || finite || code == 0);
          if (i >= q.k || nan || !finite) continue;
          const double value = values[v * q.k + i], from = x[v * q.k + i];
          ASSERT_TRUE(std::isfinite(value));
          ASSERT_TRUE(value == 0 || from == 0 || std::signbit(value) == std::signbit(from));
          // Scales and codes are rounded by up to twice, corrections are below two; constants only ever clip. The
          // reciprocal of a smaller tensor scale is beyond FP32 (docs/dialects.md, Corner cases).
          if (amax < (mx ? 0x1p-120 : 0x1p-110) || q.tensor_scale < 0x1p-126F) continue;
          const double stochastic = d.rounding == Rounding::stochastic ? 4 * static_cast<double>(largest) : 0;
          const double floor =
              d.rounding == Rounding::stochastic && d.zero_scale != ZeroScale::zero && !mx ? q.tensor_scale * 0.5 : 0;
          ASSERT_LE(std::abs(value), 8 * std::abs(from) + stochastic + floor + 0x1p-126)
              << "block " << b << " of vector " << v << ", element " << i << " is " << from << " in " << largest;
          if (measured && std::abs(from) == amax && d.zero_scale != ZeroScale::one) {
            ASSERT_GE(std::abs(value) * 4, amax) << "the largest number";
          }
        }
      }
    }
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(refused_numbers, 20U);
  EXPECT_GT(made, 1000U);
  EXPECT_GT(by_scale, 60U);
  EXPECT_GT(marked, 100U);
}

}  // namespace
}  // namespace narrowgauge
