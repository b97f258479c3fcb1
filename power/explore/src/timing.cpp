// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/power/explore/timing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace narrowgauge::power {
namespace {

using Time = std::int64_t;  // the number of a clock cycle, counted from the driver's call

constexpr Time long_ago = -(Time{1} << 40);
constexpr Time never = std::numeric_limits<Time>::max() / 4;

// What the driver (firmware/src/ng_tile.c) and its port to a simulated tile (tile_bus.hpp, tile_bus_on_pins.hpp of the
// engines) do and wait.
constexpr Time access_cycles = 3;            // a register, read or written
constexpr Time longest_idle = 64;            // TileDriverPort
constexpr std::int64_t queue_depth = 4;      // commands in a queue of the tile
constexpr std::int64_t packets_at_once = 4;  // TileDriverPort
constexpr std::int64_t command_beats = 64;   // DEFAULT_COMMAND_BEATS
constexpr Time accesses_before = 6;          // ng_tile_gemm_start: STATUS, SIGNATURE, LOADS, DONE, both of IRQ
constexpr Time accesses_behind = 3;          // of the last step: LOADS, DONE, SIGNATURE
constexpr Time settings = 2;                 // registers written before the first COMPUTE: FORMAT, SCALE
constexpr Time load_to_word = 1;             // from the end of the write of LOAD to the first word at the loader
constexpr Time compute_to_beat = 2;          // from the end of the write of COMPUTE to the first image addressed
constexpr Time row_to_word = 3;              // from a group of numbers leaving the array's queue to its word
constexpr Time followed = 8192;              // cycles for which no product is shortened
constexpr Time far = 65536;                  // products of more are shortened at once
constexpr Time last_rounds = 1024;           // of the driver, in cycles, that are followed in those
constexpr Time refill = 8;                   // from the end of a load to the next that finds its place in the queue

std::int64_t quotient_up(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }

// As the driver cuts: `total` in `parts` parts, one or more, that differ by one at most, the smaller ones first.
struct Cut {
  Cut(std::int64_t total, std::int64_t parts) : parts(parts), size(total / parts), smaller(parts - total % parts) {}
  std::int64_t part(std::int64_t index) const { return size + (index >= smaller ? 1 : 0); }
  // How many parts from `index` on are as large.
  std::int64_t alike(std::int64_t index) const { return (index < smaller ? smaller : parts) - index; }
  // Is the part at `index` as large as the one before? For index > 0.
  bool as_before(std::int64_t index) const { return index != smaller; }

  std::int64_t parts, size, smaller;  // `smaller` parts of `size`, then those of one more
};

struct Plan {
  std::int64_t a_panels, b_panels, beats, passes, blocks, chunks;
  std::int64_t first_chunk;  // panels of it
  bool a_fits;               // a panel of A in its bank
  bool one_pass() const { return passes == 1; }
  bool a_stays() const { return !one_pass() && a_fits; }
  bool b_stays() const { return one_pass() && chunks == 1; }
};

Plan plan_of(const TileShape& tile, const GemmShape& gemm) {
  Plan plan{};
  plan.a_panels = quotient_up(gemm.m, tile.rows);
  plan.b_panels = quotient_up(gemm.n, tile.cols);
  plan.beats = quotient_up(gemm.k, tile.lanes);
  plan.passes = quotient_up(plan.beats, std::min(tile.a_depth, tile.b_depth));
  plan.a_fits = plan.beats <= tile.a_depth;
  plan.blocks = plan.a_panels;
  plan.chunks = plan.b_panels;
  plan.first_chunk = 1;
  if (plan.one_pass()) {
    plan.blocks = quotient_up(plan.a_panels, tile.a_depth / plan.beats);
    const std::int64_t beats_a_panel = quotient_up(plan.a_panels, plan.blocks) * plan.beats;
    const std::int64_t most = std::min(tile.b_depth / plan.beats, plan.b_panels);
    const std::int64_t size = std::min(quotient_up(command_beats, beats_a_panel), most);
    const bool slow = quotient_up(plan.a_panels, plan.blocks) <= tile.b_words();
    plan.first_chunk = slow ? size : std::max(size, std::min(tile.a_words(), most));
    plan.chunks = 1 + quotient_up(plan.b_panels - plan.first_chunk, size);
  }
  return plan;
}

// Words that leave without a gap, `count` times, every `period` cycles.
struct Burst {
  Time first, last, period;
  std::int64_t count;
  Time end() const { return last + (count - 1) * period; }
  // The first cycle from `from` on in which a word leaves, or never.
  Time next(Time from) const {
    if (from <= last) return std::max(from, first);
    if (count == 1) return never;
    const std::int64_t turn = quotient_up(from - last, period);
    return turn < count ? std::max(from, first + turn * period) : never;
  }
};

struct Command {
  Time taken;         // from the queue
  bool panels, edge;  // registers written for it
};

// Max-plus recurrences for all units of the tile. Every member of `State` is a time, so that a repetition shows as the
// same number added to all.
class Timing {
 public:
  // What happened, in its order; the memory serves product after product.
  struct Lists {
    std::vector<Time> loads;
    std::vector<Command> commands;
    std::vector<Burst> bursts;
  };

