// SPDX-License-Identifier: Apache-2.0
// How: operands are decoded in chunks of k, 64 columns of B at a time, and the kernels run a row of A over panels of
// those columns, from one instruction to the next. An output with a NaN or an infinity in its row or column is computed
// alone, in integers, as is whatever the kernels have no loop for: BF16 elements and FP16 results.
#include "narrowgauge/mac/accumulate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "accumulate_kernels.hpp"
#include "gemm_parts.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/luq/mul_luq.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge {
namespace {

using detail::AccumulateKernels, detail::accumulate_kernels, detail::ceil_div, detail::group_length, detail::lanes,
    detail::step_length, detail::Steps;

constexpr std::size_t chunk_length = 512, job_columns = 2 * lanes, job_rows = 128;
static_assert(chunk_length % fp32_block == 0 && chunk_length % 64 == 0);
constexpr int zero_label = -126;  // of FP32's zero, which a factor that is zero counts as
constexpr int no_label = -8000;   // of a zero that does not count
constexpr int odd_bits = 23 + 5;  // FP32's and log2(32) guard bits
constexpr float silicon_nan = std::bit_cast<float>(std::uint32_t{0x7FFFFFFF});
constexpr float half_nan = std::bit_cast<float>(std::uint32_t{0x7FFFE000});

/// An operand with bytes or with words, and what there is of scales.
struct Source {
  const FormatDesc& element;
  bool int4;
  std::size_t rows, k;
  const std::uint8_t* bytes;
  const std::uint16_t* words;
  std::size_t block;  ///< 0: no scales
  Format scale;
  const std::uint8_t* scales;

  std::uint32_t code(std::size_t row, std::size_t i) const {
    if (i >= k) return 0;
    return bytes ? bytes[row * k + i] : words[row * k + i];
  }
  /// Beyond the last block: 0, whose label is the lowest.
  std::uint32_t scale_code(std::size_t row, std::size_t i) const {
    if (i >= k) return 0;
    const std::uint32_t code = scales[row * (k / block) + i / block];
    return scale == Format::ue4m3 ? code & 127 : code;
  }
  bool nan_scale(std::size_t row) const {
    for (std::size_t i = 0; block != 0 && i < k; i += block) {
      if (desc(scale).is_nan(scale_code(row, i))) return true;
    }
    return false;
  }
  bool special(std::size_t row) const {
    for (std::size_t i = 0; i < k; ++i) {
      if (element.is_nan(code(row, i)) || element.is_inf(code(row, i))) return true;
    }
    return nan_scale(row);
  }
};

/// significand * 2^(label - fraction), and special values, whose significand is 0.
struct Number {
  std::int64_t significand = 0;
  int label = zero_label, fraction = 0;
  bool nan = false, inf = false, negative = false;

