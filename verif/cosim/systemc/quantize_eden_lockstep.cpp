// SPDX-License-Identifier: Apache-2.0
// ng_quantize_eden and its SystemC module in lock-step. codes_o, scale_o and last_o are compared beside valid_o. Build
// parameters: NG_MAN_BITS, NG_ELEMENT_MAX, NG_RAND_BITS.
#include "dut_pins.hpp"
#include "systemc/quant/quantize_eden.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int man_bits = NG_MAN_BITS, bits = 9 + man_bits, rand_bits = NG_RAND_BITS;
constexpr const char* faults[] = {"a block is taken before the group has left",
                                  "the correction is there a cycle too early", "the group does not end early",
                                  "a block does not wait", "the highest bit of mantissas is lost"};

using Base = narrowgauge::systemc::QuantizeEdenCore<rand_bits>;
struct Core : Base {
  using Base::Base;
  bool ready() const { return Base::ready() || (fault == 1 && Base::valid() && Base::last()); }
  void step(float p, const std::array<float, 16>* x, std::uint32_t word, bool last, bool ready) {
    const bool taken = x && Base::ready();
    std::array<float, 16> changed{};
    if (x) changed = *x;
    for (float& number : changed) {
      const std::uint32_t code = std::bit_cast<std::uint32_t>(number);
      if (fault == 5) number = std::bit_cast<float>(code & ~(1U << 22));
    }
    Base::step(p, x ? &changed : nullptr, word, last && fault != 3, ready || fault == 4);
    if (fault == 2 && taken && last) Base::step(p, nullptr, 0, false, false);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc quantize_eden " + std::to_string(man_bits));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeEden<man_bits, NG_ELEMENT_MAX, rand_bits, Core> model("model");
  Pins pins(both, model);

  std::uint64_t groups = 0, waited = 0;
  both.drive(pins.tensor_scale_i, std::uint32_t{0x3F800000});
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i, 4000));
    both.drive(pins.last_i, bench.rng().chance(0.4));
    both.drive_random(pins.rand_i);
    // Exponents about 1: blocks of ordinary scales.
    for (unsigned j = 0; j < 16; ++j)
      set_bits(
          dut->data_i, j * bits, bits,
          bench.rng().bits(1) << (bits - 1) | (122 + bench.rng().below(8)) << man_bits | bench.rng().bits(man_bits));
    both.drive(pins.data_i, value_of<16 * bits>(dut->data_i));
    groups += dut->valid_o && dut->ready_i && dut->last_o;
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.codes_o, pins.scale_o, pins.last_o)); };
  both.run(stimulate, compare, [] {});
  both.covered("a group left", groups, 5);
  both.covered("a block waited", waited, 5);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
