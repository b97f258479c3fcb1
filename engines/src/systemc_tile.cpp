// SPDX-License-Identifier: Apache-2.0
// The cycle models of the tiles behind TilePinModel: the core that systemc/tile/tile.hpp wraps, without SystemC's
// kernel.
#include <memory>

#include "narrowgauge/engines/tile_pin_model.hpp"
#include "systemc/tile/tile_core.hpp"

namespace narrowgauge {
namespace {

template <systemc::TileParams params>
class SystemcTile final : public TilePinModel {
 public:
  void reset(TilePins& pins) override {
    core_.reset();
    get(pins);
  }

  void cycle(TilePins& pins) override {
    const axi::LiteSignals& bus = pins.bus;
    systemc::TileIn in{.lite = {.awvalid = bus.awvalid,
                                .wvalid = bus.wvalid,
                                .bready = bus.bready,
                                .arvalid = bus.arvalid,
                                .rready = bus.rready,
                                .awaddr = bus.awaddr,
                                .wdata = bus.wdata,
                                .araddr = bus.araddr,
                                .wstrb = bus.wstrb},
                       .result_ready = pins.out_ready};
    if (pins.in_valid) {
      in.operand = pins.in_data;
      in.operand_last = pins.in_last;
    }
    core_.step(in);
    get(pins);
  }

 private:
  void get(TilePins& pins) {
    const systemc::TileOut out = core_.out();
    axi::LiteSignals& bus = pins.bus;
    bus.awready = out.lite.awready;
    bus.wready = out.lite.wready;
    bus.bvalid = out.lite.bvalid;
    bus.bresp = static_cast<std::uint8_t>(out.lite.bresp);
    bus.arready = out.lite.arready;
    bus.rvalid = out.lite.rvalid;
    bus.rdata = out.lite.rdata;
    bus.rresp = static_cast<std::uint8_t>(out.lite.rresp);
    pins.in_ready = out.operand_ready;
    pins.out_valid = out.result != nullptr;
    pins.out_last = out.result_last;
    pins.out_data = reinterpret_cast<const std::uint8_t*>(out.result);
    pins.irq = out.irq;
  }

  systemc::TileCore<params> core_;
};

}  // namespace

#define NG_TILE(name, ...)                                                    \
  std::unique_ptr<TilePinModel> make_systemc_tile_##name() {                  \
    return std::make_unique<SystemcTile<systemc::TileParams{__VA_ARGS__}>>(); \
  }
#include "tile_configurations.inc"
#undef NG_TILE

}  // namespace narrowgauge
