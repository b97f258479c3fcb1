// SPDX-License-Identifier: Apache-2.0
// The engines on simulated tiles against the golden model: every tile; shapes that do and do not fill panels, beats and
// banks; all formats; special values; counters; refusals; the wave file.
#include "narrowgauge/engines/tile_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <random>

#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/engines/tile_bus_on_pins.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/io/error.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

void expect_equal(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  int errors = 0;
  for (std::size_t i = 0; i < got.size() && errors < 20; ++i) {
    const auto g = std::bit_cast<std::uint32_t>(got[i]), e = std::bit_cast<std::uint32_t>(expected[i]);
    EXPECT_EQ(g, e) << "result " << i << ": got " << got[i] << ", expected " << expected[i];
    errors += g != e;
  }
}

struct Shape {
  std::size_t m, n, k;
};

/// Operands of a shape give the model's results on `engine`.
EngineResult expect_model(Engine& engine, const GemmFormat& format, const Shape& s, unsigned seed) {
  SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k));
  const QuantizedMatrix a = test::normal_operand(s.m, s.k, format.a_scheme(), format.a, seed);
  const QuantizedMatrix b = test::normal_operand(s.n, s.k, format.b_scheme(), format.b, seed + 1);
  std::uint64_t done = 0, total = 1;
  EngineResult got = engine.gemm(a, b, [&](std::uint64_t d, std::uint64_t t) { done = d, total = t; });
  expect_equal(got.c, make_model_engine(1)->gemm(a, b).c);
  EXPECT_EQ(done, total);
  EXPECT_EQ(got.products, s.m * s.n * s.k);
  return got;
}

/// Cycles that every clock engine needs for this product; what the counters say of them.
void expect_plausible(const EngineResult& got, const TileConfig& tile, const Shape& s) {
  const std::uint64_t panels = ((s.m + tile.rows - 1) / tile.rows) * ((s.n + tile.cols - 1) / tile.cols);
  const std::uint64_t beats = panels * ((s.k + tile.lanes - 1) / tile.lanes);
  EXPECT_EQ(got.tile, tile.name);
  EXPECT_GT(got.cycles, beats);
  EXPECT_EQ(got.products_possible, got.cycles * tile.products_a_cycle());
  ASSERT_EQ(got.activity.has_value(), tile.counters);
  if (!tile.counters) return;
  EXPECT_LE(got.activity->busy, got.cycles);
  EXPECT_GE(got.activity->busy, beats);
  // Whole beats, but rows and columns in use only.
  EXPECT_EQ(got.activity->products, std::uint64_t{s.m} * s.n * ((s.k + tile.lanes - 1) / tile.lanes * tile.lanes));
}

class EveryTile : public testing::TestWithParam<TileConfig> {};