  bool zero() const { return significand == 0 && !nan && !inf; }
};

Number split(const FormatDesc& f, std::uint32_t code) {
  Number n{.fraction = f.man_bits, .nan = f.is_nan(code), .inf = f.is_inf(code), .negative = f.is_negative(code)};
  const std::uint32_t magnitude = f.magnitude(code);
  const auto field = static_cast<int>(magnitude >> f.man_bits);
  if (n.nan || n.inf || (magnitude == 0 && f.has_zero)) return n;
  const bool hidden = field != 0 || !f.has_zero;
  n.label = (hidden ? field : 1) - f.bias;
  n.significand = (magnitude & ((1U << f.man_bits) - 1)) | (hidden ? 1U << f.man_bits : 0);
  if (n.negative) n.significand = -n.significand;
  return n;
}

/// An FP32 number, or an FP16 one, whose subnormal numbers begin at `least`.
Number split(float c, int man, int least) {
  Number n{.fraction = man, .nan = std::isnan(c), .inf = std::isinf(c), .negative = std::signbit(c)};
  if (n.nan || n.inf || c == 0) return n;
  n.label = std::max(std::ilogb(c), least);
  n.significand = static_cast<std::int64_t>(std::ldexp(static_cast<double>(c), man - n.label));
  return n;
}

/// magnitude * 2^distance without what falls below 1.
std::int64_t shifted(std::int64_t x, int distance) {
  const std::int64_t magnitude = x < 0 ? -x : x;
  const std::int64_t moved = distance >= 0 ? magnitude << distance : distance > -63 ? magnitude >> -distance : 0;
  return x < 0 ? -moved : moved;
}

/// total * 2^unit in the result's format.
float packed(std::int64_t total, int unit, MmaResult result) {
  const int man = result == MmaResult::fp32 ? 23 : result == MmaResult::e8m13 ? 13 : 10;
  const bool half = result == MmaResult::fp16;
  const std::uint64_t magnitude = static_cast<std::uint64_t>(total < 0 ? -total : total);
  if (magnitude == 0) return 0;
  const int exponent = std::max(static_cast<int>(std::bit_width(magnitude)) - 1 + unit, half ? -14 : -126);
  const int drop = exponent - man - unit;
  std::uint64_t kept = drop > 63 ? 0 : drop > 0 ? magnitude >> drop : magnitude << -drop;
  if (half && drop > 0 && drop < 64) {
    const std::uint64_t rest = magnitude - (kept << drop), tie = std::uint64_t{1} << (drop - 1);
    kept += rest > tie || (rest == tie && (kept & 1) != 0) ? 1 : 0;
  }
  auto value = static_cast<float>(std::ldexp(static_cast<double>(kept), exponent - man));
  if (half && value > 65504.0F) value = std::numeric_limits<float>::infinity();
  return kept != 0 && total < 0 ? -value : value;
}

/// NaN and infinities among the terms of one instruction.
struct Specials {
  bool nan = false, plus = false, minus = false;

  void add(const Number& n) { add(n.nan, n.inf, n.negative); }
  void add(bool is_nan, bool is_inf, bool negative) {
    nan |= is_nan;
    plus |= is_inf && !negative;
    minus |= is_inf && negative;
  }
  bool any() const { return nan || plus || minus; }
  float value(float nan_value) const {
    if (nan || (plus && minus)) return nan_value;
    return plus ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
  }
};

/// One product, and C, of one output; position by position in integers.
struct Alone {
  const Source &a, &b;
  std::size_t i, j;

  Number product(std::size_t k, Specials& specials) const {
    const Number x = split(a.element, a.code(i, k)), y = split(b.element, b.code(j, k));
    const bool inf = x.inf || y.inf, negative = x.negative != y.negative;
    specials.add(x.nan || y.nan || (inf && (x.zero() || y.zero())), inf, negative);
    return {.significand = x.significand * y.significand,
            .label = x.label + y.label,
            .fraction = x.fraction + y.fraction,
            .negative = negative};
  }

  /// The term of the group from k on, with its scales.
  Number term(const MmaRule& rule, std::size_t k, Specials& specials) const {
    Number sum = product(k, specials);
    if (rule.group > 1) {
      sum.significand = 0;
      for (std::size_t n = k; n < k + rule.group; ++n) {
        const Number p = product(n, specials);
        if (p.significand != 0) sum.significand += p.significand << p.label;  // E2M1: labels of 0 to 4
      }
      sum.label = 0;
    }
    if (a.block != 0) {
      for (const Number& s : {split(desc(a.scale), a.scale_code(i, k)), split(desc(b.scale), b.scale_code(j, k))}) {
        specials.add(s);
        sum.significand *= s.significand;
        sum.label += s.label;
        sum.fraction += s.fraction;
      }
    }
    return sum;
  }

