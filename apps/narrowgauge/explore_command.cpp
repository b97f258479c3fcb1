// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "commands.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/json.hpp"
#include "narrowgauge/io/memory.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/power/explore/explore.hpp"
#include "narrowgauge/power/explore/workload_formats.hpp"
#include "narrowgauge/power/gauge.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "python_program.hpp"
#include "report.hpp"
#include "yaml_tree.hpp"

namespace narrowgauge::cli {
namespace {

using power::Explorer;
using power::Front;
using power::GemmShape;
using power::Objective;
using power::Space;

struct ExploreArguments {
  std::string workload, space, csv, checkpoint, plot, html, step, python = "python3", engine = "systemc";
  std::vector<std::string> set, tiles, products;
  unsigned threads = 0, rows = 20, shapes = 60;
  std::uint64_t chunk = 1 << 16, limit = 1'000'000'000;
  bool json = false, resume = false, validate_cycles = false, list = false;
};

// ---- the space

/// What `make` makes of a YAML file of so many levels; its faults name the file. `what`: of the file, where it cannot
/// be read.
template <class Make>
auto from_yaml(const std::string& path, const std::string& what, int levels, Make make) {
  try {
    return make(parse_yaml(io::read_text(path), levels));
  } catch (const io::Error& error) {
    throw Error("cannot read " + what + ": " + error.what());
  } catch (const Error& error) {
    throw Error(io::shown(path) + ": " + error.what());
  }
}

Space load_space(const std::string& path) {
  return from_yaml(path, "the space, a YAML file", 8, [](const nlohmann::json& json) {
    if (!json.is_object()) throw Error("it has no keys; expected a space as in docs/explore.md");
    return power::space_from_json(json);
  });
}

power::Tensors load_tensors(const Space& space) {
  if (space.tensor_a.empty()) return power::normal_tensors();
  const io::Matrix a = io::read_matrix(space.tensor_a), b = io::read_matrix(space.tensor_b);
  if (a.cols != b.rows) {
    throw Error("the tensors of the space do not fit: " + io::shown(space.tensor_a) + " is " + std::to_string(a.rows) +
                " x " + std::to_string(a.cols) + ", " + io::shown(space.tensor_b) + " is " + std::to_string(b.rows) +
                " x " + std::to_string(b.cols) + "; expected m x k and k x n");
  }
  return {a.rows, b.cols, a.cols, io::to_float32(a), io::to_float32(b)};
}

std::map<std::string, std::int64_t> settings(const std::vector<std::string>& set) {
  std::map<std::string, std::int64_t> values;
  for (const std::string& text : set) {
    const std::size_t equals = text.find('=');
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    bool is_number = equals != std::string::npos && equals != 0;
    if (is_number) {
      const auto [rest, fault] = std::from_chars(text.data() + equals + 1, end, value);
      is_number = fault == std::errc() && rest == end;
    }
    if (!is_number) throw Error("--set \"" + text + "\" is wrong; expected name=number, as seq=2048");
    values[text.substr(0, equals)] = value;
  }
  return values;
}

/// Of ZigZag or Timeloop.
power::Workload load_tree(const std::string& path, const std::map<std::string, std::int64_t>& set) {
  return from_yaml(path, "the workload", 32, [&](const nlohmann::json& json) {
    power::Workload workload = power::workload_from_json(power::workload_from_tree(json), set);
    workload.name = io::shown(std::filesystem::path(path).stem().string());
    return workload;
  });
}

power::Workload workload_of(const ExploreArguments& arguments) {
  const auto set = settings(arguments.set);
  if (arguments.workload.ends_with(".yaml") || arguments.workload.ends_with(".yml"))
    return load_tree(arguments.workload, set);
  if (!arguments.workload.ends_with(".onnx") && !arguments.workload.ends_with(".pt2"))
    return power::load_workload(arguments.workload, set);
  std::string text;
  run_python(arguments.python, "narrowgauge.workload", {arguments.workload}, "", &text);
  return power::workload_from_json(io::parse_json(text, "The workload of " + io::shown(arguments.workload)), set);
}

// ---- the result

const std::vector<std::string> columns{
    "point",        "format",       "sparsity",      "rows",         "cols",        "lanes",   "a_depth",
    "b_depth",      "stream_width", "global_buffer", "resident",     "technology",  "result",  "compression",
    "frequency_hz", "energy_j",     "mac_j",         "sram_j",       "dram_j",      "codec_j", "idle_j",
    "cycles",       "time_s",       "limit",         "memory_share", "utilization", "area_m2", "sqnr_db",
    "cache",        "cache_j",      "token_j",       "mac_rung",     "mac_error"};

std::string cell(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "" : value.dump();
}

std::string csv_of(const nlohmann::ordered_json& points) {
  std::string text;
  for (const std::string& column : columns) text.append(column).append(",");
  text += "assumed\n";
  for (const auto& point : points) {
    std::string line;
    for (const std::string& column : columns) line.append(cell(point.at(column))).append(",");
    std::string assumed;  // the words before the colons
    for (const auto& entry : point.at("assumed")) {
      const auto sentence = entry.get<std::string>();
      assumed.append(assumed.empty() ? "" : " ").append(sentence, 0, sentence.find(':'));
    }
    text.append(line).append(assumed).append("\n");
  }
  return text;
}

std::string shown(double x, double unit) { return number(x / unit); }

void print_front(const nlohmann::ordered_json& result, const Explorer& explorer, unsigned most) {
  std::vector<std::vector<std::string>> rows;
  std::vector<nlohmann::ordered_json> points(result["front"].begin(), result["front"].end());
  const auto first = explorer.space().objectives[0];
  const auto key = [&](const nlohmann::ordered_json& p) {
    const auto real = [&](const char* name) { return p[name].is_number() ? p[name].get<double>() : 1e300; };
    switch (first) {
      case Objective::energy:
        return real("energy_j");
      case Objective::cycles:
        return real("cycles");
      case Objective::time:
        return real("time_s");
      case Objective::area:
        return real("area_m2");
      case Objective::sqnr:
        return -real("sqnr_db");
      case Objective::energy_delay:
        break;
    }
    return real("energy_j") * real("time_s");
  };
  std::stable_sort(points.begin(), points.end(), [&](const auto& x, const auto& y) { return key(x) < key(y); });
  for (std::size_t i = 0; i < std::min<std::size_t>(most, points.size()); ++i) {
    const auto& p = points[i];
    const auto count = [&](const char* name) { return std::to_string(p[name].template get<int>()); };
    // What of the energy is whose, in percent.
    std::string split;
    for (const char* part : {"mac_j", "sram_j", "dram_j", "codec_j", "idle_j"})
      split.append(split.empty() ? "" : "/")
          .append(std::to_string(std::lround(100 * p[part].get<double>() / p["energy_j"].get<double>())));
    rows.push_back(
        {std::to_string(p["point"].get<std::uint64_t>()),
         p["format"].get<std::string>().append(p["sparsity"] == "none" ? "" : " " + p["sparsity"].get<std::string>()),
         count("rows") + "x" + count("cols") + "x" + count("lanes"), count("a_depth") + "/" + count("b_depth"),
         count("stream_width"), p["technology"], p["result"], number(p["compression"].get<double>()),
         shown(p["frequency_hz"], 1e6), shown(p["energy_j"], 1e-6), split,
         std::to_string(static_cast<std::uint64_t>(p["cycles"].get<double>())), shown(p["time_s"], 1e-3),
         std::to_string(std::lround(100 * p["memory_share"].get<double>())),
         number(100 * p["utilization"].get<double>()), p["area_m2"].is_number() ? shown(p["area_m2"], 1e-6) : "-",
         p["sqnr_db"].is_number() ? number(p["sqnr_db"].get<double>()) : cell(p["sqnr_db"]),
         cell(p["mac_rung"]) +
             (p["mac_error"].is_number() ? " +-" + number(100 * p["mac_error"].get<double>()) + "%" : ""),
         p["assumed"].empty() ? "" : std::to_string(p["assumed"].size()) + " assumed"});
  }
  print_table(
      {"point", "format", "array", "depths", "stream", "technology", "result", "compr.", "MHz", "energy uJ",
       "MAC/buffers/DRAM/codec/idle %", "cycles", "ms", "memory %", "util. %", "area mm2", "SQNR dB", "MAC rung", ""},
      rows);
  if (points.size() > rows.size())
    std::printf("... and %zu more: --rows, --json, --csv\n", points.size() - rows.size());
}

void print_result(const nlohmann::ordered_json& result, const Explorer& explorer, const Front& front, double seconds,
                  unsigned most) {
  std::printf("%s: %s MAC; %s, %llu of them impossible, in %s s\n", io::shown(explorer.workload().name).c_str(),
              number(explorer.workload().macs()).c_str(), counted(explorer.points(), "point").c_str(),
              static_cast<unsigned long long>(front.impossible), number(seconds).c_str());
  std::string objectives;
  for (const Objective objective : explorer.space().objectives)
    objectives += (objectives.empty() ? "" : ", ") + std::string(power::name(objective));
  std::printf("%s that no other beats in %s:\n\n", counted(front.points.size(), "point").c_str(), objectives.c_str());
  print_front(result, explorer, most);
  if (const double tokens = explorer.workload().tokens; tokens > 0 && !front.points.empty()) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& point : result["front"]) least = std::min(least, point["token_j"].get<double>());
    std::printf("%s of work; the least energy a token is %s uJ\n",
                counted(static_cast<std::uint64_t>(tokens), "token").c_str(), shown(least, 1e-6).c_str());
  }
  if (front.points.empty())
    std::puts(
        "Every point is impossible: its lanes do not hold whole blocks (nvfp4 16, mxfp4 32), a k is too long, or the "
        "frequency is above what the record of the cell reaches (frequency_hz: cell takes that).");
}

