// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "engines.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/quant/dialect.hpp"
#include "narrowgauge/quant/swizzle_scales.hpp"
#include "quantize_compare.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

enum class ScaleLayout : std::uint8_t {
  rows,     ///< vectors x blocks
  swizzled  ///< swizzle_scales
};
constexpr std::array<Choice<ScaleLayout>, 2> scale_layouts{
    {{"rows", ScaleLayout::rows}, {"128x4", ScaleLayout::swizzled}}};

struct QuantizeArguments {
  std::string x;
  std::string axis = "rows";
  std::string out_prefix;
  std::string scale_layout = "rows";
  std::string compare;
  std::size_t examples = 10;  ///< of differing elements
  QuantizeFlags quantize;
  bool json = false;
};

/// What the format did to the matrix; counts of elements.
struct Statistics {
  double sqnr = 0;
  std::size_t zeros = 0;      ///< codes of zero
  std::size_t flushed = 0;    ///< of these, those that were not zero before
  std::size_t saturated = 0;  ///< magnitude was beyond what its scales can express
  double bits_per_element = 0;
};

/// `original`: the matrix in q's layout, a vector along the contraction a row.
Statistics statistics(const QuantizedMatrix& q, const std::vector<double>& original) {
  const FormatDesc& element = desc(q.element);
  const std::vector<double> values = dequantize(q);
  const std::size_t block = block_size(q.scheme);
  Statistics result;
  result.sqnr = sqnr_db(original, values);
  for (std::size_t row = 0; row < q.rows; ++row) {
    for (std::size_t i = 0; i < q.k; ++i) {
      const double x = original[row * q.k + i];
      const std::uint8_t code = q.codes[row * q.k_padded + i];
      if (element_value(q.scheme, q.element, code) == 0) {
        ++result.zeros;
        result.flushed += x != 0;
      }
      double largest = (q.scheme != Scheme::int4 ? decode(element, element.max_code())
                        : x < 0                  ? 8
                                                 : 7) *
                       q.tensor_scale;
      if (!q.scales.empty()) {
        largest *= decode(scale_format(q.scheme), q.scales[row * q.blocks() + i / block]);
      }
      result.saturated += std::abs(x) > largest;
    }
  }
  const std::size_t bits =
      q.codes.size() * static_cast<std::size_t>(element.bits) + q.scales.size() * 8 + (is_mx(q.scheme) ? 0 : 32);
  result.bits_per_element = static_cast<double>(bits) / static_cast<double>(original.size());
  return result;
}

/// The values that a front stage leaves, in the layout of the codes.
std::vector<double> after_front(const std::vector<double>& vectors, std::size_t rows, FrontStage stage) {
  std::vector<float> narrow(vectors.size());
  std::transform(vectors.begin(), vectors.end(), narrow.begin(), [](double v) { return static_cast<float>(v); });
  const FrontResult front = front_stage(narrow, rows, vectors.size() / rows, stage);
  return {front.x.begin(), front.x.end()};
}

void write_scales(io::OutputFile& file, const QuantizedMatrix& q, ScaleLayout layout) {
  if (layout == ScaleLayout::rows) return io::write_npy(file, q.scales, {q.rows, q.blocks()});
  const std::vector<std::uint8_t> swizzled = swizzle_scales(q.scales, q.rows, q.blocks());
  io::write_npy(file, swizzled, {swizzled.size()});
}

