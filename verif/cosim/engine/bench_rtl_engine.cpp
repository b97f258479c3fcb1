// SPDX-License-Identifier: Apache-2.0
// Speed of the rtl engine on one thread: items_per_second is simulated MAC/s, asked-for products only.
#include <benchmark/benchmark.h>

#include <random>

#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "rtl_engine.hpp"

namespace {

using namespace narrowgauge;

void bench_rtl(benchmark::State& state, GemmFormat format) {
  constexpr std::size_t m = 64, n = 64, k = 4096;
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(m * k);
  for (float& v : x) v = normal(generator);
  const QuantizedMatrix a = quantize(x, m, k, Axis::rows, {.scheme = format.scheme, .element = format.a});
  const QuantizedMatrix b = quantize(x, n, k, Axis::rows, {.scheme = format.scheme, .element = format.b});
  const auto engine = make_rtl_engine();
  for (auto _ : state) benchmark::DoNotOptimize(engine->gemm(a, b));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * m * n * k));
}

}  // namespace

int main(int argc, char** argv) {
  for (const GemmFormat& format : gemm_formats) {
    if (format.scheme == Scheme::mxfp4) continue;
    benchmark::RegisterBenchmark(("rtl/" + std::string(format.name)).c_str(), bench_rtl, format)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
