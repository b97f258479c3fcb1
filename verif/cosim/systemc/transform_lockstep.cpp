// SPDX-License-Identifier: Apache-2.0
// ng_transform and its SystemC module in lock-step. Build parameters: NG_SIZE, NG_IN_WIDTH, NG_OUT_WIDTH,
// NG_MATRIX_WIDTH.
#include "../codec/transform_stimulus.hpp"
#include "dut_pins.hpp"
#include "systemc/codec/transform.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr TransformWidths widths{NG_SIZE, NG_IN_WIDTH, NG_OUT_WIDTH, NG_MATRIX_WIDTH};
constexpr const char* faults[] = {"a result comes one cycle late", "the lowest bit of a result is 0",
                                  "a value is taken without ready", "last_o is always low"};

struct Core : narrowgauge::systemc::TransformCore<NG_SIZE> {
  using Base = narrowgauge::systemc::TransformCore<NG_SIZE>;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  Result result() const {
    Result result = Base::result();
    if (fault == 2) result.value &= ~1;
    if (fault == 4) result.last = false;
    return result;
  }
  void step(const Value* value, bool ready) {
    seen_ = Base::valid();
    if (fault == 3 && value && !Base::ready()) Base::step(nullptr, true);
    Base::step(value, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc transform " + std::to_string(widths.size));
  auto& [bench, dut, clk, rst_n] = both;
  using Model = narrowgauge::systemc::Transform<NG_SIZE, NG_IN_WIDTH, NG_OUT_WIDTH, NG_MATRIX_WIDTH, Core>;
  Model model("model");
  Pins pins(both, model);

  // Tables change after a reset, which ends the vectors under way.
  std::vector<TransformWrite> writes;
  std::uint64_t refused = 0, waited = 0, ended = 0, since = 0;
  bool fresh = true;
  const auto stimulate = [&](std::uint64_t i) {
    if (fresh) {
      writes = table_writes(random_transform(bench.rng(), widths), widths);
      since = i;
      fresh = false;
    }
    const std::uint64_t at = i - since;
    const bool load = at < writes.size();
    both.drive(pins.table_we_i, load);
    if (load) {
      both.drive(pins.table_kind_i, static_cast<Port<2>>(writes[at].kind));
      both.drive(pins.table_row_i, static_cast<Port<Model::index_width>>(writes[at].row));
      both.drive(pins.table_column_i, static_cast<Port<Model::index_width>>(writes[at].column));
      both.drive(pins.table_data_i, static_cast<Port<Model::table_width>>(writes[at].data));
    }
    both.drive(pins, traffic_at(i, 300));
    if (at <= writes.size()) both.drive(pins.valid_i, false);
    both.drive(pins.data_i,
               static_cast<Port<NG_IN_WIDTH>>(static_cast<std::uint64_t>(random_signed(bench.rng(), NG_IN_WIDTH)) &
                                              ((1U << NG_IN_WIDTH) - 1)));
    both.drive(pins.last_i, bench.rng().chance(0.3));
    both.settle();
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    fresh |= !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->valid_o, pins.data_o, pins.last_o));
  };
  both.run(stimulate, compare, [&] {
    refused += !dut->ready_o;
    ended += dut->valid_o && dut->last_o;
  });
  both.covered("no value was taken", refused);
  both.covered("a result waited", waited);
  both.covered("a tile ended", ended);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
