// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_huffman_decode: ports, latency and back-pressure of rtl/codec/ng_huffman_decode.sv.
#pragma once

#include "systemc/codec/huffman_decode_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int width, class Core = HuffmanDecodeCore<width>>
struct HuffmanDecode : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  In<1> table_we_i{"table_we_i"};
  In<9> table_addr_i{"table_addr_i"};
  In<21> table_data_i{"table_data_i"};
  In<width> data_i{"data_i"};
  In<1> last_i{"last_i"};
  Out<8> data_o{"data_o"};
  Out<1> last_o{"last_o"}, fault_o{"fault_o"}, void_o{"void_o"};

 private:
  void step(Core& core) override {
    if (table_we_i) core.load(table_addr_i.read(), table_data_i.read());
    const typename Core::Word word{data_i.read(), last_i};
    core.step(valid_i ? &word : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    data_o = core.beat().value;
    last_o = core.beat().last;
    fault_o = core.beat().fault;
    void_o = core.beat().empty;
  }
};

}  // namespace narrowgauge::systemc
