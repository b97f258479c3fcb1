// SPDX-License-Identifier: Apache-2.0
// ng_range_stats and its SystemC module in lock-step. The statistics are compared beside valid_o. Build parameter:
// NG_TREE_CUTS.
#include "dut_pins.hpp"
#include "systemc/norm/range_stats.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a beat passes while a result waits", "a channel's last beat ends no chunk",
                                  "the sum is one too low", "a chunk's end is its channel's",
                                  "the sum of minima loses its sign"};

using Base = narrowgauge::systemc::RangeStatsCore<NG_TREE_CUTS>;
struct Core : Base {
  bool ready() const { return Base::ready() || (fault == 1 && valid()); }
  const narrowgauge::RangeStats& result() const {
    changed_ = Base::result();
    if (fault == 3) --changed_.sum;
    if (fault == 5) changed_.minima &= 0x7FF;
    return changed_;
  }
  void step(bool valid, const Codes& codes, bool chunk_last, bool last, bool ready) {
    Base::step(valid, codes, chunk_last, fault == 2 ? last && chunk_last : last || (fault == 4 && chunk_last), ready);
  }

 private:
  mutable narrowgauge::RangeStats changed_;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc range_stats, cuts " + std::to_string(NG_TREE_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::RangeStatistics<NG_TREE_CUTS, Core> model("model");
  Pins pins(both, model);

  std::uint64_t channels = 0, waited = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive(pins.chunk_last_i, bench.rng().chance(0.3));
    both.drive(pins.last_i, bench.rng().chance(i / 1000 % 2 ? 0.8 : 0.2));
    both.drive_random(pins.codes_i);
    channels += dut->valid_o && dut->ready_i;
    waited += !dut->ready_o;
  };
  const auto compare = [&] {
    both.same(pins, OnlyWhile(dut->valid_o, pins.maxima_o), OnlyWhile(dut->valid_o, pins.minima_o),
              OnlyWhile(dut->valid_o, pins.sum_o));
  };
  both.run(stimulate, compare, [] {});
  both.covered("a channel ended", channels);
  both.covered("a beat waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
