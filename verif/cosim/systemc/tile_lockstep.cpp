// SPDX-License-Identifier: Apache-2.0
// ng_tile and its SystemC module in lock-step: chains of loads and compute commands that overlap, with operands that
// stay, banks of A that are taken in parts, and sums over several commands; every error; registers read and written at
// random meanwhile; soft and hard resets in mid-flight; stalls on all channels. Build parameters: NG_ROWS, NG_COLS,
// NG_LANES, NG_FORMAT_SET, NG_STREAM_WIDTH, NG_A_DEPTH, NG_B_DEPTH, NG_MAX_BEATS, NG_COUNTERS, NG_LOAD_CUTS,
// NG_COMMAND_CUTS, NG_CELL_CUTS, NG_CONVERT_CUTS, NG_SCALE_CUTS, NG_REQUANTIZE, NG_REQUANTIZE_CUTS, NG_SPARSE,
// NG_CODEC, NG_ENCODERS, NG_DEADLINE, NG_INTEGERS, NG_MX.
#include <array>
#include <deque>
#include <map>

#include "../tile/packet_stimulus.hpp"
#include "built_tile.hpp"
#include "dut_pins.hpp"
#include "lite_pins.hpp"
#include "systemc/tile/tile.hpp"

namespace {

using namespace narrowgauge::bench;
namespace axi = narrowgauge::axi;
namespace regs = narrowgauge::tile_regs;
using narrowgauge::systemc::TileCore, narrowgauge::systemc::TileIn, narrowgauge::systemc::TileOut;

constexpr auto params = built_tile;
constexpr int width = params.stream_width;
using Words = PortWords<width>;

constexpr const char* faults[] = {
    "an operand word is refused once in a hundred",
    "tlast of results is dropped once in ten",
    "a result bit is wrong once in a hundred words",
    "a result is late",
    "irq is late",
    "loads are counted twice",
    "bank_mismatch is reported as bad_compute",
    "soft reset keeps the banks",
    "an error keeps the queue of loads",
    "the array moves once too often in a hundred cycles",
    params.deadline ? "a deadline passes unseen" : "results of a job get the scale of another",
    params.counters ? "a counter is not cleared" : nullptr,
    params.sparse  ? "illegal metadata stop nothing"
    : params.codec ? "a broken packet stops nothing"
                   : nullptr,
    params.encoders ? "a value of results gets another code" : nullptr};
static_assert((params.counters || !(params.sparse || params.codec)) && (params.codec || !params.encoders),
              "faults of what is not there stand last");
constexpr std::uint32_t error_codes = params.codec ? 8 : params.sparse ? 7 : 6;

struct Core : TileCore<params> {
  using Base = TileCore<params>;

  TileOut out() const {
    TileOut out = Base::out();
    if (fault == 1 && count_ % 100 == 0) out.operand_ready = false;
    if (fault == 2 && lasts_out_ % 10 == 9) out.result_last = false;
    if (fault == 3 && out.result && words_out_ % 100 == 99) {
      std::copy_n(out.result, wrong_.size(), wrong_.begin());
      wrong_[0] ^= 1;
      out.result = wrong_.data();
    }
    if (fault == 4 && !shown_) out.result = nullptr;
    if (fault == 5) out.irq = irq_;
    return out;
  }

  void step(const TileIn& in) {
    ++count_;
    words_out_ += Base::out().result && in.result_ready;
    lasts_out_ += Base::out().result_last && in.result_ready;
    shown_ = Base::out().result != nullptr;
    irq_ = Base::out().irq;
    const std::uint32_t loads = loads_count_, error = error_;
    const auto a = a_;
    const auto queue = loads_;
    const auto counters = counters_;
    const bool soft_reset = regs_.soft_reset(), clear = regs_.clear_counters();
    Base::step(in);
    if (fault == 6 && loads_count_ > loads) ++loads_count_;
    if (fault == 7 && error_ == 6) error_ = 2;
    if (fault == 8 && soft_reset) a_ = a;
    if (fault == 9 && error == 0 && error_ != 0) kept_ = queue;
    if (fault == 9 && error != 0 && error_ != 0) loads_ = kept_;
    if (fault == 10 && count_ % 100 == 0) array_.step(nullptr, false);
    if (fault == 11 && params.deadline) forget_passed(deadline_);
    if (fault == 11 && !params.deadline && count_ % 100 == 0) jobs_.step(nullptr, true);
    if (fault == 12 && (clear || soft_reset)) counters_ = counters;
    if (fault == 13 && error == 0 && error_ == (params.sparse ? 7 : 8)) error_ = 0;
    if (fault == 14 && count_ % 100 == 0) change_code(results_);
  }

