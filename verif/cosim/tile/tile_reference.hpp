// SPDX-License-Identifier: Apache-2.0
// What the tile must do, as its bench knows it: the results of commands by the golden matrix product, what their beats
// add to the counters of activity, and interrupt, resets and counters of time as they follow from the bus, cycle by
// cycle.
#pragma once

#include <bit>
#include <deque>
#include <iterator>
#include <limits>

#include "../axi.hpp"
#include "../bench.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/integer_results.hpp"
#include "narrowgauge/quant/requantize.hpp"
#include "tile_types.hpp"

namespace narrowgauge::tile_bench {

using namespace narrowgauge::bench;

// ---------------------------------------------------------------- results

/// Vectors of `vectors` rows or columns, over the panels and beats of banks that follow each other along k; of a sparse
/// A what is stored. `b`: of B.
inline QuantizedMatrix matrix(const std::vector<const Bank*>& banks, unsigned vectors, unsigned panels, unsigned used,
                              bool b) {
  const unsigned fmt = banks.front()->fmt;
  QuantizedMatrix q;
  q.scheme = mx             ? mx_scheme(element_format[fmt])
             : fmt == nvfp4 ? Scheme::nvfp4
             : fmt != luq   ? Scheme::fp8
             : b            ? Scheme::luq
                            : Scheme::int4;
  q.element = element_format[fmt];
  q.rows = (panels - 1) * vectors + used;
  for (std::size_t v = 0; v < q.rows; ++v) {
    const std::size_t panel = v / vectors, row = v % vectors;
    for (const Bank* bank : banks) {
      const std::size_t beats = bank->images.size() / panels;
      for (std::size_t k = 0; k < beats; ++k) {
        const Image& image = bank->images[panel * beats + k];
        for (unsigned l = 0; l < image.lanes; ++l)
          q.codes.push_back(image.elements[row * image.lanes + l] & (narrow(fmt) ? 0xF : 0xFF));
        if (!mx && fmt != nvfp4) continue;
        for (unsigned s = 0; s < blocks; ++s) q.scales.push_back(image.scales[row * blocks + s] & (mx ? 0xFF : 0x7F));
      }
    }
  }
  q.k = q.k_padded = q.codes.size() / q.rows;
  return q;
}

/// Metadata of a row of a sparse A, over the beats of banks that follow each other along k, a nibble each.
inline std::vector<std::uint8_t> metadata(const std::vector<const Bank*>& banks, unsigned panels, std::size_t v) {
  std::vector<std::uint8_t> nibbles;
  for (const Bank* bank : banks) {
    const std::size_t beats = bank->images.size() / panels;
    for (std::size_t k = 0; k < beats; ++k) {
      const auto first = bank->images[v / rows * beats + k].metadata.begin() + v % rows * metadata_a_row;
      nibbles.insert(nibbles.end(), first, first + metadata_a_row);
    }
  }
  return nibbles;
}

/// Exact sums of a sparse A's rows: each is a dense product of what it stores and what stands at its places in B.
/// Illegal metadata make a row NaN.
inline std::vector<float> sparse_sums(const QuantizedMatrix& qa, const QuantizedMatrix& qb,
                                      const std::vector<const Bank*>& a, unsigned a_panels) {
  std::vector<float> sums;
  for (std::size_t v = 0; v < qa.rows; ++v) {
    const std::vector<std::uint8_t> nibbles = metadata(a, a_panels, v);
    QuantizedMatrix row = qa, met = qb;
    row.rows = 1;
    row.codes.assign(qa.codes.begin() + v * qa.k, qa.codes.begin() + (v + 1) * qa.k);
    row.scales.assign(qa.scales.begin() + v * qa.scales.size() / qa.rows,
                      qa.scales.begin() + (v + 1) * qa.scales.size() / qa.rows);
    met.k = met.k_padded = qa.k;
    met.codes.clear();
    for (std::size_t n = 0; n < qb.rows; ++n) {
      for (std::size_t group = 0; group < nibbles.size(); ++group) {
        const std::uint8_t* dense = qb.codes.data() + n * qb.k + group * 4;
        met.codes.push_back(dense[nibbles[group] & 3]);
        met.codes.push_back(dense[nibbles[group] >> 2]);
      }
    }
    std::vector<float> of_row = gemm_sums(row, met, 1);
    if (!std::ranges::all_of(nibbles, [](unsigned nibble) { return is_metadata(nibble); }))
      std::ranges::fill(of_row, std::numeric_limits<float>::quiet_NaN());
    sums.insert(sums.end(), of_row.begin(), of_row.end());
  }
  return sums;
}

/// Results in a format of the set: images of the next operand A. `c`: all numbers, in use or not, row-major. `amax`
/// becomes AMAX.
inline std::vector<StreamWord> images_of(const Command& c, const std::vector<float>& numbers, std::uint32_t& amax) {
  const unsigned width = c.b_panels * cols, images = (c.b_panels + image_tiles - 1) / image_tiles;
  const QuantizedMatrix q = requantize(numbers, c.a_panels * rows, width, static_cast<ResultFormat>(c.results),
                                       std::bit_cast<float>(c.tensor_scale), c.relu);
  amax = std::max(amax, requantize_amax(numbers, c.relu));
  const unsigned scale_of_zeros = is_result_scale(ResultFormat::nvfp4, q.tensor_scale) ? 0 : 0x7F;
  std::vector<StreamWord> results;
  for (unsigned i = 0; i < c.a_panels; ++i) {
    for (unsigned image = 0; image < images; ++image) {
      Word bits(words_per_image(false) * stream_words);
      for (unsigned r = 0; r < rows; ++r) {
        const std::size_t row = i * rows + r;
        for (unsigned e = 0; e < lanes && image * lanes + e < q.k_padded; ++e)
          set_bits(bits, (r * lanes + e) * elem_width, elem_width, q.codes[row * q.k_padded + image * lanes + e]);
        if (q.scheme != Scheme::nvfp4) continue;
        // A block behind the last column is one of zeros, whose scale is 0 or, under a refused factor, NaN.
        for (unsigned s = 0; s < blocks; ++s) {
          const std::size_t block = image * blocks + s;
          set_bits(bits, rows * lanes * elem_width + (r * blocks + s) * 8, 8,
                   block < q.blocks() ? q.scales[row * q.blocks() + block] : scale_of_zeros);
        }
      }
      for (unsigned w = 0; w < words_per_image(false); ++w) {
        const bool last = i + 1 == c.a_panels && image + 1 == images && w + 1 == words_per_image(false);
        results.push_back(
            {Word(bits.begin() + w * stream_words, bits.begin() + (w + 1) * stream_words), last, last && c.irq});
      }
    }
  }
  return results;
}

/// The words that a command with `last` sends. The numbers of unused rows and columns are +0 times the scale.
inline std::vector<StreamWord> results_of(const Command& c, const std::vector<const Bank*>& a,
                                          const std::vector<const Bank*>& b, std::uint32_t& amax) {
  const QuantizedMatrix qa = matrix(a, rows, c.a_panels, c.rows_used, false),
                        qb = matrix(b, cols, c.b_panels, c.cols_used, true);
  const std::vector<float> sums = sparse ? sparse_sums(qa, qb, a, c.a_panels) : gemm_sums(qa, qb, 1);
  const float alpha = std::bit_cast<float>(c.scale);
  const auto number = [&](std::size_t y, std::size_t x) {
    return epilogue(y < qa.rows && x < qb.rows ? sums[y * qb.rows + x] : 0.0F, alpha);
  };
  if (c.results != 0) {
    std::vector<float> numbers;
    for (unsigned y = 0; y < c.a_panels * rows; ++y)
      for (unsigned x = 0; x < c.b_panels * cols; ++x) numbers.push_back(number(y, x));
    return images_of(c, numbers, amax);
  }
  std::vector<StreamWord> results;
  for (unsigned i = 0; i < c.a_panels; ++i) {
    for (unsigned j = 0; j < c.b_panels; ++j) {
      for (unsigned r = 0; r < rows; ++r) {
        Word row(groups * stream_words + 1);
        for (unsigned col = 0; col < cols; ++col) {
          const std::size_t y = i * rows + r, x = j * cols + col;
          const float y_value = number(y, x);
          if (c.int8)
            set_bits(row, 8 * col, 8, static_cast<std::uint8_t>(int8_result(y_value, c.zero_point)));
          else if (c.bf16)
            set_bits(row, 16 * col, 16, encode(Format::bf16, y_value, {.overflow = Overflow::ieee}));
          else
            row[col] = std::bit_cast<std::uint32_t>(y_value);
        }
        const unsigned a_word = c.int8 ? 4 : c.bf16 ? 2 : 1, count = (groups + a_word - 1) / a_word;
        for (unsigned w = 0; w < count; ++w) {
          Word word(row.begin() + w * stream_words,
                    row.begin() + std::min((w + 1) * stream_words, groups * stream_words));
          word.resize(stream_words);
          const bool last = i + 1 == c.a_panels && j + 1 == c.b_panels && r + 1 == rows && w + 1 == count;
          results.push_back({std::move(word), last, last && c.irq});
        }
      }
    }
  }
  return results;
}

// ---------------------------------------------------------------- activity

/// What beats add to the counters of products, zeros and flips.
class Activity {
 public:
  /// Counters start anew; flips are still those from the last beat's operands.
  void clear() { counts_ = {}, beats_ = 0; }
  /// After a reset.
  void forget() {
    clear();
    previous_a_.assign(rows * lanes, 0), previous_b_.assign(cols * b_lanes, 0);
  }

