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
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Fifo<width, depth, block_ram, Core> model("model");
  both.join_clock(model);
  Streams streams(*dut, model);
  auto flush = pin(dut->flush_i, model.flush_i);
  auto data_i = pin<width>(dut->data_i, model.data_i), data_o = pin<width>(dut->data_o, model.data_o);
  auto space = pin<space_width>(dut->space_o, model.space_o);

  std::uint64_t full = 0, flushes = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(streams, traffic_at(i));
    both.drive_random(data_i);
    both.drive(flush, bench.rng().chance(0.01));
    // No input reaches valid_o within a cycle.
    flushes += dut->flush_i && dut->valid_o;
  };
  const auto compare = [&] {
    both.same(streams);
    both.same("space_o", space);
    if (dut->valid_o) both.same("data_o", data_o);
  };
  both.run(stimulate, compare, [&] { full += !dut->ready_o; });
  both.covered("the queue was full", full);
  both.covered("words were flushed", flushes, 5);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
