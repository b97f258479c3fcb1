// SPDX-License-Identifier: Apache-2.0
// ng_moment_stats against its golden functions, channel by channel: every code in every lane, of order 1 beside centres
// that it equals or is next to, and channels that fill the sums at both ends and beyond; what stats_bench.hpp has.
// Build parameters: NG_ORDER, NG_TREE_CUTS.
#include "stats_bench.hpp"
#include "systemc/norm/moment_stats_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

using Core = systemc::MomentStatsCore<NG_ORDER, NG_TREE_CUTS>;

class MomentStatsBench final : public StatsBench<MomentStats, Core, NG_TREE_CUTS> {
 public:
  MomentStatsBench(int argc, char** argv) : StatsBench(argc, argv, "moment_stats") {}

 private:
  void directed() override {
    lanes();
    sums();
  }

  /// Channels of a beat, of which one lane has each code, and all others one.
  void lanes() {
    for (unsigned lane = 0; lane < 16; ++lane) {
      for (int code = -128; code < 128; ++code) {
        codes_.fill(static_cast<std::int8_t>(lane % 2 ? bench_.rng().bits(8) : 0));
        codes_[lane] = static_cast<std::int8_t>(code);
        centre_ = static_cast<std::int8_t>(code + static_cast<int>(bench_.rng().below(3)) - 1);
        cycle(true, true, true);
        cycle(false, false, true);
      }
    }
    drain();
  }

  /// 65536 codes, some less, whose count has nearly all bits set, and more, whose sums wrap around.
  void sums() {
    for (const int code : {-128, 127}) {
      for (const unsigned beats : {4095U, 4096U, 4129U, 8192U}) {
        codes_.fill(static_cast<std::int8_t>(code));
        centre_ = static_cast<std::int8_t>(code < 0 ? 127 : -128);
        for (unsigned i = 1; i <= beats; ++i) cycle(true, i == beats, true);
        drain();
      }
    }
  }

  void random_more() override {
    centre_ = bench_.rng().chance(0.5) ? codes_[0] : static_cast<std::int8_t>(bench_.rng().bits(8));
  }

  void more_inputs() override { dut_->centre_i = static_cast<std::uint8_t>(centre_); }

  void forget() override {}

  void add(bool, MomentStats& channel) override {
    if constexpr (NG_ORDER == 2) {
      add_squares(channel, codes_);
    } else {
      add_distances(channel, codes_, centre_);
    }
  }

  void step_core(bool valid, bool last, bool ready) override { core_.step(valid, codes_, centre_, last, ready); }

  void compare(const MomentStats& shown) override {
    const auto channel = [] { return "the channel"; };
    bench_.expect_eq("spread_o", static_cast<std::int32_t>(dut_->spread_o), shown.spread, channel);
    bench_.expect_eq("sum_o", wrap_signed(dut_->sum_o, 24), shown.sum, channel);
  }

  std::int8_t centre_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return MomentStatsBench(argc, argv).run(); }
