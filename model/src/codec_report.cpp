// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <span>

#include "narrowgauge/codec/baselines.hpp"
#include "narrowgauge/codec/report.hpp"

namespace narrowgauge {
namespace {

double entropy(std::span<const std::uint8_t> values) {
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t value : values) ++counts[value];
  double bits = 0;
  for (const std::size_t count : counts) {
    const double share = static_cast<double>(count) / static_cast<double>(values.size());
    if (count > 0 && count < values.size()) bits -= share * std::log2(share);
  }
  return bits;
}

}  // namespace

std::array<CodecRate, 7> codec_report(const FeatureMap& map, std::size_t tile) {
  const auto rate = [&](std::size_t bytes) {
    return 8 * static_cast<double>(bytes) / static_cast<double>(map.values.size());
  };
  // First the one that refuses what is no map.
  const double huffman = rate(compress(map, {.tile = tile, .zero_runs = false}).size());
  const double both = rate(compress(map, {.tile = tile, .zero_runs = true}).size());
  return {{{"raw", "a byte a value", 8},
           {"entropy", "of the codes as independent numbers", entropy(map.values)},
           {"zvc", "zero-value compression: a mask, and what is not zero", rate(zvc_encode(map.values).size())},
           {"zero_rle", "runs of up to 16 zeros", rate(zero_rle_encode(map.values).size())},
           {"ebpc", "zero runs and bit planes", rate(ebpc_encode(map.values, map.is_signed).bytes())},
           {"huffman", "this file without runs of zeros", huffman},
           {"narrowgauge", "this file", both}}};
}

}  // namespace narrowgauge