TEST_P(EveryTile, EqualsTheModelForEveryShape) {
  const TileConfig& tile = GetParam();
  const auto rtl = make_rtl_engine({.tile = std::string(tile.name)});
  const auto systemc = make_systemc_engine({.tile = std::string(tile.name)});
  const std::size_t bank = std::min(tile.a_depth, tile.b_depth) * tile.lanes;  // longest k of one pass
  unsigned seed = 1;
  for (const Shape& s : {Shape{1, 1, 1},
                         {8, 8, 16},
                         {9, 7, 17},
                         {17, 33, 65},
                         {3, 33, 250},
                         {70, 20, 128},
                         {2, 3, bank},
                         {5, 9, bank + 1},
                         {3, 2, 3 * bank - 5}}) {
    for (const GemmFormat& format : gemm_formats) {
      if (!format_set::has(tile.format_set, tile.mx, format)) continue;
      const EngineResult got = expect_model(*rtl, format, s, seed += 2);
      expect_plausible(got, tile, s);
      const EngineResult same = expect_model(*systemc, format, s, seed);
      EXPECT_EQ(same.cycles, got.cycles);
      EXPECT_EQ(same.activity, got.activity);
      EXPECT_EQ(same.tile, got.tile);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Tiles, EveryTile, testing::ValuesIn(tile_configs().begin(), tile_configs().end()),
                         [](const auto& info) { return std::string(info.param.name); });

class RtlEngineFormats : public testing::TestWithParam<GemmFormat> {};

TEST_P(RtlEngineFormats, SpecialValuesEqualTheModel) {
  const GemmFormat& format = GetParam();
  const auto rtl = make_rtl_engine(), model = make_model_engine(1);
  std::mt19937 generator(7);
  for (int round = 0; round < 20; ++round) {
    QuantizedMatrix a = test::normal_operand(9, 40, format.a_scheme(), format.a, generator());
    QuantizedMatrix b = test::normal_operand(10, 40, format.b_scheme(), format.b, generator());
    for (QuantizedMatrix* q : {&a, &b}) {  // any code and any scale here and there, within the vectors
      for (int i = 0; i < 3; ++i) {
        const std::size_t at = generator() % q->rows * q->k_padded + generator() % q->k;
        q->codes[at] = static_cast<std::uint8_t>(generator() & ((1U << desc(q->element).bits) - 1));
      }
      if (!q->scales.empty()) q->scales[generator() % q->scales.size()] = static_cast<std::uint8_t>(generator() & 0x7F);
    }
    expect_equal(rtl->gemm(a, b).c, model->gemm(a, b).c);
  }
}

std::vector<GemmFormat> supported() {
  std::vector<GemmFormat> formats;
  for (const GemmFormat& f : gemm_formats)
    if (format_set::has(format_set::all, is_mx(f.scheme), f)) formats.push_back(f);
  return formats;
}
INSTANTIATE_TEST_SUITE_P(AllFormats, RtlEngineFormats, testing::ValuesIn(supported()),
                         [](const auto& info) { return std::string(info.param.name); });

// The product of the tensor scales is no FP32 number; what it scales is.
TEST_P(RtlEngineFormats, TinyTensorScalesEqualTheModel) {
  const GemmFormat& format = GetParam();
  QuantizedMatrix a = test::normal_operand(9, 40, format.a_scheme(), format.a, 11);
  QuantizedMatrix b = test::normal_operand(10, 40, format.b_scheme(), format.b, 12);
  a.tensor_scale = 0x1.8p-75F;
  b.tensor_scale = 0x1.4p-76F;
  const std::vector<float> c = make_model_engine(1)->gemm(a, b).c;
  EXPECT_NE(c[0], 0.0F);
  expect_equal(make_rtl_engine()->gemm(a, b).c, c);
  expect_equal(make_systemc_engine()->gemm(a, b).c, c);
}

TEST(RtlEngine, KeepsTheLargeArrayBusy) {
  // What the README claims, on a product that fills it: start and end take the rest.
  const EngineResult got = expect_model(*make_rtl_engine(), find_gemm_format("nvfp4"), {256, 256, 1024}, 1);
  EXPECT_EQ(got.tile, "large");
  EXPECT_GT(got.utilization(), 0.96);
  ASSERT_TRUE(got.utilization_computing());
  EXPECT_GT(*got.utilization_computing(), 0.99);
  EXPECT_EQ(got.activity->stall_out, 0U);
}

TEST(RtlEngine, KeepsTheWideArraysBusy) {
  for (const auto& [tile, format] : {std::pair{"wide", "nvfp4"}, {"wide_e4m3", "fp8_e4m3"}}) {
    const auto rtl = make_rtl_engine({.tile = tile});
    EXPECT_GT(expect_model(*rtl, find_gemm_format(format), {256, 256, 1024}, 1).utilization(), 0.97) << tile;
    // An image a cycle gives 60.0 %, two cycles an image 52 %; reading the signature takes six cycles, 0.09 %.
    EXPECT_GT(expect_model(*rtl, find_gemm_format(format), {20, 20, 5000}, 1).utilization(), 0.599) << tile;
  }
}

// The tiles differ in the format alone: a beat a cycle in both, while LUQ's images are a word shorter on the stream.
TEST(RtlEngine, LuqTakesNoMoreCyclesThanNvfp4) {
  const Shape s{64, 64, 1024};
  const EngineResult luq = expect_model(*make_rtl_engine({.tile = "luq"}), find_gemm_format("luq"), s, 1);
  const EngineResult nvfp4 = expect_model(*make_rtl_engine({.tile = "chain"}), find_gemm_format("nvfp4"), s, 1);
  EXPECT_LE(luq.cycles, nvfp4.cycles);
  EXPECT_EQ(luq.activity->products, nvfp4.activity->products);
  EXPECT_NEAR(*luq.utilization_computing(), *nvfp4.utilization_computing(), 0.001);
}

/// Operands of a shape, the left one sparse, give the model's results on `engine`.
EngineResult expect_sparse(Engine& engine, const Shape& s, unsigned seed,
                           const GemmFormat& format = find_gemm_format("nvfp4"), const NmPattern& pattern = {}) {
  SCOPED_TRACE(std::string(format.name) + " " + pattern.name() + " " + std::to_string(s.m) + " x " +
               std::to_string(s.n) + " x " + std::to_string(s.k));
  const QuantizedMatrix a = test::sparse_product_operand(s.m, s.k, true, seed, format, pattern);
  const QuantizedMatrix b = test::sparse_product_operand(s.n, s.k, false, seed + 1, format);
  EngineResult got = engine.gemm_sparse(a, b, pattern);
  expect_equal(got.c, make_model_engine(1)->gemm(a, b).c);
  EXPECT_EQ(got.products, s.m * s.n * s.k);
  return got;
}

TEST(RtlEngine, MultipliesSparseOperands) {
  const auto rtl = make_rtl_engine(), systemc = make_systemc_engine();
  unsigned seed = 1;
  for (const Shape& s :
       {Shape{1, 1, 1}, {8, 8, 32}, {9, 7, 17}, {17, 33, 65}, {3, 33, 250}, {2, 3, 8192}, {5, 9, 20000}}) {
    const EngineResult got = expect_sparse(*rtl, s, seed += 2), same = expect_sparse(*systemc, s, seed);
    EXPECT_EQ(got.tile, "sparse");
    EXPECT_EQ(same.cycles, got.cycles);
    EXPECT_EQ(same.activity, got.activity);
  }
}

TEST(RtlEngine, MultipliesSparseOperandsOfOtherFormatsAndByPairs) {
  const auto rtl = make_rtl_engine(), systemc = make_systemc_engine();
  const NmPattern pairs = NmPattern::of("4:8pair");
  unsigned seed = 1;
  for (const auto& [name, tile] : {std::pair{"nvfp4", "sparse"},
                                   {"fp8_e4m3", "sparse_fp8"},
                                   {"fp8_e5m2", "sparse_fp8"},
                                   {"fp8_e4m3_e5m2", "sparse_fp8"},
                                   {"luq", "sparse_luq"}}) {
    for (const NmPattern& pattern : {NmPattern{}, pairs}) {
      for (const Shape& s : {Shape{9, 7, 17}, {17, 6, 65}, {3, 9, 250}, {2, 3, 8192}}) {
        const GemmFormat& format = find_gemm_format(name);
        const EngineResult got = expect_sparse(*rtl, s, seed += 2, format, pattern);
        const EngineResult same = expect_sparse(*systemc, s, seed, format, pattern);
        EXPECT_EQ(got.tile, tile);
        EXPECT_EQ(same.cycles, got.cycles);
        EXPECT_EQ(same.activity, got.activity);
      }
    }
    // Dense on the same tile.
    expect_model(*make_rtl_engine({.tile = tile}), find_gemm_format(name), {9, 7, 65}, 1);
  }
}

// Half of the beats, and what begins and ends a product; the dense product is the same tile's.
TEST(RtlEngine, SparseOperandsTakeHalfOfTheCycles) {
  const Shape s{256, 256, 1024};
  const EngineResult sparse = expect_sparse(*make_rtl_engine({.tile = "sparse"}), s, 1);
  const EngineResult dense = expect_model(*make_systemc_engine({.tile = "sparse"}), find_gemm_format("nvfp4"), s, 1);
  EXPECT_LE(static_cast<double>(sparse.cycles), 0.505 * static_cast<double>(dense.cycles));
  EXPECT_LE(static_cast<double>(sparse.cycles), 0.505 * 256 * 256 * 1024 / 256)
      << "any dense schedule of such an array";
  EXPECT_GT(sparse.utilization(), 0.99);
  std::cout << "256x256x1024 on tile sparse: " << dense.cycles << " cycles dense, " << sparse.cycles << " sparse\n";
}

TEST(RtlEngine, RefusesWhatIsNotSparse) {
  const auto engine = make_systemc_engine();
  const QuantizedMatrix a = test::sparse_product_operand(3, 64, true, 1),
                        b = test::sparse_product_operand(4, 64, false, 2);
  const QuantizedMatrix narrow = test::normal_operand(4, 64, Scheme::nvfp4, Format::e2m1, 3);
  EXPECT_NO_THROW(engine->gemm_sparse(a, b, {}));
  EXPECT_THROW(engine->gemm_sparse(b, a, {}), Error) << "three of four";
  EXPECT_THROW(engine->gemm_sparse(a, b, NmPattern::of("4:8pair")), Error) << "three pairs";
  EXPECT_THROW(engine->gemm_sparse(a, b, NmPattern::of("4:8")), Error) << "no such pattern";
  EXPECT_THROW(engine->gemm_sparse(a, narrow, {}), Error) << "scales of 16";
  EXPECT_THROW(make_model_engine(1)->gemm_sparse(a, narrow, {}), Error);
  EXPECT_THROW(make_systemc_engine({.tile = "large"})->gemm_sparse(a, b, {}), Error);
  EXPECT_THROW(engine->check_sparse(Scheme::nvfp4, Format::e2m1, Format::e2m1, (1 << 20) + 1), Error);
}

/// Vectors of which every second element is zero, as behind a ReLU.
QuantizedMatrix half_zero_operand(std::size_t vectors, std::size_t k, unsigned seed) {
  std::vector<float> x = test::normal_values(vectors * k, seed);
  for (float& value : x) value = std::max(value, 0.0F);
  return quantize(x, vectors, k, Axis::rows, {.scheme = Scheme::nvfp4, .element = Format::e2m1});
}

/// Such operands of a shape, sent compressed, give the model's results on `engine`.
EngineResult expect_compressed(Engine& engine, const Shape& s, const Compressed& compressed, unsigned seed) {
  SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k));
  const QuantizedMatrix a = half_zero_operand(s.m, s.k, seed), b = half_zero_operand(s.n, s.k, seed + 1);
  EngineResult got = engine.gemm_compressed(a, b, compressed);
  expect_equal(got.c, make_model_engine(1)->gemm(a, b).c);
  return got;
}

