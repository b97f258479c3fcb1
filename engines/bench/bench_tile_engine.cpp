// SPDX-License-Identifier: Apache-2.0
// Speed of simulated hardware on one thread, MAC/s as items_per_second: the bare Verilated array with a beat in every
// cycle; the Verilated tile and its cycle model under the driver (asked-for products only, everything from packing to
// results included).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "mac_array_model.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace narrowgauge {

std::unique_ptr<MacArrayModel> make_array_large();
std::unique_ptr<MacArrayModel> make_array_large_e4m3();

namespace {

constexpr std::size_t m = 128, n = 128, k = 1024;

const TileConfig& tile_of(const std::string& name) {
  for (const TileConfig& tile : tile_configs())
    if (tile.name == name) return tile;
  throw std::logic_error("no tile " + name);
}

void bench_array(benchmark::State& state, MacArrayFactory make, const std::string& tile) {
  const TileConfig& config = tile_of(tile);
  const auto array = make();
  array->reset();
  const auto& last = *std::ranges::find_if(operand_formats, [&](auto& f) { return (config.format_set & f.mask) != 0; });
  const auto format = static_cast<std::uint8_t>(last.code);
  array->set_formats({format, format});
  // Random codes without E4M3's NaN and with scales of the same size; 64 images a side are as good as any.
  constexpr std::size_t images = 64, image_bytes = 256;
  std::mt19937 generator(1);
  std::vector<std::uint8_t> codes(images * image_bytes);
  for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(generator() & 0xBF);
  std::uint64_t at = 0;
  for (auto _ : state) {
    const std::uint8_t* a = &codes[at % images * image_bytes];
    const std::uint8_t* b = &codes[(at * 5 + 1) % images * image_bytes];
    const MacArrayBeat beat{.first = at % images == 0,
                            .last = at % images == images - 1,
                            .row_en = 0xFF,
                            .col_en = 0xFF,
                            .a = a,
                            .b = b,
                            .a_scale = a,
                            .b_scale = b};
    array->cycle(&beat);
    ++at;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(at * config.products_a_cycle()));
}

void bench_engine(benchmark::State& state, std::unique_ptr<Engine> (*make)(const TileEngineOptions&),
                  const GemmFormat& format) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(m * k);
  for (float& v : x) v = normal(generator);
  const QuantizedMatrix a = quantize(x, m, k, Axis::rows, {.scheme = format.a_scheme(), .element = format.a});
  const QuantizedMatrix b = quantize(x, n, k, Axis::rows, {.scheme = format.b_scheme(), .element = format.b});
  const auto engine = make({});
  for (auto _ : state) benchmark::DoNotOptimize(engine->gemm(a, b));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * m * n * k));
}

}  // namespace
}  // namespace narrowgauge

int main(int argc, char** argv) {
  using namespace narrowgauge;
  benchmark::RegisterBenchmark("array/nvfp4", bench_array, make_array_large, "large");
  benchmark::RegisterBenchmark("array/fp8_e4m3", bench_array, make_array_large_e4m3, "large_e4m3");
  for (const GemmFormat& format : gemm_formats) {
    if (!format_set::has(format_set::all, is_mx(format.scheme), format)) continue;
    const std::string name(format.name);
    benchmark::RegisterBenchmark(("rtl/" + name).c_str(), bench_engine, make_rtl_engine, format)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("systemc/" + name).c_str(), bench_engine, make_systemc_engine, format)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
