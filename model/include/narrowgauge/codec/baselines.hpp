// SPDX-License-Identifier: Apache-2.0
// Published codes of feature maps, to compare with (docs/codec.md, Baselines). All of bytes, without tables or blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace narrowgauge {

/// Zero-value compression (Rhu et al., "Compressing DMA Engine", 2018): for each 32 values a word whose bit i says that
/// value i is not zero, the lowest byte first, and behind it those values. The last group is as long as it is, its mask
/// has a whole number of bytes.
std::vector<std::uint8_t> zvc_encode(std::span<const std::uint8_t> values);
/// Throws Error unless the bytes are exactly such a string of `count` values.
std::vector<std::uint8_t> zvc_decode(std::span<const std::uint8_t> bytes, std::size_t count);

/// Runs of zeros as in the first stage of EBPC, values as they are: 1 and the value's 8 bits, or 0 and the length of a
/// run of 1 to 16 zeros, less 1, in 4 bits; zeros behind the last up to a whole byte.
std::vector<std::uint8_t> zero_rle_encode(std::span<const std::uint8_t> values);
/// Throws Error unless the bytes are exactly such a string of `count` values.
std::vector<std::uint8_t> zero_rle_decode(std::span<const std::uint8_t> bytes, std::size_t count);

/// The two streams of EBPC (Cavigelli et al., "EBPC: Extended Bit-Plane Compression", 2019) as its hardware makes them,
/// for words of 8 bits and blocks of 8: which words are zero, and the others in bit planes of their differences.
struct Ebpc {
  std::vector<std::uint8_t> zeros, planes;
  std::size_t bytes() const { return zeros.size() + planes.size(); }
  bool operator==(const Ebpc&) const = default;
};
/// `is_signed`: whether differences are those of two's complement numbers or of natural ones.
Ebpc ebpc_encode(std::span<const std::uint8_t> values, bool is_signed);
/// Throws Error unless the streams are exactly such of `count` values.
std::vector<std::uint8_t> ebpc_decode(const Ebpc& streams, std::size_t count, bool is_signed);

}  // namespace narrowgauge
