// SPDX-License-Identifier: Apache-2.0
// ng_transform against the golden function: every result of every vector under bubbles and stalls of changing density,
// with resets and new tables; then vectors at full speed, to the cycle. Build parameters: NG_SIZE, NG_IN_WIDTH,
// NG_OUT_WIDTH, NG_MATRIX_WIDTH.

#include "../room.hpp"
#include "../scoreboard.hpp"
#include "Vdut.h"
#include "transform_stimulus.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr TransformWidths widths{NG_SIZE, NG_IN_WIDTH, NG_OUT_WIDTH, NG_MATRIX_WIDTH};
constexpr unsigned latency = 8;  ///< from the cycle of a vector's last value to that of its first result

class TransformBench {
 public:
  TransformBench(int argc, char** argv)
      : bench_(argc, argv,
               "transform, vectors of " + std::to_string(widths.size) + ", " + std::to_string(widths.in) + " x " +
                   std::to_string(widths.matrix) + " to " + std::to_string(widths.out) + " bits"),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    full_speed();
    double push = 1, pop = 1, end = 0.1;
    std::uint64_t since = 0;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.01)) {
        push = (1 + bench_.rng().below(4)) / 4.0;
        pop = (1 + bench_.rng().below(4)) / 4.0;
        end = bench_.rng().below(3) / 2.0;
      }
      if (++since > 60 && bench_.rng().chance(0.02)) {
        // Half of the new tables come without a reset, once all results have left.
        if (bench_.rng().chance(0.5)) {
          while (!vector_.empty()) cycle(true, false, true);
          for (unsigned n = 0; n < 2 * widths.size + 20; ++n) cycle(false, false, true);
          bench_.expect_settled(results_, "before new tables");
          load();
        } else {
          reset();
        }
        since = 0;
      }
      cycle(bench_.rng().chance(push), bench_.rng().chance(end), bench_.rng().chance(pop));
    }
    for (unsigned i = 0; i < 3 * widths.size + 20; ++i) cycle(false, false, true);
    bench_.expect(output_.stalls() > 0 && refused_ > 0, [] { return "no result waited, or no value was refused"; });
    bench_.expect(clipped_[0] > 0 && clipped_[1] > 0 && clipped_[2] > 0,
                  [] { return "no result was clipped above, below, or to 0"; });
    return bench_.finish();
  }

 private:
  struct Result {
    std::int32_t value;
    bool last;
    bool end;  ///< of its vector
  };

  /// A value every cycle, a result every cycle, the first after `latency`.
  void full_speed() {
    reset();
    const unsigned vectors = 20;
    for (unsigned i = 0; i < vectors * widths.size + latency; ++i) {
      const bool push = i < vectors * widths.size;
      const bool expected = i + 1 >= widths.size + latency;
      cycle(push, true, true);
      bench_.expect_eq("valid_o", seen_valid_, expected,
                       [&] { return "cycle " + std::to_string(i) + " at full speed"; });
      bench_.expect_eq("ready_o", seen_ready_, true, [] { return "full speed"; });
    }
    // A sink that never takes: vectors wait in queue, chain, sums, and are then refused.
    for (unsigned i = 0; i < 6 * widths.size + 20; ++i) cycle(true, false, false);
    bench_.expect(!seen_ready_, [] { return "values are taken without end"; });
  }

  void load() {
    table_ = random_transform(bench_.rng(), widths);
    dut_->valid_i = dut_->ready_i = false;
    for (const TransformWrite& write : table_writes(table_, widths)) {
      dut_->table_we_i = true;
      dut_->table_kind_i = write.kind == 2 ? 2 + bench_.rng().below(2) : write.kind;
      dut_->table_row_i = write.row;
      dut_->table_column_i = write.column;
      set_bits(dut_->table_data_i, 0, sizeof(dut_->table_data_i) * 8, write.data);
      dut_.eval();
      dut_.tick();
    }
    dut_->table_we_i = false;
    // Not written without the strobe.
    dut_->table_kind_i = bench_.rng().below(4);
    dut_->table_data_i = 0;
  }

  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = dut_->table_we_i = false;
    results_.abandon();  // any cycle may be the last before a reset
    vector_.clear();
    room_.clear();
    output_.clear();
    dut_.reset_without_edge(bench_);
    dut_.reset();
    load();
  }

  void cycle(bool valid, bool last, bool ready) {
    const auto value = static_cast<std::int32_t>(random_signed(bench_.rng(), widths.in));
    dut_->valid_i = valid;
    dut_->last_i = last;
    dut_->ready_i = ready;
    dut_->data_i = static_cast<std::uint32_t>(value) & ((1U << widths.in) - 1);
    dut_.eval();
    bench_.vector();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->last_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->ready_o);
    seen_valid_ = dut_->valid_o;
    seen_ready_ = dut_->ready_o;
    room_.check(seen_ready_);
    refused_ += valid && !seen_ready_;
    if (seen_valid_) {
      if (const Result* const shown = results_.shown()) {
        const Result& wanted = *shown;
        bench_.expect_eq("data_o", get_signed(dut_->data_o, 0, widths.out), std::int64_t{wanted.value},
                         [&] { return "shift " + std::to_string(table_.shift); });
        bench_.expect_eq("last_o", bool(dut_->last_o), wanted.last, [] { return "of a result"; });
        if (ready) {
          if (wanted.end) room_.give();
          results_.pop_front();
        }
      }
    }
    if (valid && seen_ready_) {
      vector_.push_back(value);
      if (vector_.size() == widths.size) {
        std::vector<std::int32_t> y(widths.size);
        apply(table_, vector_, y);
        for (unsigned r = 0; r < widths.size; ++r) {
          clipped_[0] += y[r] == table_.high;
          clipped_[table_.low == 0 ? 2 : 1] += y[r] == table_.low;
          results_.push_back({y[r], last && r + 1 == widths.size, r + 1 == widths.size});
        }
        room_.take();
        vector_.clear();
      }
    }
    dut_.tick();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  IntegerTransform table_;
  std::vector<std::int32_t> vector_;
  Scoreboard<Result> results_{bench_, "results"};
  // One leaves, and one waits behind it.
  Room room_{bench_, "vectors", 2, Room::unknown};
  bool seen_valid_ = false, seen_ready_ = false;
  std::uint64_t refused_ = 0;
  std::array<std::uint64_t, 3> clipped_{};
};

}  // namespace

int main(int argc, char** argv) { return TransformBench(argc, argv).run(); }
