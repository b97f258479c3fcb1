// SPDX-License-Identifier: Apache-2.0
// A network as the list of matrix products that it makes of a tile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "narrowgauge/power/explore/timing.hpp"

namespace narrowgauge::power {

/// What a product does with a cache of keys and values: reads its operand B from it, or writes its results to it.
enum class CacheUse : std::uint8_t { none, read, write };

/// `count` equal products of activations (A) and weights (B), or of two activations.
struct Layer {
  std::string name;
  GemmShape gemm;
  std::int64_t count = 1;
  bool weights = true;  ///< B is weights: can be pruned ahead
  CacheUse cache = CacheUse::none;

  double macs() const {
    return static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k) *
           static_cast<double>(count);
  }
};

struct Workload {
  std::string name, what;
  std::map<std::string, std::int64_t> parameters;  ///< as set
  std::vector<Layer> layers;
  double tokens = 0;  ///< that the layers are the work of; 0: not known

  double macs() const {
    double sum = 0;
    for (const Layer& layer : layers) sum += layer.macs();
    return sum;
  }
};

/// Reads power/workloads/*.json and what `python -m narrowgauge.workload` writes (docs/explore.md has the keys):
///   {"op": "gemm", "name", "m", "n", "k", "batch": 1, "count": 1, "weights": true,
///    "cache": "read" or "write"}
///   {"op": "conv", "name", "in_channels", "out_channels", "height", "width", "kernel": [h, w], "stride": [1, 1],
///    "padding": [0, 0], "dilation": [1, 1], "groups": 1, "images": 1, "count": 1}
/// A convolution of three axes has "depth" too, and lists of three: [depth, height, width].
/// A size is a number or the name of one of the workload's "parameters", whose values `set` replaces, or a list of
/// these: their product. "tokens" of the workload is a size. A convolution is `groups` products: m = images x pixels of
/// the result, n = outputs of a group, k = window x inputs of a group. Throws Error naming layer, key, value and what
/// is allowed.
Workload workload_from_json(const nlohmann::json& json, const std::map<std::string, std::int64_t>& set = {});
/// A file of that JSON, or a .csv of SCALE-Sim (workload_formats.hpp), or, where there is none of that name, one of
/// power/workloads, which the library carries.
Workload load_workload(const std::filesystem::path& file, const std::map<std::string, std::int64_t>& set = {});
/// The names of those.
std::vector<std::string> workload_names();

}  // namespace narrowgauge::power
