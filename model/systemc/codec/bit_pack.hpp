// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_bit_pack: ports, latency and back-pressure of rtl/codec/ng_bit_pack.sv.
#pragma once

#include <bit>

#include "systemc/codec/bit_pack_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int width, int code_bits, class Core = BitPackCore<width, code_bits>>
struct BitPack : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int length_width = std::bit_width(static_cast<unsigned>(code_bits));

  In<code_bits> code_i{"code_i"};
  In<length_width> length_i{"length_i"};
  In<1> last_i{"last_i"};
  Out<width> data_o{"data_o"};
  Out<1> last_o{"last_o"};

 private:
  void step(Core& core) override {
    const typename Core::Code code{code_i.value(), static_cast<unsigned>(length_i.read()), last_i};
    core.step(valid_i ? &code : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    data_o = core.word().bits;
    last_o = core.word().last;
  }
};

}  // namespace narrowgauge::systemc
