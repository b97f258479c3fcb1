// SPDX-License-Identifier: Apache-2.0
// ng_maxsim and its SystemC module in lock-step; the score is compared beside valid_o. Each query's first product is
// marked, so that no maximum is read that was not written. Build parameters: NG_WIDTH, NG_QUERIES.
#include <array>

#include "dut_pins.hpp"
#include "systemc/retrieval/maxsim.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a product passes while a score waits", "a query's first product competes",
                                  "the last query is the first one", "the result is a cycle early",
                                  "the score is one too low"};

using Base = narrowgauge::systemc::MaxsimCore<NG_QUERIES>;
struct Core : Base {
  bool ready() const { return Base::ready() || fault == 1; }
  __int128 score() const { return Base::score() - (fault == 5); }
  void step(bool valid, Product product, bool ready) {
    if (fault == 2) product.first = false;
    if (fault == 3 && product.query == NG_QUERIES - 1) product.query = 0;
    Base::step(valid, product, ready);
    if (fault == 4) Base::step(false, product, false);
  }
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc maxsim " + std::to_string(NG_WIDTH));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Maxsim<NG_WIDTH, NG_QUERIES, Core> model("model");
  Pins pins(both, model);

  std::array<bool, NG_QUERIES> met{};  // in this chunk
  std::uint64_t chunks = 0, waited = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive_random(pins.dot_i);
    const std::uint32_t query = bench.rng().below(bench.rng().chance(0.5) ? 2 : NG_QUERIES);
    const bool last = bench.rng().chance(i / 1000 % 2 ? 0.7 : 0.05);
    both.drive(pins.query_i,
               static_cast<narrowgauge::systemc::Port<narrowgauge::systemc::Maxsim<NG_WIDTH, NG_QUERIES>::query_width>>(
                   query));
    both.drive(pins.first_i, !met[query]);
    both.drive(pins.last_i, last);
    if (dut->valid_i && dut->ready_o) {  // ready_o depends on no input
      met[query] = true;
      if (last) met.fill(false);
    }
    chunks += dut->valid_o && dut->ready_i;
    waited += !dut->ready_o;
  };
  const auto compare = [&] {
    if (!dut->rst_ni) met.fill(false);
    both.same(pins, OnlyWhile(dut->valid_o, pins.score_o));
  };
  both.run(stimulate, compare, [] {});
  both.covered("a chunk ended", chunks);
  both.covered("a product waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