// ---- how much there is to do

std::string duration_text(double seconds) {
  if (seconds < 100) return number(std::ceil(seconds)) + " s";
  if (seconds < 100 * 60) return number(std::ceil(seconds / 60)) + " minutes";
  if (seconds < 48 * 3600) return number(std::ceil(seconds / 3600)) + " hours";
  return number(std::ceil(seconds / 86400)) + " days";
}

unsigned threads_of(const ExploreArguments& arguments) {
  return arguments.threads ? arguments.threads : std::max(1U, std::thread::hardware_concurrency());
}

/// Before any work, with what this program does in a second at the least; announce() measures.
void check_size(std::uint64_t points, const ExploreArguments& arguments) {
  constexpr double least_rate = 1e6;  // points a second and thread
  if (points > arguments.limit) {
    throw Error("the space has " + std::to_string(points) + " points, which may take " +
                duration_text(static_cast<double>(points) / least_rate / threads_of(arguments)) +
                ", more than --limit " + std::to_string(arguments.limit) +
                "; expected fewer values, or a higher --limit");
  }
  const double chunks = std::ceil(static_cast<double>(points) / static_cast<double>(arguments.chunk));
  io::check_memory(chunks * sizeof(std::optional<Front>),
                   "The list of " + number(chunks) + " jobs of --chunk " + std::to_string(arguments.chunk));
}

