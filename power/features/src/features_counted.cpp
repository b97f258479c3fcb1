// SPDX-License-Identifier: Apache-2.0
#include "features_counted.hpp"

#include <functional>
#include <numeric>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge::power {
namespace {

using namespace words;

// sum of popcount((x[i] ^ y[i]) & mask)
__attribute__((always_inline)) inline U64 flips_inline(const U64* x, const U64* y, U64 mask, std::size_t n) {
  U64 sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<U64>(std::popcount((x[i] ^ y[i]) & mask));
  return sum;
}
U64 flips_portable(const U64* x, const U64* y, U64 mask, std::size_t n) { return flips_inline(x, y, mask, n); }
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("popcnt"))) U64 flips_popcnt(const U64* x, const U64* y, U64 mask, std::size_t n) {
  return flips_inline(x, y, mask, n);
}
__attribute__((target("avx512f,avx512vl,avx512vpopcntdq,popcnt,prefer-vector-width=512"))) U64 flips_avx512(
    const U64* x, const U64* y, U64 mask, std::size_t n) {
  return flips_inline(x, y, mask, n);
}
auto choose_flips() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl")) return flips_avx512;
  return __builtin_cpu_supports("popcnt") ? flips_popcnt : flips_portable;
}
#else
auto choose_flips() { return flips_portable; }
#endif
const auto flips64 = choose_flips();

U64 flips(const U64* x, const U64* y, U64 mask, std::size_t n) { return flips64(x, y, mask, n); }
U64 flips(const U128* x, const U128* y, U128 mask, std::size_t n) {
  U64 sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const U128 changed = (x[i] ^ y[i]) & mask;
    sum += static_cast<U64>(std::popcount(static_cast<U64>(changed)) + std::popcount(static_cast<U64>(changed >> 64)));
  }
  return sum;
}

void check_stream(const MacSpec& mac, const OperandStream& s) {
  const auto fail = [](const std::string& what) { throw Error("features_counted: " + what); };
  if (s.cycles < 2) fail("cycles = " + std::to_string(s.cycles) + ", expected 2 or more: a flip takes two");
  const std::size_t codes = s.cycles * static_cast<std::size_t>(mac.lanes);
  const std::size_t scales = block_lanes(mac) > 1 ? codes / block_lanes(mac) : 0;
  const auto size = [&](const char* name, std::size_t have, std::size_t expected) {
    if (have != expected)
      fail(std::string(name) + " has " + std::to_string(have) + " codes, expected " + std::to_string(expected) + " (" +
           std::to_string(s.cycles) + " cycles)");
  };
  size("a", s.a.size(), codes);
  size("b", s.b.size(), codes);
  size("a_scale", s.a_scale.size(), scales);
  size("b_scale", s.b_scale.size(), scales);
  const auto width = [&](const char* name, std::span<const std::uint32_t> values, int bits) {
    const std::uint32_t any = std::accumulate(values.begin(), values.end(), 0U, std::bit_or<>());
    if (bits < 32 && any >> bits != 0)
      fail(std::string(name) + " has codes of more than " + std::to_string(bits) + " bits");
  };
  width("a", s.a, code_bits(mac, false));
  width("b", s.b, code_bits(mac, true));
}

/// Counts of feature kinds over a chunk of cycles.
using Counts = std::array<U64, feature_count>;

template <class W>
Counts count_chunk(const MacSpec& mac, const OperandStream& stream, std::size_t begin, std::size_t end,
                   std::size_t& cycles) {
  Counts counts{};
  const auto change = [&](const typename Graph<W>::Node& node, const W* before, const W* after, bool settled,
                          std::size_t n) {
    if (!node.kind.counted && !node.loads) return;
    const U64 changed = flips(before, after, node.counted, n);
    if (settled) counts[static_cast<std::size_t>(Feature::operand_loads)] += changed * node.loads;
    if (!node.kind.counted) return;
    const auto nets = static_cast<std::size_t>(node.kind.settled),
               glitches = static_cast<std::size_t>(node.kind.glitches);
    if (settled) counts[nets] += changed;
    if (nets == glitches) return;
    counts[glitches] += settled ? U64{0} - changed : changed;  // all changes but the settled ones
  };
  cycles = run_unit<W>(mac, stream, begin, end, change);
  return counts;
}

template <class W>
Features count(const MacSpec& mac, const OperandStream& stream, unsigned threads) {
  // Chunks begin where a sum does.
  const std::size_t every = stream.first_every ? stream.first_every : stream.cycles;
  const std::size_t target = std::max<std::size_t>(2048, stream.cycles / 256);
  const std::size_t length = (target + every - 1) / every * every;
  const std::size_t chunks = (stream.cycles + length - 1) / length;
  std::vector<Counts> counts(chunks);
  std::vector<std::size_t> cycles(chunks);
  detail::parallel_for(chunks, threads, [&](std::size_t i) {
    counts[i] = count_chunk<W>(mac, stream, i * length, std::min(stream.cycles, (i + 1) * length), cycles[i]);
  });
  const std::size_t all = std::accumulate(cycles.begin(), cycles.end(), std::size_t{0});
  if (all < 2) throw Error("features_counted: b makes " + std::to_string(all) + " additions, expected 2 or more");
  Features f{};
  for (std::size_t k = 0; k < feature_count; ++k) {
    U64 sum = 0;
    for (const Counts& c : counts) sum += c[k];
    f[k] = static_cast<double>(sum) / static_cast<double>(all - 1);
  }
  f[static_cast<std::size_t>(Feature::flip_flops)] = flip_flops(mac);
  return f;
}

}  // namespace

double cycles_per_mac(const MacSpec& mac, const OperandStream& stream) {
  if (!is_repeated(mac)) return cycles_per_mac({mac, {}, {}});
  const double additions = std::transform_reduce(stream.b.begin(), stream.b.end(), 0.0, std::plus<>(),
                                                 [&](std::uint32_t code) { return magnitude_of(mac, code); });
  return additions / static_cast<double>(stream.b.size());
}

Features features_counted(const MacSpec& mac, const OperandStream& stream, unsigned threads) {
  check_priceable(mac);
  check_stream(mac, stream);
  return needs_wide(mac) ? count<U128>(mac, stream, threads) : count<U64>(mac, stream, threads);
}

}  // namespace narrowgauge::power
