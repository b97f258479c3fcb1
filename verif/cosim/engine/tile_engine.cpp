// SPDX-License-Identifier: Apache-2.0
#include "tile_engine.hpp"

#include <bit>
#include <string>
#include <tuple>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "pin_tile.hpp"
#include "tile_gemm.hpp"

namespace narrowgauge {

// tile_configurations.inc, generated from rtl/tile/configurations.json: NG_TILE(name, parameters of TileConfig) lines.
#define NG_TILE(name, ...)                                                      \
  std::unique_ptr<TileModel> make_tile_##name(const std::string& trace);        \
  std::unique_ptr<TileModel> make_traced_tile_##name(const std::string& trace); \
  std::unique_ptr<TileModel> make_systemc_tile_##name(const std::string& trace);
#include "tile_configurations.inc"
#undef NG_TILE

namespace {

constexpr TileConfig configs[] = {
#define NG_TILE(name, ...) {#name, __VA_ARGS__},
#include "tile_configurations.inc"
#undef NG_TILE
};

struct Factories {
  TileFactory plain, traced;  ///< traced: nullptr if there are no waves
};
#ifdef NG_HAVE_RTL
constexpr Factories verilated_tiles[] = {
#define NG_TILE(name, ...) {make_tile_##name, make_traced_tile_##name},
#include "tile_configurations.inc"
#undef NG_TILE
};
std::span<const Factories> verilated() { return verilated_tiles; }
#else
std::span<const Factories> verilated() {
  throw Error(
      "the rtl engine is not in this build: configure with -DNG_RTL=ON (needs Verilator), or use the engine model or "
      "systemc");
}
#endif
constexpr Factories cycle_models[] = {
#define NG_TILE(name, ...) {make_systemc_tile_##name, nullptr},
#include "tile_configurations.inc"
#undef NG_TILE
};

/// Longest time without progress: several times the longest compute command.
constexpr std::uint32_t timeout_cycles = 1'000'000;

std::string tile_names() {
  std::string names;
  for (const TileConfig& config : configs) names += (names.empty() ? "" : ", ") + std::string(config.name);
  return names;
}

/// Index of the tile of that name. Throws Error if there is none.
std::size_t index_of(std::string_view name) {
  for (const TileConfig& config : configs)
    if (config.name == name) return static_cast<std::size_t>(&config - configs);
  throw Error("there is no tile '" + std::string(name) + "'; expected one of " + tile_names() +
              " (rtl/tile/configurations.json)");
}

/// Bit of a driver's format in FormatSet.
unsigned format_bit(ng_format_t format) { return format == NG_NVFP4 ? 1 : format == NG_E4M3 ? 2 : 4; }

class TileEngine final : public Engine {
 public:
  TileEngine(std::string_view name, std::span<const Factories> factories, TileEngineOptions options)
      : name_(name), factories_(factories), options_(std::move(options)), models_(std::size(configs)) {
    if (!options_.tile.empty()) index_of(options_.tile);
  }
  std::string_view name() const override { return name_; }

