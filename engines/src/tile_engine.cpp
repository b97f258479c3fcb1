// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/engines/tile_engine.hpp"

#include <bit>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "driven_engine.hpp"
#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/engines/tile_bus_on_pins.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/io/output.hpp"
#include "verilated_tiles.hpp"

namespace narrowgauge {

// tile_configurations.inc, generated from rtl/tile/configurations.json: NG_TILE(name, parameters of TileConfig) lines.
#define NG_TILE(name, ...) std::unique_ptr<TilePinModel> make_systemc_tile_##name();
#include "tile_configurations.inc"
#undef NG_TILE

namespace {

constexpr TileConfig configs[] = {
#define NG_TILE(name, ...) {#name, __VA_ARGS__},
#include "tile_configurations.inc"
#undef NG_TILE
};

constexpr std::unique_ptr<TilePinModel> (*cycle_models[])() = {
#define NG_TILE(name, ...) make_systemc_tile_##name,
#include "tile_configurations.inc"
#undef NG_TILE
};

/// What simulates the tiles.
enum class Simulator { verilated, cycle_model };

std::unique_ptr<TilePinModel> make_tile(Simulator simulator, std::size_t index, const std::string& trace) {
  if (simulator == Simulator::cycle_model) return cycle_models[index]();
  return make_verilated_tile(configs[index].name, trace);
}

/// Longest time without progress: several times the longest compute command.
constexpr std::uint32_t timeout_cycles = 1'000'000;
constexpr std::uint32_t most_deadline = std::uint32_t{1} << 31;

/// The writer of waves (FST) does not notice a full disk, but for the files that it maps (io::MappedWrites), and those
/// that it closes (incomplete_files). Before: room for the names of a tile's signals and more, and for its temporary
/// files; after: for the last block.
constexpr std::size_t least_wave_bytes = std::size_t{8} << 20, wave_block_bytes = std::size_t{64} << 10;

std::string tile_names() {
  std::string names;
  for (const TileConfig& config : configs) names += (names.empty() ? "" : ", ") + std::string(config.name);
  return names;
}

std::size_t index_of(const TileConfig& config) { return static_cast<std::size_t>(&config - configs); }

class TileEngine final : public DrivenEngine {
 public:
  TileEngine(std::string_view name, Simulator simulator, TileEngineOptions options)
      : DrivenEngine(name), simulator_(simulator), options_(std::move(options)), models_(std::size(configs)) {
    if (!options_.tile.empty()) find_tile(options_.tile);
    if (options_.deadline > most_deadline) {
      throw Error("the deadline of " + std::to_string(options_.deadline) + " clock cycles is too late; expected 1 to " +
                  std::to_string(most_deadline) + ", or 0 for none");
    }
  }

 private:
  EngineResult run(const TileConfig& config, const ProductOrder& order) override {
    const std::size_t index = index_of(config);
    std::optional<io::OutputFile> wave;
    std::optional<io::MappedWrites> mapped;
    std::unique_ptr<TilePinModel> traced;
    unsigned incomplete_before = 0;
    if (!options_.trace.empty()) {
      wave.emplace(options_.trace);
      wave->probe(least_wave_bytes);
      io::probe_temporary(least_wave_bytes);
      wave->remove_besides(".hier");
      mapped.emplace();
      traced = make_tile(simulator_, index, wave->hand_over());
      incomplete_before = incomplete_files(config.name);
    }

    TileBusOnPins pins(traced ? *traced : model(index), config.stream_width / 8);
    TileDriverPort bridge(pins);
    const ng_port_t port = bridge.port();
    const ng_tile_config_t at{.port = &port, .base = 0, .timeout_ticks = timeout_cycles};
    const std::string what = "tile " + std::string(config.name) + " of engine " + std::string(name());
    ng_tile_t tile;
    expect_ok(ng_tile_init(&tile, &at), what);
    EngineResult result = drive_product({.port = port,
                                         .tile = tile,
                                         .what = what,
                                         .cycles = [&] { return pins.cycles(); },
                                         .between =
                                             [&] {
                                               if (mapped) mapped->check(*wave);
                                             },
                                         .deadline = options_.deadline},
                                        order);
    result.products_possible = result.cycles * config.products_a_cycle() * (order.sparse ? 2 : 1);
    result.tile = config.name;
    if (wave) {
      io::probe_temporary(least_wave_bytes);  // while it has its own
      traced.reset();                         // writes what is left
      mapped->check(*wave);
      if (incomplete_files(config.name) != incomplete_before) wave->incomplete();
      wave->probe(wave_block_bytes);
      wave->commit();
    }
    return result;
  }

  const TileConfig& choose(Scheme scheme, Format a, Format b, const TileNeeds& asked) const override {
    TileNeeds needs = asked;
    needs.deadline = options_.deadline != 0;
    const std::string text = product_text(scheme, a, b, needs);
    const auto worth = [](const TileConfig& config) {
      return std::tuple(config.products_a_cycle(), -std::popcount(config.format_set));
    };
    if (!options_.tile.empty()) {
      const TileConfig& named = find_tile(options_.tile);
      if (has(named, scheme, a, b, needs)) return named;
      throw Error("tile \"" + options_.tile + "\" does not have " + text +
                  "; expected one that has it, which the engine finds if no tile is named");
    }
    const TileConfig* best = nullptr;
    for (const TileConfig& config : configs)
      if (has(config, scheme, a, b, needs) && (!best || worth(config) > worth(*best))) best = &config;
    if (!best) throw Error("no tile has " + text + "; expected a product that one of tiles() has");
    return *best;
  }

  /// Models are kept: making one takes longer than a small product.
  TilePinModel& model(std::size_t index) {
    std::unique_ptr<TilePinModel>& model = models_[index];
    if (!model) model = make_tile(simulator_, index, {});
    return *model;
  }

  Simulator simulator_;
  TileEngineOptions options_;
  std::vector<std::unique_ptr<TilePinModel>> models_;
};

}  // namespace

std::span<const TileConfig> tile_configs() { return configs; }

const TileConfig& find_tile(std::string_view name) {
  for (const TileConfig& config : configs)
    if (config.name == name) return config;
  throw Error("there is no tile '" + std::string(name) + "'; expected one of " + tile_names() +
              " (rtl/tile/configurations.json)");
}

std::unique_ptr<TilePinModel> make_tile_pin_model(std::string_view engine, std::string_view tile) {
  if (engine == "rtl") return make_tile(Simulator::verilated, index_of(find_tile(tile)), {});
  if (engine == "systemc") return make_tile(Simulator::cycle_model, index_of(find_tile(tile)), {});
  throw Error("there is no simulated tile of engine '" + std::string(engine) + "'; expected rtl or systemc");
}

bool have_rtl_engine() { return have_verilated_tiles(); }

std::unique_ptr<Engine> make_rtl_engine(const TileEngineOptions& options) {
  if (!have_verilated_tiles()) make_verilated_tile({}, {});  // says why
  return std::make_unique<TileEngine>("rtl", Simulator::verilated, options);
}

std::unique_ptr<Engine> make_systemc_engine(const TileEngineOptions& options) {
  if (!options.trace.empty()) throw Error("the systemc engine writes no waves: take the rtl engine");
  return std::make_unique<TileEngine>("systemc", Simulator::cycle_model, options);
}

}  // namespace narrowgauge
