// SPDX-License-Identifier: Apache-2.0
// The signals of an AXI4-Lite port in cycle models.
#pragma once

#include <cstdint>

namespace narrowgauge::systemc {

/// What the master of an AXI4-Lite port drives. Reset values are those of a master that wants nothing.
struct LiteMasterPins {
  bool awvalid = false, wvalid = false, bready = false, arvalid = false, rready = false;
  std::uint32_t awaddr = 0, wdata = 0, araddr = 0;
  std::uint8_t wstrb = 0;
};

/// What the slave drives. `bresp` counts while bvalid, `rdata` and `rresp` while rvalid.
struct LiteSlavePins {
  bool awready = true, wready = true, bvalid = false, arready = true, rvalid = false;
  std::uint32_t rdata = 0;
  std::uint8_t bresp = 0, rresp = 0;  ///< 0 OKAY, 2 SLVERR
};

}  // namespace narrowgauge::systemc