int run(const QuantizeArguments& arguments, const CLI::App& command) {
  std::optional<Dialect> dialect;
  const ScaleLayout layout = choose("--scale-layout", arguments.scale_layout, scale_layouts);
  if (command.count("--scale-layout") > 0 && arguments.out_prefix.empty()) {
    throw Error("--scale-layout " + arguments.scale_layout +
                " is for the block scales that --out-prefix writes; expected --out-prefix");
  }
  if (!arguments.compare.empty()) {
    if (!arguments.out_prefix.empty()) {
      throw Error("--out-prefix was given with --compare, which writes no codes; expected one of them");
    }
    const std::string first = arguments.quantize.dialect.empty() ? "narrowgauge" : arguments.quantize.dialect;
    const std::array<Dialect, 2> both{arguments.quantize.dialect_of(first, command),
                                      arguments.quantize.dialect_of(arguments.compare, command)};
    const Axis along = choose("--axis", arguments.axis, axes);
    report_difference(io::read_matrix(arguments.x), along, arguments.axis, both,
                      {.seed = arguments.quantize.seed, .threads = arguments.quantize.threads}, arguments.examples,
                      arguments.json);
    return 0;
  }
  if (!arguments.quantize.dialect.empty()) {
    dialect = arguments.quantize.dialect_of(arguments.quantize.dialect, command);
  }
  const GemmFormat& format = dialect ? format_of(*dialect) : find_gemm_format(arguments.quantize.format);
  if (format.a != format.b) {
    const std::string prefix = std::string(desc(format.scheme).name) + "_";
    throw Error("--format " + arguments.quantize.format +
                " names a format for each of two operands, but there is one matrix; expected " + prefix +
                std::string(desc(format.a).name) + " or " + prefix + std::string(desc(format.b).name));
  }
  const Axis axis = choose("--axis", arguments.axis, axes);
  QuantizeOptions options = arguments.quantize.options();
  options.scheme = axis == Axis::rows ? format.a_scheme() : format.b_scheme();
  options.element = format.a;
  const io::Matrix x = io::read_matrix(arguments.x);

  const std::string& prefix = arguments.out_prefix;
  const bool scaled = has_block_scales(format.scheme);
  if (command.count("--scale-layout") > 0 && !scaled) {
    throw Error("--scale-layout " + arguments.scale_layout + " is for block scales, which format " +
                std::string(format.name) + " does not have; expected nvfp4 or a format of MX");
  }
  const std::string codes_path = prefix + ".codes.npy";
  const std::string scales_path = prefix + ".scales.npy";
  const std::string json_path = prefix + ".json";
  io::Outputs outputs;
  outputs.input(arguments.x);
  io::OutputFile *codes_file = nullptr, *scales_file = nullptr, *json_file = nullptr;
  if (!prefix.empty()) {
    outputs.unit("--out-prefix", prefix, {".codes.npy", ".scales.npy", ".json"});
    codes_file = &outputs.add("--out-prefix", codes_path);
    if (scaled) scales_file = &outputs.add("--out-prefix", scales_path);
    json_file = &outputs.add("--out-prefix", json_path);
  }

  const std::vector<float> narrow = io::to_float32(x);
  const Stopwatch time;
  const QuantizedMatrix q =
      dialect ? quantize(narrow, x.rows, x.cols, axis, *dialect, {.seed = options.seed, .threads = options.threads})
              : quantize(narrow, x.rows, x.cols, axis, options);
  const double seconds = time.seconds();

  std::vector<double> original = x.values;
  if (axis == Axis::columns) {
    for (std::size_t row = 0; row < x.rows; ++row) {
      for (std::size_t col = 0; col < x.cols; ++col) original[col * x.rows + row] = x.values[row * x.cols + col];
    }
  }
  if (dialect && dialect->front != FrontStage::none) original = after_front(original, q.rows, dialect->front);
  const Statistics s = statistics(q, original);
  const double elements = static_cast<double>(original.size());

  Json json{{"command", "quantize"},         {"x", matrix_json(x)},
            {"format", format.name},         {"element", element_name(q.scheme, q.element)},
            {"block", block_size(q.scheme)}, {"axis", arguments.axis}};
  arguments.quantize.add_to(json, dialect);
  json.update({{"vectors", q.rows},
               {"k", q.k},
               {"k_padded", q.k_padded},
               {"tensor_scale", q.tensor_scale},
               {"sqnr_db", json_number(s.sqnr)},
               {"zeros", static_cast<double>(s.zeros) / elements},
               {"flushed", static_cast<double>(s.flushed) / elements},
               {"saturated", static_cast<double>(s.saturated) / elements},
               {"bits_per_element", s.bits_per_element},
               {"seconds", seconds},
               {"codes_path", prefix.empty() ? Json() : Json(io::utf8(codes_path))},
               {"scales_path", prefix.empty() || !scaled ? Json() : Json(io::utf8(scales_path))},
               {"scale_layout", prefix.empty() || !scaled ? Json() : Json(arguments.scale_layout)}});
  if (!prefix.empty()) {
    io::write_npy(*codes_file, q.codes, {q.rows, q.k_padded});
    if (scaled) write_scales(*scales_file, q, layout);
    json_file->write(json.dump(2) + "\n");
    for (io::OutputFile* file : {codes_file, scales_file, json_file})
      if (file) file->close();
  }
  if (arguments.json) {
    print_json(json);
    finish_report();
    outputs.commit();
    return 0;
  }

  const auto share = [&](std::size_t count) {
    return number(100 * static_cast<double>(count) / elements) + " % (" + std::to_string(count) + ")";
  };
  std::vector<std::pair<std::string, std::string>> facts{
      {"X", matrix_text(x)},
      {"format", std::string(format.name) + ": " + arguments.quantize.text(dialect)},
      {"layout", counted(q.rows, "vector") + " of " + std::to_string(q.k) + ", the " + arguments.axis +
                     (q.k_padded == q.k ? " of X" : " of X, padded to " + std::to_string(q.k_padded))},
      {"tensor scale", number(q.tensor_scale)},
      {"SQNR", sqnr_text(s.sqnr)},
      {"zeros", share(s.zeros) + ", of which " + share(s.flushed) + " were not zero before"},
      {"saturated", share(s.saturated)},
      {"storage", number(s.bits_per_element) + " bits per element, scales and padding included"},
      {"time", number(seconds) + " s, " + number(seconds > 0 ? elements / seconds : 0) + " elements/s"}};
  if (!prefix.empty()) {
    facts.emplace_back("written", io::shown(codes_path + (scaled ? ", " + scales_path : "") + ", " + json_path));
  }
  print_facts(facts);
  finish_report();
  outputs.commit();
  return 0;
}

}  // namespace