 private:
  static void change_code(auto& results) {
    if constexpr (params.encoders != 0) results.load(0, 0x1000);
  }

  static void forget_passed(auto& deadline) {
    if constexpr (params.deadline) {
      if (deadline.late()) deadline.reset();
    }
  }

  std::uint64_t count_ = 0, words_out_ = 0, lasts_out_ = 0;
  bool shown_ = false, irq_ = false;
  decltype(loads_) kept_;
  mutable Words wrong_{};
};

struct StreamWord {
  Words data;
  bool last;
};

/// A register access; waits first until its queue has room if it is a command that shall not overflow it.
struct Access {
  std::uint32_t address, data;
  std::uint8_t strobes = 0xF;
  bool wait = false;
};

/// Writes programs: register accesses and the words of the stream that go with them.
class Programmer {
 public:
  explicit Programmer(Rng& rng) : rng_(rng) {}

  std::deque<Access> accesses;
  std::deque<StreamWord> stream;
  std::uint64_t jobs = 0, stationary = 0, chained = 0, in_parts = 0;

  /// Nothing is in the tile.
  void restart() {
    accesses.clear();
    stream.clear();
    a_stays_ = b_stays_ = open_ = part_open_ = false;
    put(regs::irq_enable::offset, static_cast<std::uint32_t>(rng_.bits(2)));
    // A reset leaves the tables of codes, but may have come before all of them were written.
    if (params.codec + params.encoders == 0 || (code_written_ && rng_.chance(0.9))) return;
    code_ = narrowgauge::bench::random_code(rng_);
    if (params.codec != 0)
      for (const auto& [address, data] : table_writes(narrowgauge::decoder_table(code_)))
        put(regs::code::offset, regs::code::address.put(address) | regs::code::data.put(data));
    if (params.encoders != 0)
      for (std::uint32_t value = 0; const narrowgauge::EncoderEntry& entry : narrowgauge::encoder_table(code_))
        put(regs::result_code::offset,
            regs::result_code::address.put(value++) | regs::result_code::data.put(entry.word()));
    code_written_ = false;
  }

  /// A compute command with its loads; `flaw` 1 to error_codes: with what gives that error, if the tile gets so far; 0:
  /// none. Returns whether it has a flaw: sums may become too long.
  bool job(unsigned flaw) {
    ++jobs;
    code_written_ = true;
    const bool first = !open_;
    if (first && !a_stays_ && !b_stays_ && (flaw == 0 || flaw == 6) && rng_.chance(0.2)) return parts(flaw != 0);
    if (!(a_stays_ || b_stays_ || open_)) choose_formats();
    if (!a_stays_ && !b_stays_)
      beats_ = rng_.chance(depth() > 64 ? 0.005 : 0.03)
                   ? depth()
                   : 1 + rng_.below(std::min(depth(), rng_.chance(0.2) ? 12U : 3U));
    bool chain = open_ || (flaw != 6 && rng_.chance(0.2));
    if (!a_stays_) a_panels_ = panels(chain, params.a_depth);
    if (!b_stays_) b_panels_ = panels(chain, params.b_depth);
    chain = chain && a_panels_ == 1 && b_panels_ == 1;  // they may have stayed
    chained += chain;
    sum_ = first ? beats_ : sum_ + beats_;
    emit(flaw, first, !chain || sum_ + beats_ > params.max_beats || rng_.chance(0.5));
    return flaw != 0 || sum_ > params.max_beats;
  }

  /// Anything at all.
  void wild() {
    const std::uint32_t some[] = {regs::load::offset,        regs::format::offset,    regs::scale::offset,
                                  regs::panels::offset,      regs::edge::offset,      regs::compute::offset,
                                  regs::irq_pending::offset, regs::irq_enable::offset};
    const std::uint32_t address =
        rng_.chance(0.8) ? some[rng_.below(std::size(some))] : static_cast<std::uint32_t>(rng_.bits(12));
    auto data = static_cast<std::uint32_t>(rng_.bits(32));
    if (rng_.chance(0.8)) data &= 0xC03F0003;
    accesses.push_back({address, data, static_cast<std::uint8_t>(rng_.chance(0.7) ? 0xF : rng_.bits(4))});
    for (std::uint64_t n = rng_.bits(2); n > 0; --n) stream.push_back({random_word(), rng_.chance(0.3)});
  }

