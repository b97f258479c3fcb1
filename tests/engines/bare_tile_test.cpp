// SPDX-License-Identifier: Apache-2.0
// Firmware in the loop: the driver and a GEMM, compiled for RV32 and ARM and run on emulated cores, drive the Verilated
// tile and its cycle model. Results are the golden model's; the tile's clock stands in the same cycle at the end.
#include <gtest/gtest.h>

#include <bit>
#include <tuple>

#include "emulator.hpp"
#include "narrowgauge/engines/tile_bus_on_pins.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

struct Case {
  std::string tile, format;
  std::size_t m, n, k;
  BareOptions options = {};
};

class BareOnTile : public testing::TestWithParam<Case> {};

TEST_P(BareOnTile, EqualsGolden) {
  const Case& run = GetParam();
  const GemmFormat& format = find_gemm_format(run.format);
  const QuantizedMatrix a = test::normal_operand(run.m, run.k, format.a_scheme(), format.a, 1);
  const QuantizedMatrix b = test::normal_operand(run.n, run.k, format.b_scheme(), format.b, 2);
  const std::vector<float> expected = gemm(a, b, 1);
  unsigned stream_bytes = 0;
  for (const TileConfig& tile : tile_configs())
    if (tile.name == run.tile) stream_bytes = tile.stream_width / 8;
  std::uint64_t cycles = 0, accesses = 0;
  for (const char* engine : {"rtl", "systemc"}) {
    SCOPED_TRACE(engine);
    const auto model = make_tile_pin_model(engine, run.tile);
    TileBusOnPins pins(*model, stream_bytes);
    const BareResult got = bare_gemm(pins, a, b, run.options);
    ASSERT_EQ(got.result, NG_OK) << ng_result_text(got.result);
    ASSERT_EQ(got.c.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto code = run.options.bf16 ? encode(Format::bf16, expected[i], {.overflow = Overflow::ieee}) << 16
                                         : std::bit_cast<std::uint32_t>(expected[i]);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got.c[i]), code) << "result " << i;
    }
    if (cycles == 0) std::tie(cycles, accesses) = std::tuple(got.cycles, got.accesses);
    EXPECT_EQ(got.cycles, cycles);
    EXPECT_EQ(got.accesses, accesses);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Tiles, BareOnTile,
    testing::Values(Case{"tiny", "nvfp4", 1, 1, 1}, Case{"tiny", "nvfp4", 7, 5, 1100},
                    Case{"tiny", "nvfp4", 7, 5, 1100, {.core = Core::cortex_m3}},
                    Case{"mixed", "nvfp4", 17, 33, 65, {.bf16 = true}},
                    Case{"large", "nvfp4", 64, 64, 64, {.interrupts = true}},
                    Case{"large", "nvfp4", 40, 50, 64, {.core = Core::cortex_m3, .interrupts = true}},
                    Case{"large", "nvfp4", 9, 20, 2049},
                    Case{"large_fp8", "fp8_e4m3_e5m2", 17, 33, 65, {.interrupts = true}}),
    [](const auto& info) { return info.param.tile + "_" + std::to_string(info.index); });

}  // namespace
}  // namespace narrowgauge
