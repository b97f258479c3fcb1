// SPDX-License-Identifier: Apache-2.0
// ng_transpose against blocks turned by index: every column that leaves, under bubbles and stalls of changing density,
// with resets; then without any, to the cycle. Build parameters: NG_SIZE, NG_WIDTH.
#include <array>
#include <deque>

#include "../room.hpp"
#include "../scoreboard.hpp"
#include "Vdut.h"

namespace {

using namespace narrowgauge::bench;

constexpr unsigned size = NG_SIZE, width = NG_WIDTH;
using Line = std::array<std::uint64_t, size>;
struct Column {
  Line line;
  bool last = false;     // of its block
  bool fetched = false;  // it stands at the output
};

class TransposeBench {
 public:
  TransposeBench(int argc, char** argv)
      : bench_(argc, argv,
               "transpose " + std::to_string(size) + " x " + std::to_string(size) + " x " + std::to_string(width) +
                   " bits"),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    full_speed();
    reset();
    double push = 1, pop = 0;  // both banks full at first
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (i > 4 * size && bench_.rng().chance(0.5 / size)) {  // a new density: 0 and 1 included
        push = bench_.rng().below(5) / 4.0;
        pop = bench_.rng().below(5) / 4.0;
      }
      if (bench_.rng().chance(0.0005)) {
        if (resets_++ % 2 == 0) drain();
        reset();
      }
      cycle(bench_.rng().chance(push), bench_.rng().chance(pop));
    }
    drain();
    bench_.expect(output_.beats() > 0 && output_.stalls() > 0, [] { return "no column left, or none ever waited"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = false;
    rows_.clear();
    columns_.abandon();  // any cycle may be the last before a reset
    room_.clear();
    output_.clear();
    dut_.reset_without_edge(bench_);
    dut_.reset();
  }

  /// Rows come and columns go as fast as the unit lets them: it never refuses a row, and from the second cycle after
  /// the first block it always has a column.
  void full_speed() {
    reset();
    for (unsigned i = 0; i < 5 * size; ++i) {
      cycle(true, true);
      const auto when = [&] { return "cycle " + std::to_string(i) + " of an undisturbed run"; };
      bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, 1U, when);
      bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, unsigned{i >= size}, when);
    }
  }

  /// All columns of whole blocks leave, one a cycle.
  void drain() {
    for (unsigned i = 0; i < 2 * size + 4; ++i) cycle(false, true);
    bench_.expect_settled(columns_, "behind the last block");
    bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, 1U, [] { return "a bank is free"; });
  }

  void cycle(bool valid, bool ready) {
    Line row;
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    for (unsigned j = 0; j < size; ++j) {
      row[j] = bench_.rng().bits(width);
      set_bits(dut_->data_i, j * width, width, row[j]);
    }
    dut_.eval();
    bench_.vector();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o);
    if (Column* const shown = dut_->valid_o ? columns_.shown() : nullptr) {
      // A block leaves its bank with the fetch of its last column.
      if (shown->last && !std::exchange(shown->fetched, true)) room_.give();
      for (unsigned i = 0; i < size; ++i) {
        bench_.expect_eq("data_o", get_bits(dut_->data_o, i * width, width), shown->line[i],
                         [&] { return "element " + std::to_string(i) + " of a column"; });
      }
      if (ready) columns_.pop_front();
    }
    room_.check(dut_->ready_o);
    if (valid && dut_->ready_o) take(row);
    dut_.tick();
  }

  void take(const Line& row) {
    rows_.push_back(row);
    if (rows_.size() < size) return;
    for (unsigned j = 0; j < size; ++j) {
      Line column;
      for (unsigned i = 0; i < size; ++i) column[i] = rows_[i][j];
      columns_.push_back({column, j + 1 == size});
    }
    room_.take();
    rows_.clear();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  std::deque<Line> rows_;  // of the block that comes
  Scoreboard<Column> columns_{bench_, "columns"};
  Room room_{bench_, "blocks in the banks", 2};
  unsigned resets_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return TransposeBench(argc, argv).run(); }
