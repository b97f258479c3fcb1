// SPDX-License-Identifier: Apache-2.0
#include "driven_engine.hpp"

#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/sparse/sparse_product.hpp"

namespace narrowgauge {

namespace {

/// The name of a product's format, as gemm_formats() has it.
std::string product_name(Scheme scheme, Format a, Format b) {
  for (const GemmFormat& f : gemm_formats)
    if (f.scheme == product_scheme(scheme) && f.a == a && f.b == b) return std::string(f.name);
  return std::string(desc(a).name) + " times " + std::string(desc(b).name);
}

void check_beats(const TileConfig& tile, std::size_t k, std::size_t k_a_beat) {
  if (const std::size_t beats = (k + k_a_beat - 1) / k_a_beat; beats > tile.max_beats) {
    throw Error("the contraction of length " + std::to_string(k) + " takes " + std::to_string(beats) +
                " beats of tile " + std::string(tile.name) + "; expected at most " + std::to_string(tile.max_beats) +
                "; split it and add the parts");
  }
}

}  // namespace

bool has(const TileConfig& tile, Scheme scheme, Format a, Format b, const TileNeeds& needs) {
  const unsigned results = needs.results ? static_cast<unsigned>(*needs.results) : 0;
  return format_set::has(tile.format_set, tile.mx, scheme, a, b) && (tile.format_set & results) == results &&
         (tile.requantize || !needs.results) && (tile.sparse || !needs.sparse) &&
         (tile.codec != 0 || !needs.decoders) && (tile.encoders != 0 || !needs.encoders) &&
         (tile.deadline || !needs.deadline) && (tile.integers || !needs.integers);
}

std::string product_text(Scheme scheme, Format a, Format b, const TileNeeds& needs) {
  for (const Format side : {a, b})
    if (format_set::of(scheme, side) == 0) driver_format(scheme, side);  // says why no tile has it
  return product_name(scheme, a, b) + (needs.sparse ? " with a sparse operand" : "") +
         (needs.decoders ? " of compressed operands" : "") +
         (needs.results ? " with results in " + std::string(desc(*needs.results).name) : "") +
         (needs.encoders ? " that are compressed" : "") + (needs.deadline ? " under a deadline" : "") +
         (needs.integers ? " with results in INT8" : "");
}

void DrivenEngine::check(Scheme scheme, Format a, Format b, std::size_t k) const {
  check_contraction(scheme, k);
  const TileConfig& tile = choose(scheme, a, b, {});
  check_beats(tile, k, tile.lanes);
}

void DrivenEngine::check_sparse(Scheme scheme, Format a, Format b, std::size_t k) const {
  check_contraction(scheme, k);
  const TileConfig& tile = choose(scheme, a, b, {.sparse = true});
  check_beats(tile, k, std::size_t{2} * tile.lanes);
}

void DrivenEngine::check_compressed(Scheme scheme, Format a, Format b, std::size_t k) const {
  check_contraction(scheme, k);
  const TileConfig& tile = choose(scheme, a, b, {.decoders = true});
  check_beats(tile, k, tile.lanes);
}

EngineResult DrivenEngine::gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, const Progress& progress) {
  check_product(a, b);
  check(a.scheme, a.element, b.element, a.k);
  return run(choose(a.scheme, a.element, b.element, {}), {a, b, progress});
}

EngineResult DrivenEngine::gemm_sparse(const QuantizedMatrix& a, const QuantizedMatrix& b, const NmPattern& pattern,
                                       const Progress& progress) {
  check_sparse_product(a, b, pattern);
  check_sparse(a.scheme, a.element, b.element, a.k);
  return run(choose(a.scheme, a.element, b.element, {.sparse = true}), {a, b, progress, nullptr, pattern});
}

EngineResult DrivenEngine::gemm_compressed(const QuantizedMatrix& a, const QuantizedMatrix& b,
                                           const Compressed& compressed, const Progress& progress) {
  check_operands_only(compressed);
  check_product(a, b);
  check_compressed(a.scheme, a.element, b.element, a.k);
  return run(choose(a.scheme, a.element, b.element, {.decoders = true}),
             {a, b, progress, nullptr, std::nullopt, {.compressed = compressed}});
}