 private:
  /// Sums that take a bank of A in parts, each with a bank of B; it may serve several sums. `beyond`: the last one goes
  /// on behind the end of the bank. Returns whether it does.
  bool parts(bool beyond) {
    choose_formats();
    const std::uint32_t most = std::min<std::uint32_t>(depth(), static_cast<std::uint32_t>(params.a_depth) / 2);
    const std::uint32_t beats = 1 + rng_.below(std::min(most, 3U));
    const std::uint32_t count = 1 + rng_.below(std::min(static_cast<std::uint32_t>(params.a_depth) / beats, 3U));
    if ((count + 1) * beats > params.max_beats) return false;
    const std::uint32_t sums = 1 + rng_.below(3), images = count * beats;
    const bool a_late = rng_.chance(0.5);  // when a command waits for it
    if (!a_late) loads(false, images, 0, 0);
    for (std::uint32_t sum = 0; sum < sums; ++sum) {
      const bool ends = sum + 1 == sums;
      for (std::uint32_t part = 0; part < count + (beyond && ends); ++part) {
        loads(true, beats, 0, 0);
        const bool last = part + 1 == count && !(beyond && ends);
        formats(a_fmt_, b_fmt_);
        put(regs::panels::offset, regs::panels::a.put(1) | regs::panels::b.put(1));
        put(regs::edge::offset, regs::edge::rows.put(params.rows) | regs::edge::cols.put(params.cols));
        const std::uint32_t command = regs::compute::beats.put(beats) | regs::compute::first.put(part == 0) |
                                      regs::compute::last.put(last) | regs::compute::release_a.put(last && ends) |
                                      regs::compute::release_b.put(1) | regs::compute::part_a.put(1);
        accesses.push_back({regs::compute::offset, command, 0xF, true});
        if (a_late && sum == 0 && part == 0) loads(false, images, 0, 0);
      }
    }
    ++in_parts;
    return beyond;
  }

  void formats(std::uint32_t a_fmt, std::uint32_t b_fmt) {
    put(regs::format::offset, regs::format::a.put(a_fmt) | regs::format::b.put(b_fmt) |
                                  regs::format::bf16.put(static_cast<std::uint32_t>(rng_.bits(1))));
  }

  static constexpr std::uint32_t depth() { return std::min(params.a_depth, params.b_depth); }

  std::uint32_t panels(bool chain, int depth) {
    return chain ? 1 : std::min(1 + rng_.below(4), static_cast<std::uint32_t>(depth) / beats_);
  }

  void choose_formats() {
    constexpr auto array = params.array();
    const auto code = [](regs::TileElement element) { return static_cast<std::uint32_t>(element); };
    const auto fp8 = [&] {
      const bool e5m2 = array.has_e5m2() && (!array.has_e4m3() || rng_.chance(0.5));
      return code(e5m2 ? regs::TileElement::e5m2 : regs::TileElement::e4m3);
    };
    constexpr bool narrow = array.has_fp4() || array.has_luq() || array.has_int8();
    fp4_ = narrow && (!array.has_fp8() || rng_.chance(0.5));
    const bool luq = array.has_int8() || (array.has_luq() && (!array.has_fp4() || rng_.chance(0.5)));
    const std::uint32_t of_4_bits = code(luq ? regs::TileElement::luq : regs::TileElement::nvfp4);
    a_fmt_ = fp4_ ? of_4_bits : fp8();
    b_fmt_ = fp4_ ? of_4_bits : fp8();
  }

  void put(std::uint32_t address, std::uint32_t data) { accesses.push_back({address, data}); }

  /// Results in a format of the set or in none; `any`: also what is refused.
  std::uint32_t requantize_word(bool any) {
    const std::uint32_t relu = regs::requantize::relu.put(static_cast<std::uint32_t>(rng_.bits(1)));
    if (any) return static_cast<std::uint32_t>(rng_.bits(5));
    if (rng_.chance(0.3)) return relu;
    std::uint32_t format = 0;
    do format = rng_.below(4);
    while ((params.format_set >> format & 1) == 0);
    const regs::Field fields[] = {regs::requantize::nvfp4, regs::requantize::e4m3, regs::requantize::e5m2,
                                  regs::requantize::int4};
    return relu | fields[format].put(1);
  }

