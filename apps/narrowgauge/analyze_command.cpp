// SPDX-License-Identifier: Apache-2.0
// narrowgauge analyze: which format a tensor wants (docs/luq.md, Near-lognormal gradients).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "commands.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/luq/lognormal.hpp"
#include "narrowgauge/luq/luq.hpp"
#include "python_program.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

constexpr int most_bars = 40;
constexpr double bar_width = 22;

struct AnalyzeArguments {
  std::string x, axis = "rows", sparsity = "50,75,90,95", plot, python = "python3";
  std::uint64_t seed = 0;
  int random_bits = 8;
  bool json = false;
};

/// What a format leaves of the tensor, and which magnitudes it has for it.
struct Outcome {
  std::string name;
  int bits = 0;                 ///< of the codes of an element: two samples of four bits are 8
  double bits_per_element = 0;  ///< with scales and padding
  double sqnr = 0;
  std::optional<double> cosine = {};
  bool best = false;  ///< no other of as many bits has a higher SQNR
  /// Magnitudes of the codes above zero, and what they are multiplied by: the distinct scales of this tensor. Empty
  /// where the grid is that of the outcome before.
  std::vector<double> grid = {}, scales = {};
};

/// Of vectors a and b; nothing if one of them is zero.
std::optional<double> cosine(std::span<const double> a, std::span<const double> b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  if (aa == 0 || bb == 0) return std::nullopt;
  return ab / (std::sqrt(aa) * std::sqrt(bb));
}

std::vector<double> transposed(const std::vector<double>& x, std::size_t rows, std::size_t cols) {
  std::vector<double> out(x.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) out[col * rows + row] = x[row * cols + col];
  }
  return out;
}

Outcome outcome(const GemmFormat& format, std::span<const float> narrow, const io::Matrix& x, Axis axis) {
  const QuantizedMatrix q = quantize(narrow, x.rows, x.cols, axis, {.scheme = format.scheme, .element = format.a});
  const std::vector<double> values = dequantize(q);
  const std::vector<double> original = axis == Axis::rows ? x.values : transposed(x.values, x.rows, x.cols);
  const FormatDesc& element = desc(q.element);
  const std::size_t bits =
      q.codes.size() * static_cast<std::size_t>(element.bits) + q.scales.size() * 8 + (is_mx(q.scheme) ? 0 : 32);
  Outcome result{.name = std::string(format.name),
                 .bits = element.bits,
                 .bits_per_element = static_cast<double>(bits) / static_cast<double>(original.size()),
                 .sqnr = sqnr_db(original, values),
                 .cosine = cosine(original, values)};
  for (std::uint32_t code = 1; code <= element.max_code(); ++code) result.grid.push_back(decode(element, code));
  if (q.scales.empty()) {
    result.scales.push_back(q.tensor_scale);
  } else {
    for (const std::uint8_t code : std::set<std::uint8_t>(q.scales.begin(), q.scales.end())) {
      const double scale = decode(scale_format(q.scheme), code) * q.tensor_scale;
      if (scale > 0) result.scales.push_back(scale);
    }
  }
  return result;
}

/// LUQ's, of the mean of these samples.
Outcome luq_outcome(std::string name, std::span<const LuqTensor> samples, const io::Matrix& x) {
  const auto count = static_cast<double>(samples.size());
  std::vector<double> values(x.values.size());
  for (const LuqTensor& sample : samples) {
    const std::vector<double> of_sample = luq_dequantize(sample);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += of_sample[i];
  }
  for (double& value : values) value /= count;
  return {.name = std::move(name),
          .bits = 4 * static_cast<int>(samples.size()),
          .bits_per_element = 4 * count + 32 / static_cast<double>(values.size()),
          .sqnr = sqnr_db(x.values, values),
          .cosine = cosine(x.values, values)};
}

