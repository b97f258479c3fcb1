// SPDX-License-Identifier: Apache-2.0
#include "features/stimulus.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <random>

#include "codec_stimulus.hpp"
#include "features/text.hpp"
#include "features_operands.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/pann/pann.hpp"
#include "narrowgauge/power/mac_spec.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace narrowgauge::power {
namespace {

/// Rows of codes along the contraction, and of block scales.
struct Codes {
  int width = 0;
  std::size_t rows = 0, k = 0;
  std::vector<std::uint32_t> codes;  ///< rows x k
  std::size_t block = 0;             ///< codes a scale; 0: no scales
  std::vector<std::uint32_t> scales;

  std::uint32_t code(std::size_t row, std::size_t i) const { return i < k ? codes[row * k + i] : 0; }
  std::uint32_t scale(std::size_t row, std::size_t i) const {
    return i * block < k ? scales[row * ((k + block - 1) / block) + i] : 0;
  }
};

/// How the numbers of one operand are written.
struct Number {
  std::optional<Scheme> scheme;  ///< quantized with scales
  Format element = Format::fp32;
  int width = 32;
  bool integer = false, is_signed = true;
  bool split = false;  ///< weight of the unsigned split: a magnitude of width - 1 bits and a sign, no code -2^(width-1)
  double additions = 0;  ///< PANN's quantizer instead of the uniform one
};

Number number(const MacSpec& mac, bool is_a) {
  if (mac.luq()) return {luq_scheme(!is_a), Format::e3m0, 4};
  switch (mac.format_of(!is_a)) {
    case MacFormat::integer: {
      const int width = is_a ? mac.a_width : mac.b_width;
      const bool is_signed = is_a ? mac.a_signed : mac.b_signed;
      if (!is_a && mac.schedule != Schedule::plain)
        return {{}, Format::fp32, width + 1, true, true, true, mac.additions};
      if (is_signed && width < 2) throw Error("a signed integer of 1 bit has no stimulus; give 2 bits or more");
      return {{}, Format::fp32, width, true, is_signed};
    }
    case MacFormat::fp8_e4m3:
      return {Scheme::fp8, Format::e4m3, 8};
    case MacFormat::fp8_e5m2:
      return {Scheme::fp8, Format::e5m2, 8};
    case MacFormat::nvfp4:
      return {Scheme::nvfp4, Format::e2m1, 4};
    case MacFormat::mxfp4:
      return {Scheme::mxfp4, Format::e2m1, 4};
    case MacFormat::bf16:
      return {{}, Format::bf16, 16};
    case MacFormat::fp16:
      return {{}, Format::fp16, 16};
    case MacFormat::tf32:
      return {{}, Format::tf32, 19};
    case MacFormat::fp4_e2m1:
      return {{}, Format::e2m1, 4};
    case MacFormat::fp4_e3m0:
      return {{}, Format::e3m0, 4};
    case MacFormat::fp32:
      break;
  }
  return {{}, Format::fp32, 32};
}

/// Same numbers on every platform, unlike the standard's distributions.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t bits() { return engine_(); }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(bits() % limit); }
  double normal() {
    const double u = (static_cast<double>(bits() >> 11) + 1) * 0x1p-53;
    return standard_normal(u, static_cast<double>(bits() >> 11) * 0x1p-53);
  }

 private:
  std::mt19937_64 engine_;
};

constexpr std::size_t contraction = 256;  ///< products of an output, for generated values
constexpr std::size_t outputs = 32;       ///< rows of each generated operand

std::uint32_t uniform_code(const Number& how, Random& random) {
  const std::uint32_t mask = how.width == 32 ? 0xFFFFFFFFU : (1U << how.width) - 1;
  while (true) {
    const auto code = static_cast<std::uint32_t>(random.bits() >> 32) & mask;
    if (how.split && code == 1U << (how.width - 1)) continue;
    if (how.integer || (!desc(how.element).is_nan(code) && !desc(how.element).is_inf(code))) return code;
  }
}

