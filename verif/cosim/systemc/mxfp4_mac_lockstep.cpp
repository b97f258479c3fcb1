// SPDX-License-Identifier: Apache-2.0
// ng_mxfp4_mac and its SystemC module in lock-step.
#include "Vdut.h"
#include "lockstep.hpp"
#include "systemc/mac/mxfp4_mac.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"the last lane is dropped", "first does not load", "a sum without valid",
                                  "the sum comes one cycle late", "a NaN scale is a number"};

struct Core : narrowgauge::systemc::Mxfp4MacCore {
  using Base = narrowgauge::systemc::Mxfp4MacCore;
  using Codes = std::span<const std::uint8_t>;
  std::uint32_t acc() const { return fault == 4 ? old_ : Base::acc(); }
  void step(bool valid, bool first, Codes a, Codes b, std::uint8_t a_scale, std::uint8_t b_scale) {
    old_ = Base::acc();
    const std::size_t lanes = fault == 1 ? 31 : 32;
    if (fault == 5 && b_scale == 0xFF) b_scale = 0xFE;
    Base::step(valid || fault == 3, first && fault != 2, a.first(lanes), b.first(lanes), a_scale, b_scale);
  }
  std::uint32_t old_ = 0;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc mxfp4_mac");
  sc_core::sc_signal<bool> valid_i, first_i;
  sc_core::sc_signal<Port<128>> a_i, b_i;
  sc_core::sc_signal<Port<8>> a_scale_i, b_scale_i;
  sc_core::sc_signal<Port<32>> acc_o;
  narrowgauge::systemc::Mxfp4Mac<Core> model("model");
  model.clk_i(both.clk);
  model.rst_ni(both.rst_n);
  model.valid_i(valid_i);
  model.first_i(first_i);
  model.a_i(a_i);
  model.b_i(b_i);
  model.a_scale_i(a_scale_i);
  model.b_scale_i(b_scale_i);
  model.acc_o(acc_o);

  auto& [bench, dut, clk, rst_n] = both;
  const auto compare = [&] { both.same<32>("acc_o", dut->acc_o, acc_o); };
  std::uint64_t nans = 0, resets = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (i == 0 || bench.rng().chance(0.002)) {
      both.set_reset(true);
      compare();
      for (std::uint64_t n = bench.rng().bits(2); n > 0; --n) both.tick();
      both.set_reset(false);
      ++resets;
    }
    const auto codes = [&] {
      PortWords<128> words;
      for (auto& word : words) word = static_cast<std::uint32_t>(bench.rng().bits(32));
      return narrowgauge::systemc::port_of<128>(words);
    };
    const auto scale = [&] {
      return static_cast<Port<8>>(bench.rng().chance(0.02) ? 0xFF
                                  : i / 256 % 2            ? 120 + bench.rng().below(16)
                                                           : bench.rng().bits(8));
    };
    both.drive(dut->valid_i, valid_i, bench.rng().chance(0.7));
    both.drive(dut->first_i, first_i, bench.rng().chance(0.1));
    both.drive<128>(dut->a_i, a_i, codes());
    both.drive<128>(dut->b_i, b_i, codes());
    both.drive<8>(dut->a_scale_i, a_scale_i, scale());
    both.drive<8>(dut->b_scale_i, b_scale_i, scale());
    both.settle();
    compare();
    both.tick();
    compare();
    nans += dut->acc_o == 0x7FC00000;
    bench.vector();
  }
  both.covered("reset", resets, 2);
  both.covered("a sum was NaN", nans);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
