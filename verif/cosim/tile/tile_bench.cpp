// SPDX-License-Identifier: Apache-2.0
// ng_tile against the golden matrix product, from its ports only, as a driver sees it. Random programs: banks loaded in
// pieces, A kept for several B, several panels, sums of several commands that are longer than a bank, edges, every
// format of the set, FP32 and BF16, special values in operands and scale; random stalls on both streams and on all
// channels of the bus. Every result, DONE, LOADS, the interrupt in each cycle, and the nine counters are compared with
// what the bench knows; the protocols are checked in each cycle; combinational paths between handshake signals are
// looked for. Then each error is provoked in its variants and left by CONTROL.soft_reset, which also comes in the
// middle of work. Build parameters: NG_ROWS, NG_COLS, NG_LANES, NG_FORMAT_SET, NG_STREAM_WIDTH, NG_A_DEPTH, NG_B_DEPTH,
// NG_MAX_BEATS, NG_COUNTERS.
#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <functional>
#include <iterator>
#include <utility>

#include "../axi.hpp"
#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/tile/tile_regs.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;
namespace regs = narrowgauge::tile_regs;
using regs::TileError;

constexpr unsigned rows = NG_ROWS, cols = NG_COLS, lanes = NG_LANES, format_set = NG_FORMAT_SET;
constexpr unsigned a_depth = NG_A_DEPTH, b_depth = NG_B_DEPTH, max_beats = NG_MAX_BEATS;
constexpr bool has_counters = NG_COUNTERS != 0;
constexpr bool has_fp4 = format_set & format_set::nvfp4;
constexpr bool has_e4m3 = format_set & format_set::e4m3, has_e5m2 = format_set & format_set::e5m2;
constexpr unsigned elem_width = format_set::element_bits(format_set), blocks = has_fp4 ? lanes / 16 : 0;
constexpr unsigned stream_words = NG_STREAM_WIDTH / 32;  // of 32 bits
constexpr unsigned groups = (cols + stream_words - 1) / stream_words;
constexpr unsigned stages = has_fp4 ? 3 : 2;
constexpr unsigned queue_depth = 4;

enum Fmt : unsigned {
  e4m3 = static_cast<unsigned>(regs::TileElement::e4m3),
  e5m2 = static_cast<unsigned>(regs::TileElement::e5m2),
  nvfp4 = static_cast<unsigned>(regs::TileElement::nvfp4)
};
constexpr std::array<Format, 3> element_format{Format::e4m3, Format::e5m2, Format::e2m1};
enum class Style { finite, extreme, special, zero, any };

using Word = std::vector<std::uint32_t>;  // of a stream

/// What the array takes from one side in a beat: elements as they lie in the image, and block scales.
struct Image {
  std::vector<std::uint8_t> elements, scales;
};
struct Bank {
  unsigned fmt = 0;
  std::vector<Image> images;
};
struct Load {
  bool b = false, more = false;
  unsigned beats = 0;
};
struct Command {
  unsigned a_fmt = 0, b_fmt = 0, a_panels = 1, b_panels = 1, beats = 1, rows_used = rows, cols_used = cols;
  bool bf16 = false, first = true, last = true, release_a = true, release_b = true, irq = false;
  std::uint32_t scale = 0x3F800000;

  std::uint32_t word() const {
    return regs::compute::beats.put(beats) | regs::compute::first.put(first) | regs::compute::last.put(last) |
           regs::compute::release_a.put(release_a) | regs::compute::release_b.put(release_b) |
           regs::compute::irq.put(irq);
  }
};
struct StreamWord {
  Word data;
  bool last = false, irq = false;
};

/// Order of the counters in the map.
enum Counter { cycles, busy, stall_in, stall_out, products, zero_a, zero_b, flips_a, flips_b, counter_count };
constexpr std::array<const char*, counter_count> counter_name{"cycles", "busy",   "stall_in", "stall_out", "products",
                                                              "zero_a", "zero_b", "flips_a",  "flips_b"};
using Counts = std::array<std::uint64_t, counter_count>;

class TileBench {
 public:
  TileBench(int argc, char** argv)
      : bench_(argc, argv,
               "tile " + std::to_string(rows) + "x" + std::to_string(cols) + "x" + std::to_string(lanes) + " formats " +
                   std::to_string(format_set),
               300),
        dut_(bench_),
        report_([this](const std::string& text) { bench_.error(text); }),
        bus_checker_("s_axil", report_),
        in_checker_("s_axis", report_),
        out_checker_("m_axis", report_) {}

  int run() {
    reset();
    identity();
    latency();
    longest_sum();
    stalls();
    bubbles();
    struct Pace {
      double in, out, bus;
    };
    // Full speed; starved; blocked; all slow; a busy host and a slow bus.
    constexpr Pace paces[] = {{1, 1, 1}, {0.3, 1, 1}, {1, 0.2, 1}, {0.5, 0.5, 0.5}, {1, 1, 0.2}};
    const std::uint64_t end = commands_ + bench_.budget();
    for (std::uint64_t phase = 0; phase < std::size(paces) || commands_ < end; ++phase) {
      const Pace& pace = paces[phase % std::size(paces)];
      in_pace_ = pace.in, out_pace_ = pace.out, bus_pace_ = pace.bus;
      switch (phase % 8) {
        case 5:
          interrupted_batch();
          break;
        case 7:
          provoke(phase / 8);
          break;
        default:
          batch(8);
      }
    }
    in_pace_ = out_pace_ = bus_pace_ = 1;
    for (std::uint64_t variant = 0; variant < variants; ++variant) provoke(variant);
    sweep();
    sum_too_long();
    batch(4);
    bus_checker_.finish();
    out_checker_.finish();
    bench_.expect(in_checker_.stalls() > 0 && out_checker_.stalls() > 0 && bus_checker_.b.stalls() > 0,
                  [] { return "a stream or the bus was never stalled"; });
    bench_.expect(bench_.budget() < 100 || interrupts_ > 0, [] { return "the interrupt was never seen"; });
    return bench_.finish();
  }

 private:
  Rng& rng() { return bench_.rng(); }
  unsigned upto(unsigned largest) { return 1 + rng().below(largest); }  // 1 .. largest

  // ---------------------------------------------------------------- one clock

  void cycle() {
    // What is not valid is noise.
    if (!in_valid_ && !feed_.empty() && rng().chance(in_pace_)) in_valid_ = true;
    dut_->s_axis_tvalid_i = in_valid_;
    for (unsigned i = 0; i < stream_words; ++i)
      set_bits(dut_->s_axis_tdata_i, 32 * i, 32, in_valid_ ? feed_.front().data[i] : rng().bits(32));
    dut_->s_axis_tlast_i = in_valid_ ? feed_.front().last : rng().chance(0.5);
    dut_->m_axis_tready_i = rng().chance(out_pace_);
    const auto go = [&] { return rng().chance(bus_pace_); };
    master_.drive(bus_, {go(), go(), go(), go(), go()});
    axi::put_lite(*dut_, bus_);
    dut_.eval();
    axi::get_lite(*dut_, bus_);
    bus_checker_.sample(bus_);
    const Word result = get_words(dut_->m_axis_tdata_o);
    if (core_reset_) {
      out_checker_.sample_reset(dut_->m_axis_tvalid_o);
      in_checker_.sample_reset(false);
    } else {
      in_checker_.sample(dut_->s_axis_tvalid_i, dut_->s_axis_tready_o, {}, 0);
      out_checker_.sample(dut_->m_axis_tvalid_o, dut_->m_axis_tready_i, result, dut_->m_axis_tlast_o);
    }
    if (irq_known_)
      bench_.expect_eq("irq_o", static_cast<unsigned>(dut_->irq_o), irq_enable_ & irq_pending_ ? 1U : 0U,
                       [&] { return "cycle " + std::to_string(now_); });
    interrupts_ += dut_->irq_o;
    if (rng().chance(0.01)) probe();
    const bool in = dut_->s_axis_tvalid_i && dut_->s_axis_tready_o && !core_reset_;
    const bool out = dut_->m_axis_tvalid_o && dut_->m_axis_tready_i;
    follow_registers(out && !expected_.empty() && expected_.front().last && expected_.front().irq);
    if (in) {
      feed_.pop_front();
      in_valid_ = false;
      last_in_ = now_;
    }
    if (out) take(result);
    if (soft_reset_) forget();
    core_reset_ = soft_reset_;
    soft_reset_ = next_soft_reset_;
    master_.sample(bus_);
    dut_.tick();
    ++now_;
  }

