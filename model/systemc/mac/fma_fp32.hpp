// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fma_fp32 with cuts: ports and latency of rtl/mac/ng_fma_fp32.sv.
#pragma once

#include "narrowgauge/mac/fp_mac.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <Format format, int cuts, class Core = CutPipeCore<cuts, std::uint32_t>>
struct FmaFp32 : CutPipe<Core, std::uint32_t> {
  using CutPipe<Core, std::uint32_t>::CutPipe;
  static constexpr int bits = desc(format).bits;
  In<bits> a_i{"a_i"}, b_i{"b_i"};
  In<32> c_i{"c_i"};
  Out<32> fp32_o{"fp32_o"};

 private:
  std::uint32_t value() const override { return fma_fp32(desc(format), a_i.read(), b_i.read(), c_i.read()); }
  void drive(const std::uint32_t& code) override { fp32_o = code; }
};

}  // namespace narrowgauge::systemc
