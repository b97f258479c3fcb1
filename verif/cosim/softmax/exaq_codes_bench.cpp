// SPDX-License-Identifier: Apache-2.0
// ng_exaq_codes against its golden functions, beat by beat and row by row, and cycle for cycle against the cycle model:
// each threshold in each lane from both sides, rows of BF16 scores with thresholds of the paper's rule, rows of one
// beat and of too many scores, under bubbles, stalls and resets. Build parameters: NG_BITS, NG_LANES, NG_COUNT_BITS.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/softmax/exaq_codes_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned bits = NG_BITS, lanes = NG_LANES, count_bits = NG_COUNT_BITS, codes = 1U << bits;
constexpr std::uint64_t all_lanes = ~std::uint64_t{0} >> (64 - lanes);
using Core = systemc::ExaqCodesCore<NG_BITS, NG_LANES, NG_COUNT_BITS>;

class ExaqCodesBench {
 public:
  ExaqCodesBench(int argc, char** argv)
      : bench_(argc, argv, "exaq_codes, " + std::to_string(bits) + " bits"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    full_speed();
    thresholds();
    too_long();
    double push = 1, pop = 1, end = 0.2;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.01)) {  // a new density
        push = (1 + bench_.rng().below(4)) / 4.0;
        pop = (1 + bench_.rng().below(4)) / 4.0;
        end = bench_.rng().chance(0.3) ? 1 : 0.1;
      }
      if (bench_.rng().chance(0.001)) reset();
      if (!open_) new_row();
      random_beat();
      cycle(bench_.rng().chance(push), !open_ || bench_.rng().chance(0.02), bench_.rng().chance(end),
            bench_.rng().chance(pop));
    }
    drain();
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a beat left, or none waited"; });
    bench_.expect(rows_ > 10 && too_long_rows_ > 0, [] { return "hardly a row ended, or none was too long"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    open_ = too_long_ = false;
    row_.clear();
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    dut_.reset();
  }

  void drain() {
    for (int i = 0; i < 10; ++i) cycle(false, false, false, true);
    bench_.expect(expected_.empty(), [] { return "a beat that came did not leave"; });
  }

  /// Rows of two beats, one after the other: a beat leaves three edges after it came, and none waits.
  void full_speed() {
    for (unsigned i = 0; i < 40; ++i) {
      const auto when = [&] { return "cycle " + std::to_string(i) + " at full speed"; };
      bench_.expect_eq("ready_o", bool(dut_->ready_o), true, when);
      bench_.expect_eq("valid_o", bool(dut_->valid_o), i >= 3, when);
      new_row();
      random_beat();
      cycle(true, i % 2 == 0, i % 2 == 1, true);
    }
    drain();
  }

  /// Every threshold, met and missed by one, in every lane; every bit of every threshold.
  void thresholds() {
    for (unsigned k = 0; k + 1 < codes; ++k) {
      for (unsigned bit = 0; bit < 16; ++bit) {
        for (unsigned other = 0; other + 1 < codes; ++other) {
          thresholds_[other] = static_cast<std::uint16_t>(other < k ? 0 : other == k ? 1U << bit : 0xFFFFU);
        }
        for (unsigned lane = 0; lane < lanes; ++lane) {
          keys_.fill(0);
          keys_[lane] = (1U << bit) - (bench_.rng().bits(1) ? 1 : 0);
          mask_ = bench_.rng().bits(1) ? all_lanes : std::uint64_t{1} << lane;
          cycle(true, !open_, bench_.rng().chance(0.1), true);
        }
      }
      for (unsigned lane = 0; lane < lanes; ++lane) {
        for (const std::uint32_t less : {0U, 1U}) {
          new_row();
          keys_.fill(thresholds_[k]);
          keys_[lane] -= thresholds_[k] != 0 ? less : 0;
          mask_ = all_lanes;
          cycle(true, !open_, true, true);
          cycle(false, false, false, true);
        }
      }
    }
    drain();
  }

  /// A row of as many scores as CountBits hold, which fits, and one of one more, which does not.
  void too_long() {
    for (const std::uint32_t scores : {(1U << count_bits) - 1, 1U << count_bits}) {
      reset();
      new_row();
      for (std::uint32_t left = scores; left > 0;) {
        const std::uint32_t taken = std::min(left, lanes);
        random_beat();
        for (std::uint32_t& key : keys_) key |= bench_.rng().chance(0.7) ? 0xFF00U : 0;
        mask_ = all_lanes >> (lanes - taken);
        cycle(true, left == scores, left == taken, true);
        if (dut_was_ready_) left -= taken;
      }
      drain();
      bench_.expect_eq("too_long_o", bool(dut_->too_long_o), scores >> count_bits != 0,
                       [&] { return std::to_string(scores) + " scores"; });
      too_long_rows_ += scores >> count_bits;
    }
    reset();
  }

  void new_row() {
    if (bench_.rng().chance(0.3)) {  // any thresholds, equal ones among them
      for (std::uint16_t& threshold : thresholds_) threshold = static_cast<std::uint16_t>(bench_.rng().bits(16));
      if (bench_.rng().chance(0.3)) thresholds_.front() = thresholds_.back();
      std::ranges::sort(thresholds_);
      maximum_ = static_cast<std::uint16_t>(bench_.rng().bits(16));
    } else {
      maximum_ = bf16_key(static_cast<std::uint16_t>(0x3000 + bench_.rng().bits(13) + (bench_.rng().bits(1) << 15)));
      const double sigma = bench_.rng().chance(0.1) ? 0 : 0.1 + bench_.rng().below(100) / 10.0;
      std::ranges::copy(exaq_key_thresholds(maximum_, exaq_thresholds(exaq_clip(sigma, bits), bits)),
                        thresholds_.begin());
    }
  }

  void random_beat() {
    for (std::uint32_t& key : keys_) {
      const auto any = static_cast<std::uint32_t>(bench_.rng().bits(16));
      switch (bench_.rng().below(4)) {
        case 0:
          key = any;
          break;
        case 1:  // at a threshold, or beside it
          key = (thresholds_[any % (codes - 1)] + bench_.rng().below(3) - 1) & 0xFFFF;
          break;
        default:  // below the maximum, mostly close to it
          key = maximum_ - std::min<std::uint32_t>(maximum_, any >> bench_.rng().below(16));
      }
    }
    mask_ = bench_.rng().bits(lanes) | (bench_.rng().bits(1) ? bench_.rng().bits(lanes) : 0);
    if (bench_.rng().chance(0.05)) mask_ = 0;
  }

  struct Beat {
    std::vector<std::uint8_t> codes;  ///< with exaq_masked
    bool last = false;
    std::vector<std::uint32_t> counts;  ///< of the row, if it ends
  };

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    bench_.expect_eq("too_long_o", bool(dut_->too_long_o), core_.too_long(), model);
    if (!dut_->valid_o) return;
    const Beat* const shown = expected_.shown();
    if (shown == nullptr) return;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const auto where = [&] { return "lane " + std::to_string(lane); };
      const bool attended = shown->codes[lane] != exaq_masked;
      bench_.expect_eq("mask_o", bool(get_bits(dut_->mask_o, lane, 1)), attended, where);
      bench_.expect_eq("codes_o", get_bits(dut_->codes_o, bits * lane, bits),
                       std::uint64_t{attended ? shown->codes[lane] : 0U}, where);
    }
    bench_.expect_eq("last_o", bool(dut_->last_o), shown->last, [] { return "of the row"; });
    if (!shown->last) return;
    for (unsigned k = 0; k < codes; ++k) {
      bench_.expect_eq("counts_o", get_bits(dut_->counts_o, count_bits * k, count_bits),
                       std::uint64_t{shown->counts[k]} & ((1U << count_bits) - 1),
                       [&] { return "code " + std::to_string(k); });
    }
  }

  void cycle(bool valid, bool first, bool last, bool ready) {
    dut_->valid_i = valid;
    dut_->first_i = first;
    dut_->last_i = last;
    dut_->ready_i = ready;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      set_bits(dut_->keys_i, 16 * lane, 16, keys_[lane]);
      set_bits(dut_->mask_i, lane, 1, mask_ >> lane & 1);
    }
    for (unsigned k = 0; k + 1 < codes; ++k) set_bits(dut_->thresholds_i, 16 * k, 16, thresholds_[k]);
    dut_.eval();
    bench_.vector();
    outputs();
    const bool counts = dut_->last_o;
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->codes_o, dut_->mask_o, dut_->last_o,
                   counts ? get_bits(dut_->counts_o, 0, std::min(64U, count_bits * codes)) : 0);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    dut_was_ready_ = dut_->ready_o;
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    if (valid && dut_->ready_o) take(first, last);
    core_.step(valid, keys_, mask_, first, last, thresholds_, ready);
    dut_.tick();
    outputs();
  }

  void take(bool first, bool last) {
    if (first) row_.clear();
    Beat& beat = expected_.emplace_back();
    for (unsigned lane = 0; lane < lanes; ++lane) {
      beat.codes.push_back(mask_ >> lane & 1 ? static_cast<std::uint8_t>(exaq_key_code(keys_[lane], thresholds_))
                                             : exaq_masked);
    }
    row_.insert(row_.end(), beat.codes.begin(), beat.codes.end());
    open_ = !last;
    beat.last = last;
    if (!last) return;
    beat.counts = exaq_counts(row_, bits);
    ++rows_;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  Core::Keys keys_{};
  Core::Thresholds thresholds_{};
  std::uint64_t mask_ = 0;
  std::uint16_t maximum_ = 0;      ///< key near which keys are drawn
  std::vector<std::uint8_t> row_;  ///< codes of the beats taken
  Scoreboard<Beat> expected_{bench_, "beats"};
  bool open_ = false, too_long_ = false, dut_was_ready_ = false;
  std::uint64_t rows_ = 0, too_long_rows_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return ExaqCodesBench(argc, argv).run(); }
