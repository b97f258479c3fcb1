// SPDX-License-Identifier: Apache-2.0
// ng_mxfp4_mac and its SystemC module in lock-step. Build parameter: NG_PIPELINED.
#include "dut_pins.hpp"
#include "systemc/mac/mxfp4_mac.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"the last lane is dropped", "first does not load", "a sum without valid",
                                  "the sum comes one cycle late", "a NaN scale is a number"};

struct Core : narrowgauge::systemc::Mxfp4MacCore<NG_PIPELINED != 0> {
  using Base = narrowgauge::systemc::Mxfp4MacCore<NG_PIPELINED != 0>;
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
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Mxfp4Mac<Core> model("model");
  Pins pins(both, model);

  std::uint64_t nans = 0;
  const auto stimulate = [&](std::uint64_t i) {
    const auto scale = [&] {
      return static_cast<Port<8>>(bench.rng().chance(0.02) ? 0xFF
                                  : i / 256 % 2            ? 120 + bench.rng().below(16)
                                                           : bench.rng().bits(8));
    };
    both.drive(pins.valid_i, bench.rng().chance(0.7));
    both.drive(pins.first_i, bench.rng().chance(0.1));
    both.drive_random(pins.a_i);
    both.drive_random(pins.b_i);
    both.drive(pins.a_scale_i, scale());
    both.drive(pins.b_scale_i, scale());
  };
  both.run(
      stimulate, [&] { both.same(pins); }, [&] { nans += dut->acc_o == 0x7FC00000; });
  both.covered("a sum was NaN", nans);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
