// SPDX-License-Identifier: Apache-2.0
// Rungs L0 and L1: the words are the units' arithmetic; expected features are what long random streams count; both give
// the figures of an independent simulation (docs/pann.md, Against an independent simulation).
#include "narrowgauge/power/features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <numeric>
#include <random>
#include <string>

#include "features_counted.hpp"
#include "features_operands.hpp"
#include "features_unit.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/luq/mul_luq.hpp"
#include "narrowgauge/mac/dot_fp8.hpp"
#include "narrowgauge/mac/dot_nvfp4.hpp"
#include "narrowgauge/mac/mxfp4_mac.hpp"

namespace narrowgauge::power {
namespace {

using namespace words;

std::int64_t signed_value(U64 code, int bits, bool is_signed) {
  return static_cast<std::int64_t>(is_signed ? extend(code, bits, 64) : code);
}

/// The graph's registers are set; settles it, and checks that transients end there too.
template <class W>
void run(Graph<W>& g) {
  g.settle(block);
  std::size_t changes = 0;
  g.simulate(block, true, [&](const auto&, const W*, const W*, bool settled) { changes += !settled; });
  EXPECT_GT(changes, 0U);
  for (std::size_t i = 0; i < g.size(); ++i) {
    const auto& node = g[static_cast<int>(i)];
    ASSERT_TRUE(node.now == node.settled) << "node " << i << " of " << g.size();
  }
}

TEST(Words, MultipliersMultiply) {
  std::mt19937_64 engine(11);
  std::size_t products = 0;
  for (const Structure structure : {Structure::array, Structure::booth, Structure::wallace})
    for (int wa = 1; wa <= 16; ++wa)
      for (int wb = 1; wb <= 16; ++wb)
        for (int sign = 0; sign < 4; ++sign) {
          const MacSpec mac{.a_width = wa,
                            .b_width = wb,
                            .a_signed = sign % 2 != 0,
                            .b_signed = sign / 2 != 0,
                            .structure = structure};
          Graph<U64> g;
          const int a = g.input(registers, wa), b = g.input(registers, wb), product = multiply(g, mac, a, b);
          for (std::size_t t = 0; t < block; ++t) {
            g.values(a)[t] = t == 1 ? U64{1} << (wa - 1) : t == 2 ? ones<U64>(wa) : engine() & ones<U64>(wa);
            g.values(b)[t] = t == 1 ? U64{1} << (wb - 1) : t == 2 ? ones<U64>(wb) : engine() & ones<U64>(wb);
          }
          run(g);
          for (std::size_t t = 0; t < block; ++t, ++products) {
            const U64 x = g.values(a)[t], y = g.values(b)[t];
            const std::int64_t expected = signed_value(x, wa, mac.a_signed) * signed_value(y, wb, mac.b_signed);
            ASSERT_EQ(g.values(product)[t], static_cast<U64>(expected) & ones<U64>(wa + wb))
                << "structure " << static_cast<int>(structure) << ", " << x << " (" << wa << " bits) times " << y
                << " (" << wb << " bits), signs " << sign;
          }
        }
  EXPECT_EQ(products, 3U * 256 * 4 * block);
}

TEST(Words, Nvfp4IsGolden) {
  std::mt19937_64 engine(12);
  Graph<U64> g;
  const int a = g.input(registers, 64), b = g.input(registers, 64);
  const int a_scale = g.input(registers, 8), b_scale = g.input(registers, 8);
  const int dot = dot_e2m1<U64>(g, {a}, {b}), term = scale_nvfp4(g, dot, a_scale, b_scale);
  for (int round = 0; round < 20; ++round) {
    for (std::size_t t = 0; t < block; ++t) {
      g.values(a)[t] = engine();
      g.values(b)[t] = engine();
      g.values(a_scale)[t] = engine() % 127;
      g.values(b_scale)[t] = engine() % 127;
    }
    run(g);
    for (std::size_t t = 0; t < block; ++t) {
      std::array<std::uint8_t, 16> x, y;
      for (std::size_t i = 0; i < 16; ++i) {
        x[i] = g.values(a)[t] >> (4 * i) & 15;
        y[i] = g.values(b)[t] >> (4 * i) & 15;
      }
      const int sum = e2m1_dot(x, y);
      ASSERT_EQ(signed_value(g.values(dot)[t], 13, true), sum);
      ASSERT_EQ(signed_value(g.values(term)[t], 48, true),
                nvfp4_scale(sum, static_cast<std::uint8_t>(g.values(a_scale)[t]),
                            static_cast<std::uint8_t>(g.values(b_scale)[t]))
                    .value);
    }
  }
}

TEST(Words, Mxfp4IsGolden) {
  std::mt19937_64 engine(15);
  Graph<U64> g;
  const std::vector<int> a{g.input(registers, 64), g.input(registers, 64)},
      b{g.input(registers, 64), g.input(registers, 64)};
  const int a_scale = g.input(registers, 8), b_scale = g.input(registers, 8),
            code = dot_mxfp4(g, a, b, a_scale, b_scale);
  for (int round = 0; round < 20; ++round) {
    for (std::size_t t = 0; t < block; ++t) {
      for (const int id : {a[0], a[1], b[0], b[1]}) g.values(id)[t] = engine();
      for (const int id : {a_scale, b_scale}) g.values(id)[t] = engine() & 255;
    }
    run(g);
    for (std::size_t t = 0; t < block; ++t) {
      std::array<std::uint8_t, 32> x, y;
      for (std::size_t i = 0; i < 32; ++i) {
        x[i] = g.values(a[i / 16])[t] >> (4 * (i % 16)) & 15;
        y[i] = g.values(b[i / 16])[t] >> (4 * (i % 16)) & 15;
      }
      ASSERT_EQ(g.values(code)[t], mxfp4_dot(x, y, static_cast<std::uint8_t>(g.values(a_scale)[t]),
                                             static_cast<std::uint8_t>(g.values(b_scale)[t])));
    }
  }
}

TEST(Words, Fp8IsGolden) {
  for (const auto& [mac_format, format, lsb] : {std::tuple{MacFormat::fp8_e4m3, Format::e4m3, fp8_lsb_exp_e4m3},
                                                std::tuple{MacFormat::fp8_e5m2, Format::e5m2, fp8_lsb_exp}}) {
    Graph<U128> g;
    const int a = g.input(registers, 8), b = g.input(registers, 8);
    const LaneProduct owing = multiply_fp8(g, mac_format, false, a, b), exact = multiply_fp8(g, mac_format, true, a, b);
    const int width = fp8_lane_width(mac_format);
    for (unsigned x = 0; x < 256; ++x)
      for (const unsigned half : {0U, 128U}) {
        for (unsigned t = 0; t < block; ++t) {
          g.values(a)[t] = x;
          g.values(b)[t] = half + t;
        }
        run(g);
        for (unsigned t = 0; t < block; ++t) {
          const unsigned y = half + t;
          const auto special = [&](unsigned code) { return desc(format).is_nan(code) || desc(format).is_inf(code); };
          if (special(x) || special(y)) continue;
          const auto golden = static_cast<U128>(
              fp8_product(static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y), format, format, lsb).value);
          ASSERT_TRUE(g.values(exact.term)[t] == (golden & ones<U128>(width))) << x << " times " << y;
          ASSERT_TRUE(((g.values(owing.term)[t] + g.values(owing.owed)[t]) & ones<U128>(width)) ==
                      (golden & ones<U128>(width)))
              << x << " times " << y;
        }
      }
  }
}

TEST(Words, LuqIsGolden) {
  Graph<U64> g;
  const int a = g.input(registers, 4), b = g.input(registers, 4);
  const LaneProduct owing = multiply_luq(g, false, a, b), exact = multiply_luq(g, true, a, b);
  for (unsigned x = 0; x < 16; ++x) {
    for (unsigned t = 0; t < block; ++t) {
      g.values(a)[t] = x;
      g.values(b)[t] = t & 15;
    }
    run(g);
    for (unsigned t = 0; t < 16; ++t) {
      const int golden = luq_product(x, t);
      ASSERT_EQ(signed_value(g.values(exact.term)[t], 11, true), golden) << x << " times " << t;
      ASSERT_EQ(signed_value(g.values(owing.term)[t], 11, true) + static_cast<std::int64_t>(g.values(owing.owed)[t]),
                golden)
          << x << " times " << t;
    }
  }
  // The adders of eight lanes: of pairs, of fours, of all.
  EXPECT_EQ(owed_by_subtrees({10, 11, 12, 13, 14, 15, 16, 17}), (std::vector<int>{10, 11, 13, 15, 17, 12, 16, 14}));
}

TEST(Words, SumsAreSums) {
  std::mt19937_64 engine(14);
  for (const int count : {1, 2, 3, 7, 16}) {
    Graph<U64> g;
    std::vector<int> leaf, owed;
    for (int i = 0; i < count; ++i) {
      leaf.push_back(g.input(registers, 12));
      owed.push_back(g.input(registers, 1));
    }
    const int first = g.input(wire, 1), term = sum_tree(g, 12, leaf, owed);
    const int width = 12 + tree_levels(count), acc = accumulate(g, term, width, 33, first);
    for (const int id : leaf)
      for (std::size_t t = 0; t < block; ++t) g.values(id)[t] = engine() & 0xFFE;  // room for what is owed
    for (const int id : owed)
      for (std::size_t t = 0; t < block; ++t) g.values(id)[t] = engine() & 1;
    for (std::size_t t = 0; t < block; ++t) g.values(first)[t] = t % 50 == 0;
    run(g);
    std::int64_t sum = 0;
    for (std::size_t t = 0; t < block; ++t) {
      std::int64_t expected = 0;
      for (std::size_t i = 0; i < leaf.size(); ++i)
        expected += signed_value(g.values(leaf[i])[t], 12, true) +
                    (i > 0 ? static_cast<std::int64_t>(g.values(owed[i])[t]) : 0);
      ASSERT_EQ(signed_value(g.values(term)[t], width, true), expected) << count;
      sum = (t % 50 == 0 ? 0 : sum) + expected;
      ASSERT_EQ(signed_value(g.values(acc)[t], 33, true), sum) << count;
    }
  }
}

// The sums that the registers hold, a cycle later, are the dot products; upper bits wrap.
TEST(Words, SplitSumsAreSums) {
  std::mt19937_64 engine(16);
  std::size_t ends = 0;
  for (const Schedule schedule : {Schedule::sorted, Schedule::dual, Schedule::muxed})
    for (const int width : {9, 17, 64}) {
      Graph<U64> g;
      const int product = g.input(registers, 9), negative = g.input(registers, 1), first = g.input(wire, 1);
      const auto [one, other] = accumulate_split(g, schedule, product, width, negative, first);
      constexpr std::size_t length = 16;
      for (std::size_t t = 0; t < block; ++t) {
        g.values(product)[t] = engine() & 511;
        const std::size_t in_sum = t % length;
        const std::size_t change = t / length * 2 + 1;  // 1 to length - 1 positive ones
        g.values(negative)[t] = schedule == Schedule::sorted ? in_sum >= change
                                : in_sum < 2                 ? (in_sum + t / length) & 1
                                                             : engine() & 1;
        g.values(first)[t] = in_sum == 0;
      }
      run(g);
      std::int64_t sum = 0;
      for (std::size_t t = 0; t + 1 < block; ++t) {
        const auto term = static_cast<std::int64_t>(g.values(product)[t]);
        sum = (t % length == 0 ? 0 : sum) + (g.values(negative)[t] ? -term : term);
        if (t % length == 0) continue;  // the other sum may still be the last output's
        const U64 held = g.values(one)[t + 1], beside = g.values(other)[t + 1];
        const U64 result = schedule == Schedule::sorted ? held ^ (U64{0} - beside) : held - beside;
        ASSERT_EQ(result & ones<U64>(width), static_cast<U64>(sum) & ones<U64>(width))
            << "schedule " << static_cast<int>(schedule) << ", " << width << " bits, cycle " << t;
        ends += (t + 1) % length == 0;
        // What the last adder makes is what its register takes.
        const U64 made = g.values(static_cast<int>(g.size()) - 1)[t];
        const bool is_second = schedule != Schedule::sorted && g.values(negative)[t];
        if (schedule != Schedule::dual || is_second) {
          ASSERT_EQ(made, is_second ? beside : held) << "cycle " << t;
        }
      }
    }
  EXPECT_EQ(ends, 9U * (block / 16 - 1));
}

TEST(Words, SerialProductsAreProducts) {
  std::mt19937_64 engine(17);
  std::size_t products = 0;
  for (const auto& [wa, wb] : {std::pair{1, 2}, {4, 4}, {8, 3}, {5, 8}, {16, 16}})
    for (int sign = 0; sign < 4; ++sign) {
      const MacSpec mac{.a_width = wa,
                        .b_width = wb,
                        .a_signed = sign % 2 != 0,
                        .b_signed = sign / 2 != 0,
                        .structure = Structure::serial,
                        .accumulator = false};
      std::vector<std::uint32_t> a(block), b(block);
      for (std::size_t i = 0; i < block; ++i) {
        a[i] = static_cast<std::uint32_t>(i == 3 ? U64{1} << (wa - 1) : engine() & ones<U64>(wa));
        b[i] = static_cast<std::uint32_t>(i == 3 ? U64{1} << (wb - 1) : engine() & ones<U64>(wb));
      }
      Graph<U64> g;
      const int x = g.input(registers, wa), y = g.input(registers, wb), offered = g.input(wire, 2);
      const int product = multiply_serial(g, mac, x, y, offered);
      const std::vector<Offer> list = offers(mac, {block, a, b, {}, {}, 0}, 0, block);
      for (std::size_t t = 0; t < block; ++t) {
        g.values(x)[t] = a[list[t].index];
        g.values(y)[t] = b[list[t].index];
        g.values(offered)[t] = U64{list[t].taken} << 1;
      }
      run(g);
      for (std::size_t t = 1; t < block; ++t) {
        if (!list[t].taken) continue;  // the product of the pair before
        const std::size_t i = list[t].index - 1;
        EXPECT_EQ(t, static_cast<std::size_t>(wb) * (i + 1));
        const std::int64_t expected = signed_value(a[i], wa, mac.a_signed) * signed_value(b[i], wb, mac.b_signed);
        ASSERT_EQ(g.values(product)[t], static_cast<U64>(expected) & ones<U64>(wa + wb))
            << a[i] << " x " << b[i] << " of " << wa << " and " << wb << " bits, signs " << sign;
        ++products;
      }
    }
  EXPECT_GT(products, 500U);
}

TEST(Words, RepeatedAdditionsAreProducts) {
  std::mt19937_64 engine(18);
  const MacSpec mac{.a_width = 5,
                    .b_width = 3,
                    .a_signed = false,
                    .structure = Structure::none,
                    .acc_width = 20,
                    .schedule = Schedule::sorted,
                    .additions = 2};
  constexpr std::size_t length = 8;
  std::size_t outputs = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::uint32_t> a(16 * length), b(16 * length);
    for (std::uint32_t& code : a) code = static_cast<std::uint32_t>(engine() & 31);
    for (std::uint32_t& code : b) code = static_cast<std::uint32_t>((engine() % 15 - 7) & 15);
    order_products(mac, length, a, b);
    Graph<U64> g;
    const int x = g.input(registers, 5), magnitude = g.input(registers, 3), negative = g.input(registers, 1),
              offered = g.input(wire, 2);
    const auto [sum, minus, count] = add_repeatedly(g, mac.acc_width, x, magnitude, negative, offered);
    const std::vector<Offer> list = offers(mac, {a.size(), a, b, {}, {}, length}, 0, a.size());
    ASSERT_GT(list.size(), block);
    for (std::size_t t = 0; t < block; ++t) {
      const std::uint32_t w = b[list[t].index];
      g.values(x)[t] = a[list[t].index];
      g.values(magnitude)[t] = magnitude_of(mac, w);
      g.values(negative)[t] = w >> 3;
      g.values(offered)[t] = U64{list[t].first} | U64{list[t].taken} << 1;
    }
    run(g);
    for (std::size_t t = 1; t + 1 < block; ++t) {
      if (!list[t].taken) continue;
      EXPECT_LE(g.values(count)[t], 1U) << "an element is taken in the last cycle of the one before";
      if (!list[t].first) continue;
      std::int64_t expected = 0;  // of the sum before
      for (std::size_t i = list[t].index / length * length - length; i < list[t].index / length * length; ++i)
        expected += static_cast<std::int64_t>(a[i]) * signed_value(b[i], 4, true);
      const U64 result = g.values(sum)[t + 1] ^ (U64{0} - g.values(minus)[t + 1]);
      ASSERT_EQ(result & ones<U64>(20), static_cast<U64>(expected) & ones<U64>(20)) << "cycle " << t;
      ++outputs;
    }
  }
  EXPECT_GT(outputs, 40U);
}

