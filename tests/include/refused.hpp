// SPDX-License-Identifier: Apache-2.0
// What a call that is refused says.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "narrowgauge/error.hpp"

namespace narrowgauge::test {

/// Fails unless the call throws an Error whose sentence has the text.
void says(auto&& call, const char* text) {
  try {
    call();
    ADD_FAILURE() << "nothing refused: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

}  // namespace narrowgauge::test
