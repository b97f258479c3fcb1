// SPDX-License-Identifier: Apache-2.0
// Multipliers are evaluated for 64 operand pairs at once: a net is a 64-bit word, pair i its bit i, so that the flips
// from pair to pair are the ones of word ^ (word << 1).
#include "features/structures.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <string>
#include <vector>

#include "narrowgauge/require.hpp"

namespace narrowgauge::power {
namespace {

using Word = std::uint64_t;
constexpr int max_columns = 32;

/// Transposes a 64 x 64 bit matrix (Warren, Hacker's Delight 7-3): bit j of row i becomes bit i of row j.
void transpose(std::array<Word, 64>& rows) {
  Word mask = 0xFFFFFFFF;
  for (unsigned width = 32; width != 0; width >>= 1, mask ^= mask << width)
    for (unsigned i = 0; i < 64; i = (i + width + 1) & ~width) {
      const Word swap = ((rows[i] >> width) ^ rows[i + width]) & mask;
      rows[i] ^= swap << width;
      rows[i + width] ^= swap;
    }
}

/// A net, or none: a place of the running sum where nothing has been added yet.
struct Net {
  Word word = 0;
  bool present = false;
};

/// Counts flips of nets. The structures visit their nets in the same order for every block of 64 pairs.
class Counter {
 public:
  void start_block(unsigned pairs) {
    next_ = 0;
    pairs_ = pairs;
    mask_ = ~Word{0} >> (64 - pairs);
  }
  Word see(std::uint64_t& flips, Word word) {
    if (next_ == last_.size()) last_.push_back(word & 1);  // nothing before the first pair
    flips += std::popcount((word ^ (word << 1 | last_[next_])) & mask_);
    last_[next_++] = word >> (pairs_ - 1) & 1;
    return word;
  }
  /// Flips from one step of a pair's multiplication to the next; not of the stream's first pair.
  void step(std::uint64_t& flips, Word before, Word after) const {
    flips += std::popcount((before ^ after) & (first_block_ ? mask_ & ~Word{1} : mask_));
  }
  void end_block() { first_block_ = false; }

 private:
  std::vector<Word> last_;
  std::size_t next_ = 0;
  unsigned pairs_ = 64;
  Word mask_ = ~Word{0};
  bool first_block_ = true;
};

class Multiplier {
 public:
  Multiplier(Structure structure, int a_width, int b_width, bool a_signed, bool b_signed)
      : structure_(structure),
        a_width_(a_width),
        b_width_(b_width),
        columns_(a_width + b_width),
        a_signed_(a_signed),
        b_signed_(b_signed) {
    // A product that counts negatively is inverted: -p = (1 - p) - 1; the -1s are the constant.
    for (int i = 0; i < b_width_; ++i)
      for (int j = 0; j < a_width_; ++j)
        if (inverted(i, j)) constant_ -= Word{1} << (i + j);
  }

  /// Multiplies `pairs` pairs; bit i of a[j] is bit j of pair i's operand. The product's bits.
  const std::array<Word, max_columns>& multiply(const Word* a, const Word* b, unsigned pairs) {
    counter_.start_block(pairs);
    for (int j = 0; j < a_width_; ++j) counter_.see(flips_.inputs, a[j]);
    for (int i = 0; i < b_width_; ++i) counter_.see(flips_.inputs, b[i]);
    sum_.fill({});
    switch (structure_) {
      case Structure::array:
        array(a, b);
        break;
      case Structure::booth:
        booth(a, b);
        break;
      case Structure::wallace:
        wallace(a, b);
        break;
      default:
        serial(a, b);
    }
    counter_.end_block();
    for (int k = 0; k < columns_; ++k) product_[k] = sum_[k].word;
    return product_;
  }

  MultiplierFlips& flips() { return flips_; }

 private:
  bool inverted(int i, int j) const { return (b_signed_ && i == b_width_ - 1) != (a_signed_ && j == a_width_ - 1); }
  bool constant_bit(int column) const { return constant_ >> column & 1; }

