// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_luq_exact with cuts: ports and latency of rtl/luq/ng_quantize_luq_exact.sv.
#pragma once

#include "narrowgauge/luq/quantize_luq_exact.hpp"
#include "systemc/luq/quantize_luq.hpp"

namespace narrowgauge::systemc {

/// mantissa_bits: of alpha, 7 for BF16, 23 for FP32.
template <int lanes, int levels, int mantissa_bits, int random_bits, int cuts,
          class Core = CutPipeCore<cuts, LuqCodes<lanes>>>
struct QuantizeLuqExact : CutPipe<Core, LuqCodes<lanes>> {
  using CutPipe<Core, LuqCodes<lanes>>::CutPipe;
  static constexpr int code_bits = levels == luq_storage_levels ? 4 : 5;

  In<16 * lanes> a_i{"a_i"};
  In<mantissa_bits + 8> scale_i{"scale_i"};
  In<1> stochastic_i{"stochastic_i"};
  In<random_bits * lanes> rand_i{"rand_i"};
  Out<code_bits * lanes> codes_o{"codes_o"};
  Out<1> special_o{"special_o"};

 private:
  LuqCodes<lanes> value() const override {
    const auto x = fields<lanes>(a_i);
    const auto random = fields<lanes>(rand_i);
    const float alpha = luq_scale(scale_i.read(), mantissa_bits);
    LuqCodes<lanes> out{.special = !is_luq_scale(alpha)};
    for (std::size_t i = 0; i < x.size(); ++i) {
      out.codes[i] = quantize_luq_exact(x[i], alpha, levels, stochastic_i, random[i], random_bits);
      out.special |= is_special_bf16(x[i]);
    }
    return out;
  }
  void drive(const LuqCodes<lanes>& out) override {
    codes_o = out.codes;
    special_o = out.special;
  }
};

}  // namespace narrowgauge::systemc