  EngineResult gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, const Progress& progress) override {
    check_product(a, b);
    const std::size_t index = choose(a, b);
    const TileConfig& config = configs[index];
    if (const std::size_t beats = (a.k + config.lanes - 1) / config.lanes; beats > config.max_beats) {
      throw Error("the contraction of length " + std::to_string(a.k) + " takes " + std::to_string(beats) +
                  " beats of tile " + std::string(config.name) + ": expected at most " +
                  std::to_string(config.max_beats) + "; split it and add the parts");
    }

    PinTile pins(model(index), config.stream_width / 8);
    TilePort bridge(pins);
    const ng_port_t port = bridge.port();
    const ng_tile_config_t at{.port = &port, .base = 0, .timeout_ticks = timeout_cycles};
    const std::string what = "tile " + std::string(config.name) + " of engine " + std::string(name_);
    ng_tile_t tile;
    expect_ok(ng_tile_init(&tile, &at), what);
    TileGemm product(tile, a, b);
    if (tile.counters) expect_ok(ng_tile_clear_counters(&tile), what);

    const std::uint64_t start = pins.cycles();
    ng_gemm_t gemm;
    expect_ok(ng_tile_gemm_start(&gemm, &tile, &product.config), what);
    const std::uint64_t blocks = std::uint64_t{gemm.blocks} * gemm.chunks;
    ng_result_t state;
    while ((state = ng_tile_gemm_step(&gemm)) == NG_BUSY) {
      port.idle(port.ctx);
      if (progress) progress(std::uint64_t{gemm.result.block} * gemm.chunks + gemm.result.chunk, blocks);
    }
    expect_ok(state, what);
    if (progress) progress(blocks, blocks);

    EngineResult result;
    result.cycles = pins.cycles() - start;
    result.c = product.result();
    result.products = std::uint64_t{a.rows} * b.rows * a.k;
    result.products_possible = result.cycles * config.products_a_cycle();
    result.tile = config.name;
    if (tile.counters) {
      ng_counters_t n;
      expect_ok(ng_tile_counters(&tile, &n), what);
      result.activity = {n.cycles, n.busy,   n.stall_in, n.stall_out, n.products,
                         n.zero_a, n.zero_b, n.flips_a,  n.flips_b};
    }
    return result;
  }

 private:
  /// Index of the tile for these operands.
  std::size_t choose(const QuantizedMatrix& a, const QuantizedMatrix& b) const {
    const unsigned needed = format_bit(driver_matrix(a).format) | format_bit(driver_matrix(b).format);
    const auto has = [&](const TileConfig& config) { return (config.format_set & needed) == needed; };
    const auto worth = [](const TileConfig& config) {
      return std::tuple(config.products_a_cycle(), -std::popcount(config.format_set));
    };
    const std::string formats = std::string(desc(a.element).name) + " times " + std::string(desc(b.element).name);
    if (!options_.tile.empty()) {
      const std::size_t named = index_of(options_.tile);
      if (has(configs[named])) return named;
      throw Error("tile " + options_.tile + " does not have " + formats +
                  ": leave the choice of the tile to the engine, or take another format");
    }
    const TileConfig* best = nullptr;
    for (const TileConfig& config : configs)
      if (has(config) && (!best || worth(config) > worth(*best))) best = &config;
    if (!best) throw Error("no tile has " + formats + ": add one to rtl/tile/configurations.json");
    return static_cast<std::size_t>(best - configs);
  }

  /// Models are kept: making one takes longer than a small product. A traced one is made anew, and its file with it.
  TileModel& model(std::size_t index) {
    std::unique_ptr<TileModel>& model = models_[index];
    if (!options_.trace.empty()) {
      model = factories_[index].traced(options_.trace);
    } else if (!model) {
      model = factories_[index].plain({});
    }
    return *model;
  }

  std::string_view name_;
  std::span<const Factories> factories_;
  TileEngineOptions options_;
  std::vector<std::unique_ptr<TileModel>> models_;
};

}  // namespace

std::span<const TileConfig> tile_configs() { return configs; }

std::unique_ptr<TileModel> make_tile_model(std::string_view engine, std::string_view tile) {
  if (engine == "rtl") return verilated()[index_of(tile)].plain({});
  if (engine == "systemc") return cycle_models[index_of(tile)].plain({});
  throw Error("there is no tile model '" + std::string(engine) + "'; expected rtl or systemc");
}

bool have_rtl_engine() {
#ifdef NG_HAVE_RTL
  return true;
#else
  return false;
#endif
}

std::unique_ptr<Engine> make_rtl_engine(const TileEngineOptions& options) {
  return std::make_unique<TileEngine>("rtl", verilated(), options);
}

std::unique_ptr<Engine> make_systemc_engine(const TileEngineOptions& options) {
  if (!options.trace.empty()) throw Error("the systemc engine writes no waves: take the rtl engine");
  return std::make_unique<TileEngine>("systemc", cycle_models, options);
}

}  // namespace narrowgauge
