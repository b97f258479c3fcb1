// SPDX-License-Identifier: Apache-2.0
// ng_philox4x32 against Philox4x32::block and, in every cycle, the cycle model: the known answers of Random123,
// counters that carry through each word, the pace of a stream, a state that is read, set again and continued; random
// states under bubbles and stalls of changing density, set at rest and amid blocks, with resets. Build parameter:
// NG_ROUNDS_PER_CYCLE.
#include <optional>

#include "../bench.hpp"
#include "Vdut.h"
#include "systemc/format/philox4x32_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;
using Counter = Philox4x32::Counter;
using Key = Philox4x32::Key;

struct Answer {
  Counter counter;
  Key key;
  Counter block;
};
// Random123's kat_vectors, lines "philox4x32 10" (Salmon, Moraes, Dror, Shaw).
constexpr Answer known_answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

class Philox4x32Bench {
 public:
  Philox4x32Bench(int argc, char** argv)
      : bench_(argc, argv, "philox4x32", 20'000), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    for (int i = 0; i < 30; ++i) cycle(0);  // nothing comes before a beat was taken

    for (const auto& [counter, key, block] : known_answers) {
      set(counter, key, 0);
      const Counter given = take(0);
      bench_.expect(given == block, [] { return "a published vector differs"; });
    }
    // Carries through one word, two, three, all four; and bits of each word alone, which reach the products.
    for (std::size_t words = 1; words <= 4; ++words) {
      Counter counter{};
      for (std::size_t w = 0; w < words; ++w) counter[w] = 0xFFFFFFFF;
      set(counter, {1, 2}, 0);
      for (int i = 0; i < 3; ++i) take(0);
    }
    for (unsigned bit = 0; bit < 192; ++bit) {
      Counter counter{};
      Key key{};
      (bit < 128 ? counter[bit / 32] : key[bit / 32 - 4]) = 1U << bit % 32;
      set(counter, key, 0);
      take(0);
    }
    // The pace: a stream that is never stalled.
    const std::uint64_t start = dut_.cycles();
    for (int i = 0; i < 20; ++i) take(0);
    bench_.expect_eq("cycles", dut_.cycles() - start, std::uint64_t{20} * (10 / NG_ROUNDS_PER_CYCLE + 1),
                     [] { return std::string("20 blocks"); });

    for (const std::uint64_t from = blocks_; blocks_ < from + bench_.budget();) {
      const double stall = bench_.rng().below(4) / 5.0;
      set(random_counter(), {random_word(), random_word()}, stall);
      const std::uint32_t count = bench_.rng().below(6);
      for (std::uint32_t i = 0; i < count; ++i) take(stall);
      for (std::uint32_t i = bench_.rng().below(14); i > 0 && !dut_->valid_o; --i) cycle(stall);
      if (bench_.rng().chance(0.25)) resume(stall);
      if (bench_.rng().chance(0.05)) reset();
    }
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a block, or none ever waited"; });
    return bench_.finish();
  }

 private:
  std::uint32_t random_word() { return static_cast<std::uint32_t>(bench_.rng()()); }

  /// Any; or one that soon carries.
  Counter random_counter() {
    Counter counter{random_word(), random_word(), random_word(), random_word()};
    const std::uint32_t full = bench_.rng().below(5);
    for (std::size_t w = 0; w < full; ++w) counter[w] = 0xFFFFFFFF;
    if (full > 0) counter[0] -= bench_.rng().below(3);
    return counter;
  }

  static Counter counter_of(const auto& port) {
    return {static_cast<std::uint32_t>(get_bits(port, 0, 32)), static_cast<std::uint32_t>(get_bits(port, 32, 32)),
            static_cast<std::uint32_t>(get_bits(port, 64, 32)), static_cast<std::uint32_t>(get_bits(port, 96, 32))};
  }

  void offer(const Counter& counter, const Key& key) {
    for (unsigned w = 0; w < 4; ++w) set_bits(dut_->counter_i, 32 * w, 32, counter[w]);
    dut_->key_i = std::uint64_t{key[1]} << 32 | key[0];
  }

  void reset() {
    dut_->valid_i = 0;
    dut_->ready_i = 0;
    dut_.reset_without_edge(bench_);
    core_.reset();
    output_.clear();
    due_.reset();
    outputs();
    dut_.reset();
  }

  /// Sets counter and key, and takes what is in the way. The next block due is theirs.
  void set(const Counter& counter, const Key& key, double stall) {
    offered_ = true;
    while (offered_) {
      set_counter_ = counter;
      set_key_ = key;
      cycle(stall);
    }
  }

  /// Runs until a block is taken.
  Counter take(double stall) {
    for (int i = 0;; ++i) {
      bench_.expect(i < 1000, [] { return "no block comes"; });
      if (i >= 1000) std::_Exit(bench_.finish());
      const Counter words = counter_of(dut_->random_o);
      if (cycle(stall)) return words;
    }
  }

  /// Reads the state, lets some blocks go, sets it again: they have to come again.
  void resume(double stall) {
    const Counter counter = counter_of(dut_->counter_o);
    const std::uint64_t key = dut_->key_o;
    const Key words = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
    Counter first[3];
    for (Counter& block : first) block = take(stall);
    set(counter, words, stall);
    for (const Counter& block : first)
      bench_.expect(take(stall) == block, [] { return "a stream that was set again differs"; });
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, unsigned{core_.ready()}, model);
    bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, unsigned{core_.valid()}, model);
    bench_.expect(counter_of(dut_->random_o) == core_.random(), [] { return "random_o is not the cycle model's"; });
    bench_.expect(counter_of(dut_->counter_o) == core_.counter(), [] { return "counter_o is not the cycle model's"; });
    const std::uint64_t key = std::uint64_t{core_.key()[1]} << 32 | core_.key()[0];
    bench_.expect_eq("key_o", std::uint64_t{dut_->key_o}, key, model);
    if (!dut_->valid_o) return;
    bench_.expect(due_.has_value(), [] { return "a block without a counter"; });
    if (!due_) return;
    bench_.expect(counter_of(dut_->counter_o) == *due_, [] { return "counter_o is not the block's counter"; });
    bench_.expect(counter_of(dut_->random_o) == Philox4x32::block(*due_, due_key_),
                  [&] { return "the block of counter " + hex((*due_)[0]) + "... differs"; });
  }

  /// Whether a block was taken.
  bool cycle(double stall) {
    const Counter counter = offered_ ? set_counter_ : random_counter();
    const Key key = offered_ ? set_key_ : Key{random_word(), random_word()};
    dut_->valid_i = offered_;
    offer(counter, key);
    dut_->ready_i = stall == 0 || !bench_.rng().chance(stall);
    dut_.eval();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->random_o, dut_->counter_o, dut_->key_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    const bool set = offered_ && dut_->ready_o, given = dut_->valid_o && dut_->ready_i;
    core_.step(offered_, counter, key, dut_->ready_i);
    dut_.tick();
    if (given) {
      bench_.vector();
      ++blocks_;
      if (due_) due_ = Philox4x32::next(*due_);
    }
    if (set) {
      due_ = counter;
      due_key_ = key;
      offered_ = false;
    }
    outputs();
    return given;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  systemc::Philox4x32Core<NG_ROUNDS_PER_CYCLE> core_;
  std::optional<Counter> due_;  ///< of the block that comes next
  Key due_key_{};
  Counter set_counter_{};
  Key set_key_{};
  bool offered_ = false;
  std::uint64_t blocks_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return Philox4x32Bench(argc, argv).run(); }