  Timing(const TileShape& tile, const GemmShape& gemm, Lists& lists)
      : plan_(plan_of(tile, gemm)),
        rows_(tile.rows),
        groups_(quotient_up(std::int64_t{tile.cols} * 32, tile.stream_width)),
        stages_(tile.stages),
        load_cuts_(tile.load_cuts),
        command_cuts_(tile.command_cuts),
        convert_cuts_(tile.convert_cuts),
        scale_cuts_(tile.scale_cuts),
        turns_(tile.turns),
        a_words_(tile.a_words()),
        b_words_(tile.b_words()),
        a_edge_(gemm.m % tile.rows != 0),
        b_edge_(gemm.n % tile.cols != 0),
        followed_(plan_.a_panels * plan_.b_panels * std::max(plan_.beats, rows_ * groups_) > far ? 0 : followed),
        loads_(lists.loads),
        commands_(lists.commands),
        bursts_(lists.bursts) {
    loads_.clear();
    commands_.clear();
    bursts_.clear();
  }

  GemmWork run() {
    if (plan_.one_pass()) {
      one_pass();
    } else if (plan_.a_stays()) {
      passes_of_b();
    } else {
      many_passes();
    }
    GemmWork work;
    work.cycles = driver();
    work.beats = plan_.a_panels * plan_.b_panels * plan_.beats;
    work.a_images = a_images_;
    work.b_images = b_images_;
    work.words_in = a_images_ * a_words_ + b_images_ * b_words_;
    work.words_out = plan_.a_panels * plan_.b_panels * rows_ * groups_;
    work.loads = load_count_;
    work.computes = compute_count_;
    return work;
  }

 private:
  // Two banks, [0] the one that is being loaded: since when it may be, and since when it can be computed with.
  struct Banks {
    std::array<Time, 2> free{}, complete{};
  };
  // A load into a bank: behind its last image are so many, and that one can be computed with from `end` on.
  struct Arrival {
    std::int64_t images;
    Time end;
  };
  // Of the last tile of results.
  struct Results {
    Time summed = long_ago;                      // the last beat reaches the accumulators
    Time shadowed = long_ago;                    // the accumulators go to the shadow registers
    Time unloaded = long_ago;                    // the last row leaves these
    Time row = long_ago, row_before = long_ago;  // the last rows leave the array's queue

    Results moved(Time time) const {
      return {summed + time, shadowed + time, unloaded + time, row + time, row_before + time};
    }
    bool operator==(const Results&) const = default;
  };
  struct State {
    Time loader = 0;     // takes the next word from here on
    Time sequencer = 0;  // addresses the next image
    Banks a, b;
    Results results;
    std::array<Time, queue_depth> loaded{long_ago, long_ago, long_ago, long_ago};  // the last loads, oldest first
  };
  static constexpr std::size_t times = sizeof(State) / sizeof(Time);
  using Times = std::array<Time, times>;

  // ---- units

