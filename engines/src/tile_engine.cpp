// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/engines/tile_engine.hpp"

#include <bit>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/engines/tile_bus_on_pins.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/sparse/sparse_product.hpp"
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

/// The writer of waves (FST) does not notice a full disk, but for the files that it maps (io::MappedWrites), and those
/// that it closes (incomplete_files). Before: room for the names of a tile's signals and more, and for its temporary
/// files; after: for the last block.
constexpr std::size_t least_wave_bytes = std::size_t{8} << 20, wave_block_bytes = std::size_t{64} << 10;

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

/// What a product asks of a tile beside its formats.
struct Needs {
  std::optional<ResultFormat> results = std::nullopt;  ///< requantized
  bool sparse = false, decoders = false, encoders = false;
};

/// The name of a product's format, as gemm_formats() has it.
std::string product_name(Scheme scheme, Format a, Format b) {
  for (const GemmFormat& f : gemm_formats)
    if (f.scheme == product_scheme(scheme) && f.a == a && f.b == b) return std::string(f.name);
  return std::string(desc(a).name) + " times " + std::string(desc(b).name);
}

class TileEngine final : public Engine {
 public:
  TileEngine(std::string_view name, Simulator simulator, TileEngineOptions options)
      : name_(name), simulator_(simulator), options_(std::move(options)), models_(std::size(configs)) {
    if (!options_.tile.empty()) index_of(options_.tile);
  }
  std::string_view name() const override { return name_; }

  void check(Scheme scheme, Format a, Format b, std::size_t k) const override {
    check_contraction(scheme, k);
    const TileConfig& config = configs[choose(scheme, a, b)];
    check_beats(config, k, config.lanes);
  }

  void check_sparse(Scheme scheme, Format a, Format b, std::size_t k) const override {
    check_contraction(scheme, k);
    const TileConfig& config = configs[choose(scheme, a, b, {.sparse = true})];
    check_beats(config, k, std::size_t{2} * config.lanes);
  }

