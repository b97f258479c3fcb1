// SPDX-License-Identifier: Apache-2.0
// ng_div_fp32 and its SystemC module in lock-step. y_o is compared beside valid_o. Build parameter: NG_SATURATE.
#include "dut_pins.hpp"
#include "systemc/mac/div_fp32.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr bool saturate = NG_SATURATE != 0;
constexpr const char* faults[] = {"a pair is taken in the cycle of the quotient", "a step too few",
                                  "the quotient does not wait", "the lowest bit of b is lost"};

struct Core : narrowgauge::systemc::DivFp32Core<saturate> {
  using Base = narrowgauge::systemc::DivFp32Core<saturate>;
  bool ready() const { return Base::ready() || (fault == 1 && valid()); }
  void step(bool valid, std::uint32_t a, std::uint32_t b, bool ready) {
    const bool take = valid && Base::ready();
    Base::step(valid, a, fault == 4 ? b & ~1U : b, ready || fault == 3);
    if (take && fault == 2) Base::step(false, 0, 0, false);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc div_fp32");
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DivFp32<saturate, Core> model("model");
  Pins pins(both, model);

  std::uint64_t quotients = 0, stalls = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    // Now and then a subnormal number or a zero.
    const auto code = [&] {
      return static_cast<std::uint32_t>(bench.rng().bits(32) & (bench.rng().chance(0.1) ? 0x800000FF : ~0U));
    };
    both.drive(pins.a_i, code());
    both.drive(pins.b_i, code());
    quotients += dut->valid_o && dut->ready_i;
    stalls += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.y_o)); };
  both.run(stimulate, compare, [] {});
  both.covered("a quotient was taken", quotients);
  both.covered("a quotient waited", stalls);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
