// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_quantize_te.sv.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "narrowgauge/mac/div_fp32.hpp"
#include "narrowgauge/quant/quantize_te.hpp"

namespace narrowgauge::systemc {

/// Edges of ng_quantize_te from the one that takes a tensor's largest magnitude until its table is complete.
inline int te_table_steps(std::uint32_t tensor_amax) {
  if (tensor_amax >= 0x7F800000) return 0;
  constexpr std::uint32_t one = 0x3F800000;
  const float s_enc = vendor::encode_scale(std::bit_cast<float>(tensor_amax));
  const auto code = [](float v) { return std::bit_cast<std::uint32_t>(v); };
  const float s_dec = 1.0F / s_enc;
  // 2688 / A; S fl(1/6); 128 products of 8 bits, and by then 1 / S is there.
  int steps = div_fp32_steps(code(nvfp4_max), tensor_amax) + 2 + 25 + 128 * (1 + 9) + 1;
  constexpr std::array<std::uint32_t, 4> targets = {0x1000001, 0x17FFFFF, 0x1400001, 0x1BFFFFF};
  for (std::uint32_t s = 0; s < 127; ++s) {
    const float product = static_cast<float>(decode(Format::ue4m3, s)) * s_dec;
    const std::uint32_t e = div_fp32(one, code(product), true);
    const std::uint32_t twice = ((e & 0x7FFFFF) | 0x800000) << 1;
    const int exponent = std::ilogb(s_dec) + (s == 0 ? -9 : std::ilogb(static_cast<float>(decode(Format::ue4m3, s))));
    steps += 1 + 5 + std::max(0, -127 - exponent) + div_fp32_steps(one, code(product)) + 2 + 7;
    for (std::size_t t = 0; t < 4; ++t) steps += 8 + (targets[t] < twice || (t % 2 == 1 && targets[t] == twice));
  }
  return steps;
}

/// Blocks through three registers and the outputs, beside a table that is made for each tensor. Outputs are functions
/// of the state; step() is a clock edge.
class QuantizeTeCore {
 public:
  using Numbers = std::array<std::uint16_t, 16>;

  void reset() { *this = {}; }

  bool ready() const { return to_go_ == 0; }
  const Nvfp4Block& block() const { return block_; }

  /// valid: a tensor begins, of this largest magnitude. enable: the blocks move on.
  void step(bool valid, std::uint32_t tensor_amax, bool enable, const Numbers& numbers) {
    if (enable) {
      block_ = third_;
      third_ = {.scale = filled_ ? second_scale_ : std::uint8_t{0x7F}};
      std::ranges::transform(second_, third_.codes.begin(),
                             [&](std::uint16_t x) { return te_element(x, third_.scale, tensor_amax_); });
      second_ = first_;
      std::uint16_t amax = 0;
      for (const std::uint16_t x : first_) amax = std::max<std::uint16_t>(amax, x & 0x7FFF);
      second_scale_ = filled_ ? te_block_scale(amax, tensor_amax_) : std::uint8_t{0x7F};
      first_ = numbers;
    }
    if (to_go_ > 0) {
      filled_ = --to_go_ == 0;
    } else if (valid) {
      tensor_amax_ = tensor_amax;
      to_go_ = te_table_steps(tensor_amax);
      filled_ = false;
    }
  }

 private:
  Numbers first_{}, second_{};
  std::uint8_t second_scale_ = 0;
  Nvfp4Block third_, block_;
  std::uint32_t tensor_amax_ = 0;
  int to_go_ = 0;  ///< edges until the table is complete
  bool filled_ = false;
};

}  // namespace narrowgauge::systemc
