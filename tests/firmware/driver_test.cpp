// SPDX-License-Identifier: Apache-2.0
// The driver on a functional tile: results against the golden product, the commands it gives, and every fault that a
// port or a tile can have.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <set>
#include <string>

#include "fake_tile.hpp"
#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/sparse/sparse_product.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

const FakeTileConfig large_fp8{
    .rows = 8, .cols = 8, .format_set = 6, .stream_bytes = 16, .a_depth = 512, .b_depth = 128};
/// Nothing fits anything: odd sizes, panel-beats that are no whole words, small banks, so several passes soon.
const FakeTileConfig odd{
    .rows = 3, .cols = 5, .lanes = 32, .format_set = 7, .stream_bytes = 32, .a_depth = 7, .b_depth = 5};
/// LUQ alone, in elements of 4 bits, and beside all others, in elements of 8.
const FakeTileConfig luq_only{.rows = 3, .cols = 2, .format_set = 8, .stream_bytes = 8, .a_depth = 7, .b_depth = 5};
const FakeTileConfig every{.rows = 2, .cols = 3, .format_set = 15, .stream_bytes = 8, .a_depth = 9, .b_depth = 6};
/// A is 2:4 sparse: a block a row, and two of them, in a stream of many words an image.
const FakeTileConfig sparse{
    .rows = 3, .cols = 2, .stream_bytes = 8, .a_depth = 9, .b_depth = 6, .max_beats = 100, .sparse = true};
const FakeTileConfig sparse_wide{
    .rows = 2, .cols = 5, .lanes = 32, .stream_bytes = 4, .a_depth = 7, .b_depth = 5, .sparse = true};
const FakeTileConfig sparse_every{
    .rows = 2, .cols = 3, .lanes = 32, .format_set = 15, .stream_bytes = 8, .a_depth = 8, .b_depth = 6, .sparse = true};
const FakeTileConfig sparse_fp8{.rows = 2, .cols = 2, .format_set = 6, .a_depth = 9, .b_depth = 6, .sparse = true};
const FakeTileConfig sparse_luq{.rows = 3, .cols = 2, .format_set = 8, .a_depth = 9, .b_depth = 6, .sparse = true};
/// MX formats: E2M1 in 4 bits; the others in 8, which FP6 comes as.
const FakeTileConfig mxfp4{
    .rows = 3, .cols = 2, .lanes = 32, .stream_bytes = 8, .a_depth = 7, .b_depth = 5, .mx = true};
const FakeTileConfig mxfp8{.rows = 2, .cols = 3, .lanes = 32, .format_set = 6, .a_depth = 5, .b_depth = 8, .mx = true};
const FakeTileConfig mxint8{
    .rows = 1, .cols = 3, .lanes = 32, .format_set = 8, .stream_bytes = 8, .a_depth = 7, .b_depth = 5, .mx = true};
const FakeTileConfig scalar{.rows = 1, .cols = 1, .stream_bytes = 8, .a_depth = 2, .b_depth = 3};

constexpr std::uint32_t timeout = 20000;  // clock cycles

const GemmFormat& nvfp4 = find_gemm_format("nvfp4");

struct Operands {
  QuantizedMatrix a, b;
  Operands(std::size_t m, std::size_t n, std::size_t k, const GemmFormat& format = nvfp4, unsigned seed = 1)
      : a(test::normal_operand(m, k, format.a_scheme(), format.a, seed)),
        b(test::normal_operand(n, k, format.b_scheme(), format.b, seed + 1)) {}
};

std::vector<std::uint32_t> codes(const std::vector<float>& x) {
  std::vector<std::uint32_t> c(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) c[i] = std::bit_cast<std::uint32_t>(x[i]);
  return c;
}

std::vector<float> golden(const QuantizedMatrix& a, const QuantizedMatrix& b, bool bf16 = false) {
  std::vector<float> c = gemm(a, b, 1);
  if (!bf16) return c;
  for (float& x : c) {
    x = std::bit_cast<float>(encode(Format::bf16, x, {.overflow = Overflow::ieee}) << 16);
  }
  return c;
}

/// A fake tile, brought up by the driver through a port whose callbacks can be replaced.
struct Bench {
  explicit Bench(const FakeTileConfig& config) : tile(config) {}
  ng_result_t init() {
    const ng_tile_config_t config{.port = &port, .base = 0, .timeout_ticks = timeout};
    return ng_tile_init(&driver, &config);
  }
  FakeTile tile;
  TileDriverPort adapter{tile};
  ng_port_t port = adapter.port();
  ng_tile_t driver{};
};

// ---- the fake itself

/// Panel-beat images of all vectors, put together bit by bit from the contract's words, for a tile that all vectors
/// fit.
std::vector<std::uint8_t> images_by_hand(const FakeTileConfig& c, const QuantizedMatrix& q, unsigned vectors) {
  const unsigned width = format_set::element_bits(c.format_set, c.mx);
  const unsigned blocks = c.mx ? 1 : (c.format_set & format_set::nvfp4) != 0 ? c.lanes / 16 : 0;
  const bool recoded = c.mx && desc(q.element).bits == 6;
  const std::size_t word = std::size_t{c.stream_bytes} * 8, used = vectors * (c.lanes * width + blocks * 8);
  const std::size_t image = (used + word - 1) / word * word, beats = (q.k_padded + c.lanes - 1) / c.lanes;
  std::vector<std::uint8_t> out(beats * image / 8);
  const auto set = [&](std::size_t bit, unsigned value) {
    for (; value != 0; value >>= 1, ++bit) out[bit / 8] |= static_cast<std::uint8_t>((value & 1U) << bit % 8);
  };
  for (std::size_t r = 0; r < q.rows; ++r) {
    for (std::size_t k = 0; k < q.k_padded; ++k) {
      const std::uint8_t code = q.codes[r * q.k_padded + k];
      set(k / c.lanes * image + (r * c.lanes + k % c.lanes) * width,
          recoded ? encode(Format::e4m3, decode(q.element, code)) : code);
    }
    for (std::size_t s = 0; s < q.scales.size() / q.rows; ++s) {
      const std::size_t scales_at = std::size_t{vectors} * c.lanes * width;
      set(s / blocks * image + scales_at + (r * blocks + s % blocks) * 8, q.scales[r * q.blocks() + s]);
    }
  }
  return out;
}

TEST(FakeTile, ComputesTheGoldenProduct) {
  for (const FakeTileConfig& config : {tiny, middle, large_fp8, odd, luq_only, every, mxfp4, mxfp8, mxint8}) {
    for (const GemmFormat& format : gemm_formats) {
      if (!format_set::has(config.format_set, config.mx, format)) continue;
      SCOPED_TRACE(std::string(format.name) + " on " + std::to_string(config.rows) + "x" + std::to_string(config.cols));
      const unsigned beats = 4;
      Operands q(config.rows, config.cols, beats * config.lanes - 3, format);
      q.a.codes[1] = desc(format.a).bits == 8 ? 0x7F : 7;  // NaN
      FakeTile tile(config);
      const std::vector<std::uint8_t> a = images_by_hand(config, q.a, config.rows);
      const std::vector<std::uint8_t> b = images_by_hand(config, q.b, config.cols);
      tile.send(a);
      tile.send(b);
      const auto code = [](Format f) {
        if (desc(f).bits == 6) return 0U;  // comes as E4M3
        return f == Format::e4m3 ? 0U : f == Format::e5m2 ? 1U : f == Format::e2m1 ? 2U : 3U;
      };
      EXPECT_TRUE(tile.write32(0x030, beats));
      EXPECT_TRUE(tile.write32(0x030, beats | 1U << 31));
      EXPECT_TRUE(tile.write32(0x034, code(format.a) | code(format.b) << 2));
      EXPECT_TRUE(
          tile.write32(0x038, std::bit_cast<std::uint32_t>(epilogue_scales(q.a.tensor_scale, q.b.tensor_scale).first)));
      EXPECT_TRUE(tile.write32(0x03C, 1U | 1U << 16));
      EXPECT_TRUE(tile.write32(0x040, config.rows | config.cols << 8));
      EXPECT_TRUE(tile.write32(0x044, beats | 1U << 16 | 1U << 17));
      std::vector<std::uint8_t> results;
      for (int i = 0; i < 100000; ++i) {
        std::vector<std::uint8_t> word(config.stream_bytes);
        if (tile.receive(word) != 0) results.insert(results.end(), word.begin(), word.end());
        tile.run(1);
      }
      const std::size_t row_bytes =
          (config.cols * 4 + config.stream_bytes - 1) / config.stream_bytes * config.stream_bytes;
      ASSERT_EQ(results.size(), row_bytes * config.rows);
      const std::vector<std::uint32_t> expected = codes(gemm(q.a, q.b, 1));
      for (unsigned r = 0; r < config.rows; ++r) {
        for (unsigned col = 0; col < config.cols; ++col) {
          std::uint32_t got = 0;
          std::memcpy(&got, results.data() + r * row_bytes + std::size_t{col} * 4, 4);
          EXPECT_EQ(got, expected[r * config.cols + col]) << "row " << r << ", column " << col;
        }
      }
      std::uint32_t status = 0;
      EXPECT_TRUE(tile.read32(0x024, status));
      EXPECT_EQ(status, 4U << 4 | 4U << 8);
    }
  }
}