  void add(const Command& c, const Bank& a, const Bank& b) {
    for (unsigned i = 0; i < c.a_panels; ++i) {
      for (unsigned j = 0; j < c.b_panels; ++j) {
        for (unsigned k = 0; k < c.beats; ++k) {
          const unsigned used_rows = i + 1 == c.a_panels ? c.rows_used : rows;
          const unsigned used_cols = j + 1 == c.b_panels ? c.cols_used : cols;
          counts_[products] += used_rows * used_cols * lanes;
          beats_ += 1;
          const unsigned payload = has_int8 ? 0xFF : narrow(c.b_fmt) ? 0x7 : 0x7F;  // integers have no sign bit
          const unsigned a_payload = c.a_fmt == luq && !has_int8 ? 0xF : narrow(c.a_fmt) ? 0x7 : has_int8 ? 0xFF : 0x7F;
          add_side(a.images[i * c.beats + k], used_rows, a_payload, previous_a_, zero_a, flips_a);
          add_side(b.images[j * c.beats + k], used_cols, payload, previous_b_, zero_b, flips_b);
        }
      }
    }
  }

  std::uint64_t operator[](Counter which) const { return counts_[which]; }
  std::uint64_t beats() const { return beats_; }

 private:
  void add_side(const Image& image, unsigned used, unsigned payload, std::vector<std::uint8_t>& previous, Counter zeros,
                Counter flips) {
    for (unsigned i = 0; i < image.elements.size(); ++i) {
      const bool in_use = i < used * image.lanes;
      const std::uint8_t element = in_use ? image.elements[i] : 0;
      counts_[zeros] += in_use && (element & payload) == 0;
      counts_[flips] += static_cast<unsigned>(std::popcount(static_cast<unsigned>(element ^ previous[i])));
      previous[i] = element;
    }
  }

