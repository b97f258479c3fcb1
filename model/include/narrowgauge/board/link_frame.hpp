// SPDX-License-Identifier: Apache-2.0
// Frames on the serial line between a host and ng_uart_bridge (docs/units/uart_bridge.md):
//   7E number commands crc32 7E               to the board
//   7E number status space arrived data crc32 7E   from it; space and arrived are two bytes each, the high one first
// A byte 7E or 7D travels as 7D and itself ^ 20 (RFC 1662, 4.2). The CRC-32 is that of IEEE 802.3 over all bytes before
// it, its lowest byte first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace narrowgauge::board {

inline constexpr std::uint8_t frame_flag = 0x7E, frame_escape = 0x7D, frame_flip = 0x20;

/// Bits of an answer's status.
enum Status : std::uint8_t {
  status_refused = 0x01,  ///< the tile refused a register (SLVERR)
  status_timeout = 0x02,  ///< the tile did not answer
  status_command = 0x04,  ///< no such command, one that is cut off, or one that reads more than an answer holds
  status_address = 0x08,  ///< no such register, or not in this direction
  status_fifo = 0x10,     ///< no room for operands, or no results to read
  status_number = 0x40,   ///< the number was not the expected one, which the answer has; nothing was executed
  status_first = 0x80     ///< the first frame since the board's reset, or none was executed yet
};

/// Commands of LiteX's UARTBone: a byte of command, one of words, four of the first word's address (a byte address
/// divided by four, the high byte first), and of writes the words, each with its high byte first.
enum Command : std::uint8_t { write_next = 1, read_next = 2, write_same = 3, read_same = 4 };

/// Byte addresses on the bridge. The tile's registers begin at 0.
enum Register : std::uint32_t {
  tx_data = 0x1000,  ///< to results of ng_fifo_port.h at the same offsets
  tx_last = 0x1004,
  tx_space = 0x1008,
  tx_count = 0x100C,
  rx_data = 0x1010,
  rx_count = 0x1014,
  fifo_reset = 0x1018,
  bridge_id = 0x1020,       ///< "NGB1"
  bridge_version = 0x1024,  ///< major[31:16] minor[15:0]
  bridge_sizes = 0x1028,  ///< bytes of a stream word [7:0], of a request / 16 - 1 [15:8], of an answer / 16 - 1 [23:16]
  bad_frames = 0x102C,    ///< frames that were dropped; wraps at 2^16
  loop_command = 0x1030,  ///< what the loop writes to COMPUTE
  loop_count = 0x1034,    ///< how often it still does; a write starts it
  loop_state = 0x1038,    ///< 1 runs, 2 stopped by the tile's error, 4 by the bus
  sink = 0x103C,          ///< 1: results are hashed and dropped
  result_hash = 0x1040,   ///< of results dropped since the loop began
  loop_cycles = 0x1044    ///< clocks of the loop; wraps
};
inline constexpr std::uint32_t bridge_magic = 0x4E474231, bridge_major = 1;

/// A word of a command or an answer, its high byte first.
constexpr std::uint32_t big_word(std::span<const std::uint8_t> b) {
  return b[3] | std::uint32_t{b[2]} << 8 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[0]} << 24;
}
inline void append_big(std::vector<std::uint8_t>& bytes, std::uint32_t word) {
  for (int i = 3; i >= 0; --i) bytes.push_back(static_cast<std::uint8_t>(word >> 8 * i));
}
/// A word of operands or results, its low byte first.
constexpr std::uint32_t little_word(std::span<const std::uint8_t> b) {
  return b[0] | std::uint32_t{b[1]} << 8 | std::uint32_t{b[2]} << 16 | std::uint32_t{b[3]} << 24;
}

/// The register of a CRC-32 behind one more byte; all ones at the start, inverted at the end.
constexpr std::uint32_t crc32_step(std::uint32_t crc, std::uint8_t byte) {
  crc ^= byte;
  for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0U);
  return crc;
}
inline constexpr std::array<std::uint32_t, 256> crc32_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) table[i] = crc32_step(0, static_cast<std::uint8_t>(i));
  return table;
}();
constexpr std::uint32_t crc32_next(std::uint32_t crc, std::uint8_t byte) {
  return crc >> 8 ^ crc32_table[(crc ^ byte) & 0xFF];
}
inline constexpr std::uint32_t crc32_start = 0xFFFFFFFF;
inline constexpr std::uint32_t crc32_residue = 0xDEBB20E3;  ///< of bytes and their CRC

/// The hash of results: of 32-bit words in the order in which they leave the tile, from `hash` on.
constexpr std::uint32_t result_hash_next(std::uint32_t hash, std::uint32_t word) {
  return hash << 1 ^ (hash >> 31 ? 0x04C11DB7U : 0U) ^ word;
}

/// A frame with flags, escapes and CRC of these bytes, appended to `line`.
inline void append_frame(std::vector<std::uint8_t>& line, std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = crc32_start;
  const auto put = [&](std::uint8_t byte) {
    if (byte == frame_flag || byte == frame_escape) {
      line.push_back(frame_escape);
      byte ^= frame_flip;
    }
    line.push_back(byte);
  };
  line.push_back(frame_flag);
  for (const std::uint8_t byte : bytes) {
    crc = crc32_next(crc, byte);
    put(byte);
  }
  for (int i = 0; i < 4; ++i) put(static_cast<std::uint8_t>(~crc >> 8 * i));
  line.push_back(frame_flag);
}

/// Finds frames in the bytes of a line.
class Deframer {
 public:
  /// At most `longest` bytes with number and CRC.
  explicit Deframer(std::size_t longest) : longest_(longest) {}

  /// A byte that has come. The bytes of the good frame that ends with it, without its CRC, until the next call.
  std::optional<std::span<const std::uint8_t>> take(std::uint8_t byte) {
    if (byte == frame_flag) {
      const bool any = !bytes_.empty() || bad_;
      const bool good = !bad_ && !escape_ && bytes_.size() >= 5 && crc_ == crc32_residue;
      done_.swap(bytes_);
      restart();
      if (!any) return std::nullopt;
      if (!good) {
        ++bad_frames_;
        return std::nullopt;
      }
      return std::span<const std::uint8_t>(done_).first(done_.size() - 4);
    }
    if (byte == frame_escape) {
      escape_ = true;
      return std::nullopt;
    }
    if (escape_) byte ^= frame_flip;
    escape_ = false;
    bad_ |= bytes_.size() == longest_;
    if (!bad_) {
      bytes_.push_back(byte);
      crc_ = crc32_next(crc_, byte);
    }
    return std::nullopt;
  }
  /// What has come of a frame is part of no frame any more.
  void restart() {
    bytes_.clear();
    crc_ = crc32_start;
    bad_ = escape_ = false;
  }
  /// A byte was lost.
  void spoil() { bad_ = true; }
  bool within() const { return !bytes_.empty() || bad_ || escape_; }
  std::uint64_t bad() const { return bad_frames_; }

 private:
  std::size_t longest_;
  std::vector<std::uint8_t> bytes_, done_;
  std::uint32_t crc_ = crc32_start;
  bool bad_ = false, escape_ = false;
  std::uint64_t bad_frames_ = 0;
};

}  // namespace narrowgauge::board