  static Word get_words(const auto& port) {
    Word words;
    for (unsigned i = 0; i < stream_words; ++i) words.push_back(static_cast<std::uint32_t>(get_bits(port, 32 * i, 32)));
    return words;
  }

  /// What writes do, cycle by cycle, as docs/registers.md says; and the counters that the bench keeps by the clock.
  void follow_registers(bool done_event) {
    const bool write = aw_held_ && w_held_ && !bus_.bvalid, read = ar_held_ && !bus_.rvalid;
    if (read) {
      snapshot_ = count_, snapshot_at_ = now_;
      snapshot_most_busy_ = most_busy_;
    }
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
    // Counters. A command with results is busy from the cycle after it is pushed until the last one has left; of a
    // command without, only the results of the sum that it belongs to tell.
    const bool surely = std::ranges::count(in_flight_, true) > 0, perhaps = !in_flight_.empty();
    ++count_[cycles];
    count_[busy] += surely;
    most_busy_ += perhaps;
    if (compute_pulse_) {
      compute_at_ = now_;
      in_flight_.push_back(pushed_last_);
    }
    if (clear_ || soft_reset_ || core_reset_) count_ = {}, most_busy_ = 0;
    if (dut_->m_axis_tvalid_o && dut_->m_axis_tready_i && dut_->m_axis_tlast_o) {
      in_flight_.erase(in_flight_.begin(), std::next(std::ranges::find(in_flight_, true), surely));
    }
    clear_ = next_clear;
    compute_pulse_ = pushed;
    pushed_last_ = regs::compute::last.get(data_);
    // The bus.
    const bool write_done = bus_.bvalid && bus_.bready, read_done = bus_.rvalid && bus_.rready;
    if (!aw_held_ && bus_.awvalid) address_ = bus_.awaddr;
    if (!w_held_ && bus_.wvalid) data_ = bus_.wdata, strobes_ = bus_.wstrb;
    aw_held_ = aw_held_ ? !write_done : bus_.awvalid;
    w_held_ = w_held_ ? !write_done : bus_.wvalid;
    ar_held_ = ar_held_ ? !read_done : bus_.arvalid;
  }

  /// No output follows a valid or ready input within the cycle.
  void probe() {
    const auto outputs = [&] {
      Word all = get_words(dut_->m_axis_tdata_o);
      axi::LiteSignals s = bus_;
      axi::get_lite(*dut_, s);
      for (const std::uint32_t x :
           {std::uint32_t{s.awready}, std::uint32_t{s.wready}, std::uint32_t{s.bvalid}, std::uint32_t{s.arready},
            std::uint32_t{s.rvalid}, s.rdata, std::uint32_t{s.bresp}, std::uint32_t{s.rresp},
            std::uint32_t{dut_->s_axis_tready_o}, std::uint32_t{dut_->m_axis_tvalid_o},
            std::uint32_t{dut_->m_axis_tlast_o}, std::uint32_t{dut_->irq_o}})
        all.push_back(x);
      return all;
    };
    const Word before = outputs();
    const std::pair<CData*, const char*> inputs[] = {
        {&dut_->s_axil_awvalid_i, "AWVALID"},     {&dut_->s_axil_wvalid_i, "WVALID"},
        {&dut_->s_axil_bready_i, "BREADY"},       {&dut_->s_axil_arvalid_i, "ARVALID"},
        {&dut_->s_axil_rready_i, "RREADY"},       {&dut_->s_axis_tvalid_i, "s_axis TVALID"},
        {&dut_->m_axis_tready_i, "m_axis TREADY"}};
    for (const auto& [input, name] : inputs) {
      *input = !*input;
      dut_.eval();
      bench_.expect(outputs() == before,
                    [&] { return std::string("an output follows ") + name + " within the cycle"; });
      *input = !*input;
    }
    dut_.eval();
  }

  void take(const Word& result) {
    last_out_ = now_;
    if (expected_.empty()) {
      bench_.error("a word of results came that no command asked for, in cycle " + std::to_string(now_));
      return;
    }
    const StreamWord& word = expected_.front();
    for (unsigned i = 0; i < stream_words; ++i)
      bench_.expect_eq("result", result[i], word.data[i], [&] {
        return "word " + std::to_string(out_words_) + " bits " + std::to_string(32 * i) + "+, " + describe_;
      });
    bench_.expect_eq("m_axis TLAST", static_cast<unsigned>(dut_->m_axis_tlast_o), word.last ? 1U : 0U,
                     [&] { return "word " + std::to_string(out_words_) + ", " + describe_; });
    ++out_words_;
    done_ += word.last;
    expected_.pop_front();
  }

  /// A soft reset: both streams start anew, nothing of the old work comes.
  void forget() {
    feed_.clear();
    in_valid_ = false;
    expected_.clear();
    irq_enable_ = irq_pending_ = 0;
    in_flight_.clear();
    done_ = loads_ = 0;
    activity_ = {};
    previous_a_.assign(rows * lanes, 0), previous_b_.assign(cols * lanes, 0);
    shadow_.fill(~0ULL);
  }

  void reset() {
    bus_ = {};
    master_.reset();
    axi::put_lite(*dut_, bus_);
    dut_->s_axis_tvalid_i = 0;
    dut_->m_axis_tready_i = 1;
    dut_.reset();
    bus_checker_.sample_reset(bus_);
    out_checker_.sample_reset(dut_->m_axis_tvalid_o);
    forget();
    core_reset_ = true;  // released by the first clock
    cycle();
  }

  // ---------------------------------------------------------------- bus

  axi::LiteMaster::Result access(const std::function<void()>& start, auto take_result, std::uint32_t address) {
    start();
    for (unsigned waited = 0;; ++waited) {
      cycle();
      if (auto result = take_result()) return *result;
      if (waited > 2000) {
        bench_.error("the bus hangs: no answer for " + hex(address) + " after 2000 cycles");
        return {};
      }
    }
  }
  std::uint32_t read(std::uint32_t address) {
    const auto result = access([&] { master_.start_read(address); }, [&] { return master_.take_read(); }, address);
    bench_.expect_eq("RRESP", result.resp, axi::okay, [&] { return "read of " + hex(address); });
    return result.data;
  }
  void write(std::uint32_t address, std::uint32_t data) {
    const auto result =
        access([&] { master_.start_write(address, data); }, [&] { return master_.take_write(); }, address);
    bench_.expect_eq("BRESP", result.resp, axi::okay, [&] { return "write of " + hex(address); });
  }
  void expect_register(const char* name, std::uint32_t address, std::uint32_t expected) {
    bench_.expect_eq(name, read(address), expected, [&] { return describe_; });
  }
  void wait(unsigned count) {
    for (unsigned i = 0; i < count; ++i) cycle();
  }