// What leaves the normalizing shift, rounded, is the significand that std::fma makes of the same numbers.
TEST(Words, FloatsAreFused) {
  std::mt19937_64 engine(13);
  std::size_t checked = 0;
  for (const MacFormat format : {MacFormat::bf16, MacFormat::fp16, MacFormat::tf32, MacFormat::fp32}) {
    const FloatShape shape = float_shape(format);
    Graph<U64> g;
    const int a = g.input(registers, shape.bits()), b = g.input(registers, shape.bits()), first = g.input(wire, 1);
    fp_mac(g, format, a, b, first);
    for (int round = 0; round < 200; ++round) {
      for (std::size_t t = 0; t < block; ++t) {
        const auto code = [&] {
          const U64 exponent = static_cast<U64>(shape.bias()) - 5 + engine() % 10;
          return (engine() & (ones<U64>(shape.man_bits) | U64{1} << (shape.bits() - 1))) | exponent << shape.man_bits;
        };
        g.values(a)[t] = code();
        g.values(b)[t] = code();
        g.values(first)[t] = t % 16 == 0;
      }
      run(g);
      float sum = 0;
      for (std::size_t t = 0; t < block; ++t) {
        sum = std::fma(float_value(format, static_cast<std::uint32_t>(g.values(a)[t])),
                       float_value(format, static_cast<std::uint32_t>(g.values(b)[t])), t % 16 == 0 ? 0.0F : sum);
        const auto bits = std::bit_cast<std::uint32_t>(sum);
        if ((bits >> 23 & 255) == 0) continue;
        const U64 significand = (bits & 0x7FFFFF) | 0x800000;
        const U64 rounded = g.values(static_cast<int>(g.size()) - 1)[t];  // ties up instead of to even
        ASSERT_TRUE(rounded == significand || rounded == 2 * significand || rounded == significand + 1)
            << rounded << " " << significand;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 70000U);
}

/// Independent operands from code probabilities.
struct Stream {
  std::vector<std::uint32_t> a, b;
  std::vector<std::uint8_t> a_scale, b_scale;
  OperandStream view(std::size_t cycles) const { return {cycles, a, b, a_scale, b_scale}; }
};
Stream random_stream(const MacQuestion& q, std::size_t cycles, unsigned seed) {
  std::mt19937_64 engine(seed);
  Stream s;
  const auto draw = [&](const std::vector<double>& p, std::size_t n, auto& out) {
    std::discrete_distribution<std::uint32_t> distribution(p.begin(), p.end());
    for (std::size_t i = 0; i < n; ++i)
      out.push_back(static_cast<typename std::decay_t<decltype(out)>::value_type>(distribution(engine)));
  };
  const std::size_t codes = cycles * static_cast<std::size_t>(q.mac.lanes);
  if (q.mac.format() == MacFormat::fp32)
    return {float_codes(q.a.distribution, codes, engine), float_codes(q.b.distribution, codes, engine), {}, {}};
  draw(code_probabilities(q.mac, false, q.a), codes, s.a);
  draw(code_probabilities(q.mac, true, q.b), codes, s.b);
  order_products(q.mac, 256, s.a, s.b);
  if (block_lanes(q.mac) > 1) {
    const std::size_t scales = codes / block_lanes(q.mac);
    draw(scale_probabilities(q.mac.format(), q.a.distribution), scales, s.a_scale);
    draw(scale_probabilities(q.mac.format(), q.b.distribution), scales, s.b_scale);
  }
  return s;
}

std::string name(const MacQuestion& q) {
  const MacSpec& m = q.mac;
  return "format " + std::to_string(static_cast<int>(m.format())) + ", " + std::to_string(m.a_width) + " x " +
         std::to_string(m.b_width) + " bits, signed " + std::to_string(m.a_signed) + std::to_string(m.b_signed) +
         ", structure " + std::to_string(static_cast<int>(m.structure)) + ", lanes " + std::to_string(m.lanes) +
         ", accumulator " + std::to_string(m.accumulator) + " of " + std::to_string(m.acc_width) + ", distributions " +
         std::to_string(static_cast<int>(q.a.distribution)) + std::to_string(static_cast<int>(q.b.distribution));
}

/// Every feature within `relative` of what is counted, or within `absolute` flips a cycle. Accumulators of several
/// lanes get three times that: their upper bits move together, a few times in a sum, and both samples have few sums.
void expect_agree(const MacQuestion& q, std::size_t cycles, double relative, double absolute) {
  const Stream s = random_stream(q, cycles, 7);
  const Features expected = features(q), counted = features_counted(q.mac, s.view(cycles));
  double any = 0;
  for (std::size_t i = 0; i < feature_count; ++i) {
    any += counted[i];
    const bool slow = feature_names[i].starts_with("accumulator") && q.mac.lanes > 1;
    EXPECT_NEAR(expected[i], counted[i], std::max(absolute, (slow ? 3 : 1) * relative * counted[i]))
        << feature_names[i] << " of " << name(q);
  }
  EXPECT_GT(any, 0);
}

constexpr Distribution named[] = {Distribution::uniform, Distribution::gauss, Distribution::half_normal};

TEST(Features, ExpectedIntegersAreCounted) {
  std::size_t questions = 0;
  for (const Structure structure : {Structure::array, Structure::booth, Structure::wallace})
    for (const auto& [wa, wb] : {std::pair{2, 2}, {4, 4}, {8, 8}, {8, 3}, {3, 8}, {1, 5}, {12, 12}, {16, 16}}) {
      const MacSpec mac{.a_width = wa,
                        .b_width = wb,
                        .a_signed = questions % 2 != 0,
                        .b_signed = questions / 2 % 2 != 0,
                        .structure = structure,
                        .accumulator = questions % 3 != 0,
                        .acc_width = 48};
      expect_agree({mac, {named[questions % 5 % 3], {}}, {named[questions % 7 % 3], {}}}, 8000, 0.05, 0.3);
      ++questions;
    }
  EXPECT_EQ(questions, 24U);
}

TEST(Features, ExpectedSplitsAreCounted) {
  std::size_t questions = 0;
  for (const Schedule schedule : {Schedule::sorted, Schedule::dual, Schedule::muxed})
    for (const auto& [wa, wb] : {std::pair{2, 2}, {4, 4}, {8, 8}, {8, 3}, {1, 5}})
      for (const Distribution weights : {Distribution::uniform, Distribution::gauss}) {
        const MacSpec mac{.a_width = wa,
                          .b_width = wb,
                          .a_signed = false,
                          .acc_width = questions % 4 == 3 ? 80 : 32,
                          .schedule = schedule};
        expect_agree({mac, {named[questions % 3], {}}, {weights, {}}}, 16000, 0.06, 0.3);
        ++questions;
      }
  EXPECT_EQ(questions, 30U);
}

// By hand: which nets flip in a stream of three products, 2 x 3, 1 x 3 and 3 x -1.
TEST(Features, SplitsByHand) {
  const std::vector<std::uint32_t> a{2, 1, 3}, b{3, 3, 7};
  MacSpec mac{.a_width = 2, .b_width = 2, .a_signed = false, .acc_width = 8, .schedule = Schedule::sorted};
  const auto register_flips = [&] {
    return features_counted(mac, {3, a, b, {}, {}, 256})[static_cast<std::size_t>(Feature::register_flips)];
  };
  // a: 10 01 11 flips 2 + 1; |b|: 11 11 01 flips 1; the sign 1.
  // The sum before each product: 0, 6 = 110, 9 = 1001: 2 + 4; its inversion is still to come.
  EXPECT_EQ(register_flips(), (3 + 1 + 1 + 2 + 4) / 2.0);
  // Two sums: the positive one is the same; that it has begun flips once, the negative one's has not yet.
  for (const Schedule schedule : {Schedule::dual, Schedule::muxed}) {
    mac.schedule = schedule;
    EXPECT_EQ(register_flips(), (3 + 1 + 1 + 2 + 4 + 1) / 2.0);
  }
  // Of the records split4_mac_sorted, split4_mac_dual and split8_mac_muxed.
  EXPECT_EQ(flip_flops({.a_width = 4, .b_width = 4, .a_signed = false, .schedule = Schedule::sorted}), 46);
  EXPECT_EQ(flip_flops({.a_width = 4, .b_width = 4, .a_signed = false, .schedule = Schedule::dual}), 79);
  EXPECT_EQ(flip_flops({.a_signed = false, .schedule = Schedule::muxed}), 87);
}

TEST(Features, ExpectedUnitsOfSeveralCyclesAreCounted) {
  for (const auto& [wa, wb] : {std::pair{4, 4}, {8, 8}, {8, 3}, {16, 16}})
    for (const Distribution distribution : named) {
      const bool is_signed = distribution != Distribution::half_normal;
      const MacSpec mac{.a_width = wa,
                        .b_width = wb,
                        .a_signed = is_signed,
                        .b_signed = is_signed,
                        .structure = Structure::serial,
                        .accumulator = false};
      const MacQuestion q{mac, {distribution, {}}, {distribution, {}}};
      expect_agree(q, 4000, 0.05, 0.3);
      EXPECT_EQ(cycles_per_mac(q), wb);
    }
  for (const double additions : {0.5, 1.1667, 2.9286, 8.0})
    for (const Distribution weights : named) {
      const MacSpec mac{.a_width = 6,
                        .b_width = 6,
                        .a_signed = false,
                        .structure = Structure::none,
                        .acc_width = additions > 2 ? 80 : 32,
                        .additions = additions};
      const MacQuestion q{mac, {Distribution::half_normal, {}}, {weights, {}}};
      expect_agree(q, 16000, 0.05, 0.3);
      const Stream s = random_stream(q, 16000, 3);
      EXPECT_NEAR(cycles_per_mac(mac, s.view(16000)), cycles_per_mac(q), 0.02 * additions);
      if (additions > 2) {
        EXPECT_NEAR(cycles_per_mac(q), additions, 0.01 * additions);
      }
    }
  // Of the records pann_x6_r1 and serial8_mult.
  EXPECT_EQ(flip_flops({.a_width = 6, .b_width = 3, .structure = Structure::none}), 61);
  EXPECT_EQ(flip_flops({.structure = Structure::serial, .accumulator = false}), 45);
  EXPECT_EQ(cycles_per_mac({{.lanes = 16}, {}, {}}), 1.0 / 16);
}

TEST(Features, ExpectedTreesAreCounted) {
  for (const int lanes : {2, 3, 13})
    for (const Distribution distribution : named)
      expect_agree({{.a_width = 4, .b_width = 8, .structure = Structure::wallace, .lanes = lanes, .acc_width = 40},
                    {distribution, {}},
                    {distribution, {}}},
                   2000, 0.05, 0.5);
}

TEST(Features, ExpectedNarrowFloatsAreCounted) {
  for (const bool accumulator : {true, false})
    for (const Distribution distribution : named) {
      for (const MacFormat format : {MacFormat::fp8_e4m3, MacFormat::fp8_e5m2})
        for (const int lanes : {1, 4})
          expect_agree({{.a_format = format, .b_format = format, .lanes = lanes, .accumulator = accumulator},
                        {distribution, {}},
                        {distribution, {}}},
                       4000, 0.05, 0.7);
      for (const int lanes : {16, 48})
        expect_agree(
            {{.a_format = MacFormat::nvfp4, .b_format = MacFormat::nvfp4, .lanes = lanes, .accumulator = accumulator},
             {distribution, {}},
             {distribution, {}}},
            3000, 0.05, 0.7);
    }
}

TEST(Features, ExpectedLuqIsCounted) {
  for (const bool accumulator : {true, false})
    for (const int lanes : {1, 16})
      for (const Distribution distribution : {Distribution::uniform, Distribution::gauss}) {
        MacQuestion q{luq_mac(), {distribution, {}}, {distribution, {}}};
        q.mac.lanes = lanes;
        q.mac.accumulator = accumulator;
        expect_agree(q, 4000, 0.05, 0.7);
      }
}

TEST(Features, ExpectedFloatsAreCounted) {
  for (const MacFormat format : {MacFormat::bf16, MacFormat::fp16, MacFormat::tf32, MacFormat::fp32})
    for (const Distribution distribution : named)
      expect_agree({{.a_format = format, .b_format = format}, {distribution, {}}, {distribution, {}}}, 10000, 0.05,
                   0.5);
}

TEST(Features, ExpectedMxfp4IsCounted) {
  for (const auto& [accumulator, pipelined] : {std::pair(true, false), std::pair(false, false), std::pair(true, true)})
    expect_agree({{.a_format = MacFormat::mxfp4,
                   .b_format = MacFormat::mxfp4,
                   .lanes = 32,
                   .accumulator = accumulator,
                   .pipelined = pipelined},
                  {Distribution::gauss, {}},
                  {Distribution::gauss, {}}},
                 3000, 0.05, 0.7);
}

TEST(Features, HistogramOfAUniformTensorIsUniform) {
  const MacSpec mac{.a_width = 6, .b_width = 6};
  const auto flat = std::make_shared<const std::vector<double>>(64, 3.0);
  const OperandStatistics histogram{Distribution::histogram, flat};
  EXPECT_EQ(features({mac, histogram, histogram}), features({mac, {}, {}}));
  const auto zero = std::make_shared<const std::vector<double>>([] {
    std::vector<double> counts(64, 0.0);
    counts[0] = 1;
    return counts;
  }());
  const Features still = features({mac, histogram, {Distribution::histogram, zero}});
  EXPECT_EQ(still[static_cast<std::size_t>(Feature::accumulator_nets)], 0);
}

// Figures of another simulation (docs/pann.md, Against an independent simulation), and closed forms that use none of
// the tables.
TEST(Features, KnownFlips) {
  const auto feature = [](const MacSpec& mac, Feature which) {
    return features({mac, {}, {}})[static_cast<std::size_t>(which)];
  };
  const auto known = [](std::initializer_list<double> values, int b) {
    return values.begin()[b == 2 ? 0 : b == 3 ? 1 : b == 4 ? 2 : b == 6 ? 3 : 4];
  };
  for (const int b : {2, 3, 4, 6, 8}) {
    const MacSpec product{.a_width = b, .b_width = b, .accumulator = false};
    // Operands flip b bits a pair; the product has a register, which flips T_prod.
    const double t_product = known({1.65, 2.76, 3.80, 5.82, 7.84}, b);
    EXPECT_NEAR(feature(product, Feature::register_flips), b + t_product, 0.02 * (b + t_product)) << b;
    // Accumulator register of unsigned sums of 32 bits.
    MacSpec sum{.a_width = b, .b_width = b, .a_signed = false, .b_signed = false};
    if (b == 2 || b == 4 || b == 8) {
      const double t_sum = b == 2 ? 1.48 : b == 4 ? 3.64 : 7.77;
      EXPECT_NEAR(feature(sum, Feature::register_flips), b + t_sum, 0.03 * (b + t_sum)) << b;
    }
    // A partial product is 1 with probability 1/4: 2 p (1 - p) b^2 flips, of which one row alone has no other nets.
    const MacSpec row{.a_width = b, .b_width = 1, .a_signed = false, .b_signed = false, .accumulator = false};
    EXPECT_NEAR(feature(row, Feature::array_nets), 3 * 0.375 * b, 0.03 * 3 * 0.375 * b)
        << b;  // and twice as it is added to 0
    EXPECT_EQ(feature(row, Feature::array_glitches), 0) << b;
  }
}

TEST(Features, ThreadsAndChunksDoNotMatter) {
  const MacQuestion q{{.a_format = MacFormat::fp8_e5m2, .b_format = MacFormat::fp8_e5m2, .lanes = 4}, {}, {}};
  const std::size_t cycles = 5000;
  const Stream s = random_stream(q, cycles, 5);
  const Features one = features_counted(q.mac, s.view(cycles), 1);
  EXPECT_EQ(one, features_counted(q.mac, s.view(cycles), 4));
  // By hand: registered operands and sums of a stream of three cycles.
  const std::vector<std::uint32_t> a{1, 2, 3}, b{1, 1, 1};
  const MacSpec mac{.a_width = 4, .b_width = 4};
  const Features f = features_counted(mac, {3, a, b, {}, {}, 256});
  // a: 0001 0010 0011 flips 2 + 1; the sum before it: 0, 1, 3 flips 1 + 1.
  EXPECT_EQ(f[static_cast<std::size_t>(Feature::register_flips)], (2 + 1 + 1 + 1) / 2.0);
  EXPECT_EQ(f[static_cast<std::size_t>(Feature::flip_flops)], 4 + 4 + 2 + 32);
}

template <class F>
void expect_error(const F& call, const std::string& part) {
  try {
    call();
    FAIL() << "no error; expected one with '" << part << "'";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(Features, RefusesWhatItCannotPrice) {
  expect_error([] { features({{.a_width = 17}, {}, {}}); }, "a_width is 17; expected 1 to 16");
  expect_error([] { features({{.lanes = 0}, {}, {}}); }, "lanes is 0; expected 1 to 1024");
  expect_error([] { features({{.acc_width = 12}, {}, {}}); }, "acc_width is 12; expected 16 to 128");
  expect_error(
      [] {
        features({{.a_format = MacFormat::nvfp4, .b_format = MacFormat::nvfp4, .lanes = 8}, {}, {}});
      },
      "multiple of 16");
  MacSpec split{.a_signed = false, .schedule = Schedule::dual};
  EXPECT_NO_THROW(check_priceable(split));
  split.b_width = 16;
  expect_error([&] { check_priceable(split); }, "b_width is 16; expected 1 to 15");
  split = {.a_signed = false, .acc_width = 15, .schedule = Schedule::dual};
  expect_error([&] { check_priceable(split); }, "acc_width is 15; expected 16 to 128");
  split = {.a_signed = false, .lanes = 2, .schedule = Schedule::sorted};
  expect_error([&] { check_priceable(split); }, "lanes is 2; expected 1");
  split = {.schedule = Schedule::sorted};
  expect_error([&] { check_priceable(split); }, "a_signed is true; expected false");
  split = {.a_signed = false, .structure = Structure::booth, .schedule = Schedule::sorted};
  expect_error([&] { check_priceable(split); }, "expected array");
  split = {.a_signed = false, .accumulator = false, .schedule = Schedule::sorted};
  expect_error([&] { check_priceable(split); }, "accumulator is false; expected true");
  split = {.a_signed = false, .structure = Structure::none, .additions = 2};
  EXPECT_NO_THROW(check_priceable(split));
  split.b_width = 3;
  expect_error([&] { features({split, {}, {Distribution::gauss, {}}}); }, "b_width is 3; expected 4 or more");
  split.schedule = Schedule::dual;
  expect_error([&] { check_priceable(split); }, "schedule is dual or muxed; expected sorted");
  expect_error([] { check_priceable({.structure = Structure::serial}); }, "accumulator is true; expected false");
  expect_error([] { check_priceable({.structure = Structure::serial, .lanes = 2, .accumulator = false}); },
               "lanes is 2; expected 1");
  const std::vector<std::uint32_t> codes{1, 2};
  expect_error(
      [&] {
        features_counted({}, {1, std::span(codes).first(1), std::span(codes).first(1), {}, {}});
      },
      "cycles = 1");
  expect_error(
      [&] {
        features_counted({}, {2, codes, std::span(codes).first(1), {}, {}});
      },
      "b has 1 codes, expected 2");
  expect_error(
      [&] {
        features_counted({.a_width = 1, .a_signed = false}, {2, codes, codes, {}, {}});
      },
      "more than 1 bits");
  const auto short_one = std::make_shared<const std::vector<double>>(3, 1.0);
  expect_error([&] { features({{}, {Distribution::histogram, short_one}, {}}); }, "a.histogram has 3 entries");
}

/// The features of a tree of leaves that are alike are those of all its leaves, within what samples differ: most where
/// they are of few sums.
TEST(Expected, AlikeLeavesAreAsGoodAsAll) {
  const OperandStatistics gauss{Distribution::gauss, {}}, uniform{Distribution::uniform, {}};
  const MacSpec macs[] = {{.a_width = 8, .b_width = 8, .lanes = 16},
                          {.a_width = 4, .b_width = 4, .lanes = 23},
                          {.a_width = 8, .b_width = 8, .lanes = 21, .accumulator = false},
                          {.a_format = MacFormat::fp8_e4m3, .b_format = MacFormat::fp8_e4m3, .lanes = 12},
                          {.b_format = MacFormat::fp4_e3m0, .a_width = 4, .lanes = 16},
                          {.a_format = MacFormat::nvfp4, .b_format = MacFormat::nvfp4, .lanes = 112}};
  for (const OperandStatistics& operand : {gauss, uniform}) {
    for (const MacSpec& mac : macs) {
      const Features all = sampled_features({mac, operand, operand}, false);
      const Features alike = sampled_features({mac, operand, operand}, true);
      const double whole = std::accumulate(all.begin(), all.end(), 0.0);
      double difference = 0;
      for (std::size_t i = 0; i < feature_count; ++i) {
        const bool walk = feature_names[i].starts_with("accumulator");
        if (!walk) difference += alike[i] - all[i];
        EXPECT_NEAR(alike[i], all[i], (walk ? 0.15 : 0.03) * all[i] + 0.003 * whole)
            << feature_names[i] << ", " << mac.lanes << " lanes of " << static_cast<int>(mac.format());
      }
      EXPECT_NEAR(difference, 0, 0.02 * whole) << mac.lanes << " lanes of " << static_cast<int>(mac.format());
    }
  }
}

TEST(Expected, ManyLanesAreNoLongWork) {
  const auto began = std::clock();
  for (const int lanes : {256, 512, 1024}) {
    MacSpec nvfp4{.lanes = lanes}, int8{.lanes = lanes};
    nvfp4.set_format(MacFormat::nvfp4);
    EXPECT_GT(features({nvfp4, {}, {}})[0], 0);
    EXPECT_GT(features({int8, {}, {}})[0], 0);
  }
  EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, 20);  // 1024 lanes of nvfp4 alone took 10
}

}  // namespace
}  // namespace narrowgauge::power
