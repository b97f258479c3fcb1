// SPDX-License-Identifier: Apache-2.0
// ng_exact_acc and its SystemC module in lock-step, overflows included. Build parameters: NG_TERM_WIDTH, NG_ACC_WIDTH,
// NG_SPLIT.
#include "Vdut.h"
#include "lockstep.hpp"
#include "systemc/mac/exact_acc.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int term_width = NG_TERM_WIDTH, acc_width = NG_ACC_WIDTH, split = NG_SPLIT;
constexpr const char* faults[] = {"the sum is one bit short", "first keeps the flags", "a flag is dropped",
                                  "the sum comes one cycle late"};

struct Core : narrowgauge::systemc::ExactAccCore<acc_width, (split > 0)> {
  using Base = narrowgauge::systemc::ExactAccCore<acc_width, (split > 0)>;
  Value acc() const {
    if (fault == 1)
      return static_cast<Value>(narrowgauge::systemc::Int128{Base::acc()} << (129 - acc_width) >> (129 - acc_width));
    return fault == 4 ? old_ : Base::acc();
  }
  const narrowgauge::SumFlags& flags() const { return fault == 2 ? sticky_ : Base::flags(); }
  void step(bool valid, bool first, Value term, narrowgauge::SumFlags flags) {
    if (fault == 3) flags.ninf = false;
    old_ = Base::acc();
    Base::step(valid, first, term, flags);
    if (valid) sticky_ |= flags;
  }
  Value old_ = 0;
  narrowgauge::SumFlags sticky_;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv,
                      "systemc exact_acc " + std::to_string(term_width) + " " + std::to_string(acc_width) + " " +
                          std::to_string(split));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::ExactAcc<term_width, acc_width, split, Core> model("model");
  both.join_clock(model);
  auto valid = pin(dut->valid_i, model.valid_i), first = pin(dut->first_i, model.first_i);
  auto term_i = pin<term_width>(dut->term_i, model.term_i);
  auto nan_i = pin(dut->nan_i, model.nan_i), nan_o = pin(dut->nan_o, model.nan_o);
  auto pinf_i = pin(dut->pinf_i, model.pinf_i), pinf_o = pin(dut->pinf_o, model.pinf_o);
  auto ninf_i = pin(dut->ninf_i, model.ninf_i), ninf_o = pin(dut->ninf_o, model.ninf_o);
  auto acc = pin<acc_width>(dut->acc_o, model.acc_o);

  const auto compare = [&] {
    both.same("acc_o", acc);
    both.same("nan_o", nan_o);
    both.same("pinf_o", pinf_o);
    both.same("ninf_o", ninf_o);
  };
  // Long enough for sums of the largest terms to overflow.
  constexpr std::uint64_t phase = std::uint64_t{2} << std::max(acc_width - term_width, 9);
  std::uint64_t flagged = 0, wrapped = 0, resets = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    const bool large = i / phase % 2 == 1, negative = i / phase % 4 == 3;
    if (!large) resets += both.maybe_reset(i, compare);
    PortWords<term_width> words;
    for (auto& word : words) word = static_cast<std::uint32_t>(bench.rng().bits(32));
    auto term = narrowgauge::systemc::signed_of<term_width>(narrowgauge::systemc::port_of<term_width>(words));
    if (large) {
      const auto most = (narrowgauge::systemc::Int128{1} << (term_width - 1)) - 1;
      term = negative ? -most - 1 : most;
    } else {
      term >>= bench.rng().below(term_width);
    }
    both.drive(valid, bench.rng().chance(0.7));
    both.drive(first, large ? i % phase == 0 : bench.rng().chance(0.05));
    both.drive(term_i, narrowgauge::systemc::port_of_signed<term_width>(term));
    both.drive(nan_i, bench.rng().chance(0.02));
    both.drive(pinf_i, bench.rng().chance(0.02));
    both.drive(ninf_i, bench.rng().chance(0.02));
    both.settle();
    compare();
    const bool was_negative = get_bits(dut->acc_o, acc_width - 1, 1);
    both.tick();
    compare();
    flagged += dut->nan_o || dut->pinf_o || dut->ninf_o;
    wrapped += large && dut->valid_i && !dut->first_i && was_negative == negative &&
               get_bits(dut->acc_o, acc_width - 1, 1) != was_negative;
    bench.vector();
  }
  both.covered("flags were set", flagged);
  both.covered("reset", resets, 2);
  if (bench.budget() >= 4 * phase) both.covered("a sum overflowed", wrapped, 2);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