  void load(bool b, std::int64_t images, bool more) {
    Time start = load_count_ < queue_depth ? driver_start + access_cycles * (load_count_ + 1) + load_to_word
                                           : s_.loaded[0] + refill;
    Banks& banks = b ? s_.b : s_.a;
    start = std::max({start, s_.loader + load_cuts_, banks.free[0] + load_cuts_});
    s_.loader = start + images * (b ? b_words_ : a_words_);
    std::shift_left(s_.loaded.begin(), s_.loaded.end(), 1);
    s_.loaded.back() = s_.loader;
    loads_.push_back(s_.loader);
    ++load_count_;
    (b ? b_images_ : a_images_) += images;
    auto& arrivals = arrivals_[b];
    arrivals[0].push_back({images + (arrivals[0].empty() ? 0 : arrivals[0].back().images), s_.loader});
    banks.complete[0] = s_.loader;
    if (more) return;
    std::swap(banks.free[0], banks.free[1]);
    std::swap(banks.complete[0], banks.complete[1]);
    std::swap(arrivals[0], arrivals[1]);
    ++full_[b];
  }

  // When the last image of a panel can be computed with at the earliest, if all come as they do: images from `first`
  // on, so many of them, of the current bank, one a cycle.
  Time last_image(bool b, std::int64_t first, std::int64_t images) const {
    Time last = long_ago;
    for (auto load = arrivals_[b][turn(b)].rbegin(); load != arrivals_[b][turn(b)].rend(); ++load) {
      const std::int64_t begin = std::next(load) == arrivals_[b][turn(b)].rend() ? 0 : std::next(load)->images;
      const std::int64_t end = std::min(load->images, first + images);
      if (end > std::max(begin, first))
        last = std::max(last, load->end - (load->images - end) * (b ? b_words_ : a_words_) + first + images - end);
      if (begin <= first) break;
    }
    return last;
  }

  // A command of `a_panels` x `b_panels` tiles of `beats`; first, last: of their sums; a_first: its first image of A.
  // Its end: the cycle after its last image.
  Time compute(std::int64_t a_panels, std::int64_t b_panels, std::int64_t beats, bool first, bool last,
               std::int64_t a_first = 0) {
    const std::int64_t tiles = a_panels * b_panels;
    const bool panels = compute_count_ == 0 || tiles != tiles_before_ || new_block_;
    const int edge = (last_block_ && a_edge_ ? 1 : 0) | (last_chunk_ && b_edge_ ? 2 : 0);
    const bool edge_written = compute_count_ == 0 || edge != edge_before_;
    tiles_before_ = tiles;
    edge_before_ = edge;
    new_block_ = false;
    // It comes to the head of its queue when the one before it is taken, and is checked there.
    const Time head = commands_.empty() ? long_ago : commands_.back().taken + command_cuts_;
    Time start = std::max({s_.sequencer, head + 2, last_image(false, a_first, 1), last_image(true, 0, 1)});
    const Time b_complete = s_.b.complete[turn(true)], complete = std::max(s_.a.complete[turn(false)], b_complete);
    Time taken = std::max(s_.sequencer - 1, head + 1);
    if (compute_count_ < queue_depth) {
      pushed_ += access_cycles * (1 + panels + edge_written + (compute_count_ == 0 ? settings : 0));
      start = std::max(start, pushed_ + compute_to_beat + command_cuts_);
      taken = std::max(taken, pushed_ + compute_to_beat - 1 + command_cuts_);
    }
    commands_.push_back({taken, panels, edge_written});
    ++compute_count_;

    // A sum starts when the one before is in the shadow registers.
    Results r = s_.results;  // a copy, which stays in registers
    Time beat = std::max(start + stages_ + 1, r.summed + 1);
    // The last beat of a tile, which begins with `beat`: it waits for images that have not come.
    const auto summed = [&](std::int64_t tile) {
      const Time end = beat + beats - 1;
      const Time a = last_image(false, a_first + tile / b_panels * beats, beats);
      const Time b = last_image(true, tile % b_panels * beats, beats);
      return std::max(end, std::max(a, b) + stages_ + 1);
    };
    // The tiles from this one on, which begins with `beat`, whose images are all there by then: up to which.
    const auto there_until = [&](std::int64_t tile) {
      if (beat > complete + stages_) return tiles;
      if (beat <= b_complete + stages_) return tile;
      const std::int64_t row = tile / b_panels;
      return beat > last_image(false, a_first + row * beats, beats) + stages_ ? (row + 1) * b_panels : tile;
    };
    if (!last) {
      if (first) beat = std::max(beat, r.shadowed);
      r.summed = summed(0);
    } else {
      int even = 0;  // times in a row that all have moved by the same
      for (std::int64_t i = 0; i < tiles; ++i) {
        const Results before = r;
        if (first) beat = std::max(beat, r.shadowed);
        const std::int64_t until = there_until(i);
        r.summed = until > i ? beat + beats - 1 : summed(i);
        beat = r.summed + 1;
        drain(r);
        // Once all move in step, so do the tiles to come; the first has perhaps waited for other things than they. Of
        // results with gaps between them, a few are kept as bursts of their own.
        const Time moved = r.summed - before.summed;
        even = until > i && r == before.moved(moved) ? even + 1 : 0;
        if (i > 0 && even > 0 && (moved <= rows_ * groups_ || (i > 2 && even > 1))) {
          const std::int64_t count = until - 1 - i;
          r = r.moved(count * moved);
          if (count > 0) repeat_burst(count, moved);
          i += count;
          beat = r.summed + 1;
          even = 0;
        }
      }
    }
    s_.results = r;
    s_.sequencer = r.summed - stages_;
    return s_.sequencer;
  }

