// SPDX-License-Identifier: Apache-2.0
// The tile under clock, with stalls on both streams and on all channels of the bus, and what is compared in each cycle:
// results, the interrupt, the protocols, and that no output follows a handshake input within the cycle. Above it,
// accesses, commands, and the counters at rest.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "../axi.hpp"
#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/codec/tile_encode.hpp"
#include "packet_stimulus.hpp"
#include "tile_reference.hpp"
#include "tile_stimulus.hpp"

namespace narrowgauge::tile_bench {

class Harness {
 public:
  Harness(int argc, char** argv)
      : bench(argc, argv,
              "tile " + std::to_string(rows) + "x" + std::to_string(cols) + "x" + std::to_string(lanes) + " formats " +
                  std::to_string(format_set),
              300),
        random(bench.rng()),
        dut_(bench),
        report_([this](const std::string& text) { bench.error(text); }),
        bus_checker_("s_axil", report_),
        in_checker_("s_axis", report_),
        out_checker_("m_axis", report_) {
    for (const Owed* checker : checkers()) bench.owe(*checker);
  }
  ~Harness() {
    for (const Owed* checker : checkers()) bench.settle(*checker);
  }
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  /// Chances in each cycle that an operand word comes, a result is taken, a channel of the bus goes.
  struct Pace {
    double in = 1, out = 1, bus = 1;
  };

  Bench bench;
  Stimulus random;
  Activity activity;
  Pace pace;
  double compressed_loads = 0;                       ///< share of loads, where they can be
  std::string describe;                              ///< what is tried now
  std::function<void(axi::LiteSignals&)> drive_bus;  ///< where set, in every cycle, after the master without a request
  bool irq_known = true;                             ///< no error is expected
  std::uint64_t commands = 0;                        ///< of programs

  Rng& rng() { return bench.rng(); }
  std::uint64_t now() const { return now_; }
  /// Cycle of the last word in, of the last one out, and of the last command's arrival in the core.
  std::uint64_t last_in() const { return last_in_; }
  std::uint64_t last_out() const { return last_out_; }
  std::uint64_t compute_at() const { return registers_.compute_at(); }
  bool irq() { return dut_->irq_o; }

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
    registers_.assert_core_reset();
    cycle();
  }

  void cycle() {
    // What is not valid is noise.
    if (!in_valid_ && !feed_.empty() && rng().chance(pace.in)) in_valid_ = true;
    dut_->s_axis_tvalid_i = in_valid_;
    for (unsigned i = 0; i < stream_words; ++i)
      set_bits(dut_->s_axis_tdata_i, 32 * i, 32, in_valid_ ? feed_.front().data[i] : rng().bits(32));
    dut_->s_axis_tlast_i = in_valid_ ? feed_.front().last : rng().chance(0.5);
    dut_->m_axis_tready_i = rng().chance(pace.out);
    const auto go = [&] { return rng().chance(pace.bus); };
    master_.drive(bus_, {go(), go(), go(), go(), go()});
    if (drive_bus) drive_bus(bus_);
    axi::put_lite(*dut_, bus_);
    dut_.eval();
    axi::get_lite(*dut_, bus_);
    bus_checker_.sample(bus_);
    const Word result = get_words(dut_->m_axis_tdata_o);
    if (registers_.core_reset()) {
      out_checker_.sample_reset(dut_->m_axis_tvalid_o);
      in_checker_.sample_reset(false);
    } else {
      in_checker_.sample(dut_->s_axis_tvalid_i, dut_->s_axis_tready_o, {}, 0);
      out_checker_.sample(dut_->m_axis_tvalid_o, dut_->m_axis_tready_i, result, dut_->m_axis_tlast_o);
    }
    if (irq_known)
      bench.expect_eq("irq_o", static_cast<unsigned>(dut_->irq_o), registers_.irq() ? 1U : 0U,
                      [&] { return "cycle " + std::to_string(now_); });
    interrupts_ += dut_->irq_o;
    if (rng().chance(0.01)) probe();
    const bool in = dut_->s_axis_tvalid_i && dut_->s_axis_tready_o && !registers_.core_reset();
    const bool out = dut_->m_axis_tvalid_o && dut_->m_axis_tready_i;
    registers_.step(bus_, now_, out && dut_->m_axis_tlast_o,
                    out && !expected_.empty() && expected_.front().last && expected_.front().irq);
    if (in) {
      feed_.pop_front();
      in_valid_ = false;
      last_in_ = now_;
    }
    if (out) take(result);
    if (registers_.soft_reset()) forget();
    registers_.advance();
    master_.sample(bus_);
    dut_.tick();
    ++now_;
  }
  void wait(unsigned count) {
    for (unsigned i = 0; i < count; ++i) cycle();
  }

