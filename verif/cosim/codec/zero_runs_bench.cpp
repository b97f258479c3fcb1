// SPDX-License-Identifier: Apache-2.0
// ng_zero_runs against the golden function: runs of every length under every number of bytes for them, then the bytes
// of random tiles under bubbles and stalls of changing density, with resets and new tables; at full speed to the cycle.
#include <deque>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "zero_stimulus.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr std::uint64_t latency = 10;

class ZeroRunsBench {
 public:
  ZeroRunsBench(int argc, char** argv) : bench_(argc, argv, "zero_runs"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    // Every length of a run, behind which a value comes or the tile ends.
    constexpr std::size_t lengths = 2 * longest_zero_run + 4;
    const std::uint64_t cases = std::uint64_t{zero_run_sizes + 1} * lengths * 2;
    const std::uint64_t step = bench_.sweep_step("lengths of runs, in cycles", cases * lengths / 2) | 1;
    for (std::size_t count = 0; count <= zero_run_sizes; ++count) {
      load(count);
      for (std::uint64_t i = count % step; i < lengths * 2; i += step) {
        std::vector<std::uint8_t> values(1 + i / 2, 0);
        if (i % 2 != 0) values.push_back(literal());
        queue(values);
        full_speed();
      }
    }
    // Runs that end a tile in two pieces, of which only the second is the last byte.
    load(zero_run_sizes);
    for (std::size_t i = 1; i < zero_run_sizes; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        queue(std::vector<std::uint8_t>((std::size_t{1} << i) + (std::size_t{1} << j), 0));
        full_speed();
      }
    }
    // At full speed, tiles behind each other.
    for (int i = 0; i < 10; ++i) {
      load(bench_.rng().below(zero_run_sizes + 1));
      for (int tiles = 0; tiles < 4; ++tiles) queue(random_runs(bench_.rng(), 1 + bench_.rng().below(600)));
      full_speed();
    }
    done_ = 0;
    while (done_ < bench_.budget()) {
      reset();
      load(bench_.rng().chance(0.3) ? zero_run_sizes : bench_.rng().below(zero_run_sizes + 1));
      for (unsigned tiles = 1 + bench_.rng().below(6); tiles > 0; --tiles)
        queue(random_runs(bench_.rng(), 1 + bench_.rng().below(bench_.rng().chance(0.3) ? 8 : 800)));
      double push = 1, pop = 1;
      bool cut = false;
      for (unsigned idle = 0; idle < 300 && !(values_.empty() && bytes_.empty()) && !cut; ++idle) {
        if (bench_.rng().chance(0.02)) {
          push = (1 + bench_.rng().below(4)) / 4.0;
          pop = (1 + bench_.rng().below(4)) / 4.0;
        }
        cut = bench_.rng().chance(0.0003);  // in the middle
        if (cycle(bench_.rng().chance(push), bench_.rng().chance(pop))) idle = 0;
      }
      bench_.expect(cut || values_.empty(), [] { return "values were never taken"; });
      if (cut) bytes_.abandon();
    }
    bench_.expect(output_.stalls() > 0 && refused_ > 0, [] { return "no byte waited, or no value did"; });
    return bench_.finish();
  }

 private:
  struct Byte {
    std::uint8_t byte;
    bool last;
  };

  std::uint8_t literal() { return static_cast<std::uint8_t>(1 + bench_.rng().below(255)); }

  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = dut_->table_we_i = false;
    values_.clear();
    bytes_.reset();
    output_.clear();
    dut_.reset_without_edge(bench_);
    if (bench_.rng().chance(0.5)) dut_.reset();
  }

  void load(std::size_t count) {
    slots_ = random_slots(bench_.rng(), count);
    auto writes = table_writes(slots_);
    for (std::uint32_t i = static_cast<std::uint32_t>(count) + 1; i <= zero_run_sizes; ++i)
      if (bench_.rng().chance(0.5))
        writes.push_back({i, static_cast<std::uint32_t>(bench_.rng().bits(8))});  // not used
    for (std::size_t i = writes.size(); i > 1; --i)
      std::swap(writes[i - 1], writes[bench_.rng().below(static_cast<std::uint32_t>(i))]);
    dut_->valid_i = false;
    for (const auto& [address, data] : writes) {
      dut_->table_we_i = true;
      dut_->table_addr_i = address;
      dut_->table_data_i = data;
      dut_.tick();
      dut_->table_we_i = false;  // nothing is written without it
      dut_->table_data_i = static_cast<std::uint8_t>(bench_.rng().bits(8));
      if (bench_.rng().chance(0.3)) dut_.tick();
    }
  }

  void queue(const std::vector<std::uint8_t>& values) {
    for (const std::uint8_t value : values) values_.push_back({value, false});
    values_.back().last = true;
    for (const std::uint8_t byte : shorten_runs(values, slots_)) bytes_.push_back({byte, false});
    bytes_.back().last = true;
  }

  /// All that is queued: a value is taken in every cycle, and the last byte comes as late as any.
  void full_speed() {
    std::uint64_t cycles = values_.size() + latency;
    for (; cycles > 0; --cycles) {
      bench_.expect(dut_->ready_o, [] { return "an undisturbed value was not taken"; });
      const bool late = bytes_.empty();
      cycle(true, true);
      bench_.expect(late || cycles > 1 || bytes_.empty(), [] { return "the last byte of a tile came late"; });
    }
    bench_.expect_settled(bytes_, "behind undisturbed tiles");
  }

  /// Whether a byte left or a value was taken.
  bool cycle(bool valid, bool ready) {
    valid = valid && !values_.empty();
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    dut_->data_i = valid ? values_.front().byte : static_cast<std::uint8_t>(bench_.rng().chance(0.5) ? 0 : literal());
    dut_->last_i = valid ? values_.front().last : bench_.rng().chance(0.5);
    dut_.eval();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->last_o);
    bench_.expect(dut_->ready_o || dut_->valid_o, [] { return "no value is taken while no byte waits"; });
    bool moved = false;
    if (dut_->valid_o) {
      if (const Byte* const shown = bytes_.shown()) {
        const auto when = [] { return "of a byte"; };
        bench_.expect_eq("data_o", unsigned{dut_->data_o}, unsigned{shown->byte}, when);
        bench_.expect_eq("last_o", bool(dut_->last_o), shown->last, when);
        if (ready) bytes_.pop_front();
      }
      moved = ready;
    }
    refused_ += valid && !dut_->ready_o;
    if (valid && dut_->ready_o) {
      values_.pop_front();
      bench_.vector();
      ++done_;
      moved = true;
    }
    dut_.tick();
    return moved;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  ZeroRunSlots slots_;
  std::deque<Byte> values_;  ///< to come
  Scoreboard<Byte> bytes_{bench_, "bytes"};
  std::uint64_t done_ = 0, refused_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return ZeroRunsBench(argc, argv).run(); }
