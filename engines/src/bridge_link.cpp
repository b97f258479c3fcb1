// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/engines/board/bridge_link.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <utility>

namespace narrowgauge::board {

namespace {

using namespace std::chrono_literals;

constexpr unsigned words_of_byte_count = 255;  // of a command
constexpr std::size_t command_bytes = 6, head_bytes = 6;
constexpr unsigned least_request = 64;  // what the first frames may have
constexpr unsigned growth = 4;          // good frames that make frames longer, twice as long before the first loss
constexpr unsigned step = 32;           // and by so many bytes behind it: a frame that is too long for the line stays
constexpr unsigned least_limit = 24;    // of bytes in a frame: two commands

constexpr const char* reset_text = "the board was reset in the middle of its work; start the product again";

std::string hex(std::uint32_t value) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%X", value);
  return text;
}
std::string milliseconds(Duration d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(d).count()) + " ms";
}

}  // namespace

std::string fault_text(std::uint8_t faults) {
  constexpr std::pair<std::uint8_t, const char*> names[] = {
      {status_refused, "the tile refused an access (SLVERR)"},
      {status_timeout, "the tile did not answer an access"},
      {status_command, "the bridge does not know a command"},
      {status_address, "the bridge has no such register"},
      {status_fifo, "operands found no room, or results were not there"}};
  std::string text;
  for (const auto& [bit, name] : names)
    if (faults & bit) text += (text.empty() ? "" : "; ") + std::string(name);
  return text;
}

BridgeLink::BridgeLink(ByteLine& line, const LinkOptions& options)
    : line_(line), options_(options), deframer_(4096 + 16) {
  if (options.window < 1 || options.window > 64) {
    throw Error("a link's window of " + std::to_string(options.window) + " frames is wrong; expected 1 to 64");
  }
}

// ---- the line

/// The good answers that have come, at once or after at most `wait`.
std::vector<BridgeLink::Answer> BridgeLink::listen(Duration wait) {
  std::array<std::uint8_t, 4096> bytes;
  const std::size_t got = line_.receive(bytes, wait);
  counts_.received_bytes += got;
  const std::uint64_t bad = deframer_.bad();
  std::vector<Answer> answers;
  for (const std::uint8_t byte : std::span(bytes).first(got)) {
    const auto frame = deframer_.take(byte);
    if (!frame || frame->size() < head_bytes) continue;
    const auto& f = *frame;
    answers.push_back({f[0],
                       f[1],
                       std::uint32_t{f[2]} << 8 | f[3],
                       std::uint32_t{f[4]} << 8 | f[5],
                       {f.begin() + head_bytes, f.end()}});
    ++counts_.answers;
    heard_ = line_.now();
  }
  counts_.bad_answers += deframer_.bad() - bad;
  return answers;
}

void BridgeLink::hear(Duration wait) {
  for (const Answer& answer : listen(wait)) take(answer);
}

void BridgeLink::fail(const std::string& why) {
  failed_ = why;
  throw LinkError(why);
}

/// All frames up to this one are; the last of them has been answered, or the board would not say so.
void BridgeLink::executed(std::uint8_t number) {
  while (under_way_ != 0) {
    const bool last = queue_.front().number == number;
    if (!last) ++counts_.unseen;
    queue_.pop_front();
    --under_way_;
    if (last) break;
  }
  wait_more_ = {};
}

