// SPDX-License-Identifier: Apache-2.0
// ng_transposable_greedy against the golden approximation: random blocks, of few values, and such that get stuck with
// rows that are not full, under bubbles, stalls and resets; every mask to the cycle that follows from it. Build
// parameters: NG_SIDE, NG_KEEP, NG_WIDTH.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/sparse/nm_mask.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned side = NG_SIDE, keep = NG_KEEP, width = NG_WIDTH;
constexpr std::uint64_t top = (std::uint64_t{1} << width) - 1;
using Block = std::array<std::uint64_t, side * side>;

class TransposableGreedyBench {
 public:
  TransposableGreedyBench(int argc, char** argv)
      : bench_(argc, argv, "transposable_greedy " + std::to_string(keep) + ":" + std::to_string(side)),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    reset();
    double push = 1, pop = 1;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.005)) {  // a new density
        push = (1 + bench_.rng().below(4)) / 4.0;
        pop = (1 + bench_.rng().below(4)) / 4.0;
      }
      if (bench_.rng().chance(0.0003)) reset();
      cycle(bench_.rng().chance(push), bench_.rng().chance(pop));
    }
    bench_.expect(output_.beats() > 0 && output_.stalls() > 0, [] { return "no mask left, or none ever waited"; });
    bench_.expect(short_ > 0 && full_ > 0, [] { return "no block got stuck, or none was full in the end"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = false;
    output_.clear();
    block_ = any();
    row_ = 0;
    busy_ = 0;
    mask_.reset();
    dut_.reset_without_edge(bench_);
    dut_.reset();
  }

  Block any() {
    Rng& rng = bench_.rng();
    Block block;
    const unsigned kind = rng.below(4);
    const std::uint64_t few = rng.bits(width);
    for (unsigned i = 0; i < block.size(); ++i) {
      const bool corner = i / side < side - keep && i % side < side - keep;
      block[i] = rng.bits(width);
      if (kind == 1) block[i] = std::min(few + rng.below(3), top);           // ties
      if (kind == 2) block[i] = corner ? top : block[i] / 2;                 // what is left late has no room
      if (kind == 3) block[i] = rng.below(4) == 0 ? block[i] : rng.bits(1);  // many zeros and ones
    }
    return block;
  }

  /// The unit's last row has come: the mask, and how many cycles it takes.
  void start() {
    mask_ = transposable_mask_greedy(block_, keep, side);
    const auto count = static_cast<std::uint64_t>(std::count(mask_->begin(), mask_->end(), 1));
    const bool full = count == side * keep;
    ++(full ? full_ : short_);
    busy_ = (side + 1) * (count + (full ? 0 : 1));
  }

  void cycle(bool valid, bool ready) {
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    for (unsigned j = 0; j < side; ++j) set_bits(dut_->magnitudes_i, j * width, width, block_[row_ * side + j]);
    dut_.eval();
    bench_.vector();
    const auto when = [&] { return "with " + std::to_string(busy_) + " cycles to go"; };
    bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, unsigned{mask_ && busy_ == 0}, when);
    bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, unsigned{!mask_}, when);
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->mask_o);
    if (mask_ && busy_ == 0) {
      for (unsigned r = 0; r < side; ++r)
        for (unsigned c = 0; c < side; ++c)
          bench_.expect_eq("mask_o", get_bits(dut_->mask_o, r * side + c, 1), std::uint64_t{(*mask_)[r * side + c]},
                           [&] { return "row " + std::to_string(r) + ", column " + std::to_string(c) + shown(); });
    }
    dut_.tick();
    if (busy_ > 0) {
      --busy_;
    } else if (mask_) {
      if (!ready) return;
      mask_.reset();
      block_ = any();
    } else if (valid) {
      row_ = (row_ + 1) % side;
      if (row_ == 0) start();
    }
  }

  std::string shown() const {
    std::string text = ", magnitudes";
    for (const std::uint64_t x : block_) text += " " + hex(x);
    return text;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Block block_{};                                  // that comes, or is being worked on
  unsigned row_ = 0;                               // of it, that comes next
  std::optional<std::vector<std::uint8_t>> mask_;  // of the block that has come
  std::uint64_t busy_ = 0, full_ = 0, short_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return TransposableGreedyBench(argc, argv).run(); }