  // A tile of results leaves accumulators, shadow registers, the stages of the conversion and the array's queue of two
  // rows. The drain takes a row every groups_ cycles. The stages are taken for places of the queue; where groups_ is 2
  // or more, and the queue full, gaps in them may cost a few cycles that are not counted here.
  void drain(Results& r) {
    r.shadowed = std::max(r.summed + 1, r.unloaded);
    const Time stages = convert_cuts_, places = stages * groups_;
    const Time first_in = std::max(r.shadowed + 1, r.row_before + 1 - places);
    const Time first = std::max(first_in + stages + groups_, r.row + groups_);
    const Time row_before = r.row, last = first + (rows_ - 1) * groups_;
    r.unloaded = rows_ == 1 ? first_in : std::max(first_in + rows_ - 1, row_before + rows_ - 1 - places);
    if (rows_ > 2 + stages) r.unloaded = std::max(r.unloaded, last - 2 * groups_ - places + 1);
    r.row = last;
    r.row_before = rows_ == 1 ? row_before : last - groups_;
    const Time from = first - groups_ + 1 + row_to_word + scale_cuts_, to = last + row_to_word + scale_cuts_;
    if (!bursts_.empty() && bursts_.back().count == 1 && from <= bursts_.back().last + 1) {
      bursts_.back().last = to;
    } else {
      bursts_.push_back({from, to, 1, 1});
    }
  }

  void repeat_burst(std::int64_t count, Time period) {
    Burst& burst = bursts_.back();
    const Time length = rows_ * groups_;
    if (length >= period) {  // no gap between them
      burst.last += count * period;
    } else {
      bursts_.push_back({burst.first + period, burst.last + period, period, count});
    }
  }

  // ---- the driver's plan

  void one_pass() {
    const Cut blocks{plan_.a_panels, plan_.blocks};
    std::int64_t first_loads = 1;  // of those that the driver's first round can push
    for (std::int64_t block = 0; block < plan_.blocks && first_loads < queue_depth; ++block) {
      for (std::int64_t chunk = 0; chunk < plan_.chunks && first_loads < queue_depth; ++chunk) {
        first_loads += !(plan_.b_stays() && block != 0);
        first_loads +=
            block + 1 < plan_.blocks && piece_of(pieces_of(blocks.part(block + 1) * plan_.beats), chunk) != 0;
      }
    }
    pushed_ = driver_start + access_cycles * std::min(first_loads, queue_depth);

    Rhythm rhythm;
    for (std::int64_t block = 0; block < plan_.blocks; ++block) {
      last_block_ = block + 1 == plan_.blocks;
      new_block_ = block == 0 || blocks.part(block) != blocks.part(block - 1);
      chunks_of(blocks.part(block), last_block_ ? 0 : blocks.part(block + 1) * plan_.beats);
      // Blocks alike, all but the last two, are in one rhythm.
      const std::int64_t more = std::min(blocks.alike(block), plan_.blocks - block) - 3;
      const bool alike = block > 0 && blocks.part(block) == blocks.part(block - 1) && !last_block_ &&
                         blocks.part(block + 1) == blocks.part(block);
      if (const auto times = rhythm.beat(*this, alike); times && more > 0) {
        repeat(*times, more);
        block += more;
        rhythm.forget();
      }
    }
  }

