// SPDX-License-Identifier: Apache-2.0
// ng_axil_fifos against the golden queues: accesses of a master that stalls on every channel beside random traffic of
// both streams, which run full and empty. Every word of both directions is compared, every refusal, and every count: to
// the word where nothing has moved for some clocks, else within what may be on its way. All addresses and strobes,
// clears, resets in mid-flight; the protocol checkers on bus and streams. Build parameters: those of the unit.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../axi.hpp"
#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/board/axil_fifos.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;
using board::AxilFifos;

constexpr unsigned words = NG_STREAM_WIDTH / 32, depth = NG_TX_BYTES / 4;
/// Clocks after which nothing is on its way between a stream and its queue.
constexpr std::uint64_t still = words + 5;

class Run {
 public:
  explicit Run(Bench& bench)
      : bench_(bench),
        dut_(bench),
        report_([&bench](const std::string& text) { bench.error(text); }),
        bus_checker_("s_axil", report_),
        out_checker_("m_axis", report_),
        in_checker_("s_axis", report_) {
    bench_.owe(bus_checker_);
    bench_.owe(in_checker_);
    reset();
  }
  ~Run() {
    bench_.settle(bus_checker_);
    bench_.settle(in_checker_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void run() {
    Rng& rng = bench_.rng();
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (i % 300 == 0) {
        open_ = rng.chance(0.4) ? 0.02 : rng.chance(0.3) ? 0 : 0.7;
        come_ = rng.chance(0.4) ? 0.02 : rng.chance(0.3) ? 0 : 0.7;
        go_ = rng.chance(0.5) ? 1 : 0.4;
        reads_ = rng.chance(0.3) ? 0.05 : 0.5;
        writes_ = rng.chance(0.3) ? 0.05 : 0.5;
      }
      if (rng.chance(2e-4)) reset();
      if (rng.chance(1e-3)) clear();
      if (master_.write_ready() && !next_write_ && rng.chance(writes_)) next_write_ = some_write();
      if (master_.read_ready() && !next_read_ && rng.chance(reads_)) next_read_ = some_address(false);
      clock();
      bench_.vector();
    }
    drain();
    for (const auto& [what, count] :
         {std::pair{"a write was refused without room", full_}, std::pair{"a read was refused without results", empty_},
          std::pair{"a clear dropped words", dropped_}, std::pair{"packets ended", packets_},
          std::pair{"counts were read at rest", counts_}})
      bench_.expect(count > 0 || bench_.mutant() != 0, [&] { return std::string(what) + " never"; });
  }

 private:
  // ---- the master
  std::uint32_t some_address(bool write) {
    Rng& rng = bench_.rng();
    if (rng.chance(0.1)) return static_cast<std::uint32_t>(rng.chance(0.5) ? rng.bits(12) : rng.bits(5));
    if (write) return rng.chance(0.2) ? board::fifo_tx_last : board::fifo_tx_data;
    constexpr std::array<std::uint32_t, 6> places{board::fifo_rx_data,  board::fifo_rx_data,  board::fifo_rx_data,
                                                  board::fifo_rx_count, board::fifo_tx_space, board::fifo_tx_count};
    return places[rng.below(places.size())] | rng.below(4);
  }
  struct Write {
    std::uint32_t address, data;
    std::uint8_t strobes;
  };
  Write some_write() {
    Rng& rng = bench_.rng();
    Write write{some_address(true), static_cast<std::uint32_t>(rng.bits(32)),
                static_cast<std::uint8_t>(rng.chance(0.95) ? 0xF : rng.bits(4))};
    // A clear is for times at which nothing else goes on: clear().
    if ((write.address & ~3U) == board::fifo_clear) write.address = board::fifo_tx_data;
    return write;
  }
  void start_write(const Write& write) {
    write_address_ = write.address & ~3U;
    write_data_ = write.data;
    write_strobes_ = write.strobes;
    master_.start_write(write.address, write.data, write.strobes);
    held_.aw = held_.w = written_ = false;
  }
  void start_read(std::uint32_t address) {
    read_address_ = address & ~3U;
    master_.start_read(address);
    held_.ar = was_read_ = false;
  }

  /// What a write did, in the clock in which its answer shows.
  void judge_write(std::uint8_t resp) {
    const bool good = resp == axi::okay, whole = write_strobes_ == 0xF;
    bench_.expect_eq("answer", good || resp == axi::slverr, true, [&] { return "a write at " + hex(write_address_); });
    if (write_address_ == board::fifo_clear && whole) {
      bench_.expect_eq("clear", good, true, [] { return "a clear"; });
      golden_.write(board::fifo_clear, 0);
      return;
    }
    const bool is_data = write_address_ == board::fifo_tx_data || write_address_ == board::fifo_tx_last;
    if (!whole || !is_data) {
      bench_.expect_eq("refused", good, false, [&] { return "a write at " + hex(write_address_); });
      return;
    }
    if (good) {
      bench_.expect(golden_.write(write_address_, write_data_),
                    [] { return "a word of operands was taken; expected a refusal: there is no room"; });
      moved_out_ = now_;
    } else {
      ++full_;
      bench_.expect(golden_.space() == 0 || now_ - moved_out_ < still,
                    [&] { return "a word of operands was refused; expected room for " + dec(golden_.space()); });
    }
  }
  /// What a read gave, in the clock in which its answer shows.
  void judge_read(std::uint8_t resp, std::uint32_t data) {
    const bool good = resp == axi::okay;
    const auto what = [&] { return "a read at " + hex(read_address_); };
    bench_.expect_eq("answer", good || resp == axi::slverr, true, what);
    std::uint32_t expected = 0;
    const bool at_rest = now_ - moved_out_ >= still && master_.write_ready();
    switch (read_address_) {
      case board::fifo_rx_data:
        if (good) {
          const bool there = golden_.read(board::fifo_rx_data, expected);
          bench_.expect(there, [] { return "a word of results came; expected a refusal: there is none"; });
          if (there) bench_.expect_eq("results", data, expected, what);
        } else {
          ++empty_;
          bench_.expect(golden_.arrived() <= recent(),
                        [&] { return "no word of results came; expected the first of " + dec(golden_.arrived()); });
        }
        break;
      case board::fifo_rx_count:
        bench_.expect_eq("refused", good, true, what);
        bench_.expect(data <= golden_.arrived() && data + recent() >= golden_.arrived(), [&] {
          return dec(data) + " words of results are counted; expected " + dec(golden_.arrived()) + " less " +
                 dec(recent()) + " at most";
        });
        break;
      case board::fifo_tx_space:
      case board::fifo_tx_count: {
        bench_.expect_eq("refused", good, true, what);
        golden_.read(read_address_, expected);
        const std::uint32_t off = at_rest ? 0 : words + 2;
        counts_ += at_rest;
        bench_.expect(data <= expected + off && expected <= data + off && data <= depth + 1,
                      [&] { return hex(read_address_) + " is " + dec(data) + "; expected " + dec(expected); });
        break;
      }
      default:
        bench_.expect_eq("refused", good, false, what);
        bench_.expect_eq("data of a refused read", data, 0U, what);
    }
  }
  /// Words of results that came so lately that they may not be counted yet.
  std::uint32_t recent() const {
    std::uint32_t count = 0;
    for (const std::uint64_t at : came_) count += now_ - at < still ? words : 0;
    return count;
  }

  /// Drops what waits, while nothing moves, and sees that nothing is left.
  void clear() {
    if (clearing_) return;
    while (!master_.write_ready() || !master_.read_ready() || next_write_ || next_read_) clock();
    const double open = open_, come = come_;
    open_ = come_ = 0;
    for (std::uint64_t i = 0; i < still; ++i) clock();
    if (dut_->s_axis_tvalid_i) {  // a word that waits for room stays until it is taken
      open_ = open, come_ = come;
      return;
    }
    clearing_ = true;
    dropped_ += golden_.space() != depth && golden_.arrived() != 0;
    start_write({board::fifo_clear, 1, 0xF});
    while (!master_.write_ready()) clock();
    out_checker_.sample_reset(false);
    moved_out_ = now_;
    for (std::uint64_t i = 0; i < still; ++i) clock();
    for (const std::uint32_t address : {board::fifo_tx_space, board::fifo_tx_count, board::fifo_rx_count}) {
      start_read(address);
      while (!master_.read_ready()) clock();
    }
    open_ = open, come_ = come;
    clearing_ = false;
  }

  // ---- clocks
  void reset() {
    bus_ = {};
    axi::put_lite(*dut_, bus_);
    dut_->m_axis_tready_i = dut_->s_axis_tvalid_i = false;
    dut_->clk_i = 0;
    dut_->rst_ni = 1;
    dut_.eval();
    dut_->rst_ni = 0;
    for (int i = 0; i < 2; ++i) {
      dut_.eval();
      axi::get_lite(*dut_, bus_);
      bus_checker_.sample_reset(bus_);
      out_checker_.sample_reset(dut_->m_axis_tvalid_o);
      in_checker_.sample_reset(false);
      dut_.tick();
    }
    dut_->rst_ni = 1;
    golden_ = AxilFifos(NG_STREAM_WIDTH / 8, NG_TX_BYTES, NG_RX_BYTES);
    master_.reset();
    next_write_.reset();
    next_read_.reset();
    ahead_ = {};
    written_ = was_read_ = true;
    clearing_ = false;
    moved_out_ = now_;
    came_.clear();
    offered_ = roomy_ = 0;
  }

  void clock() {
    Rng& rng = bench_.rng();
    ++now_;
    while (!came_.empty() && now_ - came_.front() >= still) came_.erase(came_.begin());
    drive();
    axi::put_lite(*dut_, bus_);
    dut_->m_axis_tready_i = rng.chance(open_);
    if (!coming_ && rng.chance(come_)) {
      coming_.emplace();
      for (std::uint32_t& word : *coming_) word = static_cast<std::uint32_t>(rng.bits(32));
    }
    dut_->s_axis_tvalid_i = coming_.has_value();
    for (unsigned i = 0; i < words; ++i)
      set_bits(dut_->s_axis_tdata_i, 32 * i, 32, coming_ ? (*coming_)[i] : rng.bits(32));
    dut_.eval();
    axi::get_lite(*dut_, bus_);
    if (now_ % 1000 == 0) axi::probe_lite(dut_, bus_, report_);
    bus_checker_.sample(bus_);
    bench_.expect(!(ahead_.aw && bus_.awready) && !(ahead_.w && bus_.wready) && !(ahead_.ar && bus_.arready),
                  [] { return "a request was taken while the one before it waits for its answer"; });
    if (bus_.bvalid && !written_) {
      written_ = true;
      judge_write(bus_.bresp);
    }
    if (bus_.rvalid && !was_read_) {
      was_read_ = true;
      judge_read(bus_.rresp, bus_.rdata);
    }
    streams();
    master_.sample(bus_);
    held_.aw |= bus_.awvalid && bus_.awready;
    held_.w |= bus_.wvalid && bus_.wready;
    held_.ar |= bus_.arvalid && bus_.arready;
    dut_.tick();
    (void)master_.take_write();
    (void)master_.take_read();
  }

  /// The master's signals. A request may show before the one ahead of it is answered, and then stays.
  void drive() {
    Rng& rng = bench_.rng();
    const bool write_starts = next_write_ && master_.write_ready(), read_starts = next_read_ && master_.read_ready();
    const Channels shown = std::exchange(ahead_, {});
    if (write_starts) start_write(*std::exchange(next_write_, std::nullopt));
    if (read_starts) start_read(*std::exchange(next_read_, std::nullopt));
    master_.drive(bus_, {rng.chance(go_) || shown.aw, rng.chance(go_) || shown.w, rng.chance(go_),
                         rng.chance(go_) || shown.ar, rng.chance(go_)});
    if (!clearing_ && !next_write_ && !master_.write_ready() && rng.chance(early_)) next_write_ = some_write();
    if (!clearing_ && !next_read_ && !master_.read_ready() && rng.chance(early_)) next_read_ = some_address(false);
    if (next_write_ && !bus_.awvalid && held_.aw && (shown.aw || rng.chance(0.5)))
      ahead_.aw = bus_.awvalid = true, bus_.awaddr = next_write_->address;
    if (next_write_ && !bus_.wvalid && held_.w && (shown.w || rng.chance(0.5)))
      ahead_.w = bus_.wvalid = true, bus_.wdata = next_write_->data, bus_.wstrb = next_write_->strobes;
    if (next_read_ && !bus_.arvalid && held_.ar && (shown.ar || rng.chance(0.5)))
      ahead_.ar = bus_.arvalid = true, bus_.araddr = *next_read_;
  }

  void streams() {
    // operands
    std::array<std::uint32_t, words> word{};
    for (unsigned i = 0; i < words; ++i)
      word[i] = static_cast<std::uint32_t>(get_bits(dut_->m_axis_tdata_o, 32 * i, 32));
    const bool out = dut_->m_axis_tvalid_o, out_taken = out && dut_->m_axis_tready_i;
    if (!clearing_) out_checker_.sample(out, dut_->m_axis_tready_i, word, dut_->m_axis_tlast_o);
    if (out && !clearing_) {
      bench_.expect(golden_.offers(), [] { return "a stream word of operands that nobody wrote"; });
      if (golden_.offers()) {
        const std::vector<std::uint32_t> expected = golden_.word();
        for (unsigned i = 0; i < words; ++i)
          bench_.expect_eq("operands", word[i], expected[i], [&] { return "word " + dec(i); });
        bench_.expect_eq("tlast", dut_->m_axis_tlast_o != 0, golden_.last(), [] { return "a word of operands"; });
      }
    }
    offered_ = golden_.offers() && !out && !clearing_ ? offered_ + 1 : 0;
    bench_.expect(offered_ < still, [] { return "no stream word of operands comes; expected one that was written"; });
    if (out_taken && golden_.offers()) {
      packets_ += golden_.last();
      golden_.leave();
      moved_out_ = now_;
    }
    // results
    const bool ready = dut_->s_axis_tready_o;
    in_checker_.sample(coming_.has_value(), ready, coming_ ? *coming_ : std::array<std::uint32_t, words>{}, true);
    roomy_ = golden_.takes() && coming_ && !ready ? roomy_ + 1 : 0;
    bench_.expect(roomy_ < still, [] { return "a stream word of results is not taken; expected room for it"; });
    if (coming_ && ready) {
      bench_.expect(golden_.takes(), [] { return "a stream word of results was taken; expected no room for it"; });
      if (golden_.takes()) golden_.come(*coming_);
      came_.push_back(now_);
      coming_.reset();
    }
  }

  /// Everything leaves and is read.
  void drain() {
    open_ = 1;
    come_ = 0;
    go_ = 1;
    early_ = 0;
    for (std::uint64_t i = 0; i < 20 * still + 4 * depth || coming_ || !master_.write_ready() || !master_.read_ready();
         ++i) {
      if (master_.read_ready() && !next_read_) next_read_ = board::fifo_rx_data;
      clock();
      if (i > 1'000'000) {
        bench_.error("the FIFOs do not run empty");
        break;
      }
    }
    bench_.expect_eq("words of results that are left", golden_.arrived(), 0U, [] { return "at the end"; });
    bench_.expect_eq("whole stream words of operands that are left", golden_.offers(), false,
                     [] { return "at the end"; });
  }

  Bench& bench_;
  Dut<Vdut> dut_;
  axi::Report report_;
  axi::LiteChecker bus_checker_;
  axi::StreamChecker out_checker_, in_checker_;
  axi::LiteMaster master_;
  axi::LiteSignals bus_;
  AxilFifos golden_{NG_STREAM_WIDTH / 8, NG_TX_BYTES, NG_RX_BYTES};
  std::uint32_t write_address_ = 0, write_data_ = 0, read_address_ = 0;
  std::uint8_t write_strobes_ = 0xF;
  bool written_ = true, was_read_ = true, clearing_ = false;
  std::optional<Write> next_write_;
  std::optional<std::uint32_t> next_read_;
  struct Channels {
    bool aw = false, w = false, ar = false;
  };
  Channels held_, ahead_;  // requests that the unit has taken, and requests behind them that show already
  std::optional<std::array<std::uint32_t, words>> coming_;
  std::vector<std::uint64_t> came_;
  double open_ = 1, come_ = 1, go_ = 1, reads_ = 0.5, writes_ = 0.5, early_ = 0.1;
  std::uint64_t now_ = 100, moved_out_ = 0, offered_ = 0, roomy_ = 0;
  std::uint64_t full_ = 0, empty_ = 0, dropped_ = 0, packets_ = 0, counts_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "axil_fifos, " + std::to_string(NG_STREAM_WIDTH) + " bits");
  Run(bench).run();
  return bench.finish();
}