TEST(FakeTile, RefusesWhatTheContractRefuses) {
  const auto error_after = [](const std::function<void(FakeTile&)>& act) {
    FakeTile tile(tiny);
    act(tile);
    for (int i = 0; i < 2000; ++i) tile.run(1);
    std::uint32_t status = 0;
    EXPECT_TRUE(tile.read32(0x024, status));
    return status >> 12;
  };
  const std::vector<std::uint8_t> image(std::size_t{5} * 4);  // a panel-beat of 2 rows: 16 bytes of codes, 2 of scales
  EXPECT_EQ(error_after([](FakeTile& t) { t.write32(0x030, 0); }), 1U);
  EXPECT_EQ(error_after([](FakeTile& t) { t.write32(0x030, 65); }), 1U);
  EXPECT_EQ(error_after([](FakeTile& t) { t.write32(0x044, 1); }), 2U);
  EXPECT_EQ(error_after([](FakeTile& t) {
              for (int i = 0; i < 6; ++i) t.write32(0x030, 1);
            }),
            3U);
  EXPECT_EQ(error_after([&](FakeTile& t) {
              t.write32(0x030, 2);
              t.send(image);
            }),
            4U);
  std::vector<std::uint8_t> two(image.size() * 2);
  EXPECT_EQ(error_after([&](FakeTile& t) {
              t.write32(0x030, 1);
              t.send(two);
            }),
            5U);
  EXPECT_EQ(error_after([&](FakeTile& t) {
              t.write32(0x030, 1);
              t.write32(0x030, 1U | 1U << 31);
              t.send(image);
              t.send(image);
              t.write32(0x034, 2U | 2U << 2);
              t.write32(0x03C, 1U | 1U << 16);
              t.write32(0x040, 1U | 1U << 8);
              t.write32(0x044, 2U | 1U << 16 | 1U << 17);
            }),
            6U);
  FakeTile tile(tiny);
  std::uint32_t value = 0;
  EXPECT_FALSE(tile.read32(0x100, value));
  EXPECT_FALSE(tile.write32(0x000, 1));
}

// ---- products

struct Shape {
  std::size_t m, n, k;
};

void expect_golden(const FakeTileConfig& config, const Shape& shape, const GemmFormat& format, bool bf16 = false,
                   const std::function<void(ng_gemm_config_t&)>& change = {}) {
  SCOPED_TRACE(std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k) + " " +
               std::string(format.name) + (bf16 ? " to bf16" : "") + " on " + std::to_string(config.rows) + "x" +
               std::to_string(config.cols) + "x" + std::to_string(config.lanes));
  const Operands q(shape.m, shape.n, shape.k, format);
  Bench bench(config);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b, bf16);
  if (change) change(product.config);
  const ng_result_t result = ng_tile_gemm(&bench.driver, &product.config);
  ASSERT_EQ(result, NG_OK) << ng_result_text(result);
  EXPECT_EQ(codes(product.result()), codes(golden(q.a, q.b, bf16)));
}

TEST(Gemm, IntegersEqualGolden) {
  for (FakeTileConfig config : {tiny, middle, large}) {
    config.integers = true;
    for (const Shape& shape : {Shape{1, 1, 16}, Shape{17, 33, 65}, Shape{40, 5, 16}}) {
      for (const int zero_point : {-256, -3, 0, 255}) {
        const Operands q(shape.m, shape.n, shape.k);
        const AffineRange range{.scale = 0.21F, .zero_point = zero_point};
        Bench bench(config);
        ASSERT_EQ(bench.init(), NG_OK);
        DriverGemm product(bench.driver, q.a, q.b);
        product.integers(integer_factor(q.a, q.b, range), zero_point);
        ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
        EXPECT_EQ(product.integers(), gemm_integers(q.a, q.b, range, 1));
        // The next product is in FP32 again.
        DriverGemm next(bench.driver, q.a, q.b);
        ASSERT_EQ(ng_tile_gemm(&bench.driver, &next.config), NG_OK);
        EXPECT_EQ(codes(next.result()), codes(golden(q.a, q.b)));
      }
    }
  }
}