void add_quantize(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<QuantizeArguments>();
  CLI::App& command =
      *app.add_subcommand("quantize", "Quantize one matrix: SQNR, zeros, saturation; codes and scales to files");
  command.add_option("X", arguments->x, "Matrix, .npy")->required()->type_name("")->check(named);
  command.add_option("--axis", arguments->axis, "Blocks lie along rows (as for A of A x B) or columns (as for B)")
      ->capture_default_str()
      ->type_name(names_of(axes, "|"));
  command.add_option("--out-prefix", arguments->out_prefix, "Write P.codes.npy, P.scales.npy and P.json")
      ->type_name("P")
      ->check(named);
  command
      .add_option("--scale-layout", arguments->scale_layout,
                  "With --out-prefix: P.scales.npy is vectors x blocks (rows), or tiled as for cuBLAS (128x4)")
      ->capture_default_str()
      ->type_name(names_of(scale_layouts, "|"));
  command
      .add_option("--compare", arguments->compare,
                  "Say which elements this dialect treats differently from --dialect, how often and why")
      ->type_name("D")
      ->check(named);
  add_number<std::size_t>(command, "--examples", arguments->examples, std::size_t{0}, std::size_t{1000000},
                          "Differing elements that --compare lists");
  arguments->quantize.add_to(command);
  command.add_flag("--json", arguments->json, "Print one JSON document and nothing else on stdout");
  command.footer(
      "X as for `narrowgauge gemm`: any real matrix, converted to float32 first; NaN and infinity are refused.\n"
      "\n"
      "Written with --out-prefix P:\n"
      "  P.codes.npy   uint8, a code a byte, vectors x K (padded with zeros to whole blocks); with --axis columns a "
      "vector is\n"
      "                a column of X\n"
      "  P.scales.npy  uint8, a scale code a byte, vectors x blocks (UE4M3 for nvfp4, E8M0 for MX; none for others)\n"
      "                --scale-layout 128x4: one dimension, tiles of 128 vectors x 4 blocks, padded with zeros\n"
      "  P.json        format, tensor scale and the report\n"
      "value = decode(code) x decode(scale) x tensor scale\n"
      "\n"
      "Reported: SQNR = 10 log10(sum X^2 / sum (Q - X)^2), infinite without error; share of zero codes; share of "
      "elements\n"
      "whose magnitude was beyond what their scales can express (saturated); storage in bits per element of X.\n"
      "\n"
      "Formats: " +
      gemm_format_names() +
      " (not the ones of two elements;\n"
      "luq is INT4, A's, with --axis rows, and FP4 [1,3,0], B's, with --axis columns)\n"
      "Dialects: " +
      dialect_names() +
      "\n"
      "\n"
      "Examples:\n"
      "  narrowgauge quantize X.npy --format nvfp4\n"
      "  narrowgauge quantize X.npy --format mxfp4 --axis columns --out-prefix x_mxfp4\n"
      "  narrowgauge quantize X.npy --format fp8_e5m2 --rounding stochastic --random-bits 16 --seed 1 --json\n"
      "  narrowgauge quantize X.npy --dialect te --compare torchao");
  command.callback([arguments, &command, &exit_code] { exit_code = run(*arguments, command); });
}

}  // namespace narrowgauge::cli
