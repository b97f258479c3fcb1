// SPDX-License-Identifier: Apache-2.0
// Results that the tile requantizes to NVFP4, FP8 and INT4: whole networks of two layers, in which what the first one's
// results are is what the second one loads, byte for byte; shapes that do and do not fill images, panels and banks;
// delayed scaling from AMAX; special values; cycles; refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/engines/tile_bus_on_pins.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

constexpr const char* tile_name = "chain";

/// Products of a format whose results have another one, or the same, on a tile.
struct Kind {
  const char* tile;
  const char* product;
  ResultFormat results;
};
constexpr Kind kinds[] = {{"chain", "nvfp4", ResultFormat::nvfp4},
                          {"chain_fp8", "fp8_e4m3", ResultFormat::e4m3},
                          {"chain_fp8", "fp8_e5m2", ResultFormat::e5m2},
                          {"chain_fp8", "fp8_e4m3_e5m2", ResultFormat::e5m2},
                          {"chain_fp8", "fp8_e5m2_e4m3", ResultFormat::e4m3},
                          {"luq", "luq", ResultFormat::int4}};
std::string text(const Kind& kind) {
  return std::string(kind.product) + " to " + std::string(desc(kind.results).name) + " on " + kind.tile;
}

QuantizedMatrix operand(std::size_t vectors, std::size_t k, unsigned seed, const Kind& kind = kinds[0],
                        bool right = false) {
  const GemmFormat& format = find_gemm_format(kind.product);
  return test::normal_operand(vectors, k, right ? format.b_scheme() : format.a_scheme(), right ? format.b : format.a,
                              seed);
}

/// A tensor scale for the results of operands of normal values.
float scale_for(const Kind& kind, std::size_t k) {
  return result_scale(kind.results, 4 * std::sqrt(static_cast<float>(k)));
}

void expect_same(const QuantizedMatrix& got, const QuantizedMatrix& expected) {
  EXPECT_EQ(got.scheme, expected.scheme);
  EXPECT_EQ(got.element, expected.element);
  EXPECT_EQ(got.rows, expected.rows);
  EXPECT_EQ(got.k, expected.k);
  EXPECT_EQ(got.k_padded, expected.k_padded);
  EXPECT_EQ(got.codes, expected.codes);
  EXPECT_EQ(got.scales, expected.scales);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(got.tensor_scale), std::bit_cast<std::uint32_t>(expected.tensor_scale));
}

struct Shape {
  std::size_t m, n, k;
};

/// Both clock engines give the model's codes and scales, in the same cycles and bytes.
RequantizedResult expect_model(const QuantizedMatrix& a, const QuantizedMatrix& b, float tensor_scale,
                               const char* tile = tile_name, const RequantizeOptions& options = {}) {
  const RequantizedResult expected = make_model_engine(1)->gemm_requantized(a, b, tensor_scale, options);
  const RequantizedResult rtl = make_rtl_engine({.tile = tile})->gemm_requantized(a, b, tensor_scale, options);
  const RequantizedResult systemc = make_systemc_engine({.tile = tile})->gemm_requantized(a, b, tensor_scale, options);
  for (const RequantizedResult* got : {&rtl, &systemc}) {
    expect_same(got->c, expected.c);
    EXPECT_EQ(got->amax, expected.amax);
    EXPECT_TRUE(got->run.c.empty());
  }
  EXPECT_GT(rtl.run.cycles, 0U);
  EXPECT_EQ(rtl.run.cycles, systemc.run.cycles);
  EXPECT_EQ(rtl.run.activity, systemc.run.activity);
  EXPECT_EQ(rtl.run.result_bytes, systemc.run.result_bytes);
  return rtl;
}

TEST(Requantize, EqualsTheModelForEveryShapeAndFormat) {
  unsigned seed = 1;
  for (const Kind& kind : kinds)
    for (const Shape& s : {Shape{1, 1, 1},
                           {4, 16, 16},
                           {5, 17, 33},
                           {7, 3, 1024},
                           {9, 40, 1000},
                           {33, 100, 64},
                           {3, 200, 48},
                           {130, 20, 130}}) {
      SCOPED_TRACE(text(kind) + ", " + std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k));
      seed += 2;
      expect_model(operand(s.m, s.k, seed, kind), operand(s.n, s.k, seed + 1, kind, true), scale_for(kind, s.k),
                   kind.tile, {.format = kind.results});
    }
}

