// SPDX-License-Identifier: Apache-2.0
// ng_nvfp4_mac and its SystemC module in lock-step. Build parameters: NG_ACC_WIDTH, NG_DOT_CUTS, NG_SPLIT.
#include "dut_pins.hpp"
#include "systemc/mac/nvfp4_mac.hpp"

namespace {

using namespace narrowgauge::bench;
using narrowgauge::Nvfp4Term;

constexpr int acc_width = NG_ACC_WIDTH, dot_cuts = NG_DOT_CUTS, split = NG_SPLIT;
constexpr const char* faults[] = {"the term is one unit more", "first does not load", "a sum without valid",
                                  "the sum comes one cycle late", "a NaN scale is a number"};

struct Core : narrowgauge::systemc::Nvfp4MacCore<acc_width, dot_cuts, (split > 0)> {
  using Base = narrowgauge::systemc::Nvfp4MacCore<acc_width, dot_cuts, (split > 0)>;
  typename Acc::Value acc() const { return fault == 4 ? old_ : Base::acc(); }
  void step(bool valid, bool first, Nvfp4Term term) {
    old_ = Base::acc();
    if (fault == 1) term.value += 1;
    if (fault == 5) term.nan = false;
    Base::step(valid || fault == 3, first && fault != 2, term);
  }
  typename Acc::Value old_ = 0;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc nvfp4_mac " + std::to_string(dot_cuts) + " " + std::to_string(split));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Nvfp4Mac<acc_width, dot_cuts, split, Core> model("model");
  Pins pins(both, model);

  std::uint64_t nans = 0;
  const auto stimulate = [&](std::uint64_t) {
    const auto scale = [&] { return static_cast<Port<8>>(bench.rng().chance(0.02) ? 0x7F : bench.rng().bits(8)); };
    both.drive(pins.valid_i, bench.rng().chance(0.7));
    both.drive(pins.first_i, bench.rng().chance(0.1));
    both.drive_random(pins.a_i);
    both.drive_random(pins.b_i);
    both.drive(pins.a_scale_i, scale());
    both.drive(pins.b_scale_i, scale());
  };
  both.run(
      stimulate, [&] { both.same(pins); }, [&] { nans += dut->nan_o; });
  both.covered("a sum was NaN", nans);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
