// SPDX-License-Identifier: Apache-2.0
// ng_tile_regs and its SystemC module in lock-step: AXI4-Lite traffic with stalls on all channels, every address, all
// strobes, random status, events and counters, resets in mid-flight. Build parameters: those of the tile.
#include "built_tile.hpp"
#include "dut_pins.hpp"
#include "lite_pins.hpp"
#include "systemc/tile/tile_regs.hpp"

namespace {

using namespace narrowgauge::bench;
namespace axi = narrowgauge::axi;
using narrowgauge::systemc::LiteMasterPins, narrowgauge::systemc::TileRegsCore;

constexpr auto params = built_tile;

constexpr const char* faults[] = {"strobes are ignored", "an event is lost when it is acknowledged",
                                  "a response is late", "a soft reset comes without all strobes", "SLVERR is OKAY"};

struct Core : TileRegsCore<params> {
  using Base = TileRegsCore<params>;
  auto pins() const {
    auto pins = Base::pins();
    if (fault == 3 && !seen_) pins.bvalid = false;
    if (fault == 5) pins.bresp = pins.rresp = 0;
    return pins;
  }
  void step(LiteMasterPins in, Status status) {
    if (fault == 1 || (fault == 4 && (in.awaddr & ~3U) == 0x020)) in.wstrb = 0xF;
    if (fault == 2 && Base::irq()) status.done_event = false;
    seen_ = Base::pins().bvalid;
    Base::step(in, status);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv,
                      "systemc tile_regs " + std::to_string(params.rows) + "x" + std::to_string(params.cols));
  auto& [bench, dut, clk, rst_n] = both;
  Rng& rng = bench.rng();
  narrowgauge::systemc::TileRegs<params, Core> model("model");
  Pins pins(both, model);

  const auto compare = [&] {
    same_lite(both, pins,
              OnlyWhile(dut->load_valid_o, pins.load_panel_beats_o, pins.load_compressed_o, pins.load_more_o,
                        pins.load_operand_o),
              OnlyWhile(dut->code_valid_o, pins.code_data_o, pins.code_address_o),
              OnlyWhile(dut->result_code_valid_o, pins.result_code_data_o, pins.result_code_address_o),
              OnlyWhile(dut->deadline_valid_o, pins.deadline_clocks_o, pins.deadline_armed_o),
              OnlyWhile(dut->compute_valid_o, pins.compute_beats_o, pins.compute_flags_o));
  };
  axi::LiteMaster master;
  axi::LiteSignals bus;
  double hold = 0;
  std::uint64_t writes = 0, reads = 0, refused = 0, soft = 0, irqs = 0, resets = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (both.maybe_reset(i, compare, 0.001)) {
      master.reset();
      ++resets;
    }
    if (i % 200 == 0) hold = rng.chance(0.4) ? 0 : 0.5;
    // Mostly registers that exist.
    const auto address = [&] {
      return static_cast<std::uint32_t>(rng.bits(rng.chance(0.6) ? 7 : rng.chance(0.8) ? 8 : 12));
    };
    if (master.write_ready() && rng.chance(0.5))
      master.start_write(address(), static_cast<std::uint32_t>(rng.bits(32)),
                         static_cast<std::uint8_t>(rng.chance(0.5) ? 0xF : rng.bits(4)));
    if (master.read_ready() && rng.chance(0.5)) master.start_read(address());
    master.drive(bus, go_at_random(rng, hold));
    drive_lite(both, pins, bus);
    both.drive(pins.busy_i, rng.chance(0.5));
    both.drive(pins.done_event_i, rng.chance(0.05));
    both.drive(pins.error_event_i, rng.chance(0.02));
    both.drive_random(pins.load_space_i);
    both.drive_random(pins.compute_space_i);
    both.drive_random(pins.error_i);
    both.drive_random(pins.done_count_i);
    both.drive_random(pins.loads_count_i);
    both.drive_random(pins.amax_i);
    both.drive_random(pins.beats_i);
    both.drive(pins.late_i, rng.chance(0.5));
    both.drive_random(pins.counters_i);
    both.settle();
    compare();
    axi::get_lite(*dut, bus);
    master.sample(bus);
    both.tick();
    compare();
    soft += dut->soft_reset_o;
    irqs += dut->irq_o;
    if (const auto done = master.take_write()) {
      ++writes;
      refused += done->resp != axi::okay;
    }
    if (master.take_read()) ++reads;
    bench.vector();
  }
  both.covered("registers were written", writes, 500);
  both.covered("registers were read", reads, 500);
  both.covered("writes were refused", refused, 50);
  both.covered("soft reset", soft, 2);
  both.covered("irq was up", irqs);
  both.covered("reset", resets, 2);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
