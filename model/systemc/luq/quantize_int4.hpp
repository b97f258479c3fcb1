// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_int4 with cuts: ports and latency of rtl/luq/ng_quantize_int4.sv.
#pragma once

#include <bit>

#include "narrowgauge/luq/quantize_int4.hpp"
#include "systemc/luq/quantize_luq.hpp"

namespace narrowgauge::systemc {

template <int lanes, int cuts, class Core = CutPipeCore<cuts, LuqCodes<lanes>>>
struct QuantizeInt4 : CutPipe<Core, LuqCodes<lanes>> {
  using CutPipe<Core, LuqCodes<lanes>>::CutPipe;
  In<16 * lanes> a_i{"a_i"};
  In<31> scale_i{"scale_i"};
  Out<4 * lanes> codes_o{"codes_o"};
  Out<1> special_o{"special_o"};

 private:
  LuqCodes<lanes> value() const override {
    const auto x = fields<lanes>(a_i);
    const auto scale = std::bit_cast<float>(scale_i.value());
    LuqCodes<lanes> out{.special = !is_int4_scale(scale)};
    for (std::size_t i = 0; i < x.size(); ++i) {
      out.codes[i] = quantize_int4(x[i], scale);
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