TEST(Gemm, EqualsGoldenForRaggedShapes) {
  const Shape shapes[] = {{1, 1, 1},    {1, 1, 16},  {2, 3, 17},  {17, 33, 65}, {5, 40, 16},  {40, 5, 16},
                          {33, 17, 96}, {1, 70, 50}, {70, 1, 50}, {31, 64, 64}, {24, 24, 100}};
  int products = 0;
  for (const FakeTileConfig& config : {tiny, middle, large, large_fp8, odd, scalar, sparse, sparse_wide, sparse_every,
                                       sparse_fp8, sparse_luq, mxfp4, mxfp8, mxint8}) {
    for (const GemmFormat& format : gemm_formats) {
      if (!format_set::has(config.format_set, config.mx, format)) continue;
      for (const Shape& shape : shapes) {
        expect_golden(config, shape, format, products % 2 == 1);
        ++products;
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_EQ(products, 11 * (1 + 2 + 1 + 4 + 5 + 1 + 1 + 1 + 6 + 4 + 1 + 1 + 6 + 1));
}

// The order of the blocks is part of the result: no tile of sums runs backwards, whether A stays in its bank or not.
TEST(Gemm, MxBlocksAreAddedInOrder) {
  for (const FakeTileConfig& config : {mxfp4, mxfp8, mxint8}) {
    for (const GemmFormat& format : gemm_formats) {
      if (!format_set::has(config.format_set, config.mx, format)) continue;
      for (const std::size_t k : {160, 224, 225, 700, 1500}) {
        Operands q(7, 9, k, format);
        for (QuantizedMatrix* m : {&q.a, &q.b})  // sums that another order rounds otherwise
          for (std::size_t i = 0; i < m->scales.size(); ++i) m->scales[i] = static_cast<std::uint8_t>(120 + i * 5 % 13);
        Bench bench(config);
        ASSERT_EQ(bench.init(), NG_OK);
        DriverGemm product(bench.driver, q.a, q.b);
        ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
        EXPECT_EQ(codes(product.result()), codes(golden(q.a, q.b))) << format.name << " k " << k;
      }
    }
  }
}

TEST(Gemm, SparseEqualsGolden) {
  // Whole and broken groups, blocks and panels; one pass and several; every format of the set.
  for (const FakeTileConfig& config : {sparse, sparse_wide, sparse_every, sparse_fp8, sparse_luq}) {
    for (const GemmFormat& format : gemm_formats) {
      if (!format_set::has(config.format_set, config.mx, format)) continue;
      for (const NmPattern& pattern : {NmPattern{}, NmPattern::of("4:8pair")}) {
        for (const Shape& s :
             {Shape{1, 1, 1}, {3, 2, 32}, {4, 5, 17}, {7, 9, 33}, {2, 3, 64}, {5, 4, 99}, {8, 7, 700}}) {
          SCOPED_TRACE(std::string(format.name) + " " + pattern.name() + " " + std::to_string(s.m) + "x" +
                       std::to_string(s.n) + "x" + std::to_string(s.k));
          const QuantizedMatrix a = test::sparse_product_operand(s.m, s.k, true, 1, format, pattern);
          const QuantizedMatrix b = test::sparse_product_operand(s.n, s.k, false, 2, format);
          Bench bench(config);
          ASSERT_EQ(bench.init(), NG_OK);
          DriverGemm product(bench.driver, a, b, false, std::nullopt, pattern);
          ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
          EXPECT_EQ(codes(product.result()), codes(golden(a, b)));
          std::uint32_t beats = 0;
          for (const FakeTile::Compute& c : bench.tile.computes_seen) beats += c.a_panels * c.b_panels * c.beats;
          const auto panels = [](std::size_t n, unsigned size) {
            return static_cast<std::uint32_t>((n + size - 1) / size);
          };
          EXPECT_EQ(beats, panels(s.m, config.rows) * panels(s.n, config.cols) * panels(s.k, 2 * config.lanes));
          for (const FakeTile::Compute& c : bench.tile.computes_seen)
            EXPECT_EQ(c.a_format, find_operand_format(a.scheme, a.element)->code);
        }
      }
    }
  }
}

// Infinities and NaN of B count where A stores an element.
TEST(Gemm, SparseMeetsSpecialNumbersWhereItStores) {
  const GemmFormat& format = find_gemm_format("fp8_e5m2");
  for (const NmPattern& pattern : {NmPattern{}, NmPattern::of("4:8pair")}) {
    const QuantizedMatrix a = test::sparse_product_operand(6, 72, true, 1, format, pattern);
    QuantizedMatrix b = test::sparse_product_operand(40, 72, false, 2, format);
    for (std::size_t column = 0; column < 39; ++column)
      b.codes[column * b.k_padded + column * 72 / 39] = column % 3 == 0 ? 0x7F : column % 3 == 1 ? 0x7C : 0xFC;
    Bench bench(sparse_fp8);
    ASSERT_EQ(bench.init(), NG_OK);
    DriverGemm product(bench.driver, a, b, false, std::nullopt, pattern);
    ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
    EXPECT_EQ(codes(product.result()), codes(gemm_sparse(a, b, pattern, 1)));
  }
}

TEST(Gemm, IllegalMetadataAreAnError) {
  const QuantizedMatrix a = test::sparse_product_operand(4, 100, true, 1);
  const QuantizedMatrix b = test::sparse_product_operand(5, 100, false, 2);
  Bench bench(sparse);
  ASSERT_EQ(bench.init(), NG_OK);
  SparseOperand left = compress_operand(a, {});
  const SparseOperand right = widen_operand(b, {});
  const auto product = [&] {
    std::vector<std::uint8_t> c(4 * 5 * 4), scratch(64), a_images, b_images;
    ng_gemm_config_t config{};
    const auto pack = [&](const SparseOperand& q, ng_side_t side, std::vector<std::uint8_t>& images) {
      const ng_matrix_t matrix = driver_matrix(q);
      std::size_t bytes = 0;
      EXPECT_EQ(ng_tile_pack_size(&bench.driver, &matrix, side, &bytes), NG_OK);
      images.resize(bytes);
      EXPECT_EQ(
          ng_tile_pack(&bench.driver, &matrix, side, images.data(), bytes, side == NG_SIDE_A ? &config.a : &config.b),
          NG_OK);
    };
    pack(left, NG_SIDE_A, a_images);
    pack(right, NG_SIDE_B, b_images);
    config.c = c.data();
    config.c_bytes = c.size();
    config.scale = 0x3F800000;
    config.scratch = scratch.data();
    config.scratch_bytes = scratch.size();
    return ng_tile_gemm(&bench.driver, &config);
  };
  EXPECT_EQ(product(), NG_OK);
  for (std::uint8_t& byte : left.metadata) {
    const std::uint8_t right_one = std::exchange(byte, static_cast<std::uint8_t>(byte ^ 0x40));
    if (is_metadata(byte >> 4U)) byte = 0;
    EXPECT_EQ(product(), NG_ERROR_BAD_METADATA);
    ASSERT_EQ(ng_tile_reset(&bench.driver), NG_OK);
    byte = right_one;
  }
  EXPECT_EQ(product(), NG_OK);
}

TEST(Gemm, AccumulatesAcrossPasses) {
  // 64 and 128 panel-beats of 16 fit the smaller banks of these: 1 pass, 2, many.
  for (const std::size_t k : {1024, 1025, 2048, 2049, 5000}) {
    expect_golden(tiny, {3, 5, k}, nvfp4);
    expect_golden(large, {17, 20, k}, nvfp4);
    expect_golden(large_fp8, {9, 17, k}, find_gemm_format("fp8_e5m2_e4m3"));
  }
  expect_golden(scalar, {3, 4, 100}, nvfp4, true);
}

TEST(Gemm, KeepsNanAndInfinityOfPassesBefore) {
  Operands q(4, 9, 1500, find_gemm_format("fp8_e5m2"));
  q.a.codes[2] = 0x7C;                       // infinity in the first pass of row 0
  q.a.codes[q.a.k_padded + 1400] = 0x7E;     // NaN in the last pass of row 1
  q.b.codes[q.b.k_padded * 8 + 700] = 0xFC;  // minus infinity in column 8
  FakeTileConfig config = large_fp8;
  config.a_depth = 30;
  Bench bench(config);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
  EXPECT_EQ(codes(product.result()), codes(golden(q.a, q.b)));
}

TEST(Gemm, IsTheSameHoweverItIsFed) {
  std::vector<std::uint8_t> scratch;
  for (const FakeTileConfig& config : {tiny, odd, large}) {
    for (const std::uint32_t command_beats : {1U, 7U, 100000U}) {
      for (const std::size_t words : {1, 3, 50}) {
        for (const bool interrupts : {false, true}) {
          expect_golden(config, {19, 21, 80}, nvfp4, false, [&](ng_gemm_config_t& c) {
            c.command_beats = command_beats;
            scratch.resize(words * config.stream_bytes + (interrupts ? 1 : 0));  // what is no whole word is not used
            c.scratch = scratch.data();
            c.scratch_bytes = scratch.size();
            c.interrupts = interrupts;
          });
        }
      }
    }
  }
}

TEST(Gemm, PollsWithoutIdle) {
  const Operands q(9, 9, 70);
  Bench bench(tiny);
  bench.port.idle = nullptr;
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
  EXPECT_EQ(codes(product.result()), codes(golden(q.a, q.b)));
}

TEST(Gemm, WritesNothingBetweenRows) {
  const Operands q(5, 7, 33);
  const std::vector<std::uint32_t> expected = codes(golden(q.a, q.b));
  Bench bench(odd);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  constexpr std::uint32_t stride = 10, canary = 0xDEADBEEF;
  std::vector<std::uint32_t> c(4 * stride + 7, canary);
  product.config.c = c.data();
  product.config.c_bytes = c.size() * 4;
  product.config.c_stride = stride;
  ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
  for (std::size_t i = 0; i < c.size(); ++i) {
    EXPECT_EQ(c[i], i % stride < 7 ? expected[i / stride * 7 + i % stride] : canary) << i;
  }
  product.config.c_bytes -= 1;
  EXPECT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_ERROR_MEMORY);
}

TEST(Gemm, OneAfterTheOther) {
  Bench bench(middle);
  ASSERT_EQ(bench.init(), NG_OK);
  for (unsigned i = 0; i < 5; ++i) {
    const Operands q(10 + i, 13, 40 + i, i % 2 == 0 ? nvfp4 : find_gemm_format("fp8_e4m3"), i);
    DriverGemm product(bench.driver, q.a, q.b, i % 3 == 0);
    ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
    EXPECT_EQ(codes(product.result()), codes(golden(q.a, q.b, i % 3 == 0)));
  }
}

TEST(Gemm, OperandsStayForTheSameCommandAgain) {
  Bench bench(odd);
  ASSERT_EQ(bench.init(), NG_OK);
  const Operands q(2 * odd.rows, odd.cols, 60);  // whole panels: no padding among the results
  DriverGemm product(bench.driver, q.a, q.b);
  std::uint32_t command = 0;
  product.config.again = &command;
  ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
  std::vector<std::uint32_t> expected = codes(golden(q.a, q.b));
  EXPECT_EQ(codes(product.result()), expected);
  std::sort(expected.begin(), expected.end());
  for (int times = 0; times < 3; ++times) {
    ASSERT_EQ(bench.port.write32(bench.port.ctx, NG_TILE_COMPUTE_OFFSET, command), NG_OK);
    std::vector<std::uint32_t> words;
    for (unsigned i = 0; i < timeout && words.size() < expected.size(); ++i) {
      std::vector<std::uint8_t> bytes(odd.stream_bytes * std::size_t{64});
      std::size_t arrived = 0;
      ASSERT_EQ(bench.port.stream_receive(bench.port.ctx, bytes.data(), bytes.size(), &arrived), NG_OK);
      for (std::size_t at = 0; at < arrived; at += odd.stream_bytes) {
        for (unsigned col = 0; col < odd.cols; ++col) {
          std::uint32_t word = 0;
          std::memcpy(&word, bytes.data() + at + std::size_t{col} * 4, 4);
          words.push_back(word);
        }
      }
      bench.port.idle(bench.port.ctx);
    }
    std::sort(words.begin(), words.end());
    EXPECT_EQ(words, expected);
  }
  ASSERT_EQ(ng_tile_reset(&bench.driver), NG_OK);
  DriverGemm next(bench.driver, q.b, q.a);
  ASSERT_EQ(ng_tile_gemm(&bench.driver, &next.config), NG_OK);
  EXPECT_EQ(codes(next.result()), codes(golden(q.b, q.a)));
}

TEST(Gemm, OperandsDoNotStayWhereTheyDoNotFit) {
  Bench bench(odd);
  ASSERT_EQ(bench.init(), NG_OK);
  const std::size_t beat = odd.lanes;
  const auto start = [&](const Operands& q, bool requantize) {
    DriverGemm product(bench.driver, q.a, q.b);
    std::uint32_t command = 0;
    product.config.again = &command;
    product.config.requantize = requantize;
    ng_gemm_t gemm;
    return ng_tile_gemm_start(&gemm, &bench.driver, &product.config);
  };
  EXPECT_EQ(start(Operands(odd.rows, odd.cols, beat * 5), false), NG_OK);
  EXPECT_EQ(start(Operands(odd.rows, odd.cols, beat * 6), false), NG_ERROR_UNSUPPORTED);               // a sum
  EXPECT_EQ(start(Operands(odd.rows * std::size_t{8}, odd.cols, beat), false), NG_ERROR_UNSUPPORTED);  // A
  EXPECT_EQ(start(Operands(odd.rows, odd.cols * std::size_t{6}, beat), false), NG_ERROR_UNSUPPORTED);  // B
  EXPECT_EQ(start(Operands(odd.rows, odd.cols, beat), true), NG_ERROR_UNSUPPORTED);
}

TEST(Gemm, DrivenByInterruptsOnly) {
  const Operands q(40, 50, 64);
  Bench bench(tiny);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  product.config.interrupts = true;
  ng_gemm_t gemm{};
  ASSERT_EQ(ng_tile_gemm_start(&gemm, &bench.driver, &product.config), NG_OK);
  ng_result_t result = ng_tile_gemm_step(&gemm);
  int handled = 0;
  while (result == NG_BUSY) {  // the handler runs when the tile or the stream engine interrupts
    const std::size_t waiting = bench.tile.packets_waiting();
    int cycles = 0;
    while (!bench.tile.irq() && bench.tile.packets_waiting() == waiting && cycles < 5000) {
      // TileBus::run would also stop at a result.
      std::uint32_t ignored = 0;
      ASSERT_TRUE(bench.tile.read32(NG_TILE_MAGIC_OFFSET, ignored));
      ++cycles;
    }
    ASSERT_LT(cycles, 5000) << "nothing interrupts any more";
    result = ng_tile_gemm_step(&gemm);
    ++handled;
  }
  EXPECT_EQ(result, NG_OK);
  EXPECT_GT(handled, 10);
  EXPECT_LE(handled, static_cast<int>(bench.tile.computes_seen.size() + bench.tile.loads_seen.size()))
      << "an interrupt is acknowledged when it is handled";
  EXPECT_EQ(gemm.computes, bench.tile.computes_seen.size());
  EXPECT_EQ(gemm.loads, bench.tile.loads_seen.size());
  EXPECT_FALSE(bench.tile.irq());
  EXPECT_EQ(codes(product.result()), codes(golden(q.a, q.b)));
  EXPECT_EQ(ng_tile_gemm_step(&gemm), NG_OK) << "finished stays finished";
}

// ---- the commands it gives

TEST(Plan, BlocksOfAStayWhileBPasses) {
  // 32 panels of A in 4 blocks of 8 that fill a bank, 31 chunks of B: one of two panels that fill a bank, then of one,
  // of 64 panel-beats each.
  const Operands q(256, 256, 1024);
  Bench bench(large);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  const std::uint64_t start = bench.tile.cycles();
  ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
  const std::uint64_t cycles = bench.tile.cycles() - start;
  EXPECT_EQ(codes(product.result()), codes(golden(q.a, q.b)));
  EXPECT_EQ(bench.tile.computes_seen.size(), 4U * 31);
  EXPECT_EQ(bench.tile.loads_seen.size(), 1U + 4 * 31 + 3 * 30);
  const auto& loads = bench.tile.loads_seen;
  EXPECT_EQ(loads[0], (FakeTile::Load{1, 128, false}));
  EXPECT_EQ(loads[1], (FakeTile::Load{0, 512, false}));
  EXPECT_EQ(loads[2], (FakeTile::Load{1, 64, false}));
  EXPECT_EQ(loads[3], (FakeTile::Load{0, 17, true}));
  EXPECT_EQ(loads[4], (FakeTile::Load{1, 64, false}));
  EXPECT_EQ(loads[61], (FakeTile::Load{0, 18, false}));
  const double beats = 4.0 * 32 * 8 * 64;
  const double overall = beats / static_cast<double>(cycles);
  EXPECT_GT(overall, 0.96);
  EXPECT_EQ(bench.tile.operand_words(), (32U + 4 * 32) * 64 * 5);
  std::cout << "256x256x1024 on 8x8x16, beats a cycle: " << overall << " from start to end (" << cycles << " cycles)\n";
}

TEST(Plan, SmallCommandsAreJoined) {
  const Operands q(64, 64, 64);
  Bench bench(large);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
  // 8 panels x 4 beats of A: two panels of B make 64 beats; five, as many as an image of A has words, are the first
  // chunk.
  EXPECT_EQ(bench.tile.computes_seen.size(), 3U);
  EXPECT_EQ(bench.tile.loads_seen.size(), 1U + 3);
}

TEST(Plan, ShortBStays) {
  const Operands q(100, 4, 64);
  FakeTileConfig config = tiny;
  config.a_depth = 32;  // 8 panels of 4 beats; A has 50
  Bench bench(config);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  product.config.command_beats = 1000;
  ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
  EXPECT_EQ(codes(product.result()), codes(golden(q.a, q.b)));
  EXPECT_EQ(bench.tile.computes_seen.size(), 7U);
  EXPECT_EQ(bench.tile.loads_seen.size(), 7U + 1);
  for (const FakeTile::Compute& c : bench.tile.computes_seen) {
    EXPECT_EQ(c.release_b, &c == &bench.tile.computes_seen.back());
    EXPECT_TRUE(c.release_a && c.first && c.last && !c.irq);
  }
}

TEST(Plan, PassesTurnBackAtTheEndOfATile) {
  const Operands q(4, 6, 64 * 16 * 2 + 1);  // 129 beats: passes of 43, 43, 43
  Bench bench(tiny);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
  EXPECT_EQ(codes(product.result()), codes(golden(q.a, q.b)));
  EXPECT_EQ(bench.tile.computes_seen.size(), 2U * 3 * 3);
  unsigned of_a = 0, of_b = 0;
  for (const FakeTile::Load& load : bench.tile.loads_seen) {
    EXPECT_EQ(load.count, 43U);
    EXPECT_FALSE(load.more);
    ++(load.side == 0 ? of_a : of_b);
  }
  EXPECT_EQ(of_b, 18U);
  EXPECT_EQ(of_a, 18U - 2 * 2);  // two turns in each of two rows of tiles
}

TEST(Plan, APanelStaysWhilePartsOfBPass) {
  const Operands q(4, 6, 64 * 16 * 2 + 1);  // 129 beats: parts of 43, 43, 43
  FakeTileConfig config = tiny;
  config.a_depth = 256;
  Bench bench(config);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
  EXPECT_EQ(codes(product.result()), codes(golden(q.a, q.b)));
  EXPECT_EQ(bench.tile.computes_seen.size(), 2U * 3 * 3);
  unsigned of_b = 0, a_images = 0;
  std::vector<bool> more_of_a;
  for (const FakeTile::Load& load : bench.tile.loads_seen) {
    if (load.side == 0) {
      more_of_a.push_back(load.more);
      a_images += load.count;
    } else {
      EXPECT_EQ(load.count, 43U);
      EXPECT_FALSE(load.more);
      ++of_b;
    }
  }
  EXPECT_EQ(of_b, 18U);
  EXPECT_EQ(a_images, 2U * 129);
  EXPECT_EQ(more_of_a, (std::vector<bool>{true, true, false, true, false})) << "each panel of A once";
  for (std::size_t i = 0; i < bench.tile.computes_seen.size(); ++i) {
    const FakeTile::Compute& c = bench.tile.computes_seen[i];
    EXPECT_TRUE(c.part_a && c.release_b);
    EXPECT_EQ(c.release_a, i == 8 || i == 17);
    EXPECT_EQ(c.first, i % 3 == 0);
    EXPECT_EQ(c.last, i % 3 == 2);
  }
}

// ---- bring-up

TEST(Init, ReadsTheCapabilities) {
  Bench bench(odd);
  ASSERT_EQ(bench.init(), NG_OK);
  EXPECT_EQ(bench.driver.rows, 3U);
  EXPECT_EQ(bench.driver.cols, 5U);
  EXPECT_EQ(bench.driver.lanes, 32U);
  EXPECT_EQ(bench.driver.format_set, 7U);
  EXPECT_EQ(bench.driver.a_depth, 7U);
  EXPECT_EQ(bench.driver.b_depth, 5U);
  EXPECT_EQ(bench.driver.stream_bytes, 32U);
  EXPECT_EQ(bench.driver.max_beats, 4096U);
  EXPECT_EQ(bench.driver.a_image, 128U);  // 3 x 32 bytes and 3 x 2 scales, in words of 32 bytes
  EXPECT_EQ(bench.driver.b_image, 192U);  // 160 and 10
  EXPECT_TRUE(bench.driver.counters);
}

TEST(Init, RefusesWhatItDoesNotKnow) {
  const auto result = [](const std::function<void(FakeTile&)>& change, FakeTileConfig config = tiny) {
    Bench bench(config);
    change(bench.tile);
    return bench.init();
  };
  EXPECT_EQ(result([](FakeTile& t) { t.magic = 0; }), NG_ERROR_MAGIC);
  EXPECT_EQ(result([](FakeTile& t) { t.magic = 0xFFFFFFFF; }), NG_ERROR_MAGIC);
  EXPECT_EQ(result([](FakeTile& t) { t.version = 0x00000900; }), NG_ERROR_VERSION);
  EXPECT_EQ(result([](FakeTile& t) { t.version = 0x00020000; }), NG_ERROR_VERSION);
  EXPECT_EQ(result([](FakeTile& t) { t.version = 0x00010703; }), NG_OK) << "additions and repairs are no obstacle";
  EXPECT_EQ(result([](FakeTile& t) { t.strange_geometry = 1U << 28; }), NG_ERROR_CAPABILITIES);
  EXPECT_EQ(result([](FakeTile& t) { t.strange_stream = 1U << 22; }), NG_ERROR_CAPABILITIES);
  EXPECT_EQ(result([](FakeTile& t) { t.strange_stream = NG_TILE_STREAM_PROTECT_MASK; }), NG_OK);
  EXPECT_EQ(result([](FakeTile& t) { t.strange_stream = NG_TILE_STREAM_DEADLINE_MASK; }), NG_OK);
  const auto nothing = [](FakeTile&) {};
  for (unsigned FakeTileConfig::*member :
       {&FakeTileConfig::rows, &FakeTileConfig::cols, &FakeTileConfig::lanes, &FakeTileConfig::format_set,
        &FakeTileConfig::stream_bytes, &FakeTileConfig::a_depth, &FakeTileConfig::b_depth,
        &FakeTileConfig::max_beats}) {
    FakeTileConfig config = tiny;
    config.*member = 0;
    EXPECT_EQ(result(nothing, config), NG_ERROR_CAPABILITIES);
  }
  for (const unsigned bytes : {2U, 6U}) {
    FakeTileConfig config = tiny;
    config.stream_bytes = bytes;
    EXPECT_EQ(result(nothing, config), NG_ERROR_CAPABILITIES);
  }
  FakeTileConfig config = tiny;
  config.lanes = 24;
  EXPECT_EQ(result(nothing, config), NG_ERROR_CAPABILITIES);
  for (const unsigned lanes : {1U, 17U, 24U, 48U}) {  // LUQ takes a power of two: its nibbles fill bytes
    config = luq_only;
    config.lanes = lanes;
    EXPECT_EQ(result(nothing, config), NG_ERROR_CAPABILITIES) << lanes;
  }
  for (const unsigned strange : {9U << 11, 15U << 15}) {  // decoders, encoders
    EXPECT_EQ(result([&](FakeTile& t) { t.strange_stream = strange; }), NG_ERROR_CAPABILITIES);
  }
  config = sparse;
  EXPECT_EQ(result(nothing, config), NG_OK);
  config.format_set = 2;
  EXPECT_EQ(result(nothing, config), NG_OK);
  config.lanes = 24;
  EXPECT_EQ(result(nothing, config), NG_ERROR_CAPABILITIES);
}

TEST(Init, ResetsATileInAnyState) {
  Bench bench(tiny);
  for (unsigned error = 1; error < 16; ++error) {
    bench.tile.fail(error);
    EXPECT_EQ(bench.init(), NG_OK);
  }
  bench.tile.stuck_busy = true;
  EXPECT_EQ(bench.init(), NG_ERROR_TIMEOUT);
}

// ---- arguments

TEST(Arguments, AreChecked) {
  Bench bench(tiny);
  ng_tile_t tile{};
  ng_tile_config_t config{.port = &bench.port, .base = 0, .timeout_ticks = timeout};
  EXPECT_EQ(ng_tile_init(nullptr, &config), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_init(&tile, nullptr), NG_ERROR_ARGUMENT);
  config.timeout_ticks = 0;
  EXPECT_EQ(ng_tile_init(&tile, &config), NG_ERROR_ARGUMENT);
  config.timeout_ticks = timeout;
  const ng_port_t whole = bench.port;
  const auto without = [&](auto ng_port_t::*callback) {
    bench.port = whole;
    bench.port.*callback = nullptr;
    EXPECT_EQ(ng_tile_init(&tile, &config), NG_ERROR_ARGUMENT);
  };
  without(&ng_port_t::read32);
  without(&ng_port_t::write32);
  without(&ng_port_t::stream_send);
  without(&ng_port_t::stream_send_done);
  without(&ng_port_t::stream_receive);
  without(&ng_port_t::stream_reset);
  without(&ng_port_t::ticks);
  bench.port = whole;
  config.port = nullptr;
  EXPECT_EQ(ng_tile_init(&tile, &config), NG_ERROR_ARGUMENT);
  ASSERT_EQ(bench.init(), NG_OK);
  EXPECT_EQ(ng_tile_reset(nullptr), NG_ERROR_ARGUMENT);
  ng_gemm_t gemm{};
  const ng_gemm_config_t nothing{};
  EXPECT_EQ(ng_tile_gemm_start(nullptr, &bench.driver, &nothing), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_gemm_start(&gemm, nullptr, &nothing), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_gemm_start(&gemm, &bench.driver, nullptr), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_gemm_start(&gemm, &bench.driver, &nothing), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_gemm_step(&gemm), NG_ERROR_ARGUMENT) << "not started";
  EXPECT_EQ(ng_tile_counters(nullptr, nullptr), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_gemm_step(nullptr), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_counters(&bench.driver, nullptr), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_clear_counters(nullptr), NG_ERROR_ARGUMENT);
  std::uint32_t beats = 0;
  bool late = false;
  EXPECT_EQ(ng_tile_deadline(nullptr, 1), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_deadline(&bench.driver, 0x80000001), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_deadline(&bench.driver, 1), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(ng_tile_progress(nullptr, &beats, &late), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_progress(&bench.driver, nullptr, &late), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_progress(&bench.driver, &beats, nullptr), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_progress(&bench.driver, &beats, &late), NG_ERROR_UNSUPPORTED);
  bench.driver.deadline = true;
  bench.tile.stuck_busy = true;
  EXPECT_EQ(ng_tile_deadline(&bench.driver, 1), NG_BUSY);
  bench.tile.stuck_busy = false;
  EXPECT_EQ(ng_tile_deadline(&bench.driver, 1), NG_ERROR_BUS) << "the register is not there";
}

TEST(Arguments, OfPack) {
  Bench bench(tiny);
  ASSERT_EQ(bench.init(), NG_OK);
  const Operands q(5, 3, 40);
  const ng_matrix_t good = driver_matrix(q.a);
  std::size_t bytes = 0;
  ASSERT_EQ(ng_tile_pack_size(&bench.driver, &good, NG_SIDE_A, &bytes), NG_OK);
  EXPECT_EQ(bytes, 3U * 3 * 20);  // panels, beats, image: 16 bytes of codes and 2 of scales in words of 4
  std::vector<std::uint8_t> buffer(bytes);
  ng_operand_t operand{};
  EXPECT_EQ(ng_tile_pack(&bench.driver, &good, NG_SIDE_A, buffer.data(), bytes, &operand), NG_OK);
  EXPECT_EQ(operand.bytes, bytes);
  EXPECT_EQ(ng_tile_pack(&bench.driver, &good, NG_SIDE_A, buffer.data(), bytes - 1, &operand), NG_ERROR_MEMORY);
  EXPECT_EQ(ng_tile_pack(&bench.driver, &good, NG_SIDE_A, nullptr, bytes, &operand), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_tile_pack(&bench.driver, &good, static_cast<ng_side_t>(2), buffer.data(), bytes, &operand),
            NG_ERROR_ARGUMENT);
  const auto size_of = [&](const std::function<void(ng_matrix_t&)>& change) {
    ng_matrix_t matrix = good;
    change(matrix);
    return ng_tile_pack_size(&bench.driver, &matrix, NG_SIDE_A, &bytes);
  };
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.rows = 0; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.k = 0; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.k_padded = 32; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.k_padded = 41; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.codes = nullptr; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.scales = nullptr; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.format = static_cast<ng_format_t>(4); }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.sparsity = NG_2_4; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.sparsity = NG_4_8_PAIR; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.sparsity = static_cast<ng_sparsity_t>(3); }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.format = NG_E4M3; }), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.format = NG_LUQ; }), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(size_of([](ng_matrix_t& m) { m.rows = 0xFFFFFFFF; }), NG_ERROR_MEMORY);

  // Of a sparse product: A without metadata; lengths that are no whole blocks of 32; a tile without it.
  Bench pruned(sparse);
  ASSERT_EQ(pruned.init(), NG_OK);
  const SparseOperand left = compress_operand(test::sparse_product_operand(5, 40, true, 1), {});
  ng_matrix_t half = driver_matrix(left);
  EXPECT_EQ(ng_tile_pack_size(&pruned.driver, &half, NG_SIDE_A, &bytes), NG_OK);
  EXPECT_EQ(bytes,
            2U * 2 * 40);  // panels, beats, image: 24 bytes of codes, 3 of scales and 12 of metadata in words of 8
  EXPECT_EQ(ng_tile_pack_size(&bench.driver, &half, NG_SIDE_A, &bytes), NG_ERROR_UNSUPPORTED);
  half.k_padded = 48;
  EXPECT_EQ(ng_tile_pack_size(&pruned.driver, &half, NG_SIDE_A, &bytes), NG_ERROR_ARGUMENT);
  half.k_padded = 64;
  half.metadata = nullptr;
  EXPECT_EQ(ng_tile_pack_size(&pruned.driver, &half, NG_SIDE_A, &bytes), NG_ERROR_ARGUMENT);

  // More than any address space: 2^31 panels of 2^32 panel-beats of 64 bytes.
  Bench thin({.rows = 1, .cols = 1, .lanes = 1, .format_set = 2, .stream_bytes = 64});
  ASSERT_EQ(thin.init(), NG_OK);
  ng_matrix_t vast = good;
  vast.format = NG_E4M3;
  vast.rows = 0x7FFFFFFF;
  vast.k = vast.k_padded = 0xFFFFFFFF;
  EXPECT_EQ(ng_tile_pack_size(&thin.driver, &vast, NG_SIDE_A, &bytes), NG_ERROR_MEMORY);
}

