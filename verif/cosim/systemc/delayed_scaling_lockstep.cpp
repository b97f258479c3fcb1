// SPDX-License-Identifier: Apache-2.0
// ng_delayed_scaling and its SystemC module in lock-step. Build parameters: NG_HISTORY, NG_LARGEST, NG_MARGIN,
// NG_POWER_OF_TWO, NG_TENSOR_SCALE.
#include "dut_pins.hpp"
#include "systemc/quant/delayed_scaling.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr narrowgauge::systemc::DelayedScalingParams params{.history = NG_HISTORY,
                                                            .largest = NG_LARGEST,
                                                            .margin = NG_MARGIN,
                                                            .power_of_two = NG_POWER_OF_TWO != 0,
                                                            .tensor_scale = NG_TENSOR_SCALE != 0};
constexpr const char* faults[] = {"ready a cycle early", "the lowest bit of the scale", "a zero counts as 1",
                                  "an infinity counts as the largest number"};

struct Core : narrowgauge::systemc::DelayedScalingCore<params> {
  using Base = narrowgauge::systemc::DelayedScalingCore<params>;
  std::uint32_t scale() const { return Base::scale() ^ (fault == 2 && Base::scale() != 0x3F800000); }
  void step(bool valid, std::uint32_t amax) {
    const bool take = valid && ready();
    if (fault == 3 && amax == 0) amax = 0x3F800000;
    if (fault == 4 && amax >= 0x7F800000) amax = 0x7F7FFFFF;
    Base::step(valid, amax);
    if (take && fault == 1) Base::step(false, 0);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc delayed_scaling");
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DelayedScaling<params, Core> model("model");
  Pins pins(both, model);

  std::uint64_t maxima = 0, bad = 0;
  const auto stimulate = [&](std::uint64_t) {
    both.drive(pins.valid_i, bench.rng().chance(0.7));
    // Mostly numbers; a zero, a NaN or an infinity, or a subnormal number now and then.
    auto code = static_cast<std::uint32_t>(bench.rng().bits(31) % 0x7F800000U);
    if (bench.rng().chance(0.1)) code = bench.rng().chance(0.5) ? 0 : 0x7F800000U + bench.rng().below(3);
    if (bench.rng().chance(0.1)) code &= 0x7FFFFF;
    both.drive(pins.amax_i, Port<31>(code));
    const bool take = dut->valid_i && dut->ready_o;
    maxima += take;
    bad += take && (code == 0 || code >= 0x7F800000);
  };
  const auto compare = [&] { both.same(pins); };
  both.run(stimulate, compare, [] {});
  both.covered("a maximum was taken", maxima);
  both.covered("a maximum gave no scale", bad, 2);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
