// SPDX-License-Identifier: Apache-2.0
// ng_tile_requantize and its SystemC module in lock-step. Build parameters: NG_ROWS, NG_COLS, NG_LANES, NG_FORMAT_SET,
// NG_STREAM_WIDTH, NG_QUANTIZE_CUTS.
#include "dut_pins.hpp"
#include "systemc/tile/tile_requantize.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int rows = NG_ROWS, cols = NG_COLS, width = NG_STREAM_WIDTH;
constexpr const char* faults[] = {"an image comes one cycle late", "the end of a packet is not seen",
                                  "the largest magnitude forgets nothing", "a NaN counts as a number",
                                  "a beat is taken without ready"};
using Base = narrowgauge::systemc::TileRequantizeCore<rows, cols, NG_LANES, NG_FORMAT_SET, width, NG_QUANTIZE_CUTS>;
constexpr int numbers = static_cast<int>(Base::numbers);

struct Core : Base {
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  void step(const Beat* beat, bool ready, bool clear_amax) {
    seen_ = Base::valid();
    if (fault == 5 && beat && !Base::ready()) Base::step(nullptr, true, false);
    if (!beat) return Base::step(nullptr, ready, clear_amax && fault != 3);
    Beat changed = *beat;
    if (fault == 2) changed.last = false;
    if (fault == 4)
      for (auto& code : changed.data)
        if ((code & 0x7F80) == 0x7F80) code = 0;
    Base::step(&changed, ready, clear_amax && fault != 3);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(
      argc, argv,
      "systemc tile_requantize " + std::to_string(rows) + " x " + std::to_string(cols) + " x " + std::to_string(width));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::TileRequantize<rows, cols, NG_LANES, NG_FORMAT_SET, width, NG_QUANTIZE_CUTS, Core> model(
      "model");
  Pins pins(both, model);

  // end_i is that of a tile: it stays until the tile's last beat is taken.
  constexpr std::uint64_t beats = std::uint64_t{rows} * cols / numbers;
  std::uint64_t taken = 0, refused = 0, waited = 0;
  bool end = false;
  std::uint32_t format = 0;  // a set of one
  const auto stimulate = [&](std::uint64_t i) {
    if (taken % beats == 0) {
      end = bench.rng().chance(0.3);
      do format = 1U << bench.rng().below(4);
      while ((format & NG_FORMAT_SET) == 0);
    }
    both.drive(pins, traffic_at(i, 40 * beats));
    taken += dut->valid_i && dut->ready_o;
    narrowgauge::systemc::PortWords<numbers * 16> words{};
    for (int n = 0; n < numbers; ++n) {
      auto code = static_cast<std::uint16_t>(bench.rng().bits(1) << 15 | (0x3C00 + bench.rng().bits(10)));
      if (bench.rng().chance(0.1)) code &= 0x8000;
      if (bench.rng().chance(0.003)) code |= 0x7F80;
      words[static_cast<std::size_t>(n / 2)] |= std::uint32_t{code} << n % 2 * 16;
    }
    both.drive(pins.data_i, narrowgauge::systemc::port_of<numbers * 16>(words));
    both.drive(pins.format_i, format);
    // FP8 takes powers of two.
    std::uint32_t scale = 0x3A000000U + static_cast<std::uint32_t>(bench.rng().bits(26));
    if ((format & 6) != 0 && bench.rng().chance(0.9)) scale &= 0xFF800000U;
    if (bench.rng().chance(0.02))
      scale = bench.rng().chance(0.5) ? 0U : static_cast<std::uint32_t>(bench.rng().bits(32));
    both.drive(pins.tensor_scale_i, scale);
    both.drive(pins.end_i, end);
    both.drive(pins.last_i, bench.rng().chance(0.3));
    both.drive(pins.irq_i, bench.rng().chance(0.5));
    both.drive(pins.clear_amax_i, bench.rng().chance(0.01));
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    if (!dut->rst_ni) taken = 0;
    both.same(pins, OnlyWhile(dut->valid_o, pins.data_o, pins.last_o, pins.irq_o));
  };
  both.run(stimulate, compare, [&] { refused += !dut->ready_o; });
  both.covered("two images waited", refused);
  both.covered("a word waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
