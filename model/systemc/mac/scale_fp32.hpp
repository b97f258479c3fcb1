// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_scale_fp32 with cuts: ports and latency of rtl/mac/ng_scale_fp32.sv.
#pragma once

#include <bit>

#include "narrowgauge/mac/gemm.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int cuts, class Core = CutPipeCore<cuts, std::uint32_t>>
struct ScaleFp32 : CutPipe<Core, std::uint32_t> {
  using CutPipe<Core, std::uint32_t>::CutPipe;
  In<32> a_i{"a_i"}, b_i{"b_i"};
  Out<32> y_o{"y_o"};

 private:
  std::uint32_t value() const override {
    const auto a = std::bit_cast<float>(a_i.read()), b = std::bit_cast<float>(b_i.read());
    return std::bit_cast<std::uint32_t>(epilogue(a, b));
  }
  void drive(const std::uint32_t& code) override { y_o = code; }
};

}  // namespace narrowgauge::systemc
