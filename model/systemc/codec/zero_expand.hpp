// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_zero_expand: ports, latency and back-pressure of rtl/codec/ng_zero_expand.sv.
#pragma once

#include "systemc/codec/zero_expand_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <class Core = ZeroExpandCore>
struct ZeroExpand : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  In<1> table_we_i{"table_we_i"};
  In<3> table_addr_i{"table_addr_i"};
  In<8> table_data_i{"table_data_i"}, data_i{"data_i"};
  In<1> last_i{"last_i"}, fault_i{"fault_i"}, void_i{"void_i"};
  Out<8> data_o{"data_o"};
  Out<1> last_o{"last_o"}, fault_o{"fault_o"}, void_o{"void_o"};

 private:
  void step(Core& core) override {
    if (table_we_i) core.load(table_addr_i.read(), table_data_i.value());
    const typename Core::Beat beat{data_i.value(), last_i, fault_i, void_i};
    core.step(valid_i ? &beat : nullptr, ready_i);
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
