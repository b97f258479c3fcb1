// SPDX-License-Identifier: Apache-2.0
// ng_fifo and its SystemC module in lock-step. Build parameters: NG_WIDTH, NG_DEPTH, NG_BLOCK_RAM.
#include "dut_pins.hpp"
#include "systemc/prim/fifo.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr bool block_ram = NG_BLOCK_RAM != 0;
constexpr int width = NG_WIDTH, depth = NG_DEPTH;
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
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Fifo<width, depth, block_ram, Core> model("model");
  Pins pins(both, model);

  std::uint64_t full = 0, flushes = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive_random(pins.data_i);
    both.drive(pins.flush_i, bench.rng().chance(0.01));
    // No input reaches valid_o within a cycle.
    flushes += dut->flush_i && dut->valid_o;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.data_o)); };
  both.run(stimulate, compare, [&] { full += !dut->ready_o; });
  both.covered("the queue was full", full);
  both.covered("words were flushed", flushes, 5);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