  // The pieces of the next block: none in the first chunk of several.
  Cut pieces_of(std::int64_t images) const { return {images, plan_.chunks - skipped()}; }
  std::int64_t skipped() const { return plan_.chunks > 1 ? 1 : 0; }
  std::int64_t piece_of(const Cut& pieces, std::int64_t chunk) const {
    return chunk < skipped() ? 0 : pieces.part(chunk - skipped());
  }

  void chunks_of(std::int64_t a_panels, std::int64_t next_images) {
    const Cut pieces = pieces_of(next_images),
              others{plan_.b_panels - plan_.first_chunk, std::max<std::int64_t>(plan_.chunks - 1, 1)};
    Rhythm rhythm;
    for (std::int64_t chunk = 0; chunk < plan_.chunks; ++chunk) {
      last_chunk_ = chunk + 1 == plan_.chunks;
      const bool b_loaded = !plan_.b_stays() || compute_count_ == 0;
      const std::int64_t b_panels = chunk == 0 ? plan_.first_chunk : others.part(chunk - 1);
      if (b_loaded) load(true, b_panels * plan_.beats, false);
      if (compute_count_ == 0) load(false, a_panels * plan_.beats, false);
      const Time end = compute(a_panels, b_panels, plan_.beats, true, true);
      if (last_chunk_) release(false, end);
      if (!plan_.b_stays() || last_block_) release(true, end);
      if (const std::int64_t piece = piece_of(pieces, chunk); piece != 0) load(false, piece, !last_chunk_);
      if (chunk == 0) continue;
      const bool alike = chunk > 1 && others.as_before(chunk - 1) && pieces.as_before(chunk - 1);
      const std::int64_t more = std::min(others.alike(chunk - 1), pieces.alike(chunk - 1)) - 3;
      if (const auto times = rhythm.beat(*this, alike); times && more > 0) {
        repeat(*times, more);
        chunk += more;
        rhythm.forget();
      }
    }
  }

  void passes_of_b() {
    pushed_ = driver_start + access_cycles * queue_depth;
    const Cut beats{plan_.beats, plan_.passes};
    Rhythm blocks;
    for (std::int64_t block = 0; block < plan_.blocks; ++block) {
      last_block_ = block + 1 == plan_.blocks;
      const Cut pieces = pieces_of(last_block_ ? 0 : plan_.beats);
      Rhythm chunks;
      for (std::int64_t chunk = 0; chunk < plan_.chunks; ++chunk) {
        last_chunk_ = chunk + 1 == plan_.chunks;
        std::int64_t taken = 0;
        for (std::int64_t pass = 0; pass < plan_.passes; ++pass) {
          const std::int64_t part = beats.part(pass);
          const bool last = pass + 1 == plan_.passes;
          load(true, part, false);
          if (block == 0 && chunk == 0) load(false, part, !last);
          const Time end = compute(1, 1, part, pass == 0, last, taken);
          taken += part;
          if (last_chunk_ && last) release(false, end);
          release(true, end);
        }
        if (const std::int64_t piece = piece_of(pieces, chunk); piece != 0) load(false, piece, !last_chunk_);
        if (chunk == 0) continue;
        const bool alike = chunk > 1 && pieces.as_before(chunk - 1);
        const std::int64_t more = pieces.alike(chunk - 1) - 3;
        if (const auto times = chunks.beat(*this, alike); times && more > 0) {
          repeat(*times, more);
          chunk += more;
          chunks.forget();
        }
      }
      const std::int64_t more = plan_.blocks - block - 3;
      if (const auto times = blocks.beat(*this, block > 0 && !last_block_); times && more > 0) {
        repeat(*times, more);
        block += more;
        blocks.forget();
      }
    }
  }