std::vector<Outcome> outcomes(std::span<const float> narrow, const io::Matrix& x, Axis axis,
                              const AnalyzeArguments& arguments) {
  ProgressBar bar("formats");
  std::vector<Outcome> all;
  const auto add = [&](Outcome result) {
    all.push_back(std::move(result));
    bar.update(all.size(), 10);
  };
  for (const GemmFormat& format : gemm_formats) {
    if (format.a != format.b || format.scheme == Scheme::luq) continue;
    if (desc(format.a).nan == NanKind::fnuz) continue;  // as E4M3 and E5M2 under another scale
    add(outcome(format, narrow, x, axis));
  }

  const LuqOptions options{.random_bits = arguments.random_bits, .seed = arguments.seed};
  const std::vector<LuqTensor> samples = luq_samples(narrow, 2, options);
  Outcome luq = luq_outcome("luq", std::span(samples).first(1), x);
  for (int level = 0; level < luq_storage_levels; ++level) luq.grid.push_back(std::ldexp(1.0, level));
  luq.scales.push_back(samples[0].alpha);
  add(std::move(luq));
  add(luq_outcome("luq_smp2", samples, x));
  LuqOptions nearest = options;
  nearest.rounding = LuqRounding::nearest_power;
  const LuqTensor powers = luq_quantize(narrow, nearest);
  add(luq_outcome("rdnp", std::span(&powers, 1), x));

  const Int4Tensor q = int4_quantize(narrow);
  const std::vector<double> values = int4_dequantize(q);
  add({.name = "int4_sawb",
       .bits = 4,
       .bits_per_element = 4 + 32 / static_cast<double>(values.size()),
       .sqnr = sqnr_db(x.values, values),
       .cosine = cosine(x.values, values),
       .grid = {1, 2, 3, 4, 5, 6, 7, 8},
       .scales = {q.scale}});

  for (Outcome& one : all)
    one.best = std::none_of(all.begin(), all.end(),
                            [&](const Outcome& other) { return other.bits == one.bits && other.sqnr > one.sqnr; });
  return all;
}

/// Magnitudes from 2^low to below 2^(low + octaves).
struct Bar {
  int low = 0;
  std::size_t count = 0;
  std::vector<int> levels =
      {};  ///< of each outcome with a grid: numbers in this range of the scale that has most there
};

/// Bars of so many octaves from the largest magnitude down to the smallest that is not zero; none for zeros.
std::vector<Bar> histogram(std::span<const float> x, const std::vector<Outcome>& all, int octaves) {
  const auto bar_of = [&](double magnitude) {
    const int exponent = std::ilogb(magnitude);
    return (exponent >= 0 ? exponent : exponent - octaves + 1) / octaves;  // rounded down
  };
  std::map<int, std::size_t> counts;
  for (const float v : x)
    if (v != 0) ++counts[bar_of(std::fabs(double{v}))];
  if (counts.empty()) return {};
  const int last = counts.begin()->first, first = counts.rbegin()->first;
  std::vector<Bar> bars;
  for (int bar = first; bar >= last; --bar) {
    const auto found = counts.find(bar);
    bars.push_back({.low = bar * octaves, .count = found == counts.end() ? 0 : found->second});
  }
  for (const Outcome& format : all) {
    if (format.grid.empty()) continue;
    for (Bar& bar : bars) bar.levels.push_back(0);
    for (const double scale : format.scales) {
      std::map<int, int> levels;
      for (const double value : format.grid) ++levels[bar_of(value * scale)];
      for (const auto& [bar, count] : levels) {
        if (bar > first || bar < last) continue;
        int& most = bars[static_cast<std::size_t>(first - bar)].levels.back();
        most = std::max(most, count);
      }
    }
  }
  return bars;
}

std::vector<std::string> names_of_grids(const std::vector<Outcome>& all) {
  std::vector<std::string> names;
  for (const Outcome& format : all)
    if (!format.grid.empty()) names.push_back(format.name);
  return names;
}

struct Pruned {
  double target = 0;
  std::optional<float> threshold = {};  ///< nothing if it lies beyond FP32
  double expected = 0;                  ///< share of zeros, of this tensor
};

