// SPDX-License-Identifier: Apache-2.0
// What ng_uart_bridge does to the bytes of its line, without time: commands, frames and their numbers, registers, FIFOs
// and the loop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "narrowgauge/board/axil_fifos.hpp"
#include "narrowgauge/board/link_frame.hpp"

namespace narrowgauge::board {

/// What stands behind a bridge.
class BridgeTarget {
 public:
  virtual ~BridgeTarget() = default;
  /// A register access at a byte offset below 0x1000: 0, status_refused or status_timeout.
  virtual std::uint8_t read(std::uint32_t offset, std::uint32_t& value) = 0;
  virtual std::uint8_t write(std::uint32_t offset, std::uint32_t value) = 0;
  /// Takes a stream word of operands, if it does now.
  virtual bool take(std::span<const std::uint8_t> word, bool last) = 0;
  /// The next stream word of results, if there is one now.
  virtual std::optional<std::vector<std::uint8_t>> give() = 0;
  /// Nothing else can be done: lets time pass. False: nothing will change.
  virtual bool wait() { return false; }
};

/// Of ng_uart_bridge's parameters those that are seen on the line.
struct BridgeSizes {
  unsigned stream_bytes = 4, request_bytes = 512, answer_bytes = 512, tx_bytes = 512, rx_bytes = 512;
};

class UartBridge {
 public:
  explicit UartBridge(BridgeTarget& target, const BridgeSizes& sizes = {})
      : target_(target),
        sizes_(sizes),
        frames_(sizes.request_bytes),
        fifos_(sizes.stream_bytes, sizes.tx_bytes, sizes.rx_bytes) {}

  /// A byte from the host, and what is sent for it.
  std::vector<std::uint8_t> byte(std::uint8_t byte) {
    out_.clear();
    move_streams();
    if (framed_) {
      if (const auto frame = frames_.take(byte)) {
        locked_ = true;
        execute(*frame);
      }
    } else if (bare_.empty() && byte == frame_flag) {
      framed_ = true;
      frames_.restart();
    } else {
      bare(byte);
    }
    return out_;
  }
  /// A byte without a stop bit.
  void broken_byte() {
    if (framed_) frames_.spoil();
  }
  /// The line was silent for as long as cuts a command off.
  void silence() {
    if (locked_) return;
    framed_ = false;
    bare_.clear();
  }
  bool locked() const { return locked_; }
  /// The number of the frame to be executed next.
  std::uint8_t expected() const { return expected_; }
  /// Words of results that can be read.
  std::uint32_t arrived() const { return fifos_.arrived(); }
  /// With `yes` the loop goes on in step_loop(), and what the host sends comes in between; else it is over at once.
  void loop_in_steps(bool yes) { steps_ = yes; }
  bool loop_runs() const { return (loop_state_ & 1) != 0; }
  /// What the loop does at one look at the tile's STATUS.
  void step_loop() {
    if (loop_runs()) loop_state_ = loop_step();
  }
  /// What loop_cycles shows: time is the caller's.
  void set_cycles(std::uint32_t cycles) { cycles_ = cycles; }
  std::uint64_t bad_frames() const { return frames_.bad(); }

  /// Moves operands and results as far as the tile takes and gives them.
  void move_streams() {
    for (bool moved = true; moved;) {
      moved = false;
      if (fifos_.offers() && target_.take(bytes_of(fifos_.word()), fifos_.last())) {
        fifos_.leave();
        moved = true;
      }
      if (sink_ || fifos_.takes()) {
        if (const auto word = target_.give()) {
          result(*word);
          moved = true;
        }
      }
    }
  }

