// SPDX-License-Identifier: Apache-2.0
// ng_fp_mac against the host's fma, step by step: random sums with bubbles, restarts and resets, of ordinary numbers
// and of any codes. With FP16 also against the golden model's `fp32_chain` of FP8 operands, whose codes FP16 holds.
// Build parameter: NG_FORMAT (bf16, fp16, tf32, fp32).
#include <array>
#include <bit>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/accumulate.hpp"
#include "narrowgauge/mac/fp_mac.hpp"

namespace {

/// One row of 1 to 96 FP8 codes: ordinary ones, in every eighth row any.
narrowgauge::QuantizedMatrix fp8_row(narrowgauge::bench::Rng& rng, std::size_t k, bool any) {
  using namespace narrowgauge;
  QuantizedMatrix row;
  row.scheme = Scheme::fp8;
  row.element = rng.below(2) != 0 ? Format::e5m2 : Format::e4m3;
  row.rows = 1;
  row.k = row.k_padded = k;
  const FormatDesc& format = desc(row.element);
  const std::uint32_t base = rng.below(format.max_code()), spread = 1 + rng.below(format.max_code());
  for (std::size_t i = 0; i < k; ++i) {
    const std::uint32_t magnitude = any ? rng.below(128) : std::min(base + rng.below(spread), format.max_code());
    row.codes.push_back(static_cast<std::uint8_t>(magnitude | rng.below(2) << 7));
  }
  return row;
}

/// An FP8 code in FP16, whose upper byte E5M2 is.
std::uint32_t fp16_code(narrowgauge::Format format, std::uint8_t code) {
  using namespace narrowgauge;
  return format == Format::e5m2 ? std::uint32_t{code} << 8 : encode(Format::fp16, decode(format, code));
}

/// Chains of FP8 products, each code as FP16: the sum is that of the accumulation `fp32_chain`.
void fp8_chains(narrowgauge::bench::Bench& bench, narrowgauge::bench::Dut<Vdut>& dut) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;
  for (std::uint64_t done = 0; done < bench.budget();) {
    const std::size_t k = 1 + bench.rng().below(96);
    const bool any = bench.rng().below(8) == 0;
    const QuantizedMatrix a = fp8_row(bench.rng(), k, any), b = fp8_row(bench.rng(), k, any);
    const std::uint32_t sum = fp32_bits(accumulate_sums(a, b, Accumulation::fp32_chain, {}, 1).front());
    for (std::size_t i = 0; i < k; ++i) {
      dut->valid_i = 1;
      dut->first_i = i == 0;
      dut->a_i = fp16_code(a.element, a.codes[i]);
      dut->b_i = fp16_code(b.element, b.codes[i]);
      dut.tick();
    }
    bench.vector();
    bench.expect_eq("fp32_chain", dut->acc_o, sum, [&] { return std::to_string(k) + " products of FP8"; });
    done += k;
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;
  constexpr FormatDesc format = desc(Format::NG_FORMAT);

  Bench bench(argc, argv, "fp_mac", 200'000);
  Dut<Vdut> dut(bench);
  std::uint32_t sum = 0;
  const auto compare = [&](const auto& when) {
    bench.vector();
    bench.expect_eq("sum", dut->acc_o, sum, when);
  };
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (i == 0 || bench.rng().chance(0.001)) {
      dut.reset();
      sum = 0;
      compare([] { return std::string("reset"); });
    }
    const bool valid = bench.rng().chance(0.7), any_code = i / 512 % 4 == 3;
    const bool first = bench.rng().chance(any_code ? 0.5 : 0.05);
    // Ordinary: between 1/16 and 16, so that sums grow, cancel and round; every fourth phase any code, NaNs and
    // infinities too.
    const auto code = [&] {
      if (any_code) {
        const auto any = static_cast<std::uint32_t>(bench.rng().bits(format.bits));
        const std::uint32_t kinds[] = {format.sign_mask(), format.sign_mask() | format.inf_code()};  // zeros, powers
        if (bench.rng().chance(0.5)) return any;
        if (bench.rng().chance(0.5)) {  // next to overflow, after next to nothing
          const auto exponent =
              static_cast<std::uint32_t>(first ? format.bias / 2 : format.bias / 2 * 3 + 1) + bench.rng().below(4);
          return (any & ~format.inf_code()) | exponent << format.man_bits;
        }
        if (bench.rng().bits(1)) return any & kinds[bench.rng().bits(1)];
        // Infinity; half the time a lone bit makes it a NaN, or is all there is of a subnormal number.
        const std::uint32_t lone = bench.rng().bits(1) << bench.rng().below(static_cast<unsigned>(format.man_bits));
        return (any & format.sign_mask()) | (lone && bench.rng().bits(1) ? 0 : format.inf_code()) | lone;
      }
      return static_cast<std::uint32_t>(
          (static_cast<unsigned>(format.bias) - 4 + bench.rng().below(8)) << format.man_bits |
          bench.rng().bits(format.man_bits) | (bench.rng().bits(1) ? format.sign_mask() : 0));
    };
    const std::uint32_t a = code(), b = code(), before = sum;
    dut->valid_i = valid;
    dut->first_i = first;
    dut->a_i = a;
    dut->b_i = b;
    dut.tick();
    if (valid) sum = fma_fp32(format, a, b, first ? 0 : sum);
    compare([&] {
      return "a " + hex(a) + " b " + hex(b) + (valid ? " valid" : "") + (first ? " first" : "") + ", sum before " +
             hex(before);
    });
  }
  if constexpr (Format::NG_FORMAT == Format::fp16) fp8_chains(bench, dut);
  return bench.finish();
}
