// SPDX-License-Identifier: Apache-2.0
// ng_exaq_row against its golden function, row by row, and cycle for cycle against the cycle model: each bit of each
// count and each entry alone, rows of the paper's tables and of any, empty rows, full ones, probabilities of 0 and 1,
// ties, under bubbles, stalls and resets. Build parameters: NG_BITS, NG_COUNT_BITS.
#include <algorithm>
#include <bit>
#include <functional>
#include <string>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/softmax/exaq_row_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned bits = NG_BITS, count_bits = NG_COUNT_BITS, codes = 1U << bits;
constexpr std::uint32_t most = (1U << count_bits) - 1;
using Core = systemc::ExaqRowCore<NG_BITS, NG_COUNT_BITS>;

class ExaqRowBench {
 public:
  ExaqRowBench(int argc, char** argv)
      : bench_(argc, argv, "exaq_row, " + std::to_string(bits) + " bits"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    single_bits();
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      random_row();
      const double push = bench_.rng().chance(0.5) ? 1 : 0.3, pop = bench_.rng().chance(0.5) ? 1 : 0.3;
      if (bench_.rng().chance(0.01)) {
        for (std::uint32_t n = bench_.rng().below(200); n > 0; --n) cycle(offered_ || bench_.rng().chance(push), true);
        reset();
      } else {
        row(push, pop);
      }
    }
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10,
                  [] { return "hardly a probability left, or none waited"; });
    bench_.expect(empty_ > 0 && ones_ > 0 && zeros_ > 0,
                  [] { return "no row was empty, or no probability was 0, or none 1"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    offered_ = false;
    dut_.reset_without_edge(bench_, false);
    core_.reset();
    outputs();
    dut_.reset();
  }

  /// A row from its offer until its last probability is taken.
  void row(double push, double pop) {
    do {
      cycle(offered_ || (expected_.empty() && bench_.rng().chance(push)), bench_.rng().chance(pop));
    } while (offered_ || !expected_.empty());
  }

  void single_bits() {
    for (unsigned k = 0; k < codes; ++k) {
      for (unsigned bit = 0; bit < 16; ++bit) {
        counts_.fill(0);
        std::fill_n(counts_.begin(), k + 1, 1U << bit % count_bits);
        for (unsigned other = 0; other < codes; ++other) {
          table_[other] = static_cast<std::uint16_t>(other < k ? 0 : other == k ? 1U << bit : 0xFFFF);
        }
        row(1, 1);
        counts_.fill(1U << bit % count_bits);  // all codes are the last one
        table_.fill(static_cast<std::uint16_t>(0xFFFF >> bit));
        table_[k] = static_cast<std::uint16_t>(bench_.rng().bits(16));
        row(1, 1);
      }
    }
    for (unsigned bit = 0; bit < count_bits; ++bit) {  // S is 2^(16 + bit)
      counts_.fill(1U << bit);
      counts_[0] = (1U << bit) + 1;
      table_.fill(0xFFFF);
      table_[0] = static_cast<std::uint16_t>(1U << bit);
      row(1, 1);
    }
    for (const std::uint32_t count : {0U, 1U, most}) {
      counts_.fill(count);
      for (const unsigned entry : {0U, 1U, 0xFFFFU}) {
        table_.fill(static_cast<std::uint16_t>(entry));
        row(1, 1);
      }
    }
  }

  void random_row() {
    const std::uint32_t n = static_cast<std::uint32_t>(bench_.rng().bits(bench_.rng().below(count_bits + 1)));
    for (std::uint32_t& count : counts_) count = bench_.rng().below(n + 1);
    counts_[0] = n;
    std::ranges::sort(counts_, std::greater{});
    if (bench_.rng().chance(0.3)) counts_.back() = std::min(counts_.back(), 1U);
    const auto kind = bench_.rng().below(5);
    if (kind == 0) {  // any entries, in any order
      for (std::uint16_t& entry : table_)
        entry = static_cast<std::uint16_t>(bench_.rng().bits(16) >> bench_.rng().below(17));
    } else if (kind == 1) {  // powers of two: exact quotients, and sums beside ties
      for (unsigned k = 0; k < codes; ++k)
        table_[k] = static_cast<std::uint16_t>(1U << (15 - std::min(15U, codes - 1 - k)));
    } else if (kind == 2) {  // large sums, whose upper bits change with every code
      for (std::uint32_t& count : counts_) count = most - (count >> bench_.rng().below(count_bits));
      std::ranges::sort(counts_, std::greater{});
      for (std::uint16_t& entry : table_) entry = static_cast<std::uint16_t>(0x8000 + bench_.rng().bits(15));
    } else {
      std::ranges::copy(exaq_table(exaq_levels(bench_.rng().below(3000) / -100.0, bits)), table_.begin());
    }
  }

  struct Probability {
    std::uint32_t value, code, sum;
    bool empty;
  };

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const Probability* const shown = expected_.shown();
    if (shown == nullptr) return;
    const auto where = [&] { return "code " + std::to_string(shown->code) + ", S = " + hex(shown->sum); };
    bench_.expect_eq("probability_o", std::uint32_t{dut_->probability_o}, shown->value, where);
    bench_.expect_eq("code_o", unsigned{dut_->code_o}, shown->code, where);
    bench_.expect_eq("last_o", bool(dut_->last_o), shown->code == 0, where);
    bench_.expect_eq("sum_o", std::uint32_t{dut_->sum_o}, shown->sum, where);
    bench_.expect_eq("empty_o", bool(dut_->empty_o), shown->empty, where);
  }

  void cycle(bool valid, bool ready) {
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    for (unsigned k = 0; k < codes; ++k) {
      // What is not offered has no meaning.
      set_bits(dut_->counts_i, count_bits * k, count_bits, valid ? counts_[k] : bench_.rng().bits(count_bits));
      set_bits(dut_->table_i, 16 * k, 16, table_[k]);
    }
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->probability_o, dut_->code_o, dut_->last_o, dut_->sum_o,
                   dut_->empty_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    offered_ = valid && !dut_->ready_o;
    if (valid && dut_->ready_o) take();
    core_.step(valid, counts_, table_, ready);
    dut_.tick();
    outputs();
  }

  void take() {
    const ExaqRow row = exaq_row(counts_, table_);
    empty_ += row.empty;
    for (std::uint32_t k = codes; k-- > 0;) {
      const float p = row.probabilities[k];
      ones_ += p == 1;
      zeros_ += p == 0 && !row.empty;
      expected_.push_back({std::bit_cast<std::uint32_t>(p), k, row.sum, row.empty});
    }
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  Core::Counts counts_{};
  Core::Table table_{};
  Scoreboard<Probability> expected_{bench_, "probabilities"};
  bool offered_ = false;
  std::uint64_t empty_ = 0, ones_ = 0, zeros_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return ExaqRowBench(argc, argv).run(); }
