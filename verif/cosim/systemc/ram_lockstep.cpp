// SPDX-License-Identifier: Apache-2.0
// ng_ram and its SystemC module in lock-step; words that are unknown in the RTL are not compared. Build parameters:
// NG_WIDTH, NG_DEPTH.
#include <vector>

#include "dut_pins.hpp"
#include "systemc/prim/ram.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int width = NG_WIDTH, depth = NG_DEPTH, addr_width = std::bit_width(static_cast<unsigned>(depth - 1));
constexpr const char* faults[] = {"a word comes without read", "one place is missing",
                                  "a write is lost once in a hundred"};

struct Core : narrowgauge::systemc::RamCore<Port<width>, depth> {
  using Base = narrowgauge::systemc::RamCore<Port<width>, depth>;
  void step(const Port<width>* wdata, unsigned waddr, bool re, unsigned raddr) {
    if (fault == 1) re = true;
    if (fault == 2 && waddr == depth - 1) waddr = 0;
    if (fault == 3 && ++count_ % 100 == 0) wdata = nullptr;
    Base::step(wdata, waddr, re, raddr);
  }
  int count_ = 0;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc ram " + std::to_string(width) + " x " + std::to_string(depth));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Ram<width, depth, Core> model("model");
  Pins pins(both, model);

  std::vector<bool> written(depth);
  bool known = false;
  std::uint64_t held = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    const auto address = [&] { return static_cast<Port<addr_width>>(bench.rng().below(depth)); };
    both.drive(pins.we_i, bench.rng().chance(0.6));
    both.drive(pins.waddr_i, address());
    both.drive_random(pins.wdata_i);
    both.drive(pins.re_i, bench.rng().chance(0.6));
    both.drive(pins.raddr_i, address());
    both.settle();
    if (known) both.same(pins);
    if (dut->re_i) known = written[dut->raddr_i] && !(dut->we_i && dut->waddr_i == dut->raddr_i);
    held += known && !dut->re_i;
    both.tick();
    if (known) both.same(pins);
    if (dut->we_i) written[dut->waddr_i] = true;
    bench.vector();
  }
  both.covered("a word was held", held, 100);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
