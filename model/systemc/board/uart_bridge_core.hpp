// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/board/ng_uart_bridge.sv and what it is made of.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "narrowgauge/board/link_frame.hpp"
#include "systemc/board/bridge_streams_core.hpp"

namespace narrowgauge::systemc {

/// Of ng_uart_rx. Outputs are functions of the state; step() is a clock edge.
template <unsigned clocks_per_bit>
class UartRxCore {
 public:
  void reset() {
    half_ = line_ = before_ = true;
    busy_ = valid_ = broken_ = false;
    count_ = bit_ = 0;
  }
  bool valid() const { return valid_; }
  bool broken() const { return broken_; }
  std::uint8_t data() const { return data_; }

  void step(bool rx) {
    const bool sample = busy_ && count_ == 0, stop = bit_ == 9, line = line_;
    valid_ = sample && stop && line;
    broken_ = sample && stop && !line;
    if (sample && !stop) data_ = static_cast<std::uint8_t>((line ? 0x80 : 0) | data_ >> 1);
    if (!busy_) {
      busy_ = before_ && !line;
      bit_ = 0;
      count_ = clocks_per_bit / 2 - 1;
    } else if (sample) {
      busy_ = !stop && (bit_ != 0 || !line);
      ++bit_;
      count_ = clocks_per_bit - 1;
    } else {
      --count_;
    }
    before_ = line;
    line_ = half_;
    half_ = rx;
  }

 private:
  bool half_ = true, line_ = true, before_ = true, busy_ = false, valid_ = false, broken_ = false;
  unsigned count_ = 0, bit_ = 0;
  std::uint8_t data_ = 0;
};

/// Of ng_uart_tx.
template <unsigned clocks_per_bit>
class UartTxCore {
 public:
  void reset() {
    count_ = left_ = 0;
    bits_ = 0x1FF;
  }
  bool ready() const { return left_ == 0; }
  bool line() const { return bits_ & 1; }

  void step(bool valid, std::uint8_t data) {
    if (ready()) {
      count_ = clocks_per_bit - 1;
      left_ = valid ? 10 : 0;
      bits_ = valid ? unsigned{data} << 1 : 0x1FF;
    } else if (count_ != 0) {
      --count_;
    } else {
      count_ = clocks_per_bit - 1;
      --left_;
      bits_ = 0x100 | bits_ >> 1;
    }
  }

 private:
  unsigned count_ = 0, left_ = 0, bits_ = 0x1FF;
};

/// Of ng_crc32_serial.
class Crc32SerialCore {
 public:
  void reset() {
    left_ = 0;
    crc_ = board::crc32_start;
  }
  std::uint32_t crc() const { return crc_; }

  void step(bool clear, bool valid, std::uint8_t data) {
    const bool busy = left_ != 0, odd = ((crc_ ^ bits_) & 1) != 0;
    bits_ = valid ? data : bits_ >> 1;
    if (clear) return reset();
    left_ = valid ? 8 : left_ - busy;
    if (busy) crc_ = crc_ >> 1 ^ (odd ? 0xEDB88320U : 0U);
  }

 private:
  unsigned left_ = 0;
  std::uint32_t crc_ = board::crc32_start;
  std::uint8_t bits_ = 0;
};

/// Of ng_bridge_bus.
template <unsigned bus_clocks>
class BridgeBusCore {
 public:
  /// What a master asks for.
  struct Request {
    bool valid = false, write = false;
    std::uint32_t addr = 0, data = 0;
  };
  /// The slave's signals.
  struct Slave {
    bool awready = false, wready = false, bvalid = false, arready = false, rvalid = false;
    unsigned bresp = 0, rresp = 0;
    std::uint32_t rdata = 0;
  };

  void reset() {
    awvalid = wvalid = arvalid = wait_write = wait_read = host_done = loop_done = given_up_ = false;
    timer_ = 0;
  }
  bool bad() const { return refused || timeout; }

