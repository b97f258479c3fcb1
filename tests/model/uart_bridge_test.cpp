// SPDX-License-Identifier: Apache-2.0
// Frames on the serial line and the golden bridge behind it.
#include "narrowgauge/board/uart_bridge.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace narrowgauge::board {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Registers that keep what is written; 0x900 refuses.
class Memory final : public BridgeTarget {
 public:
  std::uint8_t read(std::uint32_t offset, std::uint32_t& value) override {
    if (offset == 0x900) return status_refused;
    value = words[offset];
    return 0;
  }
  std::uint8_t write(std::uint32_t offset, std::uint32_t value) override {
    ++writes;
    words[offset] = value;
    return 0;
  }
  bool take(std::span<const std::uint8_t> word, bool last) override {
    operands.insert(operands.end(), word.begin(), word.end());
    ends += last;
    return true;
  }
  std::optional<Bytes> give() override { return std::nullopt; }

  std::map<std::uint32_t, std::uint32_t> words;
  unsigned writes = 0, ends = 0;
  Bytes operands;
};

Bytes frame(std::initializer_list<std::uint8_t> bytes) {
  Bytes line;
  append_frame(line, Bytes(bytes));
  return line;
}

struct Answer {
  unsigned number, status, space, arrived;
  Bytes words;
};

class UartBridgeTest : public testing::Test {
 protected:
  Bytes send(const Bytes& bytes) {
    Bytes out;
    for (const std::uint8_t byte : bytes) {
      const Bytes more = bridge.byte(byte);
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }
  std::optional<Answer> ask(const Bytes& line) {
    Deframer deframer(1024);
    for (const std::uint8_t byte : send(line))
      if (const auto got = deframer.take(byte)) {
        const auto& b = *got;
        return Answer{b[0], b[1], unsigned{b[2]} << 8 | b[3], unsigned{b[4]} << 8 | b[5],
                      Bytes(b.begin() + 6, b.end())};
      }
    return std::nullopt;
  }

  Memory memory;
  UartBridge bridge{memory};
};

// The check value of CRC-32 (ISO-HDLC) in the catalogue of parametrised CRC algorithms.
TEST(LinkFrame, CrcHasItsCheckValueAndResidue) {
  std::uint32_t crc = crc32_start;
  for (const char c : std::string_view("123456789")) crc = crc32_next(crc, static_cast<std::uint8_t>(c));
  EXPECT_EQ(~crc, 0xCBF43926U);
  for (int i = 0; i < 4; ++i) crc = crc32_next(crc, static_cast<std::uint8_t>(0xCBF43926U >> 8 * i));
  EXPECT_EQ(crc, crc32_residue);
}

TEST(LinkFrame, FlagsAndEscapesTravelEscaped) {
  const Bytes line = frame({frame_flag, 1, frame_escape, 2});
  EXPECT_EQ(Bytes(line.begin(), line.begin() + 7), (Bytes{0x7E, 0x7D, 0x5E, 1, 0x7D, 0x5D, 2}));
  Deframer deframer(16);
  std::optional<std::span<const std::uint8_t>> got;
  for (const std::uint8_t byte : line) got = deframer.take(byte);
  ASSERT_TRUE(got);
  EXPECT_EQ(Bytes(got->begin(), got->end()), (Bytes{frame_flag, 1, frame_escape, 2}));
}

// Every bit of a frame, its CRC's and its flags' included.
TEST(LinkFrame, NoSingleFaultPasses) {
  const Bytes line = frame({0, 1, 1, 0, 0, 0, 0x10, 0x12, 0x34, 0x56, 0x78});
  for (std::size_t bit = 0; bit < 8 * line.size(); ++bit) {
    Bytes faulty = line;
    faulty[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    Deframer deframer(64);
    bool good = false;
    for (const std::uint8_t byte : faulty) good |= deframer.take(byte).has_value();
    EXPECT_FALSE(good && bit >= 8) << "bit " << bit;  // without the first flag a frame may begin at once
  }
}

// As LiteX's RemoteClient sends them: command, words, address / 4, words, high bytes first.
TEST_F(UartBridgeTest, BareCommandsAreThoseOfUartBone) {
  EXPECT_TRUE(send({1, 2, 0, 0, 0, 0x11, 1, 2, 3, 4, 5, 6, 7, 8}).empty());
  EXPECT_EQ(memory.words[0x44], 0x01020304U);
  EXPECT_EQ(memory.words[0x48], 0x05060708U);
  EXPECT_EQ(send({2, 2, 0, 0, 0, 0x11}), (Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(send({4, 2, 0, 0, 0, 0x11}), (Bytes{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(send({2, 1, 0, 0, 4, 8}), (Bytes{0x4E, 0x47, 0x42, 0x31}));
  EXPECT_EQ(send({2, 1, 0, 0, 2, 0x40}), (Bytes{0xFF, 0xFF, 0xFF, 0xFF}));  // refused
}

TEST_F(UartBridgeTest, AFrameIsExecutedOnce) {
  const Bytes write = frame({0, 3, 1, 0, 0, 0, 0x10, 0, 0, 0, 7, 4, 1, 0, 0, 0, 0x10});
  const auto first = ask(write), again = ask(write);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->number, 0U);
  EXPECT_EQ(first->status, status_first);
  EXPECT_EQ(first->words, (Bytes{0, 0, 0, 7}));
  EXPECT_EQ(again->words, first->words);
  EXPECT_EQ(again->status, first->status);
  EXPECT_EQ(memory.writes, 1U);
  const auto other = ask(frame({9}));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->status, status_number);
  EXPECT_EQ(other->number, 1U);  // the expected one
}

TEST_F(UartBridgeTest, BareBytesAreRefusedBehindAFrame) {
  ASSERT_TRUE(ask(frame({0})));
  EXPECT_TRUE(send({2, 1, 0, 0, 4, 8}).empty());
  EXPECT_TRUE(bridge.locked());
}

TEST_F(UartBridgeTest, TheFirstFaultEndsAFrame) {
  const auto answer = ask(frame({0, 2, 1, 0, 0, 4, 8, 2, 1, 0, 0, 2, 0x40, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, status_refused | status_first);
  EXPECT_EQ(answer->words.size(), 4U);
  EXPECT_EQ(memory.writes, 0U);
  EXPECT_EQ(ask(frame({1, 2, 1, 0, 0}))->status, status_command);
  EXPECT_EQ(ask(frame({2, 1, 1, 0, 0, 4, 8, 0, 0, 0, 0}))->status, status_address);
  EXPECT_EQ(ask(frame({3, 2, 1, 0, 0, 4, 4}))->status, status_fifo);
}

TEST_F(UartBridgeTest, PacketsOfOperandsAreFilledToStreamWords) {
  UartBridge wide(memory, {.stream_bytes = 8});
  for (const std::uint8_t byte : Bytes{1, 1, 0, 0, 4, 0, 4, 3, 2, 1, 1, 2, 0, 0, 4, 0, 8, 7, 6, 5, 12, 11, 10, 9})
    wide.byte(byte);
  EXPECT_EQ(memory.operands, (Bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 0}));
  EXPECT_EQ(memory.ends, 1U);
}

}  // namespace
}  // namespace narrowgauge::board
