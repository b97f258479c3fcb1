// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "commands.hpp"

namespace narrowgauge::cli {
namespace {

constexpr std::array<Choice<ScaleRule>, 2> rules{{{"exact", ScaleRule::exact}, {"vendor", ScaleRule::vendor}}};
constexpr std::array<Choice<Rounding>, 4> roundings{{{"nearest_even", Rounding::nearest_even},
                                                     {"nearest_away", Rounding::nearest_away},
                                                     {"stochastic", Rounding::stochastic},
                                                     {"toward_zero", Rounding::toward_zero}}};

}  // namespace

void QuantizeFlags::add_to(CLI::App& command) {
  command.add_option("--format", format, "Number format; `narrowgauge formats` explains each")
      ->capture_default_str()
      ->type_name("NAME");
  command
      .add_option("--rule", rule,
                  "Scales: exact (correctly rounded, as the hardware) or vendor (NVFP4's FP32 sequence)")
      ->capture_default_str()
      ->type_name(names_of(rules, "|"));
  command
      .add_option("--dialect", dialect,
                  "Followed bit for bit, instead of --rule: a name, and fields that differ, as in te:bound=256")
      ->type_name("D")
      ->check(named);
  command.add_option("--rounding", rounding, "How elements are rounded")
      ->capture_default_str()
      ->type_name(names_of(roundings, "|"));
  add_number(command, "--random-bits", random_bits, 1, 24,
             "Random bits of a stochastic rounding; bias toward zero below 2^-BITS of a step")
      ->type_name("BITS");
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  add_number<std::uint64_t>(command, "--seed", seed, 0, largest, "Seed of stochastic rounding");
  add_number(command, "--threads", threads, 0U, most_threads, "Threads; 0 is one per core");
}

QuantizeOptions QuantizeFlags::options() const {
  QuantizeOptions options{};
  options.rule = choose("--rule", rule, rules);
  options.rounding = choose("--rounding", rounding, roundings);
  options.random_bits = random_bits;
  options.seed = seed;
  options.threads = threads;
  return options;
}

Dialect QuantizeFlags::dialect_of(const std::string& text, const CLI::App& command) const {
  Dialect d = parse_dialect(text);
  if (command.count("--rule") > 0)
    throw Error("--rule was given beside a dialect, which decides that; expected one of them");
  if (command.count("--format") > 0) {
    const GemmFormat& asked = find_gemm_format(format);
    if (asked.a != asked.b || is_mx(asked.scheme) != is_mx(d.scheme) || !has_block_scales(asked.scheme)) {
      throw Error("--format " + format + " is not one of the dialect " + std::string(d.name) + "; expected none");
    }
    d.scheme = asked.scheme;
    d.element = asked.a;
  }
  if (command.count("--rounding") > 0) d.rounding = options().rounding;
  if (command.count("--random-bits") > 0) d.random_bits = random_bits;
  check(d);
  return d;
}

void QuantizeFlags::add_to(nlohmann::ordered_json& json, const std::optional<Dialect>& followed) const {
  if (followed) {
    nlohmann::ordered_json all{{"name", followed->name}};
    for (const DialectField& field : fields(*followed)) all[std::string(field.name)] = field.value;
    json["dialect"] = all;
    if (followed->rounding == Rounding::stochastic || followed->point == RoundingPoint::scale) json["seed"] = seed;
    return;
  }
  json["rule"] = rule;
  json["rounding"] = rounding;
  if (rounding != "stochastic") return;
  json["random_bits"] = random_bits;
  json["seed"] = seed;
}

std::string QuantizeFlags::text(const std::optional<Dialect>& followed) const {
  if (followed) return "dialect " + dialect + ", " + std::string(followed->origin);
  std::string text = rule + " scales, " + rounding;
  if (rounding == "stochastic")
    text += " with " + std::to_string(random_bits) + " random bits, seed " + std::to_string(seed);
  return text;
}

const GemmFormat& format_of(const Dialect& d) {
  return *std::find_if(gemm_formats.begin(), gemm_formats.end(), [&](const GemmFormat& f) {
    return f.scheme == d.scheme && f.a == d.element && f.b == d.element;
  });
}

std::string dialect_names() {
  std::string names;
  for (const Dialect& d : dialects) names += (names.empty() ? "" : ", ") + std::string(d.name);
  return names;
}

}  // namespace narrowgauge::cli
