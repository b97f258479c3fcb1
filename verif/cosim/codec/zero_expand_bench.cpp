// SPDX-License-Identifier: Apache-2.0
// ng_zero_expand against the golden function: every beat of tiles of any bytes, with faults, under bubbles and stalls
// of changing density, with resets and new tables; at full speed a value in every cycle.
#include <deque>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "zero_stimulus.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

class ZeroExpandBench {
 public:
  ZeroExpandBench(int argc, char** argv) : bench_(argc, argv, "zero_expand"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    for (std::size_t count = 0; count <= zero_run_sizes; ++count) {
      load(count);
      // What ng_zero_runs makes, each byte that stands for a run, and any bytes.
      queue(shorten_runs(random_runs(bench_.rng(), 2000), slots_));
      std::vector<std::uint8_t> bytes(slots_.rbegin(), slots_.rend());
      for (unsigned byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<std::uint8_t>(byte));
      queue(bytes);
      full_speed();
    }
    done_ = 0;
    while (done_ < bench_.budget()) {
      reset();
      load(bench_.rng().below(zero_run_sizes + 1));
      for (unsigned tiles = 1 + bench_.rng().below(6); tiles > 0; --tiles) {
        std::vector<std::uint8_t> bytes(1 + bench_.rng().below(bench_.rng().chance(0.3) ? 4 : 60));
        const double run = bench_.rng().below(3) / 4.0;
        for (std::uint8_t& byte : bytes) {
          byte = static_cast<std::uint8_t>(bench_.rng().bits(8));
          if (!slots_.empty() && bench_.rng().chance(run))
            byte = slots_[bench_.rng().below(static_cast<std::uint32_t>(slots_.size()))];
          // A bit beside a byte for a run.
          if (!slots_.empty() && bench_.rng().chance(0.1))
            byte = slots_[bench_.rng().below(static_cast<std::uint32_t>(slots_.size()))] ^
                   static_cast<std::uint8_t>(1 << bench_.rng().below(8));
        }
        queue(bytes);
      }
      double push = 1, pop = 1;
      bool cut = false;
      for (unsigned idle = 0; idle < 300 && !(beats_.empty() && values_.empty()) && !cut; ++idle) {
        if (bench_.rng().chance(0.02)) {
          push = (1 + bench_.rng().below(4)) / 4.0;
          pop = (1 + bench_.rng().below(4)) / 4.0;
        }
        cut = bench_.rng().chance(0.0003);  // in the middle
        if (cycle(bench_.rng().chance(push), bench_.rng().chance(pop))) idle = 0;
      }
      bench_.expect(cut || beats_.empty(), [] { return "beats were never taken"; });
      if (cut) values_.abandon();
    }
    bench_.expect(output_.stalls() > 0 && runs_ > 0 && faults_ > 0,
                  [] { return "no value waited, or no run or no fault came"; });
    return bench_.finish();
  }

 private:
  struct Beat {
    std::uint8_t value;
    bool last = false, fault = false, empty = false;
  };

  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = dut_->fault_i = dut_->void_i = dut_->table_we_i = false;
    beats_.clear();
    values_.reset();
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

  /// A tile, whole, with a fault at its last value, or with a beat behind it that stands for none.
  void queue(const std::vector<std::uint8_t>& bytes) {
    for (const std::uint8_t byte : bytes) beats_.push_back({byte});
    const auto values = expand_runs(bytes, slots_, bytes.size() << zero_run_sizes);
    for (const std::uint8_t value : *values) values_.push_back({value});
    const unsigned kind = bench_.rng().below(4);
    if (kind == 0) {
      beats_.push_back({0, true, true, true});
      values_.push_back({0, true, true, true});
    }
    beats_.back().last = values_.back().last = true;
    beats_.back().fault = values_.back().fault = kind < 2;
    runs_ += values->size() > bytes.size();
    faults_ += kind < 2;
  }

  /// All that is queued: there is a value in every cycle.
  void full_speed() {
    cycle(true, true);
    for (std::size_t left = values_.size(); left > 0; --left) {
      bench_.expect(dut_->valid_o, [] { return "an undisturbed cycle has no value"; });
      cycle(true, true);
    }
    bench_.expect(beats_.empty(), [] { return "beats of undisturbed tiles were never taken"; });
    bench_.expect_settled(values_, "behind undisturbed tiles");
  }

  /// Whether a value left or a byte was taken.
  bool cycle(bool valid, bool ready) {
    valid = valid && !beats_.empty();
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    const Beat beat = valid ? beats_.front()
                            : Beat{slots_.empty() ? std::uint8_t{1} : slots_.back(), bench_.rng().chance(0.5),
                                   bench_.rng().chance(0.5), bench_.rng().chance(0.5)};
    dut_->data_i = beat.value;
    dut_->last_i = beat.last;
    dut_->fault_i = beat.fault;
    dut_->void_i = beat.empty;
    dut_.eval();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->last_o, dut_->fault_o, dut_->void_o);
    bench_.expect(dut_->ready_o || dut_->valid_o, [] { return "no byte is taken while no value waits"; });
    bool moved = false;
    if (dut_->valid_o) {
      if (const Beat* const shown = values_.shown()) {
        const Beat& expected = *shown;
        const auto when = [] { return "of a beat"; };
        bench_.expect_eq("data_o", unsigned{dut_->data_o}, unsigned{expected.value}, when);
        bench_.expect_eq("last_o", bool(dut_->last_o), expected.last, when);
        bench_.expect_eq("fault_o", bool(dut_->fault_o), expected.fault, when);
        bench_.expect_eq("void_o", bool(dut_->void_o), expected.empty, when);
        if (ready) values_.pop_front();
      }
      if (ready) {
        bench_.vector();
        ++done_;
        moved = true;
      }
    }
    if (valid && dut_->ready_o) {
      beats_.pop_front();
      moved = true;
    }
    dut_.tick();
    return moved;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  ZeroRunSlots slots_;
  std::deque<Beat> beats_;  ///< to come
  Scoreboard<Beat> values_{bench_, "values"};
  std::uint64_t done_ = 0, runs_ = 0, faults_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return ZeroExpandBench(argc, argv).run(); }
