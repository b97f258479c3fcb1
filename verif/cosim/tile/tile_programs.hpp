// SPDX-License-Identifier: Apache-2.0
// Random programs for the tile: banks loaded in pieces, banks of A taken in parts, A kept for several B or B for
// several A, several panels, sums of several commands that are longer than a bank, edges, every format of the set, FP32
// and BF16, special values in operands and scale.
#pragma once

#include <deque>
#include <vector>

#include "tile_harness.hpp"

namespace narrowgauge::tile_bench {

struct Program {
  std::deque<Load> loads;
  std::deque<Command> commands;
};

/// Writes a program; results and counts are noted in advance.
class Programmer {
 public:
  explicit Programmer(Harness& tile) : tile_(tile), random_(tile.random) {}

  /// About `count` commands, with the loads they need.
  Program write(unsigned count) {
    while (count > 0) {
      // Mostly finite: a NaN hides the sums of its tile.
      constexpr Style styles[] = {Style::finite,  Style::finite, Style::finite, Style::extreme,
                                  Style::special, Style::zero,   Style::any};
      style_ = styles[rng().below(std::size(styles))];
      Command c;
      c.a_fmt = random_.fmt(), c.b_fmt = random_.partner(c.a_fmt);
      c.scale = random_.scale();
      random_.choose_output(c);
      c.rows_used = rng().chance(0.5) ? rows : random_.upto(rows);
      c.cols_used = rng().chance(0.5) ? cols : random_.upto(cols);
      c.irq = rng().chance(0.5);
      const unsigned size = rng().chance(0.2) ? 64 : 12;
      a_room_ = std::min(a_depth, size), b_room_ = std::min(b_depth, size);
      const unsigned passes = std::min(random_.upto(rng().chance(0.4) ? 5 : 2), count);
      if (rng().chance(0.35))
        sum(c, passes);
      else if (rng().chance(0.25))
        parts(c, passes);
      else
        kept(c, passes);
      count -= passes;
    }
    return std::move(program_);
  }

 private:
  Rng& rng() { return tile_.rng(); }
  Bank bank(bool b, unsigned fmt, unsigned images) { return random_.bank(b, fmt, images, style_); }
  void load(bool b, const Bank& bank) {
    std::ranges::copy(tile_.loads_of(b, bank, rng().chance(0.5) ? 1 : 3), std::back_inserter(program_.loads));
  }

  /// A sum over several passes.
  void sum(Command c, unsigned passes) {
    std::vector<Bank> a, b;
    const bool same_a = rng().chance(0.3);
    // Rows and columns in use may change within the sum. (Not with special values: in the golden product NaN times
    // an unused row would be NaN.)
    const bool edges_change = rng().chance(0.5) && style_ != Style::special && style_ != Style::any;
    c.beats = random_.upto(std::min({a_room_, b_room_, max_beats / passes}));
    a.reserve(passes), b.reserve(passes);
    std::deque<Bank> in_use;  // unused rows and columns zero
    std::vector<const Bank*> a_used, b_used;
    for (unsigned p = 0; p < passes; ++p) {
      if (!same_a) c.beats = random_.upto(std::min({a_room_, b_room_, max_beats / passes}));
      c.first = p == 0, c.last = p + 1 == passes;
      c.release_a = !same_a || c.last;
      if (p == 0 || !same_a) load(false, a.emplace_back(bank(false, c.a_fmt, c.beats)));
      load(true, b.emplace_back(bank(true, c.b_fmt, c.beats)));
      if (edges_change) c.rows_used = random_.upto(rows), c.cols_used = random_.upto(cols);
      a_used.push_back(&in_use.emplace_back(masked(a.back(), c.rows_used)));
      b_used.push_back(&in_use.emplace_back(masked(b.back(), c.cols_used)));
      tile_.activity.add(c, a.back(), b.back());
      program_.commands.push_back(c);
    }
    if (edges_change) c.rows_used = rows, c.cols_used = cols;
    tile_.expect_results(c, a_used, b_used);
  }

  /// Sums that take a bank of A in parts; it may hold more than they take.
  void parts(Command c, unsigned passes) {
    passes = std::min(passes, a_room_);
    c.beats = random_.upto(std::min({a_room_ / passes, b_room_, max_beats / passes}));
    const unsigned taken = passes * c.beats, more = rng().chance(0.5) ? 0 : random_.upto(a_depth - taken + 1) - 1;
    const Bank all = bank(false, c.a_fmt, taken + std::min(more, 4U));
    load(false, all);
    c.part_a = true;
    for (unsigned sums = random_.upto(2); sums > 0; --sums) {
      std::vector<Bank> a(passes), b;
      std::vector<const Bank*> of_a, of_b;
      b.reserve(passes);
      for (unsigned p = 0; p < passes; ++p) {
        a[p].fmt = c.a_fmt;
        std::copy_n(all.images.begin() + p * c.beats, c.beats, std::back_inserter(a[p].images));
        c.first = p == 0, c.last = p + 1 == passes, c.release_a = c.last && sums == 1;
        load(true, b.emplace_back(bank(true, c.b_fmt, c.beats)));
        of_a.push_back(&a[p]), of_b.push_back(&b[p]);
        tile_.activity.add(c, a[p], b[p]);
        program_.commands.push_back(c);
      }
      tile_.expect_results(c, of_a, of_b);
    }
  }