Codes uniform(const Number& how, Random& random) {
  Codes result{how.width, outputs, contraction, {}, 0, {}};
  result.codes.resize(outputs * contraction);
  for (auto& code : result.codes) code = uniform_code(how, random);
  if (how.scheme && has_block_scales(*how.scheme)) {
    const Format format = *how.scheme == Scheme::nvfp4 ? Format::ue4m3 : Format::e8m0;
    const std::uint32_t low = encode(format, 0.5), high = encode(format, 2.0);
    result.block = block_size(*how.scheme);
    result.scales.resize(outputs * contraction / result.block);
    for (auto& scale : result.scales) scale = low + static_cast<std::uint32_t>(random.below(high - low + 1));
  }
  return result;
}

/// Float values, rows along the contraction, in the operand's numbers. `unit` is the value of an integer's largest
/// code.
Codes quantized(const Number& how, const Tensor& x, double unit) {
  Codes result{how.width, x.rows, x.cols, {}, 0, {}};
  if (how.scheme) {
    QuantizeOptions options;
    options.scheme = *how.scheme;
    options.element = how.element;
    const QuantizedMatrix q = quantize(x.values, x.rows, x.cols, Axis::rows, options);
    result.k = q.k_padded;
    result.codes.assign(q.codes.begin(), q.codes.end());
    if (!q.scales.empty()) {
      result.block = block_size(*how.scheme);
      result.scales.assign(q.scales.begin(), q.scales.end());
    }
    return result;
  }
  for (const float value : x.values) {
    if (!how.integer) {
      result.codes.push_back(encode(how.element, value));
      continue;
    }
    const double top = std::ldexp(1.0, how.is_signed ? how.width - 1 : how.width) - 1;
    const double scaled = std::nearbyint((how.is_signed ? value : std::abs(value)) * top / unit);
    const auto code = static_cast<std::int64_t>(std::clamp(scaled, how.is_signed ? -top : 0.0, top));
    result.codes.push_back(static_cast<std::uint32_t>(code) & ((1U << how.width) - 1));
  }
  return result;
}

/// Rows of weights for repeated addition, each with its own step.
Codes pann_quantized(const Number& how, const Tensor& w) {
  Codes result{how.width, w.rows, w.cols, {}, 0, {}};
  for (std::size_t row = 0; row < w.rows; ++row) {
    const auto q = pann::quantize_weights(std::span(w.values).subspan(row * w.cols, w.cols), how.additions);
    if (q.storage_width >= how.width) {
      throw Error("a weight needs " + std::to_string(q.storage_width) + " bits at " + std::to_string(how.additions) +
                  " additions, but b_width is " + std::to_string(how.width - 1));
    }
    for (const std::int32_t code : q.codes)
      result.codes.push_back(static_cast<std::uint32_t>(code) & ((1U << how.width) - 1));
  }
  return result;
}

Tensor normal(Random& random) {
  Tensor x{outputs, contraction, {}};
  x.values.resize(outputs * contraction);
  for (float& value : x.values) value = static_cast<float>(random.normal());
  return x;
}

Tensor transposed(const Tensor& x) {
  Tensor result{x.cols, x.rows, {}};
  result.values.resize(x.values.size());
  for (std::size_t r = 0; r < x.rows; ++r) {
    for (std::size_t c = 0; c < x.cols; ++c) result.values[c * x.rows + r] = x.values[r * x.cols + c];
  }
  return result;
}

double largest(const Tensor& x) {
  double result = 0;
  for (const float value : x.values) result = std::max(result, std::abs(static_cast<double>(value)));
  return result > 0 ? result : 1;
}

