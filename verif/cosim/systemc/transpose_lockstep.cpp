// SPDX-License-Identifier: Apache-2.0
// ng_transpose and its SystemC module in lock-step. Build parameters: NG_SIZE, NG_WIDTH.
#include "dut_pins.hpp"
#include "systemc/quant/transpose.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int size = NG_SIZE, width = NG_WIDTH;
constexpr const char* faults[] = {"a column comes one cycle late", "a block leaves as it came",
                                  "the second bank is never filled", "a row is taken without ready"};

struct Core : narrowgauge::systemc::TransposeCore<narrowgauge::systemc::Field<NG_WIDTH>, NG_SIZE> {
  using Base = narrowgauge::systemc::TransposeCore<narrowgauge::systemc::Field<NG_WIDTH>, NG_SIZE>;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  bool ready() const { return Base::ready() && (fault != 3 || !Base::valid()); }
  const Line& column() const { return fault == 2 ? first_row_ : Base::column(); }
  void step(const Line* row, bool ready) {
    seen_ = Base::valid();
    if (row && fault == 2) first_row_ = *row;
    if (fault == 4 && row && !Base::ready()) Base::step(nullptr, true);
    Base::step(row, ready);
  }
  bool seen_ = false;
  Line first_row_{};
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc transpose " + std::to_string(size) + " x " + std::to_string(width));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Transpose<size, width, Core> model("model");
  Pins pins(both, model);

  std::uint64_t refused = 0, waited = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i, 20 * size));
    both.drive_random(pins.data_i);
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.data_o)); };
  both.run(stimulate, compare, [&] { refused += !dut->ready_o; });
  both.covered("both banks were full", refused);
  both.covered("a column waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