  float mma(const MmaRule& rule, float c, std::size_t from, std::size_t to) const {
    const bool half = rule.result == MmaResult::fp16;
    const float nan = half ? half_nan : silicon_nan;
    std::array<Number, 64> terms;
    for (std::size_t k = from; k < to; k += rule.length) {
      Specials specials;
      const Number acc = half ? split(c, 10, -14) : split(c, 23, -126);
      specials.add(acc);
      int top = acc.label;
      const std::size_t count = rule.length / rule.group;
      for (std::size_t n = 0; n < count; ++n) {
        terms[n] = term(rule, k + n * rule.group, specials);
        top = std::max(top, terms[n].label);
      }
      if (specials.any()) {
        c = specials.value(nan);
        if (std::isnan(c)) break;
        continue;
      }
      std::int64_t total = shifted(acc.significand, acc.label - top + rule.bits - acc.fraction);
      for (std::size_t n = 0; n < count; ++n) {
        total += shifted(terms[n].significand, terms[n].label - top + rule.bits - terms[n].fraction);
      }
      c = packed(total, top - rule.bits, rule.result);
    }
    return c;
  }
};

/// Values, labels and integers of all codes of a byte.
struct Table {
  std::array<float, 256> value{};
  std::array<std::int16_t, 256> label{}, twice{};

  Table(const Source& source, bool zeros_count) {
    for (std::uint32_t code = 0; code < 256; ++code) {
      const FormatDesc& f = source.element;
      if (source.int4) {
        value[code] = static_cast<float>(int4_value(code));
        continue;
      }
      if (f.bits < 8 && code >> f.bits != 0) continue;
      value[code] = static_cast<float>(decode(f, code));
      const Number n = split(f, code);
      label[code] = static_cast<std::int16_t>(n.zero() && !zeros_count ? no_label : n.label);
      if (f.bits == 4) twice[code] = static_cast<std::int16_t>(2 * value[code]);
    }
  }
};

/// A chunk of an operand as the kernels take it, Width vectors a panel.
template <std::size_t Width>
class Packed {
 public:
  Packed(const Source& source, const Table& table, std::size_t panels, bool groups)
      : source_(source), table_(table), groups_(groups), steps_(chunk_length / (groups ? group_length : step_length)) {
    const std::size_t all = panels * Width;
    if (groups) {
      twice_.resize(all * chunk_length);
      scale_.resize(all * steps_);
    } else {
      value_.resize(all * chunk_length);
      label_.resize(all * chunk_length);
    }
    scale_label_.resize(all * steps_);
  }

  void pack(std::size_t panel, std::size_t first, std::size_t k, std::size_t count) {
    const std::size_t here = std::min(Width, source_.rows - std::min(first, source_.rows));
    for (std::size_t v = 0; v < Width; ++v) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t code = v < here ? source_.code(first + v, k + i) : 0;
        const std::size_t at = (panel * chunk_length + i) * Width + v;
        if (groups_) {
          twice_[at] = table_.twice[code];
        } else {
          value_[at] = table_.value[code];
          label_[at] = table_.label[code];
        }
      }
      const std::size_t length = groups_ ? group_length : step_length;
      for (std::size_t n = 0; n < count / length; ++n) {
        const std::size_t at = (panel * steps_ + n) * Width + v;
        Number s{.label = 0};
        double value = 1;
        if (source_.block != 0) {
          const std::uint32_t code = v < here ? source_.scale_code(first + v, k + n * length) : 0;
          s = split(desc(source_.scale), code);
          value = s.nan ? 0 : decode(source_.scale, code);
        }
        scale_label_[at] = s.label;
        if (groups_) scale_[at] = value;
      }
    }
  }

  /// From `done` elements of the chunk on.
  detail::Chunk at(std::size_t panel, std::size_t done) const {
    const std::size_t element = (panel * chunk_length + done) * Width;
    const std::size_t scale = (panel * steps_ + done / (groups_ ? group_length : step_length)) * Width;
    detail::Chunk chunk;
    if (groups_) {
      chunk.twice = twice_.data() + element;
      chunk.scale = scale_.data() + scale;
      chunk.scale_label = scale_label_.data() + scale;
    } else {
      chunk.value = value_.data() + element;
      chunk.label = label_.data() + element;
      chunk.step_label = scale_label_.data() + scale;
    }
    return chunk;
  }

 private:
  const Source& source_;
  const Table& table_;
  bool groups_;
  std::size_t steps_;
  std::vector<std::int16_t> twice_, label_;
  std::vector<float> value_;
  std::vector<double> scale_;
  std::vector<std::int32_t> scale_label_;
};