Codes operand(const Number& how, bool is_a, const StimulusOptions& options, Random& random) {
  const auto fail = [&](const std::string& why) { return Error("stimulus " + options.stimulus + " " + why); };
  const Tensor& own = is_a ? options.a : options.b;
  if (!own.values.empty()) {
    const Tensor rows = is_a ? own : transposed(own);
    if (how.additions > 0) return pann_quantized(how, rows);
    return quantized(how, rows, largest(rows));
  }
  if (how.additions > 0 && (options.stimulus == "uniform" || options.stimulus == "half_normal"))
    return pann_quantized(how, normal(random));  // the stimulus is the activations'
  if (options.stimulus == "uniform") return uniform(how, random);
  const bool is_unsigned = how.integer && !how.is_signed;
  if (options.stimulus == "gauss") {
    if (is_unsigned)
      throw fail("has negative values, but operand " + std::string(is_a ? "a" : "b") + " is unsigned; use half_normal");
    return quantized(how, normal(random), 3);
  }
  if (options.stimulus == "half_normal") {
    if (!how.integer) throw fail("is for integers; use gauss");
    return quantized(how, normal(random), 3);
  }
  throw fail("is not known and no tensors are given for it; known: uniform, gauss, half_normal");
}

/// A port's value in a cycle, bit by bit.
using Bits = std::vector<std::uint8_t>;

void append(Bits& bits, std::uint64_t value, int width) {
  for (int k = 0; k < width; ++k) bits.push_back(static_cast<std::uint8_t>(k < 64 ? value >> k & 1 : 0));
}

std::string hex(const Bits& bits) {
  std::string text;
  for (std::size_t digit = (bits.size() + 3) / 4; digit-- > 0;) {
    int value = 0;
    for (std::size_t k = 0; k < 4 && digit * 4 + k < bits.size(); ++k) value |= bits[digit * 4 + k] << k;
    text += "0123456789abcdef"[value];
  }
  return text;
}

struct Stream {
  std::string name;
  std::size_t delay = 0, hold = 1;
  std::function<Bits(std::size_t cycle)> value;
};

class Maker {
 public:
  Maker(const nlohmann::json& unit, const StimulusOptions& options) : unit_(unit), options_(options) {
    if (options.a.values.empty() != options.b.values.empty())
      throw Error("give the tensors of both operands, or of none");
    if (options.a.cols != options.b.rows) {
      throw Error("the tensors do not fit: a is " + std::to_string(options.a.rows) + " x " +
                  std::to_string(options.a.cols) + ", b " + std::to_string(options.b.rows) + " x " +
                  std::to_string(options.b.cols) + "; expected M x K and K x N");
    }
    if (unit.contains("mac")) operands(mac_spec_from_json(unit.at("mac")));
    for (const auto& [name, how] : unit.at("inputs").items()) streams_.push_back(stream(name, how));
  }

  std::string text() const {
    nlohmann::ordered_json header{{"unit", unit_.at("name")},
                                  {"stimulus", options_.stimulus},
                                  {"seed", options_.seed},
                                  {"cycles", options_.cycles},
                                  {"ports", nlohmann::ordered_json::array()}};
    for (const Stream& port : streams_) {
      header["ports"].push_back({{"name", port.name}, {"width", port.value(0).size()}});
    }
    std::string result = header.dump() + '\n';
    for (std::size_t cycle = 0; cycle < options_.cycles; ++cycle) {
      for (const Stream& port : streams_) {
        if (&port != &streams_.front()) result += ' ';
        // What is offered first is taken at once, the others when the unit is done with those before.
        result += cycle < port.delay ? hex(Bits(port.value(0).size(), 0))
                                     : hex(port.value((cycle - port.delay + port.hold - 1) / port.hold));
      }
      result += '\n';
    }
    return result;
  }

 private:
  /// What a multiply-accumulate meets.
  void operands(const MacSpec& mac) {
    lanes_ = static_cast<std::size_t>(mac.lanes);
    Random random(options_.seed);
    a_ = operand(number(mac, true), true, options_, random);
    b_ = operand(number(mac, false), false, options_, random);
    beats_ = (a_.k + lanes_ - 1) / lanes_;
    for (std::size_t i = 0; i <= options_.cycles / beats_; ++i) {
      output_.emplace_back(random.below(a_.rows), random.below(b_.rows));
    }
    if (mac.schedule != Schedule::plain) schedule(mac);
  }

