// SPDX-License-Identifier: Apache-2.0
// What a feature map takes in this codec and in the published ones (docs/codec.md, Baselines).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "narrowgauge/codec/feature_map.hpp"
#include "narrowgauge/codec/transform.hpp"

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

struct TransformRate : CodecRate {
  double mse = 0;   ///< of the map behind ReLU, if the transform has one
  double step = 0;  ///< of the components
};

/// What a map of numbers before ReLU takes at the same mean squared error behind it: the step is the largest, to a
/// thousandth, whose error is at most `mse`. In this order: 'huffman_pre_relu', each channel by itself under one code
/// for the map; 'pca_huffman', principal components under one code; 'transform', the same under up to most_tables codes
/// and with runs of zeros. All are files of compress_transformed(), with all that is in them. Where codes of
/// options.bits bits cannot reach the error without clipping the map's own values, bits, mse and step are NaN.
/// options.basis and options.step do not count. Throws Error as calibrate_transform() and compress() do, and for an
/// error that is not above 0.
std::array<TransformRate, 3> transform_report(std::span<const float> x, std::span<const std::uint64_t> shape,
                                              double mse, TransformOptions options = {},
                                              std::size_t tile = CompressOptions().tile);

/// Mean of (y - x)^2 over a map, both behind ReLU if `relu` says so. As many values of each, at least one.
double map_error(std::span<const float> x, std::span<const float> y, bool relu);

}  // namespace narrowgauge
