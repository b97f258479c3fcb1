// SPDX-License-Identifier: Apache-2.0
// ng_unsigned_mac and its SystemC module in lock-step, overflows included. Build parameters: NG_X_WIDTH, NG_W_WIDTH,
// NG_ACC_WIDTH, NG_SCHEDULE.
#include "Vdut.h"
#include "lockstep.hpp"
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
  sc_core::sc_signal<bool> valid_i, first_i, last_i, negative_i, valid_o;
  sc_core::sc_signal<Port<x_width>> x_i;
  sc_core::sc_signal<Port<w_width>> w_i;
  sc_core::sc_signal<Port<acc_width>> result_o;
  narrowgauge::systemc::UnsignedMac<x_width, w_width, acc_width, schedule, Core> model("model");
  model.clk_i(both.clk);
  model.rst_ni(both.rst_n);
  model.valid_i(valid_i);
  model.first_i(first_i);
  model.last_i(last_i);
  model.x_i(x_i);
  model.w_i(w_i);
  model.negative_i(negative_i);
  model.valid_o(valid_o);
  model.result_o(result_o);

  auto& [bench, dut, clk, rst_n] = both;
  const auto compare = [&] {
    both.same("valid_o", dut->valid_o, valid_o);
    both.same<acc_width>("result_o", dut->result_o, result_o);
  };
  std::uint64_t results = 0, resets = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (i == 0 || bench.rng().chance(0.002)) {
      both.set_reset(true);
      compare();
      for (std::uint64_t n = bench.rng().bits(2); n > 0; --n) both.tick();
      both.set_reset(false);
      ++resets;
    }
    // Every other phase: long outputs of one sign, which wrap. An output may go on behind its last product.
    const bool large = i / 512 % 2 == 1;
    both.drive(dut->valid_i, valid_i, bench.rng().chance(0.7));
    both.drive(dut->first_i, first_i, bench.rng().chance(large ? 0.002 : 0.2));
    both.drive(dut->last_i, last_i, bench.rng().chance(0.2));
    both.drive<x_width>(dut->x_i, x_i, static_cast<Port<x_width>>(bench.rng().bits(x_width)));
    both.drive<w_width>(dut->w_i, w_i, static_cast<Port<w_width>>(bench.rng().bits(w_width)));
    both.drive(dut->negative_i, negative_i, bench.rng().chance(large ? (i / 1024 % 2 == 0 ? 0 : 1) : 0.3));
    both.settle();
    compare();
    both.tick();
    compare();
    results += dut->valid_o;
    bench.vector();
  }
  both.covered("reset", resets, 2);
  both.covered("a result came", results);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
