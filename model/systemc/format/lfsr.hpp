// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_lfsr: ports, latency and back-pressure of rtl/format/ng_lfsr.sv.
#pragma once

#include "systemc/format/lfsr_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <LfsrParams params, class Core = LfsrCore<params>>
struct Lfsr : Shell<Core> {
  using Shell<Core>::Shell;
  In<1> valid_i{"valid_i"};
  In<params.width> state_i{"state_i"};
  Out<1> valid_o{"valid_o"};
  In<1> ready_i{"ready_i"};
  Out<params.bits> random_o{"random_o"};
  Out<params.width> state_o{"state_o"};

 private:
  void step(Core& core) override { core.step(valid_i, state_i.read(), ready_i); }
  void drive(const Core& core) override {
    valid_o = core.valid();
    random_o = port_of<params.bits>(core.random());
    state_o = core.state();
  }
};

}  // namespace narrowgauge::systemc