  void step(const Request& host_request, const Request& loop_request, const Slave& in) {
    const bool host = host_request.valid && !host_done, loop = loop_request.valid && !loop_done;
    const bool requested = host || loop, waits = wait_write || wait_read;
    const bool start = requested && !waits && !host_done && !loop_done;
    const bool answered = (wait_write && in.bvalid) || (wait_read && in.rvalid);
    const bool late = timer_ == bus_clocks && !answered;
    const bool from_loop = waits && !given_up_ ? of_loop_ : !host;
    refused = answered && ((wait_write ? in.bresp : in.rresp) & 2) != 0;
    timeout = !answered;
    data = in.rdata;
    const bool done = (answered && !given_up_) || late;
    timer_ = start || late || answered || !(given_up_ ? requested : waits) ? 0 : timer_ + 1;
    given_up_ = waits && !answered && (given_up_ || late);
    host_done = done && !from_loop;
    loop_done = done && from_loop;
    const Request& chosen = host ? host_request : loop_request;
    if (start) {
      of_loop_ = !host;
      addr = chosen.addr;
      wdata = chosen.data;
    }
    awvalid = start ? chosen.write : awvalid && !in.awready;
    wvalid = start ? chosen.write : wvalid && !in.wready;
    arvalid = start ? !chosen.write : arvalid && !in.arready;
    wait_write = start ? chosen.write : wait_write && !answered;
    wait_read = start ? !chosen.write : wait_read && !answered;
  }

  bool awvalid = false, wvalid = false, arvalid = false, wait_write = false, wait_read = false;
  bool host_done = false, loop_done = false, refused = false, timeout = false;
  std::uint32_t addr = 0, wdata = 0, data = 0;  ///< addr: of a word

 private:
  bool given_up_ = false, of_loop_ = false;
  unsigned timer_ = 0;
};

/// Of ng_bridge_loop.
class BridgeLoopCore {
 public:
  void reset() { *this = {}; }
  bool starts(bool we_count, std::uint32_t data) const { return we_count && !running && data != 0; }
  std::uint32_t addr() const { return write ? 0x11 : 0x09; }

  void step(bool we_command, bool we_count, std::uint32_t data, bool done, bool error, std::uint32_t status) {
    const bool begins = starts(we_count, data), more = count != 0;
    const bool fault = !write && (status >> 12 & 15) != 0;
    const bool over = done && (error || (!write && ((status >> 12 & 15) != 0 || (!more && (status & 1) == 0))));
    const bool was_running = running, asked = request;
    cycles = begins ? 0 : cycles + was_running;
    running = begins || (running && !over);
    tile_error = !begins && (tile_error || (done && !error && fault));
    bus_error = !begins && (bus_error || (done && error));
    const unsigned room = space_;
    if (begins) {
      space_ = 0;
    } else if (done) {
      space_ = write ? (room - 1) & 7 : status >> 8 & 7;
    }
    const bool wrote = write;
    request = asked ? !done : was_running;
    if (!asked) write = more && room != 0;
    if (we_command) command = data;
    if (we_count) {
      count = data;
    } else if (done && wrote && more) {
      --count;
    }
  }

  std::uint32_t command = 0, count = 0, cycles = 0;
  bool running = false, tile_error = false, bus_error = false, request = false, write = false;

 private:
  unsigned space_ = 0;
};

/// Of ng_uart_bridge, whose parameters these are.
template <unsigned clocks_per_bit, unsigned stream_width, unsigned request_bytes, unsigned answer_bytes,
          unsigned tx_bytes, unsigned rx_bytes, unsigned bus_clocks, unsigned timeout_clocks>
class UartBridgeCore {
 public:
  static constexpr unsigned stream_bytes = stream_width / 8;
  using Bus = BridgeBusCore<bus_clocks>;
  using Streams = BridgeStreamsCore<stream_bytes, tx_bytes, rx_bytes>;
  struct Inputs {
    bool rx = true;
    typename Bus::Slave bus;
    bool out_ready = false, in_valid = false;
    typename Streams::Word in{};
  };

