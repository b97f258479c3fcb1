// SPDX-License-Identifier: Apache-2.0
// ng_dot_xnor and its SystemC module in lock-step; sum and bit are compared beside valid_o. Build parameters: NG_N,
// NG_AND.
#include "dut_pins.hpp"
#include "systemc/binary/dot_xnor.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a beat passes while results wait", "a new row keeps the sum",
                                  "the first place always counts", "a sum on its threshold is below it",
                                  "the result is a cycle early"};

using Base = narrowgauge::systemc::DotXnorCore<NG_N, bool(NG_AND)>;
struct Core : Base {
  bool ready() const { return Base::ready() || fault == 1; }
  void step(bool valid, const Words& x, const Words& w, Words mask, bool first, bool last, std::uint16_t threshold,
            bool at_most, bool ready) {
    if (fault == 3) mask[0] |= 1;
    if (fault == 4) threshold = static_cast<std::uint16_t>(at_most ? threshold - 1 : threshold + 1);
    Base::step(valid, x, w, mask, first && fault != 2, last, threshold, at_most, ready);
    if (fault == 5) Base::step(false, x, w, mask, false, false, 0, false, false);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc dot_xnor " + std::to_string(NG_N));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DotXnor<NG_N, bool(NG_AND), Core> model("model");
  Pins pins(both, model);

  std::uint64_t rows = 0, waited = 0;
  bool fresh = true;  // after a reset the first beat begins a row
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive(pins.first_i, fresh || bench.rng().chance(0.3));
    fresh = fresh && !(dut->valid_i && dut->ready_o);
    both.drive(pins.last_i, bench.rng().chance(i / 1000 % 2 ? 0.9 : 0.3));
    both.drive_random(pins.x_i);
    both.drive_random(pins.w_i);
    both.drive_random(pins.mask_i);
    both.drive(pins.threshold_i, static_cast<std::uint32_t>(bench.rng().below(NG_N)));
    both.drive(pins.at_most_i, bench.rng().chance(0.5));
    rows += dut->valid_o && dut->ready_i;
    waited += !dut->ready_o;
  };
  const auto compare = [&] {
    fresh = fresh || !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->valid_o, pins.sum_o, pins.bit_o));
  };
  both.run(stimulate, compare, [] {});
  both.covered("a row ended", rows);
  both.covered("a beat waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
