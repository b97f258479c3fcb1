// SPDX-License-Identifier: Apache-2.0
// The subcommands. Each add_* declares its options and a callback that does the work and sets the exit code: 0, or 1
// where an engine's result differs from the golden model's or a line of a stream was bad. Bad input leaves as
// narrowgauge::Error (exit code 2).
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "narrowgauge/error.hpp"
#include "narrowgauge/quant/dialect.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace narrowgauge::cli {

inline constexpr unsigned most_threads = 1024;

void add_analyze(CLI::App& app, int& exit_code);
void add_gemm(CLI::App& app, int& exit_code);
void add_engines(CLI::App& app, int& exit_code);
void add_explore(CLI::App& app, int& exit_code);
void add_prune(CLI::App& app, int& exit_code);
void add_compress(CLI::App& app, int& exit_code);
void add_decompress(CLI::App& app, int& exit_code);
void add_codec_report(CLI::App& app, int& exit_code);
void add_simulate_board(CLI::App& app, int& exit_code);
void add_quantize(CLI::App& app, int& exit_code);
void add_quantize_affine(CLI::App& app, int& exit_code);
void add_quantize_blocks(CLI::App& app, int& exit_code);
void add_softmax(CLI::App& app, int& exit_code);
void add_formats(CLI::App& app, int& exit_code);
void add_train(CLI::App& app, int& exit_code);
void add_measure(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_retrieval(CLI::App& app, int& exit_code);
void add_checkpoint(CLI::App& app, int& exit_code);
void add_vectors(CLI::App& app, int& exit_code);
void add_units(CLI::App& app, int& exit_code);
void add_energy(CLI::App& app, int& exit_code);

/// A value of an option that has a few names.
template <class T>
struct Choice {
  std::string_view name;
  T value;
};

template <class T, std::size_t N>
std::string names_of(const std::array<Choice<T>, N>& choices, std::string_view separator) {
  std::string names;
  for (const Choice<T>& choice : choices)
    names += (names.empty() ? "" : std::string(separator)) + std::string(choice.name);
  return names;
}

/// The value of this name, or an Error that lists the names.
template <class T, std::size_t N>
T choose(std::string_view option, std::string_view name, const std::array<Choice<T>, N>& choices) {
  const auto found = std::find_if(choices.begin(), choices.end(), [&](const Choice<T>& c) { return c.name == name; });
  if (found != choices.end()) return found->value;
  throw Error(std::string(option) + " \"" + std::string(name) + "\" is wrong; expected one of " +
              names_of(choices, ", "));
}

/// The values of --axis.
inline constexpr std::array<Choice<Axis>, 2> axes{{{"rows", Axis::rows}, {"columns", Axis::columns}}};

/// An option that is a whole number from `low` to `high`; its value before is the default.
template <class T>
CLI::Option* add_number(CLI::App& command, const std::string& flag, T& value, T low, T high, const std::string& help) {
  const auto take = [&value, flag, low, high](const std::string& text) {
    T number{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc() || end != text.data() + text.size() || number < low || number > high) {
      throw Error(flag + " \"" + text + "\" is wrong; expected a whole number from " + std::to_string(low) + " to " +
                  std::to_string(high));
    }
    value = number;
  };
  return command.add_option_function<std::string>(flag, take, help)->default_str(std::to_string(value))->type_name("N");
}

/// For options and arguments that name files: refuses the empty name.
inline const CLI::Validator named(
    [](const std::string& name) {
      return name.empty() ? std::string("an empty name is no file; name one, or leave it out") : std::string();
    },
    "", "named");

/// The options that say how to quantize, shared by gemm and quantize.
struct QuantizeFlags {
  std::string format = "nvfp4";
  std::string rule = "exact";
  std::string rounding = "nearest_even";
  int random_bits = 8;
  std::uint64_t seed = 0;
  unsigned threads = 0;
  std::string dialect;  ///< empty: none was asked for

  void add_to(CLI::App& command);
  /// Checks the names; the result still lacks scheme and element.
  QuantizeOptions options() const;
  /// The dialect of this text, with what the other flags of the command say.
  Dialect dialect_of(const std::string& text, const CLI::App& command) const;
  /// Rule or dialect, rounding, and random bits and seed where they matter.
  void add_to(nlohmann::ordered_json& json, const std::optional<Dialect>& followed) const;
  /// "exact scales, nearest_even"
  std::string text(const std::optional<Dialect>& followed) const;
};

/// The format whose two operands are what the dialect makes.
const GemmFormat& format_of(const Dialect& d);
std::string dialect_names();

}  // namespace narrowgauge::cli
