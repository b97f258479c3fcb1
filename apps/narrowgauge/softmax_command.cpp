// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/softmax/exaq.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

struct SoftmaxArguments {
  std::string scores, mask, v;
  bool causal = false;
  int bits = 2;
  std::optional<double> clip;
  std::string out_prefix;
  bool json = false;
};

/// 1 where a score is attended.
std::vector<std::uint8_t> attended(const SoftmaxArguments& arguments, const io::Matrix& scores) {
  std::vector<std::uint8_t> mask(scores.values.size(), 1);
  if (!arguments.mask.empty()) {
    const io::Matrix given = io::read_matrix(arguments.mask);
    if (given.rows != scores.rows || given.cols != scores.cols) {
      throw Error("the mask " + io::shown(given.path) + " is " + size_text(given.rows, given.cols) +
                  "; expected the scores' shape, " + size_text(scores.rows, scores.cols));
    }
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = given.values[i] != 0;
  }
  if (arguments.causal) {
    if (scores.rows > scores.cols)
      throw Error("--causal with scores of " + size_text(scores.rows, scores.cols) +
                  " is wrong; expected as many columns as rows, or more");
    const std::size_t before = scores.cols - scores.rows;
    for (std::size_t row = 0; row < scores.rows; ++row)
      std::fill(mask.begin() + static_cast<std::ptrdiff_t>(row * scores.cols + before + row + 1),
                mask.begin() + static_cast<std::ptrdiff_t>((row + 1) * scores.cols), std::uint8_t{0});
  }
  return mask;
}

/// Scores as the units take them. What is not attended may be anything.
std::vector<float> to_bf16(const io::Matrix& scores, const std::vector<std::uint8_t>& mask) {
  std::vector<float> rounded;
  rounded.reserve(scores.values.size());
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const double value = mask[i] != 0 ? scores.values[i] : 0.0;
    if (!std::isfinite(value)) {
      throw Error("row " + std::to_string(i / scores.cols) + ", column " + std::to_string(i % scores.cols) + " of " +
                  io::shown(scores.path) + " is " + number(value) +
                  "; expected finite numbers where scores are attended (--mask, --causal)");
    }
    rounded.push_back(static_cast<float>(decode(Format::bf16, encode(Format::bf16, static_cast<float>(value)))));
  }
  return rounded;
}

std::vector<std::int8_t> int8_values(const io::Matrix& v, std::size_t keys) {
  if (v.rows != keys) {
    throw Error("V, " + io::shown(v.path) + ", is " + size_text(v.rows, v.cols) + "; expected a row for each of the " +
                std::to_string(keys) + " columns of the scores");
  }
  std::vector<std::int8_t> values;
  values.reserve(v.values.size());
  for (const double value : v.values) {
    if (!(value >= -128 && value <= 127) || value != std::floor(value)) {
      throw Error("V, " + io::shown(v.path) + ", holds " + number(value) +
                  "; expected INT8, which narrowgauge quantize-affine --signed writes");
    }
    values.push_back(static_cast<std::int8_t>(value));
  }
  return values;
}

/// Probabilities in FP64, 0 where a score is not attended.
std::vector<double> exact_softmax(const io::Matrix& scores, const std::vector<std::uint8_t>& mask) {
  std::vector<double> p(scores.values.size(), 0.0);
  for (std::size_t first = 0; first < p.size(); first += scores.cols) {
    double largest = -HUGE_VAL, sum = 0;
    for (std::size_t i = first; i < first + scores.cols; ++i)
      if (mask[i] != 0) largest = std::max(largest, scores.values[i]);
    for (std::size_t i = first; i < first + scores.cols; ++i)
      if (mask[i] != 0) sum += p[i] = std::exp(scores.values[i] - largest);
    for (std::size_t i = first; sum > 0 && i < first + scores.cols; ++i) p[i] /= sum;
  }
  return p;
}

