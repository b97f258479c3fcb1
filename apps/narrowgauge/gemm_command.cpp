// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "commands.hpp"
#include "compare.hpp"
#include "engines.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/mac/accumulate.hpp"
#include "narrowgauge/sparse/prune.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

using io::Matrix;

struct GemmArguments {
  std::string a;
  std::string b;
  EngineFlags engine;
  std::string out;
  std::string out_prefix;                 ///< of the files of a requantized C
  std::optional<std::string> requantize;  ///< the tensor scale of C, where it is asked for requantized
  std::string result_format;              ///< of C then; empty: A's, or nvfp4
  std::string sparse;                     ///< pattern of A; empty: dense
  bool relu = false;                      ///< before C is requantized
  float int8 = 0;                         ///< the scale of a C in INT8; 0: it is none
  int zero_point = 0;                     ///< of a C in INT8
  Compressed compressed;
  std::string accumulate = "exact";
  QuantizeFlags quantize;
  bool no_sqnr = false;
  bool json = false;
};

/// What C becomes, and under which factor.
struct Results {
  ResultFormat format;
  float tensor_scale;
};

/// Of a requantized C: a format, that of A if none is named and results can have it, and a float32 that it takes.
std::optional<Results> results_of(const GemmArguments& arguments, const GemmFormat& product) {
  if (!arguments.requantize) return std::nullopt;
  ResultFormat format = ResultFormat::nvfp4;
  for (const ResultFormatDesc& d : result_formats)
    if (d.scheme == product.a_scheme() && d.element == product.a) format = d.format;
  if (!arguments.result_format.empty()) format = find_result_format(arguments.result_format).format;
  const std::string& text = *arguments.requantize;
  float value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc() && end == text.data() + text.size() && is_result_scale(format, value))
    return Results{format, value};
  const bool fp8 = desc(format).scheme == Scheme::fp8;
  throw Error("--requantize \"" + text + "\" is no tensor scale of results in " + std::string(desc(format).name) +
              "; expected " + result_scales_text(format) + "; " + (fp8 ? "the next one from " : "") +
              "the largest magnitude of an earlier C, over " + number(desc(format).largest) + (fp8 ? ", on" : ""));
}

/// What was multiplied, and what came of it.
struct Work {
  GemmFormat format;
  std::optional<Dialect> dialect;  ///< followed in place of a rule
  Matrix a, b;
  std::optional<NmPattern> sparse = {};  ///< of A
  double pruning_error = 0;              ///< of A, of its energy
  EngineResult result;
  std::optional<Results> requantized = {};  ///< what C becomes
  std::optional<QuantizedMatrix> narrow;    ///< C then, in place of result.c
  float amax = 0;                           ///< the largest magnitude of C before, in BF16
  std::optional<AffineRange> range = {};    ///< of a C in INT8 ...
  std::vector<std::int8_t> integers = {};   ///< ... which this is; result.c is what the codes mean
  std::optional<Difference> difference;     ///< from the golden model, of other engines
  std::optional<double> sqnr_db;
  Accumulation accumulate = Accumulation::exact;
  std::optional<Difference> from_exact = {};  ///< of another accumulation
  double quantize_seconds = 0, engine_seconds = 0;

  std::size_t results() const { return a.rows * b.cols; }
  bool agrees() const { return !difference || difference->count == 0 || result.ended_early(); }
  double macs_per_second() const {
    return engine_seconds > 0 ? static_cast<double>(result.products) / engine_seconds : 0;
  }
};

void check_shapes(const Matrix& a, const Matrix& b) {
  if (a.cols == b.rows) return;
  throw Error(io::shown(a.path) + " is " + size_text(a.rows, a.cols) + " and " + io::shown(b.path) + " is " +
              size_text(b.rows, b.cols) + "; expected as many columns of the first (" + std::to_string(a.cols) +
              ") as rows of the second (" + std::to_string(b.rows) + ")");
}

/// The matrix pruned along its rows, which the last block of the pattern pads with zeros as products do.
std::vector<float> pruned_rows(std::span<const float> x, std::size_t rows, std::size_t cols, const NmPattern& pattern) {
  const auto side = static_cast<std::size_t>(pattern.side());
  const std::size_t padded = (cols + side - 1) / side * side;
  std::vector<float> wide(rows * padded), out(x.size());
  for (std::size_t row = 0; row < rows; ++row) std::copy_n(x.data() + row * cols, cols, wide.data() + row * padded);
  const std::vector<float> pruned = prune(wide, rows, padded, pattern).values;
  for (std::size_t row = 0; row < rows; ++row) std::copy_n(pruned.data() + row * padded, cols, out.data() + row * cols);
  return out;
}

