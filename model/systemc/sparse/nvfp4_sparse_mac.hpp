// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_nvfp4_sparse_mac: ports and latency of rtl/sparse/ng_nvfp4_sparse_mac.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/sparse/nvfp4_sparse_mac_core.hpp"

namespace narrowgauge::systemc {

template <int acc_width, bool pairs = false, int dot_cuts = 0, int split = 0,
          class Core = Nvfp4SparseMacCore<acc_width, dot_cuts, (split > 0)>>
class Nvfp4SparseMac : public Clocked {
  static_assert(acc_width >= 48, "Nvfp4SparseMac: acc_width must be 48 or more");
  static_assert(dot_cuts >= 0 && dot_cuts <= 63, "Nvfp4SparseMac: dot_cuts must be 0 to 63");
  static_assert(split >= 0 && split <= 47, "Nvfp4SparseMac: split must be 0 to 47");

 public:
  static constexpr int metadata_width = pairs ? 16 : 32;
  sc_core::sc_in<bool> valid_i{"valid_i"}, first_i{"first_i"};
  sc_core::sc_in<Port<64>> a_i{"a_i"};
  sc_core::sc_in<Port<metadata_width>> metadata_i{"metadata_i"};
  sc_core::sc_in<Port<128>> b_i{"b_i"};
  sc_core::sc_in<Port<8>> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  sc_core::sc_out<Port<acc_width>> acc_o{"acc_o"};
  sc_core::sc_out<bool> nan_o{"nan_o"}, error_o{"error_o"};

  explicit Nvfp4SparseMac(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    core_.step(valid_i, first_i,
               nvfp4_sparse_term(fields_of<16, 4>(a_i), static_cast<std::uint32_t>(metadata_i.read()),
                                 fields_of<32, 4>(b_i), static_cast<std::uint8_t>(a_scale_i.read()),
                                 static_cast<std::uint8_t>(b_scale_i.read()), pairs));
  }
  void drive() override {
    acc_o = port_of_signed<acc_width>(core_.acc());
    nan_o = core_.nan();
    error_o = core_.error();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
