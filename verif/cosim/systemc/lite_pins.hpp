// SPDX-License-Identifier: Apache-2.0
// The AXI4-Lite port in lock-step benches.
#pragma once

#include "../axi.hpp"
#include "lockstep.hpp"

namespace narrowgauge::bench {

/// The AXI4-Lite ports of a Verilated slave and of its module.
class LitePins {
 public:
  template <class Model, class Module>
  LitePins(Model& rtl, Module& module)
      : awvalid_(rtl.s_axil_awvalid_i, module.s_axil_awvalid_i),
        awready_(rtl.s_axil_awready_o, module.s_axil_awready_o),
        wvalid_(rtl.s_axil_wvalid_i, module.s_axil_wvalid_i),
        wready_(rtl.s_axil_wready_o, module.s_axil_wready_o),
        bvalid_(rtl.s_axil_bvalid_o, module.s_axil_bvalid_o),
        bready_(rtl.s_axil_bready_i, module.s_axil_bready_i),
        arvalid_(rtl.s_axil_arvalid_i, module.s_axil_arvalid_i),
        arready_(rtl.s_axil_arready_o, module.s_axil_arready_o),
        rvalid_(rtl.s_axil_rvalid_o, module.s_axil_rvalid_o),
        rready_(rtl.s_axil_rready_i, module.s_axil_rready_i),
        awaddr_(rtl.s_axil_awaddr_i, module.s_axil_awaddr_i),
        araddr_(rtl.s_axil_araddr_i, module.s_axil_araddr_i),
        wdata_(rtl.s_axil_wdata_i, module.s_axil_wdata_i),
        rdata_(rtl.s_axil_rdata_o, module.s_axil_rdata_o),
        wstrb_(rtl.s_axil_wstrb_i, module.s_axil_wstrb_i),
        bresp_(rtl.s_axil_bresp_o, module.s_axil_bresp_o),
        rresp_(rtl.s_axil_rresp_o, module.s_axil_rresp_o) {}

  /// The master's signals, to both.
  template <class Model>
  void drive(Lockstep<Model>& both, const axi::LiteSignals& bus) {
    both.drive(awvalid_, bus.awvalid);
    both.drive(awaddr_, bus.awaddr);
    both.drive(wvalid_, bus.wvalid);
    both.drive(wdata_, bus.wdata);
    both.drive(wstrb_, bus.wstrb);
    both.drive(bready_, bus.bready);
    both.drive(arvalid_, bus.arvalid);
    both.drive(araddr_, bus.araddr);
    both.drive(rready_, bus.rready);
  }

  /// Compares what both answer; responses and data while they are valid.
  template <class Model>
  void compare(Lockstep<Model>& both) const {
    both.same("s_axil_awready_o", awready_);
    both.same("s_axil_wready_o", wready_);
    both.same("s_axil_bvalid_o", bvalid_);
    if (bvalid_.rtl) both.same("s_axil_bresp_o", bresp_);
    both.same("s_axil_arready_o", arready_);
    both.same("s_axil_rvalid_o", rvalid_);
    if (rvalid_.rtl) {
      both.same("s_axil_rdata_o", rdata_);
      both.same("s_axil_rresp_o", rresp_);
    }
  }

 private:
  Pin<1, CData> awvalid_, awready_, wvalid_, wready_, bvalid_, bready_, arvalid_, arready_, rvalid_, rready_;
  Pin<12, SData> awaddr_, araddr_;
  Pin<32, IData> wdata_, rdata_;
  Pin<4, CData> wstrb_;
  Pin<2, CData> bresp_, rresp_;
};

/// Each channel of the master goes with the chance 1 - `hold`.
inline axi::LiteMaster::Go go_at_random(Rng& rng, double hold) {
  return {.aw = !rng.chance(hold),
          .w = !rng.chance(hold),
          .b = !rng.chance(hold),
          .ar = !rng.chance(hold),
          .r = !rng.chance(hold)};
}

}  // namespace narrowgauge::bench
