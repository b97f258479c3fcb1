// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_norm_apply with cuts: ports and latency of rtl/norm/ng_norm_apply.sv.
#pragma once

#include <array>
#include <cstdint>

#include "narrowgauge/norm/norm_apply.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int lanes>
using NormApplied = std::array<std::uint16_t, static_cast<std::size_t>(lanes)>;

/// lanes, bf16, fraction_bits, cuts: the unit's parameters, as the RTL has them.
template <int lanes, bool bf16, int fraction_bits, int cuts, class Core = CutPipeCore<cuts, NormApplied<lanes>>>
struct NormApply : CutPipe<Core, NormApplied<lanes>> {
  using Results = NormApplied<lanes>;
  using CutPipe<Core, Results>::CutPipe;
  In<8 * lanes> codes_i{"codes_i"};
  In<16> multiplier_i{"multiplier_i"};
  In<24> offset_i{"offset_i"};
  In<7> exp_i{"exp_i"};
  Out<(bf16 ? 16 : 8) * lanes> y_o{"y_o"};

 private:
  Results value() const override {
    const NormFold fold{static_cast<std::int16_t>(multiplier_i.read()),
                        static_cast<std::int32_t>(offset_i.read() << 8) >> 8};
    const int exponent = static_cast<std::int8_t>(exp_i.read() << 1) >> 1;
    const auto codes = fields<lanes, std::int8_t>(codes_i);
    Results y;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if constexpr (bf16) {
        y[i] = norm_to_bf16(fold, exponent, codes[i]);
      } else {
        y[i] = static_cast<std::uint8_t>(norm_to_int8(fold, fraction_bits, codes[i]));
      }
    }
    return y;
  }
  void drive(const Results& y) override { y_o = y; }
};

}  // namespace narrowgauge::systemc