  Word partial_product(const Word* a, const Word* b, int i, int j) {
    const Word both = a[j] & b[i];
    return counter_.see(flips_.partial_products, inverted(i, j) ? ~both : both);
  }

  /// Sum of up to three nets, of which two or more make an adder; `carry` becomes its carry.
  Net add(const Net& x, const Net& y, Net& carry, bool carry_used) {
    const int count = x.present + y.present + carry.present;
    if (count < 2) {
      Net only = x.present ? x : y.present ? y : carry;
      carry = {};
      return only;
    }
    // A net that is not present is 0.
    const Word sum = counter_.see(flips_.sums, x.word ^ y.word ^ carry.word);
    const Word out = (x.word & y.word) | (x.word & carry.word) | (y.word & carry.word);
    carry = carry_used ? Net{counter_.see(flips_.carries, out), true} : Net{};
    return {sum, true};
  }

  /// Adds a row to the running sum from column `from` upwards, with a carry into it.
  template <class Row>
  void add_row(int from, Net carry, Row&& row) {
    for (int k = from; k < columns_; ++k) {
      const Net term = row(k);
      const int count = sum_[k].present + term.present + carry.present;
      const bool copy = count == 1 && !sum_[k].present;
      sum_[k] = add(sum_[k], term, carry, k + 1 < columns_);
      if (copy) counter_.see(flips_.row_copies, sum_[k].word);
    }
  }

  void array(const Word* a, const Word* b) {
    for (int k = 0; k < columns_; ++k)
      if (constant_bit(k)) sum_[k] = {~Word{0}, true};
    for (int i = 0; i < b_width_; ++i)
      add_row(i, {}, [&](int k) { return k - i < a_width_ ? Net{partial_product(a, b, i, k - i), true} : Net{}; });
  }

  void booth(const Word* a, const Word* b) {
    const auto bit = [&](int i) { return i < 0 ? 0 : i < b_width_ ? b[i] : b_signed_ ? b[b_width_ - 1] : 0; };
    const auto multiplicand = [&](int j) { return j < 0 ? 0 : j < a_width_ ? a[j] : a_signed_ ? a[a_width_ - 1] : 0; };
    const int digits = b_signed_ ? (b_width_ + 1) / 2 : b_width_ / 2 + 1;
    for (int d = 0; d < digits; ++d) {
      const Word low = bit(2 * d - 1), middle = bit(2 * d), high = bit(2 * d + 1);
      const Word neg = counter_.see(flips_.recoding, high & ~(middle & low));
      const Word one = counter_.see(flips_.recoding, middle ^ low);
      const Word two = counter_.see(flips_.recoding, (high & ~middle & ~low) | (~high & middle & low));
      Word row = 0;
      // Bits above a's width, one for the doubling and, if a is unsigned, one for the sign, repeat.
      const int top = a_signed_ ? a_width_ : a_width_ + 1;
      add_row(2 * d, {neg, true}, [&](int k) {
        const int j = k - 2 * d;
        if (j <= top)
          row = counter_.see(flips_.partial_products, ((one & multiplicand(j)) | (two & multiplicand(j - 1))) ^ neg);
        return Net{row, true};
      });
    }
  }

  void wallace(const Word* a, const Word* b) {
    std::array<std::vector<Net>, max_columns + 1> columns, next;
    for (int k = 0; k < columns_; ++k)
      if (constant_bit(k)) columns[k].push_back({~Word{0}, true});
    for (int i = 0; i < b_width_; ++i)
      for (int j = 0; j < a_width_; ++j) columns[i + j].push_back({partial_product(a, b, i, j), true});
    const auto tall = [](const auto& column) { return column.size() > 2; };
    while (std::any_of(columns.begin(), columns.end(), tall)) {
      for (auto& column : next) column.clear();
      for (int k = 0; k < columns_; ++k) {
        const auto& column = columns[k];
        for (std::size_t i = 0; i < column.size(); i += 3) {
          if (i + 1 == column.size()) {
            next[k].push_back(column[i]);
            break;
          }
          Net carry = i + 2 < column.size() ? column[i + 2] : Net{};
          next[k].push_back(add(column[i], column[i + 1], carry, k + 1 < columns_));
          if (carry.present) next[k + 1].push_back(carry);
        }
      }
      std::swap(columns, next);
    }
    Net carry;
    for (int k = 0; k < columns_; ++k) {
      columns[k].resize(2);
      sum_[k] = add(columns[k][0], columns[k][1], carry, k + 1 < columns_);
    }
  }

