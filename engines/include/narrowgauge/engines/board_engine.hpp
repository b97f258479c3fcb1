// SPDX-License-Identifier: Apache-2.0
// The engine board: matrix products on a tile behind a serial line, through the firmware's driver.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "narrowgauge/engines/board/bridge_link.hpp"
#include "narrowgauge/engines/engine.hpp"

namespace narrowgauge {

struct BoardOptions {
  std::string port;           ///< serial device of a board with ng_uart_bridge
  unsigned baud = 3'000'000;  ///< of its image
  board::LinkOptions link = {};
  std::function<void(const std::string&)> notice = {};  ///< told, once, what makes the line slow
};

/// What a board's loop has done.
struct LoopState {
  bool running = false;
  std::uint64_t times = 0;   ///< that the product was computed since the loop began, results and all
  std::uint32_t cycles = 0;  ///< clocks since it began, until it ended; wraps
  std::uint32_t hash = 0;    ///< of their results (board::result_hash_next)
};

/// A board that repeats a product by itself, on operands that stay in its tile, while the line is silent: what energy
/// is measured on. An engine of make_board_engine() is one: `dynamic_cast<BoardLoop*>(engine.get())`.
class BoardLoop {
 public:
  virtual ~BoardLoop() = default;
  /// Of the board's tile: rows x columns x lanes, as "4x4x16".
  virtual std::string array() const = 0;
  /// C = A x B as Engine::gemm has it; the operands stay. Throws Error also where they do not fit the tile's banks. The
  /// next product of the engine frees them.
  virtual EngineResult hold(const QuantizedMatrix& a, const QuantizedMatrix& b) = 0;
  /// Repeats it so often. Throws Error unless a product is held and no loop runs.
  virtual void start_loop(std::uint32_t times) = 0;
  /// Throws Error if the tile or its bus has stopped the loop.
  virtual LoopState loop_state() = 0;
  /// Ends it behind the commands that the tile has; its last state.
  virtual LoopState stop_loop() = 0;
};

/// Name "board". Opens the device, finds bridge and tile, and asks the tile what it can do; products go to that tile.
/// EngineResult.cycles are the tile's counter's, or 0; `link` is what the line carried. Throws Error if nothing
/// answers, or not a bridge and tile of this version, for products that the tile does not have, and with the reason if
/// the line or the tile fails; after that a product begins anew.
std::unique_ptr<Engine> make_board_engine(const BoardOptions& options);

/// The same behind any line. `where`: what errors call it.
std::unique_ptr<Engine> make_board_engine(std::unique_ptr<board::ByteLine> line, const std::string& where,
                                          const board::LinkOptions& options = {});

}  // namespace narrowgauge
