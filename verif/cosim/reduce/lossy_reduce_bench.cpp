// SPDX-License-Identifier: Apache-2.0
// ng_lossy_reduce against its golden functions, mean by mean, and cycle for cycle against the cycle model: single
// numbers of every binade, sums of every count, ties and what is beside them, cancellation, largest sums, infinities
// and NaN; then packets in any order, copies among them, under bubbles, stalls and resets. Build parameters:
// NG_WORKERS, NG_VALUES, NG_INDICES.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/reduce/lossy_reduce_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned workers = NG_WORKERS, values = NG_VALUES, indices = NG_INDICES;
using Core = systemc::LossyReduceCore<NG_WORKERS, NG_VALUES, NG_INDICES>;
using Codes = std::array<std::uint16_t, values>;

constexpr std::uint16_t negative = 0x8000, largest = 0x7F7F;

class LossyReduceBench {
 public:
  LossyReduceBench(int argc, char** argv)
      : bench_(argc, argv, "lossy_reduce, " + std::to_string(workers) + " workers"),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    reset();
    single_numbers();
    counts();
    near_ties();
    extremes();
    places();
    packets_ = 0;  // from here on
    while (packets_ < bench_.budget() / values) {
      push_ = (1 + bench_.rng().below(4)) / 4.0;
      pop_ = (1 + bench_.rng().below(4)) / 4.0;
      round();
      if (bench_.rng().chance(0.02)) {
        for (std::uint32_t i = bench_.rng().below(300); i > 0; --i)
          cycle(false, 0, 0, false, 0, bench_.rng().chance(0.5));
        send(bench_.rng().below(workers), 1, random_codes(), 1 + bench_.rng().below(values));
        reset();
      }
    }
    drain();
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a mean left, or none waited"; });
    bench_.expect(copies_ > 0, [] { return "no packet came twice"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    for (unsigned i = 0; i < indices; ++i) golden_.close(i);
    dut_.reset_without_edge(bench_, false);
    core_.reset();
    outputs();
    dut_.reset(1);
    core_.reset();
  }

  void drain() {
    while (!expected_.empty() || !dut_->ready_o) cycle(false, 0, 0, false, 0, true);
  }

  /// A packet, or only its first numbers.
  void send(unsigned worker, unsigned index, const Codes& codes, unsigned length = values) {
    const bool first = golden_.arrives(worker, index);
    copies_ += !first;
    ++packets_;
    for (unsigned i = 0; i < length; ++i) {
      if (first) golden_.add(index, i, codes[i]);
      // What is read beside a packet's first number only has other values beside the others.
      const bool other = i > 0;
      beat(other ? bench_.rng().below(workers) : worker, other ? bench_.rng().below(indices) : index,
           other && bench_.rng().chance(0.5), codes[i]);
    }
  }

  void close(unsigned index) {
    for (unsigned i = 0; i < values; ++i) {
      expected_.push_back({.mean = golden_.mean(index, i),
                           .count = static_cast<std::uint8_t>(golden_.count(index)),
                           .last = i == values - 1});
    }
    golden_.close(index);
    beat(bench_.rng().below(workers), index, true, static_cast<std::uint16_t>(bench_.rng().bits(16)));
  }

  void beat(unsigned worker, unsigned index, bool close, std::uint16_t value) {
    while (!bench_.rng().chance(push_)) cycle(false, worker, index, close, value, bench_.rng().chance(pop_));
    do cycle(true, worker, index, close, value, bench_.rng().chance(pop_));
    while (!was_ready_);
  }

  /// Packets of which each number is what `code(worker, number)` says, and their means.
  void sum(unsigned count, auto&& code) {
    Codes codes{};
    const unsigned index = bench_.rng().below(indices), first = bench_.rng().below(workers);
    for (unsigned worker = 0; worker < count; ++worker) {
      for (unsigned i = 0; i < values; ++i) codes[i] = code(worker, i);
      send((first + worker) % workers, index, codes);
    }
    close(index);
  }

  /// Every exponent with mantissas of single bits and with random ones, alone and beside zeros.
  void single_numbers() {
    std::vector<std::uint16_t> codes;
    for (unsigned exponent = 0; exponent < 255; ++exponent) {
      const auto base = static_cast<std::uint16_t>(exponent << 7);
      for (const unsigned mantissa : {0U, 1U << exponent % 7, 0x7FU, static_cast<unsigned>(bench_.rng().bits(7))}) {
        codes.push_back(static_cast<std::uint16_t>(base | mantissa | (bench_.rng().bits(1) << 15)));
      }
    }
    for (std::size_t at = 0; at < codes.size(); at += values) {
      sum(1 + bench_.rng().below(2), [&](unsigned worker, unsigned i) {
        return worker > 0 ? std::uint16_t{0} : codes[std::min(at + i, codes.size() - 1)];
      });
    }
  }

  /// Each count, of ones, of numbers alike and of others; none at all.
  void counts() {
    for (unsigned count = 0; count <= workers; ++count) {
      kind_ = count % 4;
      sum(count, [&](unsigned worker, unsigned i) {
        return i == 0   ? std::uint16_t{0x3F80}
               : i == 1 ? static_cast<std::uint16_t>(0x3F80 + count + worker)
                        : random_code();
      });
    }
  }

  /// Sums of a number, half of its last place, and a small number or its opposite, 1 to 200 places below.
  void near_ties() {
    for (unsigned below = 1; below < 200; below += 1 + bench_.rng().below(5)) {
      const auto base = static_cast<std::uint16_t>(below + 20 + bench_.rng().below(20));
      const auto exponent = static_cast<std::uint16_t>(base << 7);
      const auto half = static_cast<std::uint16_t>((base - 8) << 7),
                 tiny = static_cast<std::uint16_t>((base - below) << 7);
      for (const std::uint16_t sign : {std::uint16_t{0}, negative}) {
        sum(4, [&](unsigned worker, unsigned i) {
          const std::array<std::uint16_t, 4> codes{static_cast<std::uint16_t>(exponent | (i & 0x7F) | sign),
                                                   static_cast<std::uint16_t>(half | sign),
                                                   i % 3 == 0 ? std::uint16_t{0} : tiny, std::uint16_t{0}};
          return static_cast<std::uint16_t>(codes.at((worker + i) % 4) ^
                                            (codes.at((worker + i) % 4) == tiny && i % 3 == 2 ? negative : 0));
        });
      }
    }
  }

  void extremes() {
    for (const std::uint16_t sign : {std::uint16_t{0}, negative}) {
      const auto most = static_cast<std::uint16_t>(largest | sign),
                 opposite = static_cast<std::uint16_t>(most ^ negative);
      sum(workers, [&](unsigned, unsigned) { return most; });
      // A digit at its end, and all below and above it; what is left of pairs is one least number, or none.
      sum(workers, [&](unsigned, unsigned i) {
        return static_cast<std::uint16_t>(((15 + 16 * (i % 16)) << 7 | 0x7F) % 0x7F80 | sign);
      });
      sum(workers, [&](unsigned worker, unsigned i) {
        return worker % 2 ? most : i % 2 && worker == 0 ? sign : opposite;
      });
      sum(3, [&](unsigned worker, unsigned i) {
        return static_cast<std::uint16_t>(worker == 0 ? most : worker == 1 ? opposite : (sign | (i % 3)));
      });
      // Infinities and NaN stay with their number, and go with its means.
      sum(2, [&](unsigned worker, unsigned i) {
        return static_cast<std::uint16_t>(worker == i % 4 ? (i % 2 ? 0x7F80 : 0x7FC1) | sign : 0x3F80);
      });
      sum(2, [&](unsigned, unsigned) { return std::uint16_t{0x4000}; });
      sum(1, [&](unsigned, unsigned) { return sign; });
    }
    drain();
  }

  /// Every index holds other sums at the same time.
  void places() {
    for (unsigned index = 0; index < indices; ++index) {
      for (unsigned worker = 0; worker < 2; ++worker) send((index + worker) % workers, index, random_codes());
    }
    for (unsigned index = 0; index < indices; ++index) close(index);
    drain();
  }

  std::uint16_t random_code() {
    const auto bits = static_cast<std::uint16_t>(bench_.rng().bits(16));
    std::uint16_t code = bits;
    if (kind_ == 1) code = static_cast<std::uint16_t>(0x3E00 + (bits & 0x83FF));                   // of a few binades
    if (kind_ == 2) code = static_cast<std::uint16_t>(last_ ^ negative ^ (bits & bits >> 3 & 1));  // cancels
    if (kind_ == 3) code = static_cast<std::uint16_t>(bits & 0x81FF);  // subnormal, or almost
    if ((code & 0x7F80) == 0x7F80 && !bench_.rng().chance(0.01)) code &= 0xBFFF;
    last_ = code;
    return code;
  }

  Codes random_codes() {
    Codes codes{};
    for (auto& code : codes) code = random_code();
    return codes;
  }

  /// Packets of some workers in any order, some of them twice, to one index or in turn to two.
  void round() {
    kind_ = bench_.rng().below(4);
    const unsigned index = bench_.rng().below(indices), other = bench_.rng().below(indices);
    std::vector<unsigned> order;
    for (unsigned worker = 0; worker < workers; ++worker) {
      if (bench_.rng().chance(workers > 8 ? 0.2 : 0.8)) order.push_back(worker);
      if (bench_.rng().chance(0.1)) order.push_back(worker);
    }
    std::shuffle(order.begin(), order.end(), shuffle_);
    for (const unsigned worker : order) send(worker, bench_.rng().chance(0.7) ? index : other, random_codes());
    close(index);
    if (bench_.rng().chance(0.7)) close(other);
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const auto* const shown = expected_.shown();
    if (shown == nullptr) return;
    const auto mean = [] { return "of the mean"; };
    bench_.expect_eq("mean_o", std::uint32_t{dut_->mean_o}, std::uint32_t{shown->mean}, mean);
    bench_.expect_eq("count_o", std::uint32_t{dut_->count_o}, std::uint32_t{shown->count}, mean);
    bench_.expect_eq("last_o", bool(dut_->last_o), shown->last, mean);
  }

  void cycle(bool valid, unsigned worker, unsigned index, bool close, std::uint16_t value, bool ready) {
    using Worker = std::remove_reference_t<decltype(dut_->worker_i)>;
    using Index = std::remove_reference_t<decltype(dut_->index_i)>;
    dut_->valid_i = valid;
    dut_->worker_i = static_cast<Worker>(worker);
    dut_->index_i = static_cast<Index>(index);
    dut_->close_i = close;
    dut_->value_i = value;
    dut_->ready_i = ready;
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->mean_o, dut_->count_o, dut_->last_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    was_ready_ = dut_->ready_o;
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    core_.step(valid, worker, index, close, value, ready);
    dut_.tick();
    outputs();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  LossyReducer golden_{workers, values, indices};
  Scoreboard<Core::Result> expected_{bench_, "means"};
  std::mt19937 shuffle_{static_cast<unsigned>(bench_.seed())};
  bool was_ready_ = false;
  double push_ = 1, pop_ = 1;
  unsigned kind_ = 0;
  std::uint16_t last_ = 0;
  std::uint64_t packets_ = 0, copies_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return LossyReduceBench(argc, argv).run(); }
