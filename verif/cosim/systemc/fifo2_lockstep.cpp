// SPDX-License-Identifier: Apache-2.0
// ng_fifo2 and its SystemC module in lock-step. Build parameter: NG_WIDTH.
#include "dut_pins.hpp"
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
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Fifo2<width, Core> model("model");
  Pins pins(both, model);

  std::uint64_t full = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i));
    both.drive_random(pins.data_i);
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.data_o)); };
  both.run(stimulate, compare, [&] { full += !dut->ready_o; });
  both.covered("the queue was full", full);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
