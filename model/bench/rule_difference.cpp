// SPDX-License-Identifier: Apache-2.0
// How often the exact NVFP4 rule and the vendor's FP32 sequence differ, on normal, lognormal and uniform values.
// Usage: ng_rule_difference [log2 of the number of blocks, default 20]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>

#include "narrowgauge/quant/quantize.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  const std::size_t blocks = std::size_t{1} << (argc > 1 ? std::atoi(argv[1]) : 20), count = blocks * 16;
  std::printf("%zu blocks of 16 each; seed 1\n", blocks);
  std::printf("%-32s %14s %14s %22s\n", "values", "scales differ", "codes differ", "codes, equal scales");
  std::mt19937_64 generator(1);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform(-1, 1);
  const std::pair<const char*, std::function<float()>> sources[] = {
      {"normal", [&] { return normal(generator); }},
      {"normal, BF16 (8 bits)",
       [&] { return static_cast<float>(decode(Format::bf16, encode(Format::bf16, normal(generator)))); }},
      {"uniform", [&] { return uniform(generator); }},
      {"lognormal, sigma 3, random sign",
       [&] { return std::copysign(std::exp(3 * normal(generator)), uniform(generator)); }}};
  for (const auto& [name, draw] : sources) {
    std::vector<float> x(count);
    for (float& v : x) v = draw();
    const auto exact = quantize(x, 1, count, Axis::rows, {});
    const auto vendor = quantize(x, 1, count, Axis::rows, {.rule = ScaleRule::vendor});
    std::size_t scales = 0, codes = 0, plain_codes = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
      const bool same = exact.scales[block] == vendor.scales[block];
      scales += !same;
      for (std::size_t i = block * 16; i < (block + 1) * 16; ++i) {
        // Codes of a block whose scale is zero mean nothing.
        const bool differ = exact.codes[i] != vendor.codes[i] && !(same && exact.scales[block] == 0);
        codes += differ;
        plain_codes += differ && same;
      }
    }
    const auto n = static_cast<double>(count);
    std::printf("%-32s %14.3e %14.3e %22.3e\n", name, 16 * static_cast<double>(scales) / n,
                static_cast<double>(codes) / n, static_cast<double>(plain_codes) / n);
  }
}
