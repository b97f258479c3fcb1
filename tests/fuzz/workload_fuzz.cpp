// SPDX-License-Identifier: Apache-2.0
// Any bytes as a workload: of this library's JSON, of SCALE-Sim's CSV, of ZigZag's and Timeloop's trees. An Error, or
// layers whose products have sizes and are counted.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "narrowgauge/error.hpp"
#include "narrowgauge/power/explore/workload.hpp"
#include "narrowgauge/power/explore/workload_formats.hpp"

namespace {

using namespace narrowgauge;

void read(const nlohmann::json& json) {
  power::Workload workload;
  try {
    workload = power::workload_from_json(json);
  } catch (const Error&) {
    return;
  }
  for (const power::Layer& layer : workload.layers)
    if (layer.gemm.m < 1 || layer.gemm.n < 1 || layer.gemm.k < 1 || layer.count < 1) std::abort();
  if (workload.layers.empty() || !std::isfinite(workload.macs()) || workload.macs() < 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    read(power::workload_from_scalesim(text));
  } catch (const Error&) {
  }
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return 0;
  read(json);
  try {
    read(power::workload_from_tree(json));
  } catch (const Error&) {
  }
  return 0;
}
