// SPDX-License-Identifier: Apache-2.0
// ng_log_prune against its golden model: every beat that leaves and the sums beside it, of numbers of all kinds, with
// random words about the ones that decide, under bubbles and stalls of changing density and resets; then beats without
// any, to the cycle. Build parameters: NG_LANES, NG_FRAC_BITS, NG_RAND_BITS, NG_COUNT_BITS.
#include <array>
#include <bit>
#include <string>

#include "../room.hpp"
#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/luq/log_prune.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES, frac_bits = NG_FRAC_BITS, rand_bits = NG_RAND_BITS;
constexpr unsigned grow_bits = std::bit_width(lanes - 1) + NG_COUNT_BITS;
constexpr unsigned sum_width = 9 + frac_bits + grow_bits, square_width = 15 + 2 * frac_bits + grow_bits;
constexpr unsigned count_width = grow_bits + 1;
constexpr std::uint32_t words = std::uint32_t{1} << rand_bits;

constexpr std::uint64_t low(std::uint64_t value, unsigned width) { return value & ~std::uint64_t{0} >> (64 - width); }

struct Beat {
  std::array<std::uint16_t, lanes> data;
  bool last;
  LogSums sums;         // of its tensor, this beat included
  std::uint64_t moves;  // of the registers, up to and with the cycle in which it was taken
};