TEST(Requantize, SpecialValuesEqualTheModel) {
  QuantizedMatrix a = operand(9, 40, 3), b = operand(35, 40, 4);
  a.scales[4] = 0x7F;  // a row of NaN, beside rows of numbers
  expect_model(a, b, 0.01F);
  a.scales[4] = 0;
  for (const float g : {0x1p-111F, 1e-6F, 1e6F, 1e38F}) expect_model(a, b, g);
  a.tensor_scale = 0x1p120F;  // results beyond BF16
  expect_model(a, b, 0x1p100F);
  a.tensor_scale = -1;  // -0 behind the last column
  expect_model(a, b, 0.01F);
}

TEST(Requantize, SpecialValuesInOtherFormatsEqualTheModel) {
  for (const Kind& kind : kinds) {
    if (kind.results == ResultFormat::nvfp4) continue;
    QuantizedMatrix a = operand(9, 40, 3, kind), b = operand(35, 40, 4, kind, true);
    const auto expect = [&](float g, bool relu = false) {
      SCOPED_TRACE(text(kind) + " under " + std::to_string(g));
      return expect_model(a, b, g, kind.tile, {.format = kind.results, .relu = relu});
    };
    for (const float g : {0x1p-111F, 0x1p-20F, 1.0F, 0x1p20F, 0x1p127F}) expect(g);
    if (kind.results == ResultFormat::int4)
      for (const float g : {1e-40F, 0.37F, 3e38F}) expect(g);
    if (kind.results != ResultFormat::int4) a.codes[0] = 0x7F;  // NaN, rectified or not
    for (const bool relu : {false, true}) {
      const QuantizedMatrix c = expect(1, relu).c;
      if (kind.results != ResultFormat::int4) {
        EXPECT_EQ(c.codes[0], 0x7F);
      }
      a.tensor_scale = 0x1p120F;  // results beyond BF16: infinities, which saturate
      expect(0x1p100F, relu);
      a.tensor_scale = -1;  // -0 behind the last column
      expect(0.25F, relu);
      a.tensor_scale = 1;
    }
  }
}

// Rectified results, and compressed ones, are the model's, whatever else is compressed, and whether B stays in its bank
// or passes for each panel of A.
TEST(Requantize, RectifiedAndCompressedResultsEqualTheModel) {
  unsigned seed = 1;
  for (const Shape& s :
       {Shape{1, 1, 1}, {4, 16, 16}, {5, 17, 33}, {9, 40, 100}, {33, 100, 64}, {3, 200, 48}, {21, 64, 500}}) {
    SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k));
    seed += 2;
    const QuantizedMatrix a = operand(s.m, s.k, seed), b = operand(s.n, s.k, seed + 1);
    for (const RequantizeOptions& options : {RequantizeOptions{.relu = true},
                                             {.compressed = {.c = true}},
                                             {.relu = true, .compressed = {.a = true, .c = true}},
                                             {.relu = true, .compressed = {.b = true, .c = true}},
                                             {.compressed = {.a = true, .b = true}}})
      expect_model(a, b, std::sqrt(static_cast<float>(s.k)) / 700, "codec", options);
  }
  QuantizedMatrix a = operand(9, 40, 3), b = operand(35, 40, 4);
  a.scales[4] = 0x7F;  // NaN stay
  expect_model(a, b, 0.01F, "chain", {.relu = true});
  a.scales[4] = 0;
  a.tensor_scale = 0x1p120F;  // infinities, of which the negative ones do not
  expect_model(a, b, 0x1p100F, "chain", {.relu = true});
}

// What compression saves: little where results are rectified and one in two is zero, nothing where they are not, and of
// these a chunk never has more than its head and its blocks' two bits beside its bytes.
TEST(Requantize, CompressedResultsTakeFewerBytes) {
  const auto engine = make_systemc_engine({.tile = "codec"});
  const QuantizedMatrix a = operand(64, 128, 1), b = operand(64, 128, 2);
  for (const bool relu : {true, false}) {
    const QuantizedMatrix& left =
        relu ? engine->gemm_requantized(operand(64, 128, 3), operand(128, 128, 4), 0.01F, {.relu = true}).c : a;
    const EngineResult raw = engine->gemm_requantized(left, b, 0.01F, {.relu = relu}).run;
    const EngineResult packed = engine->gemm_requantized(left, b, 0.01F, {.relu = relu, .compressed = {.c = true}}).run;
    EXPECT_EQ(raw.result_bytes, 64U / 4 * (64 / 16) * 36);
    EXPECT_LT(static_cast<double>(packed.result_bytes), (relu ? 0.8 : 1.12) * static_cast<double>(raw.result_bytes));
    EXPECT_LT(static_cast<double>(packed.cycles), 1.1 * static_cast<double>(raw.cycles));
    std::cout << "64x64x128 on tile codec" << (relu ? ", rectified" : "") << ": results of " << raw.result_bytes
              << " bytes in " << raw.cycles << " cycles, compressed " << packed.result_bytes << " in " << packed.cycles
              << "\n";
  }
}