/// A, or B with its own random words: else elements of the two at the same place would be rounded by the same one.
QuantizedMatrix quantize_operand(Work& work, bool right, QuantizeOptions options) {
  const Matrix& matrix = right ? work.b : work.a;
  const Axis axis = right ? Axis::columns : Axis::rows;
  std::vector<float> values = io::to_float32(matrix);
  options.seed += right;
  options.wide_blocks = work.sparse && work.format.scheme == Scheme::nvfp4;
  if (work.sparse && !right) {
    std::vector<float> pruned = pruned_rows(values, matrix.rows, matrix.cols, *work.sparse);
    work.pruning_error = relative_error(values, pruned);
    values = std::move(pruned);
  }
  if (work.dialect) {
    return quantize(values, matrix.rows, matrix.cols, axis, *work.dialect,
                    {.seed = options.seed, .threads = options.threads});
  }
  options.scheme = right ? work.format.b_scheme() : work.format.a_scheme();
  options.element = right ? work.format.b : work.format.a;
  return quantize(values, matrix.rows, matrix.cols, axis, options);
}

/// The pattern of --sparse, if it was given and such a product can be had.
std::optional<NmPattern> sparse_of(const GemmArguments& arguments) {
  if (arguments.sparse.empty()) return std::nullopt;
  if (arguments.sparse != "2:4" && arguments.sparse != "1:2" && arguments.sparse != "4:8pair") {
    throw Error("--sparse \"" + arguments.sparse + "\" is wrong; expected 2:4, 1:2 or 4:8pair");
  }
  if (!arguments.quantize.dialect.empty() || arguments.quantize.rule != "exact" || arguments.requantize ||
      is_mx(find_gemm_format(arguments.quantize.format).scheme)) {
    throw Error(
        "--sparse is for nvfp4, fp8 and luq by the exact rule with results in float32; expected such a --format, and "
        "no --rule, --dialect or --requantize");
  }
  return NmPattern::of(arguments.sparse);
}

/// What results become, and what is compressed, goes with the rest.
void check_options(const GemmArguments& arguments) {
  if (arguments.int8 != 0 && (!arguments.sparse.empty() || arguments.requantize || arguments.compressed.any() ||
                              arguments.engine.deadline != 0)) {
    throw Error("--int8 is for dense products; expected no --sparse, --requantize, --compress-* or --deadline");
  }
  if (arguments.int8 == 0 && arguments.zero_point != 0)
    throw Error("--zero-point is for results in INT8, which --int8 asks for; expected that, too");
  if (arguments.compressed.any() && !arguments.sparse.empty())
    throw Error("--compress-a, --compress-b and --compress-c are for dense products; expected no --sparse");
  if ((arguments.compressed.c || arguments.relu || !arguments.result_format.empty()) && !arguments.requantize) {
    throw Error(
        "--compress-c, --relu and --requantize-format are for requantized results, which --requantize asks for; "
        "expected that, too");
  }
}

/// Another accumulation is that of dense products in float32.
Accumulation accumulation_of(const GemmArguments& arguments) {
  const Accumulation mode = find_accumulation(arguments.accumulate).mode;
  if (mode != Accumulation::exact &&
      (!arguments.sparse.empty() || arguments.requantize || arguments.int8 != 0 || arguments.compressed.any())) {
    throw Error("--accumulate " + arguments.accumulate +
                " is for dense products in float32; expected no --sparse, --requantize, --int8 or --compress-*");
  }
  return mode;
}

/// The dialect that was asked for, if one was and a product can be had of it.
std::optional<Dialect> dialect_of(const QuantizeFlags& flags, const CLI::App& command) {
  if (flags.dialect.empty()) return std::nullopt;
  Dialect d = flags.dialect_of(flags.dialect, command);
  if (d.front == FrontStage::mean) {
    throw Error("--dialect " + flags.dialect +
                " subtracts means, and what they add to the product is not computed here; expected front=none, or "
                "`narrowgauge quantize` for the operands");
  }
  return d;
}

double sqnr_of(const Work& work, bool relu, unsigned threads) {
  ProgressBar bar("float64 product for the SQNR");
  std::vector<double> reference =
      product_float64(work.a.values, work.b.values, work.a.rows, work.a.cols, work.b.cols, threads,
                      [&](std::uint64_t done, std::uint64_t total) { bar.update(done, total); });
  if (relu)
    for (double& x : reference) x = std::max(x, 0.0);
  return sqnr_db(reference, work.narrow ? dequantize(*work.narrow)
                                        : std::vector<double>(work.result.c.begin(), work.result.c.end()));
}

