// SPDX-License-Identifier: Apache-2.0
// The golden model of ng_quantize_te against the quantizer of matrices in dialect `te`, on numbers of BF16.
#include "narrowgauge/quant/quantize_te.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "narrowgauge/format/random.hpp"
#include "narrowgauge/quant/dialect.hpp"

namespace narrowgauge {
namespace {

TEST(QuantizeTe, IsTheDialect) {
  PhiloxStream random(7, 32);
  Dialect te = find_dialect("te");
  te.nonfinite = Nonfinite::nan_scale;
  for (int tensor = 0; tensor < 200; ++tensor) {
    // Sizes from subnormal to the largest; a third of them with few bits, so that there are ties.
    const std::uint32_t top = tensor < 20 ? static_cast<std::uint32_t>(tensor) * 0x6B0 : random.draw() % 0x7F80;
    std::vector<std::uint16_t> codes(64 * 16);
    std::uint32_t amax = 0;
    for (std::uint16_t& code : codes) {
      std::uint32_t m = top - std::min(top, random.draw() % (20 << 7));
      if (tensor % 3 == 0) m &= 0x7FE0;
      amax = std::max(amax, m);
      code = static_cast<std::uint16_t>(m | (random.draw() & 1) << 15);
    }
    std::vector<float> x;
    for (const std::uint16_t code : codes) x.push_back(std::bit_cast<float>(std::uint32_t{code} << 16));
    const QuantizedMatrix q = quantize(x, 64, 16, Axis::rows, te, {});
    for (std::size_t b = 0; b < 64; ++b) {
      const Nvfp4Block block = quantize_te(std::span<const std::uint16_t, 16>(codes.data() + 16 * b, 16), amax << 16);
      ASSERT_EQ(block.scale, q.scales[b]) << amax;
      for (std::size_t i = 0; i < 16; ++i) ASSERT_EQ(block.codes[i], q.codes[16 * b + i]) << amax;
    }
  }
}

}  // namespace
}  // namespace narrowgauge
