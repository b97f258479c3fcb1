// SPDX-License-Identifier: Apache-2.0
// ng_quantize_4over6 against its golden model, on the blocks of quantize_4over6_blocks.hpp. Build parameter: NG_CUTS.
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/quantize_4over6.hpp"
#include "quantize_4over6_blocks.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

class BlockBench : public FourOverSixBlocks {
 public:
  BlockBench(Bench& bench, Dut<Vdut>& dut) : FourOverSixBlocks(bench), dut_(dut), pipe_(bench, dut) {}

  void drain() { pipe_.drain(); }

 private:
  void check(const Block& x, float g) override {
    for (unsigned i = 0; i < 16; ++i) set_bits(dut_->a_i, 16 * i, 16, x[i]);
    dut_->tensor_scale_i = std::bit_cast<std::uint32_t>(g);
    const Nvfp4Block expected = quantize_4over6(x, g);
    std::uint64_t codes = 0;
    for (unsigned i = 0; i < 16; ++i) codes |= std::uint64_t{expected.codes[i]} << 4 * i;
    pipe_([this, x, g, codes, scale = expected.scale] {
      const auto inputs = [&] { return describe(x, g); };
      bench.expect_eq("scale_o", static_cast<std::uint32_t>(dut_->scale_o), std::uint32_t{scale}, inputs);
      bench.expect_eq("codes_o", static_cast<std::uint64_t>(dut_->codes_o), codes, inputs);
    });
  }

  Dut<Vdut>& dut_;
  CutPipe<Vdut> pipe_;
};

template <class Blocks>
concept runs_as_temporary = requires(Blocks& blocks) {
  static_cast<Blocks&&>(blocks).run();
};
static_assert(!runs_as_temporary<BlockBench> && !std::is_move_constructible_v<CutPipe<Vdut>>,
              "comparisons in the pipe refer to the bench, so neither may go before the other");

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "quantize_4over6");
  Dut<Vdut> dut(bench);
  BlockBench blocks(bench, dut);
  blocks.run();
  blocks.drain();
  return bench.finish();
}
