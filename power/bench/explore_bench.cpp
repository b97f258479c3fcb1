// SPDX-License-Identifier: Apache-2.0
// Design points a second, on one thread: ng_bench_explore. Prices are constants: what is measured does not depend on
// them.
#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>

#include "narrowgauge/power/explore/explore.hpp"

namespace narrowgauge::power {
namespace {

class ConstantPrices : public Prices {
 public:
  Price mac(const MacQuestion& q, const std::string&) const override {
    return {q.mac.format() == MacFormat::nvfp4 ? 1e-13 : 2e-13, ""};
  }
  Price sram_bit(const std::string&, double size_bytes, bool) const override { return {1e-16 * size_bytes, ""}; }
  Price dram_bit(const std::string&, const std::string&, bool) const override { return {2e-11, ""}; }
};

// wide: few points of each array.
Explorer explorer(const char* workload, bool wide) {
  nlohmann::json space{{"format", {"nvfp4", "fp8_e4m3", "fp8_e5m2", "int8"}},
                       {"sparsity", {"none", "2:4"}},
                       {"technology", {"horowitz_45nm", "tpuv4i_7nm", "osu018"}},
                       {"compression", {{"from", 1}, {"to", 3}, {"step", 0.1}}},
                       {"frequency_hz", {{"from", 1e6}, {"to", 10e6}, {"step", 0.2e6}}}};
  if (wide) {
    space["compression"] = {1, 1.5, 2};
    space["frequency_hz"] = {1e6, 5e6};
  }
  space["rows"] = space["cols"] = {{"from", 4}, {"to", 32}, {"step", 4}};
  return {load_workload(workload), space_from_json(space), std::make_shared<ConstantPrices>(),
          normal_tensors(8, 8, 32)};
}

void evaluate(benchmark::State& state, const char* workload, bool wide) {
  const Explorer e = explorer(workload, wide);
  const std::uint64_t count = std::min<std::uint64_t>(e.points(), 1 << 20);
  std::vector<Point> points(4096);
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < count; i += points.size())
      e.evaluate(i, std::span(points).first(std::min<std::uint64_t>(points.size(), count - i)));
    benchmark::DoNotOptimize(points.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
  state.counters["points"] = static_cast<double>(count);
}

void front(benchmark::State& state, const char* workload, bool wide) {
  const Explorer e = explorer(workload, wide);
  const std::uint64_t count = std::min<std::uint64_t>(e.points(), 1 << 20);
  std::size_t size = 0;
  for (auto _ : state) size = e.front_of(0, count).points.size();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
  state.counters["points"] = static_cast<double>(count);
  state.counters["front"] = static_cast<double>(size);
}

void gemm(benchmark::State& state) {
  const TileShape tile = TileShape::of(8, 8, 16, format_set::nvfp4, 128, 512, 128);
  const Workload workload = load_workload("resnet50");
  for (auto _ : state)
    for (const Layer& layer : workload.layers) benchmark::DoNotOptimize(estimate_gemm(tile, layer.gemm));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(workload.layers.size()));
}

// What a space of many values beside the array's gives: 1e6 points and above.
BENCHMARK_CAPTURE(evaluate, resnet50, "resnet50", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(front, resnet50, "resnet50", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(front, mobilenet_v2, "mobilenet_v2", false)->Unit(benchmark::kMillisecond);
// 18 points an array: timing the arrays is most of it.
BENCHMARK_CAPTURE(evaluate, resnet50_18_points_an_array, "resnet50", true)->Unit(benchmark::kMillisecond);
BENCHMARK(gemm);

}  // namespace
}  // namespace narrowgauge::power

BENCHMARK_MAIN();
