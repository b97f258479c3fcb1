// SPDX-License-Identifier: Apache-2.0
// What was probably meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace narrowgauge::cli {

/// The known word that differs from `word` in the fewest letters, if those are few; else nothing.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// "--treads is unknown to gemm: did you mean --threads?", of arguments that `command` did not expect, in their order.
std::string unknown_text(const CLI::App& command, const std::vector<std::string>& arguments);

}  // namespace narrowgauge::cli