std::vector<Pruned> pruning(const AnalyzeArguments& arguments, std::span<const float> x, const LogStatistics& s) {
  std::vector<Pruned> all;
  for (const std::string& word : CLI::detail::split(arguments.sparsity, ',')) {
    double percent = 0;
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), percent);
    if (fault != std::errc() || end != word.data() + word.size() || !(percent >= 0 && percent < 100)) {
      throw Error("--sparsity \"" + arguments.sparsity + "\": \"" + word +
                  "\" is not a share in percent; expected numbers from 0 to below 100, as in 50,90");
    }
    const auto threshold = static_cast<float>(pruning_threshold(percent / 100, s));
    if (std::isfinite(threshold)) {
      all.push_back({percent / 100, threshold, expected_sparsity(x, threshold, arguments.random_bits)});
    } else {
      all.push_back({.target = percent / 100});
    }
  }
  return all;
}

/// The library's format of these fields, "" if it has none.
std::string known_as(int bits, int exponent) {
  const auto found = std::find_if(format_table.begin(), format_table.end(), [&](const FormatDesc& f) {
    return f.sign == 1 && f.bits == bits && f.exp_bits == exponent && f.man_bits == bits - 1 - exponent;
  });
  return found == format_table.end() ? "" : std::string(found->name);
}

struct Analysis {
  LogStatistics statistics;
  std::vector<Pruned> pruning = {};
  std::vector<Outcome> formats = {};
  double seconds = 0;
  bool zeros_only() const { return statistics.count == statistics.zeros; }
};

Json as_json(const AnalyzeArguments& arguments, const io::Matrix& x, std::span<const float> narrow, const Analysis& a) {
  const LogStatistics& s = a.statistics;
  const auto of_numbers = [&](double value) { return a.zeros_only() ? Json() : json_number(value); };
  Json json{{"command", "analyze"},
            {"x", matrix_json(x)},
            {"axis", arguments.axis},
            {"seed", arguments.seed},
            {"random_bits", arguments.random_bits},
            {"count", s.count},
            {"zeros", s.zeros},
            {"amax", s.amax},
            {"log2_mean", of_numbers(s.mean)},
            {"log2_sigma", of_numbers(s.sigma)},
            {"scale", of_numbers(lognormal_scale(s.mean))},
            {"splits", Json::array()},
            {"pruning", Json::array()},
            {"formats", Json::array()},
            {"octaves", Json::array()},
            {"seconds", a.seconds}};
  for (int bits = 3; bits <= 8 && !a.zeros_only(); ++bits) {
    const int exponent = exponent_bits(bits, s.sigma);
    const std::string name = known_as(bits, exponent);
    json["splits"].push_back({{"bits", bits},
                              {"exponent_bits", exponent},
                              {"mantissa_bits", bits - 1 - exponent},
                              {"format", name.empty() ? Json() : Json(name)}});
  }
  for (const Pruned& p : a.pruning) {
    json["pruning"].push_back({{"target", p.target},
                               {"threshold", p.threshold ? Json(*p.threshold) : Json()},
                               {"expected", p.threshold ? Json(p.expected) : Json()}});
  }
  for (const Outcome& format : a.formats) {
    json["formats"].push_back({{"name", format.name},
                               {"bits", format.bits},
                               {"bits_per_element", format.bits_per_element},
                               {"sqnr_db", json_number(format.sqnr)},
                               {"cosine", format.cosine ? json_number(*format.cosine) : Json()},
                               {"best", format.best}});
  }
  const std::vector<std::string> grids = names_of_grids(a.formats);
  for (const Bar& bar : histogram(narrow, a.formats, 1)) {
    Json levels = Json::object();
    for (std::size_t i = 0; i < grids.size(); ++i) levels[grids[i]] = bar.levels[i];
    json["octaves"].push_back({{"exponent", bar.low}, {"count", bar.count}, {"levels", levels}});
  }
  return json;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * share);
  return text;
}