/// Says how many points there are and how long they will take, if that is long.
void announce(const Explorer& explorer, const ExploreArguments& arguments) {
  constexpr std::uint64_t sample = 4096, samples = 4;
  constexpr double long_seconds = 10;
  const std::uint64_t points = explorer.points();
  if (points < 100 * sample) return;
  const Stopwatch time;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t begin = points / samples * i;
    (void)explorer.front_of(begin, begin + sample);
  }
  const double seconds = time.seconds() / (samples * sample) * static_cast<double>(points) / threads_of(arguments);
  if (seconds > long_seconds) {
    std::fprintf(stderr, "narrowgauge: %s, about %s on %s\n", counted(points, "point").c_str(),
                 duration_text(seconds).c_str(), counted(threads_of(arguments), "thread").c_str());
  }
}

/// The package knows recipes; the space's prices are the explorer's.
int training_step(const ExploreArguments& arguments) {
  for (const auto& [option, value] : {std::pair{"--csv", arguments.csv},
                                      {"--plot", arguments.plot},
                                      {"--html", arguments.html},
                                      {"--checkpoint", arguments.checkpoint}})
    if (!value.empty()) throw Error("--training-step gives no front; expected it without " + std::string(option));
  std::vector<std::string> words{arguments.workload, arguments.space, arguments.step};
  for (const std::string& setting : arguments.set) words.insert(words.end(), {"--set", setting});
  if (arguments.json) words.emplace_back("--json");
  std::string text;
  run_python(arguments.python, "narrowgauge.train.energy_command", words, "", &text);
  std::fputs(text.c_str(), stdout);
  finish_report();
  return 0;
}

