// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_reset_sync: ports and latency of rtl/prim/ng_reset_sync.sv.
#pragma once

#include "systemc/prim/reset_sync_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int stages, class Core = ResetSyncCore<stages>>
struct ResetSync : Shell<Core> {
  using Shell<Core>::Shell;
  Out<1> rst_no{"rst_no"};

 private:
  void step(Core& core) override { core.step(); }
  void drive(const Core& core) override { rst_no = core.released(); }
};

}  // namespace narrowgauge::systemc
