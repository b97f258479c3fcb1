// SPDX-License-Identifier: Apache-2.0
// Every float32 (or every step-th) through encode_span, compared with encode: all roundings but stochastic, all
// overflow policies. Usage: ng_encode_sweep [--step N] [format ...]; by default all formats of 16 bits or fewer. Exit
// code 1 on any difference.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/convert.hpp"

namespace {

using namespace narrowgauge;

std::atomic<std::uint64_t> compared{0}, errors{0};

void compare(Format format, const RoundOptions& options, const std::vector<float>& x, std::vector<std::uint16_t>& wide,
             std::vector<std::uint8_t>& narrow) {
  const bool is_narrow = desc(format).bits <= 8;
  is_narrow ? encode_span(format, x, narrow, options) : encode_span(format, x, wide, options);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t got = is_narrow ? narrow[i] : wide[i], expected = encode(format, x[i], options);
    if (got != expected && ++errors <= 20) {
      std::printf("%s of %a, rounding %d, overflow %d: got 0x%x, expected 0x%x\n",
                  std::string(desc(format).name).c_str(), x[i], static_cast<int>(options.rounding),
                  static_cast<int>(options.overflow), got, expected);
    }
  }
  compared += x.size();
}

void sweep(Format format, std::uint64_t step) {
  constexpr std::uint64_t piece = 1 << 16;
  const std::uint64_t values = ((std::uint64_t{1} << 32) + step - 1) / step, pieces = (values + piece - 1) / piece;
  std::atomic<std::uint64_t> next{0};
  const auto work = [&](bool reports) {
    std::vector<float> x;
    std::vector<std::uint16_t> wide;
    std::vector<std::uint8_t> narrow;
    for (std::uint64_t i; (i = next++) < pieces;) {
      x.clear();
      for (std::uint64_t j = i * piece; j < std::min((i + 1) * piece, values); ++j) {
        x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(j * step)));
      }
      wide.resize(x.size());
      narrow.resize(x.size());
      for (const Overflow overflow :
           {Overflow::saturate, Overflow::ieee, Overflow::oracle, Overflow::oracle_saturate}) {
        compare(format, {.overflow = overflow}, x, wide, narrow);
      }
      compare(format, {.rounding = Rounding::nearest_away}, x, wide, narrow);
      compare(format, {.rounding = Rounding::toward_zero}, x, wide, narrow);
      if (reports && (i % 64 == 0 || i + 1 == pieces)) {
        std::fprintf(stderr, "\r%s: %5.1f %%", std::string(desc(format).name).c_str(),
                     100.0 * static_cast<double>(i) / static_cast<double>(pieces));
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) helpers.emplace_back(work, false);
    work(true);
  }
  std::fprintf(stderr, "\r%s: done     \n", std::string(desc(format).name).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::uint64_t step = 1;
    std::vector<Format> formats;
    for (int i = 1; i < argc; ++i) {
      if (std::string(argv[i]) == "--step" && i + 1 < argc) {
        step = std::max<std::uint64_t>(1, std::stoull(argv[++i]));
      } else {
        formats.push_back(find_format(argv[i]));
      }
    }
    const bool all = formats.empty();
    for (std::size_t i = 0; all && i < format_table.size(); ++i) {
      if (format_table[i].bits <= 16) formats.push_back(static_cast<Format>(i));
    }
    for (const Format format : formats) sweep(format, step);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
  std::printf("%llu conversions compared, %llu differ\n", static_cast<unsigned long long>(compared),
              static_cast<unsigned long long>(errors));
  return errors == 0 && compared > 0 ? 0 : 1;
}
