// SPDX-License-Identifier: Apache-2.0
// ng_fifo and its SystemC module in lock-step. Build parameters: NG_WIDTH, NG_DEPTH, NG_BLOCK_RAM.
#include "Vdut.h"
#include "lockstep.hpp"
#include "systemc/prim/fifo.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr bool block_ram = NG_BLOCK_RAM != 0;
constexpr int width = NG_WIDTH, depth = NG_DEPTH, space_width = std::bit_width(static_cast<unsigned>(depth));
constexpr const char* faults[] = {"a word comes one cycle late", "one place too few", "flush is ignored",
                                  "a flush keeps the word that comes with it", "the count of free places is late"};

struct Core : narrowgauge::systemc::FifoCore<Port<width>, depth, block_ram> {
  using Base = narrowgauge::systemc::FifoCore<Port<width>, depth, block_ram>;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  bool ready() const { return Base::space() > (fault == 2 ? 1 : 0); }
  int space() const { return fault == 5 ? old_space_ : Base::space(); }
  void step(const Port<width>* data, bool ready, bool flush) {
    seen_ = Base::valid();
    old_space_ = Base::space();
    Base::step(data, ready, flush && fault != 3);
    if (fault == 4 && flush && data) Base::step(data, false);
  }
  bool seen_ = false;
  int old_space_ = depth;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc fifo " + std::to_string(width) + " x " + std::to_string(depth));
  sc_core::sc_signal<bool> flush_i, valid_i, ready_o, valid_o, ready_i;
  sc_core::sc_signal<Port<width>> data_i, data_o;
  sc_core::sc_signal<Port<space_width>> space_o;
  narrowgauge::systemc::Fifo<width, depth, block_ram, Core> model("model");
  model.clk_i(both.clk);
  model.rst_ni(both.rst_n);
  model.flush_i(flush_i);
  model.valid_i(valid_i);
  model.ready_o(ready_o);
  model.data_i(data_i);
  model.valid_o(valid_o);
  model.ready_i(ready_i);
  model.data_o(data_o);
  model.space_o(space_o);

  auto& [bench, dut, clk, rst_n] = both;
  const auto compare = [&] {
    both.same("ready_o", dut->ready_o, ready_o);
    both.same("valid_o", dut->valid_o, valid_o);
    both.same<space_width>("space_o", dut->space_o, space_o);
    if (dut->valid_o) both.same<width>("data_o", dut->data_o, data_o);
  };
  std::uint64_t full = 0, flushes = 0, resets = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (i == 0 || bench.rng().chance(0.002)) {
      both.set_reset(true);
      compare();
      for (std::uint64_t n = bench.rng().bits(2); n > 0; --n) both.tick();
      both.set_reset(false);
      ++resets;
    }
    const Traffic& traffic = traffics[i / 100 % std::size(traffics)];
    PortWords<width> words;
    for (auto& word : words) word = static_cast<std::uint32_t>(bench.rng().bits(32));
    both.drive(dut->flush_i, flush_i, bench.rng().chance(0.01));
    both.drive(dut->valid_i, valid_i, !bench.rng().chance(traffic.bubble));
    both.drive<width>(dut->data_i, data_i, narrowgauge::systemc::port_of<width>(words));
    both.drive(dut->ready_i, ready_i, !bench.rng().chance(traffic.stall));
    both.settle();
    compare();
    full += !dut->ready_o;
    flushes += dut->flush_i && dut->valid_o;
    both.tick();
    compare();
    bench.vector();
  }
  both.covered("the queue was full", full);
  both.covered("words were flushed", flushes, 5);
  both.covered("reset", resets, 2);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
