// SPDX-License-Identifier: Apache-2.0
// Results that the tile makes NVFP4: whole networks of two layers, in which what the first one's results are is what
// the second one loads, byte for byte; shapes that do and do not fill images, panels and banks; delayed scaling from
// AMAX; special values; cycles; refusals.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/engines/tile_bus_on_pins.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/error.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

constexpr const char* tile_name = "chain";

QuantizedMatrix operand(std::size_t vectors, std::size_t k, unsigned seed) {
  return test::normal_operand(vectors, k, Scheme::nvfp4, Format::e2m1, seed);
}

void expect_same(const QuantizedMatrix& got, const QuantizedMatrix& expected) {
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

/// Both clock engines give the model's codes and scales, in the same cycles.
RequantizedResult expect_model(const QuantizedMatrix& a, const QuantizedMatrix& b, float tensor_scale) {
  const RequantizedResult expected = make_model_engine(1)->gemm_nvfp4(a, b, tensor_scale);
  const RequantizedResult rtl = make_rtl_engine({.tile = tile_name})->gemm_nvfp4(a, b, tensor_scale);
  const RequantizedResult systemc = make_systemc_engine({.tile = tile_name})->gemm_nvfp4(a, b, tensor_scale);
  for (const RequantizedResult* got : {&rtl, &systemc}) {
    expect_same(got->c, expected.c);
    EXPECT_EQ(got->amax, expected.amax);
    EXPECT_TRUE(got->run.c.empty());
  }
  EXPECT_GT(rtl.run.cycles, 0U);
  EXPECT_EQ(rtl.run.cycles, systemc.run.cycles);
  EXPECT_EQ(rtl.run.activity, systemc.run.activity);
  return rtl;
}

TEST(Requantize, EqualsTheModelForEveryShape) {
  unsigned seed = 1;
  for (const Shape& s : {Shape{1, 1, 1},
                         {4, 16, 16},
                         {5, 17, 33},
                         {7, 3, 1024},
                         {9, 40, 1000},
                         {33, 100, 64},
                         {3, 200, 48},
                         {130, 20, 130}}) {
    SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k));
    seed += 2;
    expect_model(operand(s.m, s.k, seed), operand(s.n, s.k, seed + 1), std::sqrt(static_cast<float>(s.k)) / 700);
  }
}

TEST(Requantize, SpecialValuesEqualTheModel) {
  QuantizedMatrix a = operand(9, 40, 3), b = operand(35, 40, 4);
  a.scales[4] = 0x7F;  // a row of NaN, beside rows of numbers
  expect_model(a, b, 0.01F);
  a.scales[4] = 0;
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float g : {0.0F, -1.0F, inf, nan, 0x1p-111F, 0x1p-112F, 1e-6F, 1e6F, 1e38F}) expect_model(a, b, g);
  a.tensor_scale = 0x1p120F;  // results beyond BF16
  expect_model(a, b, 0x1p100F);
  a.tensor_scale = -1;  // -0 behind the last column
  expect_model(a, b, 0.01F);
}

/// One simulated tile under the driver.
struct Tile {
  explicit Tile(const char* engine) : model(make_tile_pin_model(engine, tile_name)), pins(*model, 8), bridge(pins) {
    port = bridge.port();
    const ng_tile_config_t at{.port = &port, .base = 0, .timeout_ticks = 100'000};
    expect_ok(ng_tile_init(&tile, &at), engine);
  }
  std::unique_ptr<TilePinModel> model;
  TileBusOnPins pins;
  TileDriverPort bridge;
  ng_port_t port{};
  ng_tile_t tile{};
};

// x W1 W2, x quantized before, W1 and W2 too. What the tile sends as the results of the first product is sent to it as
// the second one's operand A, from the same memory: nothing looks at it or changes it. Its tensor scale follows from
// the largest result of the batch before.
TEST(Requantize, TwoLayersWithoutTheHost) {
  constexpr std::size_t batch = 37, inputs = 200, hidden = 100, outputs = 30;
  const QuantizedMatrix before = operand(batch, inputs, 1), x = operand(batch, inputs, 2);
  const QuantizedMatrix w1 = operand(hidden, inputs, 3), w2 = operand(outputs, hidden, 4);
  const auto golden = make_model_engine(1);
  std::uint64_t cycles = 0;
  for (const char* engine : {"rtl", "systemc"}) {
    SCOPED_TRACE(engine);
    Tile on(engine);
    ng_tile_t& tile = on.tile;
    ASSERT_EQ(ng_tile_clear_amax(&tile), NG_OK);
    DriverGemm earlier(tile, before, w1, false, 1.0F);
    ASSERT_EQ(ng_tile_gemm(&tile, &earlier.config), NG_OK);
    std::uint32_t amax = 0;
    ASSERT_EQ(ng_tile_amax(&tile, &amax), NG_OK);
    EXPECT_EQ(amax, golden->gemm_nvfp4(before, w1, 1).amax);
    const float g = std::bit_cast<float>(amax) / 2688;

    DriverGemm first(tile, x, w1, false, g);
    ASSERT_EQ(ng_tile_gemm(&tile, &first.config), NG_OK);
    QuantizedMatrix h = golden->gemm_nvfp4(x, w1, g).c;
    DriverGemm second(tile, h, w2);  // packs the golden h, whose place the tile's takes
    const ng_operand_t packed = second.config.a;
    ASSERT_EQ(ng_tile_gemm_operand(&tile, &first.config, &second.config.a), NG_OK);
    EXPECT_EQ(second.config.a.rows, packed.rows);
    EXPECT_EQ(second.config.a.k, packed.k);
    ASSERT_EQ(second.config.a.bytes, packed.bytes);
    EXPECT_EQ(second.config.a.data, first.config.c);
    ASSERT_EQ(ng_tile_gemm(&tile, &second.config), NG_OK);
    const std::vector<float> got = second.result(), expected = golden->gemm(h, w2).c;
    ASSERT_EQ(got.size(), expected.size());
    std::size_t zeros = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(expected[i])) << "result " << i;
      zeros += got[i] == 0;
    }
    EXPECT_LT(zeros, got.size() / 100);
    if (cycles == 0) cycles = on.pins.cycles();
    EXPECT_EQ(on.pins.cycles(), cycles);
  }
}

