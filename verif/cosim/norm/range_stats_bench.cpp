// SPDX-License-Identifier: Apache-2.0
// ng_range_stats against its golden function, channel by channel: each bit of each lane alone, all pairs of lanes with
// codes that are equal or one apart, and channels that fill the sums at both ends and beyond; what stats_bench.hpp has.
// Build parameter: NG_TREE_CUTS.
#include <vector>

#include "stats_bench.hpp"
#include "systemc/norm/range_stats_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

using Core = systemc::RangeStatsCore<NG_TREE_CUTS>;

class RangeStatsBench final : public StatsBench<RangeStats, Core, NG_TREE_CUTS> {
 public:
  RangeStatsBench(int argc, char** argv) : StatsBench(argc, argv, "range_stats") {}

 private:
  void directed() override {
    lanes();
    sums();
  }

  void lanes() {
    for (unsigned lane = 0; lane < 16; ++lane) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        for (const int rest : {0, -1, 127, -128}) {
          codes_.fill(static_cast<std::int8_t>(rest));
          codes_[lane] = static_cast<std::int8_t>(rest ^ 1 << bit);
          one_channel();
        }
      }
      for (unsigned other = 0; other < 16; ++other) {
        for (const int rest : {127, -128}) {  // for the minimum, for the maximum
          codes_.fill(static_cast<std::int8_t>(rest));
          const int code = static_cast<int>(bench_.rng().below(254)) - 127;
          codes_[lane] = static_cast<std::int8_t>(code);
          codes_[other] = static_cast<std::int8_t>(code + static_cast<int>(bench_.rng().below(2)));
          one_channel();
        }
      }
    }
    drain();
  }

  /// A channel of one beat, or of two in one chunk, or in two.
  void one_channel() {
    const std::uint32_t kind = bench_.rng().below(3);
    if (kind != 0) {
      const auto codes = codes_;
      random_beat();
      if (bench_.rng().chance(0.5)) codes_.fill(codes[bench_.rng().below(16)]);
      chunk_last_ = kind == 1;
      cycle(true, false, true);
      codes_ = codes;
    }
    chunk_last_ = bench_.rng().chance(0.5);
    cycle(true, true, true);
    cycle(false, false, true);
  }

  /// 16 chunks of 65536 codes in all, and of 16 beats more, whose sums wrap around.
  void sums() {
    for (const int code : {-128, 127}) {
      for (const unsigned beats : {4096U, 4112U}) {
        codes_.fill(static_cast<std::int8_t>(code));
        for (unsigned i = 1; i <= beats; ++i) {
          chunk_last_ = i % 256 == 0;
          cycle(true, i == beats, true);
        }
        drain();
      }
    }
  }

  void random_more() override {
    if (bench_.rng().chance(0.01)) chunk_ends_ = density();
    chunk_last_ = bench_.rng().chance(chunk_ends_);
  }

  void more_inputs() override { dut_->chunk_last_i = chunk_last_; }

  void forget() override { chunk_.clear(); }

  void add(bool last, RangeStats& channel) override {
    chunk_.insert(chunk_.end(), codes_.begin(), codes_.end());
    if (!chunk_last_ && !last) return;
    add_chunk(channel, chunk_);
    chunk_.clear();
  }

  void step_core(bool valid, bool last, bool ready) override { core_.step(valid, codes_, chunk_last_, last, ready); }

  void compare(const RangeStats& shown) override {
    const auto channel = [] { return "the channel"; };
    bench_.expect_eq("maxima_o", wrap_signed(dut_->maxima_o, 12), shown.maxima, channel);
    bench_.expect_eq("minima_o", wrap_signed(dut_->minima_o, 12), shown.minima, channel);
    bench_.expect_eq("sum_o", wrap_signed(dut_->sum_o, 24), shown.sum, channel);
  }

  bool chunk_last_ = false;
  double chunk_ends_ = 0.2;
  std::vector<std::int8_t> chunk_;  ///< codes of the chunk that has begun
};

}  // namespace

int main(int argc, char** argv) { return RangeStatsBench(argc, argv).run(); }
