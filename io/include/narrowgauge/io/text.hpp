// SPDX-License-Identifier: Apache-2.0
// Text files, and names of files in messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace narrowgauge::io {

/// For a sentence: bytes that are not UTF-8, control characters and those that turn the direction of writing become
/// \xHH; the rest stays.
std::string shown(std::string_view text);
/// For JSON, which escapes control characters itself: only bytes that are not UTF-8 become \xHH.
std::string utf8(std::string_view text);

/// Letters to insert, remove, replace, or swap with their neighbour, to make y of x (optimal string alignment).
std::size_t edit_distance(std::string_view x, std::string_view y);

/// The whole of a file. `expected`: "a text file", for the Error of one that cannot be read, or has more than `most`
/// bytes, or begins with none of `beginnings` where there are some: what has no end is not read to it.
std::string read_bytes(const std::string& path, const std::string& expected, std::size_t most,
                       std::span<const std::string_view> beginnings = {});
/// The whole of a text file. Throws Error if it cannot be read, or has more than `most` bytes.
std::string read_text(const std::string& path, std::size_t most = std::size_t{1} << 28);

}  // namespace narrowgauge::io
