// SPDX-License-Identifier: Apache-2.0
// ng_ram and its SystemC module in lock-step; words that are unknown in the RTL are not compared. Build parameters:
// NG_WIDTH, NG_DEPTH.
#include <vector>

#include "Vdut.h"
#include "lockstep.hpp"
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
  model.clk_i(clk);
  auto we = pin(dut->we_i, model.we_i), re = pin(dut->re_i, model.re_i);
  auto waddr = pin<addr_width>(dut->waddr_i, model.waddr_i), raddr = pin<addr_width>(dut->raddr_i, model.raddr_i);
  auto wdata = pin<width>(dut->wdata_i, model.wdata_i), rdata = pin<width>(dut->rdata_o, model.rdata_o);

  std::vector<bool> written(depth);
  bool known = false;
  std::uint64_t held = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    const auto address = [&] { return static_cast<Port<addr_width>>(bench.rng().below(depth)); };
    both.drive(we, bench.rng().chance(0.6));
    both.drive(waddr, address());
    both.drive_random(wdata);
    both.drive(re, bench.rng().chance(0.6));
    both.drive(raddr, address());
    both.settle();
    if (known) both.same("rdata_o", rdata);
    if (dut->re_i) known = written[dut->raddr_i] && !(dut->we_i && dut->waddr_i == dut->raddr_i);
    held += known && !dut->re_i;
    both.tick();
    if (known) both.same("rdata_o", rdata);
    if (dut->we_i) written[dut->waddr_i] = true;
    bench.vector();
  }
  both.covered("a word was held", held, 100);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