/// One simulated tile under the driver.
struct Tile {
  explicit Tile(const char* engine, const char* name = tile_name)
      : model(make_tile_pin_model(engine, name)), pins(*model, stream_bytes(name)), bridge(pins) {
    port = bridge.port();
    const ng_tile_config_t at{.port = &port, .base = 0, .timeout_ticks = 100'000};
    expect_ok(ng_tile_init(&tile, &at), engine);
  }
  static unsigned stream_bytes(std::string_view name) {
    return std::ranges::find(tile_configs(), name, &TileConfig::name)->stream_width / 8;
  }
  std::unique_ptr<TilePinModel> model;
  TileBusOnPins pins;
  TileDriverPort bridge;
  ng_port_t port{};
  ng_tile_t tile{};
};

// The same with compressed results, which are sent back as they came.
// x W1 W2, x quantized before, W1 and W2 too, x and what is between in the format of results. What the tile sends as
// the results of the first product is sent to it as the second one's operand A, from the same memory: nothing looks at
// it or changes it. Its tensor scale follows from the largest result of the batch before.
void two_layers(const Kind& kind, bool relu, bool compressed) {
  SCOPED_TRACE(text(kind));
  constexpr std::size_t batch = 37, inputs = 200, hidden = 100, outputs = 30;
  const QuantizedMatrix before = operand(batch, inputs, 1, kind), x = operand(batch, inputs, 2, kind);
  const QuantizedMatrix w1 = operand(hidden, inputs, 3, kind, true), w2 = operand(outputs, hidden, 4, kind, true);
  const auto golden = make_model_engine(1);
  std::uint64_t cycles = 0;
  for (const char* engine : {"rtl", "systemc"}) {
    SCOPED_TRACE(engine);
    Tile on(engine, kind.tile);
    ng_tile_t& tile = on.tile;
    ASSERT_EQ(ng_tile_clear_amax(&tile), NG_OK);
    DriverGemm earlier(tile, before, w1, false, Requantized{kind.results, 1.0F});
    ASSERT_EQ(ng_tile_gemm(&tile, &earlier.config), NG_OK);
    std::uint32_t amax = 0;
    ASSERT_EQ(ng_tile_amax(&tile, &amax), NG_OK);
    EXPECT_EQ(amax, golden->gemm_requantized(before, w1, 1, {.format = kind.results}).amax);
    const float g = result_scale(kind.results, std::bit_cast<float>(amax));

    DriverGemm first(tile, x, w1, false, Requantized{kind.results, g});
    first.config.relu = relu;
    if (compressed) {
      first.compress(tile, {.c = true});
      ASSERT_EQ(ng_tile_load_code(&tile, pack_code(first.result_lengths()).data()), NG_OK);
    }
    ASSERT_EQ(ng_tile_gemm(&tile, &first.config), NG_OK);
    QuantizedMatrix h = golden->gemm_requantized(x, w1, g, {.format = kind.results, .relu = relu}).c;
    DriverGemm second(tile, h, w2);  // packs the golden h, whose place the tile's takes
    const ng_operand_t packed = second.config.a;
    ASSERT_EQ(ng_tile_gemm_operand(&tile, &first.config, &second.config.a), NG_OK);
    EXPECT_EQ(second.config.a.rows, packed.rows);
    EXPECT_EQ(second.config.a.k, packed.k);
    EXPECT_EQ(second.config.a.bytes == packed.bytes, !compressed);
    EXPECT_EQ(second.config.a.data, first.config.c);
    ASSERT_EQ(ng_tile_gemm(&tile, &second.config), NG_OK);
    const std::vector<float> got = second.result(), expected = golden->gemm(h, w2).c;
    ASSERT_EQ(got.size(), expected.size());
    std::size_t zeros = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(expected[i])) << "result " << i;
      zeros += got[i] == 0;
    }
    EXPECT_LT(zeros, got.size() / (kind.results == ResultFormat::int4 ? 10 : 100));
    if (cycles == 0) cycles = on.pins.cycles();
    EXPECT_EQ(on.pins.cycles(), cycles);
  }
}

TEST(Requantize, TwoLayersWithoutTheHost) {
  for (const Kind& kind : kinds)
    for (const bool relu : {false, true}) two_layers(kind, relu, false);
  for (const bool compressed : {false, true}) two_layers({"codec", "nvfp4", ResultFormat::nvfp4}, true, compressed);
}

