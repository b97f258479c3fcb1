// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/engines/board/simulated_line.hpp"

#include <algorithm>
#include <cmath>

#include "narrowgauge/error.hpp"

namespace narrowgauge::board {

LineFaults::LineFaults(double rate, std::uint64_t seed)
    : random_(seed), threshold_(static_cast<std::uint64_t>(std::ldexp(rate, 53))) {
  if (!(rate >= 0 && rate <= 1))
    throw Error("a share of bytes with faults of " + std::to_string(rate) + " is wrong; expected 0 to 1");
}

std::vector<LineFaults::Byte> LineFaults::pass(std::uint8_t byte) {
  if (threshold_ == 0 || random_() >> 11 >= threshold_) return {{byte, false}};
  const std::uint64_t drawn = random_();
  switch (drawn % 8) {
    case 0:
      return {};
    case 1:
      return {{byte, false}, {byte, false}};
    case 2:
      return {{byte, true}};
    default:
      return {{static_cast<std::uint8_t>(byte ^ 1U << (drawn >> 8) % 8), false}};
  }
}

SimulatedLine::SimulatedLine(UartBridge& board, const SimulatedLineOptions& options)
    : board_(board),
      to_board_(options.faults, options.seed),
      from_board_(options.faults, options.seed ^ 0x9E3779B97F4A7C15ULL),
      latency_(options.latency),
      byte_time_(10'000'000'000LL / options.baud) {}

void SimulatedLine::send(std::span<const std::uint8_t> bytes) {
  host_free_ = std::max(host_free_, now_);
  for (const std::uint8_t byte : bytes) {
    host_free_ += byte_time_;
    if (cut) continue;
    for (const auto& [value, broken] : to_board_.pass(byte)) to_.push_back({host_free_, value, broken});
  }
}

/// What happens until then.
void SimulatedLine::advance(Duration until) {
  while (!to_.empty() && to_.front().at <= until) {
    const Event event = to_.front();
    to_.pop_front();
    if (elapse && event.at > now_) elapse(event.at - now_);
    now_ = std::max(now_, event.at);
    if (before_byte) before_byte();
    if (event.broken) {
      board_.broken_byte();
      continue;
    }
    board_free_ = std::max(board_free_, now_);
    for (const std::uint8_t sent : board_.byte(event.byte)) {
      board_free_ += byte_time_;
      for (const auto& [value, broken] : from_board_.pass(sent))
        from_.push_back({board_free_ + latency_, value, broken});
    }
  }
  if (until > now_) {
    if (elapse) elapse(until - now_);
    now_ = until;
  }
}

std::size_t SimulatedLine::receive(std::span<std::uint8_t> out, Duration wait) {
  const Duration end = now_ + wait;
  const auto arrived = [&] { return !from_.empty() && from_.front().at <= now_; };
  // byte by byte: an answer may come before the end of what is on its way to the board
  while (!arrived() && now_ < end) {
    Duration next = end;
    if (!to_.empty()) next = std::min(next, to_.front().at);
    if (!from_.empty()) next = std::min(next, from_.front().at);
    advance(std::max(next, now_));
  }
  std::size_t count = 0;
  for (; count < out.size() && arrived(); from_.pop_front()) {
    // a receiver drops a byte without a stop bit
    if (!from_.front().broken) out[count++] = from_.front().byte;
  }
  return count;
}

}  // namespace narrowgauge::board
