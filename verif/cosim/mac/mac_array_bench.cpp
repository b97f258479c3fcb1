// SPDX-License-Identifier: Apache-2.0
// ng_mac_array against exact integer sums: random jobs of all lengths and formats of the set, back to back, with random
// bubbles, output stalls, disabled rows and columns, NaN, infinities and resets in mid-flight; the longest job of the
// largest products; and the cycle count of the stream that nothing stalls.
// The golden value of an operand comes from the format table, not from the model of the dot units.
// With NG_MX sums of blocks, each rounded to FP32 and added in FP32.
// Build parameters: NG_ROWS, NG_COLS, NG_LANES, NG_FORMAT_SET, NG_MAX_BEATS, NG_CELL_CUTS, NG_CONVERT_CUTS, NG_SPARSE,
// NG_MX.
#include <array>
#include <bit>
#include <cmath>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/fixed_to_fp32.hpp"
#include "narrowgauge/mac/fp_mac.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/sparse/metadata.hpp"
#include "narrowgauge/tile/tile_regs.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr int rows = NG_ROWS, cols = NG_COLS, lanes = NG_LANES;
constexpr unsigned format_set = NG_FORMAT_SET;
constexpr std::uint64_t max_beats = NG_MAX_BEATS;
constexpr bool has_fp4 = format_set & format_set::nvfp4;
constexpr bool has_e4m3 = format_set & format_set::e4m3, has_e5m2 = format_set & format_set::e5m2;
constexpr bool has_fp8 = has_e4m3 || has_e5m2, has_luq = format_set & format_set::luq;  // with NG_MX: MXINT8
constexpr bool sparse = NG_SPARSE != 0;
constexpr int b_lanes = sparse ? 2 * lanes : lanes, metadata_a_row = sparse ? lanes / 2 : 0;  // nibbles
constexpr bool mx = NG_MX != 0;
constexpr int elem_width = format_set::element_bits(format_set, mx), blocks = has_fp4 && !mx ? lanes / 16 : 1;
// Beside A's elements: of each block its scale, if NVFP4 is in the set, and above it metadata.
constexpr unsigned a_block_width = !sparse ? 8 : has_fp4 ? 40 : 32, a_blocks = sparse ? lanes / 16 : blocks;
constexpr int lsb_exp = has_e5m2 ? -32 : has_fp4 ? -20 : has_e4m3 ? -18 : mx ? -12 : 0;
constexpr int latency = (has_fp4 || mx ? 3 : 2) + 3 + std::popcount(NG_CELL_CUTS & ~2U) +
                        std::popcount(NG_CONVERT_CUTS + 0U);  // last beat accepted to first row offered, in cycles

using tile_regs::TileElement;
enum Fmt : unsigned {
  e4m3 = static_cast<unsigned>(TileElement::e4m3),
  e5m2 = static_cast<unsigned>(TileElement::e5m2),
  fp4 = static_cast<unsigned>(TileElement::nvfp4),
  luq = static_cast<unsigned>(TileElement::luq)
};
constexpr unsigned int4 = 4;  // LUQ's A, in lists by Fmt
constexpr Format element[] = {Format::e4m3, Format::e5m2, Format::e2m1,
                              mx ? Format::int8_mx : Format::e3m0};  // by Fmt; of luq those of B
constexpr bool in_set(unsigned fmt) {
  return fmt == luq ? has_luq : fmt == fp4 ? has_fp4 : fmt == e4m3 ? has_e4m3 : has_e5m2;
}

/// How the operands of a job are drawn.
enum class Style { any, finite, extreme, special, zero, count };

struct Side {
  std::vector<std::uint8_t> codes, scales;  // vectors x lanes (of B b_lanes), vectors x blocks
  std::vector<std::uint8_t> metadata;       // of a sparse A: rows x metadata_a_row
  std::vector<bool> enabled;
};
struct Beat {
  bool first = false, last = false;
  unsigned a_fmt = 0, b_fmt = 0;
  Side a, b;
};
struct Job {
  std::vector<Beat> beats;
};