// The array waits for requantized results no more than for those in FP32: never. What differs is that the first chunk
// of B is 8 panels, whole images of C, instead of as many as an image has words (5 in NVFP4, 8 in FP8, 4 in INT4), four
// times 16 images at most; and the last image's way.
TEST(Requantize, CostsTheArrayNothing) {
  for (const Kind& kind : kinds) {
    const QuantizedMatrix a = operand(64, 256, 1, kind), b = operand(64, 256, 2, kind, true);
    for (const bool rtl : {true, false}) {
      SCOPED_TRACE(text(kind));
      const auto engine = rtl ? make_rtl_engine({.tile = kind.tile}) : make_systemc_engine({.tile = kind.tile});
      const EngineResult fp32 = engine->gemm(a, b);
      const EngineResult narrow = engine->gemm_requantized(a, b, scale_for(kind, 256), {.format = kind.results}).run;
      EXPECT_EQ(fp32.activity->stall_out, 0U);
      EXPECT_EQ(narrow.activity->stall_out, 0U);
      EXPECT_EQ(narrow.activity->products, fp32.activity->products);
      EXPECT_LE(narrow.cycles, fp32.cycles + 4 * 16 * 8 + 20);
      if (rtl)
        std::cout << text(kind) << ", 64x64x256: " << fp32.cycles << " cycles with results in FP32, " << narrow.cycles
                  << " requantized\n";
    }
  }
}

