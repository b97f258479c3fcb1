// SPDX-License-Identifier: Apache-2.0
// The driver's port to a tile behind ng_uart_bridge.
#pragma once

#include <deque>
#include <span>
#include <string>

#include "narrowgauge/engines/board/bridge_link.hpp"
#include "narrowgauge/ng_tile.h"

namespace narrowgauge::board {

/// Ticks are microseconds. Must outlive its ng_port_t, and `link` it.
class BridgePort {
 public:
  explicit BridgePort(BridgeLink& link) : link_(link) {}
  ng_port_t port();
  /// What went wrong when a callback returned an error, as a sentence.
  const std::string& error() const { return error_; }

 private:
  static BridgePort& self(void* ctx) { return *static_cast<BridgePort*>(ctx); }
  template <class Call>
  ng_result_t tried(ng_result_t failure, Call call);
  void pump();

  BridgeLink& link_;
  std::span<const std::uint8_t> packet_;
  std::deque<std::uint8_t> results_;
  std::string error_;
};

}  // namespace narrowgauge::board
