// SPDX-License-Identifier: Apache-2.0
// ng_smooth_token against its golden model: every beat that leaves, under bubbles and stalls of changing density, with
// rows that are too long and with resets; then rows of one length without any, to the cycle. Build parameters:
// NG_LANES, NG_MAX_BEATS.
#include <array>
#include <deque>

#include "../room.hpp"
#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/smooth_scale.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES, max_beats = NG_MAX_BEATS;
struct Beat {
  std::array<std::uint16_t, lanes> data;
  bool last;
  std::uint8_t scale;
  std::uint64_t since;   // the cycle in which its row was whole
  bool fetched = false;  // it stands at the output
};

class SmoothTokenBench {
 public:
  SmoothTokenBench(int argc, char** argv)
      : bench_(argc, argv,
               "smooth_token, " + std::to_string(lanes) + " lanes, " + std::to_string(max_beats) + " beats"),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    for (const unsigned beats : {1U, 2U, max_beats}) full_speed(beats);
    reset();
    double push = 1, pop = 0, end = 0.5;  // both banks full at first
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (i > 4 * max_beats && bench_.rng().chance(0.1 / max_beats)) {  // a new density: 0 and 1 included
        push = bench_.rng().below(5) / 4.0;
        pop = bench_.rng().below(5) / 4.0;
        end = bench_.rng().below(4) == 0 ? 1.0 : bench_.rng().below(4) / static_cast<double>(max_beats);
      }
      if (bench_.rng().chance(0.0005)) reset();
      cycle(bench_.rng().chance(push), bench_.rng().chance(end), bench_.rng().chance(pop));
    }
    for (unsigned i = 0; i < 4 * max_beats + 10; ++i) cycle(false, false, true);  // what is inside leaves
    bench_.expect(output_.beats() > 0 && output_.stalls() > 0, [] { return "no beat left, or none ever waited"; });
    bench_.expect(cut_ > 0 && whole_ > 0, [] { return "no row was too long, or none had the largest length"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = false;
    row_.clear();
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    room_.clear();
    too_long_ = false;
    dut_.reset_without_edge(bench_);
    const auto when = [] { return "after a reset without a clock edge"; };
    bench_.expect_eq("too_long_o", unsigned{dut_->too_long_o}, 0U, when);
    dut_.reset();
  }

  /// Rows of one length come and leave as fast as the unit lets them: it never refuses a beat, and from the second
  /// cycle after the first row it always has one.
  void full_speed(unsigned beats) {
    reset();
    for (unsigned i = 0; i < 7 * beats; ++i) {
      cycle(true, i % beats == beats - 1, true);
      const auto when = [&] {
        return "cycle " + std::to_string(i) + " of undisturbed rows of " + std::to_string(beats);
      };
      bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, 1U, when);
    }
  }

  std::uint16_t with_exponent(unsigned exponent) {
    return static_cast<std::uint16_t>(bench_.rng().bits(1) << 15 | exponent << 7 | bench_.rng().bits(7));
  }

  /// Any code; or one near an exponent of the row, so that scales are not always the largest there is; or one whose
  /// exponent has one bit alone, set or clear, before the division or behind it.
  std::uint16_t number() {
    switch (bench_.rng().below(8)) {
      case 0:
        return static_cast<std::uint16_t>(bench_.rng().bits(16));
      case 1:
        return static_cast<std::uint16_t>(bench_.rng().bits(1) << 15 | bench_.rng().below(3));  // 0, subnormals
      case 2:
        if (bench_.rng().bits(1)) return with_exponent(255);  // each bit of a NaN has to stay
        return static_cast<std::uint16_t>(bench_.rng().bits(1) << 15 | (0x7F7F + bench_.rng().below(3)));
      case 3:
        return with_exponent(1U << bench_.rng().below(8));
      case 4:
        return with_exponent(255 - (1U << bench_.rng().below(8)));
      case 5:
        return with_exponent(std::max(centre_ + (1U << bench_.rng().below(7)), 127U) - 127);  // becomes 2^n
      default:
        return with_exponent(centre_ - std::min(bench_.rng().below(140), centre_));
    }
  }

  void cycle(bool valid, bool last, bool ready) {
    if (row_.empty()) {
      const unsigned end = bench_.rng().below(16);  // of the range of exponents, in half of the rows
      const unsigned centres[] = {bench_.rng().below(255), bench_.rng().below(255), end, 254 - end};
      centre_ = centres[bench_.rng().below(4)];
      plain_ = bench_.rng().chance(0.7);
      bare_ = bench_.rng().chance(0.1);
    }
    Beat beat{};
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    dut_->last_i = last;
    for (unsigned i = 0; i < lanes; ++i) {
      beat.data[i] = number();
      // A scale of 1 although there are large exponents: those of what is not finite.
      if (bare_) beat.data[i] = static_cast<std::uint16_t>((beat.data[i] & 0x807F) | 0x7F80 * bench_.rng().bits(1));
      if (plain_ && !bare_ && (beat.data[i] >> 7 & 0xFF) > centre_) beat.data[i] &= 0x807F;
      set_bits(dut_->data_i, i * 16, 16, beat.data[i]);
    }
    dut_.eval();
    bench_.vector();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->last_o, dut_->scale_o);
    const bool offered = !expected_.empty() && cycle_ >= expected_.front().since + 2;
    bench_.expect_eq("valid_o", bool(dut_->valid_o), offered,
                     [] { return "two cycles after a row was whole, or not"; });
    // A row leaves its bank with the fetch of its last beat.
    if (offered && expected_.front().last && !std::exchange(expected_.front().fetched, true)) room_.give();
    room_.check(dut_->ready_o);
    if (offered && dut_->valid_o) {
      compare(expected_.front());
      if (ready) expected_.pop_front();
    }
    if (valid && dut_->ready_o) take(beat, last);
    dut_.tick();
    ++cycle_;
    bench_.expect_eq("too_long_o", bool(dut_->too_long_o), too_long_, [] { return "after a clock edge"; });
  }

  void compare(const Beat& beat) {
    for (unsigned i = 0; i < lanes; ++i) {
      bench_.expect_eq("data_o", get_bits(dut_->data_o, i * 16, 16), std::uint64_t{beat.data[i]},
                       [&] { return "lane " + std::to_string(i) + ", scale " + std::to_string(beat.scale); });
    }
    bench_.expect_eq("scale_o", unsigned{dut_->scale_o}, unsigned{beat.scale}, [] { return "of a row"; });
    bench_.expect_eq("last_o", bool(dut_->last_o), beat.last, [] { return "of a beat"; });
  }

  void take(const Beat& beat, bool last) {
    row_.push_back(beat);
    if (!last && row_.size() < max_beats) return;
    too_long_ |= !last;
    cut_ += !last;
    whole_ += last && row_.size() == max_beats;
    std::vector<std::uint16_t> codes;
    for (const Beat& each : row_) codes.insert(codes.end(), each.data.begin(), each.data.end());
    const std::uint8_t scale = smooth_scale(codes);
    for (Beat& each : row_) {
      for (std::uint16_t& code : each.data) code = smooth_divide(code, scale);
      each.scale = scale;
      each.since = cycle_;
      expected_.push_back(each);
    }
    expected_.back().last = true;
    room_.take();
    row_.clear();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  std::deque<Beat> row_;  // that comes
  Scoreboard<Beat> expected_{bench_, "beats"};
  Room room_{bench_, "rows in the banks", 2};
  unsigned centre_ = 0;  // no number of a plain row has an exponent above it
  bool bare_ = false;    // a row has only zeros, subnormal numbers, infinities and NaNs
  bool plain_ = false, too_long_ = false;
  std::uint64_t cycle_ = 0, cut_ = 0, whole_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return SmoothTokenBench(argc, argv).run(); }