// The array waits for results in NVFP4 no more than for those in FP32: never. What differs is that the first chunk of B
// is 8 panels, whole images of C, instead of 5, three times 16 images of 5 words; and the last image's way.
TEST(Requantize, CostsTheArrayNothing) {
  const QuantizedMatrix a = operand(64, 256, 1), b = operand(64, 256, 2);
  for (const bool rtl : {true, false}) {
    const auto engine = rtl ? make_rtl_engine({.tile = tile_name}) : make_systemc_engine({.tile = tile_name});
    const EngineResult fp32 = engine->gemm(a, b);
    const EngineResult nvfp4 = engine->gemm_nvfp4(a, b, 0.02F).run;
    EXPECT_EQ(fp32.activity->stall_out, 0U);
    EXPECT_EQ(nvfp4.activity->stall_out, 0U);
    EXPECT_EQ(nvfp4.activity->products, fp32.activity->products);
    EXPECT_LE(nvfp4.cycles, fp32.cycles + 3 * 16 * 5 + 20);
  }
}

TEST(Requantize, RefusesWhatItCannotDo) {
  const QuantizedMatrix a = operand(4, 64, 1), b = operand(40, 64, 2);
  for (const char* tile : {"tiny", "large"})
    EXPECT_THROW(make_systemc_engine({.tile = tile})->gemm_nvfp4(a, b, 1), Error);
  EXPECT_EQ(make_systemc_engine()->gemm_nvfp4(a, b, 1).run.tile, tile_name);
  const auto systemc = make_systemc_engine({.tile = tile_name});
  // 16 columns of k do not fit a bank of B; 4 do.
  EXPECT_THROW(systemc->gemm_nvfp4(operand(4, 1025, 3), operand(16, 1025, 4), 1), Error);
  EXPECT_THROW(systemc->gemm_nvfp4(operand(4, 4097, 3), operand(5, 4097, 4), 1), Error);
  EXPECT_NO_THROW(systemc->gemm_nvfp4(operand(4, 4097, 3), operand(4, 4097, 4), 1));
  QuantizedMatrix tiny = a;
  tiny.tensor_scale = 0x1p-140F;
  EXPECT_THROW(systemc->gemm_nvfp4(tiny, b, 1), Error);

  Tile on("systemc");
  DriverGemm product(on.tile, a, b, false, 1.0F);
  ng_gemm_config_t config = product.config;
  config.bf16 = true;
  EXPECT_EQ(ng_tile_gemm(&on.tile, &config), NG_ERROR_ARGUMENT);
  config = product.config;
  config.c_stride = 40;
  EXPECT_EQ(ng_tile_gemm(&on.tile, &config), NG_ERROR_ARGUMENT);
  config = product.config;
  --config.c_bytes;
  EXPECT_EQ(ng_tile_gemm(&on.tile, &config), NG_ERROR_MEMORY);
  ng_operand_t operand_of_it;
  config.nvfp4 = false;
  EXPECT_EQ(ng_tile_gemm_operand(&on.tile, &config, &operand_of_it), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_amax(&on.tile, nullptr), NG_ERROR_ARGUMENT);
  ng_tile_t without = on.tile;
  without.requantize = false;
  std::uint32_t amax = 0;
  EXPECT_EQ(ng_tile_amax(&without, &amax), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(ng_tile_clear_amax(&without), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(ng_tile_gemm(&without, &product.config), NG_ERROR_UNSUPPORTED);
}

}  // namespace
}  // namespace narrowgauge
