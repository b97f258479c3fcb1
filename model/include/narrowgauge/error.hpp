// SPDX-License-Identifier: Apache-2.0
// The one exception type: its text is a sentence that names the thing, the value, what was expected and what to do.
#pragma once

#include <stdexcept>

namespace narrowgauge {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace narrowgauge
