// SPDX-License-Identifier: Apache-2.0
// The host's end of the line to ng_uart_bridge (docs/units/uart_bridge.md): commands in frames, each executed exactly
// once, whatever the line does to bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "narrowgauge/board/link_frame.hpp"
#include "narrowgauge/engines/board/byte_line.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge::board {

/// The line or the board has failed: what is under way is lost.
class LinkError : public Error {
 public:
  using Error::Error;
};

struct LinkOptions {
  unsigned window = 8;                          ///< frames of writes that are sent before an answer has come, 1 to 64
  Duration patience = std::chrono::seconds(2);  ///< without any answer: the board is given up
  Duration shortest = std::chrono::milliseconds(2);  ///< the least time that an answer is waited for
};

struct LinkCounts {
  std::uint64_t frames = 0;          ///< sent for the first time
  std::uint64_t repeated = 0;        ///< sent again
  std::uint64_t answers = 0;         ///< good ones
  std::uint64_t bad_answers = 0;     ///< damaged on the line
  std::uint64_t late_answers = 0;    ///< of frames that were answered before
  std::uint64_t unseen = 0;          ///< frames whose own answer was lost, known to be executed by a later one
  std::uint64_t sent_bytes = 0;      ///< on the line
  std::uint64_t received_bytes = 0;  ///< on the line
};

/// Writes are posted: they travel in frames of many, up to `window` of which go behind each other, and a fault of one
/// is told by a later call. A read waits for its answer, and for all writes before it. Lost and damaged frames are sent
/// again, from the one that the board expects on (go back N). Frames grow while none is lost, and shrink where one is.
class BridgeLink {
 public:
  /// `line` must outlive it. Call connect() first.
  explicit BridgeLink(ByteLine& line, const LinkOptions& options = {});

  /// Finds the board's number of the next frame, and its sizes. Throws LinkError if nothing answers, or something else
  /// than a bridge of this major version.
  void connect();
  unsigned stream_bytes() const { return stream_bytes_; }
  /// Words that are worth reading at once: what an answer holds, less where the line damages long ones.
  unsigned read_words() const { return std::min(limit_, answer_bytes_) / 4; }

  /// Queues a write. Throws LinkError as service() does.
  void write(std::uint32_t address, std::uint32_t value);
  /// Queues words of operands, the last of them with TLAST where `last`: at most room().
  void write_operands(std::span<const std::uint8_t> bytes, bool last);
  /// What can be queued of operands, in words of four bytes; 0 where it is little and soon more, for longer frames.
  std::uint32_t room() const;
  /// Sends what is queued and waits for the word at `address`. A fault of it or of a write before: see take_fault().
  std::uint32_t read(std::uint32_t address);
  /// The same for `words` results, at most read_words(), which must be there.
  std::vector<std::uint32_t> read_results(unsigned words);
  /// Words of results that were there at the last answer, and have not been read.
  std::uint32_t arrived() const { return arrived_; }
  /// Asks the board for room() and arrived().
  void poll();

  /// Sends queued writes as far as the window allows; answers that have come are heard, and if none has, waited for up
  /// to `wait`. Throws LinkError if the board is silent for too long or was reset.
  void service(Duration wait = {});
  /// Waits until every frame is answered.
  void settle();
  /// Faults (Status) that answers have had since the last call.
  std::uint8_t take_fault();

  const LinkCounts& counts() const { return counts_; }
  ByteLine& line() { return line_; }

 private:
  struct Frame {
    std::vector<std::uint8_t> commands;
    std::uint8_t number = 0;
    std::uint32_t operands = 0;  ///< words
    bool reads = false, repeated = false;
    Duration left{};  ///< when its last byte has
  };
  struct Answer {
    std::uint8_t number, status;
    std::uint32_t space, arrived;
    std::vector<std::uint8_t> data;
  };

  std::size_t frame_room() const {
    const std::size_t most = std::min(limit_, request_bytes_ - 5), used = building_.commands.size();
    return most > used ? most - used : 0;
  }
  void good_frame();
  void bad_frame();
  void command(Command command, std::uint32_t address, std::size_t words);
  void close();  ///< the frame that is being built waits for the line
  void transmit(Frame& frame);
  void go_back();
  std::vector<Answer> listen(Duration wait);
  void hear(Duration wait);  ///< and take what has come
  void wait_for_silence();
  std::optional<Answer> probe(std::uint8_t number, std::span<const std::uint8_t> commands = {});
  std::uint8_t find_number();
  void take(const Answer& answer);
  void executed(std::uint8_t number);
  std::vector<std::uint8_t> ask();  ///< sends what is queued and waits for the answer to the last frame
  void send_waiting();
  [[noreturn]] void fail(const std::string& why);

  ByteLine& line_;
  LinkOptions options_;
  Deframer deframer_;
  Frame building_;
  std::deque<Frame> queue_;  ///< `under_way_` of them sent, then those that wait
  std::size_t under_way_ = 0;
  std::size_t last_command_ = 0;                   ///< where it begins in building_
  std::uint8_t number_ = 0;                        ///< of the next frame
  std::optional<std::uint8_t> gone_back_;          ///< to this number, and no answer has come since
  std::optional<std::vector<std::uint8_t>> data_;  ///< of the answer to a frame that reads
  std::uint8_t fault_ = 0;
  std::string failed_;  ///< why it has; until connect()
  std::uint32_t space_ = 0, arrived_ = 0;
  unsigned stream_bytes_ = 4, request_bytes_ = 64, answer_bytes_ = 64;
  unsigned limit_ = 64;  ///< bytes of commands in a frame, and of words in an answer: long ones do not pass a bad line
  unsigned good_ = 0;    ///< frames in a row that were not sent again
  bool lossy_ = false;   ///< one was, since connect()
  Duration line_free_{}, heard_{}, stale_until_{}, round_trip_{}, spread_{}, wait_more_{};
  bool measured_ = false;
  LinkCounts counts_;
};

/// The meaning of faults as words.
std::string fault_text(std::uint8_t faults);

}  // namespace narrowgauge::board
