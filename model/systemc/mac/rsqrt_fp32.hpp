// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_rsqrt_fp32: ports, latency and back-pressure of rtl/mac/ng_rsqrt_fp32.sv. y_o is 0 where valid_o
// is low; the RTL's has no meaning then.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/mac/rsqrt_fp32_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <class Core = RsqrtFp32Core>
class RsqrtFp32 : public Clocked {
 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<32>> a_i{"a_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<32>> y_o{"y_o"};

  explicit RsqrtFp32(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override { core_.step(valid_i, a_i.read(), ready_i); }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    y_o = core_.y();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
