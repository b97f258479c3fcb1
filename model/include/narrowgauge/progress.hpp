// SPDX-License-Identifier: Apache-2.0
// How long work reports, and how it is stopped.
#pragma once

#include <cstdint>
#include <functional>

namespace narrowgauge {

/// Called now and then with work done and work in all, in any unit, by the thread that asked for the work. What it
/// throws stops the work and is passed on.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// While it lives, long calls of this thread call `hear` now and then, those that take a Progress and those that take
/// none. What `hear` throws stops the call and is passed on. Scopes may be nested: the innermost one hears.
class Hearing {
 public:
  explicit Hearing(std::function<void()> hear);
  ~Hearing();
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;

 private:
  std::function<void()> hear_;
  const std::function<void()>* outer_;
};

}  // namespace narrowgauge
