// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_tile_decode: ports, latency and back-pressure of rtl/tile/ng_tile_decode.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/tile/tile_decode_core.hpp"

namespace narrowgauge::systemc {

template <int stream_width, int decoders, class Core = TileDecodeCore<stream_width / 32, decoders>>
class TileDecode : public Clocked {
 public:
  sc_core::sc_in<bool> table_we_i{"table_we_i"};
  sc_core::sc_in<Port<9>> table_addr_i{"table_addr_i"};
  sc_core::sc_in<Port<21>> table_data_i{"table_data_i"};
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<stream_width>> data_i{"data_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<stream_width>> data_o{"data_o"};
  sc_core::sc_out<bool> last_o{"last_o"}, fault_o{"fault_o"};

  explicit TileDecode(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    if (table_we_i) core_.load(table_addr_i.read(), table_data_i.read());
    typename Core::Word word;
    const auto parts = fields_of<stream_width / 32, 32>(data_i);
    for (std::size_t i = 0; i < parts.size(); ++i) word.data[i] = static_cast<std::uint32_t>(parts[i]);
    word.last = last_i;
    core_.step(valid_i ? &word : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = port_of<stream_width>(core_.data());
    last_o = core_.last();
    fault_o = core_.fault();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
