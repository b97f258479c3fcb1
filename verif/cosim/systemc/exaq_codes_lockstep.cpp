// SPDX-License-Identifier: Apache-2.0
// ng_exaq_codes and its SystemC module in lock-step. The beat is compared beside valid_o, the counts beside last_o too.
// Build parameters: NG_BITS, NG_LANES, NG_COUNT_BITS.
#include <algorithm>

#include "dut_pins.hpp"
#include "systemc/softmax/exaq_codes.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int steps = (1 << NG_BITS) - 1;
constexpr const char* faults[] = {"a key at the last threshold does not reach it", "a new row keeps the counts",
                                  "a lane that is not attended has a code", "counts are given up before they are taken",
                                  "a row that is too long goes unnoticed"};

using Base = narrowgauge::systemc::ExaqCodesCore<NG_BITS, NG_LANES, NG_COUNT_BITS>;
struct Core : Base {
  bool ready() const { return Base::ready() || fault == 4; }
  bool too_long() const { return Base::too_long() && fault != 5; }
  void step(bool valid, const Keys& keys, std::uint64_t mask, bool first, bool last, Thresholds thresholds,
            bool ready) {
    if (fault == 1 && thresholds.back() != 0xFFFF) ++thresholds.back();
    Base::step(valid, keys, fault == 3 ? mask | 1 : mask, first && fault != 2, last, thresholds, ready);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc exaq_codes " + std::to_string(NG_BITS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::ExaqCodes<NG_BITS, NG_LANES, NG_COUNT_BITS, Core> model("model");
  Pins pins(both, model);

  std::uint64_t rows = 0, waited = 0, cut = 0;
  bool fresh = true;  // after a reset the first beat begins a row
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    const bool long_rows = i / 1500 % 2 != 0;
    both.drive(pins.first_i, fresh || bench.rng().chance(long_rows ? 0.0005 : 0.4));
    fresh = fresh && !(dut->valid_i && dut->ready_o);
    both.drive(pins.last_i, bench.rng().chance(long_rows ? 0.0005 : 0.4));
    std::array<std::uint16_t, steps> thresholds;
    std::array<std::uint16_t, NG_LANES> keys;
    for (auto& threshold : thresholds) threshold = static_cast<std::uint16_t>(bench.rng().bits(16));
    std::ranges::sort(thresholds);
    for (auto& key : keys) {
      key = static_cast<std::uint16_t>(bench.rng().bits(16));
      if (bench.rng().chance(0.5)) key = thresholds[bench.rng().below(steps)];
    }
    both.drive(pins.keys_i, narrowgauge::systemc::port_of_fields<16>(keys));
    both.drive(pins.thresholds_i, narrowgauge::systemc::port_of_fields<16>(thresholds));
    const std::uint64_t mask = bench.rng().bits(NG_LANES);
    both.drive(pins.mask_i, static_cast<Port<NG_LANES>>(long_rows ? ~std::uint64_t{0} >> (64 - NG_LANES) : mask));
    rows += dut->valid_o && dut->ready_i && dut->last_o;
    waited += !dut->ready_o;
  };
  const auto compare = [&] {
    fresh = fresh || !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->valid_o, pins.codes_o, pins.mask_o, pins.last_o),
              OnlyWhile(dut->valid_o && dut->last_o, pins.counts_o));
  };
  both.run(stimulate, compare, [&] { cut += dut->too_long_o; });
  both.covered("a row ended", rows);
  both.covered("a beat waited", waited);
  both.covered("a row was too long", cut);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
