// SPDX-License-Identifier: Apache-2.0
// ng_zap_predict and its SystemC module in lock-step; what is kept is compared beside valid_o. Coefficients are
// loaded behind resets. Build parameters: NG_CHANNELS, NG_COLUMNS.
#include "dut_pins.hpp"
#include "systemc/sparse/zap_predict.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a place is taken while zeros are made", "a place that no pattern computes is read",
                                  "a threshold has the other sign",        "a map ends a row early",
                                  "coefficients go to the channel beside", "what is kept does not wait"};

using Base = narrowgauge::systemc::ZapPredictCore<NG_CHANNELS>;
struct Core : Base {
  bool ready() const { return Base::ready() || fault == 1; }
  void step(const Place* place, bool ready) {
    Place other = place ? *place : Place{};
    if (fault == 2) other.kind = 11;
    if (fault == 4) other.last = true;
    Base::step(place ? &other : nullptr, ready || fault == 6);
  }
  void load(std::size_t channel, narrowgauge::ZapChannel coefficients) {
    if (fault == 3) coefficients.threshold = -coefficients.threshold;
    if (fault == 5) channel = (channel + 1) % (NG_CHANNELS + 1);
    Base::load(channel, coefficients);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc zap_predict " + std::to_string(NG_CHANNELS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::ZapPredict<NG_CHANNELS, NG_COLUMNS, Core> model("model");
  Pins pins(both, model);

  std::uint64_t maps = 0, waited = 0, kept = 0, skipped = 0;
  std::uint64_t loads = 0;  // channels that still want coefficients
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    if (i % 1000 == 0) {
      both.set_reset(true);  // no map is under way then
      both.set_reset(false);
      loads = NG_CHANNELS;
    }
    both.drive(pins.load_i, loads > 0);
    if (loads > 0) {
      both.drive(pins.valid_i, false);
      both.drive(pins.channel_i, --loads);
    }
    both.drive_random(pins.coefficients_i);
    both.drive(pins.kind_i, bench.rng().below(16));
    both.drive(pins.last_column_i, 1 + bench.rng().below(NG_COLUMNS - 1));
    both.drive_random(pins.outputs_i);
    both.drive(pins.last_i, bench.rng().chance(0.3));
    maps += dut->valid_o && dut->ready_i && dut->last_o;
    waited += !dut->ready_o;
    kept += dut->valid_o && dut->keep_o & 1;
    skipped += dut->valid_o && !(dut->keep_o & 1);
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.keep_o, pins.last_o)); };
  both.run(stimulate, compare, [] {});
  both.covered("a map left", maps);
  both.covered("a place waited", waited);
  both.covered("an output of channel 0 was kept", kept);
  both.covered("an output of channel 0 was skipped", skipped);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
