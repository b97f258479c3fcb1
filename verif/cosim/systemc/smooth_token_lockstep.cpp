// SPDX-License-Identifier: Apache-2.0
// ng_smooth_token and its SystemC module in lock-step. Build parameters: NG_LANES, NG_MAX_BEATS.
#include "Vdut.h"
#include "lockstep.hpp"
#include "systemc/quant/smooth_token.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int lanes = NG_LANES, max_beats = NG_MAX_BEATS, bits = 16 * lanes;
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
  both.join_clock(model);
  Streams streams(*dut, model);
  auto data_i = pin<bits>(dut->data_i, model.data_i), data_o = pin<bits>(dut->data_o, model.data_o);
  auto last_i = pin(dut->last_i, model.last_i), last_o = pin(dut->last_o, model.last_o);
  auto scale_o = pin<8>(dut->scale_o, model.scale_o);
  auto too_long_o = pin(dut->too_long_o, model.too_long_o);

  std::uint64_t refused = 0, waited = 0, cut = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(streams, traffic_at(i, 20 * max_beats));
    both.drive(last_i, bench.rng().chance(1.5 / max_beats));
    both.drive_random(data_i);
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    both.same(streams);
    both.same("too_long_o", too_long_o);
    if (!dut->valid_o) return;
    both.same("data_o", data_o);
    both.same("last_o", last_o);
    both.same("scale_o", scale_o);
  };
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