/// Another accumulation, by the golden model or compared with it, and how many results differ from exact sums.
void run_mode(Work& work, Engine& engine, const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads) {
  const bool compared = engine.name() != "model";
  const Stopwatch time;
  {
    ProgressBar bar("gemm, another accumulation");
    const Progress told = [&](std::uint64_t done, std::uint64_t total) { bar.update(done, total); };
    if (compared) {
      work.result = engine.gemm(a, b, told);
    } else {
      work.result.c = gemm(a, b, work.accumulate, threads, told);
      work.result.products = std::uint64_t{a.rows} * b.rows * a.k;
    }
  }
  work.engine_seconds = time.seconds();
  if (compared) work.difference = compare(work.result.c, gemm(a, b, work.accumulate, threads));
  work.from_exact = compare(work.result.c, gemm(a, b, Accumulation::exact, threads));
}

/// The numbers that INT8 codes mean.
std::vector<float> meant(const std::vector<std::int8_t>& codes, const AffineRange& range) {
  std::vector<float> numbers;
  numbers.reserve(codes.size());
  for (const std::int8_t code : codes) numbers.push_back(static_cast<float>(code - range.zero_point) * range.scale);
  return numbers;
}

/// C in float32, in INT8, or requantized; compared with the golden model's.
void run_engine(Work& work, Engine& engine, const QuantizedMatrix& a, const QuantizedMatrix& b,
                const RequantizeOptions& options, unsigned threads) {
  const bool compared = engine.name() != "model";
  const Stopwatch time;
  {
    ProgressBar bar("gemm on " + std::string(engine.name()));
    const Progress told = [&](std::uint64_t done, std::uint64_t total) { bar.update(done, total); };
    if (work.requantized) {
      RequantizedResult got = engine.gemm_requantized(a, b, work.requantized->tensor_scale, options, told);
      work.result = std::move(got.run);
      work.narrow = std::move(got.c);
      work.amax = std::bit_cast<float>(got.amax);
    } else if (work.range) {
      IntegerResult got = engine.gemm_integers(a, b, *work.range, told);
      work.result = std::move(got.run);
      work.integers = std::move(got.c);
      work.result.c = meant(work.integers, *work.range);
    } else {
      work.result = work.sparse                ? engine.gemm_sparse(a, b, *work.sparse, told)
                    : options.compressed.any() ? engine.gemm_compressed(a, b, options.compressed, told)
                                               : engine.gemm(a, b, told);
    }
  }
  work.engine_seconds = time.seconds();
  if (!compared) return;
  const auto golden = make_model_engine(threads);
  work.difference =
      work.requantized
          ? compare(*work.narrow, golden->gemm_requantized(a, b, work.requantized->tensor_scale, options).c)
      : work.range  ? compare(work.result.c, meant(golden->gemm_integers(a, b, *work.range).c, *work.range))
      : work.sparse ? compare(work.result.c, golden->gemm_sparse(a, b, *work.sparse).c)
                    : compare(work.result.c, golden->gemm(a, b).c);
}

Work multiply(const GemmArguments& arguments, const CLI::App& command, Engine& engine, Accumulation accumulate) {
  const unsigned threads = arguments.quantize.threads;
  const QuantizeOptions options = arguments.quantize.options();
  const std::optional<NmPattern> sparse = sparse_of(arguments);
  check_options(arguments);
  const std::optional<Dialect> dialect = dialect_of(arguments.quantize, command);
  Work work{.format = dialect ? format_of(*dialect) : find_gemm_format(arguments.quantize.format),
            .dialect = dialect,
            .a = io::read_matrix(arguments.a),
            .b = io::read_matrix(arguments.b),
            .sparse = sparse,
            .result = {},
            .narrow = {},
            .difference = {},
            .sqnr_db = {},
            .accumulate = accumulate};
  const GemmFormat& format = work.format;
  work.requantized = results_of(arguments, format);
  if (arguments.int8 != 0) work.range = {.scale = arguments.int8, .zero_point = arguments.zero_point};
  check_shapes(work.a, work.b);
  if (sparse) {
    engine.check_sparse(format.scheme, format.a, format.b, work.a.cols);
  } else if (arguments.compressed.a || arguments.compressed.b) {
    engine.check_compressed(format.scheme, format.a, format.b, work.a.cols);
  } else {
    engine.check(format.scheme, format.a, format.b, work.a.cols);
  }

  const Stopwatch quantize_time;
  const QuantizedMatrix qa = quantize_operand(work, false, options);
  const QuantizedMatrix qb = quantize_operand(work, true, options);
  work.quantize_seconds = quantize_time.seconds();

  const ResultFormat results = work.requantized ? work.requantized->format : ResultFormat::nvfp4;
  if (work.accumulate == Accumulation::exact) {
    run_engine(work, engine, qa, qb, {.format = results, .relu = arguments.relu, .compressed = arguments.compressed},
               threads);
  } else {
    run_mode(work, engine, qa, qb, threads);
  }
  if (!arguments.no_sqnr) work.sqnr_db = sqnr_of(work, arguments.relu, threads);
  return work;
}

