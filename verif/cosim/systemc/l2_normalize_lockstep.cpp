// SPDX-License-Identifier: Apache-2.0
// ng_l2_normalize and its SystemC module in lock-step. y_o and last_o are compared beside valid_o. Build parameters:
// NG_MAN_BITS, NG_MAX_ELEMENTS, NG_EPSILON.
#include "dut_pins.hpp"
#include "systemc/quant/l2_normalize.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int man_bits = NG_MAN_BITS, max_elements = NG_MAX_ELEMENTS, bits = 9 + man_bits;
constexpr const char* faults[] = {"an element is taken before the row has left", "the root is there a cycle too early",
                                  "a row that is too long goes unnoticed", "an element does not wait",
                                  "the lowest bit of x is lost"};

using Base = narrowgauge::systemc::L2NormalizeCore<max_elements, NG_EPSILON>;
struct Core : Base {
  bool ready() const { return Base::ready() || (fault == 1 && Base::valid() && Base::last()); }
  bool too_long() const { return Base::too_long() && fault != 3; }
  void step(bool valid, std::uint32_t x, bool last, bool ready) {
    const bool filling = Base::ready();
    Base::step(valid, fault == 5 ? x & ~(1U << (23 - man_bits)) : x, last, ready || fault == 4);
    if (fault == 2 && filling && !Base::ready()) Base::step(false, 0, false, false);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc l2_normalize " + std::to_string(man_bits));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::L2Normalize<man_bits, max_elements, NG_EPSILON, Core> model("model");
  Pins pins(both, model);

  std::uint64_t rows = 0, waited = 0, cut = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i, 400));
    both.drive(pins.last_i, bench.rng().chance(1.5 / max_elements));
    // Exponents about 1, so that few sums overflow.
    const std::uint64_t exponent = 64 + bench.rng().below(126);
    both.drive(pins.x_i, static_cast<std::uint32_t>(bench.rng().bits(1) << (bits - 1) | exponent << man_bits |
                                                    bench.rng().bits(man_bits)));
    rows += dut->valid_o && dut->ready_i && dut->last_o;
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.y_o, pins.last_o)); };
  both.run(stimulate, compare, [&] { cut += dut->too_long_o; });
  both.covered("a row left", rows);
  both.covered("an element waited", waited);
  both.covered("a row was too long", cut);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
