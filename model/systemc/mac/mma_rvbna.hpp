// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_mma_rvbna with cuts: ports and latency of rtl/mac/ng_mma_rvbna.sv.
#pragma once

#include "narrowgauge/mac/mma_rvbna.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <unsigned formats, int cuts, class Core = CutPipeCore<cuts, std::uint32_t>>
struct MmaRvbna : CutPipe<Core, std::uint32_t> {
  using CutPipe<Core, std::uint32_t>::CutPipe;
  In<256> a_i{"a_i"}, b_i{"b_i"};
  In<1> a_fmt_i{"a_fmt_i"}, b_fmt_i{"b_fmt_i"};
  In<32> fp32_i{"fp32_i"};
  Out<32> fp32_o{"fp32_o"};

 private:
  std::uint32_t value() const override {
    return mma_rvbna(fields<32>(a_i), fields<32>(b_i), format(a_fmt_i.value()), format(b_fmt_i.value()),
                     fp32_i.value());
  }
  void drive(const std::uint32_t& code) override { fp32_o = code; }
  static Format format(bool port) {
    const bool e5m2 = formats == format_set::fp8 ? port : formats == format_set::e5m2;
    return e5m2 ? Format::e5m2 : Format::e4m3;
  }
};

}  // namespace narrowgauge::systemc
