// SPDX-License-Identifier: Apache-2.0
// ng_quantize_4over6_folded and its SystemC module in lock-step. codes_o, scale_o and last_o are compared beside
// valid_o. Build parameter: NG_LANES.
#include "Vdut.h"
#include "lockstep.hpp"
#include "systemc/quant/quantize_4over6_folded.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int lanes = NG_LANES;
constexpr const char* faults[] = {"numbers seem to be taken while the queue is full", "codes come a cycle early",
                                  "codes do not wait", "the highest bit of the tensor scale's fraction is lost",
                                  "the lowest bit of a number is lost"};

using Base = narrowgauge::systemc::Quantize4over6FoldedCore<lanes>;
struct Core : Base {
  bool ready() const { return Base::ready() || fault == 1; }
  void step(const Numbers* numbers, std::uint32_t tensor_scale, bool ready) {
    const bool taken = numbers && Base::ready();
    Numbers changed{};
    if (numbers) changed = *numbers;
    for (std::uint16_t& number : changed)
      if (fault == 5) number &= 0xFFFE;
    Base::step(numbers ? &changed : nullptr, fault == 4 ? tensor_scale & ~0x400000U : tensor_scale,
               ready || fault == 3);
    if (fault == 2 && taken) Base::step(nullptr, 0, false);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc quantize_4over6_folded " + std::to_string(lanes));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Quantize4over6Folded<lanes, Core> model("model");
  both.join_clock(model);
  Streams streams(*dut, model);
  auto a = pin<16 * lanes>(dut->a_i, model.a_i);
  auto g = pin<32>(dut->tensor_scale_i, model.tensor_scale_i);
  auto codes = pin<4 * lanes>(dut->codes_o, model.codes_o);
  auto scale = pin<8>(dut->scale_o, model.scale_o);
  auto last = pin(dut->last_o, model.last_o);

  std::uint64_t given = 0, waited = 0, scaled = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(streams, traffic_at(i, 1000));
    // Numbers of sizes about 1, under tensor scales that make ordinary block scales of them.
    narrowgauge::systemc::PortWords<16 * lanes> words;
    for (std::uint32_t& word : words)
      word = static_cast<std::uint32_t>(bench.rng().bits(32) & 0x83FF83FF) + 0x3E003E00U;
    both.drive(a, narrowgauge::systemc::port_of<16 * lanes>(words));
    both.drive(g, Port<32>(0x3D000000U + static_cast<std::uint32_t>(bench.rng().bits(25))));
    given += dut->valid_o && dut->ready_i;
    scaled += dut->valid_o && dut->ready_i && dut->scale_o != 0 && dut->scale_o != 0x7F;
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    both.same(streams);
    if (!dut->valid_o) return;
    both.same("codes_o", codes);
    both.same("scale_o", scale);
    both.same("last_o", last);
  };
  both.run(stimulate, compare, [] {});
  both.covered("codes left", given);
  both.covered("codes with an ordinary scale left", scaled);
  both.covered("codes waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
