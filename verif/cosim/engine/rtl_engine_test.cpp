// SPDX-License-Identifier: Apache-2.0
// The rtl engine against the golden model: shapes that do and do not fill tiles and beats, all formats, special values;
// the cycle count; refusals; the wave file.
#include "rtl_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <random>

#include "narrowgauge/error.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace narrowgauge {
namespace {

constexpr std::size_t rows = 8, cols = 8, lanes = 16;  // of every array of configurations.json

QuantizedMatrix random_operand(Scheme scheme, Format element, std::size_t vectors, std::size_t k, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(vectors * k);
  for (float& v : x) v = normal(generator);
  return quantize(x, vectors, k, Axis::rows, {.scheme = scheme, .element = element});
}

void expect_equal(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  int errors = 0;
  for (std::size_t i = 0; i < got.size() && errors < 20; ++i) {
    const auto g = std::bit_cast<std::uint32_t>(got[i]), e = std::bit_cast<std::uint32_t>(expected[i]);
    EXPECT_EQ(g, e) << "result " << i << ": got " << got[i] << ", expected " << expected[i];
    errors += g != e;
  }
}

class RtlEngineFormats : public testing::TestWithParam<GemmFormat> {};

TEST_P(RtlEngineFormats, EqualsTheModelForEveryShape) {
  const GemmFormat& format = GetParam();
  const auto rtl = make_rtl_engine(), model = make_model_engine(1);
  struct Shape {
    std::size_t m, n, k;
  };
  unsigned seed = 1;
  for (const Shape& s : {Shape{1, 1, 1}, {8, 8, 16}, {9, 7, 17}, {16, 24, 128}, {3, 33, 250}, {20, 1, 500}}) {
    SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k));
    const QuantizedMatrix a = random_operand(format.scheme, format.a, s.m, s.k, seed++);
    const QuantizedMatrix b = random_operand(format.scheme, format.b, s.n, s.k, seed++);
    std::uint64_t done = 0, total = 1;
    const EngineResult got = rtl->gemm(a, b, [&](std::uint64_t d, std::uint64_t t) { done = d, total = t; });
    expect_equal(got.c, model->gemm(a, b).c);
    EXPECT_EQ(done, total);
    EXPECT_EQ(got.products, s.m * s.n * s.k);
    EXPECT_EQ(got.products_possible, got.cycles * rows * cols * lanes);
    // docs/units/mac_array.md: tiles follow each other every max(beats, rows) cycles.
    const std::uint64_t tiles = (s.m + rows - 1) / rows * ((s.n + cols - 1) / cols), beats = (s.k + lanes - 1) / lanes;
    const std::uint64_t latency = format.scheme == Scheme::nvfp4 ? 6 : 5;
    EXPECT_EQ(got.cycles, beats + (tiles - 1) * std::max<std::uint64_t>(beats, rows) + latency + rows - 1);
  }
}

TEST_P(RtlEngineFormats, SpecialValuesEqualTheModel) {
  const GemmFormat& format = GetParam();
  const auto rtl = make_rtl_engine(), model = make_model_engine(1);
  std::mt19937 generator(7);
  for (int round = 0; round < 20; ++round) {
    QuantizedMatrix a = random_operand(format.scheme, format.a, 9, 40, generator());
    QuantizedMatrix b = random_operand(format.scheme, format.b, 10, 40, generator());
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
    if (f.scheme != Scheme::mxfp4) formats.push_back(f);
  return formats;
}
INSTANTIATE_TEST_SUITE_P(AllFormats, RtlEngineFormats, testing::ValuesIn(supported()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(RtlEngine, LongContractionsUseTheArrayFully) {
  const QuantizedMatrix a = random_operand(Scheme::nvfp4, Format::e2m1, 16, 4096, 1);
  const QuantizedMatrix b = random_operand(Scheme::nvfp4, Format::e2m1, 16, 4096, 2);
  EXPECT_GT(make_rtl_engine()->gemm(a, b).utilization(), 0.98);
}

TEST(RtlEngine, RefusesWhatItCannotMultiply) {
  const auto rtl = make_rtl_engine();
  const QuantizedMatrix mx = random_operand(Scheme::mxfp4, Format::e2m1, 2, 32, 1);
  const QuantizedMatrix nv = random_operand(Scheme::nvfp4, Format::e2m1, 2, 32, 1);
  const QuantizedMatrix longer = random_operand(Scheme::nvfp4, Format::e2m1, 2, 48, 1);
  const QuantizedMatrix fp8 = random_operand(Scheme::fp8, Format::e4m3, 1, (1 << 20) + 1, 1);
  EXPECT_THROW(rtl->gemm(mx, mx), Error);
  EXPECT_THROW(rtl->gemm(nv, mx), Error);
  EXPECT_THROW(rtl->gemm(nv, longer), Error);
  EXPECT_THROW(rtl->gemm(fp8, fp8), Error);
  EXPECT_THROW(make_rtl_engine({.trace = "no/such/folder/wave.fst"})->gemm(nv, nv), Error);
}

TEST(RtlEngine, WritesWaves) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("ng_rtl_engine_test_" + std::to_string(std::random_device{}()) + ".fst");
  const QuantizedMatrix a = random_operand(Scheme::nvfp4, Format::e2m1, 9, 40, 1);
  const QuantizedMatrix b = random_operand(Scheme::nvfp4, Format::e2m1, 8, 40, 2);
  std::vector<float> traced;
  traced = make_rtl_engine({.trace = file.string()})->gemm(a, b).c;
  expect_equal(traced, make_model_engine(1)->gemm(a, b).c);
  EXPECT_GT(std::filesystem::file_size(file), 1000U);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace narrowgauge
