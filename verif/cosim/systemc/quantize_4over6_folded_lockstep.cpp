// SPDX-License-Identifier: Apache-2.0
// ng_quantize_4over6_folded and its SystemC module in lock-step. codes_o, scale_o and last_o are compared beside
// valid_o. Build parameter: NG_LANES.
#include "dut_pins.hpp"
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
  Pins pins(both, model);

  std::uint64_t given = 0, waited = 0, scaled = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i, 1000));
    // Numbers of sizes about 1, under tensor scales that make ordinary block scales of them.
    narrowgauge::systemc::PortWords<16 * lanes> words;
    for (std::uint32_t& word : words)
      word = static_cast<std::uint32_t>(bench.rng().bits(32) & 0x83FF83FF) + 0x3E003E00U;
    both.drive(pins.a_i, narrowgauge::systemc::port_of<16 * lanes>(words));
    both.drive(pins.tensor_scale_i, Port<32>(0x3D000000U + static_cast<std::uint32_t>(bench.rng().bits(25))));
    given += dut->valid_o && dut->ready_i;
    scaled += dut->valid_o && dut->ready_i && dut->scale_o != 0 && dut->scale_o != 0x7F;
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.codes_o, pins.scale_o, pins.last_o)); };
  both.run(stimulate, compare, [] {});
  both.covered("codes left", given);
  both.covered("codes with an ordinary scale left", scaled);
  both.covered("codes waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
