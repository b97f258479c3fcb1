// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_mma_nvfp4 with cuts: ports and latency of rtl/mac/ng_mma_nvfp4.sv.
#pragma once

#include "narrowgauge/mac/mma_nvfp4.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <bool e8m0, int cuts, class Core = CutPipeCore<cuts, std::uint32_t>>
struct MmaNvfp4 : CutPipe<Core, std::uint32_t> {
  using CutPipe<Core, std::uint32_t>::CutPipe;
  In<256> a_i{"a_i"}, b_i{"b_i"};
  In<e8m0 ? 16 : 32> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  In<32> fp32_i{"fp32_i"};
  Out<32> fp32_o{"fp32_o"};

 private:
  std::uint32_t value() const override {
    constexpr int scales = e8m0 ? 2 : 4;
    return mma_fp4(fields<64>(a_i), fields<64>(b_i), fields<scales>(a_scale_i), fields<scales>(b_scale_i),
                   fp32_i.value());
  }
  void drive(const std::uint32_t& code) override { fp32_o = code; }
};

}  // namespace narrowgauge::systemc
