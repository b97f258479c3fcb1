// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_int4 with cuts: ports and latency of rtl/luq/ng_quantize_int4.sv.
#pragma once

#include <bit>

#include "narrowgauge/luq/quantize_int4.hpp"
#include "systemc/luq/quantize_luq.hpp"

namespace narrowgauge::systemc {

template <int lanes, int cuts, class Core = CutPipeCore<cuts, LuqCodes<lanes>>>
class QuantizeInt4 : public CutPipe<Core, LuqCodes<lanes>> {
 public:
  sc_core::sc_in<Port<16 * lanes>> a_i{"a_i"};
  sc_core::sc_in<Port<31>> scale_i{"scale_i"};
  sc_core::sc_out<Port<4 * lanes>> codes_o{"codes_o"};
  sc_core::sc_out<bool> special_o{"special_o"};

  using CutPipe<Core, LuqCodes<lanes>>::CutPipe;

 private:
  LuqCodes<lanes> value() const override {
    const auto x = fields_of<lanes, 16>(a_i);
    const auto scale = std::bit_cast<float>(static_cast<std::uint32_t>(scale_i.read()));
    LuqCodes<lanes> out{.special = !is_int4_scale(scale)};
    for (std::size_t i = 0; i < x.size(); ++i) {
      out.codes[i] = quantize_int4(x[i], scale);
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
