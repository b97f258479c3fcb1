// SPDX-License-Identifier: Apache-2.0
// ng_rht16_folded and its SystemC module in lock-step. Build parameters: NG_LANES, NG_WINDOW.
#include "dut_pins.hpp"
#include "systemc/quant/rht16_folded.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int lanes = NG_LANES, bits = 16 * lanes;
constexpr const char* faults[] = {"a beat comes one cycle late", "a block is never exact", "a lane is always positive",
                                  "a beat is taken without ready"};

struct Core : narrowgauge::systemc::Rht16FoldedCore<NG_LANES, NG_WINDOW> {
  using Base = narrowgauge::systemc::Rht16FoldedCore<NG_LANES, NG_WINDOW>;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  bool exact() const { return Base::exact() && fault != 2; }
  Beat beat() const {
    Beat y = Base::beat();
    if (fault == 3) y[lanes - 1] &= 0x7FFF;
    return y;
  }
  void step(const Beat* beat, bool ready) {
    seen_ = Base::valid();
    if (fault == 4 && beat && !Base::ready()) Base::step(nullptr, true);
    Base::step(beat, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv,
                      "systemc rht16_folded " + std::to_string(lanes) + ", window " + std::to_string(NG_WINDOW));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Rht16Folded<lanes, NG_WINDOW, Core> model("model");
  Pins pins(both, model);

  std::uint64_t refused = 0, waited = 0, exact = 0;
  std::uint32_t top = 0, spread = 1;
  bool any = false;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i, 400));
    if (bench.rng().chance(0.1)) {  // exponents of a few binades, now and then any: a NaN or an infinity among them
      top = static_cast<std::uint32_t>(bench.rng().bits(8));
      spread = 1U << bench.rng().below(5);
      any = bench.rng().chance(0.1);
    }
    narrowgauge::systemc::PortWords<bits> words;
    for (std::uint32_t& word : words) {
      word = static_cast<std::uint32_t>(bench.rng()());
      const std::uint32_t low = top ^ bench.rng().below(spread), high = top ^ bench.rng().below(spread);
      if (!any) word = (word & 0x807F807F) | low << 7 | high << 23;
      if (bits < 32) word &= 0xFFFF;
    }
    both.drive(pins.x_i, narrowgauge::systemc::port_of<bits>(words));
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.y_o, pins.exact_o)); };
  both.run(stimulate, compare, [&] {
    refused += !dut->ready_o;
    exact += dut->valid_o && dut->exact_o;
  });
  both.covered("both banks were full", refused);
  both.covered("a beat waited", waited);
  both.covered("a block was exact", exact);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