RequantizedResult DrivenEngine::gemm_requantized(const QuantizedMatrix& a, const QuantizedMatrix& b, float tensor_scale,
                                                 const RequantizeOptions& options, const Progress& progress) {
  check_product(a, b);
  check_result_scale(options.format, tensor_scale);
  check(a.scheme, a.element, b.element, a.k);
  RequantizedResult result;
  result.c.tensor_scale = tensor_scale;
  const Compressed& compressed = options.compressed;
  const TileNeeds needs{.results = options.format, .decoders = compressed.a || compressed.b, .encoders = compressed.c};
  result.run = run(choose(a.scheme, a.element, b.element, needs), {a, b, progress, &result, std::nullopt, options});
  return result;
}

IntegerResult DrivenEngine::gemm_integers(const QuantizedMatrix& a, const QuantizedMatrix& b, const AffineRange& c,
                                          const Progress& progress) {
  check_product(a, b);
  const float factor = integer_factor(a, b, c);
  check(a.scheme, a.element, b.element, a.k);
  IntegerResult result;
  ProductOrder order{a, b, progress};
  order.integers = &result;
  order.factor = factor;
  order.zero_point = c.zero_point;
  result.run = run(choose(a.scheme, a.element, b.element, {.integers = true}), order);
  return result;
}

EngineResult drive_product(const TileDrive& drive, const ProductOrder& order) {
  const ng_tile_t& tile = drive.tile;
  const auto expect = [&](ng_result_t result) {
    expect_ok(result, drive.what, drive.why ? *drive.why : std::string{});
  };
  RequantizedResult* const requantized = order.requantized;
  DriverGemm product(
      tile, order.a, order.b, false,
      requantized ? std::optional(Requantized{order.options.format, requantized->c.tensor_scale}) : std::nullopt,
      order.sparse);
  product.config.relu = order.options.relu;
  product.config.again = order.again;
  if (order.integers) product.integers(order.factor, order.zero_point);
  if (order.options.compressed.any()) product.compress(tile, order.options.compressed);
  if (requantized) expect(ng_tile_clear_amax(&tile));
  if (tile.counters) expect(ng_tile_clear_counters(&tile));

  if (drive.deadline != 0) expect(ng_tile_deadline(&tile, drive.deadline));

  const std::uint64_t start = drive.cycles ? drive.cycles() : 0;
  ng_gemm_t gemm;
  expect(ng_tile_gemm_start(&gemm, &tile, &product.config));
  const std::uint64_t blocks = std::uint64_t{gemm.blocks} * gemm.chunks;
  ng_result_t state;
  while ((state = ng_tile_gemm_step(&gemm)) == NG_BUSY) {
    drive.port.idle(drive.port.ctx);
    if (drive.between) drive.between();
    if (order.progress) order.progress(std::uint64_t{gemm.result.block} * gemm.chunks + gemm.result.chunk, blocks);
  }
  expect(state);
  if (order.progress) order.progress(blocks, blocks);

  EngineResult result;
  if (drive.cycles) result.cycles = drive.cycles() - start;
  result.operand_bytes = gemm.sent;
  result.result_bytes = gemm.received;
  if (requantized) {
    requantized->c = product.requantized(tile);
    expect(ng_tile_amax(&tile, &requantized->amax));
  } else if (order.integers) {
    order.integers->c = product.integers();
  } else {
    result.c = product.result();
  }
  if (drive.deadline != 0) {
    std::uint32_t beats = 0;
    bool late = false;
    expect(ng_tile_progress(&tile, &beats, &late));
    const std::uint64_t whole = std::uint64_t{gemm.a_panels} * gemm.b_panels * gemm.beats;
    result.deadline = {.late = late, .beats = beats, .whole = whole};
  }
  result.products = std::uint64_t{order.a.rows} * order.b.rows * order.a.k;
  if (tile.counters) {
    ng_counters_t n;
    expect(ng_tile_counters(&tile, &n));
    result.activity = {n.cycles, n.busy, n.stall_in, n.stall_out, n.products, n.zero_a, n.zero_b, n.flips_a, n.flips_b};
    if (!drive.cycles) result.cycles = n.cycles;
  }
  return result;
}

}  // namespace narrowgauge
