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

/// Name "board". Opens the device, finds bridge and tile, and asks the tile what it can do; products go to that tile.
/// EngineResult.cycles are the tile's counter's, or 0; `link` is what the line carried. Throws Error if nothing
/// answers, or not a bridge and tile of this version, for products that the tile does not have, and with the reason if
/// the line or the tile fails; after that a product begins anew.
std::unique_ptr<Engine> make_board_engine(const BoardOptions& options);

/// The same behind any line. `where`: what errors call it.
std::unique_ptr<Engine> make_board_engine(std::unique_ptr<board::ByteLine> line, const std::string& where,
                                          const board::LinkOptions& options = {});

}  // namespace narrowgauge