  /// The register holds the upper part of the running sum over its finished bits. b's sign bit subtracts.
  void serial(const Word* a, const Word* b) {
    std::array<Word, max_columns> state{};
    for (int i = 0; i < b_width_; ++i) {
      const bool subtract = b_signed_ && i == b_width_ - 1;
      std::array<Word, max_columns> shifted{};
      std::copy(state.begin() + 1, state.begin() + b_width_, shifted.begin());
      Word carry = subtract ? b[i] : 0;  // -a = ~a + 1, if the bit is set
      for (int j = 0; j <= a_width_; ++j) {
        // The running sum and a, one bit wider than a: signs extended.
        const Word upper = j < a_width_ ? state[b_width_ + j] : a_signed_ ? state[columns_ - 1] : 0;
        const Word operand = (j < a_width_ ? a[j] : a_signed_ ? a[a_width_ - 1] : 0) & b[i];
        const Word term = subtract ? (j < a_width_ || a_signed_ ? operand ^ b[i] : b[i]) : operand;
        shifted[b_width_ - 1 + j] = upper ^ term ^ carry;
        carry = (upper & term) | (upper & carry) | (term & carry);
      }
      for (int k = 0; k < columns_; ++k) counter_.step(flips_.registers, state[k], shifted[k]);
      state = shifted;
    }
    for (int k = 0; k < columns_; ++k) sum_[k] = {state[k], true};
  }

  Structure structure_;
  int a_width_, b_width_, columns_;
  bool a_signed_, b_signed_;
  Word constant_ = 0;
  Counter counter_;
  MultiplierFlips flips_;
  std::array<Net, max_columns> sum_;
  std::array<Word, max_columns> product_{};
};

using narrowgauge::detail::require;

void require_fits(const char* name, std::span<const std::int32_t> values, int width, bool is_signed) {
  const std::int32_t low = is_signed ? -(1 << (width - 1)) : 0, high = (1 << (is_signed ? width - 1 : width)) - 1;
  for (std::size_t i = 0; i < values.size(); ++i)
    require(values[i] >= low && values[i] <= high, [&] {
      return "multiplier_flips: " + std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(values[i]) +
             "; expected " + std::to_string(low) + " to " + std::to_string(high) + " in " + std::to_string(width) +
             (is_signed ? " signed" : " unsigned") + " bits";
    });
}

constexpr Word low_bits(int count) { return ~Word{0} >> (64 - count); }

/// Counts the flips of a vector from value to value.
class Bus {
 public:
  Word see(std::uint64_t& flips, Word value) {
    flips += std::popcount(value ^ value_);
    return value_ = value;
  }

 private:
  Word value_ = 0;
};

/// One adder with its register or registers, in `width` bits.
class Adder {
 public:
  explicit Adder(int width) : mask_(low_bits(width)) {}

  /// One cycle: term + (restart ? 0 : reg), and into reg.
  void add(AccumulatorFlips& flips, Word term, Word& reg, bool restart) {
    const Word operand = restart ? 0 : reg;
    const Word sum = settle(flips, term, operand);
    flips.registers += std::popcount(reg ^ sum);
    reg = sum;
    ++flips.additions;
  }
  /// The adder's nets with these inputs; the sum.
  Word settle(AccumulatorFlips& flips, Word term, Word operand) {
    const Word sum = sum_.see(flips.sum, (term + operand) & mask_);
    carry_.see(flips.carry, sum ^ term ^ operand);
    return sum;
  }

