// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_tile_encode: ports, latency and back-pressure of rtl/tile/ng_tile_encode.sv.
#pragma once

#include "systemc/shell.hpp"
#include "systemc/tile/tile_encode_core.hpp"

namespace narrowgauge::systemc {

template <int stream_width, int encoders, class Core = TileEncodeCore<stream_width / 32, encoders>>
struct TileEncode : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  In<1> table_we_i{"table_we_i"};
  In<8> table_addr_i{"table_addr_i"};
  In<16> table_data_i{"table_data_i"};
  In<stream_width> data_i{"data_i"};
  In<1> last_i{"last_i"};
  Out<stream_width> data_o{"data_o"};
  Out<1> last_o{"last_o"};

 private:
  void step(Core& core) override {
    if (table_we_i) core.load(table_addr_i.value(), table_data_i.value());
    const typename Core::Word word{data_i.words(), last_i};
    core.step(valid_i ? &word : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    PortWords<stream_width> words;
    std::ranges::copy(core.data(), words.begin());
    data_o = words;
    last_o = core.last();
  }
};

}  // namespace narrowgauge::systemc
