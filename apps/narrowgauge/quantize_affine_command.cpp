// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/quant/affine.hpp"
#include "narrowgauge/quant/quantize_affine.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

constexpr std::array<Choice<bool>, 2> ties{{{"even", false}, {"away", true}}};
constexpr std::array<Choice<bool>, 2> roundings{{{"nearest", false}, {"stochastic", true}}};

struct AffineArguments {
  std::string x;
  std::string rule = "calibtip_zero";
  std::optional<float> scale;
  int bits = 8;
  int zero_point = 0;
  bool is_signed = false;
  bool power_of_two = false;
  std::string ties = "even";
  std::string rounding = "nearest";
  int random_bits = 8;
  std::uint64_t seed = 0;
  std::string out_prefix;
  bool json = false;
};

/// A line each, with whose it is.
std::string rule_lines() {
  std::string lines;
  for (const AffineRule& rule : affine_rules) {
    std::string line = "  " + std::string(rule.name);
    line.resize(std::max(line.size() + 2, std::size_t{40}), ' ');
    lines += line + std::string(rule.origin) + "\n";
  }
  return lines;
}

/// The quantizer that was asked for: of the scale, or of the matrix's range by the rule.
AffineQuantizer quantizer(const AffineArguments& arguments, const CLI::App& command, const std::vector<float>& x) {
  if (!arguments.scale) {
    for (const char* option : {"--zero-point", "--signed", "--ties"})
      if (command.count(option) > 0) throw Error(std::string(option) + " was given without --scale; expected both");
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    return affine_quantizer(find_affine_rule(arguments.rule), arguments.bits, *low, double{*high} - double{*low});
  }
  if (command.count("--rule") > 0) throw Error("--rule was given beside --scale, which it finds; expected one of them");
  const int limit = 1 << arguments.bits;
  if (arguments.zero_point < -limit || arguments.zero_point >= limit) {
    throw Error("--zero-point " + std::to_string(arguments.zero_point) + " is wrong; expected " +
                std::to_string(-limit) + " to " + std::to_string(limit - 1) + " with --bits " +
                std::to_string(arguments.bits));
  }
  return {.bits = arguments.bits,
          .is_signed = arguments.is_signed,
          .ties_away = choose("--ties", arguments.ties, ties),
          .scale = *arguments.scale,
          .zero_point = static_cast<float>(arguments.zero_point)};
}

/// Codes of ng_quantize_affine under the quantizer, which has a zero point.
std::vector<int> unit_codes(const AffineArguments& arguments, const AffineQuantizer& q, const std::vector<float>& x) {
  const bool stochastic = choose("--rounding", arguments.rounding, roundings);
  const AffineUnit unit{.input = AffineInput::fp32,
                        .bits = q.bits,
                        .power_of_two = arguments.power_of_two,
                        .is_signed = q.is_signed,
                        .ties_away = q.ties_away,
                        .random_bits = stochastic ? arguments.random_bits : 0};
  const AffineInverse inverse = affine_inverse(q.scale, unit);
  PhiloxStream random(arguments.seed, arguments.random_bits);
  std::vector<int> codes;
  codes.reserve(x.size());
  for (const float number : x)
    codes.push_back(quantize_affine(unit, std::bit_cast<std::uint32_t>(number), inverse,
                                    static_cast<int>(q.zero_point.value_or(0)), stochastic,
                                    stochastic ? random.draw() : 0));
  return codes;
}

/// Whether ng_quantize_affine can have the quantizer: it has no offset, and its zero point a limit.
bool has_unit(const AffineQuantizer& q) {
  const auto limit = static_cast<float>(1 << q.bits);
  return q.zero_point ? *q.zero_point >= -limit && *q.zero_point < limit : q.offset == 0;
}