TEST(Requantize, RefusesWhatItCannotDo) {
  const QuantizedMatrix a = operand(4, 64, 1), b = operand(40, 64, 2);
  for (const char* tile : {"tiny", "large"})
    EXPECT_THROW(make_systemc_engine({.tile = tile})->gemm_requantized(a, b, 1), Error);
  EXPECT_EQ(make_systemc_engine()->gemm_requantized(a, b, 1).run.tile, tile_name);
  const auto systemc = make_systemc_engine({.tile = tile_name});
  // 16 columns of k do not fit a bank of B; 4 do.
  EXPECT_THROW(systemc->gemm_requantized(operand(4, 1025, 3), operand(16, 1025, 4), 1), Error);
  EXPECT_THROW(systemc->gemm_requantized(operand(4, 4097, 3), operand(5, 4097, 4), 1), Error);
  EXPECT_NO_THROW(systemc->gemm_requantized(operand(4, 4097, 3), operand(4, 4097, 4), 1));
  for (const Kind& kind : kinds) {  // what is no tensor scale, on every engine and in the driver
    const QuantizedMatrix left = operand(4, 64, 1, kind), right = operand(4, 64, 2, kind, true);
    const auto clocked = make_systemc_engine({.tile = kind.tile}), golden = make_model_engine(1);
    Tile on("systemc", kind.tile);
    constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    for (const float g : {0.0F, -1.0F, inf, nan, 0x1p-112F, 0.75F}) {
      SCOPED_TRACE(text(kind) + " under " + std::to_string(g));
      DriverGemm product(on.tile, left, right, false, Requantized{kind.results, g});
      if (is_result_scale(kind.results, g)) {
        EXPECT_EQ(ng_tile_gemm(&on.tile, &product.config), NG_OK);
        continue;
      }
      EXPECT_THROW(clocked->gemm_requantized(left, right, g, {.format = kind.results}), Error);
      EXPECT_THROW(golden->gemm_requantized(left, right, g, {.format = kind.results}), Error);
      EXPECT_EQ(ng_tile_gemm(&on.tile, &product.config), NG_ERROR_SCALE);
    }
  }
  // Formats that the tile does not have.
  EXPECT_THROW(systemc->gemm_requantized(a, b, 1, {.format = ResultFormat::e4m3}), Error);
  EXPECT_THROW(make_systemc_engine({.tile = "chain_fp8"})
                   ->gemm_requantized(operand(4, 64, 1, kinds[1]), operand(4, 64, 2, kinds[1], true), 1),
               Error);
  QuantizedMatrix tiny = a;
  tiny.tensor_scale = 0x1p-140F;
  EXPECT_THROW(systemc->gemm_requantized(tiny, b, 1), Error);

  Tile on("systemc");
  DriverGemm product(on.tile, a, b, false, Requantized{ResultFormat::nvfp4, 1.0F});
  ng_gemm_config_t config = product.config;
  config.bf16 = true;
  EXPECT_EQ(ng_tile_gemm(&on.tile, &config), NG_ERROR_ARGUMENT);
  config = product.config;
  config.c_stride = 40;
  EXPECT_EQ(ng_tile_gemm(&on.tile, &config), NG_ERROR_ARGUMENT);
  config = product.config;
  --config.c_bytes;
  EXPECT_EQ(ng_tile_gemm(&on.tile, &config), NG_ERROR_MEMORY);
  config = product.config;
  config.c_format = NG_E4M3;
  EXPECT_EQ(ng_tile_gemm(&on.tile, &config), NG_ERROR_UNSUPPORTED);
  config.c_format = static_cast<ng_format_t>(4);
  EXPECT_EQ(ng_tile_gemm(&on.tile, &config), NG_ERROR_ARGUMENT);
  ng_operand_t operand_of_it;
  config.requantize = false;
  EXPECT_EQ(ng_tile_gemm_operand(&on.tile, &config, &operand_of_it), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_amax(&on.tile, nullptr), NG_ERROR_ARGUMENT);
  ng_tile_t without = on.tile;
  without.requantize = false;
  std::uint32_t amax = 0;
  EXPECT_EQ(ng_tile_amax(&without, &amax), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(ng_tile_clear_amax(&without), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(ng_tile_gemm(&without, &product.config), NG_ERROR_UNSUPPORTED);
}

// What result_scale() says is taken, and clips nothing; in FP8 half of it would clip, or is below what is taken.
TEST(Requantize, ScalesThatClipNothing) {
  for (const ResultFormatDesc& d : result_formats) {
    for (const float amax : {1.0F, 447.0F, 448.0F, 449.0F, 57344.0F, 57345.0F, 0.013F, 3e38F, 0x1p-100F}) {
      SCOPED_TRACE(std::string(d.name) + " of " + std::to_string(amax));
      const float scale = result_scale(d.format, amax);
      EXPECT_TRUE(is_result_scale(d.format, scale));
      EXPECT_LE(amax, double{scale} * d.largest * (1 + 1e-6));
      if (d.scheme == Scheme::fp8) {
        EXPECT_TRUE(amax > double{scale} / 2 * d.largest || scale == 0x1p-111F);
      }
      EXPECT_EQ(find_result_format(d.name).format, d.format);
    }
    for (const float bad : {0.0F, -1.0F, std::numeric_limits<float>::infinity()})
      EXPECT_FALSE(is_result_scale(d.format, bad));
  }
  EXPECT_THROW(find_result_format("luq"), Error);
}

TEST(Requantize, RefusesToCompressWhatItCannot) {
  const QuantizedMatrix a = operand(9, 64, 1), b = operand(40, 64, 2);
  EXPECT_THROW(make_systemc_engine({.tile = tile_name})->gemm_requantized(a, b, 1, {.compressed = {.c = true}}), Error);
  // The next product's k is longer than a bank: its operand A would have two segments a panel.
  EXPECT_THROW(make_systemc_engine({.tile = "codec"})
                   ->gemm_requantized(operand(4, 16, 3), operand(2064, 16, 4), 1, {.compressed = {.c = true}}),
               Error);
  Tile on("systemc", "codec");
  DriverGemm product(on.tile, a, b, false, Requantized{ResultFormat::nvfp4, 1.0F});
  product.compress(on.tile, {.c = true});
  ng_gemm_config_t config = product.config;
  --config.c_bytes;
  EXPECT_EQ(ng_tile_gemm(&on.tile, &config), NG_ERROR_MEMORY);
  config = product.config;
  config.requantize = false;
  EXPECT_EQ(ng_tile_gemm(&on.tile, &config), NG_ERROR_ARGUMENT);
  config.c_segments = nullptr;
  config.relu = true;
  EXPECT_EQ(ng_tile_gemm(&on.tile, &config), NG_ERROR_ARGUMENT);
  EXPECT_THROW(DriverGemm(on.tile, a, b).compress(on.tile, {.c = true}), Error);
  std::size_t bytes = 0;
  std::uint32_t segments = 0;
  EXPECT_EQ(ng_tile_compressed_size(&on.tile, 9, 0, &bytes, &segments), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_compressed_size(&on.tile, 9, 2064, &bytes, &segments), NG_OK);
  EXPECT_EQ(segments, 6U);
  std::array<std::uint8_t, 128> lengths{};
  lengths.fill(0x11);
  EXPECT_EQ(ng_tile_load_result_code(&on.tile, lengths.data()), NG_ERROR_ARGUMENT) << "no prefix code";
  ng_tile_t without = on.tile;
  without.encoders = 0;
  EXPECT_EQ(ng_tile_load_result_code(&without, lengths.data()), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(ng_tile_compressed_size(&without, 9, 40, &bytes, &segments), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(ng_tile_gemm(&without, &product.config), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(ng_tile_gemm(&on.tile, &product.config), NG_OK);
}

}  // namespace
}  // namespace narrowgauge
