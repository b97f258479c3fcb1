// SPDX-License-Identifier: Apache-2.0
// Sizes are checked before they are allocated: an allocation that Linux grants may still end the process later.
#pragma once

#include <cstdint>
#include <string>

namespace narrowgauge::io {

/// Of this machine, or what a container's limit leaves of it; bytes.
std::uint64_t memory_bytes();
/// "1.5 GB"
std::string bytes_text(double bytes);
/// Throws Error, which begins with `what`, if so many bytes are more than the memory.
void check_memory(double bytes, const std::string& what);

}  // namespace narrowgauge::io
