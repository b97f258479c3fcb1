// SPDX-License-Identifier: Apache-2.0
// ng_rsqrt_fp32 and its SystemC module in lock-step. y_o is compared beside valid_o.
#include "dut_pins.hpp"
#include "systemc/mac/rsqrt_fp32.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a number is taken in the cycle of the root", "a step too few",
                                  "the root does not wait", "the lowest bits of a are lost"};

struct Core : narrowgauge::systemc::RsqrtFp32Core {
  using Base = narrowgauge::systemc::RsqrtFp32Core;
  bool ready() const { return Base::ready() || (fault == 1 && valid()); }
  void step(bool valid, std::uint32_t a, bool ready) {
    const bool take = valid && Base::ready();
    Base::step(valid, fault == 4 ? a & ~7U : a, ready || fault == 3);
    if (take && fault == 2) Base::step(false, 0, false);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc rsqrt_fp32");
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::RsqrtFp32<Core> model("model");
  Pins pins(both, model);

  std::uint64_t roots = 0, stalls = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    // Mostly positive; now and then a subnormal number or a zero.
    both.drive(pins.a_i,
               static_cast<std::uint32_t>(bench.rng().bits(32) & (bench.rng().chance(0.1) ? 0x800000FF : ~0U) &
                                          (bench.rng().chance(0.8) ? 0x7FFFFFFF : ~0U)));
    roots += dut->valid_o && dut->ready_i;
    stalls += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.y_o)); };
  both.run(stimulate, compare, [] {});
  both.covered("a root was taken", roots);
  both.covered("a root waited", stalls);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
