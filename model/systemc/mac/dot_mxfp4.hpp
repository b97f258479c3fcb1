// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_mxfp4 with cuts: ports and latency of rtl/mac/ng_dot_mxfp4.sv.
#pragma once

#include "narrowgauge/mac/mxfp4_mac.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int cuts, class Core = CutPipeCore<cuts, std::uint32_t>>
struct DotMxfp4 : CutPipe<Core, std::uint32_t> {
  using CutPipe<Core, std::uint32_t>::CutPipe;
  In<128> a_i{"a_i"}, b_i{"b_i"};
  In<8> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  Out<32> fp32_o{"fp32_o"};

 private:
  std::uint32_t value() const override {
    return mxfp4_dot(fields<32>(a_i), fields<32>(b_i), a_scale_i.value(), b_scale_i.value());
  }
  void drive(const std::uint32_t& code) override { fp32_o = code; }
};

}  // namespace narrowgauge::systemc
