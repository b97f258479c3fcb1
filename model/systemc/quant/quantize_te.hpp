// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_te: ports and latency of rtl/quant/ng_quantize_te.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/quantize_te_core.hpp"

namespace narrowgauge::systemc {

template <class Core = QuantizeTeCore>
class QuantizeTe : public Clocked {
 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<31>> amax_i{"amax_i"};
  sc_core::sc_in<bool> en_i{"en_i"};
  sc_core::sc_in<Port<256>> a_i{"a_i"};
  sc_core::sc_out<Port<64>> codes_o{"codes_o"};
  sc_core::sc_out<Port<8>> scale_o{"scale_o"};

  explicit QuantizeTe(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override { core_.step(valid_i, amax_i.read(), en_i, fields_of<16, 16>(a_i)); }
  void drive() override {
    ready_o = core_.ready();
    codes_o = port_of_fields<4>(core_.block().codes);
    scale_o = core_.block().scale;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
