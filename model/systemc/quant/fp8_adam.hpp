// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fp8_adam: ports, latency and back-pressure of rtl/quant/ng_fp8_adam.sv. Results are 0 where
// valid_o is low; the RTL's have no meaning then. Constants are read at the edge that takes an element.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/fp8_adam_core.hpp"

namespace narrowgauge::systemc {

template <class Core = Fp8AdamCore>
class Fp8Adam : public Clocked {
 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<32>> gradient_i{"gradient_i"}, weight_i{"weight_i"};
  sc_core::sc_in<Port<8>> m_i{"m_i"}, v_i{"v_i"};
  sc_core::sc_in<Port<32>> m_decay_i{"m_decay_i"}, m_gain_i{"m_gain_i"}, v_decay_i{"v_decay_i"}, v_gain_i{"v_gain_i"},
      m_scale_i{"m_scale_i"}, v_scale_i{"v_scale_i"}, root_scale_i{"root_scale_i"}, epsilon_i{"epsilon_i"},
      rate_i{"rate_i"}, keep_i{"keep_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<32>> weight_o{"weight_o"};
  sc_core::sc_out<Port<8>> m_o{"m_o"}, v_o{"v_o"};
  sc_core::sc_out<Port<32>> m_fp32_o{"m_fp32_o"}, v_fp32_o{"v_fp32_o"};

  explicit Fp8Adam(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    core_.step(valid_i,
               {.m_decay = m_decay_i.read(),
                .m_gain = m_gain_i.read(),
                .v_decay = v_decay_i.read(),
                .v_gain = v_gain_i.read(),
                .m_scale = m_scale_i.read(),
                .v_scale = v_scale_i.read(),
                .root_scale = root_scale_i.read(),
                .epsilon = epsilon_i.read(),
                .rate = rate_i.read(),
                .keep = keep_i.read()},
               gradient_i.read(),
               {.weight = weight_i.read(),
                .m = static_cast<std::uint8_t>(m_i.read()),
                .v = static_cast<std::uint8_t>(v_i.read())},
               ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    const Fp8AdamElement element = core_.element();
    weight_o = element.weight;
    m_o = element.m;
    v_o = element.v;
    m_fp32_o = element.m_fp32;
    v_fp32_o = element.v_fp32;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
