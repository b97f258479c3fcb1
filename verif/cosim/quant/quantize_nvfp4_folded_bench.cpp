// SPDX-License-Identifier: Apache-2.0
// ng_quantize_nvfp4_folded against its golden model: blocks and comparisons are those of all NVFP4 quantizers, given to
// ports that take blocks whole. Behind these ports, beats under bubbles, stalls and resets, every output in every cycle
// against the cycle model, and first of all a stream without bubbles and stalls, which has to pass a beat a cycle.
// Build parameters: NG_LANES, NG_RAND_BITS.
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#define NG_CUTS 0  // a block's results come through CutPipe, as with cuts

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "quantize_nvfp4_blocks.hpp"
#include "systemc/quant/quantize_nvfp4_folded_core.hpp"

namespace narrowgauge::bench {

constexpr unsigned lanes = NG_LANES, beats = 16 / lanes, rand_bits = NG_RAND_BITS;

struct BlockPorts {
  std::array<std::uint32_t, 8> a_i{};
  std::uint32_t tensor_scale_i = 0;
  bool stochastic_i = false;
  std::array<std::uint32_t, (16 * rand_bits + 31) / 32> rand_i{};
  std::uint64_t codes_o = 0;
  std::uint8_t scale_o = 0;
};

template <>
class Dut<BlockPorts> {
 public:
  explicit Dut(const Bench& bench) : unit(bench) {}
  BlockPorts* operator->() { return &ports; }
  BlockPorts ports;
  Dut<Vdut> unit;
};

template <>
class CutPipe<BlockPorts> {
 public:
  CutPipe(Bench& bench, Dut<BlockPorts>& dut)
      : bench_(bench), ports_(dut.ports), dut_(dut.unit), output_(bench, "output") {
    reset();
    undisturbed();
  }

  /// The block in the ports enters, beat after beat. compare() is called when its results are in the ports.
  void operator()(std::function<void()> compare) {
    bench_.vector();
    inside_.push_back({ports_, std::move(compare)});
    if (bench_.rng().chance(0.002)) {
      constexpr std::array<double, 6> chances{1, 1, 1, 0.6, 0.3, 0.05};
      offer_ = chances[bench_.rng().below(6)];
      accept_ = chances[bench_.rng().below(6)];
    }
    while (sent_ < inside_.size()) {
      if (bench_.rng().chance(0.00002)) reset();
      cycle(offered_ || bench_.rng().chance(offer_), bench_.rng().chance(accept_));
    }
  }

  void drain() {
    for (unsigned i = 0; i < 1000 && !inside_.empty(); ++i) cycle(sent_ < inside_.size(), true);
    bench_.expect_settled(inside_, "at the end");
    bench_.expect(output_.stalls() > 0 || bench_.budget() < 1000, [] { return "no beat ever waited"; });
  }

 private:
  struct Inside {
    BlockPorts in;
    std::function<void()> compare;
  };

  /// Beats without bubbles, always taken: once the pipeline is in phase a beat enters and one leaves in each cycle.
  void undisturbed() {
    constexpr unsigned blocks = 40;
    for (unsigned b = 0; b < blocks; ++b) {
      BlockPorts in;
      for (auto& word : in.a_i) word = static_cast<std::uint32_t>(bench_.rng().bits(32)) & 0xBFFFBFFF;
      in.tensor_scale_i = 0x3F800000;
      inside_.push_back({in, {}});
    }
    std::uint64_t refused = 0, gaps = 0, given = 0, first = 0, cycles = 0;
    while (!inside_.empty() && cycles < 20 * blocks * beats) {
      dut_.eval();
      const bool offers = sent_ < inside_.size();
      refused += offers && !dut_->ready_o;
      gaps += given != 0 && !dut_->valid_o;
      if (given == 0) first = cycles;
      given += dut_->valid_o;
      cycle(offers, true);
      ++cycles;
    }
    const auto stream = [&] {
      return std::to_string(blocks) + " blocks, the first beat after " + std::to_string(first) + " cycles";
    };
    bench_.expect_eq("beats that left", given, std::uint64_t{blocks * beats}, stream);
    bench_.expect_eq("cycles in which a beat was not taken", refused, std::uint64_t{0}, stream);
    bench_.expect_eq("cycles without a beat that leaves, once one has left", gaps, std::uint64_t{0}, stream);
    std::printf("%s\n", stream().c_str());
  }

