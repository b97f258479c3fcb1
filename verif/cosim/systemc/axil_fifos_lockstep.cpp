// SPDX-License-Identifier: Apache-2.0
// ng_axil_fifos and its SystemC module in lock-step: AXI4-Lite traffic with stalls on all channels, every address, all
// strobes, streams that run full and empty, clears, resets in mid-flight. Build parameters: those of the unit.
#include <string>

#include "dut_pins.hpp"
#include "lite_pins.hpp"
#include "systemc/board/axil_fifos.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr const char* faults[] = {"strobes are ignored", "a clear leaves the results", "a response is late",
                                  "results lose their highest bit", "SLVERR is OKAY"};

using Base = systemc::AxilFifosCore<NG_STREAM_WIDTH, NG_TX_BYTES, NG_RX_BYTES>;

struct Core : Base {
  auto pins() const {
    auto pins = Base::pins();
    if (fault == 3 && !seen_) pins.bvalid = false;
    if (fault == 5) pins.bresp = pins.rresp = 0;
    return pins;
  }
  void step(const Inputs& in) {
    Inputs taken = in;
    if (fault == 1) taken.bus.wstrb = 0xF;
    if (fault == 2 && (taken.bus.awaddr & ~3U) == board::fifo_clear) taken.bus.awaddr = 0xFFC;
    for (std::uint32_t& word : taken.in)
      if (fault == 4) word &= 0x7FFFFFFF;
    seen_ = Base::pins().bvalid;
    Base::step(taken);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc axil_fifos, " + std::to_string(NG_STREAM_WIDTH) + " bits");
  auto& [bench, dut, clk, rst_n] = both;
  Rng& rng = bench.rng();
  systemc::AxilFifos<Core> model("model");
  Pins pins(both, model);

  const auto compare = [&] {
    same_lite(both, pins, OnlyWhile(dut->m_axis_tvalid_o, pins.m_axis_tdata_o, pins.m_axis_tlast_o));
  };
  axi::LiteMaster master;
  axi::LiteSignals bus;
  double hold = 0, open = 1, come = 1;
  std::uint64_t writes = 0, refused = 0, reads = 0, resets = 0, operands = 0, results = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (both.maybe_reset(i, compare, 0.001)) {
      master.reset();
      ++resets;
    }
    if (i % 200 == 0) {
      hold = rng.chance(0.4) ? 0 : 0.5;
      open = rng.chance(0.5) ? 0.05 : 0.8;
      come = rng.chance(0.5) ? 0.05 : 0.8;
    }
    const auto address = [&] {
      return rng.chance(0.02) ? static_cast<std::uint32_t>(rng.bits(12))
                              : 4 * rng.below(rng.chance(0.9) ? 6 : 8) | rng.below(4);
    };
    if (master.write_ready() && rng.chance(0.5))
      master.start_write(rng.chance(0.8) ? 4 * rng.below(2) : address(), static_cast<std::uint32_t>(rng.bits(32)),
                         static_cast<std::uint8_t>(rng.chance(0.9) ? 0xF : rng.bits(4)));
    if (master.read_ready() && rng.chance(0.5)) master.start_read(address());
    master.drive(bus, go_at_random(rng, hold));
    drive_lite(both, pins, bus);
    both.drive(pins.m_axis_tready_i, rng.chance(open));
    both.drive(pins.s_axis_tvalid_i, rng.chance(come));
    both.drive_random(pins.s_axis_tdata_i);
    both.settle();
    compare();
    axi::get_lite(*dut, bus);
    master.sample(bus);
    operands += dut->m_axis_tvalid_o && dut->m_axis_tready_i;
    results += dut->s_axis_tvalid_i && dut->s_axis_tready_o;
    both.tick();
    compare();
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
  both.covered("operands left", operands, 100);
  both.covered("results came", results, 100);
  both.covered("reset", resets, 2);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
