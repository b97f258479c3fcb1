// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_reset_sync: ports and latency of rtl/prim/ng_reset_sync.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/prim/reset_sync_core.hpp"

namespace narrowgauge::systemc {

template <int stages, class Core = ResetSyncCore<stages>>
class ResetSync : public Clocked {
 public:
  sc_core::sc_out<bool> rst_no{"rst_no"};

  explicit ResetSync(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override { core_.step(); }
  void drive() override { rst_no = core_.released(); }

  Core core_;
};

}  // namespace narrowgauge::systemc
