// SPDX-License-Identifier: Apache-2.0
// ng_zap_queue and its SystemC module in lock-step. Rows are compared beside valid_o, and places of active cells only.
// Build parameters: NG_COLUMNS, NG_ROWS, NG_DEPTH, NG_PLACE_BITS.
#include "dut_pins.hpp"
#include "systemc/sparse/zap_queue.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a place is taken in a pass",
                                  "an output that is not kept waits",
                                  "a place loses its lowest bit",
                                  "a sample ends a place early",
                                  "no sample ends",
                                  "a row does not wait"};

using Base = narrowgauge::systemc::ZapQueueCore<NG_COLUMNS, NG_ROWS, NG_DEPTH>;
struct Core : Base {
  bool ready() const { return Base::ready() || fault == 1; }
  void step(const Place* place, bool ready) {
    Place other = place ? *place : Place{};
    if (fault == 2) other.keep |= 1;
    if (fault == 3) other.place &= ~1U;
    if (fault == 4) other.last = true;
    if (fault == 5) other.last = false;
    Base::step(place ? &other : nullptr, ready || fault == 6);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc zap_queue " + std::to_string(NG_COLUMNS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::ZapQueue<NG_COLUMNS, NG_ROWS, NG_DEPTH, NG_PLACE_BITS, Core> model("model");
  Pins pins(both, model);

  std::uint64_t samples = 0, waited = 0, idle = 0, passes = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive_random(pins.place_i);
    both.drive_random(pins.keep_i);
    // Now and then columns of which few outputs, or all, are kept.
    if (i / 500 % 3 == 1 && bench.rng().chance(0.9)) both.drive(pins.keep_i, 0);
    if (i / 500 % 3 == 2) both.drive(pins.keep_i, static_cast<decltype(pins.keep_i.signal.read())>(1));
    both.drive(pins.last_i, bench.rng().chance(i / 1000 % 2 ? 0.3 : 0.3 / NG_DEPTH));
    const bool left = dut->valid_o && dut->ready_i;
    samples += left && dut->last_o;
    passes += left && !dut->last_o && dut->pass_last_o;
    idle += left && !dut->last_o && get_bits(dut->active_o, 0, 1) == 0;
    waited += dut->valid_i && !dut->ready_o;
  };
  const auto compare = [&] {
    both.same(pins, OnlyWhile(dut->valid_o, pins.active_o, pins.pass_last_o, pins.last_o),
              OnlyWhile(false, pins.places_o));
    const auto places = narrowgauge::systemc::fields_of<NG_COLUMNS, NG_PLACE_BITS>(pins.places_o.signal.read());
    for (unsigned column = 0; column < NG_COLUMNS && dut->valid_o; ++column) {
      if (get_bits(dut->active_o, column, 1) == 0) continue;
      bench.expect_eq("places_o", get_bits(dut->places_o, column * NG_PLACE_BITS, NG_PLACE_BITS),
                      std::uint64_t{places[column]}, [&] { return "column " + std::to_string(column); });
    }
  };
  both.run(stimulate, compare, [] {});
  both.covered("a sample ended", samples);
  both.covered("a pass ended", passes);
  both.covered("a place waited", waited);
  both.covered("a cell of column 0 had no output", NG_COLUMNS > 1 ? idle : 20);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
