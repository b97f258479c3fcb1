// SPDX-License-Identifier: Apache-2.0
// ng_moment_stats and its SystemC module in lock-step. The statistics are compared beside valid_o. Build parameters:
// NG_ORDER, NG_TREE_CUTS.
#include "dut_pins.hpp"
#include "systemc/norm/moment_stats.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a beat passes while a result waits", "a channel does not end",
                                  "the spread is one too high", "lane 15 does not count"};

using Base = narrowgauge::systemc::MomentStatsCore<NG_ORDER, NG_TREE_CUTS>;
struct Core : Base {
  bool ready() const { return Base::ready() || (fault == 1 && valid()); }
  const narrowgauge::MomentStats& result() const {
    changed_ = Base::result();
    if (fault == 3) ++changed_.spread;
    return changed_;
  }
  void step(bool valid, Codes codes, std::int8_t centre, bool last, bool ready) {
    if (fault == 4) codes[15] = 0;
    Base::step(valid, codes, centre, last && fault != 2, ready);
  }

 private:
  mutable narrowgauge::MomentStats changed_;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(
      argc, argv, "systemc moment_stats, order " + std::to_string(NG_ORDER) + ", cuts " + std::to_string(NG_TREE_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::MomentStatistics<NG_ORDER, NG_TREE_CUTS, Core> model("model");
  Pins pins(both, model);

  std::uint64_t channels = 0, waited = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive(pins.last_i, bench.rng().chance(i / 1000 % 2 ? 0.8 : 0.2));
    both.drive_random(pins.codes_i);
    both.drive_random(pins.centre_i);
    channels += dut->valid_o && dut->ready_i;
    waited += !dut->ready_o;
  };
  const auto compare = [&] {
    both.same(pins, OnlyWhile(dut->valid_o, pins.spread_o), OnlyWhile(dut->valid_o, pins.sum_o));
  };
  both.run(stimulate, compare, [] {});
  both.covered("a channel ended", channels);
  both.covered("a beat waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