class LogPruneBench {
 public:
  LogPruneBench(int argc, char** argv)
      : bench_(argc, argv, "log_prune, " + std::to_string(lanes) + " lanes"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    for (unsigned i = 0; i < 300; ++i) {  // full speed: a beat is offered four cycles after it was taken
      cycle(true, i % 3 == 2, true);
      const auto when = [&] { return "after cycle " + std::to_string(i) + " of undisturbed beats"; };
      bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, 1U, when);
      bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, unsigned{i + 1 >= 4}, when);
    }
    double push = 1, pop = 1, end = 0.1;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.02)) {  // a new density: 0 and 1 included
        push = bench_.rng().below(5) / 4.0;
        pop = bench_.rng().below(5) / 4.0;
        end = bench_.rng().below(3) == 0 ? 1.0 : bench_.rng().below(20) / 100.0;
        if (bench_.rng().below(3) == 0) end = 0.005;  // long tensors: their sums wrap around where CountBits are few
        zeros_ = end == 0.005 && bench_.rng().bits(1) ? 0.9 : 0;  // and so does their count of zeros
      }
      if (bench_.rng().chance(0.0005)) reset();
      cycle(bench_.rng().chance(push), bench_.rng().chance(end), bench_.rng().chance(pop));
    }
    for (int i = 0; i < 10; ++i) cycle(false, false, true);  // what is inside leaves
    bench_.expect(output_.beats() > 0 && output_.stalls() > 0, [] { return "no beat left, or none ever waited"; });
    bench_.expect(kept_ > 20 && raised_ > 20 && zeroed_ > 20 && longest_ > 20,
                  [] { return "too few numbers were kept, raised or made zero, or no tensor was long"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = false;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    sums_ = {};
    beats_ = 0;
    room_.clear();
    dut_.reset_without_edge(bench_);
    dut_.reset();
  }

  std::uint16_t random_bits(unsigned count) { return static_cast<std::uint16_t>(bench_.rng().bits(count)); }

  std::uint16_t threshold() {
    switch (bench_.rng().below(8)) {
      case 0:
        return random_bits(bench_.rng().below(16));  // subnormal ones, small ones, 0
      case 1:
        return static_cast<std::uint16_t>(0x7F7F - random_bits(3));
      default:
        return random_bits(15) % 0x7F80;
    }
  }

  std::uint16_t number(std::uint16_t tau) {
    const auto sign = static_cast<std::uint16_t>(random_bits(1) << 15);
    switch (bench_.rng().below(10)) {
      case 0:
        return random_bits(16);
      case 1:
        return static_cast<std::uint16_t>(sign | random_bits(bench_.rng().below(9)));  // zeros, subnormals
      case 2:  // an infinity, a NaN; seldom, since a tensor stays marked
        return static_cast<std::uint16_t>(sign | (bench_.rng().below(8) ? random_bits(7) : 0x7F80 | random_bits(1)));
      case 3:
      case 4: {  // the threshold or 2^-rand_bits of it, or next to them: the comparison is decided by its last bits
        const int distance = static_cast<int>(bench_.rng().bits(1) * rand_bits * 128);
        const int near = tau - distance + static_cast<int>(bench_.rng().below(5)) - 2;
        return static_cast<std::uint16_t>(sign | (near < 0 || near > 0x7FFF ? tau : near));
      }
      default: {  // up to as far below it as the random bits see, and further
        const int near = tau - static_cast<int>(bench_.rng().below((rand_bits + 10) * 128));
        return static_cast<std::uint16_t>(sign | (near < 0 ? random_bits(10) : near));
      }
    }
  }

  /// Any word, or the least that raises x to the threshold, or one less.
  std::uint32_t word(std::uint16_t x, std::uint16_t tau) {
    if (bench_.rng().bits(1)) return static_cast<std::uint32_t>(bench_.rng().bits(rand_bits));
    std::uint32_t least = 0;
    for (int bit = static_cast<int>(rand_bits) - 1; bit >= 0; --bit) {
      const std::uint32_t more = least | std::uint32_t{1} << bit;
      if ((prune_bf16(x, tau, more - 1, rand_bits) & 0x7FFF) == 0) least = more;
    }
    return std::min(least - (least > 0 ? static_cast<std::uint32_t>(bench_.rng().bits(1)) : 0), words - 1);
  }

  void cycle(bool valid, bool last, bool ready) {
    Beat beat{};
    beat.last = last;
    const std::uint16_t tau = threshold();
    std::array<std::uint16_t, lanes> numbers;
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    dut_->last_i = last;
    dut_->threshold_i = tau;
    // All zeros, or all special: counts at their largest.
    const std::uint32_t alike = zeros_ > 0 && bench_.rng().chance(zeros_) ? 0 : bench_.rng().below(40);
    for (unsigned i = 0; i < lanes; ++i) {
      numbers[i] = number(tau);
      if (alike == 0) numbers[i] &= 0x8000;
      if (alike == 1) numbers[i] |= 0x7F80;
      const std::uint32_t random = word(numbers[i], tau);
      set_bits(dut_->data_i, i * 16, 16, numbers[i]);
      set_bits(dut_->rand_i, i * rand_bits, rand_bits, random);
      beat.data[i] = prune_bf16(numbers[i], tau, random, rand_bits);
      (numbers[i] == beat.data[i] ? kept_ : beat.data[i] & 0x7FFF ? raised_ : zeroed_)++;
    }
    dut_.eval();
    bench_.vector();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->last_o, dut_->sum_o, dut_->squares_o,
                   dut_->count_o, dut_->zeros_o, dut_->special_o);
    if (dut_->valid_o) {
      if (const Beat* const shown = expected_.shown()) {
        compare(*shown);
        if (ready) expected_.pop_front();
      }
    }
    // The registers move where the last one is empty or taken: valid_o waits for no ready_i.
    const bool move = !dut_->valid_o || ready;
    bench_.expect(dut_->valid_o || expected_.empty() || moves_ < expected_.front().moves + 4,
                  [] { return "a beat is not offered although nothing is before it"; });
    room_.check(dut_->ready_o);
    if (move && room_.held() > 0) room_.give();
    if (valid && dut_->ready_o) {
      for (const std::uint16_t x : numbers) sums_.add(x, frac_bits);
      beat.sums = sums_;
      beat.moves = moves_ + move;
      expected_.push_back(beat);
      room_.take();
      longest_ = std::max(longest_, ++beats_);
      if (last) sums_ = {}, beats_ = 0;
    }
    dut_.tick();
    moves_ += move;
  }

  void compare(const Beat& beat) {
    for (unsigned i = 0; i < lanes; ++i)
      bench_.expect_eq("data_o", get_bits(dut_->data_o, i * 16, 16), std::uint64_t{beat.data[i]},
                       [&] { return "lane " + std::to_string(i); });
    const auto when = [&] { return "of " + std::to_string(beat.sums.count) + " numbers"; };
    bench_.expect_eq("last_o", bool(dut_->last_o), beat.last, when);
    bench_.expect_eq("sum_o", get_bits(dut_->sum_o, 0, sum_width),
                     low(static_cast<std::uint64_t>(beat.sums.sum), sum_width), when);
    bench_.expect_eq("squares_o", get_bits(dut_->squares_o, 0, square_width), low(beat.sums.squares, square_width),
                     when);
    bench_.expect_eq("count_o", get_bits(dut_->count_o, 0, count_width), low(beat.sums.count, count_width), when);
    bench_.expect_eq("zeros_o", get_bits(dut_->zeros_o, 0, count_width), low(beat.sums.zeros, count_width), when);
    bench_.expect_eq("special_o", bool(dut_->special_o), beat.sums.special, when);
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Scoreboard<Beat> expected_{bench_, "beats"};
  Room room_{bench_, "beats in the queue in front of the registers", 2};
  LogSums sums_;      // of the tensor that comes
  double zeros_ = 0;  // how likely a beat is all zeros
  std::uint64_t beats_ = 0, longest_ = 0, moves_ = 0, kept_ = 0, raised_ = 0, zeroed_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return LogPruneBench(argc, argv).run(); }