TEST(Arguments, OfGemm) {
  Bench bench(odd);
  ASSERT_EQ(bench.init(), NG_OK);
  const Operands q(5, 3, 40);
  DriverGemm product(bench.driver, q.a, q.b);
  const auto result = [&](const std::function<void(ng_gemm_config_t&)>& change) {
    ng_gemm_config_t config = product.config;
    change(config);
    return ng_tile_gemm(&bench.driver, &config);
  };
  EXPECT_EQ(result([](ng_gemm_config_t&) {}), NG_OK);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { std::swap(c.a, c.b); }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.a.side = NG_SIDE_B; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.b.side = NG_SIDE_A; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.b.k = 41; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.a.k = c.b.k = 0; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.a.rows = 0; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.b.rows = 0; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.b.data = nullptr; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.b.bytes += 1; }), NG_ERROR_MEMORY);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.b.format = NG_E4M3; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.b.format = NG_LUQ; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.a.data = nullptr; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.c = nullptr; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.scratch = nullptr; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.c_stride = 2; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.scratch_bytes = 31; }), NG_ERROR_MEMORY);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.c_bytes = 59; }), NG_ERROR_MEMORY);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.a.bytes -= 1; }), NG_ERROR_MEMORY);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.c_stride = 0xFFFFFFFF; }), NG_ERROR_MEMORY);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.int8 = true; }), NG_ERROR_UNSUPPORTED);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.int8 = c.bf16 = true; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.int8 = c.requantize = true; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.int8 = true, c.zero_point = 256; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.int8 = true, c.zero_point = -257; }), NG_ERROR_ARGUMENT);
  EXPECT_EQ(result([](ng_gemm_config_t& c) { c.zero_point = 1; }), NG_ERROR_ARGUMENT) << "INT8 alone has one";

  // Another tile: formats that it lacks, a sum that is too long for it.
  Bench fp8(large_fp8);
  ASSERT_EQ(fp8.init(), NG_OK);
  EXPECT_EQ(ng_tile_gemm(&fp8.driver, &product.config), NG_ERROR_UNSUPPORTED);
  FakeTileConfig short_sums = tiny;
  short_sums.max_beats = 2;
  Bench brief(short_sums);
  ASSERT_EQ(brief.init(), NG_OK);
  DriverGemm longer(brief.driver, q.a, q.b);
  EXPECT_EQ(ng_tile_gemm(&brief.driver, &longer.config), NG_ERROR_UNSUPPORTED);

  ng_gemm_t gemm{};
  ASSERT_EQ(ng_tile_gemm_start(&gemm, &bench.driver, &product.config), NG_OK);
  EXPECT_EQ(ng_tile_gemm_step(&gemm), NG_BUSY);
  EXPECT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_BUSY) << "one product at a time";
  EXPECT_EQ(ng_tile_gemm_start(&gemm, &bench.driver, nullptr), NG_ERROR_ARGUMENT);
}

