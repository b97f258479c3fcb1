// SPDX-License-Identifier: Apache-2.0
// ng_unsigned_mac and its SystemC module in lock-step, overflows included. Build parameters: NG_X_WIDTH, NG_W_WIDTH,
// NG_ACC_WIDTH, NG_SCHEDULE.
#include "dut_pins.hpp"
#include "systemc/pann/unsigned_mac.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int x_width = NG_X_WIDTH, w_width = NG_W_WIDTH, acc_width = NG_ACC_WIDTH, schedule = NG_SCHEDULE;
constexpr const char* faults[] = {"first keeps the sums", "the sign is lost", "a product without valid",
                                  "the result comes one cycle late", "an output never ends"};

struct Core : narrowgauge::systemc::UnsignedMacCore<acc_width, schedule == 0> {
  using Base = narrowgauge::systemc::UnsignedMacCore<acc_width, schedule == 0>;
  bool valid() const { return fault == 4 ? late_ : Base::valid(); }
  void step(bool valid, bool first, bool last, std::uint32_t x, std::uint32_t w, bool negative) {
    late_ = Base::valid();
    Base::step(valid || fault == 3, first && fault != 1, last && fault != 5, x, w, negative && fault != 2);
  }
  bool late_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc unsigned_mac schedule " + std::to_string(schedule));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::UnsignedMac<x_width, w_width, acc_width, schedule, Core> model("model");
  Pins pins(both, model);

  std::uint64_t results = 0;
  const auto stimulate = [&](std::uint64_t i) {
    // Every other phase: long outputs of one sign, which wrap. An output may go on behind its last product.
    const bool large = i / 512 % 2 == 1;
    both.drive(pins.valid_i, bench.rng().chance(0.7));
    both.drive(pins.first_i, bench.rng().chance(large ? 0.002 : 0.2));
    both.drive(pins.last_i, bench.rng().chance(0.2));
    both.drive(pins.x_i, static_cast<Port<x_width>>(bench.rng().bits(x_width)));
    both.drive(pins.w_i, static_cast<Port<w_width>>(bench.rng().bits(w_width)));
    both.drive(pins.negative_i, bench.rng().chance(large ? (i / 1024 % 2 == 0 ? 0 : 1) : 0.3));
  };
  const auto compare = [&] { both.same(pins); };
  both.run(stimulate, compare, [&] { results += dut->valid_o; });
  both.covered("a result came", results);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
