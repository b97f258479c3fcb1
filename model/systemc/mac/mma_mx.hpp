// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_mma_mx with cuts: ports and latency of rtl/mac/ng_mma_mx.sv.
#pragma once

#include "narrowgauge/mac/mma_mx.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <unsigned formats, int cuts, class Core = CutPipeCore<cuts, std::uint32_t>>
struct MmaMx : CutPipe<Core, std::uint32_t> {
  using CutPipe<Core, std::uint32_t>::CutPipe;
  In<256> a_i{"a_i"}, b_i{"b_i"};
  In<3> a_fmt_i{"a_fmt_i"}, b_fmt_i{"b_fmt_i"};
  In<8> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  In<32> fp32_i{"fp32_i"};
  Out<32> fp32_o{"fp32_o"};

 private:
  std::uint32_t value() const override {
    return mma_mx(fields<32>(a_i), fields<32>(b_i), mx_format(formats, a_fmt_i.value()),
                  mx_format(formats, b_fmt_i.value()), static_cast<std::uint8_t>(a_scale_i.value()),
                  static_cast<std::uint8_t>(b_scale_i.value()), fp32_i.value());
  }
  void drive(const std::uint32_t& code) override { fp32_o = code; }
};

}  // namespace narrowgauge::systemc
