// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_mxfp4_mac: ports and latency of rtl/mac/ng_mxfp4_mac.sv.
#pragma once

#include <array>

#include "systemc/clocked.hpp"
#include "systemc/mac/mxfp4_mac_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <class Core = Mxfp4MacCore<>>
class Mxfp4Mac : public Clocked {
 public:
  sc_core::sc_in<bool> valid_i{"valid_i"}, first_i{"first_i"};
  sc_core::sc_in<Port<128>> a_i{"a_i"}, b_i{"b_i"};
  sc_core::sc_in<Port<8>> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  sc_core::sc_out<Port<32>> acc_o{"acc_o"};

  explicit Mxfp4Mac(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  using Codes = std::array<std::uint8_t, 32>;

  static Codes codes(const Port<128>& port) {
    const auto words = words_of<128>(port);
    Codes codes;
    for (unsigned i = 0; i < codes.size(); ++i) codes[i] = words[i / 8] >> 4 * (i % 8) & 15;
    return codes;
  }

  void reset() override { core_.reset(); }
  void step() override {
    core_.step(valid_i, first_i, codes(a_i), codes(b_i), static_cast<std::uint8_t>(a_scale_i),
               static_cast<std::uint8_t>(b_scale_i));
  }
  void drive() override { acc_o = core_.acc(); }

  Core core_;
};

}  // namespace narrowgauge::systemc
