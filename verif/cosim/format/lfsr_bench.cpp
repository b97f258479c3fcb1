// SPDX-License-Identifier: Apache-2.0
// ng_lfsr against steps of the golden Lfsr and, in every cycle, the cycle model: each bit of the state alone, the state
// 0, the whole period of 8 bits, the pace, a state that is read, set again and continued; random states under stalls of
// changing density, set at rest, beside words that wait and back to back, with resets. Build parameters: NG_WIDTH,
// NG_BITS.
#include <algorithm>
#include <optional>

#include "../bench.hpp"
#include "Vdut.h"
#include "systemc/format/lfsr_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr int width = NG_WIDTH, bits = NG_BITS;
using Core = systemc::LfsrCore<systemc::LfsrParams{width, bits}>;

class LfsrBench {
 public:
  LfsrBench(int argc, char** argv)
      : bench_(argc, argv, "lfsr " + std::to_string(width) + " x " + std::to_string(bits)),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    reset();
    for (int i = 0; i < 10; ++i) cycle(0);  // nothing comes before a state was set
    bench_.expect(output_.beats() == 0, [] { return "a word came before a state was set"; });
    for (int bit = -1; bit < width; ++bit) {
      set(bit < 0 ? 0 : std::uint64_t{1} << bit, 0);
      for (int i = 0; i < 2 * width; ++i) cycle(0);
    }
    if constexpr (width == 8) {
      set(1, 0);
      for (int i = 0; i < 3 * 255; ++i) cycle(0);
    }
    const std::uint64_t beats = output_.beats();
    for (int i = 0; i < 100; ++i) cycle(0);
    bench_.expect_eq("words", output_.beats() - beats, std::uint64_t{100}, [] { return "100 cycles without stall"; });

    for (const std::uint64_t from = words_; words_ < from + bench_.budget();) {
      const double stall = bench_.rng().below(4) / 5.0;
      set(bench_.rng().chance(0.05) ? 0 : bench_.rng().bits(width), stall);
      for (std::uint32_t i = bench_.rng().below(40); i > 0; --i) cycle(stall);
      if (bench_.rng().chance(0.1)) resume(stall);
      if (bench_.rng().chance(0.02)) reset();
    }
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a word, or none ever waited"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = 0;
    dut_->ready_i = 0;
    dut_.reset_without_edge(bench_);
    core_.reset();
    output_.clear();
    stream_.reset();
    offered_.reset();
    outputs();
    dut_.reset();
  }

  void set(std::uint64_t state, double stall) {
    set_ = state;
    cycle(stall);
    set_.reset();
  }

  /// Reads the state, takes words, sets it again: the words behind the one that was offered have to come again.
  void resume(double stall) {
    while (!dut_->valid_o) cycle(stall);
    const std::uint64_t state = dut_->state_o;
    Lfsr lfsr(width, state);
    for (std::uint32_t i = bench_.rng().below(5); i > 0; --i) cycle(stall);
    set(state, 0);
    stream_ = lfsr;
    for (int i = 0; i < 5; ++i) cycle(stall);
  }

  static Core::Word draw(Lfsr& lfsr) {
    Core::Word word{};
    for (int i = 0; i < bits; ++i) word[static_cast<std::size_t>(i / 32)] |= lfsr.step() << i % 32;
    return word;
  }

  Core::Word given() {
    Core::Word word{};
    for (std::size_t i = 0; i < word.size(); ++i) {
      const unsigned lsb = static_cast<unsigned>(32 * i);
      word[i] = static_cast<std::uint32_t>(get_bits(dut_->random_o, lsb, std::min(32U, bits - lsb)));
    }
    return word;
  }

  void outputs() {
    bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, unsigned{core_.valid()}, [] { return "the cycle model"; });
    bench_.expect_eq("state_o", std::uint64_t{dut_->state_o}, core_.state(), [] { return "the cycle model"; });
    bench_.expect(given() == core_.random(), [] { return "random_o is not the cycle model's"; });
    if (!dut_->valid_o) return;
    bench_.expect(offered_ && given() == *offered_, [] { return "random_o is not the next word of the stream"; });
  }

  void cycle(double stall) {
    dut_->valid_i = set_.has_value();
    const std::uint64_t state = set_ ? *set_ : bench_.rng().bits(width);
    set_bits(dut_->state_i, 0, width, state);
    dut_->ready_i = stall == 0 || !bench_.rng().chance(stall);
    dut_.eval();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->random_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    const bool taken = dut_->valid_o && dut_->ready_i;
    core_.step(set_.has_value(), state, dut_->ready_i);
    dut_.tick();
    if (taken) {
      bench_.vector();
      ++words_;
      offered_.reset();
    }
    if (set_) {
      stream_.emplace(width, state == 0 ? 1 : state);
    } else if (stream_ && !offered_) {
      offered_ = draw(*stream_);
    }
    outputs();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  std::optional<Lfsr> stream_;         ///< that of the state set last
  std::optional<Core::Word> offered_;  ///< the word that waits
  std::optional<std::uint64_t> set_;
  std::uint64_t words_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return LfsrBench(argc, argv).run(); }
