// SPDX-License-Identifier: Apache-2.0
// ng_uart_bridge against the golden model, at its pins: bare commands and frames, good ones, repeated ones, ones with
// other numbers and ones that were damaged on the line, to registers that answer, refuse or are silent, to FIFOs that
// run full and empty, and to the loop. Every byte of every answer is compared, every write to the tile, every word of
// operands. Build parameters: those of the unit.
#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "Vdut.h"
#include "bench.hpp"
#include "bridge_tile.hpp"
#include "narrowgauge/engines/axi_lite.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;
using board::frame_escape;
using board::frame_flag;

constexpr unsigned clocks_per_bit = NG_CLOCKS_PER_BIT, stream_bytes = NG_STREAM_WIDTH / 8;
constexpr board::BridgeSizes sizes{stream_bytes, NG_REQUEST_BYTES, NG_ANSWER_BYTES, NG_TX_BYTES, NG_RX_BYTES};

class UartBridgeBench {
 public:
  UartBridgeBench(int argc, char** argv)
      : bench_(argc, argv, "uart_bridge, " + std::to_string(clocks_per_bit) + " clocks a bit"), dut_(bench_) {}

  int run() {
    std::uint64_t next_reset = 0;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (i == next_reset) {
        reset();
        next_reset = i + 1 + bench_.rng().below(60);
      }
      bench_.vector();
      if (!golden_->locked() && bench_.rng().chance(0.7)) {
        bare();
      } else {
        const unsigned kind = bench_.rng().below(16);
        if (kind < 7 && open_) close();
        if (kind == 0)
          late();
        else if (kind == 1 || kind == 6)
          loop();
        else if (kind == 2)
          several();
        else if (kind == 3)
          open_or_closed();
        else if (kind == 4)
          backlog();
        else if (kind == 5)
          whole();
        else
          frame();
      }
    }
    for (const unsigned least : {0U, 0U, 20'000U, 400'000U}) long_loop(least);
    for (int i = 0; i < 12; ++i) long_loop(0, true);
    overrun();
    overtaken();
    for (const bool write : {false, true})
      for (const bool writes : {false, true}) given_up(write, writes);
    waiting();
    if (clocks_per_bit == 4) bad_frames(bench_.budget() >= 1000 ? 16 : 8);
    bench_.expect(answers_ > 0, [] { return "no answer came"; });
    return bench_.finish();
  }

 private:
  // ---- clocks
  void reset() {
    dut_->rx_i = 1;
    idle_pins();
    dut_.reset();
    for (BridgeTile* tile : {&at_pins_, &at_golden_}) *tile = BridgeTile(stream_bytes);
    golden_.emplace(at_golden_, sizes);
    line_.clear();
    got_.clear();
    owed_.clear();
    number_ = 0;
    left_ = receiving_ = 0;
    read_wait_ = write_wait_ = -1;
    address_ = data_ = false;
    loop_clocks_ = 0;
    open_ = false;
    word_.reset();
  }
  void idle_pins() {
    dut_->m_axil_awready_i = dut_->m_axil_wready_i = dut_->m_axil_bvalid_i = false;
    dut_->m_axil_arready_i = dut_->m_axil_rvalid_i = false;
    dut_->m_axis_tready_i = dut_->s_axis_tvalid_i = false;
  }

  void clock() {
    Rng& rng = bench_.rng();
    // the line to the board
    if (left_ == 0 && !line_.empty()) {
      shift_ = 0x200U | line_.front().byte << 1;
      if (line_.front().broken) shift_ &= ~0x200U;
      line_.pop_front();
      low_ = shift_ & 0x200U || rng.chance(0.5) ? 10 : 10 + rng.below(9);  // a break of the line is longer than a byte
      left_ = (shift_ & 0x200U ? 10 : low_ + 2) * clocks_per_bit;
      sent_ = 0;
    }
    if (left_ != 0) {
      const unsigned bit = sent_++ / clocks_per_bit;
      dut_->rx_i = bit < 10 ? shift_ >> bit & 1 : bit >= low_;
      --left_;
    } else {
      dut_->rx_i = 1;
    }
    // AXI4-Lite: an access is answered in the clock that takes it, after a while, at the last moment, or not at all; an
    // answer that nobody waits for is not taken
    const bool pending = dut_->m_axil_awvalid_o || dut_->m_axil_wvalid_o || dut_->m_axil_arvalid_o || address_ ||
                         data_ || read_wait_ >= 0 || write_wait_ >= 0;
    since_ = pending ? since_ + 1 : 0;
    dut_->m_axil_awready_i = dut_->m_axil_awvalid_o && !address_ && rng.chance(0.5);
    dut_->m_axil_wready_i = dut_->m_axil_wvalid_o && !data_ && rng.chance(0.5);
    dut_->m_axil_arready_i = dut_->m_axil_arvalid_o && read_wait_ < 0 && rng.chance(0.5);
    if (dut_->m_axil_awready_i) address_ = true, offset_ = dut_->m_axil_awaddr_o;
    if (dut_->m_axil_wready_i) data_ = true, written_ = dut_->m_axil_wdata_o;
    if (dut_->m_axil_arready_i) {
      const std::uint8_t fault = at_pins_.read(dut_->m_axil_araddr_o, value_);
      response_ = fault == board::status_refused ? 2 + rng.below(2) : rng.below(2);
      read_wait_ = fault == board::status_timeout ? silence(rng) : soon(rng);
    }
    if (address_ && data_ && write_wait_ < 0) {
      const std::uint8_t fault = at_pins_.write(offset_, written_);
      response_ = fault == board::status_refused ? 2 + rng.below(2) : rng.below(2);
      write_wait_ = fault == board::status_timeout ? silence(rng) : soon(rng);
    }
    dut_->m_axil_bvalid_i = write_wait_ == 0 || (!dut_->m_axil_bready_o && rng.chance(0.2));
    dut_->m_axil_bresp_i = response_;
    dut_->m_axil_rvalid_i = read_wait_ == 0 || (!dut_->m_axil_rready_o && rng.chance(0.2));
    dut_->m_axil_rresp_i = response_;
    dut_->m_axil_rdata_i = read_wait_ == 0 ? value_ : static_cast<std::uint32_t>(rng.bits(32));
    dut_->m_axis_tready_i = at_pins_.open && rng.chance(0.7);
    if (!word_ && at_pins_.granted != 0 && rng.chance(0.5)) word_ = at_pins_.give();
    dut_->s_axis_tvalid_i = word_.has_value();
    for (unsigned i = 0; i < stream_bytes; ++i)
      set_bits(dut_->s_axis_tdata_i, 8 * i, 8, word_ ? (*word_)[i] : rng.bits(8));
    dut_.eval();
    if (dut_->m_axil_wvalid_o) bench_.expect_eq("wstrb", unsigned{dut_->m_axil_wstrb_o}, 15U, [] { return "a write"; });
    const bool answered = dut_->m_axil_bvalid_i && dut_->m_axil_bready_o;
    const bool read = dut_->m_axil_rvalid_i && dut_->m_axil_rready_o;
    if (dut_->m_axis_tvalid_o && dut_->m_axis_tready_i) {
      std::vector<std::uint8_t> word;
      for (unsigned i = 0; i < stream_bytes; ++i)
        word.push_back(static_cast<std::uint8_t>(get_bits(dut_->m_axis_tdata_o, 8 * i, 8)));
      at_pins_.take(word, dut_->m_axis_tlast_o);
    }
    if (word_ && dut_->s_axis_tready_o) word_.reset();
    // the line from the board
    listen(dut_->tx_o);
    const bool ran = dut_->running_o;
    dut_.tick();
    if (ran) {
      ++loop_clocks_;
      if (!dut_->running_o && at_pins_.error == 0)
        bench_.expect_eq("busy at the loop's end", at_pins_.busy(), false, [] { return "the tile"; });
    }
    if (at_pins_.queue != 0 && rng.chance(pace_of_commands_)) at_pins_.wait();
    if (answered)
      write_wait_ = -1, address_ = data_ = false;
    else if (write_wait_ > int{held_})
      --write_wait_;
    if (read)
      read_wait_ = -1;
    else if (read_wait_ > int{held_})
      --read_wait_;
  }
  /// What the bridge waits for, now and then just so.
  int soon(Rng& rng) const {
    const int limit = NG_BUS_CLOCKS + 1 - static_cast<int>(since_);
    const bool late = pace_ == Pace::late || (pace_ == Pace::any && rng.chance(1.0 / NG_BUS_CLOCKS));
    return late && limit > 6 ? limit - static_cast<int>(rng.below(3)) : static_cast<int>(rng.below(7));
  }
  /// Longer than the bridge waits.
  static int silence(Rng& rng) { return NG_BUS_CLOCKS + 2 + static_cast<int>(rng.below(8)); }

  void listen(bool level) {
    if (receiving_ == 0) {
      if (level) return;
      receiving_ = 1;
      heard_ = 0;
    }
    const unsigned at = receiving_ - 1;
    if (at % clocks_per_bit == clocks_per_bit / 2) heard_ |= unsigned{level} << at / clocks_per_bit;
    if (++receiving_ <= 10 * clocks_per_bit) return;
    receiving_ = 0;
    bench_.expect_eq("start and stop bit", heard_ & 0x201U, 0x200U, [] { return "a byte from the board"; });
    got_.push_back(static_cast<std::uint8_t>(heard_ >> 1));
  }

  // ---- bytes
  struct Sent {
    std::uint8_t byte;
    bool broken;
  };
  void send(std::uint8_t byte, bool broken = false) {
    line_.push_back({byte, broken});
    if (broken) {
      golden_->broken_byte();
      return;
    }
    const auto out = golden_->byte(byte);
    owed_.insert(owed_.end(), out.begin(), out.end());
  }
  /// Until the board is silent and has nothing to do.
  void settle(unsigned clocks = 40 * clocks_per_bit + 3 * NG_BUS_CLOCKS + 5 * NG_ANSWER_BYTES + 3 * NG_REQUEST_BYTES) {
    for (unsigned quiet = 0; quiet < clocks; ++quiet) {
      const std::size_t before = got_.size();
      clock();
      if (!line_.empty() || left_ != 0 || receiving_ != 0 || got_.size() != before || dut_->running_o || since_ != 0)
        quiet = 0;
      if (++waited_ > 500'000) {
        bench_.error("the board does not come to rest");
        break;
      }
    }
    waited_ = 0;
    golden_->move_streams();
    compare();
  }
  void compare() {
    const auto what = [&] {
      std::string text = "bytes from the board:";
      for (const std::uint8_t byte : got_) text += " " + hex(byte);
      text += "; expected:";
      for (const std::uint8_t byte : owed_) text += " " + hex(byte);
      return text;
    };
    bench_.expect_eq("bytes from the board", got_ == owed_ || loosely(), true, what);
    answers_ += !got_.empty();
    got_.clear();
    owed_.clear();
    bench_.expect_eq("writes to the tile", at_pins_.written == at_golden_.written, true, [&] {
      return std::to_string(at_pins_.written.size()) + " and " + std::to_string(at_golden_.written.size());
    });
    bench_.expect_eq("operands", at_pins_.operands == at_golden_.operands, true, [&] {
      return std::to_string(at_pins_.operands.size()) + " and " + std::to_string(at_golden_.operands.size());
    });
    at_pins_.written.clear();
    at_golden_.written.clear();
    at_pins_.operands.clear();
    at_golden_.operands.clear();
  }
  /// The same but for room and results that an answer tells while words are on their way: less.
  bool loosely() {
    board::Deframer ours(sizes.answer_bytes + 16), theirs(sizes.answer_bytes + 16);
    std::vector<std::vector<std::uint8_t>> a, b;
    for (const std::uint8_t byte : got_)
      if (const auto frame = ours.take(byte)) a.emplace_back(frame->begin(), frame->end());
    for (const std::uint8_t byte : owed_)
      if (const auto frame = theirs.take(byte)) b.emplace_back(frame->begin(), frame->end());
    if (a.size() != b.size() || ours.bad() != theirs.bad() || !golden_->locked()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i].size() != b[i].size() || !moving_) return false;
      for (int at = 2; at < 6; at += 2) {
        const int mine = a[i][at] << 8 | a[i][at + 1], his = b[i][at] << 8 | b[i][at + 1];
        if (mine > his) return false;
        a[i][at] = b[i][at];
        a[i][at + 1] = b[i][at + 1];
      }
    }
    return a == b;
  }

  // ---- commands
  std::uint32_t some_address(bool write) {
    Rng& rng = bench_.rng();
    // from where words are counted beyond the last, in a bare command, as a frame ends with its first wrong word
    if (!golden_->locked() && rng.chance(0.15)) return 0x2000 - 4 * (1 + rng.below(4));
    constexpr std::uint32_t readable[] = {
        board::tx_space,       board::tx_count,     board::rx_data,    board::rx_count,     board::bridge_id,
        board::bridge_version, board::bridge_sizes, board::bad_frames, board::loop_command, board::loop_count,
        board::loop_state,     board::sink,         board::result_hash};
    constexpr std::uint32_t writable[] = {board::tx_data, board::tx_last, board::loop_command, board::sink};
    switch (rng.below(8)) {
      case 0:
      case 1:
        return write ? writable[rng.below(4)] : readable[rng.below(13)];
      case 2:
        return board::rx_data;
      case 3:
        return rng.chance(0.1) ? board::fifo_reset : board::tx_data;
      case 4:
        if (rng.chance(0.6)) return 0x1000 + 4 * rng.below(rng.chance(0.8) ? 0x20 : 0x40);
        return rng.chance(0.7) ? 4 * rng.below(0x800) | 1U << (13 + rng.below(19))  // far by one bit
                               : static_cast<std::uint32_t>(rng.bits(32)) & ~3U;
      case 5:
        return 0x900 + 4 * rng.below(0x80);
      default:
        return 4 * (rng.below(16) == 0 ? rng.below(0x800) : 0x40 + rng.below(0x40));
    }
  }
  /// A command whose result does not depend on time.
  std::vector<std::uint8_t> some_command(unsigned most, bool any_length) {
    Rng& rng = bench_.rng();
    std::vector<std::uint8_t> bytes;
    bool write = rng.chance(0.5);
    unsigned words = rng.below(rng.chance(0.8) ? 4 : most + 1);
    std::uint32_t address = some_address(write);
    bool same = rng.chance(0.4);
    const auto touches = [&](std::uint32_t reg) {
      return address <= reg && reg <= address + (same || words == 0 ? 0 : 4 * (words - 1));
    };
    // the loop has tests of its own; clocks are not those of the golden model, and silence takes long
    if ((touches(board::loop_count) || touches(BridgeTile::compute)) && write) words = 0;
    if (touches(board::loop_cycles) && !write) words = 0;
    // A queue of operands that is being emptied tells other counts at other times, and a FIFO that was emptied in time
    // takes what the other one does not.
    moving_ |= write && (touches(board::tx_data) || touches(board::tx_last));
    if (moving_ && !write && (touches(board::tx_space) || touches(board::tx_count))) words = 0;
    if (write && touches(board::fifo_reset) && moving_) words = 0;
    if (any_length && rng.chance(0.02)) words = 0;
    bytes.push_back(static_cast<std::uint8_t>((same ? 3 : 1) + !write));
    bytes.push_back(static_cast<std::uint8_t>(words));
    board::append_big(bytes, address / 4);
    for (unsigned i = 0; write && i < words; ++i)
      board::append_big(
          bytes, rng.chance(0.2) ? 0x7E7D7E7DU + 0x01010101U * rng.below(2) : static_cast<std::uint32_t>(rng.bits(32)));
    return bytes;
  }
  void grant() {
    // no more than there is room for: with more, what is read depends on time (backlog)
    const unsigned room = (sizes.rx_bytes - 4 * golden_->arrived()) / stream_bytes;
    const unsigned words = std::min(room, bench_.rng().below(4));
    for (BridgeTile* tile : {&at_pins_, &at_golden_}) tile->granted += words;
    settle(20 * stream_bytes);
  }

  /// More results than there is room for, read as fast as they come.
  void backlog() {
    for (BridgeTile* tile : {&at_pins_, &at_golden_}) tile->granted += sizes.rx_bytes / stream_bytes + 3;
    settle(20 * stream_bytes + 2 * sizes.rx_bytes);
    moving_ = true;
    while (at_golden_.granted != 0) {
      std::vector<std::uint8_t> read{board::read_same, static_cast<std::uint8_t>(1 + bench_.rng().below(3))};
      board::append_big(read, board::rx_data / 4);
      exchange(read);
      settle(20 * stream_bytes);
    }
    follow();
  }

  /// Frames that fill the memories of requests and answers, or pass them by a little.
  void whole() {
    moving_ = false;
    const unsigned room = (sizes.request_bytes - 11) / 4, words = std::min(room, 255U);
    std::vector<std::uint8_t> write{board::write_next, static_cast<std::uint8_t>(words)};
    board::append_big(write, 0x100 / 4);
    for (unsigned i = 0; i < words; ++i) board::append_big(write, static_cast<std::uint32_t>(bench_.rng().bits(32)));
    exchange(write);
    // more than there is room for, with a right CRC
    for (unsigned more = 1; more <= 2 && words + more <= 255; ++more) {
      write[1] = static_cast<std::uint8_t>(words + more);
      board::append_big(write, static_cast<std::uint32_t>(bench_.rng().bits(32)));
      exchange(write);
    }
    const unsigned read_words = std::min(sizes.answer_bytes / 4 + bench_.rng().below(2), 255U);
    std::vector<std::uint8_t> read{board::read_next, static_cast<std::uint8_t>(read_words)};
    board::append_big(read, 0x100 / 4);
    exchange(read);
    // Twice as many words of operands as make it necessary to begin the queue's memory again.
    moving_ = true;
    for (unsigned words = 0; at_pins_.open && words < sizes.tx_bytes / 2; words += sizes.tx_bytes / 8) {
      std::vector<std::uint8_t> fill{board::write_same, static_cast<std::uint8_t>(sizes.tx_bytes / 8)};
      board::append_big(fill, board::tx_data / 4);
      for (unsigned i = 0; i < sizes.tx_bytes / 8; ++i)
        board::append_big(fill, static_cast<std::uint32_t>(bench_.rng().bits(32)));
      if (fill.size() + 6 > sizes.request_bytes) break;
      exchange(fill);
    }
    follow();
  }

  void exchange(const std::vector<std::uint8_t>& commands) {
    send_frame(commands);
    settle();
  }
  void send_frame(const std::vector<std::uint8_t>& commands) {
    std::vector<std::uint8_t> line, bytes{golden_->expected()};
    bytes.insert(bytes.end(), commands.begin(), commands.end());
    board::append_frame(line, bytes);
    for (const std::uint8_t byte : line) send(byte);
  }

  void bare() {
    Rng& rng = bench_.rng();
    moving_ = false;
    if (rng.chance(0.3)) grant();
    std::vector<std::uint8_t> bytes = some_command(6, true);
    if (rng.chance(0.1)) bytes.insert(bytes.begin(), static_cast<std::uint8_t>(5 + rng.below(100)));
    // A byte may come while the command in front of it is executed or answered; the one behind it has to wait.
    std::size_t busy = bytes.size();
    if (rng.chance(0.4)) {
      const std::vector<std::uint8_t> next = some_command(6, true);
      bytes.insert(bytes.end(), next.begin(), next.end());
    }
    bool cut = rng.chance(0.1);
    if (cut) bytes.resize(1 + rng.below(static_cast<std::uint32_t>(bytes.size())));
    // Silence that is a little too short to cut a command off, or a little longer than that: from byte to byte.
    const auto last = static_cast<std::uint32_t>(bytes.size() - 1);
    const std::size_t pause = rng.chance(0.2) && last != 0 ? rng.below(last) : last + 1;
    const bool cuts = rng.chance(0.5);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      send(bytes[at]);
      if (at != pause && rng.chance(0.02)) send(static_cast<std::uint8_t>(rng.bits(8)), true);  // is none
      if (at == pause && got_.size() == owed_.size()) {
        while (!line_.empty() || left_ != 0) clock();
        const unsigned clocks = NG_TIMEOUT_CLOCKS - 10 * clocks_per_bit + (cuts ? 8 : -8);
        for (unsigned i = 0; i < clocks; ++i) clock();
        if (cuts) golden_->silence();
        cut |= cuts;  // what is left is no command
        continue;
      }
      if (at + 1 == busy && at != last && !cut) continue;
      // answers are bytes in front of which the host is silent
      const unsigned least = at == busy ? 8 * NG_BUS_CLOCKS : 16 * clocks_per_bit;
      for (unsigned i = 0; i < least || got_.size() < owed_.size(); ++i) {
        clock();
        if (i > 20000 * clocks_per_bit) break;  // 255 words take half of it
      }
    }
    if (rng.chance(0.05)) send(static_cast<std::uint8_t>(rng.bits(8)), true);
    if (cut || rng.chance(0.05)) {
      settle(NG_TIMEOUT_CLOCKS + 30 * clocks_per_bit);
      golden_->silence();
    } else {
      settle();
    }
  }

  std::vector<std::uint8_t> frame_bytes(std::uint8_t number, bool writes_only = false) {
    Rng& rng = bench_.rng();
    std::vector<std::uint8_t> bytes{number};
    for (unsigned commands = rng.below(4); commands != 0; --commands) {
      auto command = some_command(rng.chance(0.02) ? 255 : 12, true);
      if (writes_only && command[0] % 2 == 0) continue;
      if (bytes.size() + command.size() + 4 > sizes.request_bytes && rng.chance(0.9)) break;
      bytes.insert(bytes.end(), command.begin(), command.end());
    }
    if (rng.chance(0.03)) bytes.push_back(static_cast<std::uint8_t>(rng.bits(8)));
    if (rng.chance(0.03)) bytes.resize(1 + rng.below(static_cast<std::uint32_t>(bytes.size())));
    return bytes;
  }
  /// A frame of which one bit is wrong when its CRC is looked at, each one in turn.
  std::vector<std::uint8_t> almost_right(std::vector<std::uint8_t> bytes) {
    std::uint32_t crc = board::crc32_start, error = 1U << almost_++ % 32;
    for (const std::uint8_t byte : bytes) crc = board::crc32_next(crc, byte);
    for (int bit = 0; bit < 32; ++bit) error = (error ^ (error >> 31) * 0xEDB88320U) << 1 | error >> 31;
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>((~crc ^ error) >> 8 * i));
    std::vector<std::uint8_t> line{board::frame_flag};
    for (const std::uint8_t byte : bytes) {
      const bool escaped = byte == board::frame_flag || byte == board::frame_escape;
      if (escaped) line.push_back(board::frame_escape);
      line.push_back(static_cast<std::uint8_t>(byte ^ escaped * board::frame_flip));
    }
    line.push_back(board::frame_flag);
    return line;
  }
  void frame() {
    Rng& rng = bench_.rng();
    moving_ = open_;  // then its flag has the frame before executed as well
    if (rng.chance(0.3)) grant();
    const auto number =
        static_cast<std::uint8_t>(number_ - (rng.chance(0.15) ? 1 : 0) + (rng.chance(0.05) ? rng.bits(8) : 0));
    std::vector<std::uint8_t> line;
    board::append_frame(line, frame_bytes(number));
    // Of the first frame the flag must come: what follows would be bare commands, which wait for no answer here.
    const bool first = !golden_->locked();
    if (!first && rng.chance(0.03)) line = {frame_flag, 0, 0, 0, 0, frame_flag};  // a right CRC of nothing
    if (!first && rng.chance(0.07)) line = almost_right(frame_bytes(number));
    if (!first && rng.chance(0.1)) line.erase(line.begin());
    const bool faulty = rng.chance(0.15);
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::uint8_t byte = line[i];
      if (faulty && !(first && i == 0) && rng.chance(0.05)) {
        open_ = true;
        if (rng.chance(0.3)) {
          send(byte, true);
        } else if (rng.chance(0.5)) {
          send(static_cast<std::uint8_t>(byte ^ 1U << rng.below(8)));
        }
        continue;
      }
      send(byte);
      open_ = i + 1 != line.size();
    }
    settle();
    follow();
  }
  /// Ends a frame whose last flag was lost: the number that is expected next is known then.
  void close() {
    moving_ = true;
    send(frame_flag);
    settle();
    follow();
    open_ = false;
  }
  /// Takes the number that the golden bridge expects.
  void follow() { number_ = golden_->expected(); }

  /// Frames of writes one behind the other, without a pause.
  void several() {
    moving_ = true;
    pace_ = Pace::quick;  // a frame that ends before the one in front is executed is dropped
    for (unsigned frames = 2 + bench_.rng().below(4); frames != 0; --frames) {
      std::vector<std::uint8_t> line, bytes{golden_->expected()};
      auto command = some_command(3, false);
      while (command[0] % 2 == 0 || (command[2] | command[3] | command[4]) != 0) command = some_command(3, false);
      bytes.insert(bytes.end(), command.begin(), command.end());
      board::append_frame(line, bytes);
      for (const std::uint8_t byte : line) send(byte);
    }
    settle();
    pace_ = Pace::any;
    follow();
  }

  void open_or_closed() {
    const bool open = bench_.rng().chance(0.6);
    for (BridgeTile* tile : {&at_pins_, &at_golden_}) tile->open = open;
    settle(8 * NG_TX_BYTES);
  }

  /// A silent register: the next frames are late as well, until the bus is free again.
  void late() {
    moving_ = false;
    std::vector<std::uint8_t> line, bytes{golden_->expected(), static_cast<std::uint8_t>(1 + bench_.rng().below(4)), 1};
    board::append_big(bytes, (0xA00 + 4 * bench_.rng().below(64)) / 4);
    if (bytes[1] % 2 == 1) board::append_big(bytes, 0x12345678);
    board::append_frame(line, bytes);
    for (const std::uint8_t byte : line) send(byte);
    settle();
    follow();
  }

  void loop() {
    Rng& rng = bench_.rng();
    moving_ = false;
    const unsigned command = static_cast<unsigned>(rng.bits(32));
    const unsigned error = rng.chance(0.4) ? 1 + rng.below(15) : 0;
    // With an error nothing is repeated, and the count stays: it may be any, also one that starts nothing.
    const unsigned any = rng.chance(0.5)   ? static_cast<unsigned>(rng.bits(32))
                         : rng.chance(0.7) ? 1U << loops_ % 32
                                           : 0;
    const unsigned count = error != 0 ? any : 1 + rng.below(12);
    for (BridgeTile* tile : {&at_pins_, &at_golden_}) tile->error = error;
    std::vector<std::uint8_t> setup{board::write_next, 1};
    board::append_big(setup, board::loop_command / 4);
    board::append_big(setup, command);
    setup.insert(setup.end(), {board::write_next, 1});
    board::append_big(setup, board::sink / 4);
    board::append_big(setup, 1);
    exchange(setup);
    loop_clocks_ = 0;
    pace_of_commands_ = rng.chance(0.5) ? 0.1 : 0.01;  // the slow one fills the tile's queue
    std::vector<std::uint8_t> start{board::write_next, 1};
    board::append_big(start, board::loop_count / 4);
    board::append_big(start, count);
    exchange(start);
    if (count != 0) golden_->set_cycles(loop_clocks_);
    std::vector<std::uint8_t> read{board::read_next, 6};
    board::append_big(read, board::loop_command / 4);
    exchange(read);
    for (BridgeTile* tile : {&at_pins_, &at_golden_}) {
      tile->error = 0;
      tile->queue = 0;
    }
    settle();
    ++loops_;
    follow();
  }

  /// A frame of which the golden bridge is not told: bytes, and words behind them.
  void give(std::vector<std::uint8_t> bytes, std::initializer_list<std::uint32_t> words) {
    for (const std::uint32_t word : words) board::append_big(bytes, word);
    std::vector<std::uint8_t> line;
    board::append_frame(line, bytes);
    for (const std::uint8_t byte : line) line_.push_back({byte, false});
  }

  /// The one word of the last answer.
  std::uint32_t answered_word() const {
    board::Deframer deframer(sizes.answer_bytes + 16);
    std::vector<std::uint8_t> answer;
    for (const std::uint8_t byte : got_)
      if (const auto frame = deframer.take(byte)) answer.assign(frame->begin(), frame->end());
    answer.resize(10);
    std::uint32_t word = 0;
    for (std::size_t i = 6; i < 10; ++i) word = word << 8 | answer[i];
    return word;
  }

  /// A loop of very many commands, so many clocks or more, that an error of the tile ends, or a new count of 0: what is
  /// left of its count, and its clocks.
  void long_loop(unsigned least, bool stopped = false) {
    Rng& rng = bench_.rng();
    reset();
    bench_.vector();
    const auto count = rng.chance(0.5) ? 1U << (17 + rng.below(15)) : static_cast<std::uint32_t>(rng.bits(32)) | 0x400U;
    const auto until = [&](auto&& done) {
      for (unsigned i = 0; !done() && i < 4000 * clocks_per_bit; ++i) clock();
    };
    give({0, board::write_next, 1}, {board::sink / 4, 1});
    give({1, board::write_next, 1}, {board::loop_count / 4, count});
    until([&] { return dut_->running_o != 0; });
    loop_clocks_ = 0;
    pace_of_commands_ = 0.1;
    for (unsigned clocks = least + rng.below(stopped ? 1000 : 20000); clocks != 0; --clocks) clock();
    std::uint8_t number = 2;
    if (stopped)
      give({number++, board::write_next, 1}, {board::loop_count / 4, 0});
    else
      at_pins_.error = 1 + rng.below(15);
    until([&] { return dut_->running_o == 0; });
    const auto commands = static_cast<std::uint32_t>(
        std::count_if(at_pins_.written.begin(), at_pins_.written.end(),
                      [](const BridgeTile::Write& write) { return write.offset == BridgeTile::compute; }));
    for (unsigned i = 0; i < 300 * clocks_per_bit; ++i) clock();  // the answers so far
    const auto ask = [&](std::uint32_t address) {
      got_.clear();
      give({number++, board::read_next, 1}, {address / 4});
      until([&] { return got_.size() > 2 && got_.back() == frame_flag; });
      return answered_word();
    };
    const std::uint32_t left = ask(board::loop_count), clocks = ask(board::loop_cycles);
    const auto which = [&] { return "of " + std::to_string(count) + (stopped ? ", stopped" : ", ended by an error"); };
    bench_.expect_eq("commands of the loop that are left", left, stopped ? 0 : count - commands, which);
    bench_.expect_eq("clocks of the loop", clocks, loop_clocks_, which);
    bench_.expect_eq("the loop runs", dut_->running_o != 0, false, which);
    at_pins_.error = 0;
  }

  /// A frame that comes while the one before cannot be executed is dropped, and counted.
  void overrun() {
    reset();
    // The bus is silent for ever: frames behind it end before the access is given up.
    for (int i = 0; i < 2; ++i) give({0, board::read_same, 1}, {0xA00 / 4});
    bench_.vector();
    for (unsigned i = 0; i < 200 * clocks_per_bit + 4 * NG_BUS_CLOCKS; ++i) clock();
    bench_.expect(!got_.empty(), [] { return "no answer behind a silent access"; });
  }

  /// The same, of other content than what is left of the frame in front: that is executed as it was sent.
  void overtaken() {
    reset();
    bench_.vector();
    at_pins_.written.clear();
    const auto value = static_cast<std::uint32_t>(bench_.rng().bits(32));
    std::vector<std::uint8_t> slow{0, board::read_same,
                                   static_cast<std::uint8_t>(std::min(sizes.answer_bytes / 4, 16U))};
    board::append_big(slow, 0x104 / 4);
    slow.insert(slow.end(), {board::write_next, 1});
    give(slow, {0x100 / 4, value});
    give({1, board::write_next, 2}, {0x104 / 4, ~value, ~value});
    pace_ = Pace::late;
    for (unsigned i = 0; i < 1000 * clocks_per_bit + 20 * NG_BUS_CLOCKS; ++i) clock();
    pace_ = Pace::any;
    const bool once = at_pins_.written == std::vector<BridgeTile::Write>{{0x100, value}};
    bench_.expect_eq("the write of a frame in front", once, true,
                     [&] { return std::to_string(at_pins_.written.size()) + " writes"; });
  }

  /// An access behind one that was given up: the late answer, which comes while it waits for the bus, is not its own.
  void given_up(bool write, bool writes) {
    reset();
    bench_.vector();
    moving_ = false;
    const auto access = [&](bool writing, std::uint32_t address) {
      std::vector<std::uint8_t> bytes{writing ? board::write_same : board::read_same, 1};
      board::append_big(bytes, address / 4);
      if (writing) board::append_big(bytes, static_cast<std::uint32_t>(bench_.rng().bits(32)));
      return bytes;
    };
    exchange(access(true, 0x100));
    pace_ = Pace::quick;
    held_ = true;
    send_frame(access(write, 0xA00));
    for (unsigned i = 0; got_.size() < owed_.size() && i < 1000 * clocks_per_bit; ++i) clock();
    send_frame(access(writes, 0x100));
    while (!line_.empty() || left_ != 0) clock();
    for (unsigned clocks = 20 + bench_.rng().below(8); clocks != 0; --clocks) clock();  // it waits by then
    held_ = false;
    settle();
    pace_ = Pace::any;
    follow();
  }

  /// Operands that a closed tile does not take, word by word: their count, parts of a stream word included.
  void waiting() {
    reset();
    bench_.vector();
    for (BridgeTile* tile : {&at_pins_, &at_golden_}) tile->open = false;
    for (unsigned words = 0; words < 2 * stream_bytes / 4; ++words) {
      std::vector<std::uint8_t> fill{board::write_same, 1};
      board::append_big(fill, board::tx_data / 4);
      board::append_big(fill, static_cast<std::uint32_t>(bench_.rng().bits(32)));
      moving_ = true;
      exchange(fill);
      std::vector<std::uint8_t> read{board::read_next, 1};
      board::append_big(read, board::tx_count / 4);
      moving_ = false;
      exchange(read);
    }
  }

  /// So many bad frames that each of so many bits of their counter is seen as 0 and as 1, and that 16 wrap; and a look
  /// now and then, even and odd. Nothing but the line moves between two reads, so these clocks are short ones.
  void bad_frames(unsigned bits) {
    reset();
    open_ = moving_ = false;
    bench_.vector();
    std::vector<std::uint8_t> read{board::read_next, 1};
    board::append_big(read, board::bad_frames / 4);
    exchange(read);
    idle_pins();
    const unsigned reads = 0xAAAA >> (16 - bits), last = reads + (1U << bits) - reads / 2;
    for (unsigned frames = 0; frames < last; ++frames) {
      for (const std::uint8_t byte : {std::uint8_t{0}, frame_flag}) {
        golden_->byte(byte);
        for (unsigned bit = 0, shift = 0x200U | byte << 1; bit < 10; ++bit) {
          dut_->rx_i = shift >> bit & 1;
          for (unsigned i = 0; i < clocks_per_bit; ++i) dut_.tick();
        }
      }
      if (frames + 1 != reads && frames + 1 != last && frames % 1021 != 0) continue;
      exchange(read);
      idle_pins();
    }
  }

  Bench bench_;
  Dut<Vdut> dut_;
  BridgeTile at_pins_{stream_bytes}, at_golden_{stream_bytes};
  std::optional<board::UartBridge> golden_;
  std::deque<Sent> line_;
  std::vector<std::uint8_t> got_, owed_;
  std::uint8_t number_ = 0;
  enum class Pace { any, quick, late } pace_ = Pace::any;  ///< at which the tile answers
  unsigned low_ = 0, since_ = 0;                           ///< bits of the line's byte, clocks of the access
  unsigned left_ = 0, sent_ = 0, shift_ = 0, receiving_ = 0, heard_ = 0, response_ = 0, loop_clocks_ = 0;
  int read_wait_ = -1, write_wait_ = -1;
  bool address_ = false, data_ = false, moving_ = false, open_ = false;
  bool held_ = false;  ///< accesses are not answered
  std::uint32_t offset_ = 0, written_ = 0, value_ = 0;
  std::optional<std::vector<std::uint8_t>> word_;
  std::uint64_t answers_ = 0, loops_ = 0, waited_ = 0;
  unsigned almost_ = 0;
  double pace_of_commands_ = 0.1;
};

}  // namespace

int main(int argc, char** argv) { return UartBridgeBench(argc, argv).run(); }
