// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_tile_encode: ports, latency and back-pressure of rtl/tile/ng_tile_encode.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/tile/tile_encode_core.hpp"

namespace narrowgauge::systemc {

template <int stream_width, int encoders, class Core = TileEncodeCore<stream_width / 32, encoders>>
class TileEncode : public Clocked {
 public:
  sc_core::sc_in<bool> table_we_i{"table_we_i"};
  sc_core::sc_in<Port<8>> table_addr_i{"table_addr_i"};
  sc_core::sc_in<Port<16>> table_data_i{"table_data_i"};
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<stream_width>> data_i{"data_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<stream_width>> data_o{"data_o"};
  sc_core::sc_out<bool> last_o{"last_o"};

  explicit TileEncode(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    if (table_we_i)
      core_.load(static_cast<std::uint8_t>(table_addr_i.read()), static_cast<std::uint16_t>(table_data_i.read()));
    typename Core::Word word;
    const auto parts = fields_of<stream_width / 32, 32>(data_i);
    for (std::size_t i = 0; i < parts.size(); ++i) word.data[i] = static_cast<std::uint32_t>(parts[i]);
    word.last = last_i;
    core_.step(valid_i ? &word : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    PortWords<stream_width> words;
    std::ranges::copy(core_.data(), words.begin());
    data_o = port_of<stream_width>(words);
    last_o = core_.last();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
