// SPDX-License-Identifier: Apache-2.0
// ng_quantize_nvfp4_folded and its SystemC module in lock-step. codes_o, scale_o and last_o are compared beside
// valid_o. Build parameters: NG_LANES, NG_RAND_BITS.
#include "dut_pins.hpp"
#include "systemc/quant/quantize_nvfp4_folded.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int lanes = NG_LANES, rand_bits = NG_RAND_BITS;
constexpr const char* faults[] = {"a beat comes one cycle late", "a block is taken where there is no place",
                                  "the highest random bit is lost", "scale and rounding of another beat count",
                                  "the last beat is not marked"};

using Base = narrowgauge::systemc::QuantizeNvfp4FoldedCore<lanes, rand_bits>;
struct Core : Base {
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  bool ready() const { return Base::ready() || fault == 2; }
  bool last() const { return Base::last() && fault != 5; }
  void step(const Beat* beat, float g, bool stochastic, bool ready) {
    seen_ = Base::valid();
    Beat changed = beat ? *beat : Beat{};
    for (std::uint32_t& word : changed.words)
      if (fault == 3) word &= ~(1U << (rand_bits - 1));
    const float former = std::exchange(g_, g);
    const bool former_stochastic = std::exchange(stochastic_, stochastic);
    Base::step(beat ? &changed : nullptr, fault == 4 ? former : g, fault == 4 ? former_stochastic : stochastic, ready);
  }
  bool seen_ = false, stochastic_ = false;
  float g_ = 1;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc quantize_nvfp4_folded " + std::to_string(lanes));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeNvfp4Folded<lanes, rand_bits, Core> model("model");
  Pins pins(both, model);

  std::uint64_t refused = 0, waited = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i, 1000));
    both.drive_random(pins.rand_i);
    // Exponents about 2, under scales of 1/4 to 2: blocks of ordinary scales. Seldom a scale that is refused.
    for (unsigned j = 0; j < lanes; ++j)
      set_bits(dut->a_i, 16 * j, 16,
               bench.rng().bits(1) << 15 | (122 + bench.rng().below(12)) << 7 | bench.rng().bits(7));
    both.drive(pins.a_i, value_of<16 * lanes>(dut->a_i));
    const bool power = bench.rng().bits(2) != 0;
    both.drive(pins.tensor_scale_i,
               static_cast<std::uint32_t>((125 + bench.rng().below(3)) << 23 | (power ? 0 : bench.rng().bits(23))));
    both.drive(pins.stochastic_i, bench.rng().bits(1));
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.codes_o, pins.scale_o, pins.last_o)); };
  both.run(stimulate, compare, [&] { refused += !dut->ready_o; });
  both.covered("a beat was not taken", refused);
  both.covered("a beat waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