  /// At the end: nothing is left over, and the stimulus was what it should be.
  void finish() {
    bus_checker_.finish();
    out_checker_.finish();
    bench.expect(in_checker_.stalls() > 0 && out_checker_.stalls() > 0 && bus_checker_.b.stalls() > 0,
                 [] { return "a stream or the bus was never stalled"; });
    bench.expect(bench.budget() < 100 || interrupts_ > 0, [] { return "the interrupt was never seen"; });
  }

  // ---------------------------------------------------------------- streams

  /// Words for the stream of operands, behind those that wait.
  void feed(StreamWord word) { feed_.push_back(std::move(word)); }
  void feed_last() { feed_.back().last = true; }
  std::size_t words_to_feed() const { return feed_.size(); }

  /// The loads of a bank, in `pieces` or fewer; their words are fed.
  std::vector<Load> loads_of(bool b, const Bank& bank, unsigned pieces) {
    std::vector<Load> result;
    const unsigned images = static_cast<unsigned>(bank.images.size());
    for (unsigned at = 0; at < images;) {
      const unsigned left = images - at, count = pieces <= 1 ? left : random.upto(left);
      --pieces;
      std::vector<Word> words;
      for (unsigned i = 0; i < count; ++i)
        std::ranges::move(random.words_of(bank.images[at + i]), std::back_inserter(words));
      const bool compressed = has_codec && rng().chance(compressed_loads);
      result.push_back({.b = b, .more = count < left, .beats = count, .compressed = compressed});
      for (Word& word : compressed ? compress(words) : words) feed({std::move(word), false, false});
      feed_.back().last = true;
      at += count;
    }
    loads_ += static_cast<std::uint32_t>(result.size());
    return result;
  }

