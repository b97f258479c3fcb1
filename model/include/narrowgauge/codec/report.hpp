// SPDX-License-Identifier: Apache-2.0
// What a feature map takes in this codec and in the published ones (docs/codec.md, Baselines).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "narrowgauge/codec/feature_map.hpp"

namespace narrowgauge {

struct CodecRate {
  std::string_view name;  ///< a key: "zero_rle"
  std::string_view what;  ///< for people
  double bits = 0;        ///< per value of the map
};

/// In this order: 'raw' 8; 'entropy' of the codes as independent numbers, sum of -p log2 p over the shares p of the
/// bytes; 'zvc', 'zero_rle' and 'ebpc', all their bytes; 'huffman', the file of compress() without runs of zeros;
/// 'narrowgauge', the file with them. Both files count with head, table, index and checksums. `tile` and faults: as of
/// compress().
std::array<CodecRate, 7> codec_report(const FeatureMap& map, std::size_t tile = CompressOptions().tile);

}  // namespace narrowgauge