int explore(const ExploreArguments& arguments) {
  if (arguments.resume && arguments.checkpoint.empty())
    throw Error("--resume needs --checkpoint; expected the file to go on from");
  const Stopwatch time;
  const Space space = load_space(arguments.space);
  io::Outputs outputs;
  for (const std::string& input : {arguments.workload, arguments.space, space.tensor_a, space.tensor_b})
    if (!input.empty()) outputs.input(input);
  io::OutputFile* const csv = arguments.csv.empty() ? nullptr : &outputs.add("--csv", arguments.csv);
  io::OutputFile* const plot = arguments.plot.empty() ? nullptr : &outputs.add("--plot", arguments.plot);
  io::OutputFile* const html = arguments.html.empty() ? nullptr : &outputs.add("--html", arguments.html);
  if (!arguments.checkpoint.empty()) outputs.reserve("--checkpoint", arguments.checkpoint);
  check_size(space.points(), arguments);
  const Explorer explorer = [&] {
    ProgressBar bar("prices");
    return Explorer(workload_of(arguments), space, std::make_shared<power::GaugePrices>(power::gauge()),
                    load_tensors(space), [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); });
  }();
  announce(explorer, arguments);
  const Front front = [&] {
    ProgressBar bar(counted(explorer.points(), "point"));
    return explorer.run({.threads = arguments.threads,
                         .chunk = arguments.chunk,
                         .checkpoint = arguments.checkpoint,
                         .resume = arguments.resume,
                         .progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); }});
  }();
  const double seconds = time.seconds();

  nlohmann::ordered_json result{{"command", "explore"},
                                {"workload", explorer.workload().name},
                                {"macs", explorer.workload().macs()},
                                {"parameters", explorer.workload().parameters},
                                {"exploration", explorer.id()},
                                {"space", power::to_json(explorer.space())},
                                {"tokens", explorer.workload().tokens},
                                {"points", explorer.points()},
                                {"impossible", front.impossible},
                                {"front", nlohmann::ordered_json::array()},
                                {"sources", explorer.sources()}};
  for (const std::uint64_t point : front.points) result["front"].push_back(explorer.describe(point));
  if (csv) {
    csv->write(csv_of(result["front"]));
    csv->close();
  }
  const auto draw = [&](io::OutputFile* file, const char* module) {
    if (!file) return;
    const std::string text = result.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    run_python(arguments.python, module, {"-o", file->hand_over()}, text, nullptr);
  };
  draw(plot, "narrowgauge.plot");
  draw(html, "narrowgauge.page");
  if (arguments.json) {
    print_json(result);
  } else {
    print_result(result, explorer, front, seconds, arguments.rows);
  }
  finish_report();
  outputs.commit();
  return 0;
}

// ---- cycles of the model against those of the simulated tiles

QuantizedMatrix random_operand(std::size_t vectors, std::size_t k, Scheme scheme, Format element,
                               std::mt19937& random) {
  QuantizedMatrix q;
  q.scheme = scheme;
  q.element = element;
  q.rows = vectors;
  q.k = q.k_padded = k;
  const std::size_t block = block_size(scheme);
  q.k_padded = (k + block - 1) / block * block;
  q.codes.resize(vectors * q.k_padded);
  const unsigned codes = desc(element).bits == 8 ? 0x78 : 16;  // finite ones
  for (std::uint8_t& code : q.codes) code = static_cast<std::uint8_t>(random() % codes);
  if (has_block_scales(scheme)) {
    q.scales.assign(q.codes.size() / block, static_cast<std::uint8_t>(encode(scale_format(scheme), 1.0)));
  }
  q.tensor_scale = 1;
  return q;
}

