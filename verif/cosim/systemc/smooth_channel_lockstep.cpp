// SPDX-License-Identifier: Apache-2.0
// ng_smooth_channel and its SystemC module in lock-step. Data, scales and last_o are compared beside valid_o. Build
// parameters: NG_LANES, NG_MAX_BEATS.
#include "dut_pins.hpp"
#include "systemc/quant/smooth_channel.hpp"

namespace {

using namespace narrowgauge::bench;
using narrowgauge::systemc::SmoothOp;

constexpr int lanes = NG_LANES, max_beats = NG_MAX_BEATS, bits = 16 * lanes;
constexpr const char* faults[] = {"a beat comes one cycle late", "a block begins where one has begun, with old maxima",
                                  "a row that is too long goes unnoticed", "a beat is taken without ready",
                                  "weights are divided"};

struct Core : narrowgauge::systemc::SmoothChannelCore<NG_LANES, NG_MAX_BEATS> {
  using Base = narrowgauge::systemc::SmoothChannelCore<NG_LANES, NG_MAX_BEATS>;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  bool too_long() const { return Base::too_long() && fault != 3; }
  void step(const Word* word, bool ready) {
    seen_ = Base::valid();
    if (fault == 4 && word && !Base::ready()) Base::step(nullptr, true);
    if (!word) return Base::step(nullptr, ready);
    Word changed = *word;
    if (fault == 2 && changed.op == SmoothOp::begin) changed.op = SmoothOp::measure;
    if (fault == 5 && changed.op == SmoothOp::multiply) changed.op = SmoothOp::divide;
    Base::step(&changed, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv,
                      "systemc smooth_channel " + std::to_string(lanes) + " x " + std::to_string(max_beats));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::SmoothChannel<lanes, max_beats, Core> model("model");
  Pins pins(both, model);

  std::uint64_t refused = 0, waited = 0, cut = 0, divided = 0, op = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i, 20 * max_beats));
    if (bench.rng().chance(1.0 / max_beats)) op = bench.rng().chance(0.1) ? 0 : 1 + bench.rng().below(3);
    both.drive(pins.op_i, static_cast<std::uint32_t>(op));
    both.drive(pins.last_i, bench.rng().chance(1.5 / max_beats));
    both.drive_random(pins.data_i);
    // Exponents about 1, so that not all sums of them are out of range.
    for (unsigned lane = 0; lane < unsigned{lanes} && bench.rng().chance(0.9); ++lane) {
      set_bits(dut->data_i, lane * 16 + 7, 8, 96 + bench.rng().below(64));
    }
    both.drive(pins.data_i, value_of<bits>(dut->data_i));
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.data_o, pins.scale_o, pins.last_o)); };
  both.run(stimulate, compare, [&] {
    refused += !dut->ready_o;
    cut += dut->too_long_o;
    divided += dut->valid_o && dut->ready_i;
  });
  both.covered("a beat was refused", refused);
  both.covered("a beat waited", waited);
  both.covered("a beat left", divided);
  both.covered("a row was too long", cut);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
