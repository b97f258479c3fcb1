// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/engines/board/bridge_port.hpp"

#include <algorithm>

namespace narrowgauge::board {

/// What `call` says, or `failure` where the link failed or the board told of a fault.
template <class Call>
ng_result_t BridgePort::tried(ng_result_t failure, Call call) {
  try {
    const ng_result_t result = call();
    if (const std::uint8_t fault = link_.take_fault()) {
      error_ = fault_text(fault);
      return failure;
    }
    return result;
  } catch (const LinkError& failed) {
    error_ = failed.what();
    return failure;
  }
}

/// Moves on what there is room for of the packet under way.
void BridgePort::pump() {
  link_.service({});
  while (!packet_.empty()) {
    const std::size_t bytes = std::min(packet_.size(), std::size_t{link_.room()} * 4);
    if (bytes == 0) return;
    link_.write_operands(packet_.first(bytes), bytes == packet_.size());
    packet_ = packet_.subspan(bytes);
  }
}

ng_port_t BridgePort::port() {
  return {.ctx = this,
          .read32 =
              [](void* ctx, std::uint32_t address, std::uint32_t* value) {
                BridgePort& port = self(ctx);
                return port.tried(NG_ERROR_BUS, [&] {
                  *value = port.link_.read(address);
                  return NG_OK;
                });
              },
          .write32 =
              [](void* ctx, std::uint32_t address, std::uint32_t value) {
                BridgePort& port = self(ctx);
                return port.tried(NG_ERROR_BUS, [&] {
                  port.link_.write(address, value);
                  return NG_OK;
                });
              },
          .stream_send =
              [](void* ctx, const void* data, std::size_t bytes) {
                BridgePort& port = self(ctx);
                return port.tried(NG_ERROR_STREAM, [&] {
                  port.pump();
                  if (!port.packet_.empty()) return NG_BUSY;
                  if (bytes == 0 || bytes % port.link_.stream_bytes() != 0) {
                    port.error_ = "a packet of " + std::to_string(bytes) + " bytes; expected whole stream words of " +
                                  std::to_string(port.link_.stream_bytes());
                    return NG_ERROR_STREAM;
                  }
                  port.packet_ = {static_cast<const std::uint8_t*>(data), bytes};
                  port.pump();
                  return NG_OK;
                });
              },
          .stream_send_done =
              [](void* ctx, bool* done) {
                BridgePort& port = self(ctx);
                return port.tried(NG_ERROR_STREAM, [&] {
                  port.pump();
                  *done = port.packet_.empty();
                  return NG_OK;
                });
              },
          .stream_receive =
              [](void* ctx, void* buffer, std::size_t bytes, std::size_t* arrived) {
                BridgePort& port = self(ctx);
                return port.tried(NG_ERROR_STREAM, [&] {
                  port.pump();
                  const std::size_t word = port.link_.stream_bytes();
                  if (port.results_.size() < word && port.link_.arrived() != 0) {
                    const unsigned words = std::min(port.link_.arrived(), port.link_.read_words());
                    for (const std::uint32_t w : port.link_.read_results(words))
                      for (int byte = 0; byte < 4; ++byte)
                        port.results_.push_back(static_cast<std::uint8_t>(w >> 8 * byte));
                  }
                  const std::size_t count = std::min(bytes, port.results_.size()) / word * word;
                  std::copy_n(port.results_.begin(), count, static_cast<std::uint8_t*>(buffer));
                  port.results_.erase(port.results_.begin(),
                                      port.results_.begin() + static_cast<std::ptrdiff_t>(count));
                  *arrived = count;
                  return NG_OK;
                });
              },
          .stream_reset =
              [](void* ctx) {
                BridgePort& port = self(ctx);
                return port.tried(NG_ERROR_STREAM, [&] {
                  port.packet_ = {};
                  port.results_.clear();
                  port.link_.write(fifo_reset, 0);
                  port.link_.settle();
                  port.link_.take_fault();  // of what was under way
                  port.link_.poll();
                  return NG_OK;
                });
              },
          .ticks =
              [](void* ctx) {
                const Duration now = self(ctx).link_.line().now();
                return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
              },
          .idle =
              [](void* ctx) {
                BridgePort& port = self(ctx);
                // the next callback tells what went wrong: the link stays failed
                try {
                  port.pump();
                  port.link_.poll();
                } catch (const LinkError& failed) {
                  port.error_ = failed.what();
                }
              }};
}

}  // namespace narrowgauge::board