int run(const AffineArguments& arguments, const CLI::App& command) {
  const std::string& prefix = arguments.out_prefix;
  io::Outputs outputs;
  outputs.input(arguments.x);
  io::OutputFile *codes_file = nullptr, *json_file = nullptr;
  const std::string codes_path = prefix + ".codes.npy", json_path = prefix + ".json";
  if (!prefix.empty()) {
    outputs.unit("--out-prefix", prefix, {".codes.npy", ".json"});
    codes_file = &outputs.add("--out-prefix", codes_path);
    json_file = &outputs.add("--out-prefix", json_path);
  }
  const io::Matrix matrix = io::read_matrix(arguments.x);
  const std::vector<float> x = io::to_float32(matrix);
  const AffineQuantizer q = quantizer(arguments, command, x);
  std::vector<int> divided;
  for (const float number : x) divided.push_back(q.quantize(number));
  // The unit's codes where it has the quantizer; the rule's, which has an offset, elsewhere.
  const bool unit = has_unit(q);
  if (!unit && (choose("--rounding", arguments.rounding, roundings) || arguments.power_of_two)) {
    throw Error("--rounding stochastic and --power-of-two are of ng_quantize_affine, which has no offset " +
                number(q.offset) + "; expected --scale, or a rule with a zero point");
  }
  const std::vector<int> codes = unit ? unit_codes(arguments, q, x) : divided;

  std::vector<double> original(x.begin(), x.end()), values;
  std::size_t saturated = 0, differ = 0;
  const double lowest = q.dequantize(q.low()), highest = q.dequantize(q.high());
  for (std::size_t i = 0; i < x.size(); ++i) {
    values.push_back(q.dequantize(codes[i]));
    saturated += x[i] < lowest - double{q.scale} / 2 || x[i] > highest + double{q.scale} / 2;
    differ += codes[i] != divided[i];
  }
  const double sqnr = sqnr_db(original, values), elements = static_cast<double>(x.size());

  Json json{{"command", "quantize-affine"},
            {"x", matrix_json(matrix)},
            {"rule", arguments.scale ? Json() : Json(arguments.rule)},
            {"bits", q.bits},
            {"signed", q.is_signed},
            {"ties", q.ties_away ? "away" : "even"},
            {"scale", q.scale},
            {"offset", q.offset},
            {"zero_point", q.zero_point ? Json(*q.zero_point) : Json()},
            {"unit", unit},
            {"rounding", arguments.rounding}};
  if (arguments.rounding == "stochastic") {
    json["random_bits"] = arguments.random_bits;
    json["seed"] = arguments.seed;
  }
  json.update({{"sqnr_db", json_number(sqnr)},
               {"saturated", static_cast<double>(saturated) / elements},
               {"differ_from_division", differ},
               {"codes_path", prefix.empty() ? Json() : Json(io::utf8(codes_path))}});
  if (!prefix.empty()) {
    const std::vector<std::size_t> shape{matrix.rows, matrix.cols};
    if (q.is_signed)
      io::write_npy(*codes_file, std::vector<std::int8_t>(codes.begin(), codes.end()), shape);
    else
      io::write_npy(*codes_file, std::vector<std::uint8_t>(codes.begin(), codes.end()), shape);
    json_file->write(json.dump(2) + "\n");
    for (io::OutputFile* file : {codes_file, json_file}) file->close();
  }
  if (arguments.json) {
    print_json(json);
  } else {
    const std::string origin = q.zero_point ? "zero point " + number(*q.zero_point) : "offset " + number(q.offset);
    std::vector<std::pair<std::string, std::string>> facts{
        {"X", matrix_text(matrix)},
        {"codes", std::string(q.is_signed ? "signed" : "unsigned") + ", " + std::to_string(q.bits) + " bits, " +
                      std::to_string(q.low()) + " to " + std::to_string(q.high())},
        {"scale", number(q.scale) + ", " + origin},
        {"rounded by", unit ? "ng_quantize_affine, " + arguments.rounding + "; " + std::to_string(differ) +
                                  " codes are not those of a division in float32"
                            : "a division in float32; the unit has no offset"},
        {"SQNR", sqnr_text(sqnr)},
        {"saturated", number(100 * static_cast<double>(saturated) / elements) + " %"}};
    if (!prefix.empty()) facts.emplace_back("written", io::shown(codes_path + ", " + json_path));
    print_facts(facts);
  }
  finish_report();
  outputs.commit();
  return 0;
}

}  // namespace

void add_quantize_affine(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<AffineArguments>();
  CLI::App& command = *app.add_subcommand(
      "quantize-affine", "Quantize one matrix to integers of 2 to 8 bits under a scale and a zero point");
  command.add_option("X", arguments->x, "Matrix, .npy")->required()->type_name("")->check(named);
  add_number(command, "--bits", arguments->bits, 2, 8, "Bits of a code");
  command.add_option("--rule", arguments->rule, "Whose rule finds scale and zero point of the matrix's range")
      ->capture_default_str()
      ->type_name("NAME");
  const auto take_scale = [arguments](const std::string& text) {
    float scale = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), scale);
    if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(scale) || scale <= 0)
      throw Error("--scale \"" + text + "\" is wrong; expected a positive number");
    arguments->scale = scale;
  };
  command.add_option_function<std::string>("--scale", take_scale, "The scale, instead of a rule")->type_name("S");
  add_number(command, "--zero-point", arguments->zero_point, -256, 255, "With --scale: the code of 0");
  command.add_flag("--signed", arguments->is_signed, "With --scale: codes are two's complement");
  command.add_option("--ties", arguments->ties, "With --scale: where ties go")
      ->capture_default_str()
      ->type_name(names_of(ties, "|"));
  command.add_flag("--power-of-two", arguments->power_of_two, "The unit without a multiplier: refuses other scales");
  command.add_option("--rounding", arguments->rounding, "How codes are rounded")
      ->capture_default_str()
      ->type_name(names_of(roundings, "|"));
  add_number(command, "--random-bits", arguments->random_bits, 1, 12, "Random bits of a stochastic rounding")
      ->type_name("BITS");
  add_number<std::uint64_t>(command, "--seed", arguments->seed, std::uint64_t{0}, ~std::uint64_t{0},
                            "Seed of stochastic rounding");
  command.add_option("--out-prefix", arguments->out_prefix, "Write P.codes.npy and P.json")
      ->type_name("P")
      ->check(named);
  command.add_flag("--json", arguments->json, "Print one JSON document and nothing else on stdout");
  command.footer(
      "X as for `narrowgauge gemm`: any real matrix, converted to float32 first; NaN and infinity are refused.\n"
      "\n"
      "Codes are those of ng_quantize_affine: the exact product of x and the inverse of the scale, plus the zero "
      "point,\n"
      "rounded once. Rules without a zero point have an offset instead, and are a division in float32, as in the "
      "papers.\n"
      "The report says how many codes differ from that division.\n"
      "\n"
      "Written with --out-prefix P:\n"
      "  P.codes.npy  uint8, or int8 of signed codes, of the shape of X\n"
      "  P.json       the report\n"
      "value = (code - zero point) x scale, or code x scale + offset\n"
      "\n"
      "Rules:\n" +
      rule_lines() +
      "\n"
      "Examples:\n"
      "  narrowgauge quantize-affine X.npy --bits 4\n"
      "  narrowgauge quantize-affine X.npy --rule cnn_quantization --json\n"
      "  narrowgauge quantize-affine X.npy --scale 0.0625 --zero-point 3 --signed --power-of-two --out-prefix x8");
  command.callback([arguments, &command, &exit_code] { exit_code = run(*arguments, command); });
}

}  // namespace narrowgauge::cli
