// SPDX-License-Identifier: Apache-2.0
// A check whose sentence is made only where it fails.
#pragma once

#include "narrowgauge/error.hpp"

namespace narrowgauge::detail {

/// Throws Error with text() unless the condition holds.
void require(bool holds, auto&& text) {
  if (!holds) [[unlikely]]
    throw Error(text());
}

}  // namespace narrowgauge::detail
