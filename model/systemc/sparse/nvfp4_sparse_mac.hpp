// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_nvfp4_sparse_mac: ports and latency of rtl/sparse/ng_nvfp4_sparse_mac.sv.
#pragma once

#include "systemc/shell.hpp"
#include "systemc/sparse/nvfp4_sparse_mac_core.hpp"

namespace narrowgauge::systemc {

template <int acc_width, bool pairs = false, int dot_cuts = 0, int split = 0,
          class Core = Nvfp4SparseMacCore<acc_width, dot_cuts, (split > 0)>>
struct Nvfp4SparseMac : Shell<Core> {
  using Shell<Core>::Shell;
  static_assert(acc_width >= 48, "Nvfp4SparseMac: acc_width must be 48 or more");
  static_assert(dot_cuts >= 0 && dot_cuts <= 63, "Nvfp4SparseMac: dot_cuts must be 0 to 63");
  static_assert(split >= 0 && split <= 47, "Nvfp4SparseMac: split must be 0 to 47");

  static constexpr int metadata_width = pairs ? 16 : 32;
  In<1> valid_i{"valid_i"}, first_i{"first_i"};
  In<64> a_i{"a_i"};
  In<metadata_width> metadata_i{"metadata_i"};
  In<128> b_i{"b_i"};
  In<8> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  Out<acc_width> acc_o{"acc_o"};
  Out<1> nan_o{"nan_o"}, error_o{"error_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, first_i,
              nvfp4_sparse_term(fields<16>(a_i), metadata_i.value(), fields<32>(b_i), a_scale_i.value(),
                                b_scale_i.value(), pairs));
  }
  void drive(const Core& core) override {
    acc_o = core.acc();
    nan_o = core.nan();
    error_o = core.error();
  }
};

}  // namespace narrowgauge::systemc