/// What a mode does to a scheme: the kernel, its step, and what a special output is.
struct Plan {
  void (*kernel)(const Steps&) = nullptr;
  std::size_t step = step_length;  ///< elements of one step of the kernel
  bool groups = false;
  int bits = 0, man = 23;
  const MmaRule* rule = nullptr;  ///< of `blackwell` and `hopper`
  bool odd = false;
  float nan = detail::nan_result;
  bool only_alone = false;
};

/// The result of one output with bulk normalization: its finite steps by the kernel, the others by IEEE's rules.
float odd_alone(const Alone& one, const Plan& plan, const Table& left, const Table& right, float c, std::size_t from,
                std::size_t to) {
  std::array<float, step_length> x;
  std::array<std::int16_t, step_length> x_label;
  std::vector<float> y(step_length * lanes);
  std::vector<std::int16_t> y_label(step_length * lanes);
  for (std::size_t k = from; k < to && !std::isnan(c); k += step_length) {
    Specials specials;
    specials.add(std::isnan(c), std::isinf(c), std::signbit(c));
    for (std::size_t n = 0; n < step_length; ++n) {
      one.product(k + n, specials);
      const std::uint32_t p = one.a.code(one.i, k + n), q = one.b.code(one.j, k + n);
      x[n] = left.value[p], x_label[n] = left.label[p];
      y[n * lanes] = right.value[q], y_label[n * lanes] = right.label[q];
    }
    if (specials.any()) {
      c = specials.value(plan.nan);
      continue;
    }
    std::array<float, lanes> sums{c};
    plan.kernel({.a = {.value = x.data(), .label = x_label.data()},
                 .b = {.value = y.data(), .label = y_label.data()},
                 .steps = 1,
                 .bits = plan.bits,
                 .man = plan.man,
                 .c = sums.data()});
    c = sums[0];
  }
  return c;
}

/// Everything that one product needs.
struct Work {
  const Source &a, &b;
  Plan plan;
  std::span<const float> c;
  const QuantizedMatrix *a_scales = nullptr, *b_scales = nullptr;  ///< of blocked FP32 scales
  Table left, right;
  std::vector<bool> a_special, b_special;
  std::size_t k;  ///< padded to whole steps

  Work(const Source& a, const Source& b, const Plan& plan, std::span<const float> c)
      : a(a), b(b), plan(plan), c(c), left(a, !plan.odd), right(b, !plan.odd), k(ceil_div(a.k, plan.step) * plan.step) {
    for (const auto& [source, found] : {std::pair{&a, &a_special}, std::pair{&b, &b_special}}) {
      found->resize(source->rows);
      for (std::size_t r = 0; r < source->rows; ++r) {
        const bool chain = plan.rule == nullptr && !plan.odd;  // IEEE's own rules serve there, but for scales
        (*found)[r] = chain ? source->nan_scale(r) : source->special(r);
      }
    }
  }

  float start(std::size_t i, std::size_t j) const { return c.empty() ? 0.0F : c[i * b.rows + j]; }

  /// An output that the kernel does not compute, over part of the contraction.
  float alone(std::size_t i, std::size_t j, float from_c, std::size_t from, std::size_t to) const {
    const Alone one{a, b, i, j};
    if (plan.rule != nullptr) return one.mma(*plan.rule, from_c, from, to);
    return plan.odd ? odd_alone(one, plan, left, right, from_c, from, to) : plan.nan;
  }

  bool is_alone(std::size_t i, std::size_t j) const {
    return plan.only_alone || a_special[i] || b_special[j] || !std::isfinite(start(i, j));
  }

  /// What a block of 128 with FP32 scales adds.
  void add_scaled(std::size_t i, std::size_t j, std::size_t k_at, float sum, float& total) const {
    const EpilogueScales scales = epilogue_scales(a_scales->fp32_scale(i, k_at), b_scales->fp32_scale(j, k_at));
    total += epilogue(sum, scales);
  }
};

