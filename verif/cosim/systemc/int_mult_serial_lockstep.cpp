// SPDX-License-Identifier: Apache-2.0
// ng_int_mult_serial and its SystemC module in lock-step. Build parameters: NG_A_WIDTH, NG_B_WIDTH, NG_A_SIGNED,
// NG_B_SIGNED.
#include "dut_pins.hpp"
#include "systemc/mac/int_mult_serial.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr narrowgauge::systemc::IntMultSerialParams params{.a = {.width = NG_A_WIDTH, .is_signed = NG_A_SIGNED != 0},
                                                           .b = {.width = NG_B_WIDTH, .is_signed = NG_B_SIGNED != 0}};
constexpr const char* faults[] = {"ready during the last step", "a step too few", "the product does not wait",
                                  "the highest bit of b is lost", "the register is cleared when the product is taken"};

struct Core : narrowgauge::systemc::IntMultSerialCore<params> {
  using Base = narrowgauge::systemc::IntMultSerialCore<params>;
  bool ready() const { return Base::ready() || (fault == 1 && valid()); }
  std::uint32_t product() const { return fault == 5 && Base::ready() ? 0 : Base::product(); }
  void step(bool valid, std::uint32_t a, std::uint32_t b, bool ready) {
    const bool take = valid && Base::ready();
    Base::step(valid, a, fault == 4 ? b & (params.b.mask() >> 1) : b, ready || fault == 3);
    if (take && fault == 2) Base::step(false, 0, 0, true);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc int_mult_serial");
  auto& [bench, dut, clk, rst_n] = both;
  using Module = narrowgauge::systemc::IntMultSerial<params, Core>;
  constexpr int a_width = Module::a_width, b_width = Module::b_width;
  Module model("model");
  Pins pins(both, model);

  std::uint64_t products = 0, stalls = 0;
  const auto stimulate = [&](std::uint64_t i) {
    // Pairs need not be held here: what becomes of a pair that was not taken is no matter of the unit.
    both.drive(pins, traffic_at(i));
    both.drive(pins.a_i, static_cast<Port<a_width>>(bench.rng().bits(a_width)));
    both.drive(pins.b_i, static_cast<Port<b_width>>(bench.rng().bits(b_width)));
    // No input reaches valid_o within a cycle.
    products += dut->valid_o && dut->ready_i;
    stalls += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins); };
  both.run(stimulate, compare, [] {});
  both.covered("a product was taken", products);
  both.covered("a product waited", stalls);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
