// SPDX-License-Identifier: Apache-2.0
// ng_plane_acc and its SystemC module in lock-step; sums are compared beside valid_o. Build parameters: NG_ROWS,
// NG_COLS, NG_PLANES, NG_SUM_BITS.
#include "dut_pins.hpp"
#include "systemc/binary/plane_acc.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a beat passes while sums wait", "sums that are given up stay",
                                  "every plane selects row 0", "a number of -1 counts as 0",
                                  "the result is a cycle early"};

using Base = narrowgauge::systemc::PlaneAccCore<NG_ROWS, NG_COLS, NG_PLANES, NG_SUM_BITS>;
struct Core : Base {
  bool ready() const { return Base::ready() || fault == 1; }
  void step(bool valid, Planes selected, Matrix v, bool first, bool last, bool ready) {
    for (std::size_t i = 0; fault == 3 && i < selected.size(); i += NG_ROWS) selected[i] = 1;
    for (std::int8_t& value : v) value = fault == 4 && value == -1 ? 0 : value;
    Base::step(valid, selected, v, first && fault != 2, last, ready);
    if (fault == 5) Base::step(false, selected, v, false, false, false);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc plane_acc " + std::to_string(NG_ROWS) + "x" + std::to_string(NG_COLS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::PlaneAcc<NG_ROWS, NG_COLS, NG_PLANES, NG_SUM_BITS, Core> model("model");
  Pins pins(both, model);

  std::uint64_t results = 0, waited = 0;
  bool fresh = true;  // after a reset sums begin with first_i
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive(pins.first_i, fresh || bench.rng().chance(0.2));
    fresh = fresh && !(dut->valid_i && dut->ready_o);
    both.drive(pins.last_i, bench.rng().chance(i / 1000 % 2 ? 0.9 : 0.3));
    both.drive_random(pins.planes_i);
    both.drive_random(pins.v_i);
    results += dut->valid_o && dut->ready_i;
    waited += !dut->ready_o;
  };
  const auto compare = [&] {
    fresh = fresh || !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->valid_o, pins.sums_o));
  };
  both.run(stimulate, compare, [] {});
  both.covered("sums were complete", results);
  both.covered("a beat waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