// ---- the report as JSON

Json agreement_json(const Work& work) {
  if (!work.difference) return nullptr;
  const Difference& d = *work.difference;
  Json json{{"with", "model"},
            {"bit_exact", d.count == 0},
            {"results", work.results()},
            {"different", d.count},
            {"first", nullptr}};
  if (d.count) {
    json["first"] = {{"row", d.index / work.b.cols},
                     {"column", d.index % work.b.cols},
                     {"engine", hex(d.got, 8)},
                     {"model", hex(d.expected, 8)}};
  }
  return json;
}

Json link_json(const EngineResult& result) {
  if (!result.link) return nullptr;
  const LinkActivity& n = *result.link;
  return {{"seconds", n.seconds}, {"sent_bytes", n.sent_bytes}, {"received_bytes", n.received_bytes},
          {"frames", n.frames},   {"repeated", n.repeated},     {"damaged", n.damaged}};
}

Json deadline_json(const EngineResult& result) {
  if (!result.deadline) return nullptr;
  const DeadlineProgress& n = *result.deadline;
  return {{"late", n.late}, {"beats", n.beats}, {"whole", n.whole}};
}

Json activity_json(const EngineResult& result) {
  if (!result.activity) return nullptr;
  const TileActivity& n = *result.activity;
  return {{"cycles", n.cycles},       {"busy", n.busy},         {"stall_in", n.stall_in},
          {"stall_out", n.stall_out}, {"products", n.products}, {"zero_a", n.zero_a},
          {"zero_b", n.zero_b},       {"flips_a", n.flips_a},   {"flips_b", n.flips_b}};
}

std::string codes_path(const GemmArguments& arguments) { return arguments.out_prefix + ".codes.npy"; }
std::string scales_path(const GemmArguments& arguments) { return arguments.out_prefix + ".scales.npy"; }

Json requantized_json(const GemmArguments& arguments, const Work& work) {
  if (!work.narrow) return nullptr;
  const auto path = [&](const std::string& name) {
    return arguments.out_prefix.empty() ? Json() : Json(io::utf8(name));
  };
  return {{"format", desc(work.requantized->format).name},
          {"tensor_scale", work.narrow->tensor_scale},
          {"relu", arguments.relu},
          {"amax", json_number(work.amax)},
          {"k_padded", work.narrow->k_padded},
          {"codes_path", path(codes_path(arguments))},
          {"scales_path", work.narrow->scales.empty() ? Json() : path(scales_path(arguments))}};
}

Json int8_json(const Work& work) {
  if (!work.range) return nullptr;
  return {{"scale", work.range->scale}, {"zero_point", work.range->zero_point}};
}

