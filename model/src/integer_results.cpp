// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/integer_results.hpp"

#include <cmath>
#include <sstream>

#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"

namespace narrowgauge {

float integer_factor(const QuantizedMatrix& a, const QuantizedMatrix& b, const AffineRange& c) {
  if (a.scaling != Scaling::tensor || b.scaling != Scaling::tensor) {
    throw Error("an operand of integer results has FP32 scales of parts; expected one scale for the tensor");
  }
  std::ostringstream text;
  if (!(c.scale > 0) || !std::isfinite(c.scale)) {
    text << "the scale of integer results is " << c.scale << "; expected a number above 0";
    throw Error(text.str());
  }
  if (c.zero_point < -256 || c.zero_point > 255) {
    throw Error("the zero point of integer results is " + std::to_string(c.zero_point) + "; expected -256 to 255");
  }
  const float scales = a.tensor_scale * b.tensor_scale, factor = scales / c.scale;
  if (!std::isnormal(scales) || !std::isnormal(factor)) {
    text << "the tensor scales " << a.tensor_scale << " and " << b.tensor_scale << " over the scale " << c.scale
         << " of integer results are " << factor << "; expected a normal FP32 number, of the product of the two too";
    throw Error(text.str());
  }
  return factor;
}

std::vector<std::int8_t> gemm_integers(const QuantizedMatrix& a, const QuantizedMatrix& b, const AffineRange& c,
                                       unsigned threads, const Progress& progress) {
  const float factor = integer_factor(a, b, c);
  std::vector<std::int8_t> codes;
  codes.reserve(a.rows * b.rows);
  for (const float sum : gemm_sums(a, b, threads, progress))
    codes.push_back(int8_result(epilogue(sum, factor), c.zero_point));
  return codes;
}

}  // namespace narrowgauge
