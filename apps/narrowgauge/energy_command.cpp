// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <iostream>
#include <memory>
#include <sstream>

#include "commands.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/power/export.hpp"
#include "narrowgauge/power/gauge.hpp"
#include "narrowgauge/power/json.hpp"
#include "narrowgauge/power/operands.hpp"
#include "python_program.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

using io::Matrix;
using power::Gauge;

/// A flag that becomes a field of the JSON question.
struct Field {
  CLI::Option* option;
  std::string key;
  enum Kind { text, number, list, yes, no } kind;
};

struct EnergyArguments {
  std::vector<Field> fields;
  std::vector<std::string> calibrations;
  std::string a, b, export_kind, out, activity, scope, clock, window, python = "python3";
  std::vector<std::string> ports;
  bool jsonl = false, list = false, units = false, technologies = false, json = false;
};

/// A number as the flag has it, so that the question is refused in the same words as in JSON.
Json number_or_text(const std::string& text) {
  const Json number = Json::parse(text, nullptr, false);
  return number.is_number() ? number : Json(text);
}

Json question_of(const EnergyArguments& arguments) {
  Json question = Json::object();
  for (const Field& field : arguments.fields) {
    if (field.option->count() == 0) continue;
    if (field.kind == Field::yes || field.kind == Field::no) {
      question[field.key] = field.kind == Field::yes;
    } else if (field.kind == Field::list) {
      for (const std::string& item : field.option->as<std::vector<std::string>>()) {
        const std::size_t equals = item.find('=');
        question[field.key][item.substr(0, equals)] =
            number_or_text(equals == std::string::npos ? "" : item.substr(equals + 1));
      }
    } else {
      const auto value = field.option->as<std::string>();
      question[field.key] = field.kind == Field::number ? number_or_text(value) : Json(value);
    }
  }
  return question;
}

/// L1: the flips of the question's unit on the product of two files.
power::Answer answer_counted(const Gauge& gauge, const power::Question& question, const EnergyArguments& arguments) {
  const Matrix a = io::read_matrix(arguments.a);
  const Matrix b = io::read_matrix(arguments.b);
  if (a.cols != b.rows) {
    throw Error(io::shown(a.path) + " has " + counted(a.cols, "column") + " and " + io::shown(b.path) + " has " +
                counted(b.rows, "row") + "; expected A of M x K and B of K x N");
  }
  power::validate(question);
  const auto is_integer = [](const Matrix& matrix) { return matrix.dtype.find("int") != std::string::npos; };
  const bool as_they_are = question.unit.mac.is(power::MacFormat::integer) && is_integer(a) && is_integer(b);
  const power::ProductOperands operands = power::product_operands(question.unit.mac, io::to_float32(a), a.rows, a.cols,
                                                                  io::to_float32(b), b.cols, as_they_are);
  power::Answer answer = gauge.energy_counted(question, power::features_counted(question.unit.mac, operands.stream),
                                              power::cycles_per_mac(question.unit.mac, operands.stream));
  answer.notes.push_back("Counted on " + counted(operands.stream.cycles, "cycle") + ", " +
                         std::to_string(operands.outputs) + " of the " + counted(operands.of, "output") + " of " +
                         io::shown(a.path) + " x " + io::shown(b.path) +
                         (as_they_are ? ", their values taken for codes." : ", quantized to the format."));
  return answer;
}

/// L1: the flips of the question's unit on what its ports saw in a simulation. The package reads the file.
void answer_activity(const Json& question, const EnergyArguments& arguments) {
  if (arguments.scope.empty()) throw Error("--activity was given alone; expected --scope, the unit's instance in it");
  std::vector<std::string> words{arguments.activity, "--scope=" + arguments.scope, "--question=" + question.dump()};
  if (!arguments.clock.empty()) words.push_back("--clock=" + arguments.clock);
  if (!arguments.window.empty()) words.push_back("--window=" + arguments.window);
  for (const std::string& port : arguments.ports) words.push_back("--port=" + port);
  for (const std::string& file : arguments.calibrations) words.push_back("--calibration=" + file);
  if (arguments.json) words.emplace_back("--json");
  std::string text;
  run_python(arguments.python, "narrowgauge.activity", words, "", &text);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_units(const Gauge& gauge, bool json) {
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const power::RecordInfo& record : gauge.records()) {
    list.push_back({{"unit", record.unit},
                    {"technology", record.technology},
                    {"stimulus", record.stimulus},
                    {"mac", record.operation.empty() ? Json(power::to_json(record.mac)) : Json()},
                    {"operation", record.operation.empty() ? Json() : Json(record.operation)},
                    {"L2_j", json_number(record.l2_j)},
                    {"L3_j", json_number(record.l3_j)}});
    rows.push_back(
        {record.unit, record.technology, record.stimulus, number(record.l2_j * 1e12), number(record.l3_j * 1e12)});
  }
  if (json) return print_json({{"command", "energy"}, {"units", list}});
  if (rows.empty()) {
    std::puts("No unit is recorded in this build; docs/energy_ladder.md says how to characterize one.");
    return;
  }
  print_table({"unit", "technology", "stimulus", "L2, pJ each", "L3, pJ each"}, rows);
}

