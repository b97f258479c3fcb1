// SPDX-License-Identifier: Apache-2.0
// Speed of the golden model on one thread: products, quantizers, conversions. items_per_second is MAC/s or elements/s.
// NARROWGAUGE_ISA=avx2 (or baseline) in the environment measures lesser machines.
#include <benchmark/benchmark.h>

#include <random>

#include "narrowgauge/format/convert.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace {

using namespace narrowgauge;

std::vector<float> normal_values(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(count);
  for (float& v : x) v = normal(generator);
  return x;
}

void bench_gemm(benchmark::State& state, GemmFormat format) {
  const std::size_t m = 512, n = 512, k = static_cast<std::size_t>(state.range(0));
  const auto a = quantize(normal_values(m * k, 1), m, k, Axis::rows,
                          {.scheme = format.a_scheme(), .element = format.a, .threads = 1});
  const auto b = quantize(normal_values(k * n, 2), k, n, Axis::columns,
                          {.scheme = format.b_scheme(), .element = format.b, .threads = 1});
  for (auto _ : state) benchmark::DoNotOptimize(gemm(a, b, 1));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * m * n * k));
}

void bench_quantize(benchmark::State& state, QuantizeOptions options, Axis along) {
  const std::size_t rows = 1024, cols = 4096;
  const auto x = normal_values(rows * cols, 3);
  options.threads = 1;
  for (auto _ : state) benchmark::DoNotOptimize(quantize(x, rows, cols, along, options));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * x.size()));
}

void bench_encode(benchmark::State& state, Format format, Rounding rounding) {
  const auto x = normal_values(1 << 20, 4);
  std::vector<std::uint32_t> random(rounding == Rounding::stochastic ? x.size() : 0);
  if (!random.empty()) random_fields(5, 0, 8, random);
  std::vector<std::uint8_t> codes(x.size());
  for (auto _ : state) {
    encode_span(format, x, codes, {.rounding = rounding}, random);
    benchmark::DoNotOptimize(codes.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * x.size()));
}

}  // namespace

int main(int argc, char** argv) {
  for (const GemmFormat& format : gemm_formats) {
    benchmark::RegisterBenchmark(("gemm/" + std::string(format.name) + "/m:512/n:512").c_str(), bench_gemm, format)
        ->ArgName("k")
        ->Arg(1024)
        ->Arg(4096)
        ->Unit(benchmark::kMillisecond);
  }
  struct Case {
    const char* name;
    QuantizeOptions options;
  };
  for (const Case& c :
       {Case{"nvfp4_exact", {}}, Case{"nvfp4_vendor", {.rule = ScaleRule::vendor}},
        Case{"nvfp4_exact_stochastic", {.rounding = Rounding::stochastic}}, Case{"mxfp4", {.scheme = Scheme::mxfp4}},
        Case{"fp8_e4m3", {.scheme = Scheme::fp8, .element = Format::e4m3}},
        Case{"fp8_e5m2", {.scheme = Scheme::fp8, .element = Format::e5m2}},
        Case{"fp8_e5m2_stochastic",
             {.scheme = Scheme::fp8, .element = Format::e5m2, .rounding = Rounding::stochastic}}}) {
    for (const Axis along : {Axis::rows, Axis::columns}) {
      const std::string name = std::string("quantize/") + c.name + (along == Axis::rows ? "/rows" : "/columns");
      benchmark::RegisterBenchmark(name.c_str(), bench_quantize, c.options, along)->Unit(benchmark::kMillisecond);
    }
  }
  for (const Format format : {Format::e2m1, Format::e4m3, Format::e5m2}) {
    for (const Rounding rounding : {Rounding::nearest_even, Rounding::stochastic}) {
      const std::string name = "encode/" + std::string(desc(format).name) +
                               (rounding == Rounding::stochastic ? "/stochastic" : "/nearest_even");
      benchmark::RegisterBenchmark(name.c_str(), bench_encode, format, rounding)->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
