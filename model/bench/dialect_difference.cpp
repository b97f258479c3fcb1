// SPDX-License-Identifier: Apache-2.0
// How often dialects differ from one, and why: the manual's table (docs/dialects.md, Differences).
// Usage: ng_dialect_difference [tensors of 256 x 256 elements, default 200] [the one, default te]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "narrowgauge/format/random.hpp"
#include "narrowgauge/quant/compare.hpp"

namespace {

using namespace narrowgauge;

constexpr std::size_t side = 256;

class Normal {
 public:
  explicit Normal(std::uint64_t seed) : stream_(seed, 32) {}
  double operator()() {
    const double u = (stream_.draw() + 1.0) * 0x1p-32;
    return standard_normal(u, stream_.draw() * 0x1p-32);
  }
  double uniform() { return stream_.draw() * 0x1p-32; }

 private:
  PhiloxStream stream_;
};

struct Data {
  const char* name;
  bool bf16;
  std::function<double(Normal&)> draw;
};

struct Counts {
  std::size_t blocks = 0, elements = 0, scales = 0, codes = 0;
  std::array<std::size_t, 6> block_reasons{}, element_reasons{};
};

}  // namespace

int main(int argc, char** argv) {
  const int tensors = argc > 1 ? std::atoi(argv[1]) : 200;
  double factor = 1;
  std::size_t drawn = 0;
  const std::array<Data, 4> data{
      {{"BF16 normal", true, [](Normal& n) { return n(); }},
       {"BF16 lognormal, sigma 2", true, [](Normal& n) { return std::copysign(std::exp(2 * n()), n()); }},
       {"BF16 normal, blocks times 2^-24 to 1", true,
        [&](Normal& n) {
          if (drawn++ % 16 == 0) factor = std::ldexp(1.0, -static_cast<int>(25 * n.uniform()));
          return n() * factor;
        }},
       {"FP32 normal", false, [](Normal& n) { return n(); }}}};
  const std::array<std::string, 13> others{"narrowgauge",
                                           "te",
                                           "te_2d",
                                           "te_4over6",
                                           "te_4over6:search=none,bound=448",
                                           "fouroversix",
                                           "te_4over6:search=none,bound=448,zero_scale=zero",
                                           "torchao",
                                           "modelopt",
                                           "ggml",
                                           "ggml:constant_amax=none",
                                           "quartet2:point=element",
                                           "quartet2:point=element,element_max=6,bound=448"};
  std::vector<std::array<Counts, 4>> counts(others.size());
  const Dialect one = parse_dialect(argc > 2 ? argv[2] : "te");
  for (std::size_t kind = 0; kind < data.size(); ++kind) {
    Normal normal(kind + 1);
    for (int tensor = 0; tensor < tensors; ++tensor) {
      std::vector<float> x(side * side);
      for (float& v : x) {
        const double drawn_now = data[kind].draw(normal);
        v = static_cast<float>(data[kind].bf16 ? decode(Format::bf16, encode(Format::bf16, drawn_now)) : drawn_now);
      }
      for (std::size_t i = 0; i < others.size(); ++i) {
        const DialectDifference d = compare(x, side, side, Axis::rows, one, parse_dialect(others[i]), {}, 0);
        Counts& c = counts[i][kind];
        c.blocks += d.blocks;
        c.elements += d.elements;
        c.scales += d.blocks_differ;
        c.codes += d.codes_differ;
        for (std::size_t r = 0; r < 6; ++r) {
          c.block_reasons[r] += d.block_reasons[r];
          c.element_reasons[r] += d.element_reasons[r];
        }
      }
    }
  }
  std::printf("%d tensors of %zu x %zu: blocks whose scale differs from `%s` / codes that differ, and why\n\n", tensors,
              side, side, argc > 2 ? argv[2] : "te");
  std::printf("| dialect |");
  for (const Data& d : data) std::printf(" %s |", d.name);
  std::printf(" why, blocks | why, elements of equal scales |\n|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < others.size(); ++i) {
    std::printf("| `%s` |", others[i].c_str());
    std::array<std::size_t, 6> blocks{}, elements{};
    for (const Counts& c : counts[i]) {
      std::printf(" %.2g / %.2g |", static_cast<double>(c.scales) / static_cast<double>(c.blocks),
                  static_cast<double>(c.codes) / static_cast<double>(c.elements));
      for (std::size_t r = 0; r < 6; ++r) {
        blocks[r] += c.block_reasons[r];
        elements[r] += c.element_reasons[r];
      }
    }
    for (const auto& [all, first] : {std::pair(blocks, 0U), std::pair(elements, 1U)}) {
      std::string text;
      for (std::size_t r = first; r < 6; ++r) {
        if (all[r] != 0)
          text += (text.empty() ? "" : ", ") + std::string(difference_reasons[r]) + " " + std::to_string(all[r]);
      }
      std::printf(" %s |", text.empty() ? "none" : text.c_str());
    }
    std::printf("\n");
  }
}
