// SPDX-License-Identifier: Apache-2.0
// ng_rht16_folded against its golden model, on the blocks of rht16_stimulus.hpp: first without a bubble or a stall, to
// the cycle, then under bubbles and stalls of changing density, with resets. Build parameters: NG_LANES, NG_WINDOW.
#include <bit>
#include <deque>
#include <string>

#include "../room.hpp"
#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/rht16.hpp"
#include "rht16_stimulus.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES, beats = 16 / lanes;
/// Cycles from the one in which a block's last beat is taken to the one in which its first results are there, where
/// nothing waits: a cycle in the buffer, and the registers of buffer, levels, sum, normalizer and rounding.
constexpr std::uint64_t latency = 1 + (1 + (beats - 1 + std::bit_width(beats) - 1) + 3);

/// Blocks of which the registers behind the banks hold the last beat at most.
constexpr std::uint64_t blocks_on_their_way = (latency - 2 + beats - 1) / beats;

struct Block {
  Rht16Block x;
  Rht16Result result;
  bool out = false;  // its last beat stands at the output
};

class Rht16FoldedBench {
 public:
  Rht16FoldedBench(int argc, char** argv)
      : bench_(argc, argv, "rht16_folded, " + std::to_string(lanes) + " lanes, window " + std::to_string(NG_WINDOW)),
        dut_(bench_),
        output_(bench_, "output"),
        stimulus_(bench_) {}

  int run() {
    full_speed();
    gaps();
    reset();
    push_ = 1, pop_ = 0;  // both banks and the pipe full at first
    stimulus_.run([this](const Rht16Block& x) { check(x); });
    drain();
    bench_.expect(output_.beats() > 0 && output_.stalls() > 0 && refused_ > 0,
                  [] { return "no beat left, none ever waited, or none was refused"; });
    bench_.expect(bench_.budget() < 1000 || (exact_ > 100 && (NG_WINDOW == 253 || cut_ > 100)),
                  [] { return "hardly a block was exact, or none was cut off"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = false;
    taken_ = given_ = 0;
    expected_.abandon();
    whole_.clear();
    room_.clear();
    output_.clear();
    dut_.reset_without_edge(bench_);
    dut_.reset();
  }

  /// Blocks come and leave as fast as the unit lets them: it never refuses a beat, and from `latency` cycles after the
  /// first block's last beat on it has one in every cycle.
  void full_speed() {
    reset();
    Rht16Block x{};
    for (std::uint64_t i = 0; i < 40 * beats; ++i) {
      if (i % beats == 0) x = stimulus_.random_block(static_cast<unsigned>(i / beats % 8));
      cycle(&x, true, true);
      const auto when = [&] { return "after cycle " + std::to_string(i) + " of undisturbed blocks"; };
      bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, 1U, when);
      bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, unsigned{i + 1 >= beats - 1 + latency}, when);
    }
  }

  /// A block alone, and two with every number of cycles between them: each has its results to the cycle, in `beats`
  /// cycles one after the other.
  void gaps() {
    for (std::uint64_t gap = 1; gap <= 3 * beats; ++gap) {
      reset();
      for (unsigned n = 0; n < 2; ++n) {
        const Rht16Block x = stimulus_.random_block(2);
        for (unsigned i = 0; i < beats; ++i) cycle(&x, true, true);
        for (std::uint64_t i = 0; i < gap; ++i) cycle(nullptr, true, true);
      }
      for (std::uint64_t i = 0; i < latency + beats; ++i) cycle(nullptr, true, true);
      bench_.expect_settled(expected_, "behind a gap of " + std::to_string(gap));
    }
  }

  void check(const Rht16Block& x) {
    if (bench_.rng().chance(0.05)) {  // a new density: 0 and 1 included
      push_ = (1 + bench_.rng().below(4)) / 4.0;
      pop_ = bench_.rng().below(5) / 4.0;
    }
    if (bench_.rng().chance(0.002)) {
      for (unsigned i = bench_.rng().below(beats); i > 0; --i) cycle(&x, bench_.rng().chance(pop_));
      reset();
    }
    const std::uint64_t until = taken_ + beats;
    for (unsigned waited = 0; taken_ < until;) {
      cycle(bench_.rng().chance(push_) ? &x : nullptr, bench_.rng().chance(pop_));
      // What waits at a closed output; who never takes anything is woken.
      if (++waited > 8 * beats) pop_ = 0.75;
    }
  }

  void drain() {
    for (std::uint64_t i = 0; i < 8 * (latency + 3 * beats); ++i) cycle(nullptr, bench_.rng().chance(0.75));
  }

  /// One cycle, with the next beat of block x if there is one; whether the output is there to the cycle, if `timed`.
  void cycle(const Rht16Block* x, bool ready, bool timed = false) {
    dut_->valid_i = x != nullptr;
    dut_->ready_i = ready;
    const unsigned beat = taken_ % beats;
    for (unsigned i = 0; i < lanes; ++i)
      set_bits(dut_->x_i, 16 * i, 16, x ? (*x)[beat * lanes + i] : bench_.rng().bits(16));
    dut_.eval();
    bench_.vector();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->y_o, dut_->exact_o);
    refused_ += !dut_->ready_o;
    if (timed) {
      const bool due = !expected_.empty() && cycle_ >= whole_.front() + latency;
      bench_.expect_eq("valid_o", bool(dut_->valid_o), due, [] { return "of blocks that nothing holds up"; });
    }
    if (dut_->valid_o)
      if (Block* const shown = expected_.shown()) compare(*shown, ready);
    room_.check(dut_->ready_o);
    if (x && dut_->ready_o) {
      if (beat == beats - 1) {
        expected_.push_back({*x, rht16(*x, NG_WINDOW)});
        whole_.push_back(cycle_);
        room_.take();
        ++(expected_.back().result.exact ? exact_ : cut_);
      }
      ++taken_;
    }
    dut_.tick();
    ++cycle_;
  }

  void compare(Block& block, bool ready) {
    if (given_ + 1 == beats && !std::exchange(block.out, true)) room_.give();
    const auto inputs = [&] { return "beat " + std::to_string(given_) + ", " + show(block.x); };
    for (unsigned i = 0; i < lanes; ++i)
      bench_.expect_eq("y " + std::to_string(given_ * lanes + i), get_bits(dut_->y_o, 16 * i, 16),
                       block.result.y[given_ * lanes + i], inputs);
    bench_.expect_eq("exact_o", unsigned{dut_->exact_o}, unsigned{block.result.exact}, inputs);
    if (!ready) return;
    if (++given_ == beats) {
      given_ = 0;
      expected_.pop_front();
      whole_.pop_front();
    }
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Rht16Stimulus stimulus_;
  Scoreboard<Block> expected_{bench_, "blocks"};
  // A bank is free when the last beat of its block is fetched, before that stands at the output.
  Room room_{bench_, "blocks", 2, 2 + blocks_on_their_way};
  std::deque<std::uint64_t> whole_;  // the cycle in which each of them was
  std::uint64_t taken_ = 0, cycle_ = 0, refused_ = 0, exact_ = 0, cut_ = 0;
  unsigned given_ = 0;  // beats of the first
  double push_ = 1, pop_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return Rht16FoldedBench(argc, argv).run(); }
