// SPDX-License-Identifier: Apache-2.0
// ng_exact_acc and its SystemC module in lock-step, overflows included. Build parameters: NG_TERM_WIDTH, NG_ACC_WIDTH,
// NG_SPLIT.
#include "dut_pins.hpp"
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
  Pins pins(both, model);

  const auto compare = [&] { both.same(pins); };
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
    both.drive(pins.valid_i, bench.rng().chance(0.7));
    both.drive(pins.first_i, large ? i % phase == 0 : bench.rng().chance(0.05));
    both.drive(pins.term_i, narrowgauge::systemc::port_of_signed<term_width>(term));
    both.drive(pins.nan_i, bench.rng().chance(0.02));
    both.drive(pins.pinf_i, bench.rng().chance(0.02));
    both.drive(pins.ninf_i, bench.rng().chance(0.02));
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