/// An operand of a dot product as an integer in units of 2^lsb; infinities are flagged by their sign.
struct Operand {
  std::int64_t value = 0;
  int inf = 0;
  bool nan = false;
};
constexpr int unit_exp(unsigned fmt) { return fmt == e4m3 ? -9 : fmt == e5m2 ? -16 : fmt == fp4 ? -1 : mx ? -6 : 0; }
/// `int4`: LUQ's A.
Operand operand(unsigned fmt, std::uint8_t code, bool int4) {
  if (int4) return {.value = static_cast<std::int8_t>(code << 4) / 16};
  const FormatDesc& f = desc(element[fmt]);
  if (f.is_nan(code)) return {.nan = true};
  if (f.is_inf(code)) return {.inf = f.is_negative(code) ? -1 : 1};
  return {.value = static_cast<std::int64_t>(std::ldexp(decode(f, code), -unit_exp(fmt)))};
}

struct Sum {
  __int128 value = 0;
  SumFlags flags;
  float chain = 0;  // of MX, instead
};

class MacArrayBench {
 public:
  MacArrayBench(int argc, char** argv)
      : bench_(argc, argv,
               "mac_array " + std::to_string(rows) + "x" + std::to_string(cols) + "x" + std::to_string(lanes) +
                   " formats " + std::to_string(format_set),
               20'000),
        dut_(bench_),
        output_(bench_, "results") {
    for (unsigned fmt = 0; fmt < operands_.size(); ++fmt) {
      for (unsigned code = 0; code < 256; ++code)
        operands_[fmt][code] = operand(fmt % 4, static_cast<std::uint8_t>(code), fmt == int4);
    }
  }

  int run() {
    reset();
    cycle_counts();
    longest();
    special_beside_idle();
    ties();
    illegal_before_reset();
    struct Traffic {
      double bubble, stall;
    };
    // Full speed; starved; blocked; both; nearly blocked.
    constexpr Traffic traffic[] = {{0, 0}, {0.5, 0}, {0, 0.5}, {0.3, 0.3}, {0.05, 0.9}};
    const std::uint64_t end = beats_ + bench_.budget();
    for (std::size_t phase = 0; beats_ < end; ++phase) {
      const Traffic& t = traffic[phase % std::size(traffic)];
      bubble_ = t.bubble;
      stall_ = t.stall;
      for (const std::uint64_t phase_end = std::min(beats_ + 500, end); beats_ < phase_end;) send(random_job());
      if (phase % 4 == 3) {
        reset();  // in mid-flight: nothing of the old jobs may come out
      } else {
        drain();
      }
    }
    bubble_ = stall_ = 0;
    drain();
    bench_.expect(bench_.budget() < 5000 || output_.stalls() > 100,
                  [] { return "the results were hardly ever stalled"; });
    bench_.expect(!sparse || bench_.budget() < 5000 || illegal_beats_ > 5,
                  [] { return "there were hardly any illegal metadata"; });
    return bench_.finish();
  }

 private:
  // ---- stimulus

  unsigned random_fmt() {
    unsigned fmt = 0;
    do fmt = bench_.rng().below(has_luq ? 4 : 3);
    while (!in_set(fmt));
    return fmt;
  }
  // The partner of an FP8 format is any FP8 format of the set; NVFP4's and LUQ's are these.
  unsigned random_partner(unsigned fmt) {
    if (fmt >= fp4) return fmt;
    return has_e4m3 && has_e5m2 ? bench_.rng().below(2) : fmt;
  }

  std::uint8_t random_code(unsigned fmt, Style style, bool negative) {
    const FormatDesc& f = desc(element[fmt % 4]);
    if (fmt == int4) return int4_code(style, negative);
    if (style == Style::extreme) return static_cast<std::uint8_t>(f.max_code() | (negative ? f.sign_mask() : 0));
    if (style == Style::zero) return static_cast<std::uint8_t>(negative ? f.sign_mask() : 0);
    const auto code = static_cast<std::uint8_t>(bench_.rng().bits(static_cast<unsigned>(f.bits)));
    if (style == Style::special && bench_.rng().chance(0.03)) {
      return static_cast<std::uint8_t>(bench_.rng().chance(0.5) ? f.payload_mask() : f.payload_mask() ^ 3U);
    }
    const bool finite = !f.is_nan(code) && !f.is_inf(code);
    return style == Style::any || finite ? code : static_cast<std::uint8_t>(code ^ (1U << f.man_bits));
  }

  std::uint8_t int4_code(Style style, bool negative) {
    if (style == Style::extreme) return negative ? 8 : 7;
    return style == Style::zero ? 0 : static_cast<std::uint8_t>(bench_.rng().bits(4));
  }

  /// Scales of one binade and another, so that sums round; over all, so that terms underflow and overflow; and NaN.
  std::uint8_t mx_scale(Style style) {
    if (style == Style::any || (style == Style::special && bench_.rng().chance(0.03)))
      return static_cast<std::uint8_t>(bench_.rng().bits(8));
    const std::uint32_t middle[] = {127, 127, 64, 190, 40, 250};
    const std::uint32_t at = middle[bench_.rng().below(std::size(middle))], spread = bench_.rng().chance(0.5) ? 3 : 20;
    return static_cast<std::uint8_t>(std::min(at - spread + bench_.rng().below(2 * spread + 1), 254U));
  }

  /// `b`: of B.
  Side random_side(bool b, unsigned fmt, Style style, double disabled, bool negative) {
    const int vectors = b ? cols : rows;
    // Illegal ones, where they do not matter and seldom where they do.
    const double illegal = (style == Style::any || style == Style::special) && bench_.rng().chance(0.1) ? 0.1 : 0;
    Side side;
    for (int i = 0; i < vectors; ++i) {
      side.enabled.push_back(!bench_.rng().chance(disabled));
      for (int lane = 0; lane < (b ? b_lanes : lanes); ++lane) side.codes.push_back(random_code(fmt, style, negative));
      for (int block = 0; block < blocks; ++block) {
        if (mx) {
          side.scales.push_back(mx_scale(style));
          continue;
        }
        std::uint64_t scale = bench_.rng().bits(8);  // the top bit must not matter
        if (style == Style::extreme) scale = 0x7E;
        if ((scale & 0x7F) == 0x7F && style != Style::any && !(style == Style::special && bench_.rng().chance(0.5)))
          scale ^= 1;
        side.scales.push_back(static_cast<std::uint8_t>(scale));
      }
      for (int group = 0; group < (b ? 0 : metadata_a_row); ++group) {
        unsigned nibble = static_cast<unsigned>(bench_.rng().bits(4));
        while (side.enabled.back() && !is_metadata(nibble) && !bench_.rng().chance(illegal))
          nibble = static_cast<unsigned>(bench_.rng().bits(4));
        side.metadata.push_back(static_cast<std::uint8_t>(nibble));
      }
    }
    return side;
  }

  Job random_job() {
    const std::uint64_t length =
        bench_.rng().chance(0.3)
            ? 1
            : 1 + bench_.rng().below(static_cast<std::uint32_t>(std::min<std::uint64_t>(max_beats, 2 * rows + 4)));
    // Mostly finite: a NaN hides the sums of its job.
    constexpr Style styles[] = {Style::finite,  Style::finite, Style::finite, Style::extreme,
                                Style::special, Style::zero,   Style::any};
    const Style style = styles[bench_.rng().below(std::size(styles))];
    const double disabled = bench_.rng().chance(0.6) ? 0 : bench_.rng().chance(0.5) ? 0.3 : 1;
    const bool mixed = bench_.rng().chance(0.2), negative = bench_.rng().chance(0.5);
    unsigned a_fmt = random_fmt(), b_fmt = random_partner(a_fmt);
    Job job;
    for (std::uint64_t i = 0; i < length; ++i) {
      if (mixed) b_fmt = random_partner(a_fmt = random_fmt());
      job.beats.push_back({.first = i == 0,
                           .last = i + 1 == length,
                           .a_fmt = a_fmt,
                           .b_fmt = b_fmt,
                           .a = random_side(false, of_a(a_fmt), style, disabled, negative),
                           .b = random_side(true, b_fmt, style, disabled, false)});
    }
    return job;
  }

  // ---- golden

  static unsigned of_a(unsigned fmt) { return fmt == luq && !mx ? int4 : fmt; }

  std::vector<Operand> values(const Side& side, unsigned fmt) const {
    std::vector<Operand> all;
    for (const std::uint8_t code : side.codes) all.push_back(operands_[fmt][code]);
    return all;
  }

  /// Where in a column's beat element `lane` of a row is multiplied.
  static int place(const Side& a, int r, int lane) {
    if (!sparse) return lane;
    const unsigned nibble = a.metadata[static_cast<std::size_t>(r * metadata_a_row + lane / 2)];
    return lane / 2 * 4 + static_cast<int>(lane % 2 ? nibble >> 2 : nibble & 3);
  }
  static bool illegal(const Side& a, int r) {
    const auto first = a.metadata.begin() + r * metadata_a_row;
    return std::any_of(first, first + metadata_a_row, [](unsigned nibble) { return !is_metadata(nibble); });
  }
  static bool illegal(const Beat& beat) {
    for (int r = 0; r < rows; ++r)
      if (beat.a.enabled[static_cast<std::size_t>(r)] && illegal(beat.a, r)) return true;
    return false;
  }

  /// What a block of MX adds: its exact product times both scales, rounded.
  static float mx_term(const Sum& block, std::uint8_t a_scale, std::uint8_t b_scale) {
    SumFlags flags = block.flags;
    flags.nan |= a_scale == 0xFF || b_scale == 0xFF;
    return fixed_to_fp32(block.value, lsb_exp + a_scale - 127 + b_scale - 127, flags);
  }

  void accumulate(std::vector<Sum>& sums, const Beat& beat) const {
    const std::vector<Operand> a = values(beat.a, of_a(beat.a_fmt)), b = values(beat.b, beat.b_fmt);
    const bool scaled = beat.a_fmt == fp4 && !mx;
    const int shift = unit_exp(beat.a_fmt) + unit_exp(beat.b_fmt) - (scaled ? 18 : 0) - lsb_exp;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        if (!beat.a.enabled[static_cast<std::size_t>(r)] || !beat.b.enabled[static_cast<std::size_t>(c)]) continue;
        Sum block_of_mx;
        Sum& whole = sums[static_cast<std::size_t>(r * cols + c)];
        Sum& sum = mx ? block_of_mx : whole;
        if (illegal(beat.a, r)) {
          sum.flags.nan = true;
          continue;
        }
        for (int block = 0; block < (scaled ? blocks : 1); ++block) {
          __int128 dot = 0;
          for (int l = scaled ? block * 16 : 0; l < (scaled ? block * 16 + 16 : lanes); ++l) {
            const Operand& x = a[static_cast<std::size_t>(r * lanes + l)];
            const Operand& y = b[static_cast<std::size_t>(c * b_lanes + place(beat.a, r, l))];
            if (x.nan || y.nan || (x.inf && !y.inf && y.value == 0) || (y.inf && !x.inf && x.value == 0)) {
              sum.flags.nan = true;
            } else if (x.inf || y.inf) {
              const bool negative = (x.inf ? x.inf < 0 : x.value < 0) != (y.inf ? y.inf < 0 : y.value < 0);
              (negative ? sum.flags.ninf : sum.flags.pinf) = true;
            } else {
              dot += static_cast<__int128>(x.value) * y.value;
            }
          }
          if (scaled) {
            const std::uint8_t sa = beat.a.scales[static_cast<std::size_t>(r * blocks + block)];
            const std::uint8_t sb = beat.b.scales[static_cast<std::size_t>(c * blocks + block)];
            const FormatDesc& f = desc(Format::ue4m3);
            if (f.is_nan(sa) || f.is_nan(sb)) {
              sum.flags.nan = true;
              continue;
            }
            dot *= static_cast<std::int64_t>(std::ldexp(decode(f, sa), 9)) *
                   static_cast<std::int64_t>(std::ldexp(decode(f, sb), 9));
          }
          sum.value += dot << shift;
        }
        if (mx) {
          whole.chain +=
              mx_term(sum, beat.a.scales[static_cast<std::size_t>(r)], beat.b.scales[static_cast<std::size_t>(c)]);
        }
      }
    }
  }

  // ---- driving

  void reset() {
    idle();
    dut_->ready_i = 0;
    dut_.reset();
    expected_.abandon();
    output_.clear();
    taken_illegal_ = false;
  }

  void idle() {
    dut_->valid_i = 0;
    // What is offered without valid must not matter.
    bench_.rng().fill(dut_->a_i, rows * lanes * elem_width);
    bench_.rng().fill(dut_->b_i, cols * b_lanes * elem_width);
    bench_.rng().fill(dut_->a_scale_i, rows * a_blocks * a_block_width);
    bench_.rng().fill(dut_->b_scale_i, cols * blocks * 8);
    dut_->first_i = bench_.rng().bits(1);
    dut_->last_i = bench_.rng().bits(1);
    dut_->row_en_i = bench_.rng().bits(rows);
    dut_->col_en_i = bench_.rng().bits(cols);
    dut_->a_fmt_i = bench_.rng().bits(2);
    dut_->b_fmt_i = bench_.rng().bits(2);
  }

  template <class Codes, class Scales, class Enable>
  void drive(const Side& side, int vectors, unsigned scale_pitch, Codes& codes, Scales& scales, Enable& enable) {
    for (int i = 0; i < vectors; ++i)
      set_bits(enable, static_cast<unsigned>(i), 1, side.enabled[static_cast<std::size_t>(i)]);
    // The upper half of a 4-bit element in an 8-bit array must not matter.
    if (elem_width == 8) bench_.rng().fill(codes, static_cast<unsigned>(side.codes.size()) * elem_width);
    for (unsigned i = 0; i < side.codes.size(); ++i) set_bits(codes, i * elem_width, code_width_, side.codes[i]);
    for (unsigned i = 0; i < side.scales.size() && scale_pitch % 32 != 0; ++i)
      set_bits(scales, i * scale_pitch, 8, side.scales[i]);
    for (unsigned i = 0; i < side.metadata.size(); ++i)
      set_bits(scales, i / 8 * scale_pitch + scale_pitch % 32 + i % 8 * 4, 4, side.metadata[i]);
  }

  void drive(const Beat& beat) {
    dut_->valid_i = 1;
    dut_->first_i = beat.first;
    dut_->last_i = beat.last;
    dut_->a_fmt_i = beat.a_fmt;
    dut_->b_fmt_i = beat.b_fmt;
    code_width_ = static_cast<unsigned>(beat.a_fmt == fp4 || (beat.a_fmt == luq && !mx) ? 4 : 8);
    driven_illegal_ = illegal(beat);
    drive(beat.a, rows, a_block_width, dut_->a_i, dut_->a_scale_i, dut_->row_en_i);
    drive(beat.b, cols, 8, dut_->b_i, dut_->b_scale_i, dut_->col_en_i);
  }

  /// One cycle with the inputs as driven; true if the beat was accepted.
  bool cycle() {
    dut_->ready_i = !bench_.rng().chance(stall_);
    dut_.eval();
    const bool accepted = dut_->valid_i && dut_->ready_o;
    bench_.expect_eq("error_o", static_cast<unsigned>(dut_->error_o), taken_illegal_ ? 1U : 0U,
                     [&] { return "cycle " + std::to_string(cycle_); });
    taken_illegal_ = accepted && driven_illegal_;
    illegal_beats_ += taken_illegal_;
    if (bench_.rng().chance(0.02)) {
      output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
      probe_ready();
    }
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->last_o);
    if (dut_->valid_o && dut_->ready_i) take_row();
    dut_.tick();
    ++cycle_;
    return accepted;
  }

  // ready_o is a function of registers.
  void probe_ready() {
    const auto ready = dut_->ready_o;
    for (auto* input : {&dut_->ready_i, &dut_->valid_i}) {
      *input = !*input;
      dut_.eval();
      bench_.expect(dut_->ready_o == ready, [] { return "ready_o follows ready_i or valid_i combinationally"; });
      *input = !*input;
      dut_.eval();
    }
  }

  void take_row() {
    last_row_cycle_ = cycle_;
    const auto* const shown = expected_.shown();
    if (shown == nullptr) return;
    const std::vector<std::uint32_t>& row = *shown;
    for (int c = 0; c < cols; ++c) {
      bench_.expect_eq("result", static_cast<std::uint32_t>(get_bits(dut_->data_o, static_cast<unsigned>(c) * 32, 32)),
                       row[static_cast<std::size_t>(c)], [&] {
                         return "row " + std::to_string(row.back()) + " column " + std::to_string(c) + " in cycle " +
                                std::to_string(cycle_);
                       });
    }
    bench_.expect_eq("last_o", static_cast<unsigned>(dut_->last_o), row.back() == rows - 1,
                     [&] { return "row " + std::to_string(row.back()); });
    expected_.pop_front();
  }

  void send(const Job& job) {
    std::vector<Sum> sums(rows * cols);
    for (const Beat& beat : job.beats) {
      send(beat);
      accumulate(sums, beat);
    }
    expect(sums);
  }

  void send(const Beat& beat) {
    while (bubble_ > 0 && bench_.rng().chance(bubble_)) {
      idle();
      cycle();
    }
    drive(beat);
    for (int waited = 0; !cycle(); ++waited) {
      if (waited > 100 * rows + 1000) {
        bench_.error("a beat was not accepted for " + std::to_string(waited) + " cycles");
        break;
      }
    }
    if (beat.first) first_accepted_cycle_ = cycle_ - 1;
    ++beats_;
    bench_.vector();
  }

  // The results of a job, in the order in which they come; the row number is the last word.
  void expect(const std::vector<Sum>& sums) {
    for (int r = 0; r < rows; ++r) {
      std::vector<std::uint32_t> row;
      for (int c = 0; c < cols; ++c) {
        const Sum& sum = sums[static_cast<std::size_t>(r * cols + c)];
        row.push_back(mx ? fp32_bits(sum.chain) : fixed_to_fp32_bits(sum.value, lsb_exp, sum.flags));
      }
      row.push_back(static_cast<std::uint32_t>(r));
      expected_.push_back(std::move(row));
    }
  }

  void drain() {
    for (int waited = 0; !expected_.empty(); ++waited) {
      idle();
      cycle();
      if (waited > 100 * rows + 1000) {
        bench_.expect_settled(expected_, "behind the last job");
        return;
      }
    }
    for (int i = 0; i < 2 * rows + latency; ++i) {  // and nothing else comes
      idle();
      cycle();
    }
  }

  // ---- directed

  /// Jobs of n beats follow each other every max(n, rows) cycles; the first row is offered `latency` cycles after the
  /// last beat of its job.
  void cycle_counts() {
    for (const int n : {1, 2, rows - 1, rows, rows + 1, 2 * rows + 3}) {
      if (n < 1 || static_cast<std::uint64_t>(n) > max_beats) continue;
      constexpr int jobs = 5;
      std::uint64_t start = 0;
      for (int j = 0; j < jobs; ++j) {
        Job job = random_job();
        while (job.beats.size() < static_cast<std::size_t>(n)) {
          Job more = random_job();
          job.beats.insert(job.beats.end(), more.beats.begin(), more.beats.end());
        }
        job.beats.resize(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i) {
          job.beats[static_cast<std::size_t>(i)].first = i == 0;
          job.beats[static_cast<std::size_t>(i)].last = i == n - 1;
        }
        send(job);
        if (j == 0) start = first_accepted_cycle_;
      }
      while (!expected_.empty() && cycle_ < start + 1000 * static_cast<unsigned>(n + rows)) {
        idle();
        cycle();
      }
      const int formula = n - 1 + (jobs - 1) * std::max(n, rows) + latency + rows - 1;
      bench_.expect_eq("cycles of an unstalled stream", static_cast<int>(last_row_cycle_ - start), formula,
                       [&] { return std::to_string(jobs) + " jobs of " + std::to_string(n) + " beats"; });
    }
  }

  /// max_beats beats of the largest products of one sign, then of the other: the accumulator's whole range.
  void longest() {
    if (max_beats * rows * cols > 1'000'000) return;
    for (const bool negative : {false, true}) {
      for (const unsigned fmt : {e4m3, e5m2, fp4, luq}) {
        if (!in_set(fmt)) continue;
        std::vector<Sum> sums(rows * cols), one(rows * cols);
        Beat beat{.a_fmt = fmt,
                  .b_fmt = fmt,
                  .a = random_side(false, of_a(fmt), Style::extreme, 0, negative),
                  .b = random_side(true, fmt, Style::extreme, 0, false)};
        accumulate(one, beat);
        for (std::uint64_t i = 0; i < max_beats; ++i) {
          beat.first = i == 0;
          beat.last = i + 1 == max_beats;
          send(beat);
        }
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i].value = one[i].value * static_cast<__int128>(max_beats);
        for (std::uint64_t i = 0; mx && i < max_beats; ++i) accumulate(sums, beat);
        expect(sums);
        drain();
      }
    }
  }

  /// NaN and infinity in everything on one side while one vector of the other side takes no part: its sums keep the
  /// beat before, without a flag. Each vector in turn, because what is out of use is zero, and only 0 x special shows.
  void special_beside_idle() {
    for (const unsigned fmt : {e4m3, e5m2, fp4}) {
      if (!in_set(fmt)) continue;
      const FormatDesc& f = desc(element[fmt]);
      for (const bool infinity : {false, true}) {
        if (infinity && !f.has_inf) continue;
        for (const bool poison_a : {false, true}) {
          for (int idle_vector = 0; idle_vector < (poison_a ? cols : rows); ++idle_vector) {
            Job job;
            for (const bool second : {false, true}) {
              job.beats.push_back({.first = !second,
                                   .last = second,
                                   .a_fmt = fmt,
                                   .b_fmt = fmt,
                                   .a = random_side(false, fmt, Style::extreme, 0, false),
                                   .b = random_side(true, fmt, Style::extreme, 0, false)});
            }
            Side& poisoned = poison_a ? job.beats[1].a : job.beats[1].b;
            Side& beside = poison_a ? job.beats[1].b : job.beats[1].a;
            if (fmt == fp4) {
              std::ranges::fill(poisoned.scales, static_cast<std::uint8_t>(mx ? 0xFF : desc(Format::ue4m3).nan_code()));
            } else {
              std::ranges::fill(poisoned.codes, static_cast<std::uint8_t>(infinity ? f.inf_code() : f.nan_code()));
            }
            beside.enabled[static_cast<std::size_t>(idle_vector)] = false;
            send(job);
          }
        }
      }
    }
    drain();
  }

  /// A beat of NVFP4 whose every sum is 2^bit units of the accumulator.
  Beat power_of_two(int bit, bool negative) {
    const auto take = [&bit](int most) {
      const int taken = std::min(bit, most);
      bit -= taken;
      return taken;
    };
    const auto scale = [](int k) { return static_cast<std::uint8_t>(k < 3 ? 1 << k : 8 * (k - 2)); };  // 2^(k - 9)
    constexpr std::uint8_t power[] = {1, 2, 4, 6};                                                     // 2^(k - 1)
    Beat beat{.a_fmt = fp4,
              .b_fmt = fp4,
              .a = random_side(false, fp4, Style::zero, 0, false),
              .b = random_side(true, fp4, Style::zero, 0, false)};
    std::ranges::fill(beat.a.scales, scale(take(17)));
    std::ranges::fill(beat.b.scales, scale(take(17)));
    std::ranges::fill(beat.b.codes, power[take(3)]);
    const auto one = static_cast<std::uint8_t>(power[take(3)] | (negative ? desc(element[fp4]).sign_mask() : 0));
    const int together = 1 << take(4);
    for (int r = 0; r < rows; ++r) std::fill_n(beat.a.codes.begin() + r * lanes, together, one);
    return beat;
  }

  /// Sums half way between two FP32 numbers, and a lone bit more or less: each bit that rounding drops decides alone.
  void ties() {
    if (!in_set(fp4) || mx || max_beats < 3) return;
    for (int high = 25; high <= 44; ++high) {
      for (int low = 0; low < high - 24; ++low) {
        for (const bool negative : {false, true}) {
          for (const bool above : {false, true}) {
            Job job{{power_of_two(high, negative), power_of_two(high - 24, negative),
                     power_of_two(low, above ? negative : !negative)}};
            job.beats.front().first = job.beats.back().last = true;
            send(job);
          }
        }
      }
    }
    drain();
  }

  /// A reset forgets illegal metadata.
  void illegal_before_reset() {
    if (!sparse) return;
    Beat beat = random_job().beats.front();
    beat.a.enabled[0] = true;
    beat.a.metadata[0] = 0;
    send(beat);
    reset();
    idle();
    cycle();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  std::array<std::array<Operand, 256>, 5> operands_;  // by Fmt, and INT4
  Scoreboard<std::vector<std::uint32_t>> expected_{bench_, "rows of results"};
  double bubble_ = 0, stall_ = 0;
  unsigned code_width_ = 8;
  bool driven_illegal_ = false, taken_illegal_ = false;  // of the beat that is offered, and taken at the last edge
  std::uint64_t illegal_beats_ = 0;
  std::uint64_t beats_ = 0, cycle_ = 0, first_accepted_cycle_ = 0, last_row_cycle_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return MacArrayBench(argc, argv).run(); }