  void many_passes() {
    pushed_ = driver_start + access_cycles * queue_depth;
    const Cut beats{plan_.beats, plan_.passes};
    Rhythm blocks;
    for (std::int64_t block = 0; block < plan_.blocks; ++block) {
      last_block_ = block + 1 == plan_.blocks;
      Rhythm chunks;
      for (std::int64_t chunk = 0; chunk < plan_.chunks; ++chunk) {
        last_chunk_ = chunk + 1 == plan_.chunks;
        for (std::int64_t pass = 0; pass < plan_.passes; ++pass) {
          const std::int64_t part = beats.part(chunk % 2 == 0 || !turns_ ? pass : plan_.passes - 1 - pass);
          const bool last = pass + 1 == plan_.passes;
          load(true, part, false);
          if (pass != 0 || chunk == 0 || !turns_) load(false, part, false);
          const Time end = compute(1, 1, part, pass == 0, last);
          if (last_chunk_ || !last || !turns_) release(false, end);
          release(true, end);
        }
        // Two chunks, one forth and one back where tiles turn, are a rhythm.
        const std::int64_t more = (plan_.chunks - chunk - 3) / 2;
        if (chunk % 2 == 0) continue;
        if (const auto times = chunks.beat(*this, chunk > 1); times && more > 0) {
          repeat(*times, more);
          chunk += 2 * more;
          chunks.forget();
        }
      }
      const std::int64_t more = plan_.blocks - block - 3;
      if (const auto times = blocks.beat(*this, block > 0); times && more > 0) {
        repeat(*times, more);
        block += more;
        blocks.forget();
      }
    }
  }

  // The bank to be computed with: of two complete ones the older, and without one, that which is being loaded.
  std::size_t turn(bool b) const { return full_[b] == 1 ? 1 : 0; }
  void release(bool b, Time end) {
    (b ? s_.b : s_.a).free[turn(b)] = end;
    arrivals_[b][turn(b)].clear();
    --full_[b];
  }

  // ---- repetition

  struct Counts {
    std::int64_t loads, computes, a_images, b_images;
  };
  Counts counts() const { return {load_count_, compute_count_, a_images_, b_images_}; }

  struct Period {
    Time time;
    Counts counts;
  };

  // Watches one loop of the plan.
  struct Rhythm {
    int seen = 0;
    std::array<State, 2> kept;  // after the last two turns
    std::size_t last = 0;       // index of the later one in `kept`
    Counts counts{};

    // After each turn. The period, if this turn moved all times by the same, as the turn before did. `alike`: the turn
    // had the same sizes as the one before.
    std::optional<Period> beat(const Timing& timing, bool alike) {
      std::optional<Period> period;
      if (alike && seen >= 2 && timing.s_.sequencer > timing.followed_) period = same_step(timing);
      last ^= 1;
      kept[last] = timing.s_;
      counts = timing.counts();
      seen = alike ? seen + 1 : 1;
      return period;
    }

    void forget() { seen = 0; }

   private:
    std::optional<Period> same_step(const Timing& timing) const {
      const State &before = kept[last], &first = kept[last ^ 1];
      const Time moved = timing.s_.sequencer - before.sequencer;
      if (!is_later(timing.s_, before, moved) || !is_later(before, first, moved)) return std::nullopt;
      const Counts count = timing.counts();
      return Period{moved,
                    {count.loads - counts.loads, count.computes - counts.computes, count.a_images - counts.a_images,
                     count.b_images - counts.b_images}};
    }
  };