/// The histogram beside the grids.
void print_octaves(std::span<const float> x, const Analysis& a) {
  std::vector<Bar> bars;
  int octaves = 1;
  for (;; octaves *= 2) {
    bars = histogram(x, a.formats, octaves);
    if (bars.size() <= most_bars) break;
  }
  std::size_t most = 0;
  for (const Bar& bar : bars) most = std::max(most, bar.count);
  std::vector<std::string> headings{"from", "share", "numbers"};
  for (const std::string& name : names_of_grids(a.formats)) {  // as mx_e2m3 and e4m3, which leave the lines short
    const bool mx = name.starts_with("mx");
    const std::size_t element = name.find("_e");
    headings.push_back(element == std::string::npos ? name : (mx ? "mx" : "") + name.substr(element + (mx ? 0 : 1)));
  }
  std::vector<std::vector<std::string>> rows;
  for (const Bar& bar : bars) {
    const double length = bar_width * static_cast<double>(bar.count) / static_cast<double>(most);
    const std::string drawn(static_cast<std::size_t>(std::lround(length)), '#');
    rows.push_back({"2^" + std::to_string(bar.low),
                    percent(static_cast<double>(bar.count) / static_cast<double>(a.statistics.count)),
                    drawn.empty() && bar.count != 0 ? "." : drawn});
    for (const int levels : bar.levels) rows.back().push_back(levels == 0 ? "." : std::to_string(levels));
  }
  std::printf(
      "\nMagnitudes, a row for %s, and how many each format has there under the scales of this tensor;\n"
      "of formats with a scale a block, the block that has most:\n\n",
      octaves == 1 ? "each octave" : ("each " + std::to_string(octaves) + " octaves").c_str());
  print_table(headings, rows);
}

void print_report(const AnalyzeArguments& arguments, const io::Matrix& x, std::span<const float> narrow,
                  const Analysis& a) {
  const LogStatistics& s = a.statistics;
  std::vector<std::pair<std::string, std::string>> facts{
      {"X", matrix_text(x)},
      {"numbers", std::to_string(s.count) + ", of which " + std::to_string(s.zeros) + " are zero (" +
                      percent(static_cast<double>(s.zeros) / static_cast<double>(s.count)) + ")"},
      {"largest", number(s.amax)}};
  if (a.zeros_only()) {
    facts.emplace_back("log2|x|", "none, since every number is zero: any format holds them");
  } else {
    facts.emplace_back("log2|x|", "mean " + number(s.mean) + ", standard deviation " + number(s.sigma));
    facts.emplace_back("scale", number(lognormal_scale(s.mean)) + ", which is 2^-mean");
  }
  facts.emplace_back("time", number(a.seconds) + " s");
  print_facts(facts);

  if (!a.zeros_only()) {
    std::vector<std::vector<std::string>> rows;
    for (int bits = 3; bits <= 8; ++bits) {
      const int exponent = exponent_bits(bits, s.sigma);
      rows.push_back({std::to_string(bits), std::to_string(exponent), std::to_string(bits - 1 - exponent),
                      known_as(bits, exponent)});
    }
    std::puts("\nExponent and mantissa for this standard deviation, beside a sign:\n");
    print_table({"bits", "exponent", "mantissa", "format"}, rows);
  }

  std::vector<std::vector<std::string>> rows;
  for (const Pruned& p : a.pruning) {
    rows.push_back({percent(p.target), p.threshold ? number(*p.threshold) : "beyond FP32",
                    p.threshold ? percent(p.expected) : ""});
  }
  std::puts("\nStochastic pruning, thresholds of a lognormal tensor, and the zeros to expect of this one:\n");
  print_table({"target", "threshold", "expected"}, rows);

  rows.clear();
  for (const Outcome& format : a.formats) {
    rows.push_back({format.name, number(format.bits_per_element), sqnr_text(format.sqnr),
                    format.cosine ? number(*format.cosine) : "none",
                    format.best ? "best of " + std::to_string(format.bits) + " bits" : ""});
  }
  std::puts("\nWhat formats leave of it:\n");
  print_table({"format", "bits per element", "SQNR", "cosine", ""}, rows);
  if (!a.zeros_only()) print_octaves(narrow, a);
  if (!arguments.plot.empty()) std::printf("\nPicture: %s\n", io::shown(arguments.plot).c_str());
}

