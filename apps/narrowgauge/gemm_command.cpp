// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "commands.hpp"
#include "compare.hpp"
#include "engines.hpp"
#include "npy.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

struct GemmArguments {
  std::string a;
  std::string b;
  EngineFlags engine;
  std::string out;
  QuantizeFlags quantize;
  bool json = false;
};

QuantizedMatrix quantize_operand(const Matrix& matrix, Axis axis, QuantizeOptions options, Scheme scheme,
                                 Format element) {
  options.scheme = scheme;
  options.element = element;
  return quantize(to_float32(matrix), matrix.rows, matrix.cols, axis, options);
}

std::string size_text(std::size_t rows, std::size_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

std::string matrix_text(const Matrix& m) { return size_text(m.rows, m.cols) + " " + m.dtype + "  (" + m.path + ")"; }

Json matrix_json(const Matrix& m) {
  return {{"path", m.path}, {"dtype", m.dtype}, {"rows", m.rows}, {"columns", m.cols}};
}

/// "; 99.6 % while computing"
std::string computing_text(const EngineResult& result) {
  const auto computing = result.utilization_computing();
  return computing ? "; " + number(100 * *computing) + " % while computing" : "";
}

int run(const GemmArguments& arguments) {
  const GemmFormat& format = find_gemm_format(arguments.quantize.format);
  QuantizeOptions options = arguments.quantize.options();
  const std::unique_ptr<Engine> engine = make_engine(arguments.engine, arguments.quantize.threads);
  const Matrix a = read_matrix(arguments.a);
  const Matrix b = read_matrix(arguments.b);
  if (a.cols != b.rows) {
    throw Error(a.path + " is " + size_text(a.rows, a.cols) + " and " + b.path + " is " + size_text(b.rows, b.cols) +
                ": the columns of the first (" + std::to_string(a.cols) +
                ") must be as many as the rows of the second (" + std::to_string(b.rows) +
                "); transpose one, or name other files");
  }
  if (!arguments.out.empty()) check_writable(arguments.out);

  const Stopwatch quantize_time;
  const QuantizedMatrix qa = quantize_operand(a, Axis::rows, options, format.scheme, format.a);
  ++options.seed;  // else elements of A and B at the same place would be rounded by the same random word
  const QuantizedMatrix qb = quantize_operand(b, Axis::columns, options, format.scheme, format.b);
  const double quantize_seconds = quantize_time.seconds();

  const Stopwatch engine_time;
  const EngineResult result = [&] {
    ProgressBar bar("gemm on " + arguments.engine.engine);
    return engine->gemm(qa, qb, [&](std::uint64_t done, std::uint64_t total) { bar.update(done, total); });
  }();
  const double engine_seconds = engine_time.seconds();

  const bool compared = arguments.engine.engine != "model";
  Difference difference;
  if (compared) {
    difference = compare(result.c, make_model_engine(arguments.quantize.threads)->gemm(qa, qb).c);
  }
  if (!arguments.out.empty()) write_npy(arguments.out, result.c, a.rows, b.cols);

  const std::vector<double> reference =
      product_float64(a.values, b.values, a.rows, a.cols, b.cols, arguments.quantize.threads);
  const double sqnr = sqnr_db(reference, std::vector<double>(result.c.begin(), result.c.end()));
  const double rate = engine_seconds > 0 ? static_cast<double>(result.products) / engine_seconds : 0;
  const int exit_code = difference.count == 0 ? 0 : 1;

  if (arguments.json) {
    Json json{
        {"command", "gemm"},
        {"a", matrix_json(a)},
        {"b", matrix_json(b)},
        {"c", {{"path", arguments.out.empty() ? Json() : Json(arguments.out)}, {"rows", a.rows}, {"columns", b.cols}}},
        {"format", format.name},
        {"rule", arguments.quantize.rule},
        {"rounding", arguments.quantize.rounding},
        {"engine", arguments.engine.engine},
        {"tile", nullptr},
        {"agreement", nullptr},
        {"cycles", nullptr},
        {"products", result.products},
        {"products_possible", nullptr},
        {"utilization", nullptr},
        {"utilization_computing", nullptr},
        {"activity", nullptr},
        {"sqnr_db", json_number(sqnr)},
        {"quantize_seconds", quantize_seconds},
        {"engine_seconds", engine_seconds},
        {"macs_per_second", rate}};
    if (options.rounding == Rounding::stochastic) {
      json["random_bits"] = arguments.quantize.random_bits;
      json["seed"] = arguments.quantize.seed;
    }
    if (compared) {
      json["agreement"] = {{"with", "model"},
                           {"bit_exact", difference.count == 0},
                           {"results", result.c.size()},
                           {"different", difference.count},
                           {"first", nullptr}};
      if (difference.count) {
        json["agreement"]["first"] = {{"row", difference.index / b.cols},
                                      {"column", difference.index % b.cols},
                                      {"engine", hex(difference.got, 8)},
                                      {"model", hex(difference.expected, 8)}};
      }
    }
    if (result.cycles) {
      json["cycles"] = result.cycles;
      json["products_possible"] = result.products_possible;
      json["utilization"] = result.utilization();
      json["tile"] = result.tile;
    }
    if (const auto& n = result.activity) {
      json["activity"] = {{"cycles", n->cycles},       {"busy", n->busy},         {"stall_in", n->stall_in},
                          {"stall_out", n->stall_out}, {"products", n->products}, {"zero_a", n->zero_a},
                          {"zero_b", n->zero_b},       {"flips_a", n->flips_a},   {"flips_b", n->flips_b}};
      if (const auto computing = result.utilization_computing()) json["utilization_computing"] = *computing;
    }
    print_json(json);
    return exit_code;
  }

  std::vector<std::pair<std::string, std::string>> facts{
      {"A", matrix_text(a)},
      {"B", matrix_text(b)},
      {"C = A x B",
       size_text(a.rows, b.cols) + " float32" + (arguments.out.empty() ? "" : "  (" + arguments.out + ")")},
      {"format", std::string(format.name) + ": " + arguments.quantize.text()},
      {"engine", arguments.engine.engine + (result.tile.empty() ? "" : ", tile " + result.tile)}};
  if (compared && difference.count == 0) {
    facts.emplace_back("agreement",
                       "bit-exact: all " + counted(result.c.size(), "result") + " equal the golden model's");
  } else if (compared) {
    facts.emplace_back("agreement", "DIFFERENT from the golden model in " + std::to_string(difference.count) + " of " +
                                        counted(result.c.size(), "result") + "; first in row " +
                                        std::to_string(difference.index / b.cols) + ", column " +
                                        std::to_string(difference.index % b.cols) + ": " + hex(difference.got, 8) +
                                        ", the model has " + hex(difference.expected, 8));
  } else {
    facts.emplace_back("agreement", "this is the golden model; --engine rtl compares with it");
  }
  if (result.cycles) {
    facts.emplace_back("cycles", std::to_string(result.cycles));
    facts.emplace_back("utilization", number(100 * result.utilization()) + " % (" + std::to_string(result.products) +
                                          " products done, " + std::to_string(result.products_possible) + " possible)" +
                                          computing_text(result));
  }
  facts.emplace_back("SQNR", sqnr_text(sqnr) + " against the float64 product of the arrays as given");
  facts.emplace_back("time", number(engine_seconds) + " s for " + std::to_string(result.products) +
                                 " multiply-accumulates, " + number(rate) +
                                 " MAC/s (quantizing: " + number(quantize_seconds) + " s)");
  if (!arguments.engine.trace.empty()) facts.emplace_back("waveform", arguments.engine.trace);
  print_facts(facts);
  return exit_code;
}

}  // namespace