  // Is x what y is, all times moved? Those that no longer matter are taken for what they are compared with.
  static bool is_later(const State& x, const State& y, Time moved) {
    const auto later = [&](Time of_x, Time of_y) { return of_x - of_y == moved; };
    const auto banks = [&](const Banks& of_x, const Banks& of_y) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (!later(std::max(of_x.free[i], x.loader), std::max(of_y.free[i], y.loader)) ||
            !later(std::max(of_x.complete[i], x.sequencer), std::max(of_y.complete[i], y.sequencer)))
          return false;
      }
      return true;
    };
    if (!later(x.sequencer, y.sequencer) || !later(x.loader, y.loader) || x.results != y.results.moved(moved) ||
        !banks(x.a, y.a) || !banks(x.b, y.b))
      return false;
    for (std::size_t i = 0; i < queue_depth; ++i)
      if (!later(std::max(x.loaded[i], x.loader - refill), std::max(y.loaded[i], y.loader - refill))) return false;
    return true;
  }

  void repeat(const Period& period, std::int64_t turns) {
    const Time time = period.time * turns;
    Times t = std::bit_cast<Times>(s_);
    for (Time& x : t) x += time;
    s_ = std::bit_cast<State>(t);
    load_count_ += period.counts.loads * turns;
    compute_count_ += period.counts.computes * turns;
    a_images_ += period.counts.a_images * turns;
    b_images_ += period.counts.b_images * turns;
    // Of what was before, the end is kept, moved to the end.
    const auto keep = [](auto& list, std::size_t count) {
      if (list.size() > count) list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(count));
    };
    keep(loads_, 8);
    keep(commands_, 6);
    keep(bursts_, 4);
    for (auto& banks : arrivals_)
      for (auto& bank : banks)
        for (Arrival& x : bank) x.end += time;
    for (Time& x : loads_) x += time;
    for (Command& x : commands_) x.taken += time;
    for (Burst& x : bursts_) x.first += time, x.last += time;
    whole_ = false;
  }

  // ---- the driver's rounds

  Time packet_left(std::size_t load) const { return loads_[load] - 2; }

  // When ng_tile_gemm returns.
  Time driver() const {
    const Time end = bursts_.back().end();  // the last word
    Time round = accesses_before * access_cycles;
    std::size_t pushed = 0, sent = 0, commands = 0;  // counts up to this moment
    std::size_t loaded = 0, taken = 0, left = 0, burst = 0;
    if (!whole_ || end > far) {  // all is in its rhythm
      round = std::max({loads_.front(), commands_.front().taken, end - last_rounds});
      while (loaded < loads_.size() && loads_[loaded] <= round) ++loaded;
      while (taken < commands_.size() && commands_[taken].taken < round) ++taken;
      pushed = sent = std::min<std::size_t>(loads_.size(), loaded + queue_depth);
      commands = std::min<std::size_t>(commands_.size(), taken + queue_depth);
    }
    bool unsent = false;
    for (;;) {
      // STATUS is sampled in the second of its three cycles.
      while (loaded < loads_.size() && loads_[loaded] <= round + 1) ++loaded;
      while (taken < commands_.size() && commands_[taken].taken <= round) ++taken;
      std::size_t load_space = queue_depth - (pushed - std::min(pushed, loaded));
      std::size_t compute_space = queue_depth - (commands - std::min(commands, taken));
      Time now = round + access_cycles;
      for (;;) {
        if (unsent) {
          while (left < sent && packet_left(left) < now) ++left;
          if (sent - left >= static_cast<std::size_t>(packets_at_once)) break;
          ++sent;
          unsent = false;
        }
        if (load_space == 0 || pushed == loads_.size()) break;
        --load_space;
        ++pushed;
        now += access_cycles;
        unsent = true;
      }
      for (; compute_space != 0 && commands < commands_.size(); --compute_space, ++commands)
        now += access_cycles *
               (1 + commands_[commands].panels + commands_[commands].edge + (commands == 0 ? settings : 0));
      // Idle, with all results there: LOADS, DONE and SIGNATURE are read.
      if (end <= round) return now + accesses_behind * access_cycles;
      // Woken by a packet that has left, by a result, or by the clock.
      while (left < sent && packet_left(left) < now) ++left;
      while (burst < bursts_.size() && bursts_[burst].end() < now) ++burst;
      Time wake = now + longest_idle - 1;
      if (left < sent) wake = std::min(wake, packet_left(left));
      if (burst < bursts_.size()) wake = std::min(wake, bursts_[burst].next(now));
      round = wake + 1;
      // While words come without a gap and nothing else happens, a round is four cycles.
      if (!unsent && burst < bursts_.size() && bursts_[burst].count == 1 && bursts_[burst].first <= now) {
        Time quiet = std::min(bursts_[burst].last, end) - 3;
        if (pushed < loads_.size() && loaded < loads_.size()) quiet = std::min(quiet, loads_[loaded] - 3);
        if (commands < commands_.size() && taken < commands_.size())
          quiet = std::min(quiet, commands_[taken].taken - 3);
        if (left < sent) quiet = std::min(quiet, packet_left(left) - 3);
        if (quiet > round) round += (quiet - round) / (access_cycles + 1) * (access_cycles + 1);
      }
    }
  }

  static constexpr Time driver_start = (accesses_before + 1) * access_cycles;  // after the first STATUS

  Plan plan_;
  std::int64_t rows_, groups_, stages_, load_cuts_, command_cuts_, convert_cuts_, scale_cuts_;
  bool turns_;
  std::int64_t a_words_, b_words_;
  bool a_edge_, b_edge_;
  Time followed_;  // no repetition is looked for before
  State s_;
  std::array<int, 2> full_{};                                    // complete banks of A, of B
  std::array<std::array<std::vector<Arrival>, 2>, 2> arrivals_;  // of A, of B, in their banks
  Time pushed_ = 0;                                              // the driver's first round has written so far
  std::int64_t load_count_ = 0, compute_count_ = 0, a_images_ = 0, b_images_ = 0, tiles_before_ = 0;
  int edge_before_ = 0;
  bool last_block_ = false, last_chunk_ = false, new_block_ = false;
  bool whole_ = true;  // nothing was multiplied out: what follows is all that happened
  std::vector<Time>& loads_;
  std::vector<Command>& commands_;
  std::vector<Burst>& bursts_;
};