  void emit(unsigned flaw, bool first, bool last) {
    const unsigned kind = rng_.below(5);
    const bool release_a = !rng_.chance(0.2), release_b = !rng_.chance(0.2) || !release_a;
    const bool b_first = rng_.chance(0.5);
    for (const bool b : {b_first, !b_first}) {
      if (b ? b_stays_ : a_stays_) {
        ++stationary;
      } else {
        loads(b, (b ? b_panels_ : a_panels_) * beats_, flaw, kind);
      }
    }
    // It takes the whole bank; one behind it, in the same sum, would go on from there.
    const bool part = !part_open_ && rng_.chance(0.2);
    part_open_ = part && !release_a && !last;
    a_stays_ = !release_a;
    b_stays_ = !release_b;
    open_ = !last;

    std::uint32_t a_fmt = a_fmt_, b_fmt = b_fmt_, a_panels = a_panels_, b_panels = b_panels_, beats = beats_;
    std::uint32_t rows = rng_.chance(0.6) ? params.rows : 1 + rng_.below(params.rows);
    std::uint32_t cols = rng_.chance(0.6) ? params.cols : 1 + rng_.below(params.cols);
    if (flaw == 2) {
      if (kind == 0) a_fmt = b_fmt_ == 3 ? 0 : 3;
      if (kind == 1) (rng_.chance(0.5) ? a_panels : b_panels) = 0;
      if (kind == 2) beats = 0;
      if (kind == 3) rows = rng_.chance(0.5) ? 0 : params.rows + 1;
      if (kind == 4) first = !first;
    }
    if (flaw == 6) (rng_.chance(0.5) ? a_panels : b_panels) += 1 + (rng_.chance(0.1) ? 0x8000 : 0);
    formats(a_fmt, b_fmt);
    if (params.deadline && rng_.chance(0.2))
      put(regs::deadline::offset,
          regs::deadline::armed.put(rng_.chance(0.8)) | regs::deadline::clocks.put(rng_.below(200)));
    if (rng_.chance(0.7)) {
      constexpr std::uint32_t special[] = {0x3F800000, 0xBF800000, 0x00000000, 0x7F800000, 0x7FC00001, 0x00000123};
      put(regs::scale::offset, rng_.chance(0.4) ? special[rng_.below(std::size(special))]
                                                : 0x30000000 + static_cast<std::uint32_t>(rng_.bits(29)));
    }
    if (params.encoders != 0 && rng_.chance(0.3)) put(regs::compress::offset, static_cast<std::uint32_t>(rng_.bits(1)));
    if (params.integers && rng_.chance(0.5))
      put(regs::integer::offset, regs::integer::int8.put(rng_.chance(0.6)) |
                                     regs::integer::zero_point.put(static_cast<std::uint32_t>(rng_.bits(9))));
    if (params.requantize && rng_.chance(0.7)) {
      put(regs::requantize::offset, requantize_word(flaw == 2 && rng_.chance(0.3)));
      std::uint32_t scale = 0x38000000 + static_cast<std::uint32_t>(rng_.bits(27));
      if (params.array().has_fp8() && rng_.chance(0.7)) scale &= 0xFF800000;  // powers of two
      put(regs::tensor_scale::offset, rng_.chance(0.1) ? 0 : scale);
    }
    put(regs::panels::offset, regs::panels::a.put(a_panels) | regs::panels::b.put(b_panels));
    put(regs::edge::offset, regs::edge::rows.put(rows) | regs::edge::cols.put(cols));
    const std::uint32_t command =
        regs::compute::beats.put(beats) | regs::compute::first.put(first) | regs::compute::last.put(last) |
        regs::compute::release_a.put(release_a) | regs::compute::release_b.put(release_b) |
        regs::compute::irq.put(static_cast<std::uint32_t>(rng_.bits(1))) | regs::compute::part_a.put(part);
    accesses.push_back({regs::compute::offset, command, 0xF, true});
    if (flaw == 3 && kind < 2)
      for (int i = 0; i < 6; ++i) put(regs::compute::offset, command);
  }

