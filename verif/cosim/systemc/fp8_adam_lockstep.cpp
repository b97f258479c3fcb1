// SPDX-License-Identifier: Apache-2.0
// ng_fp8_adam and its SystemC module in lock-step. Results are compared beside valid_o; constants change only between
// elements.
#include "Vdut.h"
#include "lockstep.hpp"
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
  both.join_clock(model);
  Streams streams(*dut, model);
  auto gradient = pin<32>(dut->gradient_i, model.gradient_i), weight = pin<32>(dut->weight_i, model.weight_i);
  auto m = pin<8>(dut->m_i, model.m_i), v = pin<8>(dut->v_i, model.v_i);
  auto m_decay = pin<32>(dut->m_decay_i, model.m_decay_i), m_gain = pin<32>(dut->m_gain_i, model.m_gain_i);
  auto v_decay = pin<32>(dut->v_decay_i, model.v_decay_i), v_gain = pin<32>(dut->v_gain_i, model.v_gain_i);
  auto m_scale = pin<32>(dut->m_scale_i, model.m_scale_i), v_scale = pin<32>(dut->v_scale_i, model.v_scale_i);
  auto root_scale = pin<32>(dut->root_scale_i, model.root_scale_i);
  auto epsilon = pin<32>(dut->epsilon_i, model.epsilon_i);
  auto rate = pin<32>(dut->rate_i, model.rate_i), keep = pin<32>(dut->keep_i, model.keep_i);
  auto weight_o = pin<32>(dut->weight_o, model.weight_o);
  auto m_o = pin<8>(dut->m_o, model.m_o), v_o = pin<8>(dut->v_o, model.v_o);
  auto m_fp32 = pin<32>(dut->m_fp32_o, model.m_fp32_o), v_fp32 = pin<32>(dut->v_fp32_o, model.v_fp32_o);

  std::uint64_t results = 0, stalls = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(streams, traffic_at(i, 300));
    // Positive or of both signs, with exponents about that of 1.
    const auto about = [&](std::uint32_t exponent, unsigned range, bool negative) {
      const std::uint64_t sign = negative ? bench.rng().bits(1) << 31 : 0;
      return static_cast<std::uint32_t>(sign | (exponent - range + bench.rng().below(2 * range)) << 23 |
                                        bench.rng().bits(23));
    };
    both.drive(gradient, bench.rng().chance(0.1) ? 0 : about(117, 12, true));
    both.drive(weight, about(122, 8, true));
    both.drive(m, static_cast<std::uint32_t>(bench.rng().bits(8)));
    both.drive(v, static_cast<std::uint32_t>(bench.rng().bits(bench.rng().chance(0.05) ? 8 : 7)));
    if (i == 0 || (dut->ready_o && !dut->valid_i)) {
      for (auto* each : {&m_decay, &v_decay}) both.drive(*each, about(120, 6, false));
      for (auto* each : {&m_gain, &v_gain, &root_scale, &keep}) both.drive(*each, about(124, 4, false));
      for (auto* each : {&m_scale, &v_scale}) both.drive(*each, about(133, 8, false));
      for (auto* each : {&epsilon, &rate}) both.drive(*each, about(110, 12, false));
    }
    results += dut->valid_o && dut->ready_i;
    stalls += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    both.same(streams);
    if (!dut->valid_o) return;
    both.same("weight_o", weight_o);
    both.same("m_o", m_o);
    both.same("v_o", v_o);
    both.same("m_fp32_o", m_fp32);
    both.same("v_fp32_o", v_fp32);
  };
  both.run(stimulate, compare, [] {});
  both.covered("a result was taken", results);
  both.covered("a result waited", stalls);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
