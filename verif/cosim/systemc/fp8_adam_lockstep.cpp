// SPDX-License-Identifier: Apache-2.0
// ng_fp8_adam and its SystemC module in lock-step. Results are compared beside valid_o; constants change only between
// elements.
#include "dut_pins.hpp"
#include "systemc/quant/fp8_adam.hpp"

namespace {

using namespace narrowgauge::bench;
using narrowgauge::Fp8AdamConstants, narrowgauge::Fp8AdamElement;

constexpr const char* faults[] = {"an element is taken in the cycle of the result", "a step too few",
                                  "the result does not wait", "the code of the first moment loses its lowest bit",
                                  "the old weight stays"};

struct Core : narrowgauge::systemc::Fp8AdamCore {
  using Base = narrowgauge::systemc::Fp8AdamCore;
  bool ready() const { return Base::ready() || (fault == 1 && valid()); }
  Fp8AdamElement element() const {
    Fp8AdamElement e = Base::element();
    if (fault == 5 && valid()) e.weight = old_;
    return e;
  }
  void step(bool valid, const Fp8AdamConstants& constants, std::uint32_t gradient, Fp8AdamElement old, bool ready) {
    const bool take = valid && Base::ready();
    if (take) old_ = old.weight;
    if (fault == 4) old.m &= 0xFE;
    Base::step(valid, constants, gradient, old, ready || fault == 3);
    if (take && fault == 2) Base::step(false, constants, gradient, old, false);
  }
  std::uint32_t old_ = 0;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc fp8_adam");
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Fp8Adam<Core> model("model");
  Pins pins(both, model);

  std::uint64_t results = 0, stalls = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i, 300));
    // Positive or of both signs, with exponents about that of 1.
    const auto about = [&](std::uint32_t exponent, unsigned range, bool negative) {
      const std::uint64_t sign = negative ? bench.rng().bits(1) << 31 : 0;
      return static_cast<std::uint32_t>(sign | (exponent - range + bench.rng().below(2 * range)) << 23 |
                                        bench.rng().bits(23));
    };
    both.drive(pins.gradient_i, bench.rng().chance(0.1) ? 0 : about(117, 12, true));
    both.drive(pins.weight_i, about(122, 8, true));
    both.drive(pins.m_i, static_cast<std::uint32_t>(bench.rng().bits(8)));
    both.drive(pins.v_i, static_cast<std::uint32_t>(bench.rng().bits(bench.rng().chance(0.05) ? 8 : 7)));
    if (i == 0 || (dut->ready_o && !dut->valid_i)) {
      for (auto* each : {&pins.m_decay_i, &pins.v_decay_i}) both.drive(*each, about(120, 6, false));
      for (auto* each : {&pins.m_gain_i, &pins.v_gain_i, &pins.root_scale_i, &pins.keep_i})
        both.drive(*each, about(124, 4, false));
      for (auto* each : {&pins.m_scale_i, &pins.v_scale_i}) both.drive(*each, about(133, 8, false));
      for (auto* each : {&pins.epsilon_i, &pins.rate_i}) both.drive(*each, about(110, 12, false));
    }
    results += dut->valid_o && dut->ready_i;
    stalls += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    both.same(pins, OnlyWhile(dut->valid_o, pins.weight_o, pins.m_o, pins.v_o, pins.m_fp32_o, pins.v_fp32_o));
  };
  both.run(stimulate, compare, [] {});
  both.covered("a result was taken", results);
  both.covered("a result waited", stalls);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