  void loads(bool b, std::uint32_t images, unsigned flaw, unsigned kind) {
    const std::uint32_t cut = images > 1 && rng_.chance(0.3) ? 1 + rng_.below(images - 1) : images;
    for (const std::uint32_t count : {cut, images - cut}) {
      if (count == 0) break;
      std::uint32_t command = regs::load::panel_beats.put(count) | regs::load::operand.put(b) |
                              regs::load::more.put(cut != images && count == cut && !loaded_part_);
      loaded_part_ = cut != images && !loaded_part_;
      if (flaw == 1)
        command = (command & ~regs::load::panel_beats.mask()) | (kind < 2 ? 0 : kind == 2 ? 0xFFFF : 0x4001);
      const bool compressed = params.codec != 0 && rng_.chance(0.5);
      command |= regs::load::compressed.put(compressed);
      accesses.push_back({regs::load::offset, command, 0xF, true});
      if (flaw == 3 && kind >= 2)
        for (int i = 0; i < 6; ++i) put(regs::load::offset, command);
      words(b, count, flaw == 7);
      if (compressed) compress(flaw == 8);
      if (flaw == 4) stream[stream.size() - 1 - rng_.below(static_cast<std::uint32_t>(last_words_))].last = true;
      if (flaw == 5) stream.back().last = false;
    }
    loaded_part_ = false;
  }

  /// Two nibbles of metadata, with `illegal` mostly legal ones.
  std::uint8_t metadata(bool illegal) {
    for (;;) {
      const auto byte = static_cast<std::uint8_t>(rng_.bits(8));
      const bool legal = narrowgauge::is_metadata(byte & 15U) && narrowgauge::is_metadata(byte >> 4U);
      if (legal || (illegal && rng_.chance(0.02))) return byte;
    }
  }

  /// The stream words of `count` images.
  void words(bool b, std::uint32_t count, bool illegal = false) {
    const int elements = params.element_bytes(b), words = params.image_words(b);
    const unsigned style = rng_.below(8);
    for (std::uint32_t i = 0; i < count; ++i) {
      for (int w = 0; w < words; ++w) {
        Words data = random_word();
        for (int at = 0; at < width / 8; ++at) {
          auto byte = static_cast<std::uint8_t>(data[static_cast<std::size_t>(at / 4)] >> at % 4 * 8);
          if (w * (width / 8) + at < elements) {
            if (params.array().elem_width() == 8 && !fp4_ && style != 0 && (byte & 0x7C) == 0x7C) byte ^= 0x40;
            if (style == 1 && rng_.chance(0.7)) byte &= 0x88;
          } else if (constexpr int pitch = params.array().a_block_bytes();
                     !b && (w * (width / 8) + at - elements) % pitch >= pitch % 4) {
            byte = metadata(illegal);
          } else if (style != 0 && (byte & 0x7F) == 0x7F) {
            byte ^= 1;  // a scale that is a number
          }
          auto& word = data[static_cast<std::size_t>(at / 4)];
          word = (word & ~(0xFFU << at % 4 * 8)) | static_cast<std::uint32_t>(byte) << at % 4 * 8;
        }
        stream.push_back({data, i == count - 1 && w == words - 1});
      }
    }
    last_words_ = static_cast<int>(count) * words;
  }

  /// Makes the words of the last load its packet, `broken` or not.
  void compress(bool broken) {
    std::vector<std::uint8_t> values;
    for (auto at = stream.end() - last_words_; at != stream.end(); ++at)
      for (int i = 0; i < width / 8; ++i)
        values.push_back(static_cast<std::uint8_t>(at->data[static_cast<std::size_t>(i / 4)] >> i % 4 * 8));
    stream.erase(stream.end() - last_words_, stream.end());
    auto packet = narrowgauge::bench::loose_packet(rng_, values, code_, width / 8);
    for (std::uint32_t bits = broken ? 1 + rng_.below(4) : 0; bits > 0; --bits)
      packet[rng_.below(static_cast<std::uint32_t>(packet.size()))] ^= static_cast<std::uint8_t>(1U << rng_.below(8));
    last_words_ = static_cast<int>(packet.size()) * 8 / width;
    for (std::size_t at = 0; at < packet.size(); at += width / 8) {
      stream.push_back({{}, at + width / 8 == packet.size()});
      for (std::size_t i = 0; i < width / 8; ++i)
        stream.back().data[i / 4] |= static_cast<std::uint32_t>(packet[at + i]) << i % 4 * 8;
    }
  }

  Words random_word() {
    Words words;
    for (auto& word : words) word = static_cast<std::uint32_t>(rng_.bits(32));
    return words;
  }

