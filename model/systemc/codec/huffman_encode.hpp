// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_huffman_encode: ports, latency and back-pressure of rtl/codec/ng_huffman_encode.sv.
#pragma once

#include "systemc/codec/huffman_encode_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <class Core = HuffmanEncodeCore>
struct HuffmanEncode : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  In<1> table_we_i{"table_we_i"};
  In<8> table_addr_i{"table_addr_i"};
  In<16> table_data_i{"table_data_i"};
  In<8> data_i{"data_i"};
  In<1> last_i{"last_i"};
  Out<14> code_o{"code_o"};
  Out<4> length_o{"length_o"};
  Out<1> last_o{"last_o"};

 private:
  void step(Core& core) override {
    if (table_we_i) core.load(table_addr_i.value(), table_data_i.value());
    const typename Core::Value value{data_i.value(), last_i};
    core.step(valid_i ? &value : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    code_o = core.code().bits;
    length_o = core.code().length;
    last_o = core.code().last;
  }
};

}  // namespace narrowgauge::systemc
