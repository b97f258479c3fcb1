// SPDX-License-Identifier: Apache-2.0
// ng_row_max and its SystemC module in lock-step. max_o is compared where a key was attended, both outputs beside
// valid_o. Build parameters: NG_WIDTH, NG_TREE_CUTS.
#include "dut_pins.hpp"
#include "systemc/softmax/row_max.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a beat passes while a result waits", "a new row keeps the maximum",
                                  "lane 15 is always attended", "the result is a cycle early",
                                  "a key of 0 counts as none"};

using Base = narrowgauge::systemc::RowMaxCore<NG_TREE_CUTS>;
struct Core : Base {
  bool ready() const { return Base::ready() || fault == 1; }
  bool any() const { return Base::any() && !(fault == 5 && max() == 0); }
  void step(bool valid, const Keys& keys, std::uint32_t mask, bool first, bool last, bool ready) {
    Base::step(valid, keys, fault == 3 ? mask | 0x8000 : mask, first && fault != 2, last, ready);
    if (fault == 4) Base::step(false, keys, 0, false, false, false);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc row_max " + std::to_string(NG_WIDTH));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::RowMax<NG_WIDTH, NG_TREE_CUTS, Core> model("model");
  Pins pins(both, model);

  std::uint64_t rows = 0, waited = 0, empty = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive(pins.first_i, bench.rng().chance(0.3));
    both.drive(pins.last_i, bench.rng().chance(i / 1000 % 2 ? 0.8 : 0.3));
    if (bench.rng().chance(0.2)) {  // keys of 0, but for a bit somewhere
      std::array<std::uint32_t, 16> keys{};
      keys[bench.rng().below(16)] = static_cast<std::uint32_t>(bench.rng().bits(1) << bench.rng().below(NG_WIDTH));
      both.drive(pins.keys_i, narrowgauge::systemc::port_of_fields<NG_WIDTH>(keys));
    } else {
      both.drive_random(pins.keys_i);
    }
    const std::uint64_t mask = bench.rng().bits(16);
    both.drive(pins.mask_i, static_cast<std::uint32_t>(bench.rng().chance(0.5)
                                                           ? mask & bench.rng().bits(16) & bench.rng().bits(16) & 0x7FFF
                                                           : mask));
    rows += dut->valid_o && dut->ready_i;
    waited += !dut->ready_o;
    empty += dut->valid_o && !dut->any_o;
  };
  const auto compare = [&] {
    both.same(pins, OnlyWhile(dut->valid_o, pins.any_o), OnlyWhile(dut->valid_o && dut->any_o, pins.max_o));
  };
  both.run(stimulate, compare, [] {});
  both.covered("a row ended", rows);
  both.covered("a beat waited", waited);
  both.covered("a row had nothing attended", empty);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