  Rng& rng_;
  bool fp4_ = false, a_stays_ = false, b_stays_ = false, open_ = false, loaded_part_ = false, part_open_ = false;
  std::uint32_t a_fmt_ = 0, b_fmt_ = 0, a_panels_ = 1, b_panels_ = 1, beats_ = 1;
  std::int64_t sum_ = 0;
  int last_words_ = 1;
  narrowgauge::CodeLengths code_{};
  bool code_written_ = false;
};

/// Both tiles and their pins.
class Tiles {
 public:
  explicit Tiles(Lockstep<Vdut>& both) : both_(both) {}

  void drive(const axi::LiteSignals& bus, const StreamWord* word, bool out_ready) {
    drive_lite(both_, pins_, bus);
    both_.drive(pins_.s_axis_tvalid_i, word != nullptr);
    if (word) {
      both_.drive(pins_.s_axis_tdata_i, narrowgauge::systemc::port_of<width>(word->data));
      both_.drive(pins_.s_axis_tlast_i, word->last);
    }
    both_.drive(pins_.m_axis_tready_i, out_ready);
  }

  void compare() {
    same_lite(both_, pins_, OnlyWhile(both_.dut->m_axis_tvalid_o, pins_.m_axis_tdata_o, pins_.m_axis_tlast_o));
  }

 private:
  Lockstep<Vdut>& both_;
  narrowgauge::systemc::Tile<params, Core> model_{"model"};
  Pins pins_{both_, model_};
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv,
                      "systemc tile " + std::to_string(params.rows) + "x" + std::to_string(params.cols) + "x" +
                          std::to_string(params.lanes) + " formats " + std::to_string(params.format_set));
  Tiles tiles(both);
  auto& [bench, dut, clk, rst_n] = both;
  Rng& rng = bench.rng();
  Programmer program(rng);
  axi::LiteMaster master;
  axi::LiteSignals bus;

  enum class Mode { legal, flawed, wild };
  Mode mode = Mode::legal;
  std::uint64_t until = 0;        // the end of what is flawed or wild
  std::uint64_t legal_since = 0;  // an answer of before may still come
  int resetting = 0;              // cycles until a soft reset is over
  bool soft_reset_asked = false, status_asked = false, status_given = false, in_waits = false;
  std::uint32_t status = 0;
  StreamWord word{};
  double bubble = 0, stall = 0, hold = 0;
  std::map<std::uint32_t, std::uint64_t> errors;
  std::uint64_t hard = 0, soft = 0, late = 0, irqs = 0, results = 0, packets = 0, numbers = 0, in_stalls = 0,
                out_stalls = 0;

  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    // Resets.
    const auto compare_in_reset = [&] {
      // The core's reset may be low when simulation begins: then only clock edges reset what is behind it.
      if (i == 0) both.tick();
      tiles.compare();
    };
    if (both.maybe_reset(i, compare_in_reset, 0.0002)) {
      master.reset();
      program.restart();
      mode = Mode::legal;
      legal_since = i;
      resetting = 0;
      soft_reset_asked = status_asked = status_given = in_waits = false;
      ++hard;
    }
    if (!soft_reset_asked && resetting == 0 && ((mode != Mode::legal && i >= until) || rng.chance(0.0003))) {
      program.accesses.clear();
      program.accesses.push_back({regs::control::offset, 1U | static_cast<std::uint32_t>(rng.bits(2)) << 1});
      soft_reset_asked = true;
    }
    if (resetting > 0 && --resetting == 0) {
      program.restart();
      mode = Mode::legal;
      legal_since = i;
      ++soft;
    }
    if (i % 400 == 0) {
      bubble = traffics[rng.below(std::size(traffics))].bubble;
      stall = traffics[rng.below(std::size(traffics))].stall;
      hold = rng.chance(0.5) ? 0 : 0.4;
    }

