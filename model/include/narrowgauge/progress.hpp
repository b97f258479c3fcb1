// SPDX-License-Identifier: Apache-2.0
// How long work reports.
#pragma once

#include <cstdint>
#include <functional>

namespace narrowgauge {

/// Called now and then with work done and work in all, in any unit, by the thread that asked for the work. What it
/// throws stops the work and is passed on.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

}  // namespace narrowgauge