  Counts counts_{};
  std::uint64_t beats_ = 0;
  std::vector<std::uint8_t> previous_a_, previous_b_;
};

// ---------------------------------------------------------------- registers

/// What accesses do, cycle by cycle, as docs/registers.md says; and the counters that the bench keeps by the clock.
class Registers {
 public:
  /// The cycle `now`, before its clock edge. `result_done`: the last word of a command's results leaves; `done_event`:
  /// one that asks for the interrupt.
  void step(const axi::LiteSignals& bus, std::uint64_t now, bool result_done, bool done_event) {
    const bool write = aw_held_ && w_held_ && !bus.bvalid, read = ar_held_ && !bus.rvalid;
    if (read) snapshot_ = {.count = count_, .most_busy = most_busy_, .at = now};
    std::uint32_t cleared = 0;
    next_soft_reset_ = false;
    bool next_clear = false, pushed = false;
    if (write && (strobes_ & 1)) {
      if (address_ == regs::irq_enable::offset) irq_enable_ = data_ & 3;
      if (address_ == regs::irq_pending::offset) cleared = data_ & 3;
      if (address_ == regs::control::offset) {
        next_soft_reset_ = regs::control::soft_reset.get(data_);
        next_clear = regs::control::clear_counters.get(data_);
      }
      pushed = address_ == regs::compute::offset;
    }
    irq_pending_ = (irq_pending_ & ~cleared) | (done_event ? 1U : 0U);
    count(now, result_done);
    clear_ = next_clear;
    compute_pulse_ = pushed;
    pushed_last_ = regs::compute::last.get(data_);
    hold(bus);
  }
  /// The clock edge.
  void advance() {
    core_reset_ = soft_reset_;
    soft_reset_ = next_soft_reset_;
  }
  /// A reset: nothing of the old work comes.
  void forget() {
    irq_enable_ = irq_pending_ = 0;
    in_flight_.clear();
  }
  /// A reset that is released by the next clock.
  void assert_core_reset() { core_reset_ = true; }

