// SPDX-License-Identifier: Apache-2.0
// What the modules with registers on AXI4-Lite share.
#pragma once

#include "systemc/port.hpp"
#include "systemc/tile/lite.hpp"

namespace narrowgauge::systemc {

/// The ports of an AXI4-Lite slave.
struct LiteSlave {
  In<1> s_axil_awvalid_i{"s_axil_awvalid_i"};
  Out<1> s_axil_awready_o{"s_axil_awready_o"};
  In<12> s_axil_awaddr_i{"s_axil_awaddr_i"};
  In<1> s_axil_wvalid_i{"s_axil_wvalid_i"};
  Out<1> s_axil_wready_o{"s_axil_wready_o"};
  In<32> s_axil_wdata_i{"s_axil_wdata_i"};
  In<4> s_axil_wstrb_i{"s_axil_wstrb_i"};
  Out<1> s_axil_bvalid_o{"s_axil_bvalid_o"};
  In<1> s_axil_bready_i{"s_axil_bready_i"};
  Out<2> s_axil_bresp_o{"s_axil_bresp_o"};
  In<1> s_axil_arvalid_i{"s_axil_arvalid_i"};
  Out<1> s_axil_arready_o{"s_axil_arready_o"};
  In<12> s_axil_araddr_i{"s_axil_araddr_i"};
  Out<1> s_axil_rvalid_o{"s_axil_rvalid_o"};
  In<1> s_axil_rready_i{"s_axil_rready_i"};
  Out<32> s_axil_rdata_o{"s_axil_rdata_o"};
  Out<2> s_axil_rresp_o{"s_axil_rresp_o"};

 protected:
  LiteMasterPins lite_master() const {
    return {.awvalid = s_axil_awvalid_i,
            .wvalid = s_axil_wvalid_i,
            .bready = s_axil_bready_i,
            .arvalid = s_axil_arvalid_i,
            .rready = s_axil_rready_i,
            .awaddr = s_axil_awaddr_i,
            .wdata = s_axil_wdata_i,
            .araddr = s_axil_araddr_i,
            .wstrb = s_axil_wstrb_i.value()};
  }
  void drive_lite(const LiteSlavePins& lite) {
    s_axil_awready_o = lite.awready;
    s_axil_wready_o = lite.wready;
    s_axil_bvalid_o = lite.bvalid;
    s_axil_bresp_o = lite.bresp;
    s_axil_arready_o = lite.arready;
    s_axil_rvalid_o = lite.rvalid;
    s_axil_rdata_o = lite.rdata;
    s_axil_rresp_o = lite.rresp;
  }
};

}  // namespace narrowgauge::systemc