  Stream stream(const std::string& name, const nlohmann::json& how) {
    const auto number = [&](const char* key, std::size_t otherwise) -> std::size_t {
      if (!how.contains(key)) return otherwise;
      if (!how.at(key).is_number_unsigned()) throw Error("input " + name + ": '" + key + "' is not a number from 0 up");
      return how.at(key);
    };
    Stream made{name, number("delay", 0), number("hold", 1), {}};
    if (made.hold == 0) throw Error("input " + name + ": 'hold' is 0, expected 1 or more");
    const std::size_t width = number("width", 1);
    if (how.contains("operand")) {
      const bool is_a = which(name, how.at("operand"));
      made.value = [this, is_a](std::size_t cycle) { return codes(is_a, cycle); };
      if (how.contains("part")) made.value = part(name, how.at("part"), is_a);
    } else if (how.contains("scale")) {
      const bool is_a = which(name, how.at("scale"));
      if ((is_a ? a_ : b_).block == 0) throw Error("input " + name + ": the unit's format has no block scales");
      made.value = [this, is_a](std::size_t cycle) { return scales(is_a, cycle); };
    } else if (how.contains("constant")) {
      Bits bits;
      const nlohmann::json& given = how.at("constant");
      for (const auto& one : given.is_array() ? given : nlohmann::json::array({given})) {
        if (!one.is_number_unsigned() || (width < 64 && one.get<std::uint64_t>() >> width != 0)) {
          throw Error("input " + name + ": 'constant' has " + one.dump() + "; expected numbers from 0 up of 'width' " +
                      std::to_string(width));
        }
        append(bits, one.get<std::uint64_t>(), static_cast<int>(width));
      }
      made.value = [bits = std::move(bits)](std::size_t) { return bits; };
    } else if (how.contains("every")) {
      const std::size_t every = number("every", 1);
      if (every == 0) throw Error("input " + name + ": 'every' is 0, expected 1 or more");
      made.value = [every](std::size_t cycle) { return Bits{static_cast<std::uint8_t>(cycle % every == 0)}; };
    } else if (how.contains("random") || how.contains("fixed") || how.contains("format") || how.contains("one_of")) {
      made.value = [values = drawn(name, how)](std::size_t cycle) { return values[cycle]; };
    } else if (how.contains("codec")) {
      if (options_.stimulus != "relu") throw Error("input " + name + " takes the stimulus relu");
      made.value = [port = codec_port(how.at("codec"), options_.cycles, options_.seed)](std::size_t cycle) {
        Bits bits;
        append(bits, port.values[cycle], static_cast<int>(port.width));
        return bits;
      };
    } else if (how.contains("sequence")) {
      if (order_.empty() || (how.at("sequence") != "first" && how.at("sequence") != "last"))
        throw Error("input " + name + ": 'sequence' is first or last, of a unit with a schedule other than plain");
      made.value = [this, first = how.at("sequence") == "first"](std::size_t cycle) {
        return Bits{static_cast<std::uint8_t>(first ? order_[cycle].first : order_[cycle].last)};
      };
    } else {
      throw Error("input " + name + " is " + how.dump() +
                  "; expected an object with operand, scale, constant, every, sequence, codec, random, one_of, fixed "
                  "or format, "
                  "and perhaps delay, hold, width and times");
    }
    return made;
  }

  bool which(const std::string& name, const nlohmann::json& operand) const {
    if (a_.rows == 0) throw Error("input " + name + ": operands and scales are of units with 'mac'");
    if (operand != "a" && operand != "b")
      throw Error("input " + name + ": operand " + operand.dump() + ", expected a or b");
    return operand == "a";
  }

