// SPDX-License-Identifier: Apache-2.0
// ng_zap_predict against the golden decisions map by map, and cycle for cycle against the cycle model: every weight of
// both filters and every bit of a number alone, sums at the threshold and one beside, hidden numbers at both ends,
// every shift and bit of a bias, all patterns, maps of two and of all columns, of one row, full speed to the cycle;
// then random maps and coefficients under bubbles, stalls and resets. Build parameters: NG_CHANNELS, NG_COLUMNS.
#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/sparse/zap_predict_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned channels = NG_CHANNELS, most_columns = NG_COLUMNS;
constexpr unsigned channel_bits = channels > 1 ? std::bit_width(channels - 1) : 1, column_bits =
                                                                                       std::bit_width(most_columns - 1);

class ZapPredictBench {
 public:
  using Core = systemc::ZapPredictCore<NG_CHANNELS>;
  using Kept = Core::Kept;
  using Place = Core::Place;

  ZapPredictBench(int argc, char** argv)
      : bench_(argc, argv, "zap_predict, " + std::to_string(channels) + " channels"),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    start();
    for (std::size_t i = 0; i < channels; ++i) load(i, coefficients_[i]);  // also what is not kept has known values
    full_speed();
    filters();
    bits();
    thresholds();
    hidden();
    patterns();
    left_behind();
    cycles_ = 0;
    while (!done()) {
      push_ = (1 + bench_.rng().below(4)) / 4.0;
      pop_ = (1 + bench_.rng().below(4)) / 4.0;
      random_coefficients();
      for (int i = 0; i < 4; ++i) exact(false), exact(true);
      random_coefficients();
      for (std::uint32_t maps = bench_.rng().below(4); maps > 0 && !done(); --maps) {
        const Map map = random_map();
        const bool cut = bench_.rng().chance(0.2);
        const std::size_t places = map.rows * map.columns;
        sent_of(map, cut ? bench_.rng().below(static_cast<std::uint32_t>(places)) : places);
        if (cut) {
          start();
          exact(false);  // the memories have what the cut map left
        }
      }
      drain();
    }
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a place left, or none waited"; });
    bench_.expect(kept_ > 10 && skipped_ > 10, [] { return "hardly an output was kept, or none was skipped"; });
    return bench_.finish();
  }

 private:
  struct Map {
    std::size_t rows = 1, columns = 2;
    int kind = 0;
    std::vector<std::int8_t> outputs;  ///< channel by channel
  };

  bool done() const { return cycles_ >= bench_.budget(); }

  void start() {
    dut_->valid_i = dut_->ready_i = dut_->load_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    dut_.reset();
  }

  void drain() {
    for (unsigned i = 0; i < 2 * most_columns + 20; ++i) cycle(nullptr, true);
    bench_.expect(expected_.empty(), [] { return "a place of a map did not leave"; });
  }

  /// While no map is under way; of the unit's channels, and of numbers that are none.
  void load(std::size_t channel, const ZapChannel& coefficients) {
    dut_->load_i = 1;
    set_bits(dut_->channel_i, 0, channel_bits, channel);
    auto& port = dut_->coefficients_i;
    for (unsigned tap = 0; tap < 9; ++tap) {
      set_bits(port, 8 * tap, 8, static_cast<std::uint8_t>(coefficients.first[tap]));
      set_bits(port, 100 + 8 * tap, 8, static_cast<std::uint8_t>(coefficients.second[tap]));
    }
    set_bits(port, 72, 24, static_cast<std::uint32_t>(coefficients.bias));
    set_bits(port, 96, 4, coefficients.shift);
    set_bits(port, 172, 20, static_cast<std::uint32_t>(coefficients.threshold));
    cycle(nullptr, true);
    dut_->load_i = 0;
    core_.load(channel, coefficients);
    if (channel < channels) coefficients_[channel] = coefficients;
    // Without load_i nothing is written.
    bench_.rng().fill(port, 192);
    set_bits(dut_->channel_i, 0, channel_bits, bench_.rng().below(channels));
  }

  void load_all(const ZapChannel& coefficients) {
    drain();
    for (std::size_t i = 0; i < channels; ++i) load(i, coefficients);
  }

  Map map_of(std::size_t rows, std::size_t columns, int kind, auto&& number) {
    Map map{.rows = rows, .columns = columns, .kind = kind, .outputs = {}};
    for (std::size_t i = 0; i < channels * rows * columns; ++i)
      map.outputs.push_back(static_cast<std::int8_t>(number()));
    return map;
  }

  void send(const Map& map) { sent_of(map, map.rows * map.columns); }

  /// The first places of a map.
  void sent_of(const Map& map, std::size_t sent) {
    const std::size_t places = map.rows * map.columns;
    std::vector<std::uint8_t> keep(places * channels, 1);
    if (map.kind < zap_kinds) keep = zap_predict(map.outputs, map.rows, map.columns, coefficients_, map.kind);
    for (std::size_t at = 0; at < places; ++at) {
      Kept& kept = expected_.emplace_back();
      kept.last = at + 1 == places;
      for (std::size_t i = 0; i < channels; ++i) kept.keep |= std::uint64_t{keep[i * places + at]} << i;
    }
    for (std::size_t at = 0; at < sent;) {
      // What stands beside the first place and the last column does not matter elsewhere.
      Place place{.kind = at == 0 ? map.kind : static_cast<int>(bench_.rng().below(16)),
                  .last_column = at == 0 ? map.columns - 1 : bench_.rng().below(most_columns),
                  .last = at % map.columns + 1 == map.columns ? at + 1 == places : bench_.rng().chance(0.5)};
      for (std::size_t i = 0; i < channels; ++i) place.outputs[i] = map.outputs[i * places + at];
      at += cycle(bench_.rng().chance(push_) ? &place : nullptr, bench_.rng().chance(pop_));
    }
  }

  /// A map's first bits leave as documented, and a place passes every cycle.
  void full_speed() {
    const Map map = map_of(3, 4, 11, [] { return 1; });
    for (int i = 0; i < 2; ++i) send(map);
    drain();
    const std::uint64_t before = cycles_, begun = output_.beats();
    send(map);
    while (output_.beats() == begun) cycle(nullptr, true);
    bench_.expect_eq("cycles to a map's first bits", cycles_ - before, std::uint64_t{2 * (4 + 1) + 12},
                     [] { return "at full speed"; });
    drain();
  }

  /// Every weight alone: one output of a map, and all of them.
  void filters() {
    for (unsigned filter = 0; filter < 2; ++filter) {
      for (unsigned tap = 0; tap < 9; ++tap) {
        for (const int weight : {1, -128, 127}) {
          ZapChannel channel{.threshold = weight < 0 ? -1 : 0};
          channel.first[filter == 0 ? tap : 4] =
              static_cast<std::int8_t>(filter == 0 ? std::abs(weight) == 128 ? 127 : weight : 1);
          channel.second[filter == 1 ? tap : 4] = static_cast<std::int8_t>(filter == 1 ? weight : 1);
          load_all(channel);
          for (const std::size_t columns : {2, 3, 5}) {
            std::uint32_t left = bench_.rng().below(9);
            send(map_of(3, std::min<std::size_t>(columns, most_columns), 10, [&] { return left-- % 9 == 0 ? 1 : 0; }));
          }
          send(map_of(2, most_columns, 11, [] { return 127; }));
          send(map_of(2, most_columns, 8, [&] { return static_cast<int>(bench_.rng().below(3)); }));
        }
      }
    }
    drain();
  }

  /// Every bit of a number in every place of either window, under a threshold that it just exceeds.
  void bits() {
    for (unsigned tap = 0; tap < 9; ++tap) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        const int number = 1 << bit;
        ZapChannel first{.threshold = number - 1}, second{.bias = number, .threshold = number - 1};
        first.first[tap] = static_cast<std::int8_t>(bit < 7 ? 1 : -1);
        first.second[4] = second.second[tap] = 1;
        for (const ZapChannel& channel : {first, second}) {
          load_all(channel);
          send(map_of(3, std::min(3U, most_columns), 10, [&] { return bit < 7 ? number : -128; }));
          send(map_of(2, 2, 9, [&] { return bit < 7 ? number : -128; }));
        }
      }
    }
    drain();
  }

  /// Sums of the second filter at the threshold, one above and one below, for thresholds of every binade.
  void thresholds() {
    for (int bit = 0; bit < 18; ++bit) {
      for (const int sign : {1, -1}) {
        for (const int beside : {-1, 0, 1}) {
          // hidden numbers of 255 and 1 times weights: 255 * 9 * 127 is the largest sum
          const int wanted = sign * (1 << bit);
          ZapChannel channel{.bias = 255, .threshold = wanted + beside};
          int rest = wanted;
          for (auto& weight : channel.second) {
            const int part = std::clamp(rest / 255, -128, 127);
            weight = static_cast<std::int8_t>(part);
            rest -= 255 * part;
          }
          load_all(channel);
          send(map_of(3, std::min(3U, most_columns), 4, [] { return 0; }));
        }
      }
    }
    for (const int weight : {-128, 127}) {  // the largest sums of both filters
      for (const int threshold : {-(1 << 19), 255 * 9 * weight - 1, 255 * 9 * weight, (1 << 19) - 1}) {
        ZapChannel channel{.threshold = threshold};
        channel.first.fill(static_cast<std::int8_t>(-weight < 128 ? -weight : 127));
        channel.second.fill(static_cast<std::int8_t>(weight));
        load_all(channel);
        for (const int output : {127, -128}) send(map_of(4, std::min(4U, most_columns), 10, [&] { return output; }));
      }
    }
    drain();
  }

  /// Hidden numbers at and beside 0 and 255 under every shift, and every bit of the bias.
  void hidden() {
    for (unsigned shift = 0; shift < 16; ++shift) {
      for (const int level : {-1, 0, 1, 2, 127, 128, 254, 255, 256, 257, 511, 512}) {
        for (const int beside : {-1, 0}) {
          const int bias = std::clamp(level * (1 << shift) + beside, -(1 << 23), (1 << 23) - 1);
          ZapChannel channel{.bias = bias, .shift = shift, .threshold = std::clamp(level - 1, 0, 254) + beside};
          channel.second[4] = 1;
          load_all(channel);
          send(map_of(1, 2, 3, [&] { return static_cast<int>(bench_.rng().below(2)); }));
        }
      }
    }
    ZapChannel largest{.bias = (1 << 23) - 1};  // with a sum of 1 it takes the bit below the sign, alone
    largest.first.fill(1);
    largest.second[4] = 1;
    for (largest.shift = 0; largest.shift < 16; ++largest.shift) {
      load_all(largest);
      send(map_of(1, 2, 5, [] { return 1; }));
    }
    for (int bit = 0; bit < 24; ++bit) {
      for (const int value : {1 << std::min(bit, 22), -(1 << std::min(bit, 23))}) {
        for (const unsigned shift : {0U, static_cast<unsigned>(std::clamp(bit - 4, 0, 15))}) {
          ZapChannel channel{.bias = value, .shift = shift};
          channel.first[4] = 127;
          channel.second[4] = 1;
          channel.threshold = std::clamp(value >> shift, 0, 255) - 1;
          load_all(channel);
          send(map_of(1, 2, 2, [&] { return -static_cast<int>(bench_.rng().below(2)); }));
        }
      }
    }
    drain();
  }

  void patterns() {
    ZapChannel channel{.threshold = 300};  // what a pattern computes is seen in hidden numbers, and in what is kept
    channel.first.fill(1);
    channel.second.fill(1);
    load_all(channel);
    for (int kind = 0; kind < 16; ++kind)
      for (const std::size_t columns : {2, 3, 6, 7, 11})
        send(map_of(7, std::min<std::size_t>(columns, most_columns), kind,
                    [&] { return static_cast<int>(bench_.rng().below(9)); }));
    drain();
  }

  /// What a map that a reset has cut leaves in the memories is not seen above the next one.
  void left_behind() {
    ZapChannel outputs{.threshold = 6}, numbers{.bias = 255, .threshold = 6 * 255};  // six places at an edge
    outputs.first.fill(1);
    outputs.second[4] = 1;
    numbers.second.fill(1);
    for (const ZapChannel& channel : {outputs, numbers}) {
      for (unsigned more = 0; more < 3; ++more) {
        load_all(channel);
        const Map map = map_of(4, std::min(7U, most_columns), 11, [] { return 1; });
        sent_of(map, 2 * map.columns + 10 + more);
        start();
        send(map_of(3, map.columns, 0, [] { return 1; }));
        send(map_of(3, map.columns, 10, [] { return 1; }));
      }
    }
    drain();
  }

  void random_coefficients() {
    drain();
    const std::uint32_t kind = bench_.rng().below(4);
    for (std::uint32_t i = 0; i < 2 * channels; ++i) {
      ZapChannel channel;
      for (auto* filter : {&channel.first, &channel.second})
        for (auto& weight : *filter) weight = static_cast<std::int8_t>(bench_.rng().bits(8));
      channel.shift = kind == 0 ? bench_.rng().below(16) : 7 + bench_.rng().below(3);
      channel.bias = signed_bits(kind == 0 ? 24 : kind == 1 ? 17 : 14);
      channel.threshold = signed_bits(kind == 1 ? 20 : 14);
      load(bench_.rng().below(1U << channel_bits), channel);
    }
  }

  /// A random map, in which one place that no pattern computes just exceeds the threshold of a channel, or just does
  /// not: by the threshold, or with `by_bias` by the bias of the hidden number that decides alone.
  void exact(bool by_bias) {
    Map map = random_map();
    map.kind = static_cast<int>(bench_.rng().below(11));
    const auto pattern = zap_pattern(map.kind, map.rows, map.columns);
    const std::size_t places = map.rows * map.columns;
    std::size_t place = bench_.rng().below(static_cast<std::uint32_t>(places)), looked = 0;
    for (; looked < places && pattern[place] != 0; ++looked) place = (place + 1) % places;
    if (looked == places) return;  // all are computed
    for (std::size_t i = 0; i < channels; ++i) {
      ZapChannel channel = coefficients_[i];
      if (by_bias) {
        channel.shift = bench_.rng().below(10);
        channel.second = {0, 0, 0, 0, 1, 0, 0, 0, 0};
        channel.threshold = static_cast<std::int32_t>(bench_.rng().below(255));
      }
      const std::span<const std::int8_t> outputs = std::span(map.outputs).subspan(i * places, places);
      std::int32_t& number = by_bias ? channel.bias : channel.threshold;
      const std::int32_t end = by_bias ? 1 << 23 : 1 << 19;
      std::int32_t kept = by_bias ? end : -end, skipped = -kept;  // the number's ends
      while (std::abs(kept - skipped) > 1) {
        number = (kept + skipped) / 2;
        (zap_predict(outputs, map.rows, map.columns, {&channel, 1}, map.kind)[place] ? kept : skipped) = number;
      }
      number = bench_.rng().chance(0.5) ? kept : skipped;
      load(i, channel);
    }
    send(map);
    drain();
  }

  std::int32_t signed_bits(unsigned width) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(bench_.rng().bits(width)) << (32 - width)) >>
           (32 - width);
  }

  Map random_map() {
    const std::size_t columns =
        bench_.rng().chance(0.1) ? most_columns : 2 + bench_.rng().below(std::min(most_columns - 1, 9U));
    const std::uint32_t style = bench_.rng().below(3);
    return map_of(1 + bench_.rng().below(6), columns, static_cast<int>(bench_.rng().below(12)), [&]() -> int {
      const int any = signed_bits(8);
      return style == 0 ? any : style == 1 ? std::max(any, 0) : any < 0 ? 0 : 127;
    });
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    bench_.expect(core_.result().keep == dut_->keep_o && core_.result().last == bool(dut_->last_o),
                  [] { return "the cycle model keeps other outputs"; });
    const Kept* const shown = expected_.shown();
    if (shown == nullptr) return;
    bench_.expect_eq("keep_o", std::uint64_t{dut_->keep_o}, shown->keep, [] { return "of the map"; });
    bench_.expect_eq("last_o", bool(dut_->last_o), shown->last, [] { return "of the map"; });
  }

  /// Whether the place was taken.
  bool cycle(const Place* place, bool ready) {
    dut_->valid_i = place != nullptr;
    dut_->ready_i = ready;
    if (place) {
      dut_->kind_i = static_cast<CData>(place->kind);
      set_bits(dut_->last_column_i, 0, column_bits, place->last_column);
      dut_->last_i = place->last;
      for (unsigned i = 0; i < channels; ++i)
        set_bits(dut_->outputs_i, 8 * i, 8, static_cast<std::uint8_t>(place->outputs[i]));
    } else {
      dut_->kind_i = static_cast<CData>(bench_.rng().bits(4));
      dut_->last_i = bench_.rng().chance(0.5);
      bench_.rng().fill(dut_->outputs_i, 8 * channels);
    }
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->keep_o, dut_->last_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    if (dut_->valid_o && ready && !expected_.empty()) {
      const std::uint64_t keep = expected_.front().keep;
      kept_ += keep != 0;
      skipped_ += keep == 0;
      expected_.pop_front();
    }
    const bool taken = place != nullptr && dut_->ready_o;
    core_.step(place, ready);
    dut_.tick();
    ++cycles_;
    outputs();
    return taken;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  std::array<ZapChannel, channels> coefficients_{};
  Scoreboard<Kept> expected_{bench_, "places"};
  double push_ = 1, pop_ = 1;
  std::uint64_t cycles_ = 0, kept_ = 0, skipped_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return ZapPredictBench(argc, argv).run(); }
