// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_luq with cuts: ports and latency of rtl/luq/ng_quantize_luq.sv.
#pragma once

#include <array>

#include "narrowgauge/luq/quantize_luq.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int lanes>
struct LuqCodes {
  std::array<std::uint8_t, static_cast<std::size_t>(lanes)> codes{};
  bool special = false;
};

template <int lanes, int random_bits, int cuts, class Core = CutPipeCore<cuts, LuqCodes<lanes>>>
class QuantizeLuq : public CutPipe<Core, LuqCodes<lanes>> {
 public:
  sc_core::sc_in<Port<16 * lanes>> a_i{"a_i"};
  sc_core::sc_in<Port<8>> scale_i{"scale_i"};
  sc_core::sc_in<bool> stochastic_i{"stochastic_i"};
  sc_core::sc_in<Port<random_bits * lanes>> rand_i{"rand_i"};
  sc_core::sc_out<Port<4 * lanes>> codes_o{"codes_o"};
  sc_core::sc_out<bool> special_o{"special_o"};

  using CutPipe<Core, LuqCodes<lanes>>::CutPipe;

 private:
  LuqCodes<lanes> value() const override {
    const auto x = fields_of<lanes, 16>(a_i);
    const auto random = fields_of<lanes, random_bits>(rand_i);
    const auto scale = static_cast<std::uint8_t>(scale_i.read());
    LuqCodes<lanes> out{.special = scale == 0xFF};
    for (std::size_t i = 0; i < x.size(); ++i) {
      out.codes[i] = quantize_luq(x[i], scale, stochastic_i, random[i], random_bits);
      out.special |= is_special_bf16(x[i]);
    }
    return out;
  }
  void drive(const LuqCodes<lanes>& out) override {
    codes_o = port_of_fields<4>(out.codes);
    special_o = out.special;
  }
};

}  // namespace narrowgauge::systemc