void BridgeLink::take(const Answer& answer) {
  const bool refused = (answer.status & status_number) != 0;
  if (refused && (answer.status & status_first)) fail(reset_text);
  const auto begin = queue_.begin(), end = begin + static_cast<std::ptrdiff_t>(under_way_);
  if (refused) {
    // Everything before the expected number is executed. Of a frame that reads the answer is still wanted.
    const auto before = static_cast<std::uint8_t>(answer.number - 1);
    const auto known = std::find_if(begin, end, [&](const Frame& f) { return f.number == before; });
    if (known != end && known->reads) {
      if (known != begin) executed(static_cast<std::uint8_t>(before - 1));
    } else if (known != end) {
      ++counts_.unseen;
      executed(before);
    } else if (under_way_ == 0 || queue_.front().number != answer.number) {
      ++counts_.late_answers;
      return;
    }
    space_ = answer.space;
    arrived_ = answer.arrived;
    // Frames that were sent before the last return are refused, too.
    if (under_way_ == 0) return;
    const bool stale = gone_back_ == queue_.front().number && line_.now() < stale_until_;
    if (!stale) go_back();
    return;
  }
  const auto mine = std::find_if(begin, end, [&](const Frame& f) { return f.number == answer.number; });
  if (mine == end) {
    ++counts_.late_answers;
    return;
  }
  if (answer.status & status_first) fail(reset_text);
  if (!mine->repeated) {
    good_frame();
    // RFC 6298
    const Duration took = std::max(Duration{}, line_.now() - mine->left);
    if (!measured_) {
      round_trip_ = took;
      spread_ = took / 2;
      measured_ = true;
    } else {
      const Duration off = took > round_trip_ ? took - round_trip_ : round_trip_ - took;
      spread_ = (3 * spread_ + off) / 4;
      round_trip_ = (7 * round_trip_ + took) / 8;
    }
  }
  fault_ |= answer.status & static_cast<std::uint8_t>(~(status_first | status_number));
  space_ = answer.space;
  arrived_ = answer.arrived;
  if (mine->reads) data_ = answer.data;
  executed(answer.number);
  gone_back_.reset();
}

// ---- frames

void BridgeLink::transmit(Frame& frame) {
  std::vector<std::uint8_t> bytes{frame.number}, line;
  bytes.insert(bytes.end(), frame.commands.begin(), frame.commands.end());
  append_frame(line, bytes);
  line_.send(line);
  counts_.sent_bytes += line.size();
  line_free_ = std::max(line_free_, line_.now()) + line_.byte_time() * static_cast<int>(line.size());
  frame.left = line_free_;
}

void BridgeLink::good_frame() {
  if (++good_ < growth) return;
  good_ = 0;
  limit_ = std::min(lossy_ ? limit_ + step : 2 * limit_, std::max(request_bytes_, answer_bytes_));
}

void BridgeLink::bad_frame() {
  good_ = 0;
  lossy_ = true;
  limit_ = std::max(limit_ / 2, least_limit);
}

void BridgeLink::go_back() {
  bad_frame();
  gone_back_ = queue_.front().number;
  stale_until_ = std::max(line_free_, line_.now()) + round_trip_ + 2 * spread_ + options_.shortest / 4;
  for (std::size_t i = 0; i < under_way_; ++i) {
    queue_[i].repeated = true;
    ++counts_.repeated;
    transmit(queue_[i]);
  }
}

void BridgeLink::close() {
  if (building_.commands.empty()) return;
  building_.number = number_++;
  queue_.push_back(std::move(building_));
  building_ = {};
}

void BridgeLink::send_waiting() {
  while (under_way_ < queue_.size() && under_way_ < options_.window &&
         (under_way_ == 0 || !queue_[under_way_ - 1].reads)) {
    if (under_way_ == 0) heard_ = line_.now();
    transmit(queue_[under_way_++]);
    ++counts_.frames;
  }
}

void BridgeLink::service(Duration wait) {
  if (!failed_.empty()) throw LinkError(failed_);
  send_waiting();
  hear({});
  const std::uint64_t answers = counts_.answers;
  if (under_way_ != 0 && wait > Duration{}) {
    const auto bytes = [&](std::size_t count) { return line_.byte_time() * static_cast<int>(count); };
    const Duration measured = measured_ ? round_trip_ + 4 * spread_ : Duration{50ms};
    const Duration due = queue_.front().left + std::max(options_.shortest, measured) +
                         bytes(std::min(limit_, answer_bytes_) + 20) + wait_more_;
    if (const Duration now = line_.now(); now < due) hear(std::min(wait, due - now));
    if (counts_.answers == answers && line_.now() >= due) {
      const Duration silent = line_.now() - heard_;
      if (silent > options_.patience + bytes(std::size_t{options_.window} * request_bytes_)) {
        fail("the board has not answered for " + milliseconds(silent) +
             "; look after its cable and its power, and whether the rate is the image's");
      }
      wait_more_ = std::min(2 * wait_more_ + options_.shortest, options_.patience / 64);
      go_back();
    }
  }
  send_waiting();
}

