// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_huffman_encode: ports, latency and back-pressure of rtl/codec/ng_huffman_encode.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/codec/huffman_encode_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <class Core = HuffmanEncodeCore>
class HuffmanEncode : public Clocked {
 public:
  sc_core::sc_in<bool> table_we_i{"table_we_i"};
  sc_core::sc_in<Port<8>> table_addr_i{"table_addr_i"};
  sc_core::sc_in<Port<16>> table_data_i{"table_data_i"};
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<8>> data_i{"data_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<14>> code_o{"code_o"};
  sc_core::sc_out<Port<4>> length_o{"length_o"};
  sc_core::sc_out<bool> last_o{"last_o"};

  explicit HuffmanEncode(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    if (table_we_i)
      core_.load(static_cast<std::uint8_t>(table_addr_i.read()), static_cast<std::uint16_t>(table_data_i.read()));
    const typename Core::Value value{static_cast<std::uint8_t>(data_i.read()), last_i};
    core_.step(valid_i ? &value : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    code_o = core_.code().bits;
    length_o = core_.code().length;
    last_o = core_.code().last;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