void add_gemm(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<GemmArguments>();
  CLI::App& command =
      *app.add_subcommand("gemm", "Quantize two matrices and multiply them on an engine: agreement, cycles, SQNR");
  command.add_option("A", arguments->a, "Left matrix, M x K, .npy")->required()->type_name("");
  command.add_option("B", arguments->b, "Right matrix, K x N, .npy")->required()->type_name("");
  command
      .add_option("--engine", arguments->engine.engine,
                  "model: golden C++; rtl: the Verilated tile under its driver; systemc: its cycle model")
      ->capture_default_str()
      ->type_name(engine_names());
  add_tile_option(command, arguments->engine.tile);
  command.add_option("--out", arguments->out, "Write C, M x N float32")->type_name("C.npy");
  command
      .add_option("--trace", arguments->engine.trace,
                  "Write waveforms of the rtl engine (GTKWave, Surfer); slows it down")
      ->type_name("WAVE.fst");
  arguments->quantize.add_to(command);
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
      "  utilization  products done / products possible = M N K / (cycles x rows x columns x lanes of the array);\n"
      "               while computing: cycles without those in which the tile was idle or waited for operands\n"
      "  SQNR         10 log10(sum R^2 / sum (C - R)^2), R = A x B in float64 from the arrays as given; infinite if "
      "there\n"
      "               is no error, even for R = 0\n"
      "  MAC/s        M N K / time of the engine alone\n"
      "\n"
      "Formats: " +
      gemm_format_names() +
      "\n"
      "\n"
      "Examples:\n"
      "  python3 -c 'import numpy as n; n.save(\"A.npy\", n.random.randn(100, 300)); n.save(\"B.npy\", "
      "n.random.randn(300, 50))'\n"
      "  narrowgauge gemm A.npy B.npy --format nvfp4 --engine rtl\n"
      "  narrowgauge gemm A.npy B.npy --format fp8_e4m3 --engine rtl --trace wave.fst --out C.npy\n"
      "  narrowgauge gemm A.npy B.npy --format mxfp4 --rounding stochastic --seed 7 --json");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace narrowgauge::cli
