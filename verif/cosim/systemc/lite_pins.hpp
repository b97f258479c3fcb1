// SPDX-License-Identifier: Apache-2.0
// The AXI4-Lite port in lock-step benches.
#pragma once

#include "../axi.hpp"
#include "lockstep.hpp"

namespace narrowgauge::bench {

/// Drives the ports of an AXI4-Lite slave with the master's signals.
void drive_lite(auto& both, auto& pins, const axi::LiteSignals& bus) {
  both.drive(pins.s_axil_awvalid_i, bus.awvalid);
  both.drive(pins.s_axil_awaddr_i, bus.awaddr);
  both.drive(pins.s_axil_wvalid_i, bus.wvalid);
  both.drive(pins.s_axil_wdata_i, bus.wdata);
  both.drive(pins.s_axil_wstrb_i, bus.wstrb);
  both.drive(pins.s_axil_bready_i, bus.bready);
  both.drive(pins.s_axil_arvalid_i, bus.arvalid);
  both.drive(pins.s_axil_araddr_i, bus.araddr);
  both.drive(pins.s_axil_rready_i, bus.rready);
}

/// Compares all outputs, answers on AXI4-Lite while they are valid.
void same_lite(auto& both, const auto& pins, const std::same_as<OnlyWhile> auto&... parts) {
  both.same(pins, OnlyWhile(both.dut->s_axil_bvalid_o, pins.s_axil_bresp_o),
            OnlyWhile(both.dut->s_axil_rvalid_o, pins.s_axil_rdata_o, pins.s_axil_rresp_o), parts...);
}

/// Each channel of the master goes with the chance 1 - `hold`.
inline axi::LiteMaster::Go go_at_random(Rng& rng, double hold) {
  return {.aw = !rng.chance(hold),
          .w = !rng.chance(hold),
          .b = !rng.chance(hold),
          .ar = !rng.chance(hold),
          .r = !rng.chance(hold)};
}

}  // namespace narrowgauge::bench
