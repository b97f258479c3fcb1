// SPDX-License-Identifier: Apache-2.0
// ng_lfsr and its SystemC module in lock-step. Build parameters: NG_WIDTH, NG_BITS.
#include "dut_pins.hpp"
#include "systemc/format/lfsr.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr narrowgauge::systemc::LfsrParams params{.width = NG_WIDTH, .bits = NG_BITS};
constexpr const char* faults[] = {"a word does not wait", "a word that waits is withdrawn when the state is set",
                                  "the state 0 is kept", "a word comes before a state was set", "a step too many"};

struct Core : narrowgauge::systemc::LfsrCore<params> {
  using Base = narrowgauge::systemc::LfsrCore<params>;
  bool valid() const { return Base::valid() || (fault == 4 && state() == 0); }
  std::uint64_t state() const { return fault == 3 && zero_ ? 0 : Base::state(); }
  void step(bool valid, std::uint64_t state, bool ready) {
    zero_ = valid && state == 0;
    Base::step(valid, state, ready || fault == 1 || (fault == 2 && valid));
    if (fault == 5 && valid) Base::step(false, 0, true);
  }
  bool zero_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc lfsr");
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Lfsr<params, Core> model("model");
  Pins pins(both, model);

  std::uint64_t words = 0, sets = 0, waited = 0, zeros = 0;
  const auto stimulate = [&](std::uint64_t i) {
    const Traffic& traffic = traffic_at(i);
    both.drive(pins.valid_i, bench.rng().chance(0.1));
    both.drive(pins.ready_i, !bench.rng().chance(traffic.stall));
    const std::uint64_t state = bench.rng().chance(0.2) ? 0 : bench.rng().bits(params.width);
    both.drive(pins.state_i, static_cast<Port<params.width>>(state));
    // No input reaches valid_o within a cycle.
    words += dut->valid_o && dut->ready_i;
    sets += dut->valid_i;
    waited += dut->valid_i && dut->valid_o && !dut->ready_i;
    zeros += dut->valid_i && state == 0;
  };
  const auto compare = [&] { both.same(pins); };
  both.run(stimulate, compare, [] {});
  both.covered("a word was taken", words);
  both.covered("a state was set", sets);
  both.covered("a state was set while a word waited", waited);
  both.covered("the state 0 was set", zeros);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
