// SPDX-License-Identifier: Apache-2.0
// Directed cases of the tile's bench: identity, cycle counts of undisturbed commands, stall counters to the cycle,
// results that close up, sums of MaxBeats beats.
#pragma once

#include "tile_harness.hpp"

namespace narrowgauge::tile_bench {

inline void identity(Harness& tile) {
  tile.describe = "identity";
  tile.expect_register("MAGIC", regs::magic::offset, 0x4E475431);
  tile.expect_register("GEOMETRY", regs::geometry::offset, rows | cols << 8 | lanes << 16 | format_set << 24);
  tile.expect_register("DEPTHS", regs::depths::offset, a_depth | b_depth << 16);
  tile.expect_register("STREAM", regs::stream::offset,
                       NG_STREAM_WIDTH / 8 | NG_COUNTERS << 8 | NG_REQUANTIZE << 9 | NG_SPARSE << 10 | NG_CODEC << 11 |
                           NG_ENCODERS << 15 | NG_PROTECT << 19 | NG_DEADLINE << 20 | NG_INTEGERS << 21 | NG_MX << 22);
  tile.expect_register("MAX_BEATS", regs::max_beats::offset, max_beats);
  tile.expect_idle();
}

/// Three writes and three reads in a row, each offered before the one ahead is answered, and answers that are taken
/// late: the driver's own master asks one thing at a time (found 2026-11-26 by injected faults: channels that go silent
/// once a request has waited).
inline void overlapping_accesses(Harness& tile) {
  tile.describe = "overlapping accesses";
  unsigned aw = 3, w = 3, ar = 3, cycles = 0;  // requests to be taken
  tile.drive_bus = [&](axi::LiteSignals& s) {
    if (cycles > 0) {  // the slave's signals are those of the cycle before
      aw -= aw > 0 && s.awready;
      w -= w > 0 && s.wready;
      ar -= ar > 0 && s.arready;
    }
    s.awvalid = aw > 0;
    s.wvalid = w > 0;
    s.arvalid = ar > 0;
    s.awaddr = s.araddr = regs::scale::offset;
    s.wdata = regs::scale::reset;
    s.wstrb = 0xF;
    s.bready = s.rready = ++cycles % 4 == 0;
  };
  tile.wait(60);
  tile.drive_bus = nullptr;
  tile.bench.expect(aw + w + ar == 0, [] { return "requests behind others were not taken in 60 cycles"; });
  tile.expect_register("SCALE", regs::scale::offset, regs::scale::reset);
  tile.bench.vector();
}

/// Random banks for a command, and what it makes of them.
struct Operands {
  Operands(Harness& tile, const Command& c, Style style)
      : a(tile.random.bank(false, c.a_fmt, c.a_panels * c.beats, style)),
        b(tile.random.bank(true, c.b_fmt, c.b_panels * c.beats, style)) {}
  void load(Harness& tile) const {
    tile.push(tile.loads_of(false, a, 1));
    tile.push(tile.loads_of(true, b, 1));
  }
  void expect(Harness& tile, const Command& c) const {
    tile.activity.add(c, a, b);
    tile.expect_results(c, {&a}, {&b});
  }
  /// Loads both and waits until they are complete.
  void preload(Harness& tile, const Command& c) const {
    load(tile);
    tile.await("loading", [&] { return tile.words_to_feed() == 0; });
    tile.wait(4);
    expect(tile, c);
  }
  Bank a, b;
};

/// The stated cycle counts of one command, undisturbed; and that a complete bank costs no cycle.
inline void latency(Harness& tile) {
  // Long tiles that hide the drain, and single beats on one tile.
  const unsigned beats = std::min({rows * groups, a_depth / 2, b_depth / 2});
  Stimulus& random = tile.random;
  for (const Command& shape : {random.shaped(1, 1, 1), random.shaped(2, 2, beats), random.shaped(1, 2, beats)}) {
    if (shape.beats < rows * groups && shape.a_panels * shape.b_panels > 1) continue;  // the drain would be waited for
    const Operands operands(tile, shape, Style::finite);
    tile.describe = "latency of " + std::to_string(shape.a_panels * shape.b_panels) + " tiles";
    tile.start_counting();
    operands.preload(tile, shape);
    tile.push(shape);
    tile.settle();
    const std::uint64_t all_beats = shape.a_panels * shape.b_panels * shape.beats;
    // Queue, check, address, array, its stages, its queue; then the drain's three; and the cuts.
    const std::uint64_t expected = all_beats + stages + rows * groups + 8 + command_cuts + drain_cuts +
                                   (all_beats > rows * groups ? gap_cycles : 0);
    tile.bench.expect_eq("cycles from COMPUTE to the last result", tile.last_out() - tile.compute_at(), expected,
                         [&] { return tile.describe; });
    tile.expect_counter(busy, expected);
    tile.expect_counter(stall_in, 0);
    tile.expect_counter(stall_out, 0);
    tile.expect_counters();
    tile.expect_idle();
    tile.bench.vector();
  }
}

/// Both banks of both operands are filled before any command computes (found 2026-11-22 by an injected fault: a loader
/// that waits for the bank in use is right, and slow).
inline void loads_ahead(Harness& tile) {
  const Command c = tile.random.shaped(1, 1, 1);
  const Operands first(tile, c, Style::finite), second(tile, c, Style::finite);
  tile.describe = "loads ahead";
  tile.start_counting();
  first.load(tile);
  second.load(tile);
  tile.await("loading both banks", [&] { return tile.words_to_feed() == 0; });
  for (const Operands* operands : {&first, &second}) {
    operands->expect(tile, c);
    tile.push(c);
  }
  tile.settle();
  tile.expect_counters();
  tile.expect_idle();
  tile.bench.vector();
}

/// Results as operand A: the stated cycle counts, and that tiles as long as FP32 takes to drain wait for nothing.
inline void requantizing(Harness& tile) {
  if (!requantizes) return;
  const unsigned beats = rows * groups;
  for (Command c : {tile.random.shaped(1, 1, 1), tile.random.shaped(2, image_tiles, beats)}) {
    if (c.a_panels * c.beats > a_depth || c.b_panels * c.beats > b_depth) continue;
    if (c.a_panels > 1 && !images_flow) continue;
    c.results = tile.random.result_format();
    c.tensor_scale = 0x47000000;
    const Operands operands(tile, c, Style::finite);
    tile.describe = "operand A of " + std::to_string(c.a_panels * c.b_panels) + " tiles";
    tile.start_counting();
    operands.preload(tile, c);
    tile.push(c);
    tile.settle();
    const std::uint64_t all_beats = c.a_panels * c.b_panels * c.beats;
    tile.bench.expect_eq("cycles from COMPUTE to the last result", tile.last_out() - tile.compute_at(),
                         all_beats + stages + rows * groups + 8 + command_cuts + drain_cuts +
                             requantize_cycles(c.results) + (all_beats > beats ? gap_cycles : 0),
                         [&] { return tile.describe; });
    tile.expect_counter(stall_out, 0);
    tile.expect_counters();
    tile.expect_idle();
    tile.bench.vector();
  }
}

/// Results in INT8: each zero point that is a corner, factors that spread them over the codes and beyond, and as many
/// cycles as FP32 takes for them.
inline void integers(Harness& tile) {
  if (!has_integers) return;
  for (unsigned exponent = 0; exponent < 16; ++exponent) {
    for (const int zero_point : {-256, -128, -1, 0, 1, 127, 255}) {
      Command c = tile.random.shaped(1, 1, 1 + exponent % 2);
      c.int8 = true;
      c.zero_point = zero_point;
      c.scale = (127 + 4 - exponent) << 23;
      const Operands operands(tile, c, Style::finite);
      tile.describe = "INT8, zero point " + std::to_string(zero_point);
      tile.start_counting();
      operands.preload(tile, c);
      tile.push(c);
      tile.settle();
      tile.bench.expect_eq("cycles from COMPUTE to the last result", tile.last_out() - tile.compute_at(),
                           c.beats + stages + rows * groups + 8 + command_cuts + drain_cuts,
                           [&] { return tile.describe; });
      tile.expect_counters();
      tile.expect_idle();
      tile.bench.vector();
    }
  }
}

inline void wait_for_input(Harness& tile) {
  tile.describe = "waiting for input";
  const Command c = tile.random.shaped(1, 1, std::min({8U, a_depth, b_depth, max_beats}));
  const Operands operands(tile, c, Style::finite);
  tile.start_counting();
  tile.push(c);
  const std::uint64_t pushed = tile.compute_at();
  tile.wait(tile.random.upto(50));
  const double in = std::exchange(tile.pace.in, 0);
  operands.load(tile);
  operands.expect(tile, c);
  tile.wait(tile.random.upto(50));
  tile.pace.in = in;
  tile.settle();
  // From the third cycle after the write on (and the cuts of its check), until the last word has gone through its
  // queue; but by then, all images but the last have been computed with.
  tile.expect_counter(stall_in, tile.last_in() - pushed - 1 - command_cuts - (c.beats - 1));
  tile.expect_counter(stall_out, 0);
  tile.expect_counter(busy, tile.last_out() - pushed);
  tile.expect_counters();
  tile.bench.vector();
}

inline void wait_for_output(Harness& tile, bool bf16) {
  tile.describe = bf16 ? "waiting for output, BF16" : "waiting for output";
  const unsigned panels = std::min({a_depth, b_depth, 16U});
  Command c = tile.random.shaped(panels, panels, 1);
  c.bf16 = bf16;
  const Operands operands(tile, c, Style::finite);
  tile.start_counting();
  operands.preload(tile, c);
  const double out = std::exchange(tile.pace.out, 0);
  tile.push(c);
  tile.wait(100);
  const std::uint64_t one = tile.counter(stall_out), one_at = tile.counter_read_at();
  tile.wait(tile.random.upto(100));
  const std::uint64_t two = tile.counter(stall_out), two_at = tile.counter_read_at();
  const bool blocks = panels * panels > 8;
  tile.bench.expect_eq("stall_out while blocked", two - one, has_counters && blocks ? two_at - one_at : 0,
                       [&] { return tile.describe; });
  // Then a word a cycle; in BF16, behind the two that wait, one every two cycles if a row has two groups.
  tile.pace.out = out;
  const std::uint64_t go = tile.now(), words = tile.words_expected();
  tile.settle();
  if (!bf16 || groups <= 2)
    tile.bench.expect_eq("cycles of all results", tile.last_out() - go,
                         bf16 && groups == 2 ? 2 * (words - 2) : words - 1, [&] { return tile.describe; });
  tile.expect_counters();
  tile.expect_idle();
  tile.bench.vector();
}

/// Stall counters, to the cycle.
inline void stalls(Harness& tile) {
  wait_for_input(tile);
  for (const bool bf16 : {false, true}) wait_for_output(tile, bf16);
}

/// Results that wait for the output close up: some leave, more come, and then all leave, a word a cycle. Stages of cuts
/// stand still together, so a gap among them stays, a cycle for each stage at most.
inline void bubbles(Harness& tile) {
  for (unsigned some = 1; some < std::min(5U, rows * groups); ++some) {
    tile.describe = "results that wait, " + std::to_string(some) + " have left";
    const double out = std::exchange(tile.pace.out, 0);
    for (unsigned i = 0; i < 2; ++i) {
      const Command c = tile.random.shaped(1, 1, 1);
      Operands(tile, c, Style::finite).preload(tile, c);
      tile.push(c);
      tile.wait(100);
      if (i == 0) {
        tile.pace.out = 1;
        tile.wait(some);
        tile.pace.out = 0;
      }
    }
    tile.pace.out = out;
    const std::uint64_t go = tile.now(), words = tile.words_expected();
    tile.settle();
    tile.bench.expect_eq("words that waited", words, std::uint64_t{2 * rows * groups - some},
                         [&] { return tile.describe; });
    const std::uint64_t cycles = tile.last_out() - go;
    tile.bench.expect(cycles >= words - 1 && cycles <= words - 1 + drain_cuts,
                      [&] { return tile.describe + ": cycles of all results: " + std::to_string(cycles); });
    tile.expect_idle();
    tile.bench.vector();
  }
}

/// The longest sum of the largest products, from banks that stay: MaxBeats beats, or `more`, which are too many.
inline void long_sum(Harness& tile, bool more) {
  unsigned beats = std::min({a_depth, b_depth, max_beats});
  while (max_beats % beats != 0) --beats;
  Command c = tile.random.shaped(1, 1, beats);
  const Operands operands(tile, c, Style::extreme);
  operands.load(tile);
  const unsigned passes = max_beats / beats + (more ? 1 : 0);
  if (!more)
    tile.expect_results(c, std::vector<const Bank*>(passes, &operands.a),
                        std::vector<const Bank*>(passes, &operands.b));
  for (unsigned p = 0; p < passes; ++p) {
    c.first = p == 0, c.last = p + 1 == passes;
    c.release_a = c.release_b = c.last;
    tile.await("compute queue full", [&] { return regs::status::compute_space.get(tile.status()) != 0; });
    tile.activity.add(c, operands.a, operands.b);
    tile.push(c);
  }
  tile.bench.vector();
}
inline void longest_sum(Harness& tile) {
  tile.describe = "longest sum";
  tile.start_counting();
  long_sum(tile, false);
  tile.settle();
  tile.expect_counters();
  tile.expect_idle();
}

}  // namespace narrowgauge::tile_bench
