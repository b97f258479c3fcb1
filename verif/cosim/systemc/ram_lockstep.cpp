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
  sc_core::sc_signal<bool> we_i, re_i;
  sc_core::sc_signal<Port<addr_width>> waddr_i, raddr_i;
  sc_core::sc_signal<Port<width>> wdata_i, rdata_o;
  narrowgauge::systemc::Ram<width, depth, Core> model("model");
  model.clk_i(both.clk);
  model.we_i(we_i);
  model.waddr_i(waddr_i);
  model.wdata_i(wdata_i);
  model.re_i(re_i);
  model.raddr_i(raddr_i);
  model.rdata_o(rdata_o);

  auto& [bench, dut, clk, rst_n] = both;
  std::vector<bool> written(depth);
  bool known = false;
  std::uint64_t held = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    const auto address = [&] { return static_cast<Port<addr_width>>(bench.rng().below(depth)); };
    PortWords<width> words;
    for (auto& word : words) word = static_cast<std::uint32_t>(bench.rng().bits(32));
    both.drive(dut->we_i, we_i, bench.rng().chance(0.6));
    both.drive<addr_width>(dut->waddr_i, waddr_i, address());
    both.drive<width>(dut->wdata_i, wdata_i, narrowgauge::systemc::port_of<width>(words));
    both.drive(dut->re_i, re_i, bench.rng().chance(0.6));
    both.drive<addr_width>(dut->raddr_i, raddr_i, address());
    both.settle();
    if (known) both.same<width>("rdata_o", dut->rdata_o, rdata_o);
    if (dut->re_i) known = written[dut->raddr_i] && !(dut->we_i && dut->waddr_i == dut->raddr_i);
    held += known && !dut->re_i;
    both.tick();
    if (known) both.same<width>("rdata_o", dut->rdata_o, rdata_o);
    if (dut->we_i) written[dut->waddr_i] = true;
    bench.vector();
  }
  both.covered("a word was held", held, 100);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
