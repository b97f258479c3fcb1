// SPDX-License-Identifier: Apache-2.0
// Programs of the Python package: pictures, and what reads ONNX.
#pragma once

#include <string>
#include <vector>

namespace narrowgauge::cli {

/// Runs `python -m module arguments` with `input` on its standard input, and its output in `output` if that is given.
/// Throws Error if it fails: with its own sentence where it has one, else with how to name a Python that has the
/// package.
void run_python(const std::string& python, const std::string& module, const std::vector<std::string>& arguments,
                const std::string& input, std::string* output);

}  // namespace narrowgauge::cli