  /// A stays while `passes` banks of B pass, or B while A does.
  void kept(Command c, unsigned passes) {
    c.beats = random_.upto(std::min({a_room_, b_room_, max_beats}));
    c.a_panels = random_.upto(a_room_ / c.beats), c.b_panels = random_.upto(b_room_ / c.beats);
    if (rng().chance(0.1)) c.a_panels = a_room_ / c.beats, c.b_panels = b_room_ / c.beats;  // full banks
    const bool keep_b = rng().chance(0.3);
    Bank a, b;
    for (unsigned p = 0; p < passes; ++p) {
      const bool end = p + 1 == passes;
      c.release_a = end || keep_b, c.release_b = end || !keep_b;
      if (p > 0 && !keep_b) c.b_fmt = random_.partner(c.a_fmt);
      if (p == 0 || keep_b) load(false, a = bank(false, c.a_fmt, c.a_panels * c.beats));
      if (p == 0 || !keep_b) load(true, b = bank(true, c.b_fmt, c.b_panels * c.beats));
      tile_.activity.add(c, a, b);
      tile_.expect_results(c, {&a}, {&b});
      program_.commands.push_back(c);
      c.scale = random_.scale(), c.irq = rng().chance(0.5);
      random_.choose_output(c);
    }
  }

  Harness& tile_;
  Stimulus& random_;
  Program program_;
  Style style_ = Style::finite;
  unsigned a_room_ = 0, b_room_ = 0;
};

inline Program random_program(Harness& tile, unsigned count) { return Programmer(tile).write(count); }

/// Writes loads and commands as their queues have room, each in order, for `limit` cycles at most.
inline void play(Harness& tile, Program program, std::uint64_t limit = ~0ULL) {
  Rng& rng = tile.rng();
  const std::uint64_t start = tile.now();
  while (!(program.loads.empty() && program.commands.empty()) && tile.now() - start < limit) {
    if (tile.hangs(start)) return tile.hang("commands wait");
    const std::uint32_t status = tile.status();
    unsigned load_room = regs::status::load_space.get(status), compute_room = regs::status::compute_space.get(status);
    if (regs::status::error.get(status) != 0 && tile.irq_known) {
      tile.bench.error("STATUS.error is " + std::to_string(regs::status::error.get(status)) + " for a legal program, " +
                       tile.describe);
      return;
    }
    while (load_room > 0 && !program.loads.empty() && rng.chance(0.8)) {
      tile.push(program.loads.front());
      program.loads.pop_front();
      tile.bench.vector();
      --load_room;
    }
    while (compute_room > 0 && !program.commands.empty() && rng.chance(0.8)) {
      tile.push(program.commands.front());
      program.commands.pop_front();
      tile.bench.vector();
      ++tile.commands;
      --compute_room;
    }
    if (tile.irq_known && rng.chance(0.2))
      tile.write(regs::irq_pending::offset, static_cast<std::uint32_t>(rng.bits(2)) & 1);
    if (tile.irq_known && rng.chance(0.2))
      tile.write(regs::irq_enable::offset, static_cast<std::uint32_t>(rng.bits(2)) & 1);
  }
}

/// A program to its end, and everything that is known then.
inline void batch(Harness& tile, unsigned count) {
  tile.describe = "batch at cycle " + std::to_string(tile.now());
  tile.start_counting();
  if (has_codec) tile.change_code();
  if (has_encoders) {
    tile.change_result_code();
    tile.compress_results(tile.rng().chance(0.5));
  }
  tile.compressed_loads = 0.5;
  play(tile, random_program(tile, count));
  tile.settle();
  tile.compressed_loads = 0;
  tile.expect_idle();
  tile.expect_counters();
}

/// Soft reset at any time.
inline void interrupted_batch(Harness& tile) {
  tile.describe = "interrupted batch at cycle " + std::to_string(tile.now());
  const std::uint64_t limit = tile.random.upto(400);
  play(tile, random_program(tile, 8), limit);
  tile.wait(tile.random.upto(100));
  tile.soft_reset();
}

}  // namespace narrowgauge::tile_bench