TEST(Result, HasText) {
  std::set<std::string> texts;
  for (int i = 0; i <= NG_ERROR_BAD_PARITY + 1; ++i) texts.insert(ng_result_text(static_cast<ng_result_t>(i)));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(NG_ERROR_BAD_PARITY) + 2) << "each its own";
}

// ---- counters

TEST(Counters, AreRead) {
  const Operands q(9, 11, 70);
  Bench bench(tiny);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  ASSERT_EQ(ng_tile_clear_counters(&bench.driver), NG_OK);
  ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
  ng_counters_t counters{};
  ASSERT_EQ(ng_tile_counters(&bench.driver, &counters), NG_OK);
  EXPECT_EQ(counters.products, 9U * 11 * 80);
  std::uint64_t zeros = 0;
  for (std::size_t i = 0; i < q.a.codes.size(); ++i) zeros += (q.a.codes[i] & 7) == 0;
  EXPECT_EQ(counters.zero_a, zeros * 6) << "each panel of A meets six of B";
  EXPECT_GT(counters.cycles, counters.busy);
  EXPECT_GT(counters.busy, 5U * 6 * 5);
  EXPECT_GT(counters.flips_a, 0U);
  EXPECT_GT(counters.flips_b, 0U);
  ASSERT_EQ(ng_tile_clear_counters(&bench.driver), NG_OK);
  ASSERT_EQ(ng_tile_counters(&bench.driver, &counters), NG_OK);
  EXPECT_EQ(counters.products, 0U);
  EXPECT_LT(counters.cycles, 100U);
  FakeTileConfig without = tiny;
  without.counters = false;
  Bench none(without);
  ASSERT_EQ(none.init(), NG_OK);
  EXPECT_EQ(ng_tile_counters(&none.driver, &counters), NG_ERROR_UNSUPPORTED);
}

