// SPDX-License-Identifier: Apache-2.0
// Directed cases of the tile's bench: commands that compute with the images of banks that are still being filled, and
// that wait for those that have not come, to the cycle; banks of A taken in parts; banks that prove wrong in the middle
// of a command. That no image is read which a bank does not hold, the results show: those of finished tiles come, no
// other.
#pragma once

#include "tile_directed.hpp"

namespace narrowgauge::tile_bench {

/// Images from `first` on, so many.
inline Bank slice(const Bank& bank, unsigned first, unsigned count) {
  Bank part{bank.fmt, {}};
  std::copy_n(bank.images.begin() + first, count, std::back_inserter(part.images));
  return part;
}

/// Loads a part of a bank; `more` is to come.
inline void load_part(Harness& tile, bool b, const Bank& part, bool more) {
  for (Load load : tile.loads_of(b, part, 1)) {
    load.more = more;
    tile.push(load);
  }
}

inline void fed(Harness& tile) {
  tile.await("loading", [&] { return tile.words_to_feed() == 0; });
  tile.wait(4);
}

/// The last image, of A or of B, meets what waits for it; its results leave as soon as a lone beat's do.
inline void last_image(Harness& tile, bool b_last) {
  tile.describe = b_last ? "last image of B" : "last image of A";
  const unsigned panels = 2, beats = std::min({4U, a_depth / 2, b_depth / 2, max_beats});
  Command c = tile.random.shaped(b_last ? 1 : panels, b_last ? panels : 1, beats);
  const Operands operands(tile, c, Style::finite);
  const Bank& late = b_last ? operands.b : operands.a;
  tile.start_counting();
  operands.expect(tile, c);
  tile.push(c);
  load_part(tile, !b_last, b_last ? operands.a : operands.b, false);
  load_part(tile, b_last, slice(late, 0, beats), true);
  // The first tile is finished before the images of the second come.
  tile.await("the first tile", [&] { return tile.words_expected() == rows * groups; });
  tile.wait(tile.random.upto(50));
  load_part(tile, b_last, slice(late, beats, beats - 1), true);
  fed(tile);
  const std::uint64_t one = tile.counter(stall_in), one_at = tile.counter_read_at();
  tile.wait(tile.random.upto(50));
  const std::uint64_t two = tile.counter(stall_in), two_at = tile.counter_read_at();
  tile.bench.expect_eq("stall_in while an image is missing", two - one, has_counters ? two_at - one_at : 0,
                       [&] { return tile.describe; });
  const double in = std::exchange(tile.pace.in, 0);  // the load is there before its words
  load_part(tile, b_last, slice(late, 2 * beats - 1, 1), false);
  tile.wait(4);
  tile.pace.in = in;
  tile.settle();
  tile.bench.expect_eq("cycles from the last word to the last result", tile.last_out() - tile.last_in(),
                       stages + rows * groups + 8 + drain_cuts, [&] { return tile.describe; });
  tile.expect_counter(busy, tile.last_out() - tile.compute_at());
  tile.expect_counters();
  tile.expect_idle();
  tile.bench.vector();
}

/// Two sums take a bank of A in two parts; within a sum a command without part_a starts with the first image again, and
/// so does one with part_a behind it.
inline void parts_of_a(Harness& tile) {
  tile.describe = "bank of A in parts";
  const unsigned beats = std::min({4U, a_depth / 2, b_depth, max_beats / 3});
  Command c = tile.random.shaped(1, 1, beats);
  const Bank a = tile.random.bank(false, c.a_fmt, 2 * beats, Style::finite);
  const Bank halves[] = {slice(a, 0, beats), slice(a, beats, beats)};
  tile.start_counting();
  tile.push(tile.loads_of(false, a, 2));
  struct Step {
    bool first, last, part;
    unsigned half;
  };
  // The second sum goes on in a new bank, of which it takes the first images.
  constexpr Step steps[] = {{true, false, true, 0},
                            {false, true, true, 1},
                            {true, false, true, 0},
                            {false, false, true, 1},
                            {false, true, true, 0}};
  std::deque<Bank> of_b;
  std::vector<const Bank*> a_used, b_used;
  for (const Step& step : steps) {
    const bool again = !step.first && step.half == 0;
    if (again) tile.push(tile.loads_of(false, a, 1));
    if (step.first) a_used.clear(), b_used.clear();
    const Bank& b = of_b.emplace_back(tile.random.bank(true, c.b_fmt, beats, Style::finite));
    tile.push(tile.loads_of(true, b, 1));
    c.first = step.first, c.last = step.last, c.part_a = step.part;
    c.release_a = &step == &steps[3] || &step == &steps[4];
    a_used.push_back(&halves[step.half]), b_used.push_back(&b);
    tile.activity.add(c, halves[step.half], b);
    if (c.last) tile.expect_results(c, a_used, b_used);
    tile.await("compute queue full", [&] {
      const std::uint32_t status = tile.status();
      return regs::status::compute_space.get(status) > 1 && regs::status::load_space.get(status) > 2;
    });
    tile.push(c);
  }
  tile.settle();
  tile.expect_counters();
  tile.expect_idle();
  tile.bench.vector();

  for (const bool part_before : {true, false}) {
    tile.describe = part_before ? "whole bank of A after a part of it" : "part of a bank of A after the whole bank";
    c.part_a = part_before, c.first = true, c.last = c.release_a = false;
    const Bank one = slice(a, 0, beats);
    tile.push(tile.loads_of(false, one, 1));
    const Bank b1 = tile.random.bank(true, c.b_fmt, beats, Style::finite);
    const Bank b2 = tile.random.bank(true, c.b_fmt, beats, Style::finite);
    tile.start_counting();
    for (const Bank* b : {&b1, &b2}) {
      tile.push(tile.loads_of(true, *b, 1));
      tile.activity.add(c, one, *b);
      if (c.last) tile.expect_results(c, {&one, &one}, {&b1, &b2});
      tile.push(c);
      c.part_a = !part_before, c.first = false, c.last = c.release_a = true;
    }
    tile.settle();
    tile.expect_counters();
    tile.expect_idle();
    tile.bench.vector();
  }
}

inline void expect_mismatch(Harness& tile) {
  tile.await("error not found", [&] { return regs::status::error.get(tile.status()) != 0; });
  tile.bench.expect_eq("STATUS.error", regs::status::error.get(tile.status()),
                       static_cast<std::uint32_t>(regs::TileError::bank_mismatch), [&] { return tile.describe; });
  tile.wait(rows * groups + 20);
  tile.bench.expect_eq("results missing", tile.words_expected(), std::size_t{0}, [&] { return tile.describe; });
  tile.soft_reset();
  tile.bench.vector();
}

/// A bank is complete with too few images, or too many, while a command computes with it, which releases it or keeps
/// it: what is finished leaves.
inline void wrong_bank(Harness& tile, bool b, int more, bool keep) {
  tile.describe = std::string(keep ? "kept" : "released") + " bank of " + (b ? "B" : "A") +
                  (more > 0 ? " with an image too many" : " with too few");
  const unsigned panels = 3, images = more > 0 ? panels + 1 : panels - 1, finished = more > 0 ? 2 : 1;
  Command c = tile.random.shaped(b ? 1 : panels, b ? panels : 1, 1);
  c.release_a = c.release_b = !keep;
  const Operands operands(tile, c, Style::finite);
  Bank wrong = b ? operands.b : operands.a;
  wrong.images.resize(images, wrong.images.front());
  tile.irq_known = false;
  tile.push(c);
  // The image with which the bank is complete is not computed with; nor is the last one, as long as it is not complete.
  tile.expect_results_up_to(finished * rows * groups, c, operands.a, operands.b);
  load_part(tile, !b, b ? operands.a : operands.b, false);
  load_part(tile, b, slice(wrong, 0, finished), true);
  tile.await("the first tiles", [&] { return tile.words_expected() == 0; });
  load_part(tile, b, slice(wrong, finished, 1), more > 0);
  if (more > 0) load_part(tile, b, slice(wrong, 0, 1), false);
  expect_mismatch(tile);
}

/// A sum goes on behind the end of the bank of A, which is complete before, or becomes so; it may be full.
inline void behind_the_bank(Harness& tile, bool late, bool full) {
  tile.describe = std::string("behind the bank of A, ") + (full ? "full, " : "") + (late ? "late" : "at once");
  const unsigned beats = full ? a_depth : tile.random.upto(std::min({3U, a_depth, b_depth, max_beats / 2}));
  if (beats > std::min(b_depth, max_beats / 2)) return;
  Command c = tile.random.shaped(1, 1, beats);
  const Bank a = tile.random.bank(false, c.a_fmt, beats, Style::finite);
  const Bank b = tile.random.bank(true, c.b_fmt, beats, Style::finite);
  tile.irq_known = false;
  c.part_a = true, c.last = c.release_a = false;
  for (int i = 0; i < 2; ++i) tile.push(tile.loads_of(true, b, 1));
  if (!late) tile.push(tile.loads_of(false, a, 1));
  tile.push(c);
  c.first = false, c.last = true;
  tile.push(c);
  tile.wait(tile.random.upto(50));
  if (late) tile.push(tile.loads_of(false, a, 1));
  expect_mismatch(tile);
}

/// The last command of a bank of A takes a part of it, and waits for the rest, which nobody takes: what is not complete
/// is not released. One that keeps the bank does not wait.
inline void release_of_a_part(Harness& tile) {
  tile.describe = "release of a bank of A of which a part is taken";
  const unsigned beats = tile.random.upto(std::min({2U, a_depth / 2, b_depth, max_beats}));
  Command c = tile.random.shaped(1, 1, beats);
  c.part_a = true;
  const Bank a = tile.random.bank(false, c.a_fmt, 2 * beats, Style::finite);
  const Bank taken = slice(a, 0, beats), b = tile.random.bank(true, c.b_fmt, beats, Style::finite);
  load_part(tile, false, taken, true);
  c.release_a = c.release_b = false;
  tile.push(c);
  tile.expect_results(c, {&taken}, {&b});
  load_part(tile, true, b, false);
  tile.await("results of the command that keeps the bank", [&] { return tile.words_expected() == 0; });
  c.release_a = c.release_b = true;
  tile.push(c);
  tile.expect_results(c, {&taken}, {&b});
  const std::size_t words = tile.words_expected();
  tile.wait(200 + drain_cuts);
  tile.bench.expect_eq("words before the bank is complete", words - tile.words_expected(), std::size_t{0},
                       [&] { return tile.describe; });
  load_part(tile, false, slice(a, beats, beats), false);
  tile.settle();
  tile.expect_idle();
  tile.bench.vector();
}

inline void streaming(Harness& tile) {
  for (const bool b : {false, true}) last_image(tile, b);
  parts_of_a(tile);
  release_of_a_part(tile);
  for (const bool b : {false, true}) {
    for (const int more : {-1, 1}) {
      for (const bool keep : {false, true}) wrong_bank(tile, b, more, keep);
    }
  }
  for (const bool late : {false, true}) {
    for (const bool full : {false, true}) behind_the_bank(tile, late, full);
  }
}

}  // namespace narrowgauge::tile_bench
