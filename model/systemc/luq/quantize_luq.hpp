// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_luq with cuts: ports and latency of rtl/luq/ng_quantize_luq.sv.
#pragma once

#include <array>

#include "narrowgauge/luq/quantize_luq.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int lanes>
struct LuqCodes {
  std::array<std::uint8_t, static_cast<std::size_t>(lanes)> codes{};
  bool special = false;
};

template <int lanes, int random_bits, int cuts, class Core = CutPipeCore<cuts, LuqCodes<lanes>>>
struct QuantizeLuq : CutPipe<Core, LuqCodes<lanes>> {
  using CutPipe<Core, LuqCodes<lanes>>::CutPipe;
  In<16 * lanes> a_i{"a_i"};
  In<8> scale_i{"scale_i"};
  In<1> stochastic_i{"stochastic_i"};
  In<random_bits * lanes> rand_i{"rand_i"};
  Out<4 * lanes> codes_o{"codes_o"};
  Out<1> special_o{"special_o"};

 private:
  LuqCodes<lanes> value() const override {
    const auto x = fields<lanes>(a_i);
    const auto random = fields<lanes>(rand_i);
    const auto scale = scale_i.value();
    LuqCodes<lanes> out{.special = scale == 0xFF};
    for (std::size_t i = 0; i < x.size(); ++i) {
      out.codes[i] = quantize_luq(x[i], scale, stochastic_i, random[i], random_bits);
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