  void reset() {
    rx_.reset();
    tx_.reset();
    rx_crc_.reset();
    tx_crc_.reset();
    bus_.reset();
    loop_.reset();
    streams_.reset();
    framed_ = locked_ = escape_ = bad_ = frame_ = bare_ = executing_ = arrived_ = fetched_ = any_ = first_ = sink_ =
        false;
    sending_ = escaped_ = false;
    length_ = bad_frames_ = silence_ = count_ = 0;
    expected_ = 0;
    pos_ = 0;
    state_ = State::command;
    send_state_ = Send::open;
  }

  bool tx() const { return tx_.line(); }
  const Bus& bus() const { return bus_; }
  const Streams& streams() const { return streams_; }
  bool in_ready() const { return streams_.in_ready(sink_); }
  bool locked() const { return locked_; }
  bool running() const { return loop_.running; }

  void step(const Inputs& in) {
    // ---- what the registers say now
    const bool rx_valid = rx_.valid();
    const std::uint8_t rx_byte = rx_.data();
    const bool idle = state_ == State::command && !executing_;
    const bool begins = rx_valid && !framed_ && !locked_ && idle && !bare_ && rx_byte == board::frame_flag;
    const bool flag = rx_valid && framed_ && rx_byte == board::frame_flag;
    const bool part = rx_valid && framed_ && rx_byte != board::frame_flag && rx_byte != board::frame_escape;
    const auto part_byte = static_cast<std::uint8_t>(rx_byte ^ (escape_ ? board::frame_flip : 0));
    const bool keep = part && length_ < request_bytes && !(frame_ && length_ == pos_);
    const bool ended = flag && (length_ != 0 || bad_);
    const bool good = ended && !bad_ && !escape_ && length_ >= 5 && !frame_ && rx_crc_.crc() == board::crc32_residue;
    const bool cut_off = silence_ == timeout_clocks && !locked_;

    const std::uint8_t byte = byte_;
    const bool at_end = executing_ && pos_ == frame_length_;
    const bool have = executing_ ? fetched_ && !at_end : bare_;
    const bool takes =
        state_ == State::command || state_ == State::length || state_ == State::address || state_ == State::data;
    const bool take = have && takes, take_bare = take && !executing_;
    const bool is_command = byte >= 1 && byte <= 4;
    // Where no frame is executed, pos_ is 0, and this the number of the one that waits.
    const std::uint8_t number = request_byte_;
    const bool is_next = number == expected_;
    const bool is_before = any_ && number == static_cast<std::uint8_t>(expected_ - 1);
    const bool last_word = words_ == 1, last_byte = count_ == 3;

    const unsigned reg = addr_ & 31;
    const bool of_tile = !far_ && (addr_ & 0x400) == 0, of_bridge = !far_ && (addr_ & 0x7E0) == 0x400;
    const bool access = state_ == State::access;
    const bool fifo_write = of_bridge && !read_ && reg <= 1, fifo_read = of_bridge && read_ && reg == 4;
    const bool writable = of_bridge && (reg <= 1 || reg == 6 || reg == 12 || reg == 13 || reg == 15);
    const bool readable = of_bridge && ((reg >= 2 && reg <= 5) || (reg >= 8 && reg <= 17));
    const bool wrong = !(of_tile || (read_ ? readable : writable));
    const bool no_room = fifo_write && streams_.tx_space() == 0;
    const bool nothing = fifo_read && streams_.rx_words() == 0;
    const bool host_done = bus_.host_done, loop_done = bus_.loop_done;
    const bool word_done =
        access && (host_done || wrong || nothing || (of_bridge && (!fifo_read || streams_.rx_valid())));
    const bool we = access && of_bridge && !read_;
    const bool starts = loop_.starts(we && reg == 13, data_);
    const bool answer_full = executing_ && answer_length_ == answer_bytes;
    const bool emits = state_ == State::emit && (executing_ || (tx_.ready() && !sending_));
    const bool starts_frame = frame_ && !executing_ && !sending_ && idle && !bare_;
    const unsigned refused = bus_.refused ? unsigned{board::status_refused} : 0U;
    const unsigned of_bus = bus_.timeout ? unsigned{board::status_timeout} : refused;
    const unsigned access_fault = wrong                ? unsigned{board::status_address}
                                  : no_room || nothing ? unsigned{board::status_fifo}
                                  : of_tile            ? of_bus
                                                       : 0U;
    const bool frame_fault = executing_ && ((takes && at_end && state_ != State::command) ||
                                            (take && state_ == State::command && !is_command) ||
                                            (state_ == State::emit && answer_full) || (word_done && access_fault != 0));
    const unsigned fault = word_done ? access_fault : unsigned{board::status_command};

    const bool again = starts_frame && !is_next && is_before, refuse = starts_frame && !is_next && !is_before;
    const bool launch = state_ == State::finish || again || refuse;
    const bool flags = send_state_ == Send::open || send_state_ == Send::close;
    const std::uint8_t plain = plain_byte();
    const bool needs_escape = !flags && (plain == board::frame_flag || plain == board::frame_escape);
    const bool tx_ready = tx_.ready(), goes = sending_ && tx_ready && !(needs_escape && !escaped_);
    const bool tx_valid = sending_ || (state_ == State::emit && !executing_);
    const std::uint8_t tx_byte = !sending_ ? static_cast<std::uint8_t>(data_ >> 24)
                                 : flags   ? board::frame_flag
                                 : needs_escape && !escaped_
                                     ? board::frame_escape
                                     : static_cast<std::uint8_t>(plain ^ (escaped_ ? board::frame_flip : 0));
    const bool data_ends = (phase_ == 5 && send_length_ == 0) || (phase_ == 6 && sent_ + 1 == send_length_);
    const std::uint32_t value = register_value(reg);

    // ---- the edge
    const std::uint8_t emitted = static_cast<std::uint8_t>(data_ >> 24);
    const std::uint8_t request_read = request_[pos_ % request_bytes], answer_read = answer_[sent_ % answer_bytes];
    const typename Bus::Request host{access && of_tile, !read_, addr_ & 0x3FF, data_};
    const typename Bus::Request loop{loop_.request, loop_.write, loop_.addr(), loop_.command};
    const typename Streams::TxWord tx_in{data_, (reg & 1) != 0};
    const bool loop_error = bus_.bad();
    const std::uint32_t bus_data = bus_.data;
    const unsigned space = streams_.tx_space(), results = streams_.rx_words();

    streams_.step(we && reg == 6, access && fifo_write ? &tx_in : nullptr, in.out_ready, in.in_valid ? &in.in : nullptr,
                  sink_, starts, access && fifo_read);
    loop_.step(we && reg == 12, we && reg == 13, data_, loop_done, loop_error, bus_data & 0xFFFF);
    bus_.step(host, loop, in.bus);
    if (we && reg == 15) sink_ = data_ & 1;

    rx_crc_.step(flag || begins, part, part_byte);
    // Its own bytes take themselves off.
    tx_crc_.step(launch, goes && !flags, static_cast<std::uint8_t>(plain ^ (send_state_ == Send::check ? 0xFF : 0)));

    // answers
    if (launch) {
      send_number_ = static_cast<std::uint8_t>(expected_ - again);
      send_status_ = static_cast<std::uint8_t>((refuse ? unsigned{board::status_number} : error_) |
                                               ((again ? first_ : !any_) ? unsigned{board::status_first} : 0U));
      send_length_ = refuse ? 0 : answer_length_;
      credit_ = space;
      phase_ = sent_ = crc_count_ = 0;
    } else if (goes) {
      if (phase_ == 3) credit_ = results;
      if (send_state_ == Send::body) {
        const bool in_data = phase_ == 6;
        if (data_ends) {
          phase_ = 7;
        } else if (!in_data) {
          ++phase_;
        }
        if (in_data) ++sent_;
      }
      if (send_state_ == Send::check) crc_count_ = (crc_count_ + 1) % 4;
    }
    const bool check_ends = crc_count_ == 0;  // behind the fourth byte
    const Send was = send_state_;
    if (launch) {
      send_state_ = Send::open;
    } else if (goes) {
      switch (was) {
        case Send::open:
          send_state_ = Send::body;
          break;
        case Send::body:
          if (data_ends) send_state_ = Send::check;
          break;
        case Send::check:
          if (check_ends) send_state_ = Send::close;
          break;
        default:
          send_state_ = Send::open;
      }
    }
    escaped_ = sending_ && (tx_ready ? needs_escape && !escaped_ : escaped_);
    sending_ = launch || (sending_ && !(goes && was == Send::close));
    answer_byte_ = answer_read;

    // commands
    const State now = state_;
    const bool was_executing = executing_;
    if (was_executing && emits && !answer_full) answer_[answer_length_ % answer_bytes] = emitted;
    if (starts_frame && is_next) {
      error_ = 0;
      answer_length_ = 0;
    } else {
      if (frame_fault) error_ = static_cast<std::uint8_t>(fault);
      if (was_executing && emits && !answer_full) ++answer_length_;
    }
    next_state(take, is_command, at_end, word_done, last_word, emits, frame_fault, cut_off, takes);
    if (now == State::command && take) {
      read_ = (byte & 1) == 0;
      fixed_ = (byte & 4) != 0 || (byte & 3) == 3;
    }
    if (now == State::address && take) {
      const unsigned at = address_count_;
      far_ = (far_ && at != 0) || (at != 3 && (at == 2 ? byte >> 3 != 0 : byte != 0));
      addr_ = (addr_ << 8 | byte) & 0x7FF;
    } else if ((word_done && !read_) || (emits && last_byte)) {
      words_ = (words_ - 1) & 0xFF;
      if (!fixed_) {
        if (addr_ == 0x7FF) far_ = true;
        addr_ = (addr_ + 1) & 0x7FF;
      }
    }
    if (now == State::length && take) words_ = byte;
    if (emits || take) {
      data_ = data_ << 8 | byte;
    } else if (word_done && read_) {
      data_ = access_fault != 0 ? 0xFFFFFFFF : of_tile ? bus_data : value;
    }
    fetched_ = was_executing && !take && arrived_;
    arrived_ = was_executing && !take;
    pos_ = was_executing || starts_frame ? pos_ + (take || starts_frame) : 0;
    if (was_executing || !bare_) byte_ = was_executing ? request_byte_ : rx_byte;
    executing_ = (starts_frame && is_next) || (was_executing && now != State::finish);
    if (now == State::finish) {
      ++expected_;
      first_ = !any_;
      any_ = true;
    }
    request_byte_ = request_read;

    // frames
    if (keep) request_[length_ % request_bytes] = part_byte;
    if (good) frame_length_ = length_ - 4;
    bare_ = (rx_valid && !framed_ && !locked_ && !begins) || (bare_ && !take_bare && !cut_off);
    if (ended && !good) bad_frames_ = (bad_frames_ + 1) & 0xFFFF;
    bad_ = !flag && !begins && (bad_ || (rx_.broken() && framed_) || (part && !keep));
    escape_ = rx_valid ? framed_ && rx_byte == board::frame_escape : escape_ && !cut_off;
    length_ = flag || begins ? 0 : length_ + keep;
    frame_ = good || (frame_ && !launch);
    silence_ = rx_valid || cut_off ? 0 : silence_ + !locked_;
    framed_ = locked_ || begins || (framed_ && !cut_off);
    locked_ = locked_ || good;
    tx_.step(tx_valid, tx_byte);
    rx_.step(in.rx);
  }

