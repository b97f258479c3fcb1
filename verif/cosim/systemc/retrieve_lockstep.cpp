// SPDX-License-Identifier: Apache-2.0
// ng_retrieve and its SystemC module in lock-step. Keys and indices are compared where all places hold a chunk, beside
// valid_o. What says how a stream is cut stays for a while, and changes with a reset. Build parameters: NG_ROWS,
// NG_COLS, NG_STREAM_WIDTH, NG_WIDTH, NG_QUERIES, NG_PANELS, NG_K, NG_INDEX_BITS.
#include <algorithm>

#include "../retrieval/retrieve_stimulus.hpp"
#include "dut_pins.hpp"
#include "systemc/retrieval/retrieve.hpp"

namespace {

using namespace narrowgauge::bench;
using narrowgauge::systemc::Port;

constexpr const char* faults[] = {"a word passes while the scores wait", "the exponent is one more",
                                  "a chunk has a panel less", "the first chunk is left out of the numbers",
                                  "the result does not wait"};

using Base = narrowgauge::systemc::RetrieveCore<NG_ROWS, NG_COLS, NG_STREAM_WIDTH / 32, NG_WIDTH, NG_QUERIES, NG_K>;
struct Core : Base {
  bool ready() const { return Base::ready() || fault == 1; }
  void step(bool valid, const Word& word, narrowgauge::systemc::RetrievalQuery query, bool ready) {
    if (fault == 2) ++query.exponent;
    if (fault == 3 && query.last_panel > 0) --query.last_panel;
    if (fault == 4 && query.last_index > 0) --query.last_index;
    Base::step(valid, word, query, ready || fault == 5);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc retrieve " + std::to_string(NG_ROWS) + " x " + std::to_string(NG_COLS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Retrieve<NG_ROWS, NG_COLS, NG_STREAM_WIDTH, NG_WIDTH, NG_QUERIES, NG_PANELS, NG_K,
                                 NG_INDEX_BITS, Core>
      model("model");
  Pins pins(both, model);

  std::uint64_t streams = 0, waited = 0, full = 0;
  unsigned exponent = 127;
  bool fresh = true;  // since the reset
  const auto small = [&](auto& pin, unsigned most) {
    both.drive(pin, static_cast<std::remove_cvref_t<decltype(pin.signal.read())>>(bench.rng().below(most)));
  };
  const auto stimulate = [&](std::uint64_t i) {
    if (fresh) {
      fresh = false;
      exponent = 1 + bench.rng().below(255);
      small(pins.last_query_i, std::min(NG_QUERIES, 7));
      small(pins.last_panel_i, std::min(NG_PANELS, 3));
      small(pins.last_index_i, std::min(1 << std::min(NG_INDEX_BITS, 10), 2 * NG_K + 2));
      both.drive(pins.exponent_i, static_cast<Port<8>>(exponent));
    }
    both.drive(pins, traffic_at(i));
    narrowgauge::systemc::PortWords<NG_STREAM_WIDTH> words;
    for (std::uint32_t& word : words) word = std::bit_cast<std::uint32_t>(any_product(bench.rng(), exponent, NG_WIDTH));
    both.drive(pins.data_i, narrowgauge::systemc::port_of<NG_STREAM_WIDTH>(words));
    streams += dut->valid_o && dut->ready_i;
    waited += dut->valid_i && !dut->ready_o;
    full += dut->valid_o && get_bits(dut->found_o, NG_K - 1, 1) != 0;
  };
  const auto compare = [&] {
    if (!dut->rst_ni) fresh = true;
    both.same(pins, OnlyWhile(dut->valid_o, pins.found_o),
              OnlyWhile(dut->valid_o && get_bits(dut->found_o, NG_K - 1, 1) != 0, pins.keys_o, pins.indices_o));
  };
  both.run(stimulate, compare, [] {});
  both.covered("a stream ended", streams);
  both.covered("a word waited", waited);
  both.covered("all places were taken", full);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
