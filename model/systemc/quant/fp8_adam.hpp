// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fp8_adam: ports, latency and back-pressure of rtl/quant/ng_fp8_adam.sv. Results are 0 where
// valid_o is low; the RTL's have no meaning then. Constants are read at the edge that takes an element.
#pragma once

#include "systemc/quant/fp8_adam_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <class Core = Fp8AdamCore>
struct Fp8Adam : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  In<32> gradient_i{"gradient_i"}, weight_i{"weight_i"};
  In<8> m_i{"m_i"}, v_i{"v_i"};
  In<32> m_decay_i{"m_decay_i"}, m_gain_i{"m_gain_i"}, v_decay_i{"v_decay_i"}, v_gain_i{"v_gain_i"},
      m_scale_i{"m_scale_i"}, v_scale_i{"v_scale_i"}, root_scale_i{"root_scale_i"}, epsilon_i{"epsilon_i"},
      rate_i{"rate_i"}, keep_i{"keep_i"};
  Out<32> weight_o{"weight_o"};
  Out<8> m_o{"m_o"}, v_o{"v_o"};
  Out<32> m_fp32_o{"m_fp32_o"}, v_fp32_o{"v_fp32_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i,
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
              gradient_i.read(), {.weight = weight_i.read(), .m = m_i.value(), .v = v_i.value()}, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    const Fp8AdamElement element = core.element();
    weight_o = element.weight;
    m_o = element.m;
    v_o = element.v;
    m_fp32_o = element.m_fp32;
    v_fp32_o = element.v_fp32;
  }
};

}  // namespace narrowgauge::systemc
