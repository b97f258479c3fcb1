// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/power/export.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <nlohmann/json.hpp>

#include "features/text.hpp"
#include "gauge/data.hpp"
#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/power/json.hpp"

namespace narrowgauge::power {
namespace {

using OrderedJson = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Exported {
  const char* name;
  int exponent, mantissa;  // 0, 0: integer
  int bits;
};
constexpr Exported formats[] = {{"int8", 0, 0, 8},   {"int4", 0, 0, 4},  {"int2", 0, 0, 2},     {"int16", 0, 0, 16},
                                {"uint8", 0, 0, 8},  {"uint4", 0, 0, 4}, {"fp8_e4m3", 4, 3, 8}, {"fp8_e5m2", 5, 2, 8},
                                {"nvfp4", 2, 1, 4},  {"mxfp4", 2, 1, 4}, {"bf16", 8, 7, 16},    {"fp16", 5, 10, 16},
                                {"tf32", 8, 10, 19}, {"fp32", 8, 23, 32}};

/// Of the hardware that makes one multiply-accumulate a cycle: a lane's share of the recorded unit. NaN: not known.
struct Physical {
  double area_m2 = std::numeric_limits<double>::quiet_NaN();
  double leakage_w = area_m2, period_s = area_m2;
};

/// What the record of the answer's unit says; nothing where the answer comes from no record.
Physical physical_of(const Answer& answer) {
  if (answer.record.empty()) return {};
  const nlohmann::json record = embedded_record(answer.technology, answer.record);
  if (!record.is_object()) return {};
  const auto number = [&](const char* key) {
    const auto found = record.find(key);
    return found != record.end() && found->is_number() ? found->get<double>() : Physical{}.area_m2;
  };
  const double lanes = number("macs_per_cycle");
  return {number("area_m2") / lanes, answer.leakage_w / lanes, number("period_s")};
}

/// As YAML 1.1 reads it: a number with an exponent has a point.
std::string yaml_number(double value) {
  std::string text = number_text(value);
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

struct Row {
  Exported format;
  Answer answer;
  Physical physical;

  bool known() const { return !std::isnan(physical.area_m2); }
};

/// Folders that are made for files, and go again unless files came into them.
class Folders {
 public:
  Folders() = default;
  ~Folders() {
    std::error_code fault;  // not empty: they stay
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) fs::remove(*folder, fault);
  }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;

  /// With those it lies in; what cannot be made is found out by who writes to it.
  void make(const fs::path& folder) {
    if (!folder.parent_path().empty() && folder.parent_path() != folder) make(folder.parent_path());
    std::error_code fault;
    if (fs::create_directory(folder, fault)) made_.push_back(folder);
  }

 private:
  std::vector<fs::path> made_;
};

struct Tables {
  const Gauge& gauge;
  std::string technology;
  fs::path folder;
  std::vector<Row> rows;
  std::vector<fs::path> written;
  Folders folders;
  std::list<io::OutputFile> files;

  void write(const fs::path& name, const std::string& text) {
    const fs::path path = folder / name;
    folders.make(path.parent_path());
    try {
      io::OutputFile& file = files.emplace_back(path.string());
      file.write(text);
      file.close();
    } catch (const io::Error& error) {
      throw Error(error.what());
    }
    written.push_back(path);
  }