 private:
  Word mask_;
  Bus sum_, carry_;
};

void require_stream(const char* what, int acc_width, std::span<const std::int32_t> x, std::span<const std::int32_t> w,
                    std::size_t length) {
  const auto name = std::string(what);
  require(acc_width >= 1 && acc_width <= 64,
          [&] { return name + ": accumulator of " + std::to_string(acc_width) + " bits; expected 1 to 64"; });
  require(x.size() == w.size() && length > 0 && !x.empty() && x.size() % length == 0, [&] {
    return name + ": x has " + std::to_string(x.size()) + " elements and w has " + std::to_string(w.size()) +
           "; expected the same multiple of the length " + std::to_string(length);
  });
}

/// The terms of one sum of the unsigned split: of the weights with `sign`, in their order; take(index, |w|).
template <class Take>
void each_of_sign(std::span<const std::int32_t> w, int sign, Take&& take) {
  for (std::size_t i = 0; i < w.size(); ++i)
    if (w[i] * std::int64_t{sign} > 0) take(i, static_cast<Word>(std::abs(std::int64_t{w[i]})));
}

/// What the unsigned schedules check: activations, and that both sums of every dot product fit.
void require_unsigned(const char* what, int acc_width, std::span<const std::int32_t> x, std::span<const std::int32_t> w,
                      std::size_t length) {
  for (std::size_t dot = 0; dot < x.size(); dot += length) {
    unsigned __int128 sums[2] = {};
    for (std::size_t i = dot; i < dot + length; ++i) {
      require(x[i] >= 0, [&] {
        return std::string(what) + ": activation " + std::to_string(i) + " is " + std::to_string(x[i]) +
               "; the unsigned split needs activations of 0 or more";
      });
      sums[w[i] < 0] += static_cast<Word>(x[i] * std::abs(std::int64_t{w[i]}));
    }
    require(std::max(sums[0], sums[1]) <= low_bits(acc_width), [&] {
      return std::string(what) + ": the sum of the dot product from element " + std::to_string(dot) +
             " does not fit the accumulator of " + std::to_string(acc_width) + " bits; expected a wider one";
    });
  }
}

}  // namespace

MultiplierFlips multiplier_flips(Structure structure, int a_width, int b_width, bool a_signed, bool b_signed,
                                 std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  require(structure != Structure::none, [] {
    return std::string("multiplier_flips: structure none has no multiplier; use repeated_addition_flips");
  });
  require(a_width >= 1 && a_width <= 16 && b_width >= 1 && b_width <= 16, [&] {
    return "multiplier_flips: widths are " + std::to_string(a_width) + " and " + std::to_string(b_width) +
           "; expected 1 to 16";
  });
  require(a.size() == b.size() && a.size() >= 2, [&] {
    return "multiplier_flips: a has " + std::to_string(a.size()) + " values and b has " + std::to_string(b.size()) +
           "; expected equal lengths of 2 or more";
  });
  require_fits("a", a, a_width, a_signed);
  require_fits("b", b, b_width, b_signed);

  Multiplier multiplier(structure, a_width, b_width, a_signed, b_signed);
  const Word a_mask = low_bits(a_width), b_mask = low_bits(b_width), product_mask = low_bits(a_width + b_width);
  std::array<Word, 64> rows;
  for (std::size_t start = 0; start < a.size(); start += 64) {
    const std::size_t pairs = std::min<std::size_t>(64, a.size() - start);
    rows.fill(0);
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto x = static_cast<Word>(std::int64_t{a[start + i]}), y = static_cast<Word>(std::int64_t{b[start + i]});
      rows[i] = (x & a_mask) | (y & b_mask) << 16 | ((x * y) & product_mask) << 32;
    }
    transpose(rows);
    const auto& product = multiplier.multiply(rows.data(), rows.data() + 16, static_cast<unsigned>(pairs));
    for (int k = 0; k < a_width + b_width; ++k)
      require(((product[k] ^ rows[32 + k]) & low_bits(static_cast<int>(pairs))) == 0, [&] {
        return "multiplier_flips: bit " + std::to_string(k) + " of a product from pair " + std::to_string(start) +
               " on is wrong; this is a fault of the flip model, please report it";
      });
  }
  MultiplierFlips flips = multiplier.flips();
  flips.steps = a.size() - 1;
  return flips;
}