/// Shapes that do and do not fill panels, beats and banks, and random ones from a single element to `most` beats.
std::vector<GemmShape> shapes_for(const TileConfig& tile, unsigned count, double most, std::mt19937& random) {
  const std::int64_t bank = std::min(tile.a_depth, tile.b_depth) * tile.lanes;
  std::vector<GemmShape> shapes{{1, 1, 1},        {17, 33, 65},         {2, 3, bank},
                                {5, 9, bank + 1}, {3, 2, 3 * bank - 5}, {64, 64, 64}};
  std::uniform_real_distribution<double> even;
  const auto size = [&](double top) { return static_cast<std::int64_t>(std::exp(even(random) * std::log(top))); };
  while (shapes.size() < count) {
    const GemmShape s{size(1000), size(1000), size(10000)};
    const double beats = std::ceil(static_cast<double>(s.m) / tile.rows) *
                         std::ceil(static_cast<double>(s.n) / tile.cols) *
                         std::ceil(static_cast<double>(s.k) / tile.lanes);
    if (beats <= most) shapes.push_back(s);
  }
  shapes.resize(count);
  return shapes;
}

/// Two of each four elements of `a` become zero, and blocks of 32 have one scale on either side.
void make_sparse(QuantizedMatrix& a, QuantizedMatrix& b) {
  for (std::size_t i = 0; i < a.codes.size(); ++i)
    if (i % a.k_padded % 4 >= 2) a.codes[i] = 0;
  for (QuantizedMatrix* q : {&a, &b}) {
    for (std::size_t i = 0; i < q->scales.size(); ++i)
      if (i % q->blocks() % 2 == 1) q->scales[i] = q->scales[i - 1];
  }
}

