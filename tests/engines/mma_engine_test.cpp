// SPDX-License-Identifier: Apache-2.0
// Products on the units of matrix instructions against the golden model's accumulations: shapes that do and do not fill
// steps and turns, all pairs of formats, numbers of wide range, NaN and infinities, refusals.
#include "narrowgauge/engines/mma_engine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>
#include <string>

#include "refused.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

struct Kind {
  Accumulation mode;
  Scheme scheme;
  Format a, b;
  std::string unit;
};

const Kind kinds[] = {
    {Accumulation::blackwell, Scheme::nvfp4, Format::e2m1, Format::e2m1, "mma_nvfp4"},
    {Accumulation::blackwell, Scheme::mxfp4, Format::e2m1, Format::e2m1, "mma_nvfp4_e8m0"},
    {Accumulation::blackwell, Scheme::fp8, Format::e4m3, Format::e4m3, "mma_fp8_blackwell"},
    {Accumulation::blackwell, Scheme::fp8, Format::e5m2, Format::e4m3, "mma_fp8_blackwell"},
    {Accumulation::hopper, Scheme::fp8, Format::e4m3, Format::e5m2, "mma_fp8_hopper"},
    {Accumulation::hopper, Scheme::fp8, Format::e5m2, Format::e5m2, "mma_fp8_hopper"},
    {Accumulation::blackwell, Scheme::mxfp8, Format::e4m3, Format::e4m3, "mma_mx"},
    {Accumulation::blackwell, Scheme::mxfp8, Format::e5m2, Format::e4m3, "mma_mx"},
    {Accumulation::blackwell, Scheme::mxfp6, Format::e2m3, Format::e3m2, "mma_mx"},
    {Accumulation::blackwell, Scheme::mxfp6, Format::e3m2, Format::e3m2, "mma_mx"},
    {Accumulation::rvbna, Scheme::fp8, Format::e4m3, Format::e4m3, "mma_rvbna"},
    {Accumulation::rvbna, Scheme::fp8, Format::e4m3, Format::e5m2, "mma_rvbna"},
};

/// Codes and scales of any bits.
QuantizedMatrix any_codes(QuantizedMatrix q, std::mt19937& random) {
  const unsigned bits = desc(q.element).bits;
  for (std::size_t row = 0; row < q.rows; ++row)
    for (std::size_t i = 0; i < q.k; ++i)
      q.codes[row * q.k_padded + i] = static_cast<std::uint8_t>(random() & ((1U << bits) - 1));
  for (std::uint8_t& scale : q.scales) scale = static_cast<std::uint8_t>(random() & (is_mx(q.scheme) ? 0xFF : 0x7F));
  return q;
}

void expect_golden(Engine& engine, const Kind& kind, const QuantizedMatrix& a, const QuantizedMatrix& b) {
  std::uint64_t done = 0, total = 1;
  const EngineResult got = engine.gemm(a, b, [&](std::uint64_t d, std::uint64_t t) { done = d, total = t; });
  const std::vector<float> expected = gemm(a, b, kind.mode, 1);
  ASSERT_EQ(got.c.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(got.c[i]), std::bit_cast<std::uint32_t>(expected[i]))
        << kind.unit << ", result " << i << ": got " << got.c[i] << ", expected " << expected[i];
  }
  EXPECT_EQ(done, total);
  EXPECT_EQ(got.tile, kind.unit);
  EXPECT_EQ(got.products, a.rows * b.rows * a.k);
  EXPECT_GE(got.products_possible, got.products);
}

TEST(MmaEngine, EveryShapeIsTheGoldenModels) {
  for (const Kind& kind : kinds) {
    const auto engine = make_mma_engine(kind.mode);
    unsigned seed = 1;
    for (const auto& [m, n, k] :
         {std::array<std::size_t, 3>{1, 1, 1}, {1, 1, 300}, {2, 3, 64}, {7, 5, 130}, {1, 9, 32}}) {
      expect_golden(*engine, kind, test::normal_operand(m, k, kind.scheme, kind.a, seed),
                    test::normal_operand(n, k, kind.scheme, kind.b, seed + 1));
      seed += 2;
    }
  }
}

TEST(MmaEngine, AnyCodesAreTheGoldenModels) {
  std::mt19937 random(5);
  for (const Kind& kind : kinds) {
    const auto engine = make_mma_engine(kind.mode);
    const QuantizedMatrix a = any_codes(test::normal_operand(20, 200, kind.scheme, kind.a, 3), random),
                          b = any_codes(test::normal_operand(20, 200, kind.scheme, kind.b, 4), random);
    expect_golden(*engine, kind, a, b);
  }
}

TEST(MmaEngine, TakesAStepACycle) {
  const QuantizedMatrix a = test::normal_operand(12, 640, Scheme::nvfp4, Format::e2m1, 1),
                        b = test::normal_operand(10, 640, Scheme::nvfp4, Format::e2m1, 2);
  const EngineResult got = make_mma_engine(Accumulation::blackwell)->gemm(a, b);
  EXPECT_EQ(got.cycles, 12U * 10 * 10 + 5);  // outputs x steps, in six turns, and the last one's way
  EXPECT_GT(got.utilization(), 0.99);
}

TEST(MmaEngine, RefusesWhatItHasNot) {
  test::says([] { make_mma_engine(Accumulation::exact); }, "expected another mode");
  const auto blackwell = make_mma_engine(Accumulation::blackwell), chain = make_mma_engine(Accumulation::fp32_chain);
  const QuantizedMatrix integers = test::normal_operand(2, 32, Scheme::mxint8, Format::int8_mx, 1),
                        fp8 = test::normal_operand(2, 32, Scheme::fp8, Format::e4m3, 1);
  test::says([&] { blackwell->gemm(integers, integers); },
             "expected nvfp4, mxfp4, fp8 of e4m3 and e5m2, mxfp8, mxfp6, or the engine model");
  test::says([&] { chain->gemm(fp8, fp8); }, "expected the engine model");
  test::says([&] { blackwell->gemm_sparse(fp8, fp8, NmPattern::of("2:4")); }, "no sparse products");
  test::says([&] { blackwell->gemm_requantized(fp8, fp8, 1); }, "no requantized");
  test::says([&] { blackwell->gemm_compressed(fp8, fp8, {.a = true}); }, "no compressed");
}

}  // namespace
}  // namespace narrowgauge
