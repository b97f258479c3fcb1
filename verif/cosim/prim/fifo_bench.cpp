// SPDX-License-Identifier: Apache-2.0
// ng_fifo and ng_fifo2 against a queue: every output in every cycle, under bubbles and stalls of changing density, with
// flushes (ng_fifo) and resets. Build parameters: NG_WIDTH, NG_DEPTH, NG_BLOCK_RAM.

#include "../scoreboard.hpp"
#include "Vdut.h"

namespace {

using namespace narrowgauge::bench;

constexpr unsigned width = NG_WIDTH, depth = NG_DEPTH;
constexpr bool block_ram = NG_BLOCK_RAM;

/// The ports that ng_fifo2 lacks.
template <class Model>
concept HasFlush = requires(Model& m) {
  m.flush_i;
  m.space_o;
};

template <class Model>
class FifoBench {
 public:
  FifoBench(int argc, char** argv)
      : bench_(argc, argv, "fifo of " + std::to_string(depth) + " x " + std::to_string(width) + " bits", 200'000),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    reset();
    double push = 1, pop = 0;  // full at first
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (i > 4 * depth && bench_.rng().chance(0.02)) {  // a new density: 0 and 1 included
        push = bench_.rng().below(5) / 4.0;
        pop = bench_.rng().below(5) / 4.0;
      }
      if (bench_.rng().chance(0.0005)) reset();
      cycle(bench_.rng().chance(push), bench_.rng().chance(pop), HasFlush<Model> && bench_.rng().chance(0.003));
    }
    for (unsigned i = 0; i < depth + 4; ++i) cycle(false, true, false);  // what is inside leaves
    bench_.expect(output_.beats() > 0 && output_.stalls() > 0, [] { return "no word passed, or none ever waited"; });
    return bench_.finish();
  }

 private:
  void reset() {
    drive(false, false, false);
    words_.abandon();  // any cycle may be the last before a reset
    late_ = false;
    output_.clear();
    dut_.reset_without_edge(bench_);
    compare("after a reset without a clock edge");
    dut_.reset();
  }

  void drive(bool valid, bool ready, bool flush) {
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    if constexpr (HasFlush<Model>) dut_->flush_i = flush;
  }

  void cycle(bool valid, bool ready, bool flush) {
    const std::uint64_t data = bench_.rng().bits(width);
    drive(valid, ready, flush);
    set_bits(dut_->data_i, 0, width, data);
    dut_.eval();
    bench_.vector();
    compare(std::to_string(words_.size()) + " words, valid_i " + std::to_string(valid) + ", ready_i " +
            std::to_string(ready) + ", flush_i " + std::to_string(flush));
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o);
    const bool taken = valid && words_.size() < depth;
    const std::uint64_t before = get_bits(dut_->data_o, 0, width);
    dut_.tick();
    if (!HasFlush<Model> && !taken && words_.size() < 2) {  // the register behind data_o does not toggle for nothing
      bench_.expect_eq("data_o without a new head", get_bits(dut_->data_o, 0, width), before, [] { return "no word"; });
    }
    if (ready && offered()) words_.pop_front();
    late_ = block_ram && taken && words_.empty();
    if (taken) words_.push_back(data);
    if (flush) {
      words_.abandon();
      output_.clear();
    }
  }

  bool offered() const { return !words_.empty() && !late_; }

  void compare(const std::string& when) {
    const auto inputs = [&] { return when; };
    bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, words_.size() < depth, inputs);
    bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, offered(), inputs);
    if (offered()) bench_.expect_eq("data_o", get_bits(dut_->data_o, 0, width), words_.front(), inputs);
    if constexpr (HasFlush<Model>) bench_.expect_eq("space_o", unsigned{dut_->space_o}, depth - words_.size(), inputs);
  }

  Bench bench_;
  Dut<Model> dut_;
  HandshakeChecker output_;
  Scoreboard<std::uint64_t> words_{bench_, "words"};
  bool late_ = false;  // the only word came in the cycle before and is being read from the block RAM
};

}  // namespace

int main(int argc, char** argv) { return FifoBench<Vdut>(argc, argv).run(); }