void print_technologies(const Gauge& gauge, bool json) {
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const power::TechnologyInfo& technology : gauge.technologies()) {
    list.push_back({{"name", technology.name},
                    {"kind", technology.kind},
                    {"what", technology.what},
                    {"citation", technology.citation},
                    {"calibration", technology.calibration.empty() ? Json() : Json(technology.calibration)},
                    {"answers", technology.can_answer},
                    {"limit", technology.limit}});
    rows.push_back({technology.name, technology.kind, technology.what, technology.limit});
  }
  if (json) return print_json({{"command", "energy"}, {"technologies", list}});
  print_table({"technology", "kind", "what", "limit"}, rows);
}

void print_vocabulary(const Gauge& gauge, bool json) {
  const Json words = power::vocabulary(gauge);
  if (json) return print_json({{"command", "energy"}, {"words", words}});
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [key, values] : words.items()) {
    std::string text;
    for (const Json& value : values) text += (text.empty() ? "" : ", ") + value.get<std::string>();
    facts.emplace_back(key, text);
  }
  print_facts(facts);
}

/// The report of an export, whole before its files take their places.
void report_export(const EnergyArguments& arguments, const power::ExportedFiles& files) {
  if (arguments.json) {
    Json list = Json::array();
    for (const auto& path : files) list.push_back(io::utf8(path.string()));
    print_json({{"command", "energy"}, {"export", arguments.export_kind}, {"files", list}});
  } else {
    for (const auto& path : files) std::puts(io::shown(path.string()).c_str());
  }
  finish_report();
}

