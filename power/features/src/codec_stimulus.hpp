// SPDX-License-Identifier: Apache-2.0
// What the units of the codec (rtl/codec) see: a table, then a feature map, a value a cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace narrowgauge::power {

/// Values of a port of `transform`, `encoder`, `decoder` or `packer`, cycle by cycle, under the stimulus `relu`: the
/// part before the dot is the unit, the one behind it the port. The first `codec_table_cycles` cycles write the table.
/// Then come the values of one tile that does not end, max(0, 12 N(0, 1)) rounded and at most 255, in the Huffman code
/// of their own counts; a decoder gets each word two words before it needs it, a packer each code with its block's
/// header, and the transform of 4 channels a matrix of cosines and groups of four values of 8 bits, 30 N(0, 1) + 8 N(0,
/// 1), of which the first is common to all.
///
/// Throws Error on any other name.
struct CodecPort {
  unsigned width = 0;
  std::vector<std::uint64_t> values;
};
CodecPort codec_port(const std::string& name, std::size_t cycles, std::uint64_t seed);

inline constexpr std::size_t codec_table_cycles = 272;

}  // namespace narrowgauge::power
