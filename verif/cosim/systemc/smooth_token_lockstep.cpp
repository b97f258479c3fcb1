// SPDX-License-Identifier: Apache-2.0
// ng_smooth_token and its SystemC module in lock-step. Build parameters: NG_LANES, NG_MAX_BEATS.
#include "dut_pins.hpp"
#include "systemc/quant/smooth_token.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int lanes = NG_LANES, max_beats = NG_MAX_BEATS;
constexpr const char* faults[] = {"a beat comes one cycle late", "a row leaves with the scale of its last beat",
                                  "a row that is too long goes unnoticed", "a beat is taken without ready"};

struct Core : narrowgauge::systemc::SmoothTokenCore<NG_LANES, NG_MAX_BEATS> {
  using Base = narrowgauge::systemc::SmoothTokenCore<NG_LANES, NG_MAX_BEATS>;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  bool too_long() const { return Base::too_long() && fault != 3; }
  std::uint8_t scale() const { return fault == 2 ? narrowgauge::smooth_scale(Base::beat()) : Base::scale(); }
  void step(const Beat* beat, bool last, bool ready) {
    seen_ = Base::valid();
    if (fault == 4 && beat && !Base::ready()) Base::step(nullptr, false, true);
    Base::step(beat, last, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc smooth_token " + std::to_string(lanes) + " x " + std::to_string(max_beats));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::SmoothToken<lanes, max_beats, Core> model("model");
  Pins pins(both, model);

  std::uint64_t refused = 0, waited = 0, cut = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i, 20 * max_beats));
    both.drive(pins.last_i, bench.rng().chance(1.5 / max_beats));
    both.drive_random(pins.data_i);
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.data_o, pins.last_o, pins.scale_o)); };
  both.run(stimulate, compare, [&] {
    refused += !dut->ready_o;
    cut += dut->too_long_o;
  });
  both.covered("both banks were full", refused);
  both.covered("a beat waited", waited);
  both.covered("a row was too long", cut);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
