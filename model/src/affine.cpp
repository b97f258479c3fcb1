// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/affine.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

/// The zero point before it is limited.
float zero_point(const AffineRule& rule, float low, double wide_scale, float scale) {
  if (rule.zero == AffineZero::truncated) return static_cast<float>(std::trunc(-double{low} / wide_scale));
  const float quotient = 0.0F - low / scale;
  return rule.zero == AffineZero::away ? std::round(quotient) : std::nearbyint(quotient);
}

}  // namespace

int AffineQuantizer::quantize(float x, float noise) const {
  if (std::isnan(x)) return high();
  float code = zero_point ? x / scale + *zero_point : (x - offset) / scale;
  code = std::clamp(code + noise, static_cast<float>(low()), static_cast<float>(high()));
  return static_cast<int>(ties_away ? std::round(code) : std::nearbyint(code));
}

float AffineQuantizer::dequantize(int code) const {
  const auto number = static_cast<float>(code);
  if (!zero_point) return number * scale + offset;
  return expanded ? number * scale - *zero_point * scale : (number - *zero_point) * scale;
}

const AffineRule& find_affine_rule(std::string_view name) {
  std::string names;
  for (const AffineRule& rule : affine_rules) {
    if (rule.name == name) return rule;
    names += (names.empty() ? "" : ", ") + std::string(rule.name);
  }
  throw Error("affine rule \"" + std::string(name) + "\" is unknown; expected one of " + names);
}

AffineQuantizer affine_quantizer(const AffineRule& rule, int bits, float low, double width) {
  if (bits < 2 || bits > 8) throw Error("bits is " + std::to_string(bits) + "; expected 2 to 8");
  if (!std::isfinite(low))
    throw Error("the low end of the range is " + std::to_string(low) + "; expected a finite number");
  if (!std::isfinite(width) || width < 0)
    throw Error("the width of the range is " + std::to_string(width) + "; expected a finite number, 0 or more");
  if (rule.bounded) {
    width = std::clamp(static_cast<float>(width), 1e-6F, 1e5F);
    low = std::min(low, 0.0F);
  }
  const int steps = (1 << bits) - 1;
  double scale =
      rule.wide_scale ? width / steps : static_cast<double>(static_cast<float>(width) / static_cast<float>(steps));
  scale = std::max(scale, rule.wide_scale ? rule.least_scale : double{static_cast<float>(rule.least_scale)});
  if (rule.power_of_two && scale > 0) {
    int exponent = 0;
    const double fraction = std::frexp(scale, &exponent);
    scale = std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
  }
  AffineQuantizer q{.bits = bits,
                    .is_signed = rule.is_signed,
                    .ties_away = rule.ties_away,
                    .scale = static_cast<float>(scale),
                    .expanded = rule.expanded};
  if (!(q.scale > 0) || !std::isfinite(q.scale)) {
    throw Error("a range of width " + std::to_string(width) + " gives the scale " + std::to_string(q.scale) +
                "; expected a width that gives a positive finite scale");
  }
  if (rule.is_signed) return q;
  if (rule.zero == AffineZero::none) {
    q.offset = low;
    return q;
  }
  const float zero = zero_point(rule, low, scale, q.scale);
  q.zero_point = rule.clamp_zero ? std::clamp(zero, 0.0F, static_cast<float>(steps)) : zero;
  return q;
}

}  // namespace narrowgauge