/// "MxNxK".
GemmShape shape_of(const std::string& text) {
  GemmShape s;
  const char *at = text.data(), *end = at + text.size();
  for (std::int64_t* size : {&s.m, &s.n, &s.k}) {
    const auto [next, error] = std::from_chars(at, end, *size);
    const bool ends = size == &s.k ? next == end : next != end && *next == 'x';
    if (error != std::errc{} || *size < 1 || *size > 1'000'000'000 || !ends)
      throw Error("--product \"" + text +
                  "\" is wrong; expected M x N x K, three numbers from 1 on, as in 256x256x1024");
    at = next + 1;
  }
  return s;
}

std::string name_of(const GemmShape& s) {
  return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
}

/// The cycles below which no order of loads and commands can come: that of the beats, and that of the operands' words
/// if each is loaded once.
std::int64_t least_cycles(const power::TileShape& tile, const GemmShape& s) {
  const auto up = [](std::int64_t x, std::int64_t y) { return (x + y - 1) / y; };
  const std::int64_t a = up(s.m, tile.rows), b = up(s.n, tile.cols), beats = up(s.k, tile.lanes);
  return beats * std::max(a * b, a * tile.a_words() + b * tile.b_words());
}

int validate_cycles(const ExploreArguments& arguments) {
  const bool rtl = arguments.engine == "rtl";
  if (!rtl && arguments.engine != "systemc")
    throw Error("--engine \"" + arguments.engine + "\" is wrong; expected systemc or rtl, which have cycles");
  for (const std::string& name : arguments.tiles) {
    if (std::none_of(tile_configs().begin(), tile_configs().end(), [&](const TileConfig& t) { return t.name == name; }))
      throw Error("--tile \"" + name + "\" is wrong; expected a name in rtl/tile/configurations.json");
  }
  std::vector<GemmShape> products;
  for (const std::string& text : arguments.products) products.push_back(shape_of(text));
  constexpr double bound = 0.01;
  struct Case {
    const char* format;
    Scheme scheme;
    Format element;
    bool sparse;  ///< A is
  };
  constexpr Case cases[] = {
      {"nvfp4", Scheme::nvfp4, Format::e2m1, false},      {"luq", Scheme::luq, Format::e3m0, false},
      {"fp8_e4m3", Scheme::fp8, Format::e4m3, false},     {"fp8_e5m2", Scheme::fp8, Format::e5m2, false},
      {"nvfp4 2:4", Scheme::nvfp4, Format::e2m1, true},   {"luq 2:4", Scheme::luq, Format::e3m0, true},
      {"fp8_e4m3 2:4", Scheme::fp8, Format::e4m3, true},  {"fp8_e5m2 2:4", Scheme::fp8, Format::e5m2, true},
      {"mxfp4", Scheme::mxfp4, Format::e2m1, false},      {"mxfp8_e4m3", Scheme::mxfp8, Format::e4m3, false},
      {"mxfp8_e5m2", Scheme::mxfp8, Format::e5m2, false}, {"mxint8", Scheme::mxint8, Format::int8_mx, false}};
  Json all = Json::array();
  std::vector<std::vector<std::string>> rows, product_rows;
  double worst = 0, sum = 0;
  std::uint64_t compared = 0, equal_in_all = 0;
  for (const TileConfig& tile : tile_configs()) {
    if (!arguments.tiles.empty() &&
        std::find(arguments.tiles.begin(), arguments.tiles.end(), tile.name) == arguments.tiles.end())
      continue;
    TileEngineOptions options;
    options.tile = tile.name;
    const auto engine = rtl ? make_rtl_engine(options) : make_systemc_engine(options);
    const auto dense =
        power::TileShape::of(static_cast<int>(tile.rows), static_cast<int>(tile.cols), static_cast<int>(tile.lanes),
                             tile.format_set, static_cast<int>(tile.stream_width), static_cast<int>(tile.a_depth),
                             static_cast<int>(tile.b_depth), static_cast<std::int64_t>(tile.max_beats),
                             {tile.load_cuts, tile.command_cuts, tile.cell_cuts, tile.convert_cuts, tile.scale_cuts},
                             tile.sparse, tile.integers, tile.mx);
    for (const Case& one : cases) {
      const unsigned bit = format_set::of(one.scheme, one.element);
      if ((tile.format_set & bit) == 0 || tile.mx != is_mx(one.scheme) || (one.sparse && !tile.sparse)) continue;
      power::TileShape shape = dense;
      if (one.sparse) shape.lanes *= 2;
      std::mt19937 random(bit * 1000 + tile.rows);
      double tile_worst = 0, tile_sum = 0;
      std::uint64_t equal = 0, cycles = 0;
      GemmShape worst_shape;
      // The slower the engine, the shorter the products.
      const double most = rtl ? 3000 : 60000;
      const auto shapes = products.empty() ? shapes_for(tile, arguments.shapes, most, random) : products;
      Json each = Json::array();
      ProgressBar bar(std::string(tile.name) + " " + one.format);
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        const GemmShape& s = shapes[i];
        const auto k = static_cast<std::size_t>(s.k);
        const Scheme left = one.scheme == Scheme::luq ? Scheme::int4 : one.scheme;
        QuantizedMatrix a = random_operand(static_cast<std::size_t>(s.m), k, left, one.element, random);
        QuantizedMatrix b = random_operand(static_cast<std::size_t>(s.n), k, one.scheme, one.element, random);
        if (one.sparse) make_sparse(a, b);
        const auto real = static_cast<double>((one.sparse ? engine->gemm_sparse(a, b, {}) : engine->gemm(a, b)).cycles);
        const auto estimate = static_cast<double>(power::estimate_gemm(shape, s).cycles);
        const double error = std::abs(estimate - real) / real;
        cycles += static_cast<std::uint64_t>(real);
        equal += error == 0;
        tile_sum += error;
        if (error > tile_worst) tile_worst = error, worst_shape = s;
        bar.update(i + 1, shapes.size());
        if (products.empty()) continue;
        const double full = static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) /
                            static_cast<double>(tile.products_a_cycle() * (one.sparse ? 2 : 1));
        const auto least = static_cast<double>(least_cycles(shape, s));
        each.push_back({{"m", s.m},
                        {"n", s.n},
                        {"k", s.k},
                        {"cycles", static_cast<std::uint64_t>(real)},
                        {"estimate", static_cast<std::uint64_t>(estimate)},
                        {"utilization", full / real},
                        {"utilization_bound", full / least}});
        product_rows.push_back({std::string(tile.name), one.format, name_of(s),
                                std::to_string(static_cast<std::uint64_t>(real)),
                                std::to_string(static_cast<std::uint64_t>(estimate)), number(100 * full / real),
                                number(100 * full / least)});
      }
      const auto count = static_cast<double>(shapes.size());
      const std::string where = tile_worst == 0 ? "" : name_of(worst_shape);
      all.push_back({{"tile", tile.name},
                     {"format", one.format},
                     {"shapes", shapes.size()},
                     {"equal", equal},
                     {"error_mean", tile_sum / count},
                     {"error_max", tile_worst},
                     {"worst", where},
                     {"cycles", cycles}});
      if (!products.empty()) all.back()["products"] = std::move(each);
      rows.push_back({std::string(tile.name), one.format, std::to_string(shapes.size()), std::to_string(equal),
                      number(100 * tile_sum / count), number(100 * tile_worst), where, std::to_string(cycles)});
      worst = std::max(worst, tile_worst);
      sum += tile_sum;
      compared += shapes.size();
      equal_in_all += equal;
    }
  }
  const bool within = worst <= bound;
  if (arguments.json) {
    print_json({{"command", "explore --validate-cycles"},
                {"engine", arguments.engine},
                {"bound", bound},
                {"within", within},
                {"shapes", compared},
                {"equal", equal_in_all},
                {"error_mean", sum / static_cast<double>(compared)},
                {"error_max", worst},
                {"tiles", all}});
  } else {
    if (products.empty()) {
      print_table({"tile", "format", "shapes", "equal", "mean error %", "max error %", "of M x N x K", "cycles"}, rows);
    } else {
      print_table({"tile", "format", "M x N x K", "cycles", "estimate", "utilization %", "bound %"}, product_rows);
    }
    std::printf("\n%s of the timing model against engine %s: %llu equal, mean error %s %%, largest %s %%%s\n",
                counted(compared, "product").c_str(), arguments.engine.c_str(),
                static_cast<unsigned long long>(equal_in_all),
                number(100 * sum / static_cast<double>(compared)).c_str(), number(100 * worst).c_str(),
                within ? "" : ": MORE THAN 1 %");
  }
  return within ? 0 : 1;
}

