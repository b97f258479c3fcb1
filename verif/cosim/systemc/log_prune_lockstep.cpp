// SPDX-License-Identifier: Apache-2.0
// ng_log_prune and its SystemC module in lock-step. Build parameters: NG_LANES, NG_FRAC_BITS, NG_RAND_BITS,
// NG_COUNT_BITS.
#include "dut_pins.hpp"
#include "systemc/luq/log_prune.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr narrowgauge::systemc::LogPruneParams params{
    .lanes = NG_LANES, .frac_bits = NG_FRAC_BITS, .rand_bits = NG_RAND_BITS, .count_bits = NG_COUNT_BITS};
constexpr const char* faults[] = {"a beat comes one cycle late", "a new tensor keeps the sums",
                                  "a subnormal number is a zero", "a number at the threshold is pruned",
                                  "a beat is taken without ready"};

struct Core : narrowgauge::systemc::LogPruneCore<params> {
  using Base = narrowgauge::systemc::LogPruneCore<params>;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  void step(const Beat* beat, bool ready) {
    seen_ = Base::valid();
    Beat changed;
    if (beat) changed = *beat;
    if (fault == 2) changed.last = false;
    for (std::size_t i = 0; i < changed.data.size(); ++i) {
      std::uint16_t& x = changed.data[i];
      if (fault == 3 && (x & 0x7F80) == 0) x &= 0x8000;
      if (fault == 4 && (x & 0x7FFF) == changed.threshold && changed.random[i] == 0) --x;
    }
    if (fault == 5 && beat && !Base::ready()) Base::step(nullptr, true);
    Base::step(beat ? &changed : nullptr, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc log_prune " + std::to_string(params.lanes));
  auto& [bench, dut, clk, rst_n] = both;
  using Module = narrowgauge::systemc::LogPrune<params, Core>;
  constexpr int lanes = Module::lanes, random_width = lanes * Module::rand_bits;
  Module model("model");
  Pins pins(both, model);

  std::uint64_t refused = 0, waited = 0, ended = 0, subnormal = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive(pins.last_i, bench.rng().chance(0.1));
    const auto tau = static_cast<std::uint32_t>(bench.rng().bits(15) % 0x7F80);
    both.drive(pins.threshold_i, tau);
    std::array<std::uint16_t, static_cast<std::size_t>(lanes)> numbers;
    for (std::uint16_t& x : numbers) {
      const std::uint32_t kind = bench.rng().below(8);
      const std::uint32_t magnitude = kind == 0   ? static_cast<std::uint32_t>(bench.rng().bits(15))
                                      : kind <= 2 ? static_cast<std::uint32_t>(bench.rng().bits(7))
                                      : kind <= 4 ? tau
                                                  : tau - std::min(tau, bench.rng().below(2000));
      subnormal += magnitude > 0 && magnitude < 0x80;
      x = static_cast<std::uint16_t>(magnitude | bench.rng().bits(1) << 15);
    }
    both.drive(pins.data_i, narrowgauge::systemc::port_of_fields<16>(numbers));
    if (bench.rng().chance(0.3)) {  // words of zero: nothing below the threshold is raised
      both.drive(pins.rand_i, narrowgauge::systemc::port_of<random_width>({}));
    } else {
      both.drive_random(pins.rand_i);
    }
    waited += dut->valid_o && !dut->ready_i;
    ended += dut->valid_o && dut->last_o;
  };
  const auto compare = [&] {
    both.same(pins, OnlyWhile(dut->valid_o, pins.data_o, pins.last_o, pins.sum_o, pins.squares_o, pins.count_o,
                              pins.zeros_o, pins.special_o));
  };
  both.run(stimulate, compare, [&] { refused += !dut->ready_o; });
  both.covered("the queue was full", refused);
  both.covered("a beat waited", waited);
  both.covered("a tensor ended", ended);
  both.covered("a number was subnormal", subnormal);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
