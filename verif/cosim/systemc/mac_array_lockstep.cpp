// SPDX-License-Identifier: Apache-2.0
// ng_mac_array and its SystemC module in lock-step. The beats need not form jobs: first and last come at random, jobs
// grow beyond MaxBeats and wrap, formats outside the set are asked for. Build parameters: NG_ROWS, NG_COLS, NG_LANES,
// NG_FORMAT_SET, NG_MAX_BEATS, NG_CELL_CUTS, NG_CONVERT_CUTS, NG_SPARSE, NG_MX.
#include "dut_pins.hpp"
#include "systemc/mac/mac_array.hpp"

namespace {

using namespace narrowgauge::bench;
using narrowgauge::systemc::MacArrayBeat, narrowgauge::systemc::MacArrayCore, narrowgauge::systemc::MacArrayParams;

constexpr MacArrayParams params{.rows = NG_ROWS,
                                .cols = NG_COLS,
                                .lanes = NG_LANES,
                                .format_set = NG_FORMAT_SET,
                                .max_beats = NG_MAX_BEATS,
                                .cell_cuts = NG_CELL_CUTS,
                                .convert_cuts = NG_CONVERT_CUTS,
                                .sparse = NG_SPARSE != 0,
                                .mx = NG_MX != 0};
constexpr int a_width = params.rows * params.lanes * params.elem_width();
constexpr int b_width = params.cols * params.b_lanes() * params.elem_width();
constexpr int a_scale_width = params.rows * params.a_blocks() * params.a_block_bytes() * 8;
constexpr int b_scale_width = params.cols * params.blocks() * 8;

constexpr bool has_specials = params.has_scale() || params.has_fp8() || params.sparse;  // LUQ's sums are finite
constexpr const char* faults[] = {"results come one cycle late",
                                  "ready ignores waiting results",
                                  "last is dropped",
                                  "an idle column is computed",
                                  "first is ignored once in a hundred beats",
                                  "the lowest bit of one result is wrong once in a thousand",
                                  has_specials ? "NaN and infinities are dropped" : nullptr,
                                  params.sparse ? "illegal metadata raise no error" : nullptr};

struct Core : MacArrayCore<params> {
  using Base = MacArrayCore<params>;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  bool ready() const { return Base::ready() || fault == 2; }
  bool last() const { return Base::last() && fault != 3; }
  bool error() const { return Base::error() && fault != 8; }
  auto data() const {
    auto data = Base::data();
    if (fault == 7 && (data[0] & 0x7F800000) == 0x7F800000) data[0] = 0;
    if (fault == 6 && count_ % 1000 == 999) data.back() ^= 1;
    return data;
  }
  void step(const MacArrayBeat* beat, bool ready) {
    seen_ = Base::valid();
    count_ += beat || Base::valid();
    if (beat && fault == 4) {
      MacArrayBeat all = *beat;
      all.col_en |= 1;
      Base::step(&all, ready);
    } else if (beat && fault == 5 && count_ % 100 == 0) {
      MacArrayBeat more = *beat;
      more.first = false;
      Base::step(&more, ready);
    } else {
      Base::step(beat, ready);
    }
  }
  bool seen_ = false;
  std::uint64_t count_ = 0;
};

enum class Style { any, finite, extreme, rare_special, zero };

template <int width>
PortWords<width> operands(Rng& rng, Style style, bool negative) {
  PortWords<width> words;
  for (auto& word : words) {
    word = 0;
    for (int i = 0; i < 4; ++i) {
      auto byte = static_cast<std::uint32_t>(rng.bits(8));
      // Finite in E4M3 and E5M2.
      if (style == Style::finite || (style == Style::rare_special && rng.chance(0.98)))
        byte ^= (byte & 0x7C) == 0x7C ? 0x40 : 0;
      if (style == Style::extreme) byte = params.elem_width() == 4 ? 0x77 : params.has_e5m2() ? 0x7B : 0x7E;
      if (style == Style::zero) byte = 0;
      if ((style == Style::extreme || style == Style::zero) && negative) byte |= params.elem_width() == 4 ? 0x88 : 0x80;
      word |= byte << 8 * i;
    }
  }
  return words;
}

/// Two nibbles of metadata, seldom illegal ones.
std::uint32_t metadata(Rng& rng, Style style) {
  for (;;) {
    const auto byte = static_cast<std::uint32_t>(rng.bits(8));
    const bool legal = narrowgauge::is_metadata(byte & 15) && narrowgauge::is_metadata(byte >> 4);
    if (legal || (style == Style::rare_special && rng.chance(0.01))) return byte;
  }
}

/// `pitch`: bytes of a block: its scale, if there is one, then its metadata.
template <int width>
PortWords<width> scales(Rng& rng, Style style, int pitch) {
  PortWords<width> words;
  int at = 0;
  for (auto& word : words) {
    word = 0;
    for (int i = 0; i < 4; ++i) {
      if (at++ % pitch >= pitch % 4) {
        word |= metadata(rng, style) << 8 * i;
        continue;
      }
      auto byte = static_cast<std::uint32_t>(rng.bits(8));  // the top bit does not matter
      if (style == Style::extreme) byte = 0x7E;
      const bool nan_allowed = style == Style::any || (style == Style::rare_special && rng.chance(0.5));
      if ((byte & 0x7F) == 0x7F && !nan_allowed) byte ^= 1;
      word |= byte << 8 * i;
    }
  }
  return words;
}

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv,
                      "systemc mac_array " + std::to_string(params.rows) + "x" + std::to_string(params.cols) + "x" +
                          std::to_string(params.lanes) + " formats " + std::to_string(params.format_set));
  auto& [bench, dut, clk, rst_n] = both;
  Rng& rng = bench.rng();
  narrowgauge::systemc::MacArray<params, Core> model("model");
  Pins pins(both, model);

  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.last_o, pins.data_o)); };

  std::uint64_t refused = 0, stalled = 0, rows_out = 0, numbers = 0, specials = 0, errors = 0, resets = 0;
  Style style = Style::any;
  bool negative = false, waiting = false;
  double disabled = 0, last_chance = 0.5;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (both.maybe_reset(i, compare)) {
      waiting = false;
      ++resets;
    }
    const Traffic& traffic = traffic_at(i, 200);
    if (i % 200 == 0) {
      // Short jobs, jobs about as long as the rows take to leave, long ones.
      constexpr double chances[] = {0.9, 1.0 / (params.rows + 1), 0.02};
      last_chance = chances[rng.below(3)];
    }
    if (rng.chance(0.1)) {
      constexpr Style styles[] = {Style::any,    Style::finite,  Style::finite,       Style::finite,
                                  Style::finite, Style::extreme, Style::rare_special, Style::zero};
      style = styles[rng.below(std::size(styles))];
      negative = rng.chance(0.5);
      disabled = rng.chance(0.6) ? 0 : rng.chance(0.7) ? 0.3 : 1;
    }
    if (!waiting) {  // a beat that was refused stays
      both.drive(pins.valid_i, !rng.chance(traffic.bubble));
      both.drive(pins.last_i, rng.chance(last_chance));
      both.drive(pins.first_i, rng.chance(last_chance));
      // Mostly formats of the set, alike on both sides; a_fmt_i decides for both whether it is NVFP4 or LUQ.
      unsigned fmt = rng.below(params.has_luq() ? 4 : 3);
      if (rng.chance(0.1)) fmt = static_cast<unsigned>(rng.bits(2));
      both.drive(pins.a_fmt_i, fmt);
      both.drive(pins.b_fmt_i, rng.chance(0.7) ? fmt : static_cast<unsigned>(rng.bits(2)));
      std::uint64_t row_en = 0, col_en = 0;
      for (int r = 0; r < params.rows; ++r) row_en |= std::uint64_t{!rng.chance(disabled)} << r;
      for (int c = 0; c < params.cols; ++c) col_en |= std::uint64_t{!rng.chance(disabled)} << c;
      both.drive(pins.row_en_i, static_cast<Port<params.rows>>(row_en));
      both.drive(pins.col_en_i, static_cast<Port<params.cols>>(col_en));
      using narrowgauge::systemc::port_of;
      both.drive(pins.a_i, port_of<a_width>(operands<a_width>(rng, style, negative)));
      both.drive(pins.b_i, port_of<b_width>(operands<b_width>(rng, style, false)));
      both.drive(pins.a_scale_i, port_of<a_scale_width>(scales<a_scale_width>(rng, style, params.a_block_bytes())));
      both.drive(pins.b_scale_i, port_of<b_scale_width>(scales<b_scale_width>(rng, style, 1)));
    }
    both.drive(pins.ready_i, !rng.chance(traffic.stall));
    both.settle();
    compare();
    waiting = dut->valid_i && !dut->ready_o;
    refused += waiting;
    stalled += dut->valid_o && !dut->ready_i;
    if (dut->valid_o && dut->ready_i) {
      ++rows_out;
      const std::uint64_t word = get_bits(dut->data_o, 0, 31);
      (word >= 0x7F800000 ? specials : numbers) += word != 0;
    }
    both.tick();
    compare();
    errors += dut->error_o;
    bench.vector();
  }
  both.covered("a beat was refused", refused);
  both.covered("results were stalled", stalled, 100);
  both.covered("rows of results came out", rows_out, 100);
  both.covered("finite results other than zero came out", numbers);
  if (has_specials) both.covered("NaN or infinities came out", specials, 5);
  if (params.sparse) both.covered("metadata were illegal", errors, 5);
  both.covered("reset", resets, 2);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) {
  const auto count = std::size(faults) - (has_specials ? 0 : 1) - (params.sparse ? 0 : 1);
  return lockstep_main(argc, argv, {faults, count}, run);
}