  EngineResult gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, const Progress& progress) override {
    check_product(a, b);
    check(a.scheme, a.element, b.element, a.k);
    return run(a, b, choose(a.scheme, a.element, b.element), nullptr, progress);
  }

  EngineResult gemm_sparse(const QuantizedMatrix& a, const QuantizedMatrix& b, const NmPattern& pattern,
                           const Progress& progress) override {
    check_sparse_product(a, b, pattern);
    check_sparse(a.scheme, a.element, b.element, a.k);
    return run(a, b, choose(a.scheme, a.element, b.element, {.sparse = true}), nullptr, progress, pattern);
  }

  void check_compressed(Scheme scheme, Format a, Format b, std::size_t k) const override {
    check_contraction(scheme, k);
    const TileConfig& config = configs[choose(scheme, a, b, {.decoders = true})];
    check_beats(config, k, config.lanes);
  }

  EngineResult gemm_compressed(const QuantizedMatrix& a, const QuantizedMatrix& b, const Compressed& compressed,
                               const Progress& progress) override {
    check_operands_only(compressed);
    check_product(a, b);
    check_compressed(a.scheme, a.element, b.element, a.k);
    return run(a, b, choose(a.scheme, a.element, b.element, {.decoders = true}), nullptr, progress, std::nullopt,
               {.compressed = compressed});
  }

  RequantizedResult gemm_requantized(const QuantizedMatrix& a, const QuantizedMatrix& b, float tensor_scale,
                                     const RequantizeOptions& options, const Progress& progress) override {
    check_product(a, b);
    check_result_scale(options.format, tensor_scale);
    check(a.scheme, a.element, b.element, a.k);
    RequantizedResult result;
    result.c.tensor_scale = tensor_scale;
    const Compressed& compressed = options.compressed;
    const Needs needs{.results = options.format, .decoders = compressed.a || compressed.b, .encoders = compressed.c};
    result.run = run(a, b, choose(a.scheme, a.element, b.element, needs), &result, progress, std::nullopt, options);
    return result;
  }

 private:
  static void check_beats(const TileConfig& config, std::size_t k, std::size_t k_a_beat) {
    if (const std::size_t beats = (k + k_a_beat - 1) / k_a_beat; beats > config.max_beats) {
      throw Error("the contraction of length " + std::to_string(k) + " takes " + std::to_string(beats) +
                  " beats of tile " + std::string(config.name) + "; expected at most " +
                  std::to_string(config.max_beats) + "; split it and add the parts");
    }
  }

  /// The product on a tile. `requantized`: what takes C as an operand A, under the tensor scale that stands there;
  /// nullptr: C is the result's. `sparse`: the pattern of A. `options`: of a requantized C, and what is compressed of
  /// any product.
  EngineResult run(const QuantizedMatrix& a, const QuantizedMatrix& b, std::size_t index,
                   RequantizedResult* requantized, const Progress& progress,
                   const std::optional<NmPattern>& sparse = std::nullopt, const RequantizeOptions& options = {}) {
    const TileConfig& config = configs[index];
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
    const std::string what = "tile " + std::string(config.name) + " of engine " + std::string(name_);
    ng_tile_t tile;
    expect_ok(ng_tile_init(&tile, &at), what);
    DriverGemm product(
        tile, a, b, false,
        requantized ? std::optional(Requantized{options.format, requantized->c.tensor_scale}) : std::nullopt, sparse);
    product.config.relu = options.relu;
    if (options.compressed.any()) product.compress(tile, options.compressed);
    if (requantized) expect_ok(ng_tile_clear_amax(&tile), what);
    if (tile.counters) expect_ok(ng_tile_clear_counters(&tile), what);

    const std::uint64_t start = pins.cycles();
    ng_gemm_t gemm;
    expect_ok(ng_tile_gemm_start(&gemm, &tile, &product.config), what);
    const std::uint64_t blocks = std::uint64_t{gemm.blocks} * gemm.chunks;
    ng_result_t state;
    while ((state = ng_tile_gemm_step(&gemm)) == NG_BUSY) {
      port.idle(port.ctx);
      if (mapped) mapped->check(*wave);
      if (progress) progress(std::uint64_t{gemm.result.block} * gemm.chunks + gemm.result.chunk, blocks);
    }
    expect_ok(state, what);
    if (progress) progress(blocks, blocks);

    EngineResult result;
    result.cycles = pins.cycles() - start;
    result.operand_bytes = gemm.sent;
    result.result_bytes = gemm.received;
    if (requantized) {
      requantized->c = product.requantized(tile);
      expect_ok(ng_tile_amax(&tile, &requantized->amax), what);
    } else {
      result.c = product.result();
    }
    result.products = std::uint64_t{a.rows} * b.rows * a.k;
    result.products_possible = result.cycles * config.products_a_cycle() * (sparse ? 2 : 1);
    result.tile = config.name;
    if (tile.counters) {
      ng_counters_t n;
      expect_ok(ng_tile_counters(&tile, &n), what);
      result.activity = {n.cycles, n.busy,   n.stall_in, n.stall_out, n.products,
                         n.zero_a, n.zero_b, n.flips_a,  n.flips_b};
    }
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

  /// Index of the tile for such operands.
  std::size_t choose(Scheme scheme, Format a, Format b, const Needs& needs = {}) const {
    const unsigned a_set = format_set::of(scheme, a), b_set = format_set::of(scheme, b);
    if (a_set == 0 || b_set == 0) driver_format(scheme, a_set == 0 ? a : b);  // says why no tile has it
    const unsigned results = needs.results ? static_cast<unsigned>(*needs.results) : 0,
                   needed = a_set | b_set | results;
    const auto has = [&](const TileConfig& config) {
      return (config.format_set & needed) == needed && (config.requantize || !needs.results) &&
             (config.sparse || !needs.sparse) && (config.codec != 0 || !needs.decoders) &&
             (config.encoders != 0 || !needs.encoders);
    };
    const auto worth = [](const TileConfig& config) {
      return std::tuple(config.products_a_cycle(), -std::popcount(config.format_set));
    };
    const std::string formats = product_name(scheme, a, b) + (needs.sparse ? " with a sparse operand" : "") +
                                (needs.decoders ? " of compressed operands" : "") +
                                (needs.results ? " with results in " + std::string(desc(*needs.results).name) : "") +
                                (needs.encoders ? " that are compressed" : "");
    if (!options_.tile.empty()) {
      const std::size_t named = index_of(options_.tile);
      if (has(configs[named])) return named;
      throw Error("tile \"" + options_.tile + "\" does not have " + formats +
                  "; expected one that has it, which the engine finds if no tile is named");
    }
    const TileConfig* best = nullptr;
    for (const TileConfig& config : configs)
      if (has(config) && (!best || worth(config) > worth(*best))) best = &config;
    if (!best) throw Error("no tile has " + formats + "; expected a product that one of tiles() has");
    return static_cast<std::size_t>(best - configs);
  }

  /// Models are kept: making one takes longer than a small product.
  TilePinModel& model(std::size_t index) {
    std::unique_ptr<TilePinModel>& model = models_[index];
    if (!model) model = make_tile(simulator_, index, {});
    return *model;
  }

  std::string_view name_;
  Simulator simulator_;
  TileEngineOptions options_;
  std::vector<std::unique_ptr<TilePinModel>> models_;
};

}  // namespace

std::span<const TileConfig> tile_configs() { return configs; }

std::unique_ptr<TilePinModel> make_tile_pin_model(std::string_view engine, std::string_view tile) {
  if (engine == "rtl") return make_tile(Simulator::verilated, index_of(tile), {});
  if (engine == "systemc") return make_tile(Simulator::cycle_model, index_of(tile), {});
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