 private:
  enum class State { command, length, address, data, access, emit, finish };
  enum class Send { open, body, check, close };

  std::uint8_t plain_byte() const {
    switch (phase_) {
      case 0:
        return send_number_;
      case 1:
        return send_status_;
      case 2:
      case 4:
        return static_cast<std::uint8_t>(credit_ >> 8);
      case 3:
      case 5:
        return static_cast<std::uint8_t>(credit_);
      case 6:
        return answer_byte_;
      default:
        return static_cast<std::uint8_t>(~tx_crc_.crc());
    }
  }

  std::uint32_t register_value(unsigned reg) const {
    switch (reg) {
      case 2:
        return streams_.tx_space();
      case 3:
        return tx_bytes / 4 - streams_.tx_space() + streams_.tx_partial();
      case 5:
        return streams_.rx_words();
      case 8:
        return board::bridge_magic;
      case 9:
        return board::bridge_major << 16;
      case 10:
        return stream_bytes | ((request_bytes / 16 - 1) & 0xFF) << 8 | ((answer_bytes / 16 - 1) & 0xFF) << 16;
      case 11:
        return bad_frames_;
      case 12:
        return loop_.command;
      case 13:
        return loop_.count;
      case 14:
        return loop_.bus_error << 2 | loop_.tile_error << 1 | unsigned{loop_.running};
      case 15:
        return sink_;
      case 16:
        return streams_.hash();
      case 17:
        return loop_.cycles;
      default:
        return streams_.rx_data();
    }
  }

