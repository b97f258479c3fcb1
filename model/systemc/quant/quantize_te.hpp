// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_te: ports and latency of rtl/quant/ng_quantize_te.sv.
#pragma once

#include "systemc/quant/quantize_te_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <class Core = QuantizeTeCore>
struct QuantizeTe : Shell<Core> {
  using Shell<Core>::Shell;
  In<1> valid_i{"valid_i"};
  Out<1> ready_o{"ready_o"};
  In<31> amax_i{"amax_i"};
  In<1> en_i{"en_i"};
  In<256> a_i{"a_i"};
  Out<64> codes_o{"codes_o"};
  Out<8> scale_o{"scale_o"};

 private:
  void step(Core& core) override { core.step(valid_i, amax_i.read(), en_i, fields<16>(a_i)); }
  void drive(const Core& core) override {
    ready_o = core.ready();
    codes_o = core.block().codes;
    scale_o = core.block().scale;
  }
};

}  // namespace narrowgauge::systemc
