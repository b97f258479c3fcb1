// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_bit_pack: ports, latency and back-pressure of rtl/codec/ng_bit_pack.sv.
#pragma once

#include <bit>

#include "systemc/clocked.hpp"
#include "systemc/codec/bit_pack_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int width, int code_bits, class Core = BitPackCore<width, code_bits>>
class BitPack : public Clocked {
  static constexpr int length_width = std::bit_width(static_cast<unsigned>(code_bits));

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<code_bits>> code_i{"code_i"};
  sc_core::sc_in<Port<length_width>> length_i{"length_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<width>> data_o{"data_o"};
  sc_core::sc_out<bool> last_o{"last_o"};

  explicit BitPack(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    const typename Core::Code code{static_cast<std::uint16_t>(code_i.read()), static_cast<unsigned>(length_i.read()),
                                   last_i};
    core_.step(valid_i ? &code : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = static_cast<Port<width>>(core_.word().bits);
    last_o = core_.word().last;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