TEST(RtlEngine, MultipliesCompressedOperands) {
  const auto rtl = make_rtl_engine(), systemc = make_systemc_engine();
  unsigned seed = 1;
  for (const Shape& s :
       {Shape{1, 1, 1}, {4, 4, 16}, {9, 7, 17}, {17, 33, 65}, {40, 33, 250}, {20, 3, 4096}, {5, 9, 9000}}) {
    for (const Compressed& compressed : {Compressed{.a = true, .b = true}, {.a = true}, {.b = true}}) {
      const EngineResult got = expect_compressed(*rtl, s, compressed, seed += 2),
                         same = expect_compressed(*systemc, s, compressed, seed);
      EXPECT_EQ(got.tile, "codec");
      EXPECT_EQ(same.cycles, got.cycles);
      EXPECT_EQ(same.activity, got.activity);
      EXPECT_EQ(same.operand_bytes, got.operand_bytes);
    }
  }
}

// Half of the elements zero: what is read is less by a third.
TEST(RtlEngine, CompressedOperandsTakeFewerBytes) {
  const auto engine = make_systemc_engine({.tile = "codec"});
  for (const Shape& s : {Shape{128, 128, 512}, {256, 256, 1024}}) {
    const EngineResult raw = expect_model(*engine, find_gemm_format("nvfp4"), s, 1);
    const EngineResult both = expect_compressed(*engine, s, {.a = true, .b = true}, 1);
    EXPECT_LT(static_cast<double>(both.operand_bytes), 0.75 * static_cast<double>(raw.operand_bytes));
    EXPECT_LT(static_cast<double>(both.cycles), 1.3 * static_cast<double>(raw.cycles));
    std::cout << s.m << "x" << s.n << "x" << s.k << " on tile codec: " << raw.operand_bytes << " bytes in "
              << raw.cycles << " cycles, compressed " << both.operand_bytes << " in " << both.cycles << "\n";
  }
}