void BridgeLink::settle() {
  close();
  while (!queue_.empty()) service(options_.patience);
}

std::uint8_t BridgeLink::take_fault() { return std::exchange(fault_, std::uint8_t{0}); }

// ---- commands

/// Begins a command in the frame.
void BridgeLink::command(Command command, std::uint32_t address, std::size_t words) {
  last_command_ = building_.commands.size();
  building_.commands.push_back(command);
  building_.commands.push_back(static_cast<std::uint8_t>(words));
  append_big(building_.commands, address / 4);
}

void BridgeLink::write(std::uint32_t address, std::uint32_t value) {
  auto& bytes = building_.commands;
  if (frame_room() < command_bytes + 4) close();
  const auto last = [&] { return std::span(bytes).subspan(last_command_); };
  if (!bytes.empty() && bytes[last_command_] == write_next && bytes[last_command_ + 1] != words_of_byte_count &&
      big_word(last().subspan(2)) + bytes[last_command_ + 1] == address / 4) {
    ++bytes[last_command_ + 1];
  } else {
    command(write_next, address, 1);
  }
  append_big(bytes, value);
  if (queue_.size() > under_way_ + 1) service({});
}

std::uint32_t BridgeLink::room() const {
  std::uint32_t taken = building_.operands;
  for (const Frame& frame : queue_) taken += frame.operands;
  const std::uint32_t room = space_ > taken ? space_ - taken : 0;
  const bool more_soon = under_way_ != 0 && taken != 0;
  return more_soon && room < std::min(limit_, request_bytes_) / 16 ? 0 : room;
}

void BridgeLink::write_operands(std::span<const std::uint8_t> bytes, bool last) {
  std::size_t at = 0;
  const std::size_t end = bytes.size() - (last ? 4 : 0);
  while (at < end) {
    if (frame_room() < command_bytes + 4) close();
    const std::size_t words =
        std::min<std::size_t>({(end - at) / 4, (frame_room() - command_bytes) / 4, std::size_t{words_of_byte_count}});
    command(write_same, tx_data, words);
    for (std::size_t i = 0; i < words; ++i, at += 4) append_big(building_.commands, little_word(bytes.subspan(at)));
    building_.operands += static_cast<std::uint32_t>(words);
  }
  if (last) {
    if (frame_room() < command_bytes + 4) close();
    command(write_same, tx_last, 1);
    append_big(building_.commands, little_word(bytes.subspan(at)));
    ++building_.operands;
  }
  service({});
}

std::vector<std::uint8_t> BridgeLink::ask() {
  building_.reads = true;
  close();
  data_.reset();
  while (!data_) service(options_.patience);
  return *data_;
}

std::uint32_t BridgeLink::read(std::uint32_t address) {
  if (frame_room() < command_bytes) close();
  command(read_next, address, 1);
  const auto data = ask();
  return data.size() == 4 ? big_word(data) : 0;
}

std::vector<std::uint32_t> BridgeLink::read_results(unsigned words) {
  std::vector<std::uint32_t> got;
  if (frame_room() < command_bytes * (words / words_of_byte_count + 1)) close();
  for (unsigned left = words; left != 0;) {
    const unsigned now = std::min(left, words_of_byte_count);
    command(read_same, rx_data, now);
    left -= now;
  }
  const auto data = ask();
  for (std::size_t i = 0; i + 4 <= data.size(); i += 4) got.push_back(big_word(std::span(data).subspan(i)));
  return got;
}

