// SPDX-License-Identifier: Apache-2.0
// ng_philox4x32 and its SystemC module in lock-step. Build parameter: NG_ROUNDS_PER_CYCLE.
#include "dut_pins.hpp"
#include "systemc/format/philox4x32.hpp"

namespace {

using namespace narrowgauge::bench;
using narrowgauge::Philox4x32;

constexpr int rounds_per_cycle = NG_ROUNDS_PER_CYCLE;
constexpr const char* faults[] = {"a state is taken while a block waits", "a block does not wait",
                                  "the counter has 32 bits", "the key is not set", "the counter steps on when set"};

struct Core : narrowgauge::systemc::Philox4x32Core<rounds_per_cycle> {
  using Base = narrowgauge::systemc::Philox4x32Core<rounds_per_cycle>;
  Philox4x32::Counter counter() const {
    Philox4x32::Counter shown = Base::counter();
    if (fault == 3 && shown[0] == 0) --shown[1];
    return shown;
  }
  void step(bool valid, const Philox4x32::Counter& counter, const Philox4x32::Key& key, bool ready) {
    if (fault == 1 && valid && Base::valid()) Base::step(false, {}, {}, true);
    Base::step(valid, fault == 5 ? Philox4x32::next(counter) : counter, fault == 4 ? Base::key() : key,
               ready || fault == 2);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc philox4x32");
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Philox4x32<rounds_per_cycle, Core> model("model");
  Pins pins(both, model);

  std::uint64_t blocks = 0, stalls = 0, sets = 0;
  const auto stimulate = [&](std::uint64_t i) {
    // A state is set now and then only, or no block would be finished; counters carry into the next word soon.
    both.drive(pins, traffic_at(i));
    both.drive(pins.valid_i, bench.rng().chance(0.02));
    Philox4x32::Counter words;
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(bench.rng()());
    for (std::size_t w = 0; w < bench.rng().below(5); ++w) words[w] = 0xFFFFFFFF;
    if (words[0] == 0xFFFFFFFF) words[0] -= bench.rng().below(3);
    both.drive(pins.counter_i, narrowgauge::systemc::port_of<128>(words));
    both.drive_random(pins.key_i);
    // No input reaches valid_o or ready_o within a cycle.
    blocks += dut->valid_o && dut->ready_i;
    stalls += dut->valid_o && !dut->ready_i;
    sets += dut->valid_i && dut->ready_o;
  };
  const auto compare = [&] { both.same(pins); };
  both.run(stimulate, compare, [] {});
  both.covered("a block was taken", blocks);
  both.covered("a block waited", stalls);
  both.covered("counter and key were set", sets);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