// A packet with a wrong bit gives other numbers or an error, which a reset ends; the right packet then gives the
// product.
TEST(RtlEngine, BrokenPacketsAreErrorsThatAResetEnds) {
  const auto model = make_tile_pin_model("systemc", "codec");
  TileBusOnPins pins(*model, 4);
  TileDriverPort bridge(pins);
  const ng_port_t port = bridge.port();
  const ng_tile_config_t at{.port = &port, .base = 0, .timeout_ticks = 100'000};
  ng_tile_t tile;
  ASSERT_EQ(ng_tile_init(&tile, &at), NG_OK);
  const QuantizedMatrix a = half_zero_operand(20, 200, 1), b = half_zero_operand(9, 200, 2);
  DriverGemm product(tile, a, b);
  const ng_operand_t raw = product.config.a;
  product.compress(tile, {.a = true, .b = true});
  const ng_operand_t whole = product.config.a;
  std::mt19937 generator(3);
  unsigned errors = 0;
  for (int i = 0; i < 60; ++i) {
    std::vector<std::uint8_t> broken(whole.data, whole.data + whole.bytes);
    broken[generator() % broken.size()] ^= static_cast<std::uint8_t>(1U << generator() % 8);
    product.config.a.data = broken.data();
    const ng_result_t result = ng_tile_gemm(&tile, &product.config);
    EXPECT_TRUE(result == NG_OK || result == NG_ERROR_BAD_CODE || result == NG_ERROR_SHORT_STREAM ||
                result == NG_ERROR_LONG_STREAM)
        << ng_result_text(result);
    if (result != NG_OK) {
      ASSERT_EQ(ng_tile_reset(&tile), NG_OK);
    }
    errors += result != NG_OK;
    product.config.a.data = whole.data;
    ASSERT_EQ(ng_tile_gemm(&tile, &product.config), NG_OK);
    expect_equal(product.result(), make_model_engine(1)->gemm(a, b).c);
  }
  EXPECT_GT(errors, 10U);
  // What the driver refuses by itself.
  std::vector<std::size_t> wrong(whole.segments, whole.segments + 6);
  product.config.a.segments = wrong.data();
  wrong[2] = wrong[1];
  EXPECT_EQ(ng_tile_gemm(&tile, &product.config), NG_ERROR_ARGUMENT);
  wrong[2] = whole.segments[2] + 1;
  EXPECT_EQ(ng_tile_gemm(&tile, &product.config), NG_ERROR_ARGUMENT);
  wrong[2] = whole.segments[2];
  product.config.a.bytes += 4;
  EXPECT_EQ(ng_tile_gemm(&tile, &product.config), NG_ERROR_MEMORY);
  std::uint32_t count = 0;
  std::size_t start = 0;
  EXPECT_EQ(ng_tile_segments(&tile, &raw, &count), NG_OK);
  EXPECT_EQ(count, 5U);
  EXPECT_EQ(ng_tile_segment(&tile, &raw, 5, &start), NG_OK);
  EXPECT_EQ(start, raw.bytes);
  EXPECT_EQ(ng_tile_segment(&tile, &raw, 6, &start), NG_ERROR_ARGUMENT);
  std::array<std::uint8_t, 128> lengths{};
  lengths[0] = 0xD0;
  EXPECT_EQ(ng_tile_load_code(&tile, lengths.data()), NG_ERROR_ARGUMENT) << "13 bits";
  lengths.fill(0x11);
  EXPECT_EQ(ng_tile_load_code(&tile, lengths.data()), NG_ERROR_ARGUMENT) << "no prefix code";
  tile.codec = 0;
  EXPECT_EQ(ng_tile_load_code(&tile, lengths.data()), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(ng_tile_gemm(&tile, &product.config), NG_ERROR_UNSUPPORTED);
}

TEST(RtlEngine, RefusesToCompressWithoutADecoder) {
  const QuantizedMatrix a = test::normal_operand(3, 64, Scheme::nvfp4, Format::e2m1, 1);
  EXPECT_THROW(make_systemc_engine({.tile = "large"})->gemm_compressed(a, a, {.a = true}), Error);
  EXPECT_THROW(make_systemc_engine()->gemm_compressed(a, a, {.c = true}), Error) << "float32";
  EXPECT_THROW(make_model_engine()->gemm_compressed(a, a, {.c = true}), Error) << "float32";
  const QuantizedMatrix fp8 = test::normal_operand(3, 64, Scheme::fp8, Format::e4m3, 1);
  EXPECT_THROW(make_systemc_engine()->gemm_compressed(fp8, fp8, {.b = true}), Error);
}

TEST(RtlEngine, TakesTheCheapestTileThatHasTheFormats) {
  const auto rtl = make_rtl_engine();
  EXPECT_EQ(expect_model(*rtl, find_gemm_format("fp8_e4m3"), {3, 4, 20}, 1).tile, "large_e4m3");
  EXPECT_EQ(expect_model(*rtl, find_gemm_format("fp8_e4m3_e5m2"), {3, 4, 20}, 1).tile, "large_fp8");
  EXPECT_EQ(expect_model(*rtl, find_gemm_format("luq"), {3, 4, 20}, 1).tile, "luq");
  EXPECT_EQ(expect_model(*rtl, find_gemm_format("mxfp4"), {3, 4, 40}, 1).tile, "mxfp4");
  EXPECT_EQ(expect_model(*rtl, find_gemm_format("mxfp8_e5m2_e4m3"), {3, 4, 40}, 1).tile, "mxfp8");
  EXPECT_EQ(expect_model(*rtl, find_gemm_format("mxfp6_e3m2"), {3, 4, 40}, 1).tile, "mxfp8");
  EXPECT_EQ(expect_model(*rtl, find_gemm_format("mxint8"), {3, 4, 40}, 1).tile, "mxint8");
}

TEST(RtlEngine, RefusesWhatItCannotMultiply) {
  const auto rtl = make_rtl_engine();
  const QuantizedMatrix mx = test::normal_operand(2, 32, Scheme::mxfp4, Format::e2m1, 1);
  const QuantizedMatrix nv = test::normal_operand(2, 32, Scheme::nvfp4, Format::e2m1, 1);
  const QuantizedMatrix longer = test::normal_operand(2, 48, Scheme::nvfp4, Format::e2m1, 1);
  const QuantizedMatrix fp8 = test::normal_operand(1, (1 << 20) + 1, Scheme::fp8, Format::e4m3, 1);
  EXPECT_THROW(rtl->gemm(nv, mx), Error);
  EXPECT_THROW(make_rtl_engine({.tile = "large"})->gemm(mx, mx), Error);
  EXPECT_THROW(make_rtl_engine({.tile = "mxfp4"})->gemm(nv, nv), Error);
  // A format that no tile has is an empty set, which every tile would have.
  const QuantizedMatrix fnuz = test::normal_operand(2, 32, Scheme::fp8, Format::e4m3fnuz, 1);
  const QuantizedMatrix ocp = test::normal_operand(2, 32, Scheme::fp8, Format::e4m3, 1);
  EXPECT_THROW(rtl->gemm(fnuz, fnuz), Error);
  EXPECT_THROW(rtl->gemm(ocp, fnuz), Error);
  EXPECT_THROW(rtl->gemm(fnuz, ocp), Error);
  EXPECT_THROW(make_rtl_engine({.tile = "large"})->gemm(fnuz, ocp), Error);
  QuantizedMatrix scaled = test::normal_operand(2, 32, Scheme::fp8, Format::e4m3, 1);
  scaled.scaling = Scaling::vector;
  scaled.fp32_scales = {1, 2};
  scaled.tensor_scale = 1;
  EXPECT_THROW(rtl->gemm(scaled, scaled), Error);
  EXPECT_THROW(rtl->gemm(nv, longer), Error);
  const QuantizedMatrix int4 = test::normal_operand(2, 32, Scheme::int4, Format::e3m0, 1);
  const QuantizedMatrix fp4 = test::normal_operand(2, 32, Scheme::luq, Format::e3m0, 1);
  EXPECT_THROW(rtl->gemm(fp4, int4), Error);
  EXPECT_THROW(rtl->gemm(int4, nv), Error);
  EXPECT_THROW(make_rtl_engine({.tile = "large"})->gemm(int4, fp4), Error);
  EXPECT_THROW(rtl->gemm(fp8, fp8), Error);
  EXPECT_THROW(make_rtl_engine({.tile = "tiny"})->gemm(fp8, fp8), Error);
  EXPECT_THROW(make_rtl_engine({.tile = "huge"}), Error);
  EXPECT_THROW(make_systemc_engine({.trace = "wave.fst"}), Error);
  EXPECT_THROW(make_rtl_engine({.trace = "no/such/folder/wave.fst"})->gemm(nv, nv), io::Error);
  EXPECT_THROW(make_rtl_engine({.deadline = (1U << 31) + 1}), Error);
  EXPECT_THROW(make_rtl_engine({.deadline = 9})->gemm(ocp, ocp), Error);
  EXPECT_THROW(make_rtl_engine({.tile = "tiny", .deadline = 9})->gemm(nv, nv), Error);
}

// Results that take two factors would be rounded to BF16 in between: the driver refuses them, and no others.
TEST(DriverGemm, RefusesBf16ResultsWithTwoFactors) {
  const auto model = make_tile_pin_model("systemc", "tiny");
  TileBusOnPins pins(*model, 4);
  TileDriverPort bridge(pins);
  const ng_port_t port = bridge.port();
  const ng_tile_config_t at{.port = &port, .base = 0, .timeout_ticks = 100'000};
  ng_tile_t tile;
  ASSERT_EQ(ng_tile_init(&tile, &at), NG_OK);
  QuantizedMatrix a = test::normal_operand(1, 16, Scheme::nvfp4, Format::e2m1, 1);
  QuantizedMatrix b = test::normal_operand(1, 16, Scheme::nvfp4, Format::e2m1, 2);
  EXPECT_NO_THROW(DriverGemm(tile, a, b, true));
  a.tensor_scale = b.tensor_scale = 0x1p-63F;  // the least normal product
  EXPECT_NO_THROW(DriverGemm(tile, a, b, true));
  a.tensor_scale = b.tensor_scale = 0x1p-75F;
  EXPECT_NO_THROW(DriverGemm(tile, a, b, false));
  try {
    const DriverGemm product(tile, a, b, true);
    ADD_FAILURE() << "BF16 results with two factors were not refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("-75.000000 and -75.000000"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("ask for FP32 results"), std::string::npos) << error.what();
  }
}

/// Integers are the golden model's on both simulations, in the same cycles, and no slower than FP32 is.
TEST(RtlEngine, IntegersEqualGolden) {
  const auto golden = make_model_engine(1);
  const auto rtl = make_rtl_engine({.tile = "integers"}), systemc = make_systemc_engine({.tile = "integers"});
  for (const auto& [scheme, element] : {std::pair(Scheme::nvfp4, Format::e2m1), std::pair(Scheme::fp8, Format::e4m3)}) {
    for (const auto& [m, n, k] : {std::array<std::size_t, 3>{1, 1, 16}, {5, 7, 100}, {33, 18, 400}}) {
      QuantizedMatrix a = test::normal_operand(m, k, scheme, element, 1);
      QuantizedMatrix b = test::normal_operand(n, k, scheme, element, 2);
      const AffineRange range{.scale = 0.3F, .zero_point = static_cast<int>(m) - 17};
      const IntegerResult expected = golden->gemm_integers(a, b, range);
      const IntegerResult got = rtl->gemm_integers(a, b, range), same = systemc->gemm_integers(a, b, range);
      EXPECT_EQ(got.c, expected.c);
      EXPECT_EQ(same.c, expected.c);
      EXPECT_EQ(got.run.cycles, same.run.cycles);
      const EngineResult floats = systemc->gemm(a, b);
      EXPECT_LE(same.run.cycles, floats.cycles + 8);  // two writes of the driver more
      EXPECT_LE(same.run.result_bytes, floats.result_bytes);
      expect_equal(floats.c, golden->gemm(a, b).c);
    }
  }
  const QuantizedMatrix a = test::normal_operand(4, 32, Scheme::nvfp4, Format::e2m1, 1);
  EXPECT_EQ(make_systemc_engine()->gemm_integers(a, a, {}).run.tile, "integers");
  EXPECT_THROW(make_systemc_engine({.tile = "tiny"})->gemm_integers(a, a, {}), Error);
  for (const AffineRange wrong : {AffineRange{.scale = 0}, AffineRange{.scale = -1}, AffineRange{.scale = 1e38F},
                                  AffineRange{.zero_point = 256}, AffineRange{.zero_point = -257}}) {
    EXPECT_THROW(systemc->gemm_integers(a, a, wrong), Error);
    EXPECT_THROW(golden->gemm_integers(a, a, wrong), Error);
  }
}

/// Of one row of results, the deadline ends one sum in the middle and leaves those behind it one beat; which, follows
/// from the beats that were taken.
TEST(RtlEngine, SumsEndAtADeadline) {
  const std::size_t n = 12, lanes = 16, beats = 9, k = lanes * beats;
  const QuantizedMatrix a = test::normal_operand(1, k, Scheme::nvfp4, Format::e2m1, 1);
  const QuantizedMatrix b = test::normal_operand(n, k, Scheme::nvfp4, Format::e2m1, 2);
  const auto golden = make_model_engine(1);
  const auto first = [&](const QuantizedMatrix& q, std::size_t row, std::size_t steps) {
    QuantizedMatrix part = q;
    part.rows = 1;
    part.k = part.k_padded = steps * lanes;
    const auto codes = q.codes.begin() + static_cast<std::ptrdiff_t>(row * q.k_padded);
    const auto scales = q.scales.begin() + static_cast<std::ptrdiff_t>(row * q.blocks());
    part.codes.assign(codes, codes + static_cast<std::ptrdiff_t>(part.k));
    part.scales.assign(scales, scales + static_cast<std::ptrdiff_t>(steps));
    return part;
  };
  unsigned cut = 0, in_time = 0;
  for (std::uint32_t clocks = 1; clocks < 1200; clocks += 37) {
    SCOPED_TRACE(clocks);
    const EngineResult got = make_rtl_engine({.deadline = clocks})->gemm(a, b);
    const EngineResult same = make_systemc_engine({.tile = "tiny_deadline", .deadline = clocks})->gemm(a, b);
    expect_equal(got.c, same.c);
    EXPECT_EQ(got.cycles, same.cycles);
    EXPECT_EQ(got.deadline, same.deadline);
    EXPECT_EQ(got.tile, "tiny_deadline");
    ASSERT_TRUE(got.deadline.has_value());
    EXPECT_EQ(got.deadline->whole, n * beats);
    EXPECT_EQ(got.ended_early(), got.deadline->beats < n * beats);
    EXPECT_TRUE(got.deadline->late || !got.ended_early());
    (got.ended_early() ? cut : in_time) += 1;
    std::vector<float> expected;
    std::uint64_t left = got.deadline->beats;  // of which each result behind this one has one at least
    for (std::size_t column = 0; column < n; ++column) {
      const std::uint64_t steps = std::min<std::uint64_t>(beats, left - (n - column - 1));
      expected.push_back(golden->gemm(first(a, 0, steps), first(b, column, steps)).c[0]);
      left -= steps;
    }
    EXPECT_EQ(left, 0U);
    expect_equal(got.c, expected);
  }
  EXPECT_GT(cut, 5U);
  EXPECT_GT(in_time, 2U);
  // Of several rows, beats take longer than loads.
  const QuantizedMatrix rows = test::normal_operand(7, k, Scheme::nvfp4, Format::e2m1, 3);
  EXPECT_LT(make_rtl_engine({.deadline = 1})->gemm(rows, b).cycles + 300,
            make_rtl_engine({.tile = "tiny_deadline"})->gemm(rows, b).cycles);
}

TEST(RtlEngine, WritesWaves) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("ng_rtl_engine_test_" + std::to_string(std::random_device{}()) + ".fst");
  const QuantizedMatrix a = test::normal_operand(9, 40, Scheme::nvfp4, Format::e2m1, 1);
  const QuantizedMatrix b = test::normal_operand(8, 40, Scheme::nvfp4, Format::e2m1, 2);
  std::vector<float> traced;
  traced = make_rtl_engine({.trace = file.string()})->gemm(a, b).c;
  expect_equal(traced, make_model_engine(1)->gemm(a, b).c);
  EXPECT_GT(std::filesystem::file_size(file), 1000U);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace narrowgauge