  /// Values of its own, cycle by cycle, of a port that is no operand: random bits, one of some values, fixed-point
  /// numbers, codes of a format; "times" of them side by side.
  std::vector<Bits> drawn(const std::string& name, const nlohmann::json& how) {
    const auto fail = [&](const std::string& why) { return Error("input " + name + " " + why); };
    const auto real = [&](const char* key, double otherwise) -> double {
      if (!how.contains(key)) return otherwise;
      if (!how.at(key).is_number())
        throw fail("has " + std::string(key) + " " + how.at(key).dump() + "; expected a number");
      return how.at(key);
    };
    const bool gauss = options_.stimulus == "gauss";
    if (!gauss && options_.stimulus != "uniform") throw fail("takes the stimuli uniform and gauss");
    Random random(options_.seed + 1 + streams_.size());  // each port its own
    std::function<std::uint64_t()> draw;
    int width = 0;
    if (how.contains("format")) {
      const Format format = find_format(how.at("format").get<std::string>());
      width = desc(format).bits;
      if (how.contains("low") || how.contains("high")) {  // block scales: codes in order, the same under each stimulus
        const std::uint32_t low = encode(format, real("low", 0)), high = encode(format, real("high", 1));
        if (low > high) throw fail("has low above high");
        draw = [&random, low, high] { return low + random.below(high - low + 1); };
      } else if (gauss) {
        draw = [&random, format, by = real("deviation", 1)] { return encode(format, random.normal() * by); };
      } else {
        draw = [&random, format, width] { return uniform_code({{}, format, width}, random); };
      }
      if (how.contains("ordered") && !how.at("ordered").is_boolean())
        throw fail("has ordered " + how.at("ordered").dump() + "; expected true or false");
      if (how.value("ordered", false)) {
        draw = [code = std::move(draw), sign = std::uint64_t{1} << (width - 1)] {
          const std::uint64_t drawn = code();
          return (drawn & sign) != 0 ? ~drawn & (2 * sign - 1) : drawn | sign;
        };
      }
    } else if (how.contains("one_of")) {
      const auto choice = how.at("one_of").get<std::vector<std::uint64_t>>();
      if (choice.empty()) throw fail("has an empty 'one_of'; expected the values to draw from");
      width = static_cast<int>(std::bit_width(*std::max_element(choice.begin(), choice.end())));
      draw = [&random, choice] { return choice[random.below(choice.size())]; };
    } else {
      const double bits = real(how.contains("fixed") ? "fixed" : "random", 0);
      width = bits >= 1 && bits <= 64 ? static_cast<int>(bits) : 0;
      if (width != bits) throw fail("has a width of " + number_text(bits) + "; expected 1 to 64 bits");
      const std::uint64_t set = how.value("set", std::uint64_t{0});
      const double top = std::ldexp(1.0, width - 1) - 1, limit = std::min(real("limit", top), top);
      const double deviation = real("deviation", 0);
      if (how.contains("random")) {
        draw = [&random, set] { return random.bits() | set; };
      } else if (gauss) {
        if (!(deviation > 0)) throw fail("needs 'deviation', in units of its lowest bit, for gauss");
        draw = [&random, deviation, limit] {
          const double value = std::clamp(std::nearbyint(random.normal() * deviation), -limit, limit);
          return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        };
      } else if (limit < top) {
        draw = [&random, limit] {
          const auto magnitude = static_cast<std::size_t>(limit);
          return static_cast<std::uint64_t>(random.below(2 * magnitude + 1)) - magnitude;
        };
      } else {
        draw = [&random] { return random.bits(); };
      }
    }
    std::vector<Bits> values(options_.cycles);
    const double times = real("times", 1);
    if (!(times >= 1) || times != std::floor(times))
      throw fail("has 'times' " + number_text(times) + "; expected 1 or more");
    for (Bits& bits : values)
      for (double i = 0; i < times; ++i) append(bits, draw(), width);
    return values;
  }