/// P V of all rows, with the integers of the hardware.
std::vector<float> attention(const std::vector<std::uint8_t>& codes, std::size_t keys, const std::vector<float>& levels,
                             const std::vector<std::int8_t>& v, std::size_t width) {
  const std::vector<std::uint16_t> table = exaq_table(levels);
  std::vector<float> out;
  for (std::size_t first = 0; first < codes.size(); first += keys) {
    const auto row = exaq_attention(std::span(codes).subspan(first, keys), table, v, width);
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

int run(const SoftmaxArguments& arguments) {
  const std::string& prefix = arguments.out_prefix;
  io::Outputs outputs;
  for (const std::string* path : {&arguments.scores, &arguments.mask, &arguments.v})
    if (!path->empty()) outputs.input(*path);
  std::vector<std::string> endings{".codes.npy", ".p.npy", ".json"};
  if (!arguments.v.empty()) endings.emplace_back(".out.npy");
  std::vector<io::OutputFile*> files;
  if (!prefix.empty()) {
    outputs.unit("--out-prefix", prefix, endings);
    for (const std::string& ending : endings) files.push_back(&outputs.add("--out-prefix", prefix + ending));
  }
  const io::Matrix scores = io::read_matrix(arguments.scores);
  const std::vector<std::uint8_t> mask = attended(arguments, scores);
  const std::vector<float> rounded = to_bf16(scores, mask);
  std::optional<std::vector<std::int8_t>> values;
  std::size_t width = 0;
  if (!arguments.v.empty()) {
    const io::Matrix v = io::read_matrix(arguments.v);
    values = int8_values(v, scores.cols);
    width = v.cols;
  }

  const double sigma = exaq_sigma(rounded, mask, scores.cols);
  const double clip = arguments.clip ? *arguments.clip : exaq_clip(sigma, arguments.bits);
  const std::vector<float> thresholds = exaq_thresholds(clip, arguments.bits),
                           levels = exaq_levels(clip, arguments.bits);
  const std::vector<std::uint8_t> codes = exaq_codes(rounded, mask, scores.cols, thresholds);
  const std::vector<float> p = exaq_softmax(codes, scores.cols, levels);

  const std::vector<double> exact = exact_softmax(scores, mask), narrow(p.begin(), p.end());
  double largest = 0;
  for (std::size_t i = 0; i < p.size(); ++i) largest = std::max(largest, std::abs(narrow[i] - exact[i]));
  const std::vector<std::uint32_t> counts = exaq_counts(codes, arguments.bits);
  const double all = counts.front();
  std::vector<double> shares;
  for (std::size_t code = 0; code < counts.size(); ++code)
    shares.push_back(all == 0 ? 0 : (counts[code] - (code + 1 < counts.size() ? counts[code + 1] : 0)) / all);
  std::size_t empty = 0;
  for (std::size_t first = 0; first < mask.size(); first += scores.cols)
    empty += std::count(mask.begin() + static_cast<std::ptrdiff_t>(first),
                        mask.begin() + static_cast<std::ptrdiff_t>(first + scores.cols), 1) == 0;
  const double sqnr = sqnr_db(exact, narrow);

  const Json json{{"command", "softmax"},
                  {"scores", matrix_json(scores)},
                  {"bits", arguments.bits},
                  {"attended", counts.front()},
                  {"rows_without_scores", empty},
                  {"sigma", sigma},
                  {"clip", clip},
                  {"thresholds", thresholds},
                  {"levels", levels},
                  {"shares", shares},
                  {"sqnr_db", json_number(sqnr)},
                  {"largest_error", largest},
                  {"out_prefix", prefix.empty() ? Json() : Json(io::utf8(prefix))}};
  if (!prefix.empty()) {
    const std::vector<std::size_t> shape{scores.rows, scores.cols};
    io::write_npy(*files[0], codes, shape);
    io::write_npy(*files[1], p, shape);
    files[2]->write(json.dump(2) + "\n");
    if (values) io::write_npy(*files[3], attention(codes, scores.cols, levels, *values, width), {scores.rows, width});
    for (io::OutputFile* file : files) file->close();
  }
  if (arguments.json) {
    print_json(json);
  } else {
    std::string used;
    for (const double share : shares) used += (used.empty() ? "" : ", ") + number(std::round(1000 * share) / 10) + " %";
    std::vector<std::pair<std::string, std::string>> facts{
        {"scores", matrix_text(scores)},
        {"attended", std::to_string(counts.front()) + ", " + counted(empty, "row") + " without any"},
        {"sigma", number(sigma)},
        {"C", number(clip) + (arguments.clip ? ", given" : ", by the linear rule")},
        {"codes 0 up", used},
        {"SQNR", sqnr_text(sqnr) + " of the probabilities, beside FP64"},
        {"largest error", number(largest)}};
    if (!prefix.empty()) facts.emplace_back("written", io::shown(prefix + ".*"));
    print_facts(facts);
  }
  finish_report();
  outputs.commit();
  return 0;
}

}  // namespace

void add_softmax(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<SoftmaxArguments>();
  CLI::App& command =
      *app.add_subcommand("softmax", "Softmax of scores of attention in 2, 3 or 4 bits (EXAQ), and its product with V");
  command.add_option("SCORES", arguments->scores, "Matrix, .npy, a row for each query")
      ->required()
      ->type_name("")
      ->check(named);
  add_number(command, "--bits", arguments->bits, 2, 4, "Bits of a score");
  command.add_option("--mask", arguments->mask, "Matrix, .npy, 0 where a score is not attended")
      ->type_name("FILE")
      ->check(named);
  command.add_flag("--causal", arguments->causal, "A query attends its own key and those before: the last row all");
  const auto take_clip = [arguments](const std::string& text) {
    double clip = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), clip);
    if (fault != std::errc() || end != text.data() + text.size() || !(clip <= 0) || !std::isfinite(clip))
      throw Error("--clip \"" + text + "\" is wrong; expected 0, or a number from -1e30 to -1e-30");
    arguments->clip = clip;
  };
  command.add_option_function<std::string>("--clip", take_clip, "The clipping point C, instead of the paper's rule")
      ->type_name("C");
  command.add_option("--v", arguments->v, "With --out-prefix: INT8 matrix, .npy, a row for each key")
      ->type_name("FILE")
      ->check(named)
      ->needs(command.add_option("--out-prefix", arguments->out_prefix, "Write P.codes.npy, P.p.npy and P.json")
                  ->type_name("P")
                  ->check(named));
  command.add_flag("--json", arguments->json, "Print one JSON document and nothing else on stdout");
  command.footer(
      "SCORES as matrices of `narrowgauge gemm`; they are rounded to BF16, as the units take them.\n"
      "C follows from the standard deviation of all attended scores, each less its row's maximum.\n"
      "\n"
      "Written with --out-prefix P:\n"
      "  P.codes.npy  uint8, 255 where a score is not attended\n"
      "  P.p.npy      float32, probabilities, 0 where a score is not attended\n"
      "  P.out.npy    float32, with --v: probabilities times V, from sums of integers, rounded once\n"
      "  P.json       the report\n"
      "\n"
      "Examples:\n"
      "  narrowgauge softmax scores.npy\n"
      "  narrowgauge softmax scores.npy --bits 3 --causal --json\n"
      "  narrowgauge softmax scores.npy --clip -5.4 --v v.npy --out-prefix attention\n"
      "docs/softmax.md says what is computed.");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace narrowgauge::cli
