// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_mxfp4 with cuts: ports and latency of rtl/mac/ng_dot_mxfp4.sv.
#pragma once

#include "narrowgauge/mac/mxfp4_mac.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int cuts, class Core = CutPipeCore<cuts, std::uint32_t>>
class DotMxfp4 : public CutPipe<Core, std::uint32_t> {
 public:
  sc_core::sc_in<Port<128>> a_i{"a_i"}, b_i{"b_i"};
  sc_core::sc_in<Port<8>> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  sc_core::sc_out<Port<32>> fp32_o{"fp32_o"};

  using CutPipe<Core, std::uint32_t>::CutPipe;

 private:
  std::uint32_t value() const override {
    return mxfp4_dot(fields_of<32, 4>(a_i), fields_of<32, 4>(b_i), static_cast<std::uint8_t>(a_scale_i.read()),
                     static_cast<std::uint8_t>(b_scale_i.read()));
  }
  void drive(const std::uint32_t& code) override { fp32_o = code; }
};

}  // namespace narrowgauge::systemc