// ---- faults

/// What a faulty port does, counted over its calls from 0.
struct Faults {
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint64_t bus_error = never;  ///< this register access fails
  ng_result_t bus_result = NG_ERROR_BUS;
  std::uint64_t stream_error = never;  ///< this stream call fails
  ng_result_t stream_result = NG_ERROR_STREAM;
  std::uint64_t busy_from = never;  ///< from this send on the stream engine accepts nothing
  bool send_never_done = false;
  bool receive_never = false;
  bool receive_too_much = false;  ///< claims more than fits
  bool receive_part_words = false;
  std::uint64_t garbage_words = 0;  ///< come first, in place of results
};

/// The port of a Bench with faults put between.
struct FaultyBench : Bench {
  explicit FaultyBench(const FakeTileConfig& config, const Faults& f = {}) : Bench(config), faults(f) {
    good = port;
    port.ctx = this;
    port.read32 = [](void* ctx, std::uint32_t address, std::uint32_t* value) {
      FaultyBench& b = self(ctx);
      if (b.accesses++ == b.faults.bus_error) return b.faults.bus_result;
      return b.good.read32(b.good.ctx, address, value);
    };
    port.write32 = [](void* ctx, std::uint32_t address, std::uint32_t value) {
      FaultyBench& b = self(ctx);
      if (b.accesses++ == b.faults.bus_error) return b.faults.bus_result;
      return b.good.write32(b.good.ctx, address, value);
    };
    port.stream_send = [](void* ctx, const void* data, std::size_t bytes) {
      FaultyBench& b = self(ctx);
      if (b.stream_calls++ == b.faults.stream_error) return b.faults.stream_result;
      if (b.sends >= b.faults.busy_from) return NG_BUSY;
      const ng_result_t result = b.good.stream_send(b.good.ctx, data, bytes);
      b.sends += result == NG_OK;
      return result;
    };
    port.stream_send_done = [](void* ctx, bool* done) {
      FaultyBench& b = self(ctx);
      if (b.stream_calls++ == b.faults.stream_error) return b.faults.stream_result;
      const ng_result_t result = b.good.stream_send_done(b.good.ctx, done);
      if (b.faults.send_never_done) *done = false;
      return result;
    };
    port.stream_receive = [](void* ctx, void* buffer, std::size_t bytes, std::size_t* arrived) {
      FaultyBench& b = self(ctx);
      if (b.stream_calls++ == b.faults.stream_error) return b.faults.stream_result;
      if (b.faults.receive_never) return NG_OK;
      if (b.faults.garbage_words != 0) {
        const std::size_t words = std::min<std::uint64_t>(b.faults.garbage_words, bytes / b.driver.stream_bytes);
        b.faults.garbage_words -= words;
        *arrived = words * b.driver.stream_bytes;
        std::memset(buffer, 0x5A, *arrived);
        return NG_OK;
      }
      const ng_result_t result = b.good.stream_receive(b.good.ctx, buffer, bytes, arrived);
      if (b.faults.receive_too_much) *arrived = bytes + b.driver.stream_bytes;
      if (b.faults.receive_part_words && *arrived != 0) *arrived -= 1;
      return result;
    };
    port.stream_reset = [](void* ctx) {
      FaultyBench& b = self(ctx);
      if (b.stream_calls++ == b.faults.stream_error) return b.faults.stream_result;
      return b.good.stream_reset(b.good.ctx);
    };
    port.ticks = [](void* ctx) { return self(ctx).good.ticks(self(ctx).good.ctx); };
    port.idle = [](void* ctx) { self(ctx).good.idle(self(ctx).good.ctx); };
  }
  static FaultyBench& self(void* ctx) { return *static_cast<FaultyBench*>(ctx); }