int run(const AnalyzeArguments& arguments) {
  const Axis axis = choose("--axis", arguments.axis, axes);
  io::Outputs outputs;
  outputs.input(arguments.x);
  io::OutputFile* const plot = arguments.plot.empty() ? nullptr : &outputs.add("--plot", arguments.plot);
  const io::Matrix x = io::read_matrix(arguments.x);
  const std::vector<float> narrow = io::to_float32(x);
  const Stopwatch time;
  Analysis analysis{.statistics = log_statistics(narrow)};
  if (plot && analysis.zeros_only()) {
    throw Error(arguments.x + " holds zeros only, whose magnitudes have no histogram; expected no --plot");
  }
  analysis.pruning = pruning(arguments, narrow, analysis.statistics);
  analysis.formats = outcomes(narrow, x, axis, arguments);
  analysis.seconds = time.seconds();
  if (plot || arguments.json) {
    const Json json = as_json(arguments, x, narrow, analysis);
    if (plot) run_python(arguments.python, "narrowgauge.plot", {"-o", plot->hand_over()}, json.dump(), nullptr);
    if (arguments.json) print_json(json);
  }
  if (!arguments.json) print_report(arguments, x, narrow, analysis);
  finish_report();
  outputs.commit();
  return 0;
}

}  // namespace

void add_analyze(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<AnalyzeArguments>();
  CLI::App& command = *app.add_subcommand("analyze", "Which format a tensor wants: range, errors, pruning thresholds");
  command.add_option("X", arguments->x, "Matrix, .npy")->required()->type_name("")->check(named);
  command.add_option("--sparsity", arguments->sparsity, "Targets of stochastic pruning, in percent")
      ->capture_default_str()
      ->type_name("P,...");
  command.add_option("--axis", arguments->axis, "Blocks lie along rows (as for A of A x B) or columns (as for B)")
      ->capture_default_str()
      ->type_name(names_of(axes, "|"));
  add_number<std::uint64_t>(command, "--seed", arguments->seed, std::uint64_t{0}, ~std::uint64_t{0},
                            "Of the random words of LUQ");
  add_number<int>(command, "--random-bits", arguments->random_bits, 1, 24, "Of a random word of LUQ and of pruning");
  command.add_flag("--json", arguments->json, "Print one JSON document and nothing else on stdout");
  command.add_option("--plot", arguments->plot, "Write a picture of histogram and grids (with the Python package)")
      ->type_name("FILE")
      ->check(named);
  command.add_option("--python", arguments->python, "Python that has the narrowgauge package")->capture_default_str();
  command.footer(
      "X as for `narrowgauge gemm`: any real matrix, converted to float32 first; NaN and infinity are refused.\n"
      "\n"
      "Magnitudes of gradients are nearly lognormal, so the mean and standard deviation of log2|x| say what they "
      "need:\n"
      "  scale      2^-mean, by which the tensor is multiplied before it is converted\n"
      "  exponent   bits by the thresholds of arXiv 2006.08173, for formats of 3 to 8 bits; what is left is mantissa\n"
      "  pruning    makes |x| below a threshold the threshold with probability |x| / threshold, else 0; expected is\n"
      "             what it makes of this tensor, which differs from the target where X is not lognormal\n"
      "\n"
      "Formats, as they quantize this tensor (to nearest even where nothing else is said):\n"
      "  nvfp4, mx*, fp8_*   as `narrowgauge quantize` does; FP8 of the MI300 is as OCP's\n"
      "  luq         FP4 [1,3,0], rounded stochastically: unbiased, which gradients need and SQNR does not show\n"
      "  luq_smp2    the mean of two such samples, 8 bits in all\n"
      "  rdnp        FP4 [1,3,0], rounded to the nearest power of two\n"
      "  int4_sawb   -8 to 7, clipped by SAWB\n"
      "Best has the highest SQNR among those of as many bits; SQNR as for quantize, cosine = sum XQ / sqrt(sum X^2 sum "
      "Q^2).\n"
      "Last come the magnitudes by octaves, and how many numbers each format has in an octave; a dot is none: there X\n"
      "becomes zero or is clipped.\n"
      "\n"
      "Examples:\n"
      "  narrowgauge analyze gradient.npy\n"
      "  narrowgauge analyze gradient.npy --sparsity 80,85,90 --seed 1 --json\n"
      "  narrowgauge analyze W.npy --axis columns --plot weights.png");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace narrowgauge::cli