  /// Asks for every format, like for like: units of 16 lanes, integers with Wallace multipliers and a register before
  /// the accumulator; of 32 or one where that is what is priced. Operands: uniform, wide floating-point ones Gaussian.
  void price() {
    OrderedJson provenance = OrderedJson::array();
    for (const Exported& format : formats) {
      OrderedJson said;
      for (const int lanes : {16, 32, 1}) {
        OrderedJson question{{"format", format.name}, {"technology", technology}, {"lanes", lanes}};
        if (format.exponent == 0) question["structure"] = "wallace";
        if (format.exponent == 0 || std::string_view(format.name) == "mxfp4") question["pipelined"] = true;
        if (format.exponent == 0 && format.bits > 12) question["acc_width"] = 48;  // 16 products of 32 bits
        try {
          Answer answer = gauge.energy(std::get<Question>(question_from_json(question.dump())));
          const Physical physical = physical_of(answer);
          said = {{"name", format.name}, {"question", question}, {"answer", OrderedJson::parse(to_json(answer))}};
          // NaN becomes null: not known.
          said["of_a_lane"] = {
              {"area_m2", physical.area_m2}, {"leakage_w", physical.leakage_w}, {"period_s", physical.period_s}};
          rows.push_back({format, std::move(answer), physical});
          break;
        } catch (const FieldError& error) {
          if (said.empty())
            said = {
                {"name", format.name}, {"question", question}, {"error", OrderedJson::parse(to_json(error))["error"]}};
        }
      }
      provenance.push_back(std::move(said));
    }
    if (rows.empty()) throw Error("Nothing can be exported: technology " + technology + " prices none of the formats");
    write("provenance.json", provenance.dump(1) + "\n");
  }

  /// The energy of a 64-bit access, or NaN if the technology has no such memory.
  double access_j(const char* memory, double size_bytes, MemoryQuestion::Operation operation) const {
    MemoryQuestion question{memory, technology};
    question.bits = 64;
    question.size_bytes = size_bytes;
    question.operation = operation;
    question.strict = true;
    try {
      return gauge.energy(question).value;
    } catch (const FieldError&) {
      return std::nan("");
    }
  }

  std::string picojoules(double joules) const { return yaml_number(joules * 1e12); }

  void accelergy() {
    double error = 0;
    bool known = true;
    for (const Row& row : rows) {
      known = known && row.answer.error;
      if (row.answer.error) error = std::max(error, row.answer.error->mean_abs);
    }
    const int accuracy = known ? std::clamp(static_cast<int>(std::lround(100 * (1 - error))), 1, 100) : 1;
    write(
        "narrowgauge.table.yaml",
        "# Set of tables for accelergy-table-based-plug-ins: add this folder to the roots in accelergy_config.yaml.\n"
        "# accuracy: 100 - the largest mean error of the rungs in percent; 1 where it is not known (provenance.json).\n"
        "# area: square micrometres of a lane, nan where no record has it; leak: picojoules of a cycle of the record.\n"
        "name: narrowgauge_" +
            technology + "\ntechnology: " + technology + "\naccuracy: " + std::to_string(accuracy) +
            "\npath_to_data_dir: ./data\n");
    std::string integers = "technology,datawidth,format,action,energy,area\n";
    std::string floats = "technology,exponent,mantissa,format,action,energy,area\n";
    std::string ert =
        "# Energy reference table for Timeloop and Accelergy, picojoules. Rename the tables to the components\n"
        "# of your architecture. leak: of a lane in a cycle of the record's period, where a record has both.\n"
        "ERT:\n  version: 0.4\n  tables:\n";
    std::string art =
        "# Area reference table for Timeloop and Accelergy, square micrometres of a lane, without those not known.\n"
        "ART:\n  version: 0.4\n  tables:";
    bool areas = false;
    for (const Row& row : rows) {
      const std::string name = row.format.name;
      const std::string shape = row.format.exponent == 0
                                    ? std::to_string(row.format.bits)
                                    : std::to_string(row.format.exponent) + "," + std::to_string(row.format.mantissa);
      ert += "  - name: system.mac_" + name + "\n    actions:\n";
      const std::string area = row.known() ? yaml_number(row.physical.area_m2 * 1e12) : "nan";
      const double leak = row.physical.leakage_w * row.physical.period_s;
      for (const char* action : {"mac_random", "compute", "leak"}) {
        const double energy = std::string_view(action) == "leak" ? leak : row.answer.each;
        if (std::isnan(energy)) continue;
        (row.format.exponent == 0 ? integers : floats) +=
            technology + "," + shape + "," + name + "," + action + "," + picojoules(energy) + "," + area + "\n";
        ert +=
            std::string("    - name: ") + action + "\n      arguments: {}\n      energy: " + picojoules(energy) + "\n";
      }
      if (row.known()) art += "\n  - name: system.mac_" + name + "\n    area: " + area;
      areas = areas || row.known();
    }
    write("data/intmac.csv", integers);
    write("data/fpmac.csv", floats);
    write("ERT.yaml", ert);
    write("ART.yaml", art + (areas ? "\n" : " []\n"));
  }