  /// Bring-up and one product; *result is filled in if it succeeded.
  ng_result_t run(const Operands& q, std::vector<float>& c, bool interrupts = true,
                  const std::function<void(unsigned)>& between = {}) {
    ng_result_t result = init();
    if (result != NG_OK) return result;
    DriverGemm product(driver, q.a, q.b);
    product.config.interrupts = interrupts;
    ng_gemm_t gemm{};
    result = ng_tile_gemm_start(&gemm, &driver, &product.config);
    if (result != NG_OK) return result;
    for (unsigned step = 0;; ++step) {
      if (between) between(step);
      result = ng_tile_gemm_step(&gemm);
      if (result != NG_BUSY) break;
      port.idle(port.ctx);
    }
    EXPECT_EQ(ng_tile_gemm_step(&gemm), result) << "the end is the end";
    c = product.result();
    // Packets that the port still holds end with the product.
    const ng_result_t reset = ng_tile_reset(&driver);
    if (reset == NG_OK) {
      std::vector<std::uint8_t> left(driver.stream_bytes);
      EXPECT_EQ(tile.packets_waiting(), 0U);
      EXPECT_EQ(tile.receive(left), 0U);
    } else {
      tile.reset_streams();
    }
    return result;
  }

  Faults faults;
  ng_port_t good{};
  std::uint64_t accesses = 0, stream_calls = 0, sends = 0;
};

/// One product on a tile with this fault: an expected result, and afterwards a flawless product on the same tile.
void expect_fault(const FakeTileConfig& config, const Operands& q, const Faults& faults, ng_result_t expected,
                  const std::function<void(FakeTile&)>& change = {}, const std::function<void(FakeTile&)>& mend = {}) {
  FaultyBench bench(config, faults);
  if (change) change(bench.tile);
  std::vector<float> c;
  const ng_result_t result = bench.run(q, c);
  ASSERT_EQ(result, expected) << ng_result_text(result);
  bench.faults = {};
  if (mend) mend(bench.tile);
  ASSERT_EQ(bench.run(q, c), NG_OK);
  EXPECT_EQ(codes(c), codes(golden(q.a, q.b)));
}

class Fault : public testing::TestWithParam<bool> {
 protected:
  /// One pass with blocks and pieces; several passes.
  Operands q = GetParam() ? Operands(4, 5, 150) : Operands(14, 9, 40);
  FakeTileConfig config{.a_depth = 6, .b_depth = 4};
};
INSTANTIATE_TEST_SUITE_P(, Fault, testing::Bool(),
                         [](const auto& info) { return info.param ? "SeveralPasses" : "OnePass"; });

TEST_P(Fault, BusErrorAtEveryAccess) {
  FaultyBench whole(config);
  std::vector<float> c;
  ASSERT_EQ(whole.run(q, c), NG_OK);
  ASSERT_EQ(codes(c), codes(golden(q.a, q.b)));
  const std::uint64_t last = whole.accesses - 3;  // but for the reset after the product
  ASSERT_GT(last, 100U);
  for (std::uint64_t i = 0; i < last; ++i) {
    SCOPED_TRACE(i);
    expect_fault(config, q, {.bus_error = i}, NG_ERROR_BUS);
    expect_fault(config, q, {.bus_error = i, .bus_result = NG_BUSY}, NG_ERROR_BUS);
    if (HasFatalFailure()) return;
  }
}

TEST(Counters, BusErrorAtEveryAccess) {
  FaultyBench bench(tiny);
  ASSERT_EQ(bench.init(), NG_OK);
  ng_counters_t counters{};
  for (unsigned i = 0; i <= 18; ++i) {
    bench.accesses = 0;
    bench.faults.bus_error = i;
    EXPECT_EQ(ng_tile_counters(&bench.driver, &counters), i < 18 ? NG_ERROR_BUS : NG_OK) << i;
  }
  bench.accesses = 0;
  bench.faults.bus_error = 0;
  EXPECT_EQ(ng_tile_clear_counters(&bench.driver), NG_ERROR_BUS);
}