  bool irq() const { return (irq_enable_ & irq_pending_) != 0; }
  /// In this cycle: the register's pulse; the core's reset, one later.
  bool soft_reset() const { return soft_reset_; }
  bool core_reset() const { return core_reset_; }
  /// The cycle in which the latest compute command reached the core.
  std::uint64_t compute_at() const { return compute_at_; }

  /// Counters of cycles and of the least busy ones, and the most busy ones, as the latest read takes them.
  struct Snapshot {
    Counts count{};
    std::uint64_t most_busy = 0, at = 0;
  };
  const Snapshot& snapshot() const { return snapshot_; }
  void keep(const Snapshot& snapshot) { snapshot_ = snapshot; }

 private:
  /// A command with results is busy from the cycle after it is pushed until the last one has left; of a command
  /// without, only the results of the sum that it belongs to tell.
  void count(std::uint64_t now, bool result_done) {
    const bool surely = std::ranges::count(in_flight_, true) > 0, perhaps = !in_flight_.empty();
    ++count_[cycles];
    count_[busy] += surely;
    most_busy_ += perhaps;
    if (compute_pulse_) {
      compute_at_ = now;
      in_flight_.push_back(pushed_last_);
    }
    if (clear_ || soft_reset_ || core_reset_) count_ = {}, most_busy_ = 0;
    if (result_done) in_flight_.erase(in_flight_.begin(), std::next(std::ranges::find(in_flight_, true), surely));
  }
  void hold(const axi::LiteSignals& bus) {
    const bool write_done = bus.bvalid && bus.bready, read_done = bus.rvalid && bus.rready;
    if (!aw_held_ && bus.awvalid) address_ = bus.awaddr;
    if (!w_held_ && bus.wvalid) data_ = bus.wdata, strobes_ = bus.wstrb;
    aw_held_ = aw_held_ ? !write_done : bus.awvalid;
    w_held_ = w_held_ ? !write_done : bus.wvalid;
    ar_held_ = ar_held_ ? !read_done : bus.arvalid;
  }

  bool aw_held_ = false, w_held_ = false, ar_held_ = false;
  std::uint32_t address_ = 0, data_ = 0, strobes_ = 0;
  std::uint32_t irq_enable_ = 0, irq_pending_ = 0;
  bool soft_reset_ = false, next_soft_reset_ = false, core_reset_ = false, clear_ = false;
  bool compute_pulse_ = false, pushed_last_ = false;
  Counts count_{};
  std::uint64_t most_busy_ = 0, compute_at_ = 0;
  Snapshot snapshot_;
  std::deque<bool> in_flight_;  // commands in order: whether they have results
};

}  // namespace narrowgauge::tile_bench
