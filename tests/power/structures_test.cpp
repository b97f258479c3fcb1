// SPDX-License-Identifier: Apache-2.0
// The flip models against integer arithmetic that knows nothing of nets, and against the simulated tables of
// another program (docs/pann.md, Against an independent simulation). A table's figure came from one run of 1e5 operands
// and was rounded: tolerated is half its last digit plus four standard deviations of such a run, which ten runs of ours
// estimate. Where more is tolerated, the reason stands there.
#include "features/structures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/int_mult_serial.hpp"
#include "narrowgauge/pann/pann.hpp"

namespace narrowgauge::power {
namespace {

using Values = std::vector<std::int32_t>;
using Word = std::uint64_t;

class Operands {
 public:
  explicit Operands(unsigned seed) : engine_(seed) {}
  Values uniform(std::size_t count, int low, int high) {
    std::uniform_int_distribution<int> pick(low, high);
    return make(count, [&] { return pick(engine_); });
  }
  Values codes(std::size_t count, int width, bool is_signed) {
    return is_signed ? uniform(count, -(1 << (width - 1)), (1 << (width - 1)) - 1)
                     : uniform(count, 0, (1 << width) - 1);
  }
  /// That simulation's quantizer: 2^b - 1 steps over 6 sigma (signed), 2^b - 1/2 over 3 (half-normal).
  Values normal(std::size_t count, int width, bool half) {
    std::normal_distribution<double> normal;
    const double low = half ? 0 : -(1 << (width - 1)), high = half ? (1 << width) - 1 : (1 << (width - 1)) - 1;
    return make(count, [&] {
      const double x = half ? std::abs(normal(engine_)) : normal(engine_);
      return static_cast<int>(std::clamp(std::nearbyint(x * (high + 0.5) / 3), low, high));
    });
  }
  Values pann_weights(std::size_t count, double additions) {
    std::normal_distribution<float> normal;
    std::vector<float> w(count);
    for (float& v : w) v = normal(engine_);
    return pann::quantize_weights(w, additions).codes;
  }

