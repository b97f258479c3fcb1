// SPDX-License-Identifier: Apache-2.0
// ng_zap_queue against the golden passes sample by sample, and cycle for cycle against the cycle model: each queue
// alone at every level at a sample's end, columns that fill together, samples without a kept output, full speed to the
// cycle; then random samples with a density of its own for each column under bubbles, stalls and resets. Build
// parameters: NG_COLUMNS, NG_ROWS, NG_DEPTH, NG_PLACE_BITS.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/sparse/zap.hpp"
#include "systemc/sparse/zap_queue_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned columns = NG_COLUMNS, rows = NG_ROWS, depth = NG_DEPTH, place_bits = NG_PLACE_BITS;
constexpr std::uint64_t all = ~std::uint64_t{0} >> (64 - columns);

class ZapQueueBench {
 public:
  using Core = systemc::ZapQueueCore<NG_COLUMNS, NG_ROWS, NG_DEPTH>;
  using Place = Core::Place;
  using Row = Core::Row;

  ZapQueueBench(int argc, char** argv)
      : bench_(argc, argv, "zap_queue, " + std::to_string(columns) + " columns"),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    start();
    full_speed();
    levels();
    together();
    cycles_ = 0;
    while (!done()) {
      push_ = (1 + bench_.rng().below(4)) / 4.0;
      pop_ = (1 + bench_.rng().below(4)) / 4.0;
      for (std::uint32_t samples = bench_.rng().below(6); samples > 0 && !done(); --samples) {
        const std::vector<Place> sample = random_sample();
        const bool cut = bench_.rng().chance(0.1);
        send(sample, cut ? bench_.rng().below(static_cast<std::uint32_t>(sample.size())) : sample.size());
        if (!cut) continue;
        for (std::uint32_t more = bench_.rng().below(2 * rows); more > 0; --more) cycle(nullptr, true);
        start();
      }
      if (bench_.rng().chance(0.5)) drain();
    }
    drain();
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a row left, or none waited"; });
    bench_.expect(refused_ > 10, [] { return "hardly a place was refused"; });
    bench_.expect(samples_ > 10, [] { return "hardly a sample ended"; });
    return bench_.finish();
  }

 private:
  bool done() const { return cycles_ >= bench_.budget(); }

  void start() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    if (bench_.rng().chance(0.5)) dut_.reset();
  }

  void drain() {
    for (unsigned i = 0; i < depth + rows + 4; ++i) cycle(nullptr, true);
    bench_.expect(expected_.empty(), [] { return "a row of a sample did not leave"; });
  }

  /// What a sample that came to its end leaves behind.
  void expect(const std::vector<Place>& sample) {
    std::vector<std::uint8_t> keep(columns * sample.size());
    for (std::size_t at = 0; at < sample.size(); ++at) {
      for (unsigned column = 0; column < columns; ++column)
        keep[column * sample.size() + at] = sample[at].keep >> column & 1;
    }
    const auto passes = zap_passes(keep, {.rows = rows, .columns = columns, .depth = depth});
    for (std::size_t first = 0; first < passes.size(); first += columns) {
      Row& row = expected_.emplace_back();
      row = {.pass_last = first / columns % rows + 1 == rows};
      for (unsigned column = 0; column < columns; ++column) {
        const std::uint32_t place = passes[first + column];
        if (place == zap_idle) continue;
        row.active |= std::uint64_t{1} << column;
        row.places[column] = sample[place].place;
      }
    }
    expected_.emplace_back() = {.last = true};
    passes_ = passes.size() / columns / rows;
  }

  /// The first places of a sample.
  void send(std::vector<Place> sample, std::size_t sent) {
    sample.back().last = true;
    expect(sample);
    for (std::size_t at = 0; at < sent;)
      at += cycle(bench_.rng().chance(push_) ? &sample[at] : nullptr, bench_.rng().chance(pop_));
  }
  void send(const std::vector<Place>& sample) { send(sample, sample.size()); }

  std::uint32_t any_place() { return static_cast<std::uint32_t>(bench_.rng().bits(place_bits)); }

  std::vector<Place> sample_of(std::size_t places, auto&& keep) {
    std::vector<Place> sample(places);
    for (std::size_t at = 0; at < places; ++at) sample[at] = {.place = any_place(), .keep = keep(at)};
    return sample;
  }

  /// A sample takes the cycles that are documented, and its first row leaves when it should.
  void full_speed() {
    push_ = pop_ = 1;
    for (unsigned kind = 0; kind < 4; ++kind) {
      const auto sample = sample_of(3 * depth + 1, [&](std::size_t) {
        return kind == 0 ? all : kind == 1 ? 1 : kind == 2 ? 0 : bench_.rng().bits(columns);
      });
      drain();
      const std::uint64_t before = cycles_, ended = samples_;
      send(sample);
      while (samples_ == ended && cycles_ < before + 100000) cycle(nullptr, true);
      // The end is seen in the cycle behind its edge.
      bench_.expect_eq("cycles of a sample", cycles_ - before, sample.size() + rows * passes_ + 2,
                       [&] { return "kind " + std::to_string(kind); });
    }
    drain();
    send(sample_of(depth, [](std::size_t) { return all; }));
    bench_.expect_eq("valid_o", bool(dut_->valid_o), false,
                     [] { return "an edge behind the place that fills a queue"; });
    cycle(nullptr, true);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), true, [] { return "two edges behind it"; });
    drain();
  }

  /// Every level of each queue alone and of all of them at the sample's end.
  void levels() {
    const unsigned most = std::min(2 * depth + rows + 1, 80U);
    for (unsigned column = 0; column <= columns; ++column) {
      for (unsigned places = 1; places <= most; ++places) {
        pop_ = bench_.rng().chance(0.5) ? 1 : 0.5;
        send(sample_of(places, [&](std::size_t) { return column < columns ? std::uint64_t{1} << column : all; }));
      }
    }
    send(sample_of(1, [](std::size_t) { return std::uint64_t{0}; }));
    send(sample_of(3, [](std::size_t) { return std::uint64_t{0}; }));
    drain();
  }

  /// Columns that fill one after the other, one place apart, or whose outputs come in runs.
  void together() {
    for (unsigned run = 1; run <= rows + 1; ++run) {
      send(sample_of(4 * depth, [&](std::size_t at) { return all << at / run % columns & all; }));
      send(sample_of(4 * depth, [&](std::size_t at) { return std::uint64_t{1} << at / run % columns; }));
      send(sample_of(4 * depth, [&](std::size_t at) { return all >> at / run % columns; }));
    }
    drain();
  }

  std::vector<Place> random_sample() {
    constexpr std::array<double, 6> densities{0, 0.05, 0.5, 0.55, 0.95, 1};
    std::array<double, columns> chances{};
    const std::uint32_t style = bench_.rng().below(3);
    for (double& chance : chances) chance = densities[style == 0 ? 3 : bench_.rng().below(densities.size())];
    const std::uint32_t places = 1 + bench_.rng().below(bench_.rng().chance(0.5) ? 8 : 5 * depth + 20);
    return sample_of(places, [&](std::size_t) {
      std::uint64_t keep = 0;
      for (unsigned column = 0; column < columns; ++column)
        keep |= std::uint64_t{bench_.rng().chance(chances[column])} << column;
      return style == 2 && bench_.rng().chance(0.5) ? 0 : keep;  // places that the pattern computes
    });
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    same(core_.result(), "of the cycle model");
    const Row* const shown = expected_.shown();
    if (shown != nullptr) same(*shown, "of the golden passes");
  }

  void same(const Row& row, const char* whose) {
    const auto what = [&] { return whose; };
    bench_.expect_eq("last_o", bool(dut_->last_o), row.last, what);
    bench_.expect_eq("active_o", get_bits(dut_->active_o, 0, columns), row.active, what);
    if (!row.last) bench_.expect_eq("pass_last_o", bool(dut_->pass_last_o), row.pass_last, what);
    for (unsigned column = 0; column < columns; ++column) {
      if ((row.active >> column & 1) == 0) continue;
      bench_.expect_eq("places_o", get_bits(dut_->places_o, column * place_bits, place_bits),
                       std::uint64_t{row.places[column]}, what);
    }
  }

  /// Whether the place was taken.
  bool cycle(const Place* place, bool ready) {
    dut_->valid_i = place != nullptr;
    dut_->ready_i = ready;
    set_bits(dut_->place_i, 0, place_bits, place ? place->place : any_place());
    set_bits(dut_->keep_i, 0, columns, place ? place->keep : bench_.rng().bits(columns));
    dut_->last_i = place ? place->last : bench_.rng().chance(0.5);
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->active_o, dut_->places_o, dut_->pass_last_o, dut_->last_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    if (dut_->valid_o && ready && !expected_.empty()) {
      samples_ += expected_.front().last;
      expected_.pop_front();
    }
    const bool taken = place != nullptr && dut_->ready_o;
    refused_ += place != nullptr && !taken;
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
  Scoreboard<Row> expected_{bench_, "rows"};
  double push_ = 1, pop_ = 1;
  std::uint64_t cycles_ = 0, passes_ = 0, samples_ = 0, refused_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return ZapQueueBench(argc, argv).run(); }