    // What comes next.
    const bool idle = !soft_reset_asked && resetting == 0;
    if (idle && program.accesses.empty() && program.stream.size() < 200) {
      if (mode == Mode::wild) {
        program.wild();
      } else if (mode == Mode::legal) {
        if (rng.chance(0.02)) {
          mode = Mode::wild;
          until = i + 300;
        } else {
          if (program.job(rng.chance(0.12) ? std::min(1 + rng.below(error_codes + 1), error_codes) : 0)) {
            mode = Mode::flawed;
            until = i + 3000;
          }
        }
      }
      if (rng.chance(0.05)) program.accesses.push_back({regs::control::offset, 2});
      if (rng.chance(0.1)) program.accesses.push_back({regs::irq_pending::offset, 3});
    }
    if (master.write_ready() && !program.accesses.empty()) {
      const Access& access = program.accesses.front();
      const auto& space = access.address == regs::load::offset ? regs::status::load_space : regs::status::compute_space;
      if (!access.wait || (status_given && space.get(status) != 0)) {
        master.start_write(access.address, access.data, access.strobes);
        program.accesses.pop_front();
        status_given = false;
      } else if (!status_asked && master.read_ready()) {
        master.start_read(regs::status::offset);
        status_asked = true;
      }
    }
    if (!status_asked && master.read_ready() && rng.chance(0.1)) {
      const bool mapped = rng.chance(0.9);
      master.start_read(params.deadline && rng.chance(0.1) ? regs::progress::offset
                        : rng.chance(0.3)                  ? regs::status::offset
                                          : static_cast<std::uint32_t>(rng.bits(mapped ? 8 : 12)) & ~3U);
    }

    // A cycle.
    master.drive(bus, go_at_random(rng, hold));
    const bool stream_ends = resetting > 0 || (soft_reset_asked && program.accesses.empty());
    if (!in_waits && !stream_ends && !rng.chance(bubble) && !program.stream.empty()) {
      word = program.stream.front();
      program.stream.pop_front();
      in_waits = true;
    }
    tiles.drive(bus, in_waits ? &word : nullptr, !rng.chance(stall));
    both.settle();
    tiles.compare();
    axi::get_lite(*dut, bus);
    master.sample(bus);
    if (bus.rvalid && bus.rready && params.deadline && bus.araddr == regs::progress::offset)
      late += regs::progress::late.get(bus.rdata);
    if (bus.rvalid && bus.rready && bus.araddr == regs::status::offset) {
      status = bus.rdata;
      const std::uint32_t error = regs::status::error.get(status);
      if (error != 0) {
        ++errors[error];
        until = std::min(until, i + 60);
        if (mode == Mode::legal && i > legal_since + 100)
          bench.error("error " + std::to_string(error) + " in a legal program");
      }
    }
    in_stalls += in_waits && !dut->s_axis_tready_o;
    out_stalls += dut->m_axis_tvalid_o && !dut->m_axis_tready_i;
    if (dut->m_axis_tvalid_o && dut->m_axis_tready_i) {
      ++results;
      packets += dut->m_axis_tlast_o;
      const std::uint64_t first = get_bits(dut->m_axis_tdata_o, 0, 31);
      numbers += first != 0 && (first & 0x7F800000) != 0x7F800000;
    }
    if (in_waits && dut->s_axis_tready_o) in_waits = false;
    both.tick();
    tiles.compare();
    irqs += dut->irq_o;
    if (const auto done = master.take_write(); done && soft_reset_asked && program.accesses.empty()) {
      // The tile is in reset in the cycle after the response; what was under way is gone.
      soft_reset_asked = false;
      program.stream.clear();
      resetting = 3;
    }
    if (master.take_read() && status_asked) {
      status_asked = false;
      status_given = true;
    }
    bench.vector();
  }
  if (bench.budget() < 50'000) return bench.finish();
  both.covered("results came out", results, 500);
  both.covered("commands delivered their last result", packets);
  both.covered("finite results other than zero came out", numbers, 100);
  both.covered("an operand stayed for the next command", program.stationary);
  both.covered("a sum went over several commands", program.chained);
  both.covered("a bank of A was taken in parts", program.in_parts);
  both.covered("the stream of operands was stalled", in_stalls, 100);
  both.covered("the stream of results was stalled", out_stalls, 100);
  if (params.deadline) both.covered("a deadline was seen to be past", late);
  both.covered("irq was up", irqs);
  both.covered("soft reset", soft, 5);
  both.covered("reset", hard, 2);
  for (std::uint32_t error = 1; error <= error_codes; ++error)
    if (error < 7 || params.sparse == (error == 7))
      both.covered("error " + std::to_string(error) + " was read", errors[error], 2);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) {
  const auto count = std::size(faults) - (params.counters ? 0 : 1) - (params.sparse || params.codec ? 0 : 1) -
                     (params.encoders ? 0 : 1);
  return lockstep_main(argc, argv, {faults, count}, run);
}