 private:
  static std::vector<std::uint8_t> bytes_of(std::span<const std::uint32_t> words) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t word : words)
      for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> 8 * i));
    return bytes;
  }

  void result(std::span<const std::uint8_t> bytes) {
    std::vector<std::uint32_t> words;
    for (std::size_t i = 0; i < bytes.size(); i += 4) words.push_back(little_word(bytes.subspan(i, 4)));
    if (!sink_) {
      fifos_.come(words);
      return;
    }
    for (const std::uint32_t word : words) hash_ = result_hash_next(hash_, word);
  }

  // ---- commands
  void bare(std::uint8_t byte) {
    if (bare_.empty() && (byte < write_next || byte > read_same)) return;
    bare_.push_back(byte);
    if (bare_.size() < 6) return;
    const bool reads = bare_[0] % 2 == 0;
    const std::size_t words = bare_[1];
    if (!reads && words != 0) {
      // each word is written when it is complete
      if (bare_.size() > 6 && bare_.size() % 4 == 2) {
        const std::size_t index = bare_.size() / 4 - 2;
        std::uint32_t value = big_word(std::span(bare_).last(4));
        access(false, address(bare_, index), value);
      }
      if (bare_.size() < 6 + 4 * words) return;
    } else if (reads) {
      for (std::size_t i = 0; i < words; ++i) {
        std::uint32_t value = 0;
        if (access(true, address(bare_, i), value) != 0) value = 0xFFFFFFFF;
        append_big(out_, value);
      }
    }
    bare_.clear();
  }
  static std::uint64_t address(std::span<const std::uint8_t> command, std::size_t index) {
    const bool same = command[0] >= write_same;
    return (std::uint64_t{big_word(command.subspan(2, 4))} + (same ? 0 : index)) * 4;
  }

  void execute(std::span<const std::uint8_t> frame) {
    const std::uint8_t number = frame[0];
    if (number != expected_) {
      if (executed_ && number == static_cast<std::uint8_t>(expected_ - 1)) {
        send(answer_);
      } else {
        send({expected_, static_cast<std::uint8_t>(status_number | (executed_ ? 0 : status_first)), {}});
      }
      return;
    }
    answer_ = {number, executed_ ? std::uint8_t{0} : std::uint8_t{status_first}, {}};
    answer_.status |= commands(frame.subspan(1), answer_.data);
    ++expected_;
    executed_ = true;
    send(answer_);
  }
  std::uint8_t commands(std::span<const std::uint8_t> bytes, std::vector<std::uint8_t>& data) {
    while (!bytes.empty()) {
      if (bytes[0] < write_next || bytes[0] > read_same || bytes.size() < 6) return status_command;
      const auto command = bytes.first(6);
      const bool reads = command[0] % 2 == 0;
      bytes = bytes.subspan(6);
      for (std::size_t i = 0; i < command[1]; ++i) {
        std::uint32_t value = 0;
        if (!reads) {
          if (bytes.size() < 4) return status_command;
          value = big_word(bytes.first(4));
          bytes = bytes.subspan(4);
        }
        if (const std::uint8_t fault = access(reads, address(command, i), value)) return fault;
        if (!reads) continue;
        if (data.size() == sizes_.answer_bytes) return status_command;
        append_big(data, value);
      }
    }
    return 0;
  }

  std::uint8_t access(bool reads, std::uint64_t address, std::uint32_t& value) {
    move_streams();
    if (address < 0x1000) {
      const auto offset = static_cast<std::uint32_t>(address);
      return reads ? target_.read(offset, value) : target_.write(offset, value);
    }
    return reads ? read(address, value) : write(address, value);
  }
  std::uint8_t read(std::uint64_t address, std::uint32_t& value) {
    switch (address) {
      case tx_space:
      case tx_count:
      case rx_count:
        return fifos_.read(static_cast<std::uint32_t>(address) - tx_data, value) ? 0 : status_address;
      case rx_data:
        return fifos_.read(fifo_rx_data, value) ? 0 : status_fifo;
      case bridge_id:
        value = bridge_magic;
        return 0;
      case bridge_version:
        value = bridge_major << 16;
        return 0;
      case bridge_sizes:
        value = sizes_.stream_bytes | (sizes_.request_bytes / 16 - 1) << 8 | (sizes_.answer_bytes / 16 - 1) << 16;
        return 0;
      case board::bad_frames:
        value = static_cast<std::uint16_t>(frames_.bad());
        return 0;
      case board::loop_command:
        value = loop_command_;
        return 0;
      case board::loop_count:
        value = loop_count_;
        return 0;
      case board::loop_state:
        value = loop_state_;
        return 0;
      case board::sink:
        value = sink_;
        return 0;
      case board::result_hash:
        value = hash_;
        return 0;
      case board::loop_cycles:
        value = cycles_;
        return 0;
      default:
        return status_address;
    }
  }
  std::uint8_t write(std::uint64_t address, std::uint32_t value) {
    switch (address) {
      case tx_data:
      case tx_last:
        if (!fifos_.write(static_cast<std::uint32_t>(address) - tx_data, value)) return status_fifo;
        move_streams();
        return 0;
      case fifo_reset:
        fifos_.write(fifo_clear, value);
        return 0;
      case board::loop_command:
        loop_command_ = value;
        return 0;
      case board::loop_count:
        loop(value);
        return 0;
      case board::sink:
        sink_ = value & 1;
        return 0;
      default:
        return status_address;
    }
  }

  /// Begins or ends it.
  void loop(std::uint32_t count) {
    loop_count_ = count;
    if (count == 0) return;
    hash_ = 0;
    loop_state_ = 1;
    while (!steps_ && loop_runs()) step_loop();
  }
  /// Its state after a look at the tile's STATUS.
  std::uint32_t loop_step() {
    constexpr std::uint32_t status = 0x24, compute = 0x44;
    std::uint32_t value = 0;
    if (target_.read(status, value) != 0) return 4;
    if (value >> 12 & 15) return 2;
    if (loop_count_ == 0 && (value & 1) == 0) {
      move_streams();
      return 0;
    }
    for (std::uint32_t room = value >> 8 & 7; room != 0 && loop_count_ != 0; --room, --loop_count_)
      if (target_.write(compute, loop_command_) != 0) return 4;
    move_streams();
    return target_.wait() || loop_count_ != 0 ? 1 : 0;
  }

  struct Answer {
    std::uint8_t number = 0, status = 0;
    std::vector<std::uint8_t> data;
  };
  void send(const Answer& answer) {
    move_streams();
    const std::uint32_t free = fifos_.space(), there = arrived();
    std::vector<std::uint8_t> bytes{answer.number,
                                    answer.status,
                                    static_cast<std::uint8_t>(free >> 8),
                                    static_cast<std::uint8_t>(free),
                                    static_cast<std::uint8_t>(there >> 8),
                                    static_cast<std::uint8_t>(there)};
    bytes.insert(bytes.end(), answer.data.begin(), answer.data.end());
    append_frame(out_, bytes);
  }

  BridgeTarget& target_;
  BridgeSizes sizes_;
  Deframer frames_;
  std::vector<std::uint8_t> out_, bare_;
  AxilFifos fifos_;
  Answer answer_;
  std::uint8_t expected_ = 0;
  bool framed_ = false, locked_ = false, executed_ = false, sink_ = false, steps_ = false;
  std::uint32_t loop_command_ = 0, loop_count_ = 0, loop_state_ = 0, hash_ = 0, cycles_ = 0;
};

}  // namespace narrowgauge::board