Json report_json(const GemmArguments& arguments, const Work& work) {
  const EngineResult& result = work.result;
  const auto if_clocked = [&](Json value) { return result.cycles ? value : Json(); };
  const auto if_tile = [&](Json value) { return result.tile.empty() ? Json() : value; };
  const auto if_sent = [&](Json value) { return result.operand_bytes == 0 ? Json() : value; };
  const auto computing = result.utilization_computing();
  Json json{{"command", "gemm"},
            {"a", matrix_json(work.a)},
            {"b", matrix_json(work.b)},
            {"c",
             {{"path", arguments.out.empty() ? Json() : Json(io::utf8(arguments.out))},
              {"rows", work.a.rows},
              {"columns", work.b.cols}}},
            {"requantized", requantized_json(arguments, work)},
            {"int8", int8_json(work)},
            {"format", work.format.name},
            {"sparse", work.sparse ? Json(work.sparse->name()) : Json()},
            {"pruning_error", work.sparse ? Json(work.pruning_error) : Json()},
            {"engine", arguments.engine.engine},
            {"accumulate", arguments.accumulate},
            {"different_from_exact", work.from_exact ? Json(work.from_exact->count) : Json()},
            {"tile", if_tile(result.tile)},
            {"agreement", agreement_json(work)},
            {"cycles", if_clocked(result.cycles)},
            {"operand_bytes", if_sent(result.operand_bytes)},
            {"result_bytes", if_sent(result.result_bytes)},
            {"products", result.products},
            {"products_possible", if_clocked(result.products_possible)},
            {"utilization", if_clocked(result.utilization())},
            {"utilization_computing", computing ? Json(*computing) : Json()},
            {"activity", activity_json(result)},
            {"link", link_json(result)},
            {"deadline", deadline_json(result)},
            {"sqnr_db", work.sqnr_db ? json_number(*work.sqnr_db) : Json()},
            {"quantize_seconds", work.quantize_seconds},
            {"engine_seconds", work.engine_seconds},
            {"macs_per_second", work.macs_per_second()}};
  arguments.quantize.add_to(json, work.dialect);
  return json;
}

// ---- the report as text

std::string agreement_text(const Work& work) {
  if (!work.difference) return "this is the golden model; --engine rtl compares with it";
  const Difference& d = *work.difference;
  const std::string results = counted(work.results(), "result");
  if (work.result.ended_early() && d.count != 0) {
    return "sums ended at the deadline: " + std::to_string(d.count) + " of " + results +
           " are not the golden model's, which are whole";
  }
  if (d.count == 0) return "bit-exact: all " + results + " equal the golden model's";
  return "DIFFERENT from the golden model in " + std::to_string(d.count) + " of " + results + "; first in row " +
         std::to_string(d.index / work.b.cols) + ", column " + std::to_string(d.index % work.b.cols) + ": " +
         hex(d.got, 8) + ", the model has " + hex(d.expected, 8);
}

std::string utilization_text(const EngineResult& result) {
  const auto computing = result.utilization_computing();
  return number(100 * result.utilization()) + " % (" + std::to_string(result.products) + " products done, " +
         std::to_string(result.products_possible) + " possible)" +
         (computing ? "; " + number(100 * *computing) + " % while computing" : "");
}

std::string link_text(const LinkActivity& n) {
  return counted(n.sent_bytes, "byte") + " to the board, " + counted(n.received_bytes, "byte") + " from it, in " +
         number(n.seconds) + " s; " + counted(n.frames, "frame") +
         (n.repeated || n.damaged
              ? ", " + std::to_string(n.repeated) + " sent again, " + std::to_string(n.damaged) + " answers damaged"
              : "");
}

std::string result_text(const GemmArguments& arguments, const Work& work) {
  const std::string size = size_text(work.a.rows, work.b.cols);
  const std::string& written = work.narrow ? arguments.out_prefix : arguments.out;
  return size +
         (work.narrow ? " " + std::string(desc(work.requantized->format).name) + " under the tensor scale " +
                            number(work.narrow->tensor_scale) + (arguments.relu ? ", negative ones zero" : "")
          : work.range ? " INT8, a code's number is (code - " + std::to_string(work.range->zero_point) + ") x " +
                             number(work.range->scale)
                       : " float32") +
         (written.empty() ? "" : "  (" + io::shown(work.narrow ? written + ".*" : written) + ")");
}