int list_workloads(bool json) {
  Json all = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : power::workload_names()) {
    const power::Workload workload = power::load_workload(name);
    std::string parameters;
    for (const auto& [key, value] : workload.parameters) parameters += key + "=" + std::to_string(value) + " ";
    all.push_back({{"workload", name},
                   {"macs", workload.macs()},
                   {"layers", workload.layers.size()},
                   {"parameters", workload.parameters},
                   {"what", workload.what}});
    rows.push_back(
        {name, number(workload.macs() / 1e9), std::to_string(workload.layers.size()), parameters, workload.what});
  }
  if (json) {
    print_json({{"command", "explore --workloads"}, {"workloads", all}});
  } else {
    print_table({"workload", "GMAC", "layers", "--set", "what"}, rows);
  }
  return 0;
}

}  // namespace

void add_explore(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ExploreArguments>();
  CLI::App& command =
      *app.add_subcommand("explore", "Energy, time, area and accuracy of a workload over a design space");
  auto* workload =
      command.add_option("workload", arguments->workload,
                         "A workload: .json, .onnx, .pt2 (torch), .csv, .yaml (other tools) or one of --workloads");
  auto* space = command.add_option("space", arguments->space, "The design space, .yaml");
  command.add_option("--set", arguments->set, "Values of the workload's parameters")->type_name("NAME=NUMBER ...");
  constexpr unsigned most_rows = 1'000'000'000;
  constexpr std::uint64_t most_points = std::numeric_limits<std::int64_t>::max();
  add_number(command, "--threads", arguments->threads, 0U, most_threads, "Threads, 0: one a core");
  add_number<std::uint64_t>(command, "--limit", arguments->limit, 1, most_points,
                            "Most points: a larger space is refused before any work");
  command.add_flag("--json", arguments->json, "Print one JSON document and nothing else on stdout; SI units");
  command.add_option("--csv", arguments->csv, "Write the front to this file; SI units")
      ->type_name("FILE")
      ->check(named);
  add_number(command, "--rows", arguments->rows, 0U, most_rows, "Most rows of the table");
  command.add_option("--plot", arguments->plot, "Write a picture of the front (with the Python package)")
      ->type_name("FILE")
      ->check(named);
  command
      .add_option("--html", arguments->html,
                  "Write a page of the front to hover, filter and sort (with the Python package and plotly)")
      ->type_name("FILE")
      ->check(named);
  auto* step = command
                   .add_option("--training-step", arguments->step,
                               "In place of a front, the energy of a training step (with the Python package)")
                   ->type_name("RECIPE");
  command.add_option("--python", arguments->python, "Python that has the narrowgauge package")->capture_default_str();
  command.add_option("--checkpoint", arguments->checkpoint, "Write down what is done, to go on from")
      ->type_name("FILE")
      ->check(named);
  command.add_flag("--resume", arguments->resume, "Go on from the checkpoint, if there is one");
  add_number<std::uint64_t>(command, "--chunk", arguments->chunk, 1, most_points, "Points of a job");
  auto* validate = command.add_flag("--validate-cycles", arguments->validate_cycles,
                                    "Compare the timing model with simulated tiles; exit code 1 above 1 %");
  command.add_option("--engine", arguments->engine, "Of --validate-cycles: systemc or rtl")->capture_default_str();
  add_number(command, "--shapes", arguments->shapes, 1U, 1'000'000U,
             "Of --validate-cycles: products a tile and format");
  command.add_option("--tile", arguments->tiles, "Of --validate-cycles: tiles, all without")->type_name("NAME ...");
  command
      .add_option("--product", arguments->products,
                  "Of --validate-cycles: these products, each with its utilization, in place of --shapes")
      ->type_name("MxNxK ...");
  auto* list = command.add_flag("--workloads", arguments->list, "List the workloads that come along");
  workload->excludes(validate)->excludes(list);
  space->excludes(validate)->excludes(list);
  step->excludes(validate)->excludes(list);
  command.footer(
      "The result is the front: the points that no other point beats in all objectives of the space.\n"
      "docs/explore.md has the keys of spaces and workloads, and what is assumed. An .onnx or .pt2 takes the Python "
      "package.\n"
      "\n"
      "Examples:\n"
      "  narrowgauge explore resnet18 examples/explore/space.yaml\n"
      "  narrowgauge explore llama_block examples/explore/space.yaml --set seq=2048 --json\n"
      "  narrowgauge explore decoder examples/explore/decode.yaml --set context=8192 --html front.html\n"
      "  narrowgauge explore llama_block examples/explore/step.yaml --training-step fp4-all-the-way\n"
      "  narrowgauge explore topology.csv space.yaml --json\n"
      "  narrowgauge explore model.onnx space.yaml --checkpoint run.jsonl --resume --plot front.png\n"
      "  narrowgauge explore --validate-cycles --engine rtl --shapes 30\n"
      "  narrowgauge explore --validate-cycles --product 256x256x1024 20x20x5000 --tile large wide");
  command.callback([arguments, &exit_code] {
    if (arguments->list) {
      exit_code = list_workloads(arguments->json);
    } else if (arguments->validate_cycles) {
      exit_code = validate_cycles(*arguments);
    } else {
      if (arguments->workload.empty() || arguments->space.empty())
        throw Error("no workload or no space was given; expected both, as in narrowgauge explore --help");
      exit_code = arguments->step.empty() ? explore(*arguments) : training_step(*arguments);
    }
  });
}

}  // namespace narrowgauge::cli
