// SPDX-License-Identifier: Apache-2.0
// ng_zero_runs and its SystemC module in lock-step.
#include <deque>

#include "../codec/zero_stimulus.hpp"
#include "dut_pins.hpp"
#include "systemc/codec/zero_runs.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a byte comes one cycle late", "a value is taken without ready",
                                  "the byte of a run of 4 is not loaded", "the last byte of a tile goes unnoticed"};

struct Core : systemc::ZeroRunsCore {
  using Base = systemc::ZeroRunsCore;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  Value byte() const {
    Value byte = Base::byte();
    if (fault == 4) byte.last = false;
    return byte;
  }
  void load(unsigned address, std::uint8_t data) { Base::load(address, fault == 3 && address == 2 ? 0 : data); }
  void step(const Value* value, bool ready) {
    seen_ = Base::valid();
    if (fault == 2 && value && !Base::ready()) Base::step(nullptr, true);
    Base::step(value, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc zero_runs");
  auto& [bench, dut, clk, rst_n] = both;
  systemc::ZeroRuns<Core> model("model");
  Pins pins(both, model);

  // Tables change after a reset, which ends the tile under way.
  std::deque<std::array<std::uint32_t, 2>> writes;
  std::deque<std::uint8_t> values;
  std::uint64_t waited = 0, refused = 0, ended = 0, runs = 0, since = 0;
  bool fresh = true;
  ZeroRunSlots slots;
  const auto stimulate = [&](std::uint64_t i) {
    if (fresh) {
      slots = random_slots(bench.rng(), bench.rng().below(zero_run_sizes + 1));
      const auto all = table_writes(slots);
      writes.assign(all.begin(), all.end());
      values.clear();
      fresh = false;
      since = i;
    }
    both.drive(pins.table_we_i, !writes.empty());
    if (!writes.empty()) {
      both.drive(pins.table_addr_i, writes.front()[0]);
      both.drive(pins.table_data_i, writes.front()[1]);
      writes.pop_front();
    }
    if (values.empty()) {
      const auto more = random_runs(bench.rng(), 1 + bench.rng().below(500));
      values.assign(more.begin(), more.end());
    }
    both.drive(pins, traffic_at(i, 200));
    if (i - since <= 8) both.drive(pins.valid_i, false);
    both.drive(pins.data_i, static_cast<Port<8>>(values.front()));
    both.drive(pins.last_i, values.size() == 1);
    both.settle();
    if (dut->valid_i && dut->ready_o) values.pop_front();
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    fresh |= !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->valid_o, pins.data_o, pins.last_o));
  };
  both.run(stimulate, compare, [&] {
    refused += !dut->ready_o;
    ended += dut->valid_o && dut->last_o;
    runs += dut->valid_o && std::find(slots.begin(), slots.end(), dut->data_o) != slots.end();
  });
  both.covered("a value was not taken", refused);
  both.covered("a byte waited", waited);
  both.covered("a tile ended", ended);
  both.covered("a run was shortened", runs, 100);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
