// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fma_fp32 with cuts: ports and latency of rtl/mac/ng_fma_fp32.sv.
#pragma once

#include "narrowgauge/mac/fp_mac.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <Format format, int cuts, class Core = CutPipeCore<cuts, std::uint32_t>>
class FmaFp32 : public CutPipe<Core, std::uint32_t> {
 public:
  static constexpr int bits = desc(format).bits;
  sc_core::sc_in<Port<bits>> a_i{"a_i"}, b_i{"b_i"};
  sc_core::sc_in<Port<32>> c_i{"c_i"};
  sc_core::sc_out<Port<32>> fp32_o{"fp32_o"};

  using CutPipe<Core, std::uint32_t>::CutPipe;

 private:
  std::uint32_t value() const override { return fma_fp32(desc(format), a_i.read(), b_i.read(), c_i.read()); }
  void drive(const std::uint32_t& code) override { fp32_o = code; }
};

}  // namespace narrowgauge::systemc
