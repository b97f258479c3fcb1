// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace narrowgauge::cli {

/// What tools/ngtools/status.py --json printed when the program was built: a list of units.
extern const char* const units_json;

}  // namespace narrowgauge::cli