void print_report(const GemmArguments& arguments, const Work& work) {
  const EngineResult& result = work.result;
  std::vector<std::pair<std::string, std::string>> facts{
      {"A", matrix_text(work.a)},
      {"B", matrix_text(work.b)},
      {"C = A x B", result_text(arguments, work)},
      {"format", std::string(work.format.name) + ": " + arguments.quantize.text(work.dialect)},
      {"engine",
       arguments.engine.engine + (result.tile.empty() ? "" : (work.from_exact ? ", unit " : ", tile ") + result.tile)},
      {"agreement", agreement_text(work)}};
  if (work.from_exact) {
    facts.emplace_back("accumulation", arguments.accumulate + ": " + std::to_string(work.from_exact->count) + " of " +
                                           counted(work.results(), "result") + " differ from exact sums");
  }
  if (work.sparse) {
    facts.emplace_back("sparse", "A " + work.sparse->name() + ", pruned of " + number(100 * work.pruning_error) +
                                     " % of its energy, which the SQNR counts");
  }
  if (work.narrow) {
    facts.emplace_back("largest of C", number(work.amax) + ", for which the tensor scale " +
                                           number(result_scale(work.requantized->format, work.amax)) +
                                           " leaves nothing clipped");
  }
  if (result.cycles) facts.emplace_back("cycles", std::to_string(result.cycles));
  if (result.deadline) {
    facts.emplace_back("deadline", std::string(result.deadline->late ? "came" : "did not come") +
                                       " before the end: " + std::to_string(result.deadline->beats) + " of " +
                                       counted(result.deadline->whole, "beat") + " taken");
  }
  if (result.operand_bytes) {
    facts.emplace_back("operands", counted(result.operand_bytes, "byte") + " sent to the tile");
    facts.emplace_back("results", counted(result.result_bytes, "byte") + " sent by it");
  }
  if (result.cycles) facts.emplace_back("utilization", utilization_text(result));
  if (result.link) facts.emplace_back("line", link_text(*result.link));
  facts.emplace_back("SQNR", work.sqnr_db
                                 ? sqnr_text(*work.sqnr_db) + " against the float64 product of the arrays as given" +
                                       (arguments.relu ? ", negative ones zero" : "")
                                 : "not asked for (--no-sqnr)");
  facts.emplace_back("time", number(work.engine_seconds) + " s for " + std::to_string(result.products) +
                                 " multiply-accumulates, " + number(work.macs_per_second()) +
                                 " MAC/s (quantizing: " + number(work.quantize_seconds) + " s)");
  if (!arguments.engine.trace.empty()) facts.emplace_back("waveform", io::shown(arguments.engine.trace));
  print_facts(facts);
}

/// --out is for results in float32, --out-prefix for requantized ones.
void check_outputs(const GemmArguments& arguments) {
  if (arguments.requantize && !arguments.out.empty()) {
    throw Error("--out " + io::shown(arguments.out) +
                " is for results in float32, but --requantize makes codes and scales; expected --out-prefix");
  }
  if (!arguments.requantize && !arguments.out_prefix.empty()) {
    throw Error("--out-prefix " + io::shown(arguments.out_prefix) +
                " is for requantized results, which --requantize asks for; expected that, or --out for float32");
  }
}

/// C comes with block scales.
bool has_scales(const GemmArguments& arguments, const CLI::App& command) {
  const std::optional<Dialect> dialect = dialect_of(arguments.quantize, command);
  const GemmFormat product = dialect ? format_of(*dialect) : find_gemm_format(arguments.quantize.format);
  const std::optional<Results> results = results_of(arguments, product);
  return results && results->format == ResultFormat::nvfp4;
}

int run(const GemmArguments& arguments, const CLI::App& command) {
  check_outputs(arguments);
  EngineFlags flags = arguments.engine;
  flags.accumulate = accumulation_of(arguments);
  const std::unique_ptr<Engine> engine = make_engine(flags, arguments.quantize.threads);
  io::Outputs outputs;
  outputs.input(arguments.a);
  outputs.input(arguments.b);
  io::OutputFile* const out = arguments.out.empty() ? nullptr : &outputs.add("--out", arguments.out);
  const bool files = !arguments.out_prefix.empty();
  if (files) outputs.unit("--out-prefix", arguments.out_prefix, {".codes.npy", ".scales.npy", ".json"});
  io::OutputFile* const codes = files ? &outputs.add("--out-prefix", codes_path(arguments)) : nullptr;
  io::OutputFile* const scales =
      files && has_scales(arguments, command) ? &outputs.add("--out-prefix", scales_path(arguments)) : nullptr;
  io::OutputFile* const facts = files ? &outputs.add("--out-prefix", arguments.out_prefix + ".json") : nullptr;
  if (!arguments.engine.trace.empty()) outputs.reserve("--trace", arguments.engine.trace);

  const Work work = multiply(arguments, command, *engine, flags.accumulate);
  if (out) {
    if (work.range)
      io::write_npy(*out, work.integers, {work.a.rows, work.b.cols});
    else
      io::write_npy(*out, work.result.c, {work.a.rows, work.b.cols});
    out->close();
  }
  if (files) {
    io::write_npy(*codes, work.narrow->codes, {work.narrow->rows, work.narrow->k_padded});
    if (scales) io::write_npy(*scales, work.narrow->scales, {work.narrow->rows, work.narrow->blocks()});
    facts->write(report_json(arguments, work).dump(2) + "\n");
    for (io::OutputFile* file : {codes, scales, facts})
      if (file) file->close();
  }
  if (arguments.json) {
    print_json(report_json(arguments, work));
  } else {
    print_report(arguments, work);
  }
  finish_report();
  outputs.commit();
  return work.agrees() ? 0 : 1;
}

