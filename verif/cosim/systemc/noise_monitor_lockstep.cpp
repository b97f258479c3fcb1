// SPDX-License-Identifier: Apache-2.0
// ng_noise_monitor and its SystemC module in lock-step. Build parameters:
// NG_LANES, NG_FRAC_BITS, NG_COUNT_BITS.
#include "dut_pins.hpp"
#include "systemc/quant/noise_monitor.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr narrowgauge::systemc::NoiseMonitorParams params{
    .lanes = NG_LANES, .frac_bits = NG_FRAC_BITS, .count_bits = NG_COUNT_BITS};
constexpr const char *faults[] = {"a block comes a cycle early", "a new tensor keeps the sum", "0 is noisy",
                                  "a NaN counts as scale", "a block without valid is taken"};

struct Core : narrowgauge::systemc::NoiseMonitorCore<params> {
  using Base = narrowgauge::systemc::NoiseMonitorCore<params>;
  bool noisy() const { return Base::noisy() || (fault == 3 && excess() == 0); }
  void step(bool valid, bool first, const Magnitudes &magnitudes, std::uint32_t scale) {
    Base::step(valid || fault == 5, first && fault != 2, magnitudes, fault == 4 && scale == 127 ? 126 : scale);
    if (fault == 1) Base::step(false, false, magnitudes, scale);
  }
};

int run(int argc, char **argv) {
  Lockstep<Vdut> both(argc, argv, "systemc noise_monitor");
  auto &[bench, dut, clk, rst_n] = both;
  using Module = narrowgauge::systemc::NoiseMonitor<params, Core>;
  constexpr int y_width = Module::y_width;
  Module model("model");
  Pins pins(both, model);

  std::uint64_t blocks = 0, nans = 0, tensors = 0;
  const auto stimulate = [&](std::uint64_t) {
    both.drive(pins.valid_i, bench.rng().chance(0.7));
    both.drive(pins.first_i, bench.rng().chance(0.1));
    const auto code = static_cast<std::uint32_t>(bench.rng().chance(0.1) ? 127 : bench.rng().bits(7));
    both.drive(pins.scale_i, code);
    if (bench.rng().chance(0.3)) {  // small numbers only: noisy
      both.drive(pins.y_i, narrowgauge::systemc::port_of<y_width>({static_cast<std::uint32_t>(bench.rng().bits(1))}));
    } else {
      both.drive_random(pins.y_i);
    }
    blocks += dut->valid_i;
    nans += dut->valid_i && code == 127;
    tensors += dut->valid_i && dut->first_i;
  };
  const auto compare = [&] { both.same(pins); };
  both.run(stimulate, compare, [] {});
  both.covered("a block was taken", blocks);
  both.covered("a scale was NaN", nans);
  both.covered("a tensor began", tensors);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char **argv) { return lockstep_main(argc, argv, faults, run); }