  static void zigzag_memory(std::string& out, const char* name, long size_bits, double read_pj, double write_pj,
                            const std::vector<const char*>& operands, int width, const char* served) {
    out += std::string("  ") + name + ":\n    size: " + std::to_string(size_bits) +
           "\n    r_cost: " + number_text(read_pj) + "\n    w_cost: " + number_text(write_pj) +
           "\n    area: 0\n    latency: 1\n    operands: [";
    for (std::size_t i = 0; i < operands.size(); ++i) out += (i ? ", " : "") + std::string(operands[i]);
    out += "]\n    ports:\n";
    for (const bool reads : {true, false}) {
      out += std::string("      - name: ") + (reads ? "r_port_1" : "w_port_1") +
             "\n        type: " + (reads ? "read" : "write") + "\n        bandwidth_min: " + std::to_string(width) +
             "\n        bandwidth_max: " + std::to_string(width) + "\n        allocation:\n";
      for (const std::string operand : operands) {
        out += "          - " + operand + (reads ? ", tl\n" : ", fh\n");
        if (operand == "O") out += "          - O" + std::string(reads ? ", th\n" : ", fl\n");
      }
    }
    out += std::string("    served_dimensions: ") + served + "\n";
  }

  void zigzag() {
    using Op = MemoryQuestion::Operation;
    const char* const drams[] = {"dram", "hbm2", "gddr6"};
    const char* const* dram = std::find_if(std::begin(drams), std::end(drams), [&](const char* memory) {
      return !std::isnan(access_j(memory, 0, Op::read));
    });
    const bool whole = dram != std::end(drams) && !std::isnan(access_j("sram", 1 << 20, Op::read));
    for (const Row& row : rows) {
      const std::string name = row.format.name;
      std::string out = "# ZigZag hardware, picojoules: an 8 x 8 array of " + name + " multiply-accumulates in " +
                        technology +
                        ".\n# unit_energy contains the accumulator, so acc costs nothing more.\n# unit_area is square "
                        "millimetres of a "
                        "lane" +
                        (row.known() ? ", of the record " + row.answer.record + ", whose shortest period is " +
                                           quantity_text(row.physical.period_s, "s") + " and whose lane leaks " +
                                           quantity_text(row.physical.leakage_w, "W")
                                     : "; no record has it, so it is .nan, which no search takes for free") +
                        ".\n# Areas of memories are not known and 0.\n";
      if (whole) {
        out += "name: narrowgauge_" + name + "\n\nmemories:\n";
        zigzag_memory(out, "acc", 32, 0, 0, {"O"}, 32, "[]");
        zigzag_memory(out, "sram_1MB", 8L << 20, access_j("sram", 1 << 20, Op::read) * 1e12,
                      access_j("sram", 1 << 20, Op::write) * 1e12, {"I1", "I2", "O"}, 64, "[D1, D2]");
        zigzag_memory(out, *dram, 80000000000L, access_j(*dram, 0, Op::read) * 1e12,
                      access_j(*dram, 0, Op::write) * 1e12, {"I1", "I2", "O"}, 64, "[D1, D2]");
        out += "\n";
      } else {
        out += "# " + technology + " has no memories: put this part into a hardware file that has some.\n";
      }
      out += "operational_array:\n  input_precision: [" + std::to_string(row.format.bits) + ", " +
             std::to_string(row.format.bits) + "]\n  unit_energy: " + picojoules(row.answer.each) +
             "\n  unit_area: " + (row.known() ? yaml_number(row.physical.area_m2 * 1e6) : ".nan") +
             "\n  dimensions: [D1, D2]\n  sizes: [8, 8]\n";
      write("narrowgauge_" + name + ".yaml", out);
    }
  }