  void next_state(bool take, bool is_command, bool at_end, bool word_done, bool last_word, bool emits, bool frame_fault,
                  bool cut_off, bool takes) {
    const unsigned at = count_;
    address_count_ = at;
    if (take || emits) count_ = (count_ + 1) % 4;
    if (frame_fault) {
      state_ = State::finish;
      return;
    }
    if (cut_off && !executing_ && takes) {
      state_ = State::command;
      count_ = 0;
      return;
    }
    switch (state_) {
      case State::command:
        count_ = 0;
        if (at_end) {
          state_ = State::finish;
        } else if (take && is_command) {
          state_ = State::length;
        }
        break;
      case State::length:
        count_ = 0;
        if (take) state_ = State::address;
        break;
      case State::address:
        if (take && at == 3) state_ = words_ == 0 ? State::command : read_ ? State::access : State::data;
        break;
      case State::data:
        if (take && at == 3) state_ = State::access;
        break;
      case State::access:
        if (word_done) {
          count_ = 0;
          state_ = read_ ? State::emit : last_word ? State::command : State::data;
        }
        break;
      case State::emit:
        if (emits && at == 3) state_ = last_word ? State::command : State::access;
        break;
      default:
        state_ = State::command;
    }
  }

  UartRxCore<clocks_per_bit> rx_;
  UartTxCore<clocks_per_bit> tx_;
  Crc32SerialCore rx_crc_, tx_crc_;
  Bus bus_;
  BridgeLoopCore loop_;
  Streams streams_;
  std::array<std::uint8_t, request_bytes> request_{};
  std::array<std::uint8_t, answer_bytes> answer_{};
  State state_ = State::command;
  Send send_state_ = Send::open;
  bool framed_ = false, locked_ = false, escape_ = false, bad_ = false, frame_ = false, bare_ = false;
  bool executing_ = false, arrived_ = false, fetched_ = false, read_ = false, fixed_ = false, far_ = false,
       any_ = false, first_ = false;
  bool sink_ = false, sending_ = false, escaped_ = false;
  unsigned length_ = 0, frame_length_ = 0, pos_ = 0, bad_frames_ = 0, silence_ = 0, count_ = 0, address_count_ = 0;
  unsigned words_ = 0, addr_ = 0, answer_length_ = 0, send_length_ = 0, sent_ = 0, credit_ = 0, phase_ = 0;
  unsigned crc_count_ = 0;
  std::uint8_t byte_ = 0, request_byte_ = 0, expected_ = 0, error_ = 0;
  std::uint8_t answer_byte_ = 0, send_number_ = 0, send_status_ = 0;
  std::uint32_t data_ = 0;
};

}  // namespace narrowgauge::systemc
