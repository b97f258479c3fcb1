// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_huffman_decode: ports, latency and back-pressure of rtl/codec/ng_huffman_decode.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/codec/huffman_decode_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int width, class Core = HuffmanDecodeCore<width>>
class HuffmanDecode : public Clocked {
 public:
  sc_core::sc_in<bool> table_we_i{"table_we_i"};
  sc_core::sc_in<Port<9>> table_addr_i{"table_addr_i"};
  sc_core::sc_in<Port<21>> table_data_i{"table_data_i"};
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<width>> data_i{"data_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<8>> data_o{"data_o"};
  sc_core::sc_out<bool> last_o{"last_o"};
  sc_core::sc_out<bool> fault_o{"fault_o"};
  sc_core::sc_out<bool> void_o{"void_o"};

  explicit HuffmanDecode(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    if (table_we_i) core_.load(table_addr_i.read(), table_data_i.read());
    const typename Core::Word word{data_i.read(), last_i};
    core_.step(valid_i ? &word : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = core_.beat().value;
    last_o = core_.beat().last;
    fault_o = core_.beat().fault;
    void_o = core_.beat().empty;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