AccumulatorFlips accumulator_flips(Schedule schedule, int acc_width, std::span<const std::int32_t> x,
                                   std::span<const std::int32_t> w, std::size_t length) {
  require_stream("accumulator_flips", acc_width, x, w, length);
  AccumulatorFlips flips{.terms = x.size()};
  Bus input, steering[2];
  Adder adder(acc_width), other(acc_width);
  if (schedule == Schedule::plain) {
    Word reg = 0;
    for (std::size_t dot = 0; dot < x.size(); dot += length) {
      __int128 exact = 0;
      for (std::size_t i = dot; i < dot + length; ++i) {
        const std::int64_t product = std::int64_t{x[i]} * w[i];
        exact += product;
        require(exact >> (acc_width - 1) == 0 || exact >> (acc_width - 1) == -1, [&] {
          return "accumulator_flips: the sum up to element " + std::to_string(i) + " does not fit the accumulator of " +
                 std::to_string(acc_width) + " signed bits; expected a wider one";
        });
        adder.add(flips, input.see(flips.input, static_cast<Word>(product) & low_bits(acc_width)), reg, i == dot);
      }
    }
    return flips;
  }

  require_unsigned("accumulator_flips", acc_width, x, w, length);
  Word positive = 0, negative = 0;
  for (std::size_t dot = 0; dot < x.size(); dot += length) {
    const auto xs = x.subspan(dot, length), ws = w.subspan(dot, length);
    if (schedule == Schedule::sorted) {
      for (const int sign : {1, -1}) {
        bool restart = true;
        each_of_sign(ws, sign, [&](std::size_t i, Word magnitude) {
          adder.add(flips, input.see(flips.input, static_cast<Word>(xs[i]) * magnitude), positive, restart);
          restart = false;
        });
      }
      continue;
    }
    bool restart[2] = {true, true};
    for (std::size_t i = 0; i < length; ++i) {
      if (ws[i] == 0) continue;
      const bool minus = ws[i] < 0;
      const Word product =
          input.see(flips.input, static_cast<Word>(xs[i]) * static_cast<Word>(std::abs(std::int64_t{ws[i]})));
      Word& reg = minus ? negative : positive;
      if (schedule == Schedule::dual) {
        steering[minus].see(flips.steering, product);
        steering[!minus].see(flips.steering, 0);
        (minus ? other : adder).add(flips, product, reg, restart[minus]);
        (minus ? adder : other).settle(flips, 0, minus ? positive : negative);
      } else {
        steering[0].see(flips.steering, restart[minus] ? 0 : reg);
        adder.add(flips, product, reg, restart[minus]);
      }
      restart[minus] = false;
    }
  }
  return flips;
}

AccumulatorFlips repeated_addition_flips(int acc_width, std::span<const std::int32_t> x,
                                         std::span<const std::int32_t> w, std::size_t length) {
  require_stream("repeated_addition_flips", acc_width, x, w, length);
  require_unsigned("repeated_addition_flips", acc_width, x, w, length);
  AccumulatorFlips flips{.terms = x.size()};
  Bus input;
  Adder adder(acc_width);
  Word reg = 0;
  for (std::size_t dot = 0; dot < x.size(); dot += length)
    for (const int sign : {1, -1}) {
      bool restart = true;
      each_of_sign(w.subspan(dot, length), sign, [&](std::size_t i, Word magnitude) {
        const Word term = input.see(flips.input, static_cast<Word>(x[dot + i]));
        for (; magnitude > 0; --magnitude) {
          adder.add(flips, term, reg, restart);
          restart = false;
        }
      });
    }
  return flips;
}

}  // namespace narrowgauge::power