/// The modes of --accumulate, a line each.
std::string accumulations() {
  std::string text;
  for (const AccumulationMode& mode : accumulation_modes) {
    text += "  " + std::string(mode.name) + std::string(12 - mode.name.size(), ' ') + std::string(mode.use) + "\n";
  }
  return text;
}

}  // namespace

void add_gemm(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<GemmArguments>();
  CLI::App& command =
      *app.add_subcommand("gemm", "Quantize two matrices and multiply them on an engine: agreement, cycles, SQNR");
  command.add_option("A", arguments->a, "Left matrix, M x K, .npy")->required()->type_name("")->check(named);
  command.add_option("B", arguments->b, "Right matrix, K x N, .npy")->required()->type_name("")->check(named);
  command
      .add_option("--engine", arguments->engine.engine,
                  "model: golden C++; rtl: Verilated tile; systemc: its cycle model; board: hardware at --port")
      ->capture_default_str()
      ->type_name(engine_names());
  add_tile_option(command, arguments->engine.tile);
  add_board_options(command, arguments->engine);
  command.add_option("--out", arguments->out, "Write C, M x N float32, or int8 with --int8")
      ->type_name("C.npy")
      ->check(named);
  command
      .add_option_function<std::string>(
          "--requantize", [arguments](const std::string& text) { arguments->requantize = text; },
          "C as the next product's A under this tensor scale, by the drain (tiles chain*, codec, luq)")
      ->type_name("SCALE");
  command
      .add_option("--requantize-format", arguments->result_format,
                  "Of C then: nvfp4, fp8_e4m3, fp8_e5m2 or int4 (default: A's; nvfp4 where A is MXFP)")
      ->type_name("F")
      ->check(named);
  command
      .add_option("--int8", arguments->int8,
                  "C in INT8 by the drain (tile integers): a number over this scale, plus --zero-point")
      ->type_name("SCALE")
      ->check(CLI::PositiveNumber);
  command.add_option("--zero-point", arguments->zero_point, "With --int8: the code of 0, -256 to 255")
      ->type_name("CODE")
      ->check(CLI::Range(-256, 255));
  command
      .add_option("--sparse", arguments->sparse,
                  "Prune A first, 2:4, 1:2 or 4:8pair along its rows, and skip its zeros (of tiles, sparse* can)")
      ->type_name("P")
      ->check(named);
  command
      .add_option("--accumulate", arguments->accumulate,
                  "How products are added (engines model, rtl): exact, or as hardware of others does, see below")
      ->capture_default_str()
      ->type_name("MODE")
      ->check(named);
  command
      .add_option("--deadline", arguments->engine.deadline,
                  "Clock cycles for the product, after which each sum ends with its next beat (tile tiny_deadline)")
      ->type_name("CLOCKS")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1} << 31));
  command.add_flag("--relu", arguments->relu, "With --requantize: negative results become +0 first");
  command.add_flag("--compress-a", arguments->compressed.a,
                   "Send A compressed, without loss; the tile decodes it (of tiles, codec can)");
  command.add_flag("--compress-b", arguments->compressed.b, "Send B compressed");
  command.add_flag("--compress-c", arguments->compressed.c,
                   "With --requantize: C comes compressed, without loss, as a next product's A would be sent");
  command.add_option("--out-prefix", arguments->out_prefix, "With --requantize: write codes, scales and report of C")
      ->type_name("PREFIX")
      ->check(named);
  command
      .add_option("--trace", arguments->engine.trace,
                  "Write waveforms of the rtl engine (GTKWave, Surfer); slows it down")
      ->type_name("WAVE.fst")
      ->check(named);
  arguments->quantize.add_to(command);
  command.add_flag("--no-sqnr", arguments->no_sqnr, "Leave the SQNR out: it takes a product in float64");
  command.add_flag("--json", arguments->json, "Print one JSON document and nothing else on stdout");
  command.footer(
      "Matrices: real numbers (float16/32/64, integers, bool), C or Fortran order, any shape; they are converted to\n"
      "float32 first, and padded with zeros to whole blocks and tiles. NaN, infinity, and float64 values beyond "
      "float32\n"
      "are refused. With --rounding stochastic, A takes --seed and B the seed after it.\n"
      "\n"
      "Reported:\n"
      "  agreement    bit for bit with the golden model, all results (exit code 1 if one differs)\n"
      "  cycles       clock cycles of the driver's call: commands, operand loads and results included\n"
      "  operands     bytes that the tile was sent, compressed or not, those sent twice twice\n"
      "  results      bytes that it sent, compressed or not, with what pads its stream words\n"
      "  line         of a board: bytes with frames and escapes, and frames that the line damaged\n"
      "  deadline     beats that were taken, of those that the product has; C is not the golden model's if some were "
      "not\n"
      "  utilization  products done / products possible = M N K / (cycles x rows x columns x lanes of the array);\n"
      "               while computing: cycles without those in which the tile was idle or waited for operands\n"
      "  SQNR         10 log10(sum R^2 / sum (C - R)^2), R = A x B in float64 from the arrays as given; infinite if "
      "there\n"
      "               is no error, even for R = 0\n"
      "  MAC/s        M N K / time of the engine alone\n"
      "\n"
      "With --requantize, C is the next product's operand A: each result rounded to BF16 and quantized to nearest "
      "under\n"
      "the tensor scale that is given. Formats, scales that they take, and what they clip:\n"
      "  nvfp4               each 16 of a row a block in the dialect narrowgauge; 2^-111 or more; beyond 2688 times "
      "it\n"
      "  fp8_e4m3, fp8_e5m2  a power of two from 2^-111 on (0.03125, for instance); beyond 448, 57344 times it\n"
      "  int4                operand A of luq; any above 0; outside of -8 to 7 times it\n"
      "The report has the largest magnitude of C, and a tensor scale that suits products like it. PREFIX.codes.npy "
      "has\n"
      "M x N codes, a byte each, in nvfp4 with N padded to blocks and PREFIX.scales.npy a byte of E4M3 for each "
      "block,\n"
      "PREFIX.json the report. An element differs if its code or its block's scale does.\n"
      "\n"
      "With --int8, each result times (scales of A and B) / SCALE, plus the zero point, is rounded to nearest even "
      "and\n"
      "limited to -128 to 127, NaN being 127. The SQNR is of the numbers that the codes mean.\n"
      "\n"
      "With --sparse, the largest magnitudes of A stay: of four neighbours of a row two, of two one, with 4:8pair of "
      "four\n"
      "pairs two (a matrix that is sparse already stays as it is), and with nvfp4 32 elements of A, and of B, have one "
      "block\n"
      "scale. Columns of A have to be a multiple of four, two, or eight. M N K is that of the dense product, and the "
      "array's\n"
      "products are counted twice.\n"
      "\n"
      "With --accumulate, products are added as a matrix instruction of others adds them, and the report says how "
      "many\n"
      "results differ from exact sums:\n" +
      accumulations() +
      "\n"
      "Formats: " +
      gemm_format_names() +
      "\n"
      "Dialects: " +
      dialect_names() +
      "\n"
      "\n"
      "Examples:\n"
      "  python3 -c 'import numpy as n; n.save(\"A.npy\", n.random.randn(100, 300)); n.save(\"B.npy\", "
      "n.random.randn(300, 50))'\n"
      "  narrowgauge gemm A.npy B.npy --format nvfp4 --engine rtl\n"
      "  narrowgauge gemm A.npy B.npy --format fp8_e4m3 --engine rtl --trace wave.fst --out C.npy\n"
      "  narrowgauge gemm A.npy B.npy --format mxfp4 --rounding stochastic --seed 7 --json\n"
      "  narrowgauge gemm A.npy B.npy --dialect te:front=rht16\n"
      "  narrowgauge gemm A.npy B.npy --engine rtl --sparse 2:4\n"
      "  narrowgauge gemm A.npy B.npy --engine rtl --deadline 20000\n"
      "  narrowgauge gemm A.npy B.npy --engine rtl --int8 0.5 --out C.npy\n"
      "  narrowgauge gemm A.npy B.npy --format nvfp4 --accumulate blackwell --engine rtl\n"
      "  narrowgauge gemm A.npy B.npy --engine board --port /dev/ttyUSB1\n"
      "  narrowgauge gemm A.npy B.npy --engine rtl --requantize 0.01 --out-prefix C\n"
      "  narrowgauge gemm A.npy B.npy --engine rtl --requantize 0.01 --relu --compress-a --compress-c\n"
      "  narrowgauge gemm A.npy B.npy --engine rtl --format fp8_e4m3 --requantize 0.125 --requantize-format fp8_e5m2");
  command.callback([arguments, &command, &exit_code] { exit_code = run(*arguments, command); });
}

}  // namespace narrowgauge::cli
