// SPDX-License-Identifier: Apache-2.0
// Floating-point tensors without loss: the exponents, which have few bits of entropy, apart from sign and mantissa
// (docs/codec.md, Exponents).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "narrowgauge/codec/feature_map.hpp"

namespace narrowgauge {

/// A tensor of codes of 'bf16', 'e4m3' or 'e5m2'.
struct FloatCodes {
  std::string_view format;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint16_t> codes;
  bool operator==(const FloatCodes&) const = default;
};

/// The file: two files of compress(), one of exponents, one of signs and mantissas. Throws Error as compress() does,
/// for another format and for codes beyond its bits.
std::vector<std::uint8_t> compress_exponents(const FloatCodes& tensor, const CompressOptions& options = {});
/// Whether the file begins as such a one does.
bool is_of_exponents(std::span<const std::uint8_t> file);
/// Throws Error for what is no such file, another version, a wrong checksum, anything that does not fit.
FloatCodes decompress_exponents(std::span<const std::uint8_t> file);

}  // namespace narrowgauge