  /// What was inside enters again.
  void reset() {
    dut_->valid_i = 0;
    dut_.reset();
    core_.reset();
    output_.clear();
    sent_ = beat_in_ = beat_out_ = 0;
    offered_ = false;
    codes_ = 0;
    outputs();
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    std::uint64_t codes = 0;
    for (unsigned i = 0; i < lanes; ++i) codes |= std::uint64_t{core_.codes()[i]} << 4 * i;
    bench_.expect_eq("codes_o", std::uint64_t{dut_->codes_o}, codes, model);
    bench_.expect_eq("scale_o", std::uint64_t{dut_->scale_o}, std::uint64_t{core_.scale()}, model);
    bench_.expect_eq("last_o", bool(dut_->last_o), core_.last(), model);
  }

  void cycle(bool valid, bool ready) {
    offered_ = valid;
    Core::Beat beat;
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    // Scale and rounding count beside the last beat only; nothing counts beside no beat.
    bool stochastic = bench_.rng().bits(1);
    std::uint32_t g = bench_.rng().bits(1) ? static_cast<std::uint32_t>(bench_.rng().bits(32)) : ports_.tensor_scale_i;
    if (valid) {
      const BlockPorts& in = inside_[sent_].in;
      for (unsigned i = 0; i < lanes; ++i) {
        beat.x[i] = static_cast<std::uint16_t>(get_bits(in.a_i, 16 * (beat_in_ * lanes + i), 16));
        beat.words[i] = static_cast<std::uint32_t>(get_bits(in.rand_i, rand_bits * (beat_in_ * lanes + i), rand_bits));
      }
      if (beat_in_ + 1 == beats) {
        stochastic = in.stochastic_i;
        g = in.tensor_scale_i;
      }
    } else {
      for (unsigned i = 0; i < lanes; ++i) {
        beat.x[i] = static_cast<std::uint16_t>(bench_.rng().bits(16));
        beat.words[i] = static_cast<std::uint32_t>(bench_.rng().bits(rand_bits));
      }
    }
    for (unsigned i = 0; i < lanes; ++i) {
      set_bits(dut_->a_i, 16 * i, 16, beat.x[i]);
      set_bits(dut_->rand_i, rand_bits * i, rand_bits, beat.words[i]);
    }
    dut_->tensor_scale_i = g;
    dut_->stochastic_i = stochastic;
    dut_.eval();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->codes_o, dut_->scale_o, dut_->last_o);
    if (bench_.rng().bits(4) == 0) output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    const bool taken = valid && dut_->ready_o, given = dut_->valid_o && ready;
    if (given) give();
    core_.step(valid ? &beat : nullptr, std::bit_cast<float>(g), stochastic, ready);
    dut_.tick();
    if (!taken) return;
    offered_ = false;
    if (++beat_in_ == beats) {
      beat_in_ = 0;
      ++sent_;
    }
  }

  /// A beat leaves.
  void give() {
    bench_.expect(sent_ != 0, [] { return "a beat of no block"; });
    if (sent_ == 0) return;
    codes_ |= std::uint64_t{dut_->codes_o} << 4 * lanes * beat_out_;
    bench_.expect_eq("last_o", bool(dut_->last_o), beat_out_ + 1 == beats,
                     [&] { return "beat " + std::to_string(beat_out_); });
    if (beat_out_ != 0) bench_.expect(ports_.scale_o == dut_->scale_o, [] { return "scale_o changed in a block"; });
    ports_.scale_o = dut_->scale_o;
    if (++beat_out_ != beats) return;
    beat_out_ = 0;
    ports_.codes_o = std::exchange(codes_, 0);
    if (inside_.front().compare) inside_.front().compare();
    inside_.pop_front();
    --sent_;
  }

  using Core = systemc::QuantizeNvfp4FoldedCore<lanes, static_cast<int>(rand_bits)>;
  Bench& bench_;
  BlockPorts& ports_;
  Dut<Vdut>& dut_;
  HandshakeChecker output_;
  Core core_;
  Scoreboard<Inside> inside_{bench_, "blocks"};  ///< oldest first; `sent_` of them entered whole
  std::size_t sent_ = 0;
  unsigned beat_in_ = 0, beat_out_ = 0;
  bool offered_ = false;
  std::uint64_t codes_ = 0;  ///< of the block that leaves
  double offer_ = 1, accept_ = 1;
};

}  // namespace narrowgauge::bench

int main(int argc, char** argv) { return narrowgauge::bench::nvfp4::run<narrowgauge::bench::BlockPorts>(argc, argv); }
