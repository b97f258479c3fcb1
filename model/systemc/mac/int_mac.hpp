// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_int_mac: ports and latency of rtl/mac/ng_int_mac.sv.
#pragma once

#include <algorithm>
#include <array>

#include "systemc/clocked.hpp"
#include "systemc/mac/int_mac_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <IntMacParams params, class Core = IntMacCore<params>>
class IntMac : public Clocked {
 public:
  static constexpr int a_width = params.lanes * params.a.width, b_width = params.lanes * params.b.width;
  sc_core::sc_in<bool> valid_i{"valid_i"}, first_i{"first_i"};
  sc_core::sc_in<Port<a_width>> a_i{"a_i"};
  sc_core::sc_in<Port<b_width>> b_i{"b_i"};
  sc_core::sc_out<Port<params.acc_width>> acc_o{"acc_o"};

  explicit IntMac(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  using Codes = std::array<std::uint16_t, params.lanes>;

  template <int width>
  static Codes codes(const Port<width * params.lanes>& port) {
    Codes codes;
    std::ranges::copy(fields_of<params.lanes, width>(port), codes.begin());
    return codes;
  }

  void reset() override { core_.reset(); }
  void step() override { core_.step(valid_i, first_i, codes<params.a.width>(a_i), codes<params.b.width>(b_i)); }
  void drive() override { acc_o = port_of_signed<params.acc_width>(core_.acc()); }

  Core core_;
};

}  // namespace narrowgauge::systemc
