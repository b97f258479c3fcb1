// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_zero_runs: ports, latency and back-pressure of rtl/codec/ng_zero_runs.sv.
#pragma once

#include "systemc/codec/zero_runs_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <class Core = ZeroRunsCore>
struct ZeroRuns : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  In<1> table_we_i{"table_we_i"};
  In<3> table_addr_i{"table_addr_i"};
  In<8> table_data_i{"table_data_i"}, data_i{"data_i"};
  In<1> last_i{"last_i"};
  Out<8> data_o{"data_o"};
  Out<1> last_o{"last_o"};

 private:
  void step(Core& core) override {
    if (table_we_i) core.load(table_addr_i.read(), table_data_i.value());
    const typename Core::Value value{data_i.value(), last_i};
    core.step(valid_i ? &value : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    data_o = core.byte().value;
    last_o = core.byte().last;
  }
};

}  // namespace narrowgauge::systemc