void run_rows(const Work& work, Packed<lanes>& right, std::size_t row, std::size_t rows, std::size_t column,
              std::size_t columns, float* out) {
  const bool blocked = work.a_scales != nullptr;
  const std::size_t panels = ceil_div(columns, lanes), n = work.b.rows;
  Packed<1> left(work.a, work.left, 1, work.plan.groups);
  std::vector<float> state(rows * panels * lanes);
  for (std::size_t i = 0; i < rows && !work.c.empty(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const float c = work.start(row + i, column + j);
      state[(i * panels + j / lanes) * lanes + j % lanes] = std::isfinite(c) ? c : 0.0F;
    }
  }
  for (std::size_t first = 0; first < work.k && !work.plan.only_alone; first += chunk_length) {
    const std::size_t count = std::min(chunk_length, work.k - first);
    for (std::size_t p = 0; p < panels; ++p) right.pack(p, column + p * lanes, first, count);
    for (std::size_t i = 0; i < rows; ++i) {
      detail::breathe();
      left.pack(0, row + i, first, count);
      for (std::size_t p = 0; p < panels; ++p) {
        float* const to = state.data() + (i * panels + p) * lanes;
        const std::size_t part = blocked ? fp32_block : count;
        for (std::size_t done = 0; done < count; done += part) {
          std::array<float, lanes> sums{};
          const std::size_t here = std::min(part, count - done);
          work.plan.kernel({.a = left.at(0, done),
                            .b = right.at(p, done),
                            .steps = here / work.plan.step,
                            .bits = work.plan.bits,
                            .man = work.plan.man,
                            .c = blocked ? sums.data() : to});
          for (std::size_t j = 0; blocked && j < std::min(lanes, columns - p * lanes); ++j) {
            work.add_scaled(row + i, column + p * lanes + j, first + done, sums[j], to[j]);
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      float c = state[(i * panels + j / lanes) * lanes + j % lanes];
      if (work.is_alone(row + i, column + j)) {
        c = work.start(row + i, column + j);
        const std::size_t part = blocked ? fp32_block : work.k;
        for (std::size_t k = 0; k < work.k; k += part) {
          const float sum = work.alone(row + i, column + j, blocked ? 0.0F : c, k, std::min(work.k, k + part));
          if (blocked) {
            work.add_scaled(row + i, column + j, k, sum, c);
          } else {
            c = sum;
          }
        }
        detail::breathe();
      }
      out[(row + i) * n + column + j] = std::isnan(c) ? work.plan.nan : c;
    }
  }
}

std::vector<float> run(const Work& work, unsigned threads, const Progress& progress) {
  const std::size_t m = work.a.rows, n = work.b.rows;
  std::vector<float> out(m * n);
  const std::size_t across = ceil_div(n, job_columns), wanted = ceil_div(4 * detail::thread_count(threads), across);
  const std::size_t rows = std::clamp<std::size_t>(ceil_div(m, wanted), 1, job_rows);
  detail::parallel_for(
      across * ceil_div(m, rows), threads,
      [&](std::size_t job) {
        const std::size_t row = job / across * rows, column = job % across * job_columns;
        Packed<lanes> right(work.b, work.right, job_columns / lanes, work.plan.groups);
        run_rows(work, right, row, std::min(rows, m - row), column, std::min(job_columns, n - column), out.data());
      },
      progress);
  return out;
}

Source source_of(const QuantizedMatrix& q) {
  const bool scaled = has_block_scales(q.scheme);
  return {.element = desc(q.element),
          .int4 = q.scheme == Scheme::int4,
          .rows = q.rows,
          .k = q.k_padded,
          .bytes = q.codes.data(),
          .words = nullptr,
          .block = scaled ? block_size(q.scheme) : 0,
          .scale = scaled ? scale_format(q.scheme) : Format::ue4m3,
          .scales = q.scales.data()};
}

Plan plan_of(const MmaRule& rule) {
  const AccumulateKernels& k = accumulate_kernels();
  const bool groups = rule.group > 1;
  return {.kernel = groups ? k.groups : k.singles,
          .step = rule.length,
          .groups = groups,
          .bits = rule.bits,
          .man = rule.result == MmaResult::e8m13 ? 13 : 23,
          .rule = &rule,
          .nan = rule.result == MmaResult::fp16 ? half_nan : silicon_nan};
}

Plan plan_of(Accumulation mode, const QuantizedMatrix& a, const QuantizedMatrix& b) {
  const Scheme scheme = b.scheme;
  const AccumulateKernels& k = accumulate_kernels();
  const bool fp4 = scheme == Scheme::nvfp4 || scheme == Scheme::mxfp4;
  const bool fp8 =
      scheme == Scheme::fp8 && has_element(Scheme::mxfp8, a.element) && has_element(Scheme::mxfp8, b.element);
  const char* known = nullptr;
  switch (mode) {
    case Accumulation::blackwell:
      if (fp4) return plan_of(blackwell_64);
      if (scheme == Scheme::mxfp8 || scheme == Scheme::mxfp6 || fp8) return plan_of(blackwell_32);
      known = "nvfp4, mxfp4, mxfp6, mxfp8, or fp8 of e4m3 and e5m2";
      break;
    case Accumulation::hopper:
      if (fp8) return plan_of(hopper_32);
      known = "fp8 of e4m3 and e5m2";
      break;
    case Accumulation::rvbna:
      if (fp8) return {.kernel = k.odd, .bits = odd_bits, .odd = true};
      known = "fp8 of e4m3 and e5m2";
      break;
    default:
      break;
  }
  if (known != nullptr) {
    const std::string name(accumulation_modes[static_cast<std::size_t>(mode)].name);
    throw Error("accumulation \"" + name + "\" does not have the operands' format; expected " + known +
                "; quantize to that, or take fp32_chain, which has all");
  }
  if (fp4) {
    const std::size_t block = block_size(scheme);
    return {.kernel = k.chain_blocks, .step = block, .groups = true, .bits = static_cast<int>(block / group_length)};
  }
  return {.kernel = is_mx(scheme) ? k.chain_steps : k.chain};
}

void check_operand(const MmaOperand& m, const char* which) {
  const auto refuse = [&](const std::string& what, const std::string& expected) {
    throw Error(std::string(which) + " has " + what + "; expected " + expected);
  };
  if (m.rows == 0 || m.k == 0 || m.codes.size() != m.rows * m.k) {
    refuse(std::to_string(m.codes.size()) + " codes",
           "rows x k, " + std::to_string(m.rows) + " x " + std::to_string(m.k));
  }
  const unsigned top = *std::max_element(m.codes.begin(), m.codes.end());
  if (desc(m.element).bits < 16 && top >> desc(m.element).bits != 0) {
    refuse("code " + std::to_string(top), "codes of " + std::to_string(desc(m.element).bits) + " bits");
  }
  if (m.block == 0) return;
  if (m.scale != Format::ue4m3 && m.scale != Format::e8m0) refuse("scales of another format", "ue4m3 or e8m0");
  if (m.k % m.block != 0) {
    refuse("blocks of " + std::to_string(m.block), "a length that divides k, " + std::to_string(m.k));
  }
  if (m.scales.size() != m.rows * (m.k / m.block)) {
    refuse(std::to_string(m.scales.size()) + " scales", "one a block, " + std::to_string(m.rows * (m.k / m.block)));
  }
}

void check_rule(const MmaRule& rule, const MmaOperand& a, const MmaOperand& b) {
  if ((rule.group != 1 && rule.group != group_length) || rule.length == 0 || rule.length > 64 ||
      rule.length % rule.group != 0) {
    throw Error("a rule adds " + std::to_string(rule.length) + " products in groups of " + std::to_string(rule.group) +
                "; expected up to 64 in groups of 1 or 16");
  }
  if (rule.bits < 1 || rule.bits > (rule.group > 1 ? 35 : 25)) {
    throw Error("a rule keeps " + std::to_string(rule.bits) + " fraction bits; expected 1 to " +
                (rule.group > 1 ? "35" : "25, 35 with groups"));
  }
  if (rule.group > 1 && (a.element != Format::e2m1 || b.element != Format::e2m1)) {
    throw Error("a rule with groups has other elements; expected e2m1");
  }
  for (const MmaOperand* m : {&a, &b}) {
    if (desc(m->element).bits > 8 && m->element != Format::bf16) {
      throw Error("elements of a matrix instruction are " + std::string(desc(m->element).name) +
                  "; expected at most 8 bits, or bf16");
    }
  }
  if (a.k != b.k || a.block != b.block || (a.block != 0 && (a.scale != b.scale || a.block % rule.group != 0))) {
    throw Error("the operands' contractions, blocks or scales differ, or blocks cut groups; expected the same of both");
  }
}

void check_start(std::span<const float> c, std::size_t m, std::size_t n) {
  if (c.empty() || c.size() == m * n) return;
  throw Error("c has " + std::to_string(c.size()) + " numbers; expected " + std::to_string(m) + " x " +
              std::to_string(n) + ", as many as the product has");
}

}  // namespace

const AccumulationMode& find_accumulation(std::string_view name) {
  std::string known;
  for (const AccumulationMode& mode : accumulation_modes) {
    if (mode.name == name) return mode;
    known += (known.empty() ? "" : ", ") + std::string(mode.name);
  }
  throw Error("accumulation \"" + std::string(name) + "\" is unknown; expected one of " + known);
}

std::vector<float> mma(const MmaOperand& a, const MmaOperand& b, std::span<const float> c, const MmaRule& rule,
                       unsigned threads, const Progress& progress) {
  check_operand(a, "the left operand");
  check_operand(b, "the right operand");
  check_rule(rule, a, b);
  check_start(c, a.rows, b.rows);
  const auto source = [](const MmaOperand& m) {
    return Source{.element = desc(m.element),
                  .int4 = false,
                  .rows = m.rows,
                  .k = m.k,
                  .bytes = nullptr,
                  .words = m.codes.data(),
                  .block = m.block,
                  .scale = m.scale,
                  .scales = m.scales.data()};
  };
  const Source left = source(a), right = source(b);
  Plan plan = plan_of(rule);
  const bool fp4 = rule.group > 1 && rule.length == 64,
             fp8 = rule.group == 1 && rule.length == 32 && (a.block == 0 || a.block % 32 == 0);
  plan.only_alone = rule.result == MmaResult::fp16 || desc(a.element).bits > 8 || desc(b.element).bits > 8 ||
                    !(fp4 || fp8) || (fp4 && a.block == 0);
  const Work work(left, right, plan, c);
  return run(work, threads, progress);
}

std::vector<float> accumulate_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, Accumulation mode,
                                   std::span<const float> c, unsigned threads, const Progress& progress) {
  check_product(a, b);
  check_start(c, a.rows, b.rows);
  if (!c.empty() && (mode == Accumulation::exact || has_blocked_scales(a, b))) {
    throw Error("c is given for " + std::string(mode == Accumulation::exact ? "exact sums" : "blocked FP32 scales") +
                "; expected none: add it to the result");
  }
  if (mode == Accumulation::exact) return gemm_sums(a, b, threads, progress);
  const Source left = source_of(a), right = source_of(b);
  Work work(left, right, plan_of(mode, a, b), c);
  if (has_blocked_scales(a, b)) work.a_scales = &a, work.b_scales = &b;
  return run(work, threads, progress);
}

std::vector<float> gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, Accumulation mode, unsigned threads,
                        const Progress& progress) {
  std::vector<float> c = accumulate_sums(a, b, mode, {}, threads, progress);
  if (has_blocked_scales(a, b)) {
    for (float& x : c) x = std::isnan(x) ? detail::nan_result : x;
    return c;
  }
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.rows; ++j) {
      float& x = c[i * b.rows + j];
      x = epilogue(x, epilogue_scales(a.fp32_scale(i, 0), b.fp32_scale(j, 0)));
    }
  }
  return c;
}

}  // namespace narrowgauge
