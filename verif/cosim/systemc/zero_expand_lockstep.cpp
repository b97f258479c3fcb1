// SPDX-License-Identifier: Apache-2.0
// ng_zero_expand and its SystemC module in lock-step: tiles of any bytes.
#include <deque>

#include "../codec/zero_stimulus.hpp"
#include "dut_pins.hpp"
#include "systemc/codec/zero_expand.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a value comes one cycle late", "a byte is taken without ready",
                                  "the byte of a run of 4 is not loaded", "a fault goes unnoticed"};

struct Core : systemc::ZeroExpandCore {
  using Base = systemc::ZeroExpandCore;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  Beat beat() const {
    Beat beat = Base::beat();
    if (fault == 4) beat.fault = false;
    return beat;
  }
  void load(unsigned address, std::uint8_t data) { Base::load(address, fault == 3 && address == 2 ? 0 : data); }
  void step(const Beat* beat, bool ready) {
    seen_ = Base::valid();
    if (fault == 2 && beat && !Base::ready()) Base::step(nullptr, true);
    Base::step(beat, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc zero_expand");
  auto& [bench, dut, clk, rst_n] = both;
  systemc::ZeroExpand<Core> model("model");
  Pins pins(both, model);

  // Tables change after a reset, which ends the tile under way.
  std::deque<std::array<std::uint32_t, 2>> writes;
  std::deque<systemc::ZeroExpandCore::Beat> beats;
  std::uint64_t waited = 0, refused = 0, broken = 0, values = 0, since = 0;
  bool fresh = true;
  ZeroRunSlots slots;
  const auto next_tile = [&] {
    for (unsigned count = 1 + bench.rng().below(20); count > 0; --count) {
      const bool run = !slots.empty() && bench.rng().chance(0.3);
      beats.push_back({run ? slots[bench.rng().below(static_cast<std::uint32_t>(slots.size()))]
                           : static_cast<std::uint8_t>(bench.rng().bits(8))});
    }
    const unsigned kind = bench.rng().below(4);
    if (kind == 0) beats.push_back({0, true, true, true});
    beats.back().last = true;
    beats.back().fault = kind < 2;
  };
  const auto stimulate = [&](std::uint64_t i) {
    if (fresh) {
      slots = random_slots(bench.rng(), bench.rng().below(zero_run_sizes + 1));
      const auto all = table_writes(slots);
      writes.assign(all.begin(), all.end());
      beats.clear();
      fresh = false;
      since = i;
    }
    both.drive(pins.table_we_i, !writes.empty());
    if (!writes.empty()) {
      both.drive(pins.table_addr_i, writes.front()[0]);
      both.drive(pins.table_data_i, writes.front()[1]);
      writes.pop_front();
    }
    if (beats.empty()) next_tile();
    both.drive(pins, traffic_at(i, 200));
    if (i - since <= 8) both.drive(pins.valid_i, false);
    both.drive(pins.data_i, static_cast<Port<8>>(beats.front().value));
    both.drive(pins.last_i, beats.front().last);
    both.drive(pins.fault_i, beats.front().fault);
    both.drive(pins.void_i, beats.front().empty);
    both.settle();
    if (dut->valid_i && dut->ready_o) beats.pop_front();
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    fresh |= !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->valid_o, pins.data_o, pins.last_o, pins.fault_o, pins.void_o));
  };
  both.run(stimulate, compare, [&] {
    refused += !dut->ready_o;
    broken += dut->valid_o && dut->fault_o;
    values += dut->valid_o && !dut->void_o;
  });
  both.covered("a byte was not taken", refused);
  both.covered("a value waited", waited);
  both.covered("a tile was broken", broken);
  both.covered("a value came", values, 200);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
