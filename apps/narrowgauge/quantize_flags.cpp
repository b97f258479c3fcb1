// SPDX-License-Identifier: Apache-2.0
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

void QuantizeFlags::add_randomness_to(nlohmann::ordered_json& json) const {
  if (rounding != "stochastic") return;
  json["random_bits"] = random_bits;
  json["seed"] = seed;
}

std::string QuantizeFlags::text() const {
  std::string text = rule + " scales, " + rounding;
  if (rounding == "stochastic")
    text += " with " + std::to_string(random_bits) + " random bits, seed " + std::to_string(seed);
  return text;
}

}  // namespace narrowgauge::cli
