// SPDX-License-Identifier: Apache-2.0
// ng_quantize_te and its SystemC module in lock-step.
#include "dut_pins.hpp"
#include "systemc/quant/quantize_te.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"the table is complete a cycle early", "a block moves without enable",
                                  "a block while the table is made has no NaN",
                                  "the highest bit of the fraction of A is lost"};

struct Core : narrowgauge::systemc::QuantizeTeCore {
  using Base = narrowgauge::systemc::QuantizeTeCore;
  void step(bool valid, std::uint32_t amax, bool enable, const Numbers& numbers) {
    const bool take = valid && ready();
    Base::step(valid, fault == 4 ? amax & ~0x400000U : amax, enable || fault == 2, numbers);
    if (take && fault == 1) Base::step(false, 0, false, numbers);
  }
  narrowgauge::Nvfp4Block block() const {
    narrowgauge::Nvfp4Block block = Base::block();
    if (fault == 3 && block.scale == 0x7F) block.scale = 0;
    return block;
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc quantize_te");
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeTe<Core> model("model");
  Pins pins(both, model);

  std::uint64_t tensors = 0, blocks = 0, waits = 0;
  const auto stimulate = [&](std::uint64_t) {
    // Most tensors have their table made to the end, and stay for hundreds of blocks.
    both.drive(pins.valid_i, bench.rng().chance(0.002));
    both.drive(pins.amax_i, Port<31>(0x3C000000U + static_cast<std::uint32_t>(bench.rng().bits(27))));
    both.drive(pins.en_i, bench.rng().chance(0.7));
    narrowgauge::systemc::PortWords<256> words;
    for (std::uint32_t& word : words)
      word = static_cast<std::uint32_t>(bench.rng().bits(32) & 0x87FF87FF) + 0x3B803B80U;
    both.drive(pins.a_i, narrowgauge::systemc::port_of<256>(words));
    tensors += dut->valid_i && dut->ready_o;
    blocks += dut->en_i && dut->scale_o != 0x7F;
    waits += !dut->en_i && dut->ready_o;
  };
  const auto compare = [&] { both.same(pins); };
  // Resets are rare, for a table takes some eleven thousand cycles.
  std::uint64_t resets = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    resets += both.maybe_reset(i, compare, 0.00002);
    stimulate(i);
    both.settle();
    compare();
    both.tick();
    compare();
    bench.vector();
  }
  both.covered("reset", resets, 1);
  both.covered("a tensor began", tensors, 2);
  both.covered("a block came out", blocks);
  both.covered("a block waited", waits);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
