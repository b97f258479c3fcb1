// SPDX-License-Identifier: Apache-2.0
// ng_exaq_row and its SystemC module in lock-step. All outputs but the handshakes are compared beside valid_o. Build
// parameters: NG_BITS, NG_COUNT_BITS.
#include <algorithm>
#include <functional>

#include "dut_pins.hpp"
#include "systemc/softmax/exaq_row.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr std::size_t codes = std::size_t{1} << NG_BITS;
constexpr const char* faults[] = {"the lowest entry of the table is not seen", "a probability is a cycle early",
                                  "an empty row goes unnoticed", "a probability does not wait",
                                  "the sum has no lowest bit"};

using Base = narrowgauge::systemc::ExaqRowCore<NG_BITS, NG_COUNT_BITS>;
struct Core : Base {
  bool empty() const { return Base::empty() && fault != 3; }
  std::uint32_t sum() const { return fault == 5 ? Base::sum() & ~1U : Base::sum(); }
  void step(bool valid, const Counts& counts, Table table, bool ready) {
    if (fault == 1) table[0] = 0;
    const bool given = Base::valid();
    Base::step(valid, counts, table, ready || fault == 4);
    if (fault == 2 && given && !Base::valid()) Base::step(false, counts, table, false);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc exaq_row " + std::to_string(NG_BITS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::ExaqRowUnit<NG_BITS, NG_COUNT_BITS, Core> model("model");
  Pins pins(both, model);

  std::uint64_t rows = 0, waited = 0, empty = 0;
  bool offered = false, inside = false;  // a row's counts, which stand until they are taken; a row, whose table stands
  const auto stimulate = [&](std::uint64_t i) {
    const auto& traffic = traffic_at(i, 2000);
    if (!offered) {
      std::array<std::uint32_t, codes> counts;
      const unsigned scale = bench.rng().chance(0.2) ? 0 : bench.rng().below(NG_COUNT_BITS + 1);
      for (auto& count : counts) count = static_cast<std::uint32_t>(bench.rng().bits(scale));
      std::ranges::sort(counts, std::greater{});
      both.drive(pins.counts_i, narrowgauge::systemc::port_of_fields<NG_COUNT_BITS>(counts));
    }
    if (!offered && !inside) {
      std::array<std::uint16_t, codes> table;
      for (auto& entry : table) entry = static_cast<std::uint16_t>(bench.rng().bits(16) >> bench.rng().below(17));
      if (!bench.rng().chance(0.1)) std::ranges::sort(table);
      both.drive(pins.table_i, narrowgauge::systemc::port_of_fields<16>(table));
    }
    offered = offered || !bench.rng().chance(traffic.bubble);
    const bool ready = !bench.rng().chance(traffic.stall);
    both.drive(pins.valid_i, offered);
    both.drive(pins.ready_i, ready);
    waited += dut->valid_o && !ready;
    empty += dut->valid_o && dut->empty_o;
    if (offered && dut->ready_o) {
      offered = false;
      inside = true;
    } else if (dut->valid_o && ready && dut->last_o) {
      inside = false;
      ++rows;
    }
  };
  const auto compare = [&] {
    if (!dut->rst_ni) offered = inside = false;
    both.same(pins, OnlyWhile(dut->valid_o, pins.probability_o, pins.code_o, pins.last_o, pins.sum_o, pins.empty_o));
  };
  both.run(stimulate, compare, [] {});
  both.covered("a row ended", rows, 5);
  both.covered("a probability waited", waited);
  both.covered("a row was empty", empty, 5);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