void check(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw Error(std::string(name) + " is " + std::to_string(value) + "; expected " + std::to_string(least) + " to " +
              std::to_string(most));
}

void check_power(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most && std::has_single_bit(static_cast<std::uint64_t>(value))) return;
  throw Error(std::string(name) + " is " + std::to_string(value) + "; expected a power of two from " +
              std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

void validate(const TileShape& tile) {
  check("rows", tile.rows, 1, 255);
  check("cols", tile.cols, 1, 255);
  check("lanes", tile.lanes, 2, 510);
  check("a_row_bits", tile.a_row_bits, 1, 1 << 20);
  check("b_col_bits", tile.b_col_bits, 1, 1 << 20);
  check("stages", tile.stages, 1, 16);
  check_power("stream_width", tile.stream_width, 32, 1024);
  check_power("a_depth", tile.a_depth, 2, 32768);
  check_power("b_depth", tile.b_depth, 2, 32768);
  check("max_beats", tile.max_beats, 1, 0x7FFFFFFF);
  check("load_cuts", tile.load_cuts, 0, 1);
  check("command_cuts", tile.command_cuts, 0, 2);
  check("convert_cuts", tile.convert_cuts, 0, 8);
  check("scale_cuts", tile.scale_cuts, 0, 8);
}

GemmWork estimate_gemm(const TileShape& tile, const GemmShape& gemm) {
  validate(tile);
  check("m", gemm.m, 1, 0x7FFFFFFF);
  check("n", gemm.n, 1, 0x7FFFFFFF);
  check("k", gemm.k, 1, 0x7FFFFFFF);
  if (const std::int64_t beats = quotient_up(gemm.k, tile.lanes); beats > tile.max_beats) {
    throw Error("k is " + std::to_string(gemm.k) + ", which takes " + std::to_string(beats) +
                " beats; expected at most max_beats, " + std::to_string(tile.max_beats));
  }
  if (static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k) > 0x1p50) {
    throw Error("the product of " + std::to_string(gemm.m) + " x " + std::to_string(gemm.n) + " x " +
                std::to_string(gemm.k) + " has more than 2^50 multiplications: split it");
  }
  thread_local Timing::Lists lists;
  return Timing(tile, gemm, lists).run();
}

}  // namespace narrowgauge::power