  /// Stream words as the packet of a compressed load.
  std::vector<Word> compress(const std::vector<Word>& words) {
    const std::vector<std::uint8_t> values = bytes_of(words);
    const auto packet = rng().chance(0.5) ? encode_packet(values, encoder_table(code_), NG_STREAM_WIDTH / 8)
                                          : loose_packet(rng(), values, code_, NG_STREAM_WIDTH / 8);
    return words_of_packet(packet);
  }
  const CodeLengths& code() const { return code_; }
  static std::vector<std::uint8_t> bytes_of(const std::vector<Word>& words) {
    std::vector<std::uint8_t> bytes;
    for (const Word& word : words)
      for (const std::uint32_t part : word)
        for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(part >> 8 * i));
    return bytes;
  }
  static std::vector<Word> words_of_packet(const std::vector<std::uint8_t>& packet) {
    std::vector<Word> words(packet.size() * 8 / NG_STREAM_WIDTH, Word(stream_words));
    for (std::size_t i = 0; i < packet.size(); ++i)
      words[i * 8 / NG_STREAM_WIDTH][i / 4 % stream_words] |= static_cast<std::uint32_t>(packet[i]) << i % 4 * 8;
    return words;
  }
  /// Another code, between loads.
  void change_code() {
    code_ = random_code(rng());
    for (const auto& [address, data] : table_writes(decoder_table(code_)))
      write(regs::code::offset, regs::code::address.put(address) | regs::code::data.put(data));
  }

  /// Another code of results, while none are on their way.
  void change_result_code() {
    result_code_ = encoder_table(random_code(rng()));
    for (std::uint32_t value = 0; const EncoderEntry& entry : result_code_)
      write(regs::result_code::offset,
            regs::result_code::address.put(value++) | regs::result_code::data.put(entry.word()));
  }
  /// Results of commands to come leave as packets, or as they are.
  void compress_results(bool compressed) {
    write(regs::compress::offset, regs::compress::results.put(compressed));
    results_compressed_ = compressed;
  }

  /// Of the results of a command, only the first `words` come.
  void expect_results_up_to(std::size_t words, const Command& c, const Bank& a, const Bank& b) {
    std::vector<StreamWord> results = results_of(c, {&a}, {&b}, amax_);
    results.resize(words);
    std::ranges::move(results, std::back_inserter(expected_));
  }
  /// The results of a command will come.
  void expect_results(const Command& c, const std::vector<const Bank*>& a, const std::vector<const Bank*>& b) {
    std::vector<StreamWord> results = results_of(c, a, b, amax_);
    if (results_compressed_) {
      std::vector<Word> words;
      for (StreamWord& result : results) words.push_back(std::move(result.data));
      results.clear();
      for (Word& word : words_of_packet(encode_streamed_packet(bytes_of(words), result_code_, NG_STREAM_WIDTH / 8)))
        results.push_back({std::move(word), false, false});
      results.back().last = true;
      results.back().irq = c.irq;
    }
    std::ranges::move(results, std::back_inserter(expected_));
  }
  /// Results until expect_recorded() are kept instead of compared.
  void record() { recording_ = true; }
  void expect_recorded(const std::vector<StreamWord>& expected) {
    recording_ = false;
    const std::vector<StreamWord> words = std::exchange(recorded_, {});
    bench.expect_eq("words of results", words.size(), expected.size(), [&] { return describe; });
    for (std::size_t i = 0; i < std::min(words.size(), expected.size()); ++i) compare(words[i], expected[i], i);
  }
  std::size_t words_expected() const { return expected_.size(); }

  // ---------------------------------------------------------------- bus

  std::uint32_t read(std::uint32_t address) {
    const auto result = access([&] { master_.start_read(address); }, [&] { return master_.take_read(); }, address);
    bench.expect_eq("RRESP", result.resp, axi::okay, [&] { return "read of " + hex(address); });
    return result.data;
  }
  void write(std::uint32_t address, std::uint32_t data) {
    const auto result =
        access([&] { master_.start_write(address, data); }, [&] { return master_.take_write(); }, address);
    bench.expect_eq("BRESP", result.resp, axi::okay, [&] { return "write of " + hex(address); });
  }
  void expect_register(const char* name, std::uint32_t address, std::uint32_t expected) {
    bench.expect_eq(name, read(address), expected, [&] { return describe; });
  }
  std::uint32_t status() { return read(regs::status::offset); }

  void push(const Load& load) {
    write(regs::load::offset, regs::load::panel_beats.put(load.beats) | regs::load::more.put(load.more) |
                                  regs::load::compressed.put(load.compressed || (!has_codec && rng().chance(0.1))) |
                                  regs::load::operand.put(load.b));
  }
  void push(const std::vector<Load>& loads) {
    for (const Load& load : loads) push(load);
  }
  static std::uint32_t requantize_word(const Command& c) {
    return regs::requantize::nvfp4.put(c.results & 1) | regs::requantize::e4m3.put(c.results >> 1 & 1) |
           regs::requantize::e5m2.put(c.results >> 2 & 1) | regs::requantize::int4.put(c.results >> 3 & 1) |
           regs::requantize::relu.put(c.relu);
  }
  void push(const Command& c) {
    // Registers keep their words, so only what differs has to be written.
    const std::array<std::pair<std::uint32_t, std::uint32_t>, 7> words{{
        {regs::format::offset,
         regs::format::a.put(c.a_fmt) | regs::format::b.put(c.b_fmt) | regs::format::bf16.put(c.bf16)},
        {regs::scale::offset, c.scale},
        {regs::panels::offset, regs::panels::a.put(c.a_panels) | regs::panels::b.put(c.b_panels)},
        {regs::edge::offset, regs::edge::rows.put(c.rows_used) | regs::edge::cols.put(c.cols_used)},
        {regs::requantize::offset, requantize_word(c)},
        {regs::tensor_scale::offset, c.tensor_scale},
        {regs::integer::offset,
         regs::integer::int8.put(c.int8) | regs::integer::zero_point.put(static_cast<std::uint32_t>(c.zero_point))},
    }};
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i == 6 ? !has_integers : i >= 4 && !requantizes) continue;
      if (shadow_[i] == words[i].second && !rng().chance(0.1)) continue;
      write(words[i].first, words[i].second);
      shadow_[i] = words[i].second;
    }
    write(regs::compute::offset, c.word());
  }

  // ---------------------------------------------------------------- waiting

  /// Cycles since `start` or since a word went in or out, if too many: nothing that is legal takes so long.
  bool hangs(std::uint64_t start) const {
    return now_ - std::max({start, last_in_, last_out_}) > 2 * std::uint64_t{max_beats} + 5000;
  }
  void hang(const std::string& what) {
    bench.error("the tile hangs: " + what + ", " + std::to_string(feed_.size()) + " words not taken, " +
                std::to_string(expected_.size()) + " results missing, " + describe);
  }
  /// Runs until `done()`, asked now and then.
  template <class Done>
  void await(const char* what, const Done& done) {
    for (const std::uint64_t start = now_; !done(); wait(random.upto(20))) {
      if (hangs(start)) return hang(what);
    }
  }
  void settle() {
    await("busy", [&] { return !regs::status::busy.get(status()) && feed_.empty() && expected_.empty(); });
    wait(4);
  }

  // ---------------------------------------------------------------- at rest

  void start_counting() {
    activity.clear();
    amax_ = 0;
    write(regs::control::offset, regs::control::clear_counters.put(1) | regs::control::clear_amax.put(1));
    wait(2);
  }
  std::uint64_t counter(Counter which) {
    const std::uint32_t low = read(regs::cycles::offset + 8 * which);
    const Registers::Snapshot then = registers_.snapshot();
    const std::uint32_t high = read(regs::cycles::high_offset + 8 * which);
    registers_.keep(then);
    return std::uint64_t{high} << 32 | low;
  }
  /// The cycle in which counter() has read.
  std::uint64_t counter_read_at() const { return registers_.snapshot().at; }
  void expect_counter(Counter which, std::uint64_t expected) {
    if (!has_counters) expected = 0;
    bench.expect_eq(counter_name[which], counter(which), expected, [&] { return describe; });
  }
  void expect_counters() {
    const std::uint64_t now_cycles = counter(cycles);
    bench.expect_eq("cycles", now_cycles, has_counters ? registers_.snapshot().count[cycles] : 0,
                    [&] { return describe; });
    const std::uint64_t was_busy = counter(busy);
    const std::uint64_t least = has_counters ? registers_.snapshot().count[busy] : 0;
    const std::uint64_t most = has_counters ? registers_.snapshot().most_busy : 0;
    bench.expect(least <= was_busy && was_busy <= most, [&] {
      return "busy: got " + std::to_string(was_busy) + ", expected " + std::to_string(least) + " to " +
             std::to_string(most) + ", " + describe;
    });
    // To the cycle: see stalls(). A command may wait for its banks while the last beat of the one before is not taken
    // yet.
    const std::uint64_t offered = counter(stall_out) + (has_counters ? activity.beats() : 0);
    bench.expect(offered <= was_busy && counter(stall_in) <= was_busy, [&] {
      return "beats were offered in " + std::to_string(offered) + " cycles, busy were " + std::to_string(was_busy);
    });
    if (requantizes) expect_register("AMAX", regs::amax::offset, amax_);
    for (const Counter which : {products, zero_a, zero_b, flips_a, flips_b}) expect_counter(which, activity[which]);
  }
  void expect_idle() {
    expect_register("STATUS", regs::status::offset,
                    regs::status::load_space.put(queue_depth) | regs::status::compute_space.put(queue_depth));
    expect_register("DONE", regs::done::offset, done_);
    expect_register("LOADS", regs::loads::offset, loads_);
  }

  void soft_reset() {
    write(regs::control::offset, regs::control::soft_reset.put(1));
    irq_known = true;
    wait(2);
    bench.expect(!irq(), [] { return "the interrupt stays after a soft reset"; });
    expect_idle();
    expect_register("SCALE", regs::scale::offset, regs::scale::reset);
    expect_register("FORMAT", regs::format::offset, 0);
    expect_register("IRQ_PENDING", regs::irq_pending::offset, 0);
    if (has_counters) expect_register("PRODUCTS", regs::products::offset, 0);
    if (has_encoders) expect_register("COMPRESS", regs::compress::offset, 0);
    if (has_integers) expect_register("INTEGER", regs::integer::offset, 0);
    if (!requantizes) return;
    expect_register("REQUANTIZE", regs::requantize::offset, 0);
    expect_register("TENSOR_SCALE", regs::tensor_scale::offset, regs::tensor_scale::reset);
    expect_register("AMAX", regs::amax::offset, 0);
  }

 private:
  static Word get_words(const auto& port) {
    Word words;
    for (unsigned i = 0; i < stream_words; ++i) words.push_back(static_cast<std::uint32_t>(get_bits(port, 32 * i, 32)));
    return words;
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
      bench.expect(outputs() == before, [&] { return std::string("an output follows ") + name + " within the cycle"; });
      *input = !*input;
    }
    dut_.eval();
  }

  void take(const Word& result) {
    last_out_ = now_;
    const StreamWord word{result, dut_->m_axis_tlast_o != 0, false};
    if (recording_) {
      done_ += word.last;
      return recorded_.push_back(word);
    }
    const StreamWord* const shown = expected_.shown();
    if (shown == nullptr) return;
    compare(word, *shown, out_words_++);
    done_ += shown->last;
    expected_.pop_front();
  }

  void compare(const StreamWord& word, const StreamWord& expected, std::uint64_t at) {
    for (unsigned i = 0; i < stream_words; ++i)
      bench.expect_eq("result", word.data[i], expected.data[i], [&] {
        return "word " + std::to_string(at) + " bits " + std::to_string(32 * i) + "+, " + describe;
      });
    bench.expect_eq("m_axis TLAST", word.last ? 1U : 0U, expected.last ? 1U : 0U,
                    [&] { return "word " + std::to_string(at) + ", " + describe; });
  }

  /// A reset: both streams start anew, nothing of the old work comes.
  void forget() {
    feed_.clear();
    in_valid_ = false;
    expected_.abandon();
    registers_.forget();
    done_ = loads_ = amax_ = 0;
    activity.forget();
    results_compressed_ = false;
    shadow_.fill(~0ULL);
  }

  axi::LiteMaster::Result access(const std::function<void()>& start, auto take_result, std::uint32_t address) {
    start();
    for (unsigned waited = 0;; ++waited) {
      cycle();
      if (auto result = take_result()) return *result;
      if (waited > 2000) {
        bench.error("the bus hangs: no answer for " + hex(address) + " after 2000 cycles");
        return {};
      }
    }
  }

  /// Of what the tile owes.
  std::array<const Owed*, 2> checkers() const { return {&bus_checker_, &out_checker_}; }

  Dut<Vdut> dut_;
  axi::Report report_;
  axi::LiteChecker bus_checker_;
  axi::StreamChecker in_checker_, out_checker_;
  axi::LiteMaster master_;
  axi::LiteSignals bus_;
  Registers registers_;
  std::uint64_t now_ = 0, last_in_ = 0, last_out_ = 0, out_words_ = 0, interrupts_ = 0;
  std::deque<StreamWord> feed_;
  Scoreboard<StreamWord> expected_{bench, "words of results"};
  CodeLengths code_{};
  std::array<EncoderEntry, huffman_symbols> result_code_{};
  bool results_compressed_ = false;
  bool recording_ = false;
  std::vector<StreamWord> recorded_;
  bool in_valid_ = false;
  std::uint32_t amax_ = 0;                 // of requantized results since the last clearing
  std::uint32_t done_ = 0, loads_ = 0;     // commands whose results have come, and loads, since the reset
  std::array<std::uint64_t, 7> shadow_{};  // words in the registers that commands take
};

}  // namespace narrowgauge::tile_bench
