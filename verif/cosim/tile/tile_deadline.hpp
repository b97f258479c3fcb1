// SPDX-License-Identifier: Apache-2.0
// Commands under a deadline. Which beats they lost follows from the count in PROGRESS alone: those before the deadline
// are whole, one tile of results may end in the middle, and each one behind it has a single beat.
#pragma once

#include "tile_directed.hpp"

namespace narrowgauge::tile_bench {

/// Beats of tiles of results, of which each has `whole` ones, when `beats` were taken for all of them. Nothing if there
/// is no such place to end.
inline std::vector<unsigned> beats_before_deadline(const std::vector<unsigned>& whole, std::uint64_t beats) {
  std::uint64_t before = 0;
  for (std::size_t late = 0; late < whole.size(); before += whole[late++]) {
    const std::uint64_t others = before + (whole.size() - late - 1);
    if (beats <= others || beats > others + whole[late]) continue;
    std::vector<unsigned> result(whole);
    std::fill(result.begin() + static_cast<std::ptrdiff_t>(late), result.end(), 1U);
    result[late] = static_cast<unsigned>(beats - others);
    return result;
  }
  return {};
}

/// What a tile of results is of: panels i and j, the first `beats` images of each.
inline Bank part_of(const Bank& bank, unsigned panel, unsigned whole, unsigned beats) {
  const auto first = bank.images.begin() + panel * whole;
  return {bank.fmt, {first, first + beats}};
}

/// One command of several tiles, or a sum over several commands from banks of their own. Whether a tile of results
/// ended in the middle.
inline bool under_deadline(Harness& tile, std::uint64_t clocks, bool armed, bool sum) {
  Stimulus& random = tile.random;
  const unsigned depth = std::min({a_depth, b_depth, 12U});
  const unsigned commands = sum ? 1 + random.upto(3) : 1;
  Command c = random.shaped(1, 1, 1);
  if (!sum) {
    c.beats = random.upto(depth);
    c.a_panels = random.upto(depth / c.beats), c.b_panels = random.upto(depth / c.beats);
  }
  c.rows_used = random.upto(rows), c.cols_used = random.upto(cols);
  c.scale = random.scale();
  c.bf16 = tile.rng().chance(0.3);
  std::vector<Command> all;
  std::vector<Operands> operands;
  std::vector<unsigned> whole;
  for (unsigned i = 0; i < commands; ++i) {
    if (sum) c.beats = random.upto(depth);
    c.first = i == 0, c.last = i + 1 == commands;
    all.push_back(c);
    operands.emplace_back(tile, c, Style::any);
    whole.insert(whole.end(), std::size_t{c.a_panels} * c.b_panels, c.beats);
  }
  tile.describe = "a deadline in " + std::to_string(clocks) + " clocks, " + std::to_string(whole.size()) + " tiles";
  tile.start_counting();
  tile.record();
  tile.write(regs::deadline::offset,
             regs::deadline::armed.put(armed) | regs::deadline::clocks.put(static_cast<std::uint32_t>(clocks)));
  for (unsigned i = 0; i < commands; ++i) {
    if (i >= queue_depth / 2)
      tile.await("room for a load", [&] { return regs::status::load_space.get(tile.status()) >= 2; });
    operands[i].load(tile);
    tile.push(all[i]);
  }
  tile.settle();

  const std::uint32_t progress = tile.read(regs::progress::offset);
  const bool late = regs::progress::late.get(progress) != 0;
  const std::uint32_t beats = regs::progress::beats.get(progress);
  std::uint64_t all_beats = 0;
  for (const unsigned each : whole) all_beats += each;
  tile.bench.expect(armed || !late, [&] { return "late without a deadline, " + tile.describe; });
  tile.bench.expect(late || beats == all_beats, [&] {
    return "beats: got " + std::to_string(beats) + ", expected " + std::to_string(all_beats) + ", " + tile.describe;
  });
  const std::vector<unsigned> done = beats_before_deadline(whole, beats);
  tile.bench.expect(!done.empty(), [&] {
    return "beats: got " + std::to_string(beats) + ", expected " + std::to_string(whole.size()) + " to " +
           std::to_string(all_beats) + ", " + tile.describe;
  });
  if (done.empty()) return false;

  std::vector<StreamWord> expected;
  std::vector<Bank> as, bs;  // of a sum
  std::size_t at = 0;
  for (unsigned p = 0; p < commands; ++p) {
    for (unsigned i = 0; i < all[p].a_panels; ++i) {
      for (unsigned j = 0; j < all[p].b_panels; ++j) {
        Command one = all[p];
        one.beats = done[at];
        if (i + 1 < one.a_panels) one.rows_used = rows;
        if (j + 1 < one.b_panels) one.cols_used = cols;
        one.a_panels = one.b_panels = 1;
        as.push_back(part_of(operands[p].a, i, whole[at], done[at]));
        bs.push_back(part_of(operands[p].b, j, whole[at], done[at]));
        tile.activity.add(one, as.back(), bs.back());
        ++at;
        if (!one.last) continue;
        std::vector<const Bank*> a, b;
        for (const Bank& bank : as) a.push_back(&bank);
        for (const Bank& bank : bs) b.push_back(&bank);
        std::uint32_t amax = 0;
        for (StreamWord& word : results_of(one, a, b, amax)) {
          word.last = word.last && at == done.size();
          expected.push_back(std::move(word));
        }
        as.clear(), bs.clear();
      }
    }
  }
  tile.expect_recorded(expected);
  tile.expect_counters();
  tile.expect_idle();
  tile.bench.vector();
  for (std::size_t t = 0; t < done.size(); ++t)
    if (done[t] > 1 && done[t] < whole[t]) return true;
  return false;
}

/// PROGRESS.late as a read sees it in so many cycles after the write of DEADLINE was answered, on a bus without stalls.
inline bool late_after(Harness& tile, std::uint32_t clocks, bool armed, std::uint64_t cycles) {
  tile.write(regs::deadline::offset, regs::deadline::armed.put(armed) | regs::deadline::clocks.put(clocks));
  const std::uint64_t answered = tile.now();
  tile.wait(static_cast<unsigned>(cycles));
  const bool late = regs::progress::late.get(tile.read(regs::progress::offset)) != 0;
  tile.describe = "late " + std::to_string(tile.counter_read_at() - answered) + " cycles after DEADLINE";
  tile.bench.vector();
  return late;
}

/// To the cycle: a read sees what is so two cycles after it was asked for, and an answer comes a cycle after a write.
inline void deadline_clock(Harness& tile) {
  const auto expect = [&](std::uint32_t clocks, bool armed, std::uint64_t cycles, bool late) {
    tile.bench.expect_eq("PROGRESS.late", late_after(tile, clocks, armed, cycles), late,
                         [&] { return tile.describe + " with " + std::to_string(clocks) + " clocks"; });
  };
  for (unsigned bit = 2; bit < 14; ++bit) {
    const std::uint32_t clocks = 1U << bit | tile.rng().below(1U << bit);
    expect(clocks, true, clocks - 1, false);
    expect(clocks, true, clocks, true);
    expect(clocks, false, clocks, false);
  }
  for (unsigned bit = 14; bit < 31; ++bit) expect(1U << bit, true, 100, false);
}

inline void deadlines(Harness& tile) {
  if (!has_deadline) return;
  const auto pace = std::exchange(tile.pace, {});
  deadline_clock(tile);
  unsigned cut = 0;
  for (unsigned i = 0; i < 60; ++i) {
    tile.pace = i % 3 == 0 ? Harness::Pace{} : Harness::Pace{.in = 0.7, .out = 0.4, .bus = 0.8};
    cut += under_deadline(tile, tile.random.upto(i % 2 == 0 ? 100 : 600) - 1, i % 10 != 9, i % 4 == 0);
  }
  tile.bench.expect(cut > 2, [&] { return std::to_string(cut) + " deadlines came within a sum; expected 3 or more"; });
  tile.pace = pace;
  under_deadline(tile, 0, true, false);
  tile.bench.expect(regs::progress::late.get(tile.read(regs::progress::offset)) != 0,
                    [] { return "the deadline is not past, which came before any command"; });
  tile.soft_reset();
  tile.expect_register("PROGRESS", regs::progress::offset, 0);
}

}  // namespace narrowgauge::tile_bench
