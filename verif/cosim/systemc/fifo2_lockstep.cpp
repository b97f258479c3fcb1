// SPDX-License-Identifier: Apache-2.0
// ng_fifo2 and its SystemC module in lock-step. Build parameter: NG_WIDTH.
#include "Vdut.h"
#include "lockstep.hpp"
#include "systemc/prim/fifo2.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int width = NG_WIDTH;
constexpr const char* faults[] = {"a word comes one cycle late", "one word only", "the order of words is lost"};

struct Core : narrowgauge::systemc::Fifo2Core<Port<width>> {
  using Base = narrowgauge::systemc::Fifo2Core<Port<width>>;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  bool ready() const { return Base::ready() && (fault != 2 || !Base::valid()); }
  const Port<width>& data() const { return fault == 3 && !Base::ready() ? last_ : Base::data(); }
  void step(const Port<width>* data, bool ready) {
    if (data && Base::ready()) last_ = *data;
    const bool shown = Base::valid();
    Base::step(data, ready);
    seen_ = shown;
  }
  bool seen_ = false;
  Port<width> last_{};
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc fifo2 " + std::to_string(width));
  sc_core::sc_signal<bool> valid_i, ready_o, valid_o, ready_i;
  sc_core::sc_signal<Port<width>> data_i, data_o;
  narrowgauge::systemc::Fifo2<width, Core> model("model");
  model.clk_i(both.clk);
  model.rst_ni(both.rst_n);
  model.valid_i(valid_i);
  model.ready_o(ready_o);
  model.data_i(data_i);
  model.valid_o(valid_o);
  model.ready_i(ready_i);
  model.data_o(data_o);

  auto& [bench, dut, clk, rst_n] = both;
  const auto compare = [&] {
    both.same("ready_o", dut->ready_o, ready_o);
    both.same("valid_o", dut->valid_o, valid_o);
    if (dut->valid_o) both.same<width>("data_o", dut->data_o, data_o);
  };
  std::uint64_t full = 0, resets = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (i == 0 || bench.rng().chance(0.002)) {
      both.set_reset(true);
      compare();
      for (std::uint64_t n = bench.rng().bits(2); n > 0; --n) both.tick();
      both.set_reset(false);
      ++resets;
    }
    const Traffic& traffic = traffics[i / 100 % std::size(traffics)];
    PortWords<width> words;
    for (auto& word : words) word = static_cast<std::uint32_t>(bench.rng().bits(32));
    both.drive(dut->valid_i, valid_i, !bench.rng().chance(traffic.bubble));
    both.drive<width>(dut->data_i, data_i, narrowgauge::systemc::port_of<width>(words));
    both.drive(dut->ready_i, ready_i, !bench.rng().chance(traffic.stall));
    both.settle();
    compare();
    full += !dut->ready_o;
    both.tick();
    compare();
    bench.vector();
  }
  both.covered("the queue was full", full);
  both.covered("reset", resets, 2);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