int run(const EnergyArguments& arguments) {
  const std::vector<std::filesystem::path> calibrations(arguments.calibrations.begin(), arguments.calibrations.end());
  const Gauge gauge(calibrations);
  const Json question = question_of(arguments);
  if (arguments.jsonl) {
    if (!question.empty()) throw Error("--jsonl takes its questions from stdin; expected no " + question.begin().key());
    std::ios::sync_with_stdio(false);
    return power::answer_lines(gauge, std::cin, std::cout) == 0 ? 0 : 1;
  }
  if (arguments.list) return print_vocabulary(gauge, arguments.json), 0;
  if (arguments.units) return print_units(gauge, arguments.json), 0;
  if (arguments.technologies) return print_technologies(gauge, arguments.json), 0;
  if (!arguments.export_kind.empty()) {
    if (arguments.out.empty()) throw Error("--export was given alone; expected --out DIR, the folder for its files");
    const std::string technology = question.value("technology", "osu018");
    if (technology.empty()) throw Error("--technology has an empty name; expected one of --technologies");
    power::export_tables(gauge, arguments.export_kind, technology, arguments.out,
                         [&](const power::ExportedFiles& files) { report_export(arguments, files); });
    return 0;
  }
  if (!arguments.activity.empty()) return answer_activity(question, arguments), 0;
  if (!arguments.scope.empty() || !arguments.clock.empty() || !arguments.window.empty() || !arguments.ports.empty() ||
      question.contains("tile"))
    throw Error("--scope, --clock, --window, --port and --tile are of --activity; expected --activity FILE");
  if (question.empty())
    throw Error(
        "no question was given; expected --format int8, say, or --memory, --events, --jsonl (narrowgauge energy "
        "--help)");
  const power::AnyQuestion any =
      power::question_from_json(question.dump(-1, ' ', false, Json::error_handler_t::replace));
  power::Answer answer;
  if (!arguments.a.empty() || !arguments.b.empty()) {
    const auto* unit = std::get_if<power::Question>(&any);
    if (arguments.a.empty() || arguments.b.empty() || !unit || !unit->record.empty() || unit->rung != power::Rung::L1)
      throw Error("--a and --b are the two factors for --rung L1; expected all three with --format");
    answer = answer_counted(gauge, gauge.usual_unit(*unit), arguments);
  } else {
    answer = std::visit([&](const auto& asked) { return gauge.energy(asked); }, any);
  }
  const std::string text = arguments.json ? power::to_json(answer) + "\n" : power::to_text(answer);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

void add_energy(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<EnergyArguments>();
  CLI::App& command =
      *app.add_subcommand("energy", "What a multiply-accumulate costs, from where, and how far off that may be");
  const auto field = [&](const std::string& flag, const std::string& key, const std::string& help,
                         const std::string& type, Field::Kind kind, const std::string& group) {
    const bool is_flag = kind == Field::yes || kind == Field::no;
    CLI::Option* option = is_flag ? command.add_flag_function(
                                        flag, [](std::int64_t) {}, help)
                                  : command.add_option(flag, help)->type_name(type);
    if (kind == Field::list) option->expected(1, 100);
    option->group(group);
    arguments->fields.push_back({option, key, kind});
  };
  const std::string unit = "Unit", operands = "Operands", answer = "Answer", other = "Other questions";
  field("--format", "format", "int1 ... uint16, integer, fp8_e4m3, fp8_e5m2, nvfp4, mxfp4, luq, bf16, fp16, tf32, fp32",
        "NAME", Field::text, unit);
  field("--a-format", "a_format", "Instead of --format: that of operand a (activations); fp4_e2m1, fp4_e3m0 too",
        "NAME", Field::text, unit);
  field("--b-format", "b_format", "And that of operand b (weights)", "NAME", Field::text, unit);
  field("--unit", "unit", "Instead of a format: a recorded unit by its name (--units), L2 or L3", "NAME", Field::text,
        unit);
  field("--a-width", "a_width", "Bits of activations, 1 to 16; integer only", "BITS", Field::number, unit);
  field("--b-width", "b_width", "Bits of weights, 1 to 16; integer only", "BITS", Field::number, unit);
  field("--a-unsigned", "a_signed", "Activations are not negative", "", Field::no, unit);
  field("--b-unsigned", "b_signed", "Weights are not negative", "", Field::no, unit);
  field("--structure", "structure", "How a product is made", "array|booth|wallace|serial|none", Field::text, unit);
  field("--lanes", "lanes", "Products a cycle, 1 to 1024", "N", Field::number, unit);
  field("--acc-width", "acc_width", "Bits of the accumulator, 1 to 128; integer only", "BITS", Field::number, unit);
  field("--products-only", "accumulator", "The unit without its accumulator", "", Field::no, unit);
  field("--schedule", "schedule", "The order in which products meet the accumulator", "plain|sorted|dual|muxed",
        Field::text, unit);
  field("--pipelined", "pipelined", "A register before the accumulator, as the array's cell has; integers, mxfp4", "",
        Field::yes, unit);
  field("--additions", "additions", "R, mean additions per weight; structure none (PANN)", "R", Field::number, unit);
  field("--a-values", "a", "Distribution of activations", "uniform|gauss|half_normal", Field::text, operands);
  field("--b-values", "b", "Distribution of weights", "uniform|gauss|half_normal", Field::text, operands);
  field("--recipe", "recipe", "L2, L3: how the unit was mapped to cells", "area|adders|speed", Field::text, unit);
  field("--stimulus", "stimulus", "L2, L3: the recorded stimulus by name", "NAME", Field::text, operands);
  command.add_option("--a", arguments->a, "L1: the left factor, M x K")
      ->type_name("A.npy")
      ->group(operands)
      ->check(named);
  command.add_option("--b", arguments->b, "L1: the right factor, K x N")
      ->type_name("B.npy")
      ->group(operands)
      ->check(named);
  const std::string waves = "Your own simulation";
  command.add_option("--activity", arguments->activity, "L1: waves of a simulation of the unit, VCD or FST")
      ->type_name("FILE")
      ->group(waves)
      ->check(named);
  field("--tile", "tile", "Instead of a format: the array of a tile, cell by cell; the scope is the tile's", "NAME",
        Field::text, waves);
  command.add_option("--scope", arguments->scope, "The unit's instance in them: top.u_mac")
      ->type_name("PATH")
      ->group(waves);
  command.add_option("--clock", arguments->clock, "Its clock; a name with dots is a whole path (clk_i, clk, clock)")
      ->type_name("NAME")
      ->group(waves);
  command.add_option("--window", arguments->window, "Only what lies between these times of the simulation, in seconds")
      ->type_name("FROM:TO")
      ->group(waves);
  command
      .add_option("--port", arguments->ports,
                  "The unit's port for a, b, a_scale, b_scale, valid, first or reset, if not a_i and so on: b=w_i")
      ->type_name("WHAT=NAME")
      ->group(waves);
  command.add_option("--python", arguments->python, "Python that has the narrowgauge package and pywellen")
      ->group(waves)
      ->capture_default_str();
  field("--technology", "technology", "osu018 if not given; --technologies lists them", "NAME", Field::text, answer);
  field("--rung", "rung", "L0 closed forms, L1 counted on --a and --b, L2 and L3 recorded netlists, L5 a chip",
        "best|L0|L1|L2|L3|L5", Field::text, answer);
  field("--mode", "mode", "refined, or the PANN paper's formulas, in bit flips", "refined|pann_paper", Field::text,
        answer);
  field("--reference", "reference", "What a cited integer constant stands for: 16 pipelined lanes, or a single one",
        "like_for_like|single_lane", Field::text, answer);
  field("--energy-per-flip", "energy_per_flip", "Joules; mode pann_paper", "J", Field::number, answer);
  field("--count", "count", "How many multiply-accumulates", "N", Field::number, answer);
  field("--strict", "strict", "Refuse to extrapolate", "", Field::yes, answer);
  field("--explain", "explain", "Derive the number, term by term", "", Field::yes, answer);
  command.add_flag("--json", arguments->json, "One JSON object, SI units without prefixes")->group(answer);
  command.add_option("--calibration", arguments->calibrations, "Calibrations of your own besides")
      ->type_name("FILE")
      ->group(answer)
      ->check(named);
  field("--memory", "memory", "An access to memory, from cited tables and CACTI's", "sram|dram|hbm2|gddr6", Field::text,
        other);
  field("--bits", "bits", "--memory: bits moved", "N", Field::number, other);
  field("--size-bytes", "size_bytes", "--memory sram: its size", "N", Field::number, other);
  field("--port-bits", "port_bits", "--memory sram of CACTI: bits of a word that an access moves", "N", Field::number,
        other);
  field("--operation", "operation", "--memory", "read|write|store_and_fetch", Field::text, other);
  field("--events", "events", "Events on a measured chip (L5)", "NAME=COUNT", Field::list, other);
  command.add_flag("--jsonl", arguments->jsonl, "Questions as JSON Lines on stdin, answers on stdout")->group(other);
  command.add_flag("--list", arguments->list, "List the words that questions may use")->group(other);
  command.add_flag("--units", arguments->units, "List the recorded units (L2, L3)")->group(other);
  command.add_flag("--technologies", arguments->technologies, "List the technologies")->group(other);
  command.add_option("--export", arguments->export_kind, "Write tables for another tool")
      ->type_name("accelergy|zigzag|hwcomponents")
      ->group(other);
  command.add_option("--out", arguments->out, "--export: the folder")->type_name("DIR")->group(other)->check(named);
  command.footer(
      "An answer is a number with its source: rung of the ladder, technology, calibration, and the error that this "
      "rung\n"
      "made on units it was not fitted to. docs/energy.md is the manual.\n"
      "\n"
      "Examples:\n"
      "  narrowgauge energy --format int8                               16 lanes of 8 bits like for like with nvfp4\n"
      "  narrowgauge energy --format nvfp4 --a-values gauss --b-values gauss --explain\n"
      "  narrowgauge energy --format int8 --structure array             one lane of an array multiplier\n"
      "  narrowgauge energy --format int --a-width 8 --b-width 4 --structure booth --acc-width 24\n"
      "  narrowgauge energy --format int8 --technology horowitz_45nm    a published constant, or a ratio times one\n"
      "  narrowgauge energy --unit fifo_32x4 --rung L2 --explain        a unit by its name; multiplies or not\n"
      "  narrowgauge energy --format int4 --mode pann_paper --explain   36 flips, place by place\n"
      "  narrowgauge energy --format int8 --rung L1 --a A.npy --b B.npy flips counted on your own data\n"
      "  narrowgauge energy --unit int8_mac_array --activity waves.fst --scope top.u_mac   on your own simulation\n"
      "  narrowgauge energy --tile tiny --activity waves.fst --scope ng_tile       the array of a tile, cell by cell\n"
      "  narrowgauge energy --memory sram --technology horowitz_45nm --size-bytes 32768 --bits 64\n"
      "  narrowgauge energy --memory sram --technology cacti_7nm --size-bytes 32768 --port-bits 512 --bits 512\n"
      "  narrowgauge energy --technology ice40up --events net=63.4 clock=1\n"
      "  echo '{\"format\": \"int8\", \"count\": 1e9}' | narrowgauge energy --jsonl\n"
      "  narrowgauge energy --export accelergy --technology osu018 --out tables");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace narrowgauge::cli
