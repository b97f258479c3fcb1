// SPDX-License-Identifier: Apache-2.0
// What every fault of a file is: a sentence that names the file, what is wrong with it, and what to do.
#pragma once

#include <stdexcept>

namespace narrowgauge::io {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace narrowgauge::io
