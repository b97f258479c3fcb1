// SPDX-License-Identifier: Apache-2.0
// ng_topk and its SystemC module in lock-step. Keys and indices are compared where all places hold a candidate, beside
// valid_o. Build parameters: NG_K, NG_KEY_BITS, NG_INDEX_BITS.
#include "dut_pins.hpp"
#include "systemc/retrieval/topk.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a candidate passes while a result waits", "a later one goes before its equals",
                                  "an index loses its lowest bit", "the last candidate is left out",
                                  "the result does not wait"};

using Base = narrowgauge::systemc::TopkCore<NG_K>;
struct Core : Base {
  bool ready() const { return Base::ready() || fault == 1; }
  void step(bool valid, narrowgauge::Candidate candidate, bool last, bool ready) {
    if (fault == 2 && !best().empty() && candidate.key == best().front().key) ++candidate.key;
    if (fault == 3) candidate.index &= ~std::uint64_t{1};
    if (fault == 4 && last) candidate.key = 0;
    Base::step(valid, candidate, last, ready || fault == 5);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc topk " + std::to_string(NG_K));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Topk<NG_K, NG_KEY_BITS, NG_INDEX_BITS, Core> model("model");
  Pins pins(both, model);

  std::uint64_t streams = 0, waited = 0, full = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive(pins.last_i, bench.rng().chance(i / 1000 % 2 ? 0.5 : 0.5 / NG_K));
    both.drive_random(pins.key_i);
    if (bench.rng().chance(0.5)) {
      both.drive(pins.key_i, static_cast<narrowgauge::systemc::Port<NG_KEY_BITS>>(bench.rng().bits(2)));
    }
    both.drive_random(pins.index_i);
    streams += dut->valid_o && dut->ready_i;
    waited += !dut->ready_o;
    full += dut->valid_o && get_bits(dut->found_o, NG_K - 1, 1) != 0;
  };
  const auto compare = [&] {
    both.same(pins, OnlyWhile(dut->valid_o, pins.found_o),
              OnlyWhile(dut->valid_o && get_bits(dut->found_o, NG_K - 1, 1) != 0, pins.keys_o, pins.indices_o));
  };
  both.run(stimulate, compare, [] {});
  both.covered("a stream ended", streams);
  both.covered("a candidate waited", waited);
  both.covered("all places were taken", full);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
