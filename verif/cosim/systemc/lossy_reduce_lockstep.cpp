// SPDX-License-Identifier: Apache-2.0
// ng_lossy_reduce and its SystemC module in lock-step; the mean and what is beside it are compared beside valid_o.
// Build parameters: NG_WORKERS, NG_VALUES, NG_INDICES.
#include "dut_pins.hpp"
#include "systemc/reduce/lossy_reduce.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a beat is taken while means are made", "a copy is added", "an index is not closed",
                                  "a value enters with another sign", "a mean is a cycle early"};

using Base = narrowgauge::systemc::LossyReduceCore<NG_WORKERS, NG_VALUES, NG_INDICES>;
struct Core : Base {
  bool ready() const { return Base::ready() || fault == 1; }
  void step(bool valid, std::size_t worker, std::size_t index, bool close, std::uint16_t value, bool ready) {
    if (fault == 2) worker = (worker + ++packets_) % NG_WORKERS;
    if (fault == 3) close = false;
    if (fault == 4) value ^= 0x8000;
    Base::step(valid, worker, index, close, value, ready);
    if (fault == 5 && !Base::ready()) Base::step(false, 0, 0, false, 0, false);
  }
  std::size_t packets_ = 0;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc lossy_reduce " + std::to_string(NG_WORKERS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::LossyReduce<NG_WORKERS, NG_VALUES, NG_INDICES, Core> model("model");
  Pins pins(both, model);

  std::uint64_t means = 0, waited = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive(pins.worker_i, bench.rng().below(NG_WORKERS));
    both.drive(pins.index_i, bench.rng().below(NG_INDICES));
    both.drive(pins.close_i, bench.rng().chance(0.2));
    const std::uint64_t near = bench.rng().bits(16), few = 0x3F00 + (near & 0x81FF);
    both.drive(pins.value_i, static_cast<std::uint32_t>(i / 1000 % 2 ? near : few));
    means += dut->valid_o && dut->ready_i;
    waited += !dut->ready_o;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.mean_o, pins.count_o, pins.last_o)); };
  both.run(stimulate, compare, [] {});
  both.covered("a mean left", means);
  both.covered("a beat waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