  void push(const Load& load) {
    write(regs::load::offset,
          regs::load::panel_beats.put(load.beats) | regs::load::more.put(load.more) | regs::load::operand.put(load.b));
  }
  void push(const Command& c) {
    // Registers keep their words, so only what differs has to be written.
    const std::array<std::pair<std::uint32_t, std::uint32_t>, 4> words{{
        {regs::format::offset,
         regs::format::a.put(c.a_fmt) | regs::format::b.put(c.b_fmt) | regs::format::bf16.put(c.bf16)},
        {regs::scale::offset, c.scale},
        {regs::panels::offset, regs::panels::a.put(c.a_panels) | regs::panels::b.put(c.b_panels)},
        {regs::edge::offset, regs::edge::rows.put(c.rows_used) | regs::edge::cols.put(c.cols_used)},
    }};
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (shadow_[i] == words[i].second && !rng().chance(0.1)) continue;
      write(words[i].first, words[i].second);
      shadow_[i] = words[i].second;
    }
    write(regs::compute::offset, c.word());
  }

  // ---------------------------------------------------------------- stimulus

  unsigned random_fmt() {
    unsigned fmt = 0;
    do fmt = rng().below(3);
    while (!(fmt == nvfp4 ? has_fp4 : fmt == e4m3 ? has_e4m3 : has_e5m2));
    return fmt;
  }
  unsigned random_partner(unsigned fmt) {
    if (fmt == nvfp4) return nvfp4;
    return has_e4m3 && has_e5m2 ? rng().below(2) : fmt;
  }

  std::uint8_t random_element(unsigned fmt, Style style) {
    const FormatDesc& f = desc(element_format[fmt]);
    const std::uint32_t sign = rng().chance(0.5) ? f.sign_mask() : 0;
    std::uint32_t code = static_cast<std::uint32_t>(rng().bits(static_cast<unsigned>(f.bits)));
    if (style == Style::extreme)
      code = f.max_code();  // one sign: the largest sums
    else if (style == Style::zero || rng().chance(0.1))
      code = sign;
    else if (style == Style::special && rng().chance(0.02))
      code = f.payload_mask() ^ (rng().chance(0.5) ? 3U : 0U) ^ sign;
    else if (style != Style::any && (f.is_nan(code) || f.is_inf(code)))
      code ^= 1U << f.man_bits;
    // The upper half of an NVFP4 element in an array of 8 bits must not matter.
    if (fmt == nvfp4 && elem_width == 8) code |= static_cast<std::uint32_t>(rng().bits(4)) << 4;
    return static_cast<std::uint8_t>(code);
  }

  Image random_image(unsigned vectors, unsigned fmt, Style style) {
    Image image;
    for (unsigned i = 0; i < vectors * lanes; ++i) image.elements.push_back(random_element(fmt, style));
    for (unsigned i = 0; i < vectors * blocks; ++i) {
      std::uint64_t scale = rng().bits(8);  // the top bit must not matter
      if (style == Style::extreme) scale = 0x7E;
      if ((scale & 0x7F) == 0x7F && style != Style::any && !(style == Style::special && rng().chance(0.3))) scale ^= 1;
      image.scales.push_back(static_cast<std::uint8_t>(scale));
    }
    return image;
  }

  Bank random_bank(bool b, unsigned fmt, unsigned images, Style style) {
    Bank bank{fmt, {}};
    for (unsigned i = 0; i < images; ++i) bank.images.push_back(random_image(b ? cols : rows, fmt, style));
    return bank;
  }

  std::uint32_t random_scale() {
    switch (rng().below(8)) {
      case 0:
        return 0x3F800000;
      case 1:  // any: NaN, subnormal, infinite, huge
        return static_cast<std::uint32_t>(rng().bits(32));
      case 2: {
        constexpr std::uint32_t odd[] = {0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 1, 0x807FFFFF};
        return odd[rng().below(std::size(odd))];
      }
      default:
        return static_cast<std::uint32_t>(rng().bits(1) << 31 | (127 + rng().below(40) - 20) << 23 | rng().bits(23));
    }
  }

  /// An image as the words of the stream; what the last word has beyond it is noise.
  std::vector<Word> words_of(const Image& image) {
    const unsigned elements = static_cast<unsigned>(image.elements.size()) * elem_width;
    const unsigned bits = elements + static_cast<unsigned>(image.scales.size()) * 8;
    const unsigned count = (bits + NG_STREAM_WIDTH - 1) / NG_STREAM_WIDTH;
    Word flat(count * stream_words);
    for (std::uint32_t& word : flat) word = static_cast<std::uint32_t>(rng().bits(32));
    for (unsigned i = 0; i < image.elements.size(); ++i) set_bits(flat, i * elem_width, elem_width, image.elements[i]);
    for (unsigned i = 0; i < image.scales.size(); ++i) set_bits(flat, elements + i * 8, 8, image.scales[i]);
    std::vector<Word> words;
    for (unsigned i = 0; i < count; ++i)
      words.emplace_back(flat.begin() + i * stream_words, flat.begin() + (i + 1) * stream_words);
    return words;
  }

  static Bank masked(Bank bank, unsigned used) {
    for (Image& image : bank.images) {
      std::fill(image.elements.begin() + used * lanes, image.elements.end(), std::uint8_t{0});
      std::fill(image.scales.begin() + used * blocks, image.scales.end(), std::uint8_t{0});
    }
    return bank;
  }

  /// The loads of a bank, in `pieces` or fewer, and their words on the stream.
  std::vector<Load> loads_of(bool b, const Bank& bank, unsigned pieces) {
    std::vector<Load> loads;
    const unsigned images = static_cast<unsigned>(bank.images.size());
    for (unsigned at = 0; at < images;) {
      const unsigned left = images - at, count = pieces <= 1 ? left : upto(left);
      --pieces;
      loads.push_back({.b = b, .more = count < left, .beats = count});
      for (unsigned i = 0; i < count; ++i) {
        for (Word& word : words_of(bank.images[at + i])) feed_.push_back({std::move(word), false, false});
      }
      feed_.back().last = true;
      at += count;
    }
    loads_ += static_cast<unsigned>(loads.size());
    return loads;
  }

  // ---------------------------------------------------------------- golden

  /// Vectors of `vectors` rows or columns, over the panels and beats of banks that follow each other along k.
  static QuantizedMatrix matrix(const std::vector<const Bank*>& banks, unsigned vectors, unsigned panels,
                                unsigned used) {
    const unsigned fmt = banks.front()->fmt;
    QuantizedMatrix q;
    q.scheme = fmt == nvfp4 ? Scheme::nvfp4 : Scheme::fp8;
    q.element = element_format[fmt];
    q.rows = (panels - 1) * vectors + used;
    for (std::size_t v = 0; v < q.rows; ++v) {
      const std::size_t panel = v / vectors, row = v % vectors;
      for (const Bank* bank : banks) {
        const std::size_t beats = bank->images.size() / panels;
        for (std::size_t k = 0; k < beats; ++k) {
          const Image& image = bank->images[panel * beats + k];
          for (unsigned l = 0; l < lanes; ++l)
            q.codes.push_back(image.elements[row * lanes + l] & (fmt == nvfp4 ? 0xF : 0xFF));
          if (fmt == nvfp4) {
            for (unsigned s = 0; s < blocks; ++s) q.scales.push_back(image.scales[row * blocks + s] & 0x7F);
          }
        }
      }
    }
    q.k = q.k_padded = q.codes.size() / q.rows;
    return q;
  }

  /// The words that a command with `last` sends. The numbers of unused rows and columns are +0 times the scale.
  void expect_results(const Command& c, const std::vector<const Bank*>& a, const std::vector<const Bank*>& b) {
    const QuantizedMatrix qa = matrix(a, rows, c.a_panels, c.rows_used), qb = matrix(b, cols, c.b_panels, c.cols_used);
    const std::vector<float> sums = gemm_sums(qa, qb, 1);
    const float alpha = std::bit_cast<float>(c.scale);
    for (unsigned i = 0; i < c.a_panels; ++i) {
      for (unsigned j = 0; j < c.b_panels; ++j) {
        for (unsigned r = 0; r < rows; ++r) {
          Word row(groups * stream_words + 1);
          for (unsigned col = 0; col < cols; ++col) {
            const std::size_t y = i * rows + r, x = j * cols + col;
            const float y_value = epilogue(y < qa.rows && x < qb.rows ? sums[y * qb.rows + x] : 0.0F, alpha);
            if (c.bf16)
              set_bits(row, 16 * col, 16, encode(Format::bf16, y_value, {.overflow = Overflow::ieee}));
            else
              row[col] = std::bit_cast<std::uint32_t>(y_value);
          }
          const unsigned count = c.bf16 ? (groups + 1) / 2 : groups;
          for (unsigned w = 0; w < count; ++w) {
            Word word(row.begin() + w * stream_words,
                      row.begin() + std::min((w + 1) * stream_words, groups * stream_words));
            word.resize(stream_words);
            const bool last = i + 1 == c.a_panels && j + 1 == c.b_panels && r + 1 == rows && w + 1 == count;
            expected_.push_back({std::move(word), last, last && c.irq});
          }
        }
      }
    }
  }

  /// What the beats of a command add to the counters.
  void count_activity(const Command& c, const Bank& a, const Bank& b) {
    for (unsigned i = 0; i < c.a_panels; ++i) {
      for (unsigned j = 0; j < c.b_panels; ++j) {
        for (unsigned k = 0; k < c.beats; ++k) {
          const unsigned used_rows = i + 1 == c.a_panels ? c.rows_used : rows;
          const unsigned used_cols = j + 1 == c.b_panels ? c.cols_used : cols;
          activity_[products] += used_rows * used_cols * lanes;
          beats_ += 1;
          count_side(a.images[i * c.beats + k], used_rows, c.a_fmt, previous_a_, zero_a, flips_a);
          count_side(b.images[j * c.beats + k], used_cols, c.b_fmt, previous_b_, zero_b, flips_b);
        }
      }
    }
  }
  void count_side(const Image& image, unsigned used, unsigned fmt, std::vector<std::uint8_t>& previous, Counter zeros,
                  Counter flips) {
    for (unsigned i = 0; i < image.elements.size(); ++i) {
      const bool in_use = i < used * lanes;
      const std::uint8_t element = in_use ? image.elements[i] : 0;
      activity_[zeros] += in_use && (element & (fmt == nvfp4 ? 0x7 : 0x7F)) == 0;
      activity_[flips] += static_cast<unsigned>(std::popcount(static_cast<unsigned>(element ^ previous[i])));
      previous[i] = element;
    }
  }

  // ---------------------------------------------------------------- programs

  struct Program {
    std::deque<Load> loads;
    std::deque<Command> commands;
  };

  /// Random commands, about `count`, with the loads they need; results and counts are noted in advance.
  Program random_program(unsigned count) {
    Program program;
    const auto load = [&](bool b, const Bank& bank) {
      for (const Load& l : loads_of(b, bank, rng().chance(0.5) ? 1 : 3)) program.loads.push_back(l);
    };
    while (count > 0) {
      // Mostly finite: a NaN hides the sums of its tile.
      constexpr Style styles[] = {Style::finite,  Style::finite, Style::finite, Style::extreme,
                                  Style::special, Style::zero,   Style::any};
      const Style style = styles[rng().below(std::size(styles))];
      Command c;
      c.a_fmt = random_fmt(), c.b_fmt = random_partner(c.a_fmt);
      c.scale = random_scale();
      c.bf16 = rng().chance(0.4);
      c.rows_used = rng().chance(0.5) ? rows : upto(rows);
      c.cols_used = rng().chance(0.5) ? cols : upto(cols);
      c.irq = rng().chance(0.5);
      const unsigned size = rng().chance(0.2) ? 64 : 12;
      const unsigned a_room = std::min(a_depth, size), b_room = std::min(b_depth, size);
      const unsigned passes = std::min(upto(rng().chance(0.4) ? 5 : 2), count);
      if (rng().chance(0.35)) {
        // A sum over several passes.
        std::vector<Bank> a, b;
        const bool same_a = rng().chance(0.3);
        // Rows and columns in use may change within the sum. (Not with special values: in the golden product NaN times
        // an unused row would be NaN.)
        const bool edges_change = rng().chance(0.5) && style != Style::special && style != Style::any;
        c.beats = upto(std::min({a_room, b_room, max_beats / passes}));
        a.reserve(passes), b.reserve(passes);
        std::deque<Bank> in_use;  // unused rows and columns zero
        std::vector<const Bank*> a_used, b_used;
        for (unsigned p = 0; p < passes; ++p) {
          if (!same_a) c.beats = upto(std::min({a_room, b_room, max_beats / passes}));
          c.first = p == 0, c.last = p + 1 == passes;
          c.release_a = !same_a || c.last;
          if (p == 0 || !same_a) load(false, a.emplace_back(random_bank(false, c.a_fmt, c.beats, style)));
          load(true, b.emplace_back(random_bank(true, c.b_fmt, c.beats, style)));
          if (edges_change) c.rows_used = upto(rows), c.cols_used = upto(cols);
          a_used.push_back(&in_use.emplace_back(masked(a.back(), c.rows_used)));
          b_used.push_back(&in_use.emplace_back(masked(b.back(), c.cols_used)));
          count_activity(c, a.back(), b.back());
          program.commands.push_back(c);
        }
        if (edges_change) c.rows_used = rows, c.cols_used = cols;
        expect_results(c, a_used, b_used);
      } else {
        // A stays while `passes` banks of B pass, or B while A does.
        c.beats = upto(std::min({a_room, b_room, max_beats}));
        c.a_panels = upto(a_room / c.beats), c.b_panels = upto(b_room / c.beats);
        if (rng().chance(0.1)) c.a_panels = a_room / c.beats, c.b_panels = b_room / c.beats;  // full banks
        const bool keep_b = rng().chance(0.3);
        Bank a, b;
        for (unsigned p = 0; p < passes; ++p) {
          const bool end = p + 1 == passes;
          c.release_a = end || keep_b, c.release_b = end || !keep_b;
          if (p > 0 && !keep_b) c.b_fmt = random_partner(c.a_fmt);
          if (p == 0 || keep_b) load(false, a = random_bank(false, c.a_fmt, c.a_panels * c.beats, style));
          if (p == 0 || !keep_b) load(true, b = random_bank(true, c.b_fmt, c.b_panels * c.beats, style));
          count_activity(c, a, b);
          expect_results(c, {&a}, {&b});
          program.commands.push_back(c);
          c.scale = random_scale(), c.bf16 = rng().chance(0.4), c.irq = rng().chance(0.5);
        }
      }
      count -= passes;
    }
    return program;
  }

  /// Writes loads and commands as their queues have room, each in order; `limit` cycles at most.
  void play(Program program, std::uint64_t limit = ~0ULL) {
    const std::uint64_t start = now_;
    while (!(program.loads.empty() && program.commands.empty()) && now_ - start < limit) {
      if (hangs(start)) return hang("commands wait");
      const std::uint32_t status = this->status();
      unsigned load_room = regs::status::load_space.get(status), compute_room = regs::status::compute_space.get(status);
      if (regs::status::error.get(status) != 0 && irq_known_) {
        bench_.error("STATUS.error is " + std::to_string(regs::status::error.get(status)) + " for a legal program, " +
                     describe_);
        return;
      }
      while (load_room > 0 && !program.loads.empty() && rng().chance(0.8)) {
        push(program.loads.front());
        program.loads.pop_front();
        bench_.vector();
        --load_room;
      }
      while (compute_room > 0 && !program.commands.empty() && rng().chance(0.8)) {
        push(program.commands.front());
        program.commands.pop_front();
        bench_.vector();
        ++commands_;
        --compute_room;
      }
      if (irq_known_ && rng().chance(0.2))
        write(regs::irq_pending::offset, static_cast<std::uint32_t>(rng().bits(2)) & 1);
      if (irq_known_ && rng().chance(0.2))
        write(regs::irq_enable::offset, static_cast<std::uint32_t>(rng().bits(2)) & 1);
    }
  }

  /// Cycles since `start` or since a word went in or out, if too many: nothing that is legal takes so long.
  bool hangs(std::uint64_t start) const {
    return now_ - std::max({start, last_in_, last_out_}) > 2 * std::uint64_t{max_beats} + 5000;
  }
  void hang(const std::string& what) {
    bench_.error("the tile hangs: " + what + ", " + std::to_string(feed_.size()) + " words not taken, " +
                 std::to_string(expected_.size()) + " results missing, " + describe_);
  }
  /// Runs until `done()`, asked now and then.
  template <class Done>
  void await(const char* what, const Done& done) {
    for (const std::uint64_t start = now_; !done(); wait(upto(20))) {
      if (hangs(start)) return hang(what);
    }
  }
  std::uint32_t status() { return read(regs::status::offset); }
  void settle() {
    await("busy", [&] { return !regs::status::busy.get(status()) && feed_.empty() && expected_.empty(); });
    wait(4);
  }

  void start_counting() {
    activity_ = {};
    beats_ = 0;
    write(regs::control::offset, regs::control::clear_counters.put(1));
    wait(2);
  }
  std::uint64_t counter(Counter which) {
    const std::uint32_t low = read(regs::cycles::offset + 8 * which);
    const auto at = snapshot_at_;
    const Counts then = snapshot_;
    const std::uint64_t most = snapshot_most_busy_;
    const std::uint32_t high = read(regs::cycles::high_offset + 8 * which);
    snapshot_at_ = at, snapshot_ = then, snapshot_most_busy_ = most;
    return std::uint64_t{high} << 32 | low;
  }
  void expect_counter(Counter which, std::uint64_t expected) {
    if (!has_counters) expected = 0;
    bench_.expect_eq(counter_name[which], counter(which), expected, [&] { return describe_; });
  }
  void expect_counters() {
    const std::uint64_t now_cycles = counter(cycles);
    bench_.expect_eq("cycles", now_cycles, has_counters ? snapshot_[cycles] : 0, [&] { return describe_; });
    const std::uint64_t was_busy = counter(busy);
    const std::uint64_t least = has_counters ? snapshot_[busy] : 0, most = has_counters ? snapshot_most_busy_ : 0;
    bench_.expect(least <= was_busy && was_busy <= most, [&] {
      return "busy: got " + std::to_string(was_busy) + ", expected " + std::to_string(least) + " to " +
             std::to_string(most) + ", " + describe_;
    });
    // To the cycle: see stalls(). A command may wait for its banks while the last beat of the one before is not taken
    // yet.
    const std::uint64_t offered = counter(stall_out) + (has_counters ? beats_ : 0);
    bench_.expect(offered <= was_busy && counter(stall_in) <= was_busy, [&] {
      return "beats were offered in " + std::to_string(offered) + " cycles, busy were " + std::to_string(was_busy);
    });
    for (const Counter which : {products, zero_a, zero_b, flips_a, flips_b}) expect_counter(which, activity_[which]);
  }
  void expect_idle() {
    expect_register("STATUS", regs::status::offset,
                    regs::status::load_space.put(queue_depth) | regs::status::compute_space.put(queue_depth));
    expect_register("DONE", regs::done::offset, done_);
    expect_register("LOADS", regs::loads::offset, loads_);
  }

  void batch(unsigned count) {
    describe_ = "batch at cycle " + std::to_string(now_);
    start_counting();
    play(random_program(count));
    settle();
    expect_idle();
    expect_counters();
  }

  // ---------------------------------------------------------------- directed

  void identity() {
    describe_ = "identity";
    expect_register("MAGIC", regs::magic::offset, 0x4E475431);
    expect_register("GEOMETRY", regs::geometry::offset, rows | cols << 8 | lanes << 16 | format_set << 24);
    expect_register("DEPTHS", regs::depths::offset, a_depth | b_depth << 16);
    expect_register("STREAM", regs::stream::offset, NG_STREAM_WIDTH / 8 | NG_COUNTERS << 8);
    expect_register("MAX_BEATS", regs::max_beats::offset, max_beats);
    expect_idle();
  }

  /// Loads both banks for `c` and waits until they are complete.
  void preload(const Command& c, const Bank& a, const Bank& b) {
    for (const Load& l : loads_of(false, a, 1)) push(l);
    for (const Load& l : loads_of(true, b, 1)) push(l);
    settle_loads();
    count_activity(c, a, b);
    expect_results(c, {&a}, {&b});
  }
  void settle_loads() {
    await("loading", [&] { return feed_.empty(); });
    wait(4);
  }

  /// A command of the given shape on banks full of random numbers.
  Command shaped(unsigned a_panels, unsigned b_panels, unsigned beats) {
    Command c;
    c.a_fmt = random_fmt(), c.b_fmt = random_partner(c.a_fmt);
    c.a_panels = a_panels, c.b_panels = b_panels, c.beats = beats;
    return c;
  }

  /// The stated cycle counts of one command, undisturbed; and that a complete bank costs no cycle.
  void latency() {
    // Long tiles that hide the drain, and single beats on one tile.
    const unsigned beats = std::min({rows * groups, a_depth / 2, b_depth / 2});
    for (const Command& shape : {shaped(1, 1, 1), shaped(2, 2, beats), shaped(1, 2, beats)}) {
      if (shape.beats < rows * groups && shape.a_panels * shape.b_panels > 1)
        continue;  // the drain would be waited for
      const Bank a = random_bank(false, shape.a_fmt, shape.a_panels * shape.beats, Style::finite);
      const Bank b = random_bank(true, shape.b_fmt, shape.b_panels * shape.beats, Style::finite);
      describe_ = "latency of " + std::to_string(shape.a_panels * shape.b_panels) + " tiles";
      start_counting();
      preload(shape, a, b);
      push(shape);
      settle();
      const std::uint64_t all_beats = shape.a_panels * shape.b_panels * shape.beats;
      // Queue, check, address, array, its stages, its queue; then the drain's three.
      const std::uint64_t expected = all_beats + stages + rows * groups + 8;
      bench_.expect_eq("cycles from COMPUTE to the last result", last_out_ - compute_at_, expected,
                       [&] { return describe_; });
      expect_counter(busy, expected);
      expect_counter(stall_in, 0);
      expect_counter(stall_out, 0);
      expect_counters();
      expect_idle();
      bench_.vector();
    }
  }

  /// Stall counters, to the cycle.
  void stalls() {
    describe_ = "waiting for input";
    Command c = shaped(1, 1, std::min({8U, a_depth, b_depth, max_beats}));
    const Bank a = random_bank(false, c.a_fmt, c.beats, Style::finite),
               b = random_bank(true, c.b_fmt, c.beats, Style::finite);
    start_counting();
    push(c);
    const std::uint64_t pushed = compute_at_;
    wait(upto(50));
    const double in = std::exchange(in_pace_, 0);
    for (const Load& l : loads_of(false, a, 1)) push(l);
    for (const Load& l : loads_of(true, b, 1)) push(l);
    count_activity(c, a, b);
    expect_results(c, {&a}, {&b});
    wait(upto(50));
    in_pace_ = in;
    settle();
    // From the third cycle after the write on, until the last word has gone through its queue.
    expect_counter(stall_in, last_in_ - pushed - 1);
    expect_counter(stall_out, 0);
    expect_counter(busy, last_out_ - pushed);
    expect_counters();
    bench_.vector();

    for (const bool bf16 : {false, true}) {
      describe_ = bf16 ? "waiting for output, BF16" : "waiting for output";
      const unsigned panels = std::min({a_depth, b_depth, 16U});
      c = shaped(panels, panels, 1);
      c.bf16 = bf16;
      const Bank many_a = random_bank(false, c.a_fmt, panels, Style::finite);
      const Bank many_b = random_bank(true, c.b_fmt, panels, Style::finite);
      start_counting();
      preload(c, many_a, many_b);
      const double out = std::exchange(out_pace_, 0);
      push(c);
      wait(100);
      const std::uint64_t one = counter(stall_out), one_at = snapshot_at_;
      wait(upto(100));
      const std::uint64_t two = counter(stall_out), two_at = snapshot_at_;
      const bool blocks = panels * panels > 8;
      bench_.expect_eq("stall_out while blocked", two - one, has_counters && blocks ? two_at - one_at : 0,
                       [&] { return describe_; });
      // Then a word a cycle; in BF16, behind the two that wait, one every two cycles if a row has two groups.
      out_pace_ = out;
      const std::uint64_t go = now_, words = expected_.size();
      settle();
      if (!bf16 || groups <= 2)
        bench_.expect_eq("cycles of all results", last_out_ - go, bf16 && groups == 2 ? 2 * (words - 2) : words - 1,
                         [&] { return describe_; });
      expect_counters();
      expect_idle();
      bench_.vector();
    }
  }

  /// Results that wait for the output close up: some leave, more come, and then all leave, a word a cycle.
  void bubbles() {
    for (unsigned some = 1; some < std::min(5U, rows * groups); ++some) {
      describe_ = "results that wait, " + std::to_string(some) + " have left";
      const double out = std::exchange(out_pace_, 0);
      for (unsigned i = 0; i < 2; ++i) {
        const Command c = shaped(1, 1, 1);
        const Bank a = random_bank(false, c.a_fmt, 1, Style::finite), b = random_bank(true, c.b_fmt, 1, Style::finite);
        preload(c, a, b);
        push(c);
        wait(100);
        if (i == 0) {
          out_pace_ = 1;
          wait(some);
          out_pace_ = 0;
        }
      }
      out_pace_ = out;
      const std::uint64_t go = now_, words = expected_.size();
      settle();
      bench_.expect_eq("words that waited", words, std::uint64_t{2 * rows * groups - some}, [&] { return describe_; });
      bench_.expect_eq("cycles of all results", last_out_ - go, words - 1, [&] { return describe_; });
      expect_idle();
      bench_.vector();
    }
  }

  /// The longest sum of the largest products, from banks that stay: MaxBeats beats, `more` of them too many.
  void long_sum(bool more) {
    unsigned beats = std::min({a_depth, b_depth, max_beats});
    while (max_beats % beats != 0) --beats;
    Command c = shaped(1, 1, beats);
    const Bank a = random_bank(false, c.a_fmt, beats, Style::extreme),
               b = random_bank(true, c.b_fmt, beats, Style::extreme);
    for (const Load& l : loads_of(false, a, 1)) push(l);
    for (const Load& l : loads_of(true, b, 1)) push(l);
    const unsigned passes = max_beats / beats + (more ? 1 : 0);
    if (!more) expect_results(c, std::vector<const Bank*>(passes, &a), std::vector<const Bank*>(passes, &b));
    for (unsigned p = 0; p < passes; ++p) {
      c.first = p == 0, c.last = p + 1 == passes;
      c.release_a = c.release_b = c.last;
      await("compute queue full", [&] { return regs::status::compute_space.get(status()) != 0; });
      count_activity(c, a, b);
      push(c);
    }
    bench_.vector();
  }
  void longest_sum() {
    describe_ = "longest sum";
    start_counting();
    long_sum(false);
    settle();
    expect_counters();
    expect_idle();
  }
  void sum_too_long() {
    describe_ = "sum of more than MaxBeats";
    irq_known_ = false;
    long_sum(true);
    expect_error(TileError::bad_compute);
  }

  /// Soft reset at any time.
  void interrupted_batch() {
    describe_ = "interrupted batch at cycle " + std::to_string(now_);
    const std::uint64_t limit = upto(400);
    play(random_program(8), limit);
    wait(upto(100));
    soft_reset();
  }

  void soft_reset() {
    write(regs::control::offset, regs::control::soft_reset.put(1));
    irq_known_ = true;
    wait(2);
    bench_.expect(!dut_->irq_o, [] { return "the interrupt stays after a soft reset"; });
    expect_idle();
    expect_register("SCALE", regs::scale::offset, regs::scale::reset);
    expect_register("FORMAT", regs::format::offset, 0);
    expect_register("IRQ_PENDING", regs::irq_pending::offset, 0);
    if (has_counters) expect_register("PRODUCTS", regs::products::offset, 0);
  }

  // ---------------------------------------------------------------- errors

  /// An error has been provoked: it is found, kept, signalled, and left by a soft reset; then a job runs.
  void expect_error(TileError error) {
    bench_.vector();
    await("error not found", [&] { return regs::status::error.get(status()) != 0; });
    const std::uint32_t code = static_cast<std::uint32_t>(error);
    bench_.expect_eq("STATUS.error", regs::status::error.get(status()), code, [&] { return describe_; });
    // The bus goes on, the first error stays, commands and stream are dropped.
    write(regs::irq_enable::offset, 2);
    wait(2);
    bench_.expect(dut_->irq_o, [&] { return "no interrupt for an error, " + describe_; });
    bench_.expect_eq("IRQ_PENDING.error", regs::irq_pending::error.get(read(regs::irq_pending::offset)), 1U,
                     [&] { return describe_; });
    write(regs::irq_pending::offset, 3);
    wait(2);
    bench_.expect(!dut_->irq_o, [&] { return "the interrupt of an error comes again, " + describe_; });
    for (unsigned i = 0; i < 6; ++i) push(Load{.b = i % 2 != 0, .more = false, .beats = 0});
    push(Command{.a_panels = 0});
    const double out = std::exchange(out_pace_, 0);
    for (unsigned i = 0; i < 20; ++i) feed_.push_back({Word(stream_words), rng().chance(0.5), false});
    await("stream not dropped after an error", [&] { return feed_.empty(); });
    out_pace_ = out;
    bench_.expect_eq("STATUS after an error", status() & ~regs::status::busy.mask(),
                     regs::status::error.put(code) | regs::status::load_space.put(queue_depth) |
                         regs::status::compute_space.put(queue_depth),
                     [&] { return describe_; });
    // Results that were finished still leave, so `done` may come up; of errors only the first one tells.
    bench_.expect_eq("IRQ_PENDING.error", regs::irq_pending::error.get(read(regs::irq_pending::offset)), 0U,
                     [&] { return describe_; });
    expect_register("MAGIC after an error", regs::magic::offset, regs::magic::reset);
    soft_reset();
    batch(1);
  }

  void feed_noise(unsigned words, bool last) {
    for (unsigned i = 0; i < words; ++i) {
      Word word(stream_words);
      for (std::uint32_t& w : word) w = static_cast<std::uint32_t>(rng().bits(32));
      feed_.push_back({std::move(word), last && i + 1 == words, false});
    }
  }
  /// A bank of noise.
  void fill(bool b, unsigned images) {
    push(Load{.b = b, .more = false, .beats = images});
    feed_noise(images * words_per_image(b), true);
  }
  static unsigned words_per_image(bool b) {
    const unsigned vectors = b ? cols : rows;
    return (vectors * lanes * elem_width + vectors * blocks * 8 + NG_STREAM_WIDTH - 1) / NG_STREAM_WIDTH;
  }

  static constexpr std::uint64_t variants = 35;

  void provoke(std::uint64_t variant) {
    variant %= variants;
    describe_ = "error variant " + std::to_string(variant) + " at cycle " + std::to_string(now_);
    irq_known_ = false;
    if (rng().chance(0.5))
      play(random_program(2));  // behind work; its results come as long as they were finished
    else
      settle();
    const bool b = variant % 2 != 0;
    const unsigned depth = b ? b_depth : a_depth, words = words_per_image(b);
    Command c = shaped(1, 1, 1);
    const auto bad = [&] {
      push(c);
      expect_error(TileError::bad_compute);
    };
    await("queues full", [&] {
      const std::uint32_t now = status();
      return regs::status::load_space.get(now) == queue_depth && regs::status::compute_space.get(now) == queue_depth;
    });
    switch (variant) {
      case 0:
      case 1:
        push(Load{.b = b, .more = false, .beats = 0});
        return expect_error(TileError::bad_load);
      case 2:
      case 3:
        push(Load{.b = b, .more = rng().chance(0.5), .beats = rng().chance(0.5) ? depth + 1 : 65535});
        return expect_error(TileError::bad_load);
      case 4:
      case 5:  // the second piece is too long
        push(Load{.b = b, .more = true, .beats = depth - 1});
        push(Load{.b = b, .more = false, .beats = 2});
        feed_noise((depth - 1) * words, true);
        return expect_error(TileError::bad_load);
      case 6:
        c.a_fmt = c.b_fmt = 3;
        return bad();
      case 7:  // every pair of formats outside the set, or NVFP4 against FP8
        for (c.a_fmt = 0; c.a_fmt < 4; ++c.a_fmt) {
          for (c.b_fmt = 0; c.b_fmt < 4; ++c.b_fmt) {
            if (legal(c.a_fmt, c.b_fmt)) continue;
            push(c);
            await("error not found", [&] { return regs::status::error.get(status()) != 0; });
            soft_reset();
            irq_known_ = false;
          }
        }
        c.a_fmt = 3, c.b_fmt = random_fmt();
        return bad();
      case 8:
        c.a_panels = 0;
        return bad();
      case 9:
        c.b_panels = 0;
        return bad();
      case 10:
        c.beats = 0;
        return bad();
      case 11:
        c.rows_used = 0;
        return bad();
      case 12:
        c.rows_used = rows + 1;
        return bad();
      case 13:
        c.cols_used = 0;
        return bad();
      case 14:
        c.cols_used = rng().chance(0.5) ? cols + 1 : 255;
        return bad();
      case 15:  // goes on with a sum that is not open
        c.first = false;
        return bad();
      case 16:
        c.last = false, c.a_panels = 2;
        return bad();
      case 17:
        c.last = false, c.b_panels = 2;
        return bad();
      case 18:  // a new sum, and the old one is still open
        c.last = false;
        fill(false, 1);
        fill(true, 1);
        push(c);
        c.last = true;
        return bad();
      case 19:  // several panels at the end of a sum
        c.last = false;
        fill(false, 1);
        fill(true, 1);
        push(c);
        c.first = false, c.last = true, c.a_panels = 2;
        return bad();
      case 20:
        for (unsigned i = 0; i < queue_depth + 1; ++i) push(Load{.b = false, .more = false, .beats = 1});
        return expect_error(TileError::queue_full);
      case 21:  // one waits for its banks, four behind it
        for (unsigned i = 0; i < queue_depth + 2; ++i) push(c);
        return expect_error(TileError::queue_full);
      case 22:
      case 23: {  // TLAST early
        const unsigned total = 2 * words;
        push(Load{.b = b, .more = rng().chance(0.5), .beats = 2});
        feed_noise(upto(total - 1), true);
        feed_noise(total, true);
        return expect_error(TileError::short_stream);
      }
      case 24:
      case 25:  // TLAST missing
        push(Load{.b = b, .more = rng().chance(0.5), .beats = 2});
        feed_noise(2 * words, false);
        feed_noise(words, true);
        return expect_error(TileError::long_stream);
      case 26:
      case 27:  // a bank with one image too many, of A or of B
        fill(false, b ? 1 : 2);
        fill(true, b ? 2 : 1);
        push(c);
        return expect_error(TileError::bank_mismatch);
      case 28:  // too few
        c.a_panels = 2;
        fill(false, 1);
        fill(true, 1);
        push(c);
        return expect_error(TileError::bank_mismatch);
      case 29:  // products whose low bits are the count of images
        c.a_panels = 2 * a_depth + 1;
        fill(false, 1);
        fill(true, 1);
        push(c);
        return expect_error(TileError::bank_mismatch);
      case 30:
      case 31:
      case 32:
      case 33:
        if (variant == 30) c.b_panels = 2 * b_depth + 1;
        if (variant == 31) c.beats = 2 * std::max(a_depth, b_depth) + 1;
        if (variant == 32) c.a_panels = a_depth + 1;
        if (variant == 33) c.b_panels = b_depth + 1;
        fill(false, 1);
        fill(true, 1);
        push(c);
        return expect_error(TileError::bank_mismatch);
      default:  // behind a job that is right: its results come first
        settle();
        play(random_program(1));
        settle();
        push(Load{.b = true, .more = false, .beats = 0});
        return expect_error(TileError::bad_load);
    }
  }

  /// The command that was just pushed must be refused; then the next one comes to a tile as after reset.
  void expect_refused(TileError error, const std::string& why) {
    describe_ = why;
    irq_known_ = false;
    bench_.vector();
    await("error not found", [&] { return regs::status::error.get(status()) != 0; });
    bench_.expect_eq("STATUS.error", regs::status::error.get(status()), static_cast<std::uint32_t>(error),
                     [&] { return describe_; });
    soft_reset();
  }

  /// Each bit of each field, alone or with the lowest one, makes a command illegal: a comparison that misses it lets
  /// the command pass, or finds another error.
  void sweep() {
    settle();
    soft_reset();
    for (unsigned bit = 0; bit < 16; ++bit) {
      for (const bool b : {false, true}) {
        const unsigned depth = b ? b_depth : a_depth, filled = upto(std::min(depth - 1, 4U));
        if (1U << bit > depth) {
          push(Load{.b = b, .more = rng().chance(0.5), .beats = 1U << bit});
          expect_refused(TileError::bad_load, "load of 2^" + std::to_string(bit) + " images");
        }
        // At last as many as 16 bits of their sum do not tell from an empty bank.
        refuse_more(b, filled, bit == 15 ? 65536 - filled : depth - filled + (1U << bit));
      }
      for (const unsigned value : {1U << bit, 1 + (1U << bit)}) {
        if (value > 1) sweep_value(value);
      }
    }
    for (unsigned sum = 1; sum <= std::min(max_beats / 2, 32U); sum *= 2) {
      for (const unsigned beats : {max_beats - sum, max_beats - sum + 1}) {
        if (beats < 65536) refuse_end(sum, beats);
      }
    }
    for (const bool b : {false, true}) {
      refuse_more(b, b ? b_depth : a_depth, 1);
      sweep_images(b);
    }
  }
  void sweep_value(unsigned value) {
    const std::string name = std::to_string(value);
    for (const bool b : {false, true}) {
      Command c = shaped(1, 1, 1);
      (b ? c.b_panels : c.a_panels) = value;
      refuse(c, 1, 1, TileError::bank_mismatch, (b ? "B panels " : "A panels ") + name);
      if (value < 256 && value > (b ? cols : rows)) {
        c = shaped(1, 1, 1);
        (b ? c.cols_used : c.rows_used) = value;
        refuse(c, 1, 1, TileError::bad_compute, (b ? "columns " : "rows ") + name);
      }
    }
    refuse(shaped(1, 1, value), 1, 1, too_long(value), "beats " + name);
    refuse_end(upto(std::min({a_depth, b_depth, max_beats})), value);
  }
  static TileError too_long(unsigned beats) {
    return beats > max_beats ? TileError::bad_compute : TileError::bank_mismatch;
  }
  void refuse(const Command& c, unsigned a_images, unsigned b_images, TileError error, const std::string& why) {
    fill(false, a_images), fill(true, b_images);
    push(c);
    expect_refused(error, why);
  }
  /// A sum of so many beats that goes on with a command of more beats than its banks hold, or than MaxBeats allows.
  void refuse_end(unsigned sum, unsigned beats) {
    unsigned images = std::min({sum, a_depth, b_depth});
    while (sum % images != 0) --images;
    fill(false, images), fill(true, images);
    Command c = shaped(1, 1, images);
    c.last = false;
    for (unsigned left = sum; left > 0; left -= images) {
      c.first = left == sum;
      c.release_a = c.release_b = left == images;
      await("compute queue full", [&] { return regs::status::compute_space.get(status()) != 0; });
      push(c);
    }
    c.first = false, c.last = true, c.beats = beats;
    refuse(c, 1, 1, too_long(sum + beats), std::to_string(beats) + " beats after " + std::to_string(sum));
  }
  void refuse_more(bool b, unsigned filled, unsigned more) {
    push(Load{.b = b, .more = true, .beats = filled});
    feed_noise(filled * words_per_image(b), true);
    push(Load{.b = b, .more = rng().chance(0.5), .beats = more});
    expect_refused(TileError::bad_load, "load of " + std::to_string(more) + " images behind " + std::to_string(filled) +
                                            (b ? " of B" : " of A"));
  }

  /// Numbers of images that a comparison of few bits takes for one another.
  void sweep_images(bool b) {
    const unsigned depth = b ? b_depth : a_depth, other = b ? a_depth : b_depth;
    const auto refuse_images = [&](unsigned panels, unsigned beats, unsigned images) {
      Command c = shaped(1, 1, beats);
      (b ? c.b_panels : c.a_panels) = panels;
      refuse(c, b ? beats : images, b ? images : beats, TileError::bank_mismatch,
             std::to_string(panels) + " panels of " + std::to_string(beats) + " beats and " + std::to_string(images) +
                 (b ? " images of B" : " images of A"));
    };
    refuse_images(2 * depth, 1, depth);  // product beyond the bank, bank full
    // Products beyond the bank whose low bits are the number of images.
    std::vector<std::array<unsigned, 3>> products;
    for (unsigned beats = 1; beats <= std::min({depth, other, max_beats, 16U}); ++beats) {
      for (unsigned panels = 1; panels < 2 * depth; ++panels) {
        const unsigned images = panels * beats % (2 * depth);
        if (panels * beats > 2 * depth && images > 0 && images <= std::min(depth, 16U))
          products.push_back({panels, beats, images});
      }
    }
    for (unsigned i = 0; i < 24 && !products.empty(); ++i) {
      const auto at = products.begin() + rng().below(static_cast<unsigned>(products.size()));
      refuse_images((*at)[0], (*at)[1], (*at)[2]);
      products.erase(at);
    }
    // Every other number in a small bank.
    const unsigned small = std::min(depth, 4U);
    for (unsigned panels = 1; panels <= small; ++panels) {
      for (unsigned images = 1; images <= small; ++images)
        if (images != panels) refuse_images(panels, 1, images);
    }
  }
  static bool legal(unsigned a, unsigned b) {
    const auto fp8 = [](unsigned f) { return (f == e4m3 && has_e4m3) || (f == e5m2 && has_e5m2); };
    return (fp8(a) && fp8(b)) || (a == nvfp4 && b == nvfp4 && has_fp4);
  }

  Bench bench_;
  Dut<Vdut> dut_;
  axi::Report report_;
  axi::LiteChecker bus_checker_;
  axi::StreamChecker in_checker_, out_checker_;
  axi::LiteMaster master_;
  axi::LiteSignals bus_;
  std::uint64_t now_ = 0, last_in_ = 0, last_out_ = 0, out_words_ = 0, commands_ = 0, interrupts_ = 0;
  double in_pace_ = 1, out_pace_ = 1, bus_pace_ = 1;
  std::string describe_;
  // Streams.
  std::deque<StreamWord> feed_, expected_;
  bool in_valid_ = false;
  std::uint32_t done_ = 0, loads_ = 0;
  // Registers, as far as the bench follows them.
  bool aw_held_ = false, w_held_ = false, ar_held_ = false;
  std::uint32_t address_ = 0, data_ = 0, strobes_ = 0;
  std::uint32_t irq_enable_ = 0, irq_pending_ = 0;
  bool irq_known_ = true;  // no error is expected
  bool soft_reset_ = false, next_soft_reset_ = false, core_reset_ = false, clear_ = false;
  bool compute_pulse_ = false, pushed_last_ = false;
  std::array<std::uint64_t, 4> shadow_{};
  // Counters.
  Counts count_{}, snapshot_{}, activity_{};
  std::uint64_t most_busy_ = 0, snapshot_most_busy_ = 0, snapshot_at_ = 0, compute_at_ = 0, beats_ = 0;
  std::deque<bool> in_flight_;  // commands in order: whether they have results
  std::vector<std::uint8_t> previous_a_, previous_b_;
};

}  // namespace

int main(int argc, char** argv) {
  TileBench bench(argc, argv);
  return bench.run();
}
