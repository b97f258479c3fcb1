// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <memory>
#include <random>
#include <vector>

#include "commands.hpp"
#include "compare.hpp"
#include "engines.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/io/memory.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

struct Shape {
  std::size_t m, n, k;
};

struct EnginesArguments {
  std::vector<std::string> shapes{"64x64x64", "256x256x1024", "1x1x1", "17x33x65", "24x40x1000", "9x10x5000"};
  std::vector<std::string> formats{"nvfp4", "fp8_e4m3"};
  std::string tile;
  bool json = false;
};

Shape parse_shape(const std::string& text) {
  std::size_t sizes[3];
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(at, end, sizes[i]);
    const bool closed = i == 2 ? next == end : next != end && *next == 'x';
    if (error != std::errc() || sizes[i] == 0 || !closed) {
      throw Error("--shape \"" + text + "\" is wrong; expected MxNxK with three numbers of 1 or more, as 64x64x64");
    }
    at = next + 1;
  }
  return {sizes[0], sizes[1], sizes[2]};
}

/// Before any work: sizes that no engine takes, and those that do not fit in memory.
void check_shape(const Shape& s, const std::string& text, const GemmFormat& format,
                 const std::vector<std::unique_ptr<Engine>>& engines) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  constexpr double operand_bytes = 8, result_bytes = 8;  // float32 and codes with their packed copies; two results
  io::check_memory(operand_bytes * (m + n) * k + result_bytes * m * n, "--shape " + text);
  for (const auto& engine : engines) {
    try {
      engine->check(format.scheme, format.a, format.b, s.k);
    } catch (const Error& error) {
      throw Error("--shape " + text + ", " + std::string(format.name) + ": " + error.what());
    }
  }
}

QuantizedMatrix operand(std::size_t vectors, std::size_t k, Scheme scheme, Format element, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(vectors * k);
  for (float& value : x) value = normal(generator);
  return quantize(x, vectors, k, Axis::rows, {.scheme = scheme, .element = element});
}

int run(const EnginesArguments& arguments) {
  std::vector<std::string> names{"model", "systemc"};
  if (have_rtl_engine()) names.emplace_back("rtl");
  std::vector<std::unique_ptr<Engine>> engines;
  for (const std::string& name : names) {
    engines.push_back(make_engine({.engine = name, .tile = name == "model" ? "" : arguments.tile}, 1));
  }
  std::vector<Shape> shapes;
  for (const std::string& shape : arguments.shapes) shapes.push_back(parse_shape(shape));
  for (const std::string& format : arguments.formats) {
    for (std::size_t i = 0; i < shapes.size(); ++i)
      check_shape(shapes[i], arguments.shapes[i], find_gemm_format(format), engines);
  }

  Json products = Json::array();
  std::vector<std::vector<std::string>> rows;
  bool agree = true;
  for (const std::string& format_name : arguments.formats) {
    const GemmFormat& format = find_gemm_format(format_name);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const Shape& s = shapes[i];
      const QuantizedMatrix a = operand(s.m, s.k, format.a_scheme(), format.a, 1);
      const QuantizedMatrix b = operand(s.n, s.k, format.b_scheme(), format.b, 2);
      std::vector<float> expected;
      std::uint64_t cycles = 0;
      for (const auto& engine : engines) {
        const Stopwatch time;
        const EngineResult result = [&] {
          ProgressBar bar(arguments.shapes[i] + " " + format_name + " on " + std::string(engine->name()));
          return engine->gemm(a, b, [&](std::uint64_t done, std::uint64_t total) { bar.update(done, total); });
        }();
        const double rate = static_cast<double>(result.products) / time.seconds();
        if (expected.empty()) expected = result.c;
        const std::size_t different = compare(result.c, expected).count;
        if (cycles == 0) cycles = result.cycles;
        const bool same_cycles = result.cycles == 0 || result.cycles == cycles;
        agree = agree && different == 0 && same_cycles;

        Json row{{"format", format_name},
                 {"m", s.m},
                 {"n", s.n},
                 {"k", s.k},
                 {"engine", engine->name()},
                 {"tile", nullptr},
                 {"different", different},
                 {"cycles", nullptr},
                 {"utilization", nullptr},
                 {"utilization_computing", nullptr},
                 {"macs_per_second", rate}};
        std::vector<std::string> line{format_name,
                                      arguments.shapes[i],
                                      std::string(engine->name()),
                                      "-",
                                      different == 0 ? "identical" : std::to_string(different) + " DIFFERENT",
                                      "-",
                                      "-",
                                      "-",
                                      number(rate)};
        if (result.cycles) {
          row["tile"] = line[3] = result.tile;
          row["cycles"] = result.cycles;
          row["utilization"] = result.utilization();
          line[5] = std::to_string(result.cycles) + (same_cycles ? "" : " DIFFERENT");
          line[6] = number(100 * result.utilization());
          if (const auto computing = result.utilization_computing()) {
            row["utilization_computing"] = *computing;
            line[7] = number(100 * *computing);
          }
        }
        products.push_back(row);
        rows.push_back(line);
      }
    }
  }
  if (arguments.json) {
    print_json({{"command", "engines"}, {"agree", agree}, {"products", products}});
  } else {
    print_table({"format", "M x N x K", "engine", "tile", "results", "cycles", "utilization %", "computing %", "MAC/s"},
                rows);
    std::printf("\n%s\n", agree ? "All engines agree bit for bit, and those with a clock in every cycle count."
                                : "THE ENGINES DISAGREE: see the rows marked DIFFERENT.");
  }
  return agree ? 0 : 1;
}

}  // namespace

void add_engines(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<EnginesArguments>();
  CLI::App& command =
      *app.add_subcommand("engines", "The same products on every engine: results, cycles, utilization, speed");
  command.add_option("--shape", arguments->shapes, "Products to run")->type_name("MxNxK ...")->capture_default_str();
  command.add_option("--format", arguments->formats, "Formats to run them in")
      ->type_name("NAME ...")
      ->capture_default_str();
  add_tile_option(command, arguments->tile);
  command.add_flag("--json", arguments->json, "Print one JSON document and nothing else on stdout");
  command.footer(
      "Operands are normal random numbers of fixed seed. The engines:\n"
      "  model    golden C++, without a clock\n"
      "  systemc  the cycle model of the tile, under the firmware's driver\n"
      "  rtl      the Verilated tile, under the firmware's driver; in builds with NG_RTL\n"
      "results are compared with the model's bit for bit, cycles between systemc and rtl; exit code 1 if any differ.\n"
      "  cycles       of the driver's call: commands, operand loads and results included\n"
      "  utilization  M N K / (cycles x rows x columns x lanes of the array)\n"
      "  computing    M N K / ((busy - stall_in) x rows x columns x lanes): without the cycles in which the tile had "
      "no\n"
      "               command, or waited for operands (its own counters)\n"
      "  MAC/s        M N K / wall time of the engine on one thread, packing and unpacking included\n"
      "\n"
      "Examples:\n"
      "  narrowgauge engines\n"
      "  narrowgauge engines --shape 100x100x100 --format fp8_e5m2 --tile large_fp8 --json");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace narrowgauge::cli
