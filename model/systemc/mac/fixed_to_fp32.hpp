// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fixed_to_fp32 with cuts: ports and latency of rtl/mac/ng_fixed_to_fp32.sv, of up to 128 bits.
#pragma once

#include "narrowgauge/mac/fixed_to_fp32.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int width, int lsb_exp, int cuts, class Core = CutPipeCore<cuts, std::uint32_t>>
struct FixedToFp32 : CutPipe<Core, std::uint32_t> {
  using CutPipe<Core, std::uint32_t>::CutPipe;
  In<width> fixed_i{"fixed_i"};
  In<1> nan_i{"nan_i"}, pinf_i{"pinf_i"}, ninf_i{"ninf_i"};
  Out<32> fp32_o{"fp32_o"};

 private:
  std::uint32_t value() const override {
    return fixed_to_fp32_bits(fixed_i.number(), lsb_exp, {.nan = nan_i, .pinf = pinf_i, .ninf = ninf_i});
  }
  void drive(const std::uint32_t& code) override { fp32_o = code; }
};

}  // namespace narrowgauge::systemc