  /// Sign and magnitude of a weight of the unsigned split.
  std::function<Bits(std::size_t)> part(const std::string& name, const nlohmann::json& how, bool is_a) const {
    if (is_a || order_.empty() || (how != "magnitude" && how != "negative"))
      throw Error("input " + name + ": 'part' is magnitude or negative, of operand b and a schedule other than plain");
    return [this, magnitude = how == "magnitude"](std::size_t cycle) {
      const std::int32_t weight = weight_of(row(false, cycle), beat(cycle));
      Bits bits;
      if (magnitude)
        append(bits, static_cast<std::uint64_t>(std::abs(weight)), b_.width - 1);
      else
        append(bits, weight < 0, 1);
      return bits;
    };
  }

  std::int32_t weight_of(std::size_t row, std::size_t i) const {
    const int unused = 32 - b_.width;
    return static_cast<std::int32_t>(b_.code(row, i) << unused) >> unused;
  }

  /// The order of the unsigned split. sorted: weights of 0 or more first, then negative ones. Repeated addition: also
  /// sorted, zeros left out, and an element is offered until ng_pann_mac is done with the one before: its |w| cycles.
  void schedule(const MacSpec& mac) {
    if (lanes_ != 1) throw Error("schedules other than plain need 1 lane");
    const bool repeated = mac.structure == Structure::none;
    std::size_t before = 1;
    for (std::size_t output = 0; order_.size() < options_.cycles; ++output) {
      if (output == output_.size()) output_.emplace_back(output_[output - 1]);
      const std::size_t n = output_[output].second;
      std::vector<std::size_t> indices;
      for (std::size_t i = 0; i < beats_; ++i)
        if (!repeated || weight_of(n, i) != 0) indices.push_back(i);
      if (indices.empty()) throw Error("all weights of an output are 0; expected some additions");
      if (mac.schedule == Schedule::sorted)
        std::stable_partition(indices.begin(), indices.end(), [&](std::size_t i) { return weight_of(n, i) >= 0; });
      for (const std::size_t i : indices) {
        const Step step{output, i, i == indices.front(), i == indices.back()};
        order_.insert(order_.end(), before, step);
        if (repeated) before = static_cast<std::size_t>(std::abs(weight_of(n, i)));
        if (repeated && before == 1 && step.first && output > 0) before = 2;  // not ready beside the result before it
      }
    }
  }

  std::size_t output(std::size_t cycle) const { return order_.empty() ? cycle / beats_ : order_[cycle].output; }
  std::size_t beat(std::size_t cycle) const { return order_.empty() ? cycle % beats_ : order_[cycle].beat; }
  std::size_t row(bool is_a, std::size_t cycle) const {
    const auto& [m, n] = output_[output(cycle)];
    return is_a ? m : n;
  }

  Bits codes(bool is_a, std::size_t cycle) const {
    const Codes& from = is_a ? a_ : b_;
    Bits bits;
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      append(bits, from.code(row(is_a, cycle), beat(cycle) * lanes_ + lane), from.width);
    }
    return bits;
  }

  Bits scales(bool is_a, std::size_t cycle) const {
    const Codes& from = is_a ? a_ : b_;
    Bits bits;
    for (std::size_t block = 0; block < std::max<std::size_t>(1, lanes_ / from.block); ++block) {
      append(bits, from.scale(row(is_a, cycle), beat(cycle) * lanes_ / from.block + block), 8);
    }
    return bits;
  }

  const nlohmann::json& unit_;
  const StimulusOptions& options_;
  std::size_t lanes_ = 1, beats_ = 1;
  Codes a_, b_;
  std::vector<std::pair<std::size_t, std::size_t>> output_;  ///< row of a, column of b
  struct Step {
    std::size_t output, beat;
    bool first, last;
  };
  std::vector<Step> order_;  ///< by cycle; empty: plain
  std::vector<Stream> streams_;
};

}  // namespace

std::string make_stimulus(const nlohmann::json& unit, const StimulusOptions& options) {
  const std::string name = unit.value("name", "without a name");
  try {
    return Maker(unit, options).text();
  } catch (const std::exception& error) {
    throw Error("unit " + name + ", stimulus " + options.stimulus + ": " + error.what());
  }
}

}  // namespace narrowgauge::power