void BridgeLink::poll() {
  close();
  if (queue_.empty()) {
    queue_.emplace_back().number = number_++;
  }
  const std::uint64_t answers = counts_.answers;
  while (counts_.answers == answers && !queue_.empty()) service(options_.patience);
}

// ---- the beginning

void BridgeLink::wait_for_silence() {
  constexpr Duration enough = 10ms;
  for (Duration since = line_.now(); line_.now() - since < enough;) {
    const std::uint64_t before = counts_.received_bytes;
    listen(enough);
    if (counts_.received_bytes != before) since = line_.now();
  }
}

/// A frame outside of the queue, and the newest answer that has come for it or for another one. Flags in front of it: a
/// board that was reset takes bytes without one for bare commands.
std::optional<BridgeLink::Answer> BridgeLink::probe(std::uint8_t number, std::span<const std::uint8_t> commands) {
  std::vector<std::uint8_t> bytes{number}, line(4, frame_flag);
  bytes.insert(bytes.end(), commands.begin(), commands.end());
  append_frame(line, bytes);
  line_.send(line);
  counts_.sent_bytes += line.size();
  const Duration until = line_.now() + 60ms + line_.byte_time() * 64;
  while (line_.now() < until)
    if (auto answers = listen(until - line_.now()); !answers.empty()) return std::move(answers.back());
  return std::nullopt;
}

/// Of the board's next frame.
std::uint8_t BridgeLink::find_number() {
  constexpr std::uint8_t first = 0xAA, second = 0x2A;
  for (const Duration begin = line_.now(); line_.now() - begin <= options_.patience;) {
    wait_for_silence();
    // One of the two numbers is neither the expected one nor the one before, and so is answered with what is expected.
    if (!probe(first)) continue;
    const auto answer = probe(second);
    if (!answer) continue;
    wait_for_silence();
    return (answer->status & status_number) ? answer->number : static_cast<std::uint8_t>(second + 1);
  }
  throw LinkError(
      "there is no bridge on this line: nothing answers; look after the board's cable and power, whether it has a "
      "Narrowgauge image, and whether the rate is the image's");
}

void BridgeLink::connect() {
  queue_.clear();
  building_ = {};
  under_way_ = 0;
  gone_back_.reset();
  measured_ = lossy_ = false;
  limit_ = least_request;
  wait_more_ = {};
  failed_.clear();
  fault_ = 0;
  number_ = find_number();
  std::vector<std::uint8_t> identity{read_next, 3};
  append_big(identity, bridge_id / 4);
  std::optional<Answer> answer;
  for (const Duration begin = line_.now();;) {
    if (line_.now() - begin > options_.patience) throw LinkError("the bridge on this line stopped to answer");
    answer = probe(number_, identity);
    if (!answer) continue;
    if (!(answer->status & status_number) && answer->number == number_) break;
    if (answer->status & status_number) number_ = answer->number;
  }
  ++number_;
  space_ = answer->space;
  arrived_ = answer->arrived;
  wait_for_silence();
  const std::span data(answer->data);
  if (data.size() != 12 || big_word(data) != bridge_magic) {
    throw LinkError("what answers on this line is no bridge of Narrowgauge" +
                    (data.size() >= 4 ? ": its BRIDGE_ID is " + hex(big_word(data)) + "; expected " + hex(bridge_magic)
                                      : std::string{}));
  }
  if (const std::uint32_t version = big_word(data.subspan(4)); version >> 16 != bridge_major) {
    throw LinkError("the bridge has version " + std::to_string(version >> 16) + "." + std::to_string(version & 0xFFFF) +
                    "; expected " + std::to_string(bridge_major) + ": take an image and a program of one release");
  }
  const std::uint32_t sizes = big_word(data.subspan(8));
  stream_bytes_ = sizes & 0xFF;
  request_bytes_ = ((sizes >> 8 & 0xFF) + 1) * 16;
  answer_bytes_ = ((sizes >> 16 & 0xFF) + 1) * 16;
}

}  // namespace narrowgauge::board