 private:
  template <class Make>
  Values make(std::size_t count, Make&& one) {
    Values values(count);
    for (auto& v : values) v = one();
    return values;
  }
  std::mt19937_64 engine_;
};

/// Mean and deviation of ten runs.
struct Measured {
  double mean = 0, deviation = 0;
};
Measured measure(const std::function<double(Operands&)>& run) {
  constexpr int runs = 10;
  double sum = 0, squares = 0;
  for (int i = 0; i < runs; ++i) {
    Operands operands(static_cast<unsigned>(100 + i));
    const double x = run(operands);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / runs;
  return {mean, std::sqrt(std::max(0.0, squares / runs - mean * mean) * runs / (runs - 1))};
}
void expect_table(const std::string& what, const Measured& got, double table, double rounding, double more = 0) {
  EXPECT_NEAR(got.mean, table, rounding + 4 * got.deviation + more) << what;
}

#ifdef __SANITIZE_ADDRESS__  // twenty times slower; what is tolerated grows with the deviation
constexpr std::size_t run_length = 5'000;
#else
constexpr std::size_t run_length = 100'000;
#endif

MultiplierFlips uniform_flips(Operands& operands, Structure structure, int width, bool is_signed) {
  const Values a = operands.codes(run_length, width, is_signed), b = operands.codes(run_length, width, is_signed);
  return multiplier_flips(structure, width, width, is_signed, is_signed, a, b);
}

// ---- Exact: rows are integers, nets their bits

/// Flips of bits from..columns-1 of a sequence of integers.
struct Track {
  std::uint64_t flips = 0;
  Word last = 0;
  bool any = false;
  void see(Word value, int from, int columns) {
    const Word mask = (~Word{0} >> (64 - columns)) & ~Word{0} << from;
    if (any) flips += static_cast<std::uint64_t>(std::popcount((value ^ last) & mask));
    last = value;
    any = true;
  }
};

TEST(Multiplier, ArrayCountsAreThoseOfItsRunningSums) {
  Operands operands(1);
  for (const auto& [a_width, b_width] : {std::pair{1, 1}, {2, 2}, {3, 5}, {5, 3}, {8, 8}, {1, 7}, {16, 16}})
    for (const bool a_signed : {false, true})
      for (const bool b_signed : {false, true}) {
        const Values a = operands.codes(1000, a_width, a_signed), b = operands.codes(1000, b_width, b_signed);
        const int columns = a_width + b_width;
        const Word all = ~Word{0} >> (64 - columns);
        std::vector<Track> sums(b_width), carries(b_width), rows(b_width);
        Track inputs_a, inputs_b;
        for (std::size_t n = 0; n < a.size(); ++n) {
          inputs_a.see(static_cast<Word>(a[n]), 0, a_width);
          inputs_b.see(static_cast<Word>(b[n]), 0, b_width);
          // Every inverted product owes one: the sum starts at minus all of them.
          std::vector<Word> terms(b_width);
          Word running = 0;
          for (int i = 0; i < b_width; ++i)
            for (int j = 0; j < a_width; ++j) {
              Word bit = Word(a[n] >> j & 1) & Word(b[n] >> i & 1);
              if ((b_signed && i == b_width - 1) != (a_signed && j == a_width - 1)) {
                bit ^= 1;
                running -= Word{1} << (i + j);
              }
              terms[i] |= bit << (i + j);
            }
          for (int i = 0; i < b_width; ++i) {
            const Word next = (running + terms[i]) & all;
            rows[i].see(terms[i], 0, columns);
            sums[i].see(next, i, columns);
            carries[i].see((next ^ running ^ terms[i]) & all, 0, columns);
            running = next;
          }
          ASSERT_EQ(running, static_cast<Word>(std::int64_t{a[n]} * b[n]) & all);
        }
        const MultiplierFlips got = multiplier_flips(Structure::array, a_width, b_width, a_signed, b_signed, a, b);
        const auto total = [](const std::vector<Track>& tracks) {
          std::uint64_t sum = 0;
          for (const Track& track : tracks) sum += track.flips;
          return sum;
        };
        const std::string what = std::to_string(a_width) + " x " + std::to_string(b_width) + " signed " +
                                 std::to_string(a_signed) + std::to_string(b_signed);
        EXPECT_EQ(got.steps, 999U);
        EXPECT_EQ(got.inputs, inputs_a.flips + inputs_b.flips) << what;
        EXPECT_EQ(got.partial_products, total(rows)) << what;
        EXPECT_EQ(got.sums + got.row_copies, total(sums)) << what;
        EXPECT_EQ(got.carries, total(carries)) << what;
        EXPECT_EQ(got.nets(), got.partial_products + got.sums + got.carries) << what;
        // The others multiply too: they check their products themselves.
        for (const Structure structure : {Structure::booth, Structure::wallace, Structure::serial})
          EXPECT_EQ(multiplier_flips(structure, a_width, b_width, a_signed, b_signed, a, b).inputs, got.inputs) << what;
      }
}

TEST(Multiplier, BoothCountsAreThoseOfItsRunningSums) {
  Operands operands(2);
  for (const int width : {2, 3, 4, 7, 8}) {
    const Values a = operands.codes(1000, width, true), b = operands.codes(1000, width, true);
    const int columns = 2 * width, digits = (width + 1) / 2;
    std::vector<Track> sums(digits), carries(digits), rows(digits);
    for (std::size_t n = 0; n < a.size(); ++n) {
      Word running = 0;
      for (int d = 0; d < digits; ++d) {
        const auto bit = [&](int i) { return i < 0 ? 0 : b[n] >> i & 1; };
        const int digit = bit(2 * d - 1) + bit(2 * d) - 2 * bit(2 * d + 1);
        const auto magnitude = static_cast<Word>(std::int64_t{std::abs(digit) * a[n]});
        const Word row = digit < 0 ? ~magnitude : magnitude;
        const Word term = row << (2 * d), next = running + term + (Word(digit < 0) << (2 * d));
        rows[d].see(row, 0, width + 1);
        sums[d].see(next, 2 * d, columns);
        carries[d].see(next ^ running ^ term, 2 * d + 1, columns);
        running = next;
      }
    }
    const MultiplierFlips got = multiplier_flips(Structure::booth, width, width, true, true, a, b);
    std::uint64_t expected[3] = {};
    for (int d = 0; d < digits; ++d) {
      expected[0] += rows[d].flips;
      expected[1] += sums[d].flips;
      expected[2] += carries[d].flips;
    }
    EXPECT_EQ(got.partial_products, expected[0]) << width;
    EXPECT_EQ(got.sums + got.row_copies, expected[1]) << width;
    EXPECT_EQ(got.carries, expected[2]) << width;
  }
}

TEST(Multiplier, SerialCountsAreThoseOfItsRegister) {
  Operands operands(3);
  for (const bool is_signed : {false, true})
    for (const int width : {1, 2, 5, 8}) {
      const Values a = operands.codes(500, width, is_signed), b = operands.codes(500, width, is_signed);
      const Word all = ~Word{0} >> (64 - 2 * width);
      std::uint64_t expected = 0;
      for (std::size_t n = 1; n < a.size(); ++n) {
        std::int64_t sum = 0;
        for (int i = 0; i < width; ++i) {
          const std::int64_t term = (b[n] >> i & 1) * (std::int64_t{a[n]} << width);
          const std::int64_t next = (is_signed && i == width - 1 ? sum - term : sum + term) >> 1;
          expected += static_cast<std::uint64_t>(std::popcount(static_cast<Word>(sum ^ next) & all));
          sum = next;
        }
      }
      EXPECT_EQ(multiplier_flips(Structure::serial, width, width, is_signed, is_signed, a, b).registers, expected)
          << width << is_signed;
    }
}

TEST(Multiplier, SerialCountsAreThoseOfTheUnitsSum) {
  // ng_int_mult_serial's register (its bench compares every value with serial_register) is the sum above b's bits to
  // come. Without these bits, and from an empty register on, it is what multiplier_flips counts; the unit's own begins
  // with the first step, does not store the last, and has b's bits.
  Operands operands(5);
  std::printf("uniform operands, flips a product: the sum's, and those of the register of ng_int_mult_serial\n");
  for (const bool is_signed : {false, true})
    for (const int width : {2, 3, 4, 6, 8}) {
      const Values a = operands.codes(20000, width, is_signed), b = operands.codes(20000, width, is_signed);
      const IntFormat format{width, is_signed};
      std::uint64_t sums = 0, registers = 0;
      std::uint32_t last = 0;
      for (std::size_t n = 0; n < a.size(); ++n) {
        std::uint32_t before = 0;
        for (int steps = 1; steps <= width; ++steps) {
          const std::uint32_t now = serial_register(format, static_cast<std::uint32_t>(a[n]), format,
                                                    static_cast<std::uint32_t>(b[n]), steps);
          const std::uint32_t sum = now >> (width - steps) << (width - steps);
          if (n > 0) sums += static_cast<std::uint64_t>(std::popcount(before ^ sum));
          before = sum;
          if (steps == width) continue;
          if (n > 0) registers += static_cast<std::uint64_t>(std::popcount(last ^ now));
          last = now;
        }
      }
      const auto flips = multiplier_flips(Structure::serial, width, width, is_signed, is_signed, a, b);
      EXPECT_EQ(flips.registers, sums) << width << is_signed;
      std::printf("  %d bits %s: %5.2f %5.2f\n", width, is_signed ? "signed  " : "unsigned", flips.per_step(sums),
                  flips.per_step(registers));
    }
}

TEST(Multiplier, BlocksOfSixtyFourDoNotShow) {
  Operands operands(4);
  const Values a = operands.codes(1000, 8, true), b = operands.codes(1000, 8, true);
  for (const Structure structure : {Structure::array, Structure::booth, Structure::wallace, Structure::serial}) {
    const MultiplierFlips whole = multiplier_flips(structure, 8, 8, true, true, a, b);
    MultiplierFlips parts;  // of streams that overlap by one operand
    for (std::size_t start = 0; start + 1 < a.size(); start += 37) {
      const std::size_t count = std::min<std::size_t>(38, a.size() - start);
      const auto part = multiplier_flips(structure, 8, 8, true, true, std::span(a).subspan(start, count),
                                         std::span(b).subspan(start, count));
      parts.steps += part.steps;
      parts.inputs += part.inputs;
      parts.sums += part.nets();
    }
    EXPECT_EQ(whole.steps, parts.steps);
    EXPECT_EQ(whole.inputs, parts.inputs);
    EXPECT_EQ(whole.nets(), parts.sums) << static_cast<int>(structure);
  }
}

TEST(Multiplier, RefusesWhatItCannotCount) {
  const auto text_of = [](Structure structure, int a_width, const Values& a, const Values& b) -> std::string {
    try {
      multiplier_flips(structure, a_width, 4, true, true, a, b);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(text_of(Structure::array, 4, {1, 8}, {1, 1}).find("a[1] is 8; expected -8 to 7"), std::string::npos);
  EXPECT_NE(text_of(Structure::array, 17, {1, 8}, {1, 1}).find("widths are 17 and 4"), std::string::npos);
  EXPECT_NE(text_of(Structure::array, 4, {1}, {1}).find("2 or more"), std::string::npos);
  EXPECT_NE(text_of(Structure::none, 4, {1, 1}, {1, 1}).find("repeated_addition_flips"), std::string::npos);
}

// ---- The simulated tables: multipliers

TEST(Tables, MultiplierInternals) {
  // Columns: signed array sums, all; Booth; serial; unsigned array sums, all.
  constexpr struct {
    int b;
    double sums, nets, booth, serial, unsigned_sums, unsigned_nets;
  } table[] = {{2, 2.0, 4.8, 4.5, 1.7, 0.8, 2.5},
               {3, 4.7, 10.7, 11.5, 4.2, 2.6, 6.9},
               {4, 8.4, 18.9, 16.5, 8.2, 5.3, 13.7},
               {6, 19.0, 42.8, 36.2, 20.9, 13.9, 34.8},
               {8, 33.6, 76.5, 63.6, 39.6, 26.6, 66.0}};
  for (const auto& row : table) {
    const auto one = [&](Structure structure, bool is_signed, auto&& figure) {
      return measure([&](Operands& operands) {
        const MultiplierFlips flips = uniform_flips(operands, structure, row.b, is_signed);
        return flips.per_step(figure(flips));
      });
    };
    const std::string b = " at b = " + std::to_string(row.b);
    expect_table("inputs" + b, one(Structure::array, true, [](const auto& f) { return f.inputs; }), row.b, 0);
    expect_table("unsigned sums" + b, one(Structure::array, false, [](const auto& f) { return f.sums; }),
                 row.unsigned_sums, 0.05);
    expect_table("unsigned nets" + b, one(Structure::array, false, [](const auto& f) { return f.nets(); }),
                 row.unsigned_nets, 0.05);
    // The signed column counts what the unsigned one does not: the running sum's bits that no adder makes (the first
    // row, the last carries), and in "all nets" the unused carry out of the top bit, which flips half the time at most.
    expect_table("signed sums" + b, one(Structure::array, true, [](const auto& f) { return f.sums + f.row_copies; }),
                 row.sums, 0.05);
    expect_table("signed nets" + b, one(Structure::array, true, [](const auto& f) { return f.nets() + f.row_copies; }),
                 row.nets - 0.25, 0.05, 0.25);
    // The table does not say which nets of a Booth multiplier it counts. Ours: recoding, rows, sums, carries. Alike
    // from 6 bits on; below, our recoders and the first row's increment weigh more: +5, +7, +21 % at 4, 3, 2 bits.
    expect_table("Booth" + b, one(Structure::booth, true, [](const auto& f) { return f.nets(); }), row.booth, 0.05,
                 row.b >= 6 ? 0.01 * row.booth : 0.95);
    // Nor does it say how its serial register works. Ours, unsigned, shifts right from zero: 2 % less at 8 bits, 0.2
    // flips less at 2.
    expect_table("serial" + b, one(Structure::serial, false, [](const auto& f) { return f.registers; }), row.serial,
                 0.05, 0.14 + 0.02 * row.serial);
  }
}

TEST(Tables, OneWayOfCountingBothSigns) {
  // That simulation finds that the unsigned array flips less than the signed one: -21 % (8 bits), -37 % (4), -60 % (2)
  // of the sums. Most of that is its way of counting the signed array; adders against adders it is -5, -14 and -39 %.
  constexpr struct {
    int b;
    double saving;
  } table[] = {{2, 0.39}, {4, 0.14}, {8, 0.05}};
  for (const auto& row : table) {
    const Measured saving = measure([&](Operands& operands) {
      const auto with_sign = uniform_flips(operands, Structure::array, row.b, true);
      const auto without = uniform_flips(operands, Structure::array, row.b, false);
      return 1 - static_cast<double>(without.sums) / static_cast<double>(with_sign.sums);
    });
    expect_table(std::to_string(row.b), saving, row.saving, 0.005);
  }
}

TEST(Tables, GaussianOperands) {
  constexpr struct {
    int b;
    double inputs, change, half_change;  // of the sums against uniform operands
  } table[] = {{2, 1.39, -0.72, -0.50},
               {3, 2.86, -0.28, 0},
               {4, 3.97, -0.14, -0.25},
               {6, 5.99, -0.06, 0},
               {8, 8.0, -0.03, -0.10}};
  for (const auto& row : table) {
    const auto flips = [&](Operands& operands, bool half) {
      return multiplier_flips(Structure::array, row.b, row.b, !half, !half, operands.normal(run_length, row.b, half),
                              operands.normal(run_length, row.b, half));
    };
    const std::string b = std::to_string(row.b);
    expect_table("inputs " + b, measure([&](Operands& operands) {
                   const auto f = flips(operands, false);
                   return f.per_step(f.inputs);
                 }),
                 row.inputs, 0.01);
    expect_table("signed " + b, measure([&](Operands& operands) {
                   const auto f = flips(operands, false), u = uniform_flips(operands, Structure::array, row.b, true);
                   return static_cast<double>(f.sums + f.row_copies) / static_cast<double>(u.sums + u.row_copies) - 1;
                 }),
                 row.change, 0.02);
    if (row.half_change == 0) continue;
    expect_table("half-normal " + b, measure([&](Operands& operands) {
                   const auto f = flips(operands, true), u = uniform_flips(operands, Structure::array, row.b, false);
                   return static_cast<double>(f.sums) / static_cast<double>(u.sums) - 1;
                 }),
                 row.half_change, 0.02);
  }
}

TEST(Tables, MixedWidths) {
  // A narrow w in 8-bit hardware: Baugh-Wooley with w as multiplicand, swapped; Booth with x, with w recoded; an array
  // that fits; the unsigned array. All nets.
  constexpr struct {
    int w_width;
    double wide, swapped, booth_x, booth_w, fit, unsigned_wide;
  } table[] = {{2, 62.8, 73.7, 60.8, 29.8, 23.6, 14.1},
               {4, 67.3, 76.4, 63.4, 42.2, 41.8, 32.2},
               {8, 76.5, 76.6, 63.6, 63.6, 76.5, 66.0}};
  for (const auto& row : table) {
    const auto one = [&](Structure structure, bool is_signed, bool w_first, int first_width, bool copies) {
      return measure([&](Operands& operands) {
        const Values w = operands.codes(run_length, row.w_width, is_signed),
                     x = operands.codes(run_length, 8, is_signed);
        const auto f = w_first ? multiplier_flips(structure, first_width, 8, is_signed, is_signed, w, x)
                               : multiplier_flips(structure, first_width, 8, is_signed, is_signed, x, w);
        return f.per_step(f.nets() + copies * f.row_copies);
      });
    };
    const std::string w = " with w of " + std::to_string(row.w_width) + " bits";
    // Signed arrays are counted as above: with copies and up to half a flip of an unused carry.
    expect_table("array" + w, one(Structure::array, true, true, 8, true), row.wide - 0.25, 0.05, 0.25);
    expect_table("swapped" + w, one(Structure::array, true, false, 8, true), row.swapped - 0.25, 0.05, 0.35);
    expect_table("fitting" + w, one(Structure::array, true, true, row.w_width, true), row.fit - 0.25, 0.05, 0.25);
    expect_table("unsigned" + w, one(Structure::array, false, true, 8, false), row.unsigned_wide, 0.05);
    // Booth's nets differ a little, as above.
    expect_table("Booth, x recoded" + w, one(Structure::booth, true, true, 8, false), row.booth_x, 0.05, 2.5);
    expect_table("Booth, w recoded" + w, one(Structure::booth, true, false, 8, false), row.booth_w, 0.05, 1.4);
  }
}

// ---- The simulated tables: accumulators of 32 bits

constexpr int acc_width = 32;

TEST(Tables, Accumulator) {
  constexpr struct {
    int b;
    double in, sum, total, unsigned_in, unsigned_sum, unsigned_total;
  } table[] = {{2, 12.2, 1.3, 14.8, 1.27, 1.48, 4.2},
               {4, 15.6, 3.4, 22.5, 3.36, 3.64, 10.6},
               {8, 15.8, 7.1, 30.1, 7.45, 7.77, 23.0}};
  constexpr std::size_t length = 512;
  for (const auto& row : table) {
    const auto one = [&](bool is_signed, auto&& figure) {
      return measure([&](Operands& operands) {
        const Values x = operands.codes(200 * length, row.b, is_signed),
                     w = operands.codes(200 * length, row.b, is_signed);
        const auto f = accumulator_flips(is_signed ? Schedule::plain : Schedule::sorted, acc_width, x, w, length);
        return f.per_term(figure(f));
      });
    };
    const auto in = [](const AccumulatorFlips& f) { return f.input; };
    const auto sum = [](const AccumulatorFlips& f) { return f.sum; };
    const auto total = [](const AccumulatorFlips& f) { return f.paper(); };
    const std::string b = " at b = " + std::to_string(row.b);
    expect_table("signed input" + b, one(true, in), row.in, 0.05);
    expect_table("signed sum" + b, one(true, sum), row.sum, 0.05);
    expect_table("signed total" + b, one(true, total), row.total, 0.1);
    // The unsigned figures were taken without skipping products of a zero weight, which ours are: its last value stays
    // at the input. A share 2^-b of the products.
    expect_table("unsigned input" + b, one(false, in), row.unsigned_in, 0.01, 0.18);
    expect_table("unsigned sum" + b, one(false, sum), row.unsigned_sum, 0.01, 0.02);
    expect_table("unsigned total" + b, one(false, total), row.unsigned_total, 0.05, 0.1);
    // T_in = (B - 2b) 2 p (1 - p) + T_product; a product is negative with p = 1/2 - 2^-b.
    constexpr double product[] = {0, 0, 1.65, 0, 3.80, 0, 0, 0, 7.84};
    const double p = 0.5 - std::exp2(-row.b);
    expect_table("T_in" + b, one(true, in), (acc_width - 2 * row.b) * 2 * p * (1 - p) + product[row.b], 0.01 * row.in);
  }
}

TEST(Tables, Schedules) {
  // Uniform x of b bits, uniform w of b bits and a sign, d = 576.
  constexpr struct {
    int b;
    double sorted, dual, muxed, plain;
  } table[] = {{2, 4.7, 6.1, 8.6, 18.4}, {4, 10.9, 14.3, 17.1, 24.3}, {8, 23.0, 30.4, 33.3, 32.0}};
  constexpr std::size_t length = 576;
  for (const auto& row : table) {
    const auto flips = [&](Operands& operands, Schedule schedule) {
      const Values x = operands.codes(200 * length, row.b, false),
                   w = operands.uniform(200 * length, 1 - (1 << row.b), (1 << row.b) - 1);
      return accumulator_flips(schedule, acc_width, x, w, length);
    };
    const auto one = [&](Schedule schedule) {
      return measure([&](Operands& operands) {
        const auto f = flips(operands, schedule);
        return f.per_term(f.paper());
      });
    };
    const std::string b = " at b = " + std::to_string(row.b);
    expect_table("sorted" + b, one(Schedule::sorted), row.sorted, 0.05);
    expect_table("plain" + b, one(Schedule::plain), row.plain, 0.05);
    // 2 bits: 1 weight in 7 is zero, and the table seems to let it switch the multiplexer; at 4 bits 1 in 31.
    expect_table("muxed" + b, one(Schedule::muxed), row.muxed, 0.05, 2.1 * std::exp2(-row.b));
    // The table isolates operands by holding them (latches): the gated inputs then flip as the sorted adder's input
    // does.
    expect_table("dual with latches" + b, measure([&](Operands& operands) {
                   const auto f = flips(operands, Schedule::dual), sorted = flips(operands, Schedule::sorted);
                   return f.per_term(f.input + f.sum + f.registers) + sorted.per_term(sorted.input);
                 }),
                 row.dual, 0.05, 1.1 * std::exp2(-row.b));
    // Ours, as our RTL, gates with AND: more flips, and at 8 bits the dual schedule, too, loses against plain.
    const double gated = one(Schedule::dual).mean;
    EXPECT_GT(gated, row.dual) << b;
    EXPECT_EQ(gated > one(Schedule::plain).mean, row.b == 8) << b;
    EXPECT_EQ(one(Schedule::muxed).mean > one(Schedule::plain).mean, row.b == 8) << b;
  }
}

TEST(Tables, RepeatedAddition) {
  constexpr struct {
    int x_width;
    double additions, uniform, half_normal;
  } table[] = {{6, 1.16, 11.25, 9.8}, {6, 2.25, 20.4, 17.9}, {7, 2.93, 29.4, 26.1}, {8, 4.0, 43.5, 39.1}};
  constexpr std::size_t length = 1152;
  for (const auto& row : table) {
    const auto one = [&](bool half) {
      return measure([&](Operands& operands) {
        const std::size_t count = 87 * length;
        const Values x = half ? operands.normal(count, row.x_width, true) : operands.codes(count, row.x_width, false);
        const auto f = repeated_addition_flips(acc_width, x, operands.pann_weights(count, row.additions), length);
        EXPECT_NEAR(static_cast<double>(f.additions) / static_cast<double>(f.terms) / row.additions, 1, 0.03);
        return f.per_term(f.paper());
      });
    };
    const std::string what = std::to_string(row.x_width) + " bits, R = " + std::to_string(row.additions);
    expect_table(what + " uniform", one(false), row.uniform, 0.05, 0.05);
    expect_table(what + " half-normal", one(true), row.half_normal, 0.05, 0.05);
  }
}

TEST(Accumulator, CountsByHand) {
  // x = 1, w = 1, 1, -1, three times: sums 1, 2 | 1.
  const Values x(9, 1), w{1, 1, -1, 1, 1, -1, 1, 1, -1};
  const auto sorted = accumulator_flips(Schedule::sorted, 8, x, w, 3);
  EXPECT_EQ(sorted.input, 1U);              // from 0
  EXPECT_EQ(sorted.registers, 1U + 6 * 2);  // 0 to 1, then between 1 and 2; from one sum's 1 to the next one's none
  EXPECT_EQ(sorted.sum, sorted.registers);
  EXPECT_EQ(sorted.additions, 9U);
  const auto dual = accumulator_flips(Schedule::dual, 8, x, w, 3);
  EXPECT_EQ(dual.input, 1U);
  EXPECT_EQ(dual.steering, 1U + 2 + 2 + 2 + 2 + 2);  // both gates switch at every change of sign
  EXPECT_EQ(dual.registers, 1U + 5 * 2 + 1);         // positive: 0, 1, 2, 1, 2, 1, 2; negative: 0, 1, 1, 1
}

TEST(Accumulator, RefusesWhatDoesNotFit) {
  const auto text_of = [](Schedule schedule, int width, const Values& x, const Values& w) -> std::string {
    try {
      accumulator_flips(schedule, width, x, w, 2);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(text_of(Schedule::sorted, 3, {3, 1}, {2, 1}), "no error");
  EXPECT_NE(text_of(Schedule::sorted, 3, {3, 1}, {2, 2}).find("does not fit the accumulator of 3 bits"),
            std::string::npos);
  EXPECT_NE(text_of(Schedule::plain, 4, {3, 1}, {2, 2}).find("element 1 does not fit the accumulator of 4 signed"),
            std::string::npos);
  EXPECT_NE(text_of(Schedule::dual, 8, {3, -1}, {2, 2}).find("activation 1 is -1"), std::string::npos);
  EXPECT_NE(text_of(Schedule::plain, 8, {3, 1, 2}, {2, 2, 2}).find("multiple of the length 2"), std::string::npos);
  EXPECT_NE(text_of(Schedule::plain, 65, {3, 1}, {2, 2}).find("65 bits"), std::string::npos);
}

}  // namespace
}  // namespace narrowgauge::power
