// SPDX-License-Identifier: Apache-2.0
// ng_quantize_4over6_folded against its golden model, on the blocks of quantize_4over6_blocks.hpp, and cycle for cycle
// against its cycle model: bubbles, stalls and resets, and blocks without any, of which one leaves every 16 / Lanes
// cycles. Build parameter: NG_LANES.
#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/quantize_4over6.hpp"
#include "quantize_4over6_blocks.hpp"
#include "systemc/quant/quantize_4over6_folded_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES, beats = 16 / lanes;

class FoldedBench : FourOverSixBlocks {
 public:
  explicit FoldedBench(Bench& bench) : FourOverSixBlocks(bench), dut_(bench), output_(bench, "output") {}

  int run_all() {
    reset();
    undisturbed();
    run();
    push_ = pop_ = 1;
    drain();
    bench.expect(output_.beats() > 0 && output_.stalls() > 0, [] { return "no codes left, or none ever waited"; });
    bench.expect(resets_ > 0 || bench.budget() < 1000, [] { return "no reset"; });
    return bench.finish();
  }

 private:
  /// Now and then other densities of bubbles and stalls, or a reset.
  void check(const Block& x, float g) override {
    if (bench.rng().chance(0.02)) {
      constexpr std::array<double, 4> densities{1, 1, 0.6, 0.1};
      push_ = densities[bench.rng().below(4)];
      pop_ = densities[bench.rng().below(4)];
    }
    if (bench.rng().chance(0.002)) drain();
    bench.vector();
    const unsigned until = bench.rng().chance(0.002) ? bench.rng().below(beats) : beats;
    for (unsigned beat = 0; beat < until; ++beat) {
      while (!bench.rng().chance(push_)) cycle(nullptr, bench.rng().chance(pop_));
      g_ = g;
      beat_ = beat;
      while (!cycle(&x[lanes * beat], bench.rng().chance(pop_))) {
      }
    }
    if (until < beats) {
      reset();
    } else {
      expect(x, g);
    }
  }

  void expect(const Block& x, float g) {
    const Nvfp4Block block = quantize_4over6(x, g);
    for (unsigned beat = 0; beat < beats; ++beat) {
      std::uint32_t codes = 0;
      for (unsigned i = 0; i < lanes; ++i) codes |= std::uint32_t{block.codes[lanes * beat + i]} << 4 * i;
      expected_.push_back({x, g, codes, block.scale, beat == beats - 1});
    }
  }

  void reset() {
    dut_->valid_i = dut_->ready_i = false;
    expected_.abandon();
    output_.clear();
    core_.reset();
    dut_.reset_without_edge(bench);
    outputs();
    dut_.reset();
    ++resets_;
  }

  void drain() {
    for (int i = 0; i < 200 && !expected_.empty(); ++i) cycle(nullptr, true);
    bench.expect_settled(expected_, "behind the last block");
    for (unsigned i = 0; i < beats; ++i) cycle(nullptr, true);
  }

  /// Numbers in every cycle: each is taken, and codes leave in every cycle from the first on, after the latency.
  void undisturbed() {
    resets_ = 0;
    constexpr std::uint64_t blocks = 40;
    std::uint64_t taken = 0, first = 0, left = 0, cycles = 0;
    Block x{};
    g_ = 0.25F;
    for (; left < blocks * beats && cycles < 2 * blocks * beats + 200; ++cycles) {
      if (dut_->valid_o && left++ == 0) first = cycles;
      const bool offer = taken < blocks * beats;
      beat_ = static_cast<unsigned>(taken % beats);
      if (beat_ == 0)
        for (std::uint16_t& code : x) code = static_cast<std::uint16_t>(0x3F00 + bench.rng().below(0x200));
      taken += cycle(offer ? &x[lanes * beat_] : nullptr, true) && offer;
      if (offer && beat_ == beats - 1) expect(x, g_);
    }
    constexpr std::uint64_t latency = systemc::quantize_4over6_folded_latency(lanes) + 1;
    bench.expect(taken == blocks * beats && first == beats - 1 + latency && cycles == first + blocks * beats, [&] {
      return std::to_string(blocks) + " blocks: first codes in cycle " + std::to_string(first) + ", all in " +
             std::to_string(cycles);
    });
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const Expected* const shown = expected_.shown();
    if (shown == nullptr) return;
    const Expected& now = *shown;
    const auto inputs = [&] { return describe(now.x, now.g); };
    bench.expect_eq("scale_o", static_cast<std::uint32_t>(dut_->scale_o), std::uint32_t{now.scale}, inputs);
    bench.expect_eq("codes_o", static_cast<std::uint32_t>(dut_->codes_o), now.codes, inputs);
    bench.expect_eq("last_o", bool(dut_->last_o), now.last, inputs);
    std::uint32_t codes = 0;
    for (unsigned i = 0; i < lanes; ++i) codes |= std::uint32_t{core_.data().codes[i]} << 4 * i;
    bench.expect(codes == now.codes && core_.data().scale == now.scale && core_.data().last == now.last,
                 [] { return "the cycle model's codes are not the golden ones"; });
  }

  /// Whether the numbers were taken. The tensor scale means something beside the last ones only.
  bool cycle(const std::uint16_t* numbers, bool ready) {
    typename systemc::Quantize4over6FoldedCore<lanes>::Numbers x{};
    for (unsigned i = 0; i < lanes; ++i) {
      x[i] = numbers ? numbers[i] : static_cast<std::uint16_t>(bench.rng().bits(16));
      set_bits(dut_->a_i, 16 * i, 16, x[i]);
    }
    const auto scale = numbers && beat_ == beats - 1 ? std::bit_cast<std::uint32_t>(g_)
                                                     : static_cast<std::uint32_t>(bench.rng().bits(32));
    dut_->tensor_scale_i = scale;
    dut_->valid_i = numbers != nullptr;
    dut_->ready_i = ready;
    dut_.eval();
    outputs();
    output_.sample(dut_->valid_o, ready, dut_->codes_o, dut_->scale_o, dut_->last_o);
    if (bench.rng().bits(6) == 0) output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    const bool taken = dut_->ready_o;
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    core_.step(numbers ? &x : nullptr, scale, ready);
    dut_.tick();
    return taken;
  }

  struct Expected {
    Block x;
    float g;
    std::uint32_t codes;
    std::uint8_t scale;
    bool last;
  };
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  systemc::Quantize4over6FoldedCore<lanes> core_;
  Scoreboard<Expected> expected_{bench, "beats of codes"};
  float g_ = 1;
  unsigned beat_ = 0;
  double push_ = 1, pop_ = 1;
  std::uint64_t resets_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "quantize_4over6_folded, " + std::to_string(lanes) + " lanes");
  return FoldedBench(bench).run_all();
}
