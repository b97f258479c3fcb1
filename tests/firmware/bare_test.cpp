// SPDX-License-Identifier: Apache-2.0
// The driver on bare cores, RV32 and ARM, whose bus is the functional tile.
#include <gtest/gtest.h>

#include <bit>
#include <iostream>
#include <string>

#include "emulator.hpp"
#include "fake_tile.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

struct Operands {
  QuantizedMatrix a, b;
  Operands(std::size_t m, std::size_t n, std::size_t k, const char* name = "nvfp4")
      : a(test::normal_operand(m, k, find_gemm_format(name).scheme, find_gemm_format(name).a, 1)),
        b(test::normal_operand(n, k, find_gemm_format(name).scheme, find_gemm_format(name).b, 2)) {}
};

class Bare : public testing::TestWithParam<Core> {};

void expect_golden(const FakeTileConfig& config, const Operands& q, const BareOptions& options) {
  FakeTile tile(config);
  const BareResult run = bare_gemm(tile, q.a, q.b, options);
  ASSERT_EQ(run.result, NG_OK) << ng_result_text(run.result);
  const std::vector<float> expected = gemm(q.a, q.b, 1);
  ASSERT_EQ(run.c.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto code = options.bf16 ? encode(Format::bf16, expected[i], {.overflow = Overflow::ieee}) << 16
                                   : std::bit_cast<std::uint32_t>(expected[i]);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(run.c[i]), code) << "element " << i;
  }
  EXPECT_GT(run.accesses, 40U);
  std::cout << q.a.rows << "x" << q.b.rows << "x" << q.a.k << " on " << config.rows << "x" << config.cols << ": "
            << run.accesses << " accesses, " << run.cycles << " cycles of the tile\n";
}

TEST_P(Bare, EqualsGolden) {
  expect_golden(large, {64, 64, 64}, {.core = GetParam()});
  expect_golden(tiny, {1, 1, 1}, {.core = GetParam()});
  expect_golden(tiny, {17, 33, 65}, {.core = GetParam(), .bf16 = true});
  expect_golden(middle, {17, 33, 65, "fp8_e4m3"}, {.core = GetParam()});
  expect_golden(large, {9, 20, 2049}, {.core = GetParam()});  // two passes of 65 and 64 beats
}

TEST_P(Bare, WaitsForInterrupts) { expect_golden(large, {40, 50, 200}, {.core = GetParam(), .interrupts = true}); }

TEST_P(Bare, DeliversTheDriversErrors) {
  const Operands q(5, 6, 40);
  FakeTile other(tiny);
  other.magic = 0;
  EXPECT_EQ(bare_gemm(other, q.a, q.b, {.core = GetParam()}).result, NG_ERROR_MAGIC);
  FakeTile dead(tiny);
  dead.dead = true;
  EXPECT_EQ(bare_gemm(dead, q.a, q.b, {.core = GetParam(), .timeout_ticks = 5000}).result, NG_ERROR_TIMEOUT);
  FakeTile lossy(tiny);
  lossy.drop_operand = 7;
  EXPECT_EQ(bare_gemm(lossy, q.a, q.b, {.core = GetParam()}).result, NG_ERROR_SHORT_STREAM);
  FakeTile whole(tiny);
  EXPECT_EQ(bare_gemm(whole, q.a, q.b, {.core = GetParam(), .heap_bytes = 1000}).result, NG_ERROR_MEMORY);
  FakeTile other_set({.format_set = 2});
  EXPECT_EQ(bare_gemm(other_set, q.a, q.b, {.core = GetParam()}).result, NG_ERROR_UNSUPPORTED);
}

TEST_P(Bare, RefusedAccessEndsTheEmulation) {
  struct Refusing : FakeTile {
    using FakeTile::FakeTile;
    bool write32(std::uint32_t, std::uint32_t) override { return false; }
  };
  const Operands q(2, 2, 16);
  Refusing tile(tiny);
  try {
    bare_gemm(tile, q.a, q.b, {.core = GetParam()});
    FAIL() << "expected Error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("wrote 4 bytes at 0x10000020"), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, Bare, testing::Values(Core::rv32imc, Core::cortex_m3),
                         [](const auto& info) { return info.param == Core::rv32imc ? "Rv32" : "CortexM3"; });

}  // namespace
}  // namespace narrowgauge