TEST_P(Fault, StreamErrorAtEveryCall) {
  FaultyBench whole(config);
  std::vector<float> c;
  ASSERT_EQ(whole.run(q, c), NG_OK);
  const std::uint64_t last = whole.stream_calls - 2;
  ASSERT_GT(last, 50U);
  for (std::uint64_t i = 0; i < last; ++i) {
    SCOPED_TRACE(i);
    expect_fault(config, q, {.stream_error = i}, NG_ERROR_STREAM);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Fault, StreamEngineStops) {
  FaultyBench whole(config);
  std::vector<float> c;
  ASSERT_EQ(whole.run(q, c), NG_OK);
  for (std::uint64_t i = 0; i < whole.sends; ++i) expect_fault(config, q, {.busy_from = i}, NG_ERROR_TIMEOUT);
  expect_fault(config, q, {.send_never_done = true}, NG_ERROR_TIMEOUT);
  expect_fault(config, q, {.receive_never = true}, NG_ERROR_TIMEOUT);
  expect_fault(config, q, {.receive_too_much = true}, NG_ERROR_STREAM);
  expect_fault(config, q, {.receive_part_words = true}, NG_ERROR_STREAM);
  for (const std::uint64_t words : {std::uint64_t{1}, whole.tile.result_words()}) {
    expect_fault(config, q, {.garbage_words = words}, NG_ERROR_MISCOUNT);
  }
}

TEST_P(Fault, OperandWordLost) {
  FaultyBench whole(config);
  std::vector<float> c;
  ASSERT_EQ(whole.run(q, c), NG_OK);
  const std::uint64_t words = whole.tile.operand_words();
  for (std::uint64_t i = 0; i < words; ++i) {
    SCOPED_TRACE(i);
    FaultyBench bench(config);
    bench.tile.drop_operand = i;
    const ng_result_t result = bench.run(q, c);
    // The last word of a packet takes TLAST along: the tile then waits for it (the last packet), or sees the next one's
    // words where the end should be.
    ASSERT_TRUE(result == NG_ERROR_SHORT_STREAM || result == NG_ERROR_LONG_STREAM ||
                (result == NG_ERROR_TIMEOUT && i + 1 == words))
        << ng_result_text(result);
  }
}

TEST_P(Fault, TlastMisplaced) {
  FaultyBench whole(config);
  std::vector<float> c;
  ASSERT_EQ(whole.run(q, c), NG_OK);
  int too_long = 0;
  for (std::uint64_t i = 0; i < whole.tile.operand_words(); ++i) {
    SCOPED_TRACE(i);
    FaultyBench bench(config);
    bench.tile.turn_tlast = i;
    const ng_result_t result = bench.run(q, c);
    ASSERT_TRUE(result == NG_ERROR_SHORT_STREAM || result == NG_ERROR_LONG_STREAM) << ng_result_text(result);
    too_long += result == NG_ERROR_LONG_STREAM;
    bench.tile.turn_tlast = FakeTile::never;
    ASSERT_EQ(bench.run(q, c), NG_OK);
    ASSERT_EQ(codes(c), codes(golden(q.a, q.b)));
  }
  EXPECT_EQ(static_cast<std::size_t>(too_long), whole.tile.loads_seen.size()) << "each packet has one end";
}

TEST_P(Fault, LostInterruptsCostTimeOnly) {
  FaultyBench bench(config);
  bench.tile.lose_interrupts = true;
  std::vector<float> c;
  ASSERT_EQ(bench.run(q, c), NG_OK);
  EXPECT_EQ(codes(c), codes(golden(q.a, q.b)));
  // Nor does an error whose interrupt is lost pass unseen.
  const ng_result_t result = bench.run(q, c, true, [&](unsigned step) {
    if (step == 3) bench.tile.fail(NG_TILE_ERROR_BANK_MISMATCH);
  });
  EXPECT_EQ(result, NG_ERROR_BANK_MISMATCH);
}

TEST_P(Fault, ResultWordLostOrRepeated) {
  FaultyBench whole(config);
  std::vector<float> c;
  ASSERT_EQ(whole.run(q, c), NG_OK);
  for (std::uint64_t i = 0; i < whole.tile.result_words(); ++i) {
    SCOPED_TRACE(i);
    expect_fault(config, q, {}, NG_ERROR_TIMEOUT, [i](FakeTile& t) { t.drop_result = i; });
    expect_fault(config, q, {}, NG_ERROR_MISCOUNT, [i](FakeTile& t) { t.repeat_result = i; });
    if (HasFatalFailure()) return;
  }
}

TEST_P(Fault, TileStops) {
  expect_fault(
      config, q, {}, NG_ERROR_TIMEOUT, [](FakeTile& t) { t.dead = true; }, [](FakeTile& t) { t.dead = false; });
  FaultyBench bench(config);
  std::vector<float> c;
  EXPECT_EQ(bench.run(q, c, true, [&](unsigned step) { bench.tile.stuck_busy = step > 2; }), NG_ERROR_TIMEOUT);
}

TEST_P(Fault, TileErrorAtAnyTime) {
  const ng_result_t expected[] = {NG_OK,
                                  NG_ERROR_BAD_LOAD,
                                  NG_ERROR_BAD_COMPUTE,
                                  NG_ERROR_QUEUE_FULL,
                                  NG_ERROR_SHORT_STREAM,
                                  NG_ERROR_LONG_STREAM,
                                  NG_ERROR_BANK_MISMATCH,
                                  NG_ERROR_BAD_METADATA,
                                  NG_ERROR_BAD_CODE,
                                  NG_ERROR_BAD_PARITY,
                                  NG_ERROR_UNKNOWN};
  for (unsigned error = 1; error < 16; ++error) {
    for (const unsigned at : {0U, 1U, 7U}) {
      FaultyBench bench(config);
      std::vector<float> c;
      const ng_result_t result = bench.run(q, c, at != 1, [&](unsigned step) {
        if (step == at) bench.tile.fail(error);
      });
      EXPECT_EQ(result, expected[std::min(error, 10U)]) << error << ": " << ng_result_text(result);
      EXPECT_EQ(bench.run(q, c), NG_OK);
      EXPECT_EQ(codes(c), codes(golden(q.a, q.b)));
    }
  }
}

TEST_P(Fault, SomebodyElseDrivesTheTile) {
  FaultyBench bench(config);
  std::vector<float> c;
  // An extra command between ours: the driver sees it by the signature.
  const ng_result_t result = bench.run(q, c, false, [&](unsigned step) {
    if (step == 1) bench.tile.write32(NG_TILE_LOAD_OFFSET, 0);
  });
  EXPECT_EQ(result, NG_ERROR_SIGNATURE);
  EXPECT_EQ(bench.run(q, c), NG_OK);
  // Work of which only the counts tell.
  for (std::uint32_t FakeTile::*count : {&FakeTile::foreign_loads, &FakeTile::foreign_results}) {
    EXPECT_EQ(bench.run(q, c, false, [&](unsigned step) { bench.tile.*count = step > 1; }), NG_ERROR_MISCOUNT);
    bench.tile.*count = 0;
  }
}

TEST_P(Fault, AbandonedAtAnyStep) {
  Bench bench(config);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  for (int steps = 0; steps < 60; ++steps) {
    ng_gemm_t gemm{};
    ASSERT_EQ(ng_tile_gemm_start(&gemm, &bench.driver, &product.config), NG_OK);
    for (int i = 0; i < steps && ng_tile_gemm_step(&gemm) == NG_BUSY; ++i) bench.port.idle(bench.port.ctx);
    ASSERT_EQ(ng_tile_reset(&bench.driver), NG_OK);
    std::vector<std::uint8_t> left(bench.driver.stream_bytes);
    ASSERT_EQ(bench.tile.receive(left), 0U) << steps;
    ASSERT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK) << steps;
    ASSERT_EQ(codes(product.result()), codes(golden(q.a, q.b))) << steps;
  }
}

TEST_P(Fault, ErrorBeforeTheStart) {
  Bench bench(config);
  ASSERT_EQ(bench.init(), NG_OK);
  DriverGemm product(bench.driver, q.a, q.b);
  bench.tile.fail(NG_TILE_ERROR_LONG_STREAM);
  EXPECT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_ERROR_LONG_STREAM);
  ASSERT_EQ(ng_tile_reset(&bench.driver), NG_OK);
  EXPECT_EQ(ng_tile_gemm(&bench.driver, &product.config), NG_OK);
}

}  // namespace
}  // namespace narrowgauge