  void hwcomponents() {
    std::string out =
        "# SPDX-License-Identifier: Apache-2.0\n"
        "\"\"\"Multiply-accumulate units of Narrowgauge as a component of HWComponents, in " +
        technology +
        ".\n\nEnergies in joules; provenance.json has rung, calibration and error of each. Area, leakage and period "
        "are\n"
        "those of a lane of the recorded unit, which makes one multiply-accumulate a cycle; they are nan where no\n"
        "record has them, and so is what is summed with them.\n\"\"\"\n\n"
        "from math import nan\n\n"
        "from hwcomponents import ActionCost, ComponentModel, action\n\n"
        "ENERGY = {\n";
    for (const Row& row : rows)
      out += std::string("    \"") + row.format.name + "\": " + number_text(row.answer.each) + ",\n";
    out += "}\n# Square metres, watts of leakage, seconds of the shortest period.\nPHYSICAL = {\n";
    for (const Row& row : rows)
      out += std::string("    \"") + row.format.name + "\": (" + number_text(row.physical.area_m2) + ", " +
             number_text(row.physical.leakage_w) + ", " + number_text(row.physical.period_s) + "),\n";
    out +=
        "}\n\n\n"
        "class NarrowgaugeMac(ComponentModel):\n"
        "    \"\"\"One multiply-accumulate of a number format.\n\n"
        "    Parameters\n    ----------\n"
        "    number_format : str\n        A key of ENERGY: int8, nvfp4, ...\n"
        "    \"\"\"\n\n"
        "    component_name = [\"narrowgauge_mac\", \"NarrowgaugeMac\"]\n"
        "    priority = 0.5\n\n"
        "    def __init__(self, number_format: str = \"int8\"):\n"
        "        assert number_format in ENERGY, f\"number_format {number_format} is not one of {', '.join(ENERGY)}\"\n"
        "        area, leakage, self.period = PHYSICAL[number_format]\n"
        "        super().__init__(area=area, leak_power=leakage)\n"
        "        self.number_format = number_format\n\n"
        "    @action\n"
        "    def compute(self) -> ActionCost:\n"
        "        \"\"\"One multiply-accumulate: joules, seconds, and how many a second.\"\"\"\n"
        "        energy = ENERGY[self.number_format]\n"
        "        return ActionCost(energy=energy, latency=self.period, throughput=1 / self.period)\n";
    write("hwcomponents_narrowgauge.py", out);
    // HWComponents looks into every installed package whose name begins so: pip install FOLDER.
    write("pyproject.toml",
          "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n\n"
          "[project]\nname = \"hwcomponents-narrowgauge\"\nversion = \"" NG_VERSION
          "\"\n"
          "dependencies = [\"hwcomponents\"]\n\n"
          "[tool.setuptools]\npy-modules = [\"hwcomponents_narrowgauge\"]\n");
  }
};

}  // namespace

ExportedFiles export_tables(const Gauge& gauge, std::string_view kind, std::string_view technology,
                            const fs::path& folder, const std::function<void(const ExportedFiles&)>& announce) {
  if (kind != "accelergy" && kind != "zigzag" && kind != "hwcomponents")
    throw FieldError("export", std::string(kind), "accelergy, zigzag or hwcomponents");
  Tables tables{gauge, technology.empty() ? "osu018" : std::string(technology), folder, {}, {}, {}, {}};
  // Tables for accelerators on chips of one's own: not what an FPGA was measured at.
  std::vector<TechnologyInfo> known = gauge.technologies();
  std::erase_if(known, [](const TechnologyInfo& one) { return one.kind == "measured"; });
  if (std::none_of(known.begin(), known.end(), [&](const auto& one) { return one.name == tables.technology; })) {
    std::vector<std::string_view> names(known.size());
    std::transform(known.begin(), known.end(), names.begin(),
                   [](const auto& one) { return std::string_view(one.name); });
    throw FieldError("technology", tables.technology, "one of " + join(names));
  }
  tables.price();
  if (kind == "accelergy") {
    tables.accelergy();
  } else if (kind == "zigzag") {
    tables.zigzag();
  } else {
    tables.hwcomponents();
  }
  if (announce) announce(tables.written);
  for (io::OutputFile& file : tables.files) file.commit();
  return tables.written;
}

}  // namespace narrowgauge::power
