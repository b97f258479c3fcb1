// SPDX-License-Identifier: Apache-2.0
// What a bench expects of a unit and has not seen yet: Bench::owe() takes it, and then the run fails while it is not 0.
#pragma once

#include <cstddef>
#include <string>

namespace narrowgauge::bench {

/// The base of scoreboards (scoreboard.hpp) and of the bus's checkers (axi.hpp).
class Owed {
 public:
  virtual std::size_t owed() const = 0;
  /// Completes "3 ... never came".
  virtual const std::string& what() const = 0;

 protected:
  ~Owed() = default;
};

}  // namespace narrowgauge::bench
