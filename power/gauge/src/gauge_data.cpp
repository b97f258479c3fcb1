// SPDX-License-Identifier: Apache-2.0
// The data files into a Gauge.
#include "gauge_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "gauge/data.hpp"
#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/json.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/power/json.hpp"

namespace narrowgauge::power {
namespace data {
namespace {

Calibration calibration_from_json(const Json& json, const Units& units) {
  Calibration calibration;
  calibration.id = json.at("id");
  const Json& coefficients = json.at("coefficients");
  if (coefficients.size() != feature_count)
    throw Error("has " + std::to_string(coefficients.size()) + " coefficients, the features are " +
                std::to_string(feature_count) + "; fit it again with this version");
  for (std::size_t i = 0; i < feature_count; ++i) {
    calibration.coefficients[i] = coefficients.is_object()
                                      ? coefficients.at(std::string(feature_names[i])).get<double>()
                                      : coefficients[i].get<double>();
  }
  const auto characterized = [&](const std::string& unit) {
    if (const auto found = units.find(unit); found != units.end())
      calibration.characterized.push_back(canonicalize(found->second.first));
  };
  for (const Json& unit : json.value("fitted_units", Json::array())) characterized(unit);
  // What was held out widens no range; of kinds of units of which none was fitted it is all that is known.
  std::vector<MacSpec> held_out;
  if (json.contains("l2_scale")) calibration.l2_scale = json["l2_scale"];
  // Records have L2 as simulated: its error is that before scaling.
  for (const auto& [rung, key] : {std::pair{"L0", "L0"}, {"L1", "L1"}, {"L2", "L2_raw"}, {"L2_scaled", "L2"}}) {
    if (!json.contains(key)) continue;
    const Json& of = json[key];
    calibration.errors[rung] = {of.at("error_mean_abs"), of.at("error_max"), static_cast<int>(of.at("held_out").size()),
                                "L3", "all formats"};
    for (const Json& sample : of["held_out"]) {
      const auto unit = units.find(sample.at("unit"));
      if (unit == units.end()) continue;
      held_out.push_back(canonicalize(unit->second.first));
      const std::string family = Calibration::family(unit->second.first);
      RungError& error = calibration.family_errors[{rung, family}];
      const double size = std::abs(sample.at("error").get<double>());
      error.mean_abs = (error.mean_abs * error.samples + size) / (error.samples + 1);
      error.max_abs = std::max(error.max_abs, size);
      ++error.samples;
      error.against = "L3";
      error.of = family;
    }
  }
  const auto alike = [](const MacSpec& x, const MacSpec& y) {
    return name_pair(x) == name_pair(y) && x.accumulator == y.accumulator && x.structure == y.structure &&
           x.schedule == y.schedule && x.a_signed == y.a_signed && x.b_signed == y.b_signed &&
           x.pipelined == y.pipelined;
  };
  const std::vector<MacSpec> fitted = calibration.characterized;
  for (const MacSpec& mac : held_out)
    if (std::none_of(fitted.begin(), fitted.end(), [&](const MacSpec& one) { return alike(one, mac); }))
      calibration.characterized.push_back(mac);
  std::vector<MacSpec> once;
  for (const MacSpec& mac : calibration.characterized)
    if (std::find(once.begin(), once.end(), mac) == once.end()) once.push_back(mac);
  calibration.characterized = std::move(once);
  return calibration;
}

Measured measured_from_json(const Json& json) {
  Measured measured{json.at("id"), {}, {}};
  for (const Json& product : json.value("products", Json::array())) {
    const Json& interval = product.at("interval_j");
    measured.products.push_back({mac_spec_from_json(product.at("mac")), product.at("tile"), product.at("operands"),
                                 product.value("bitstream_sha256", ""), product.at("how"),
                                 product.at("energy_per_mac_j"), interval.at(0), interval.at(1), product.at("power_w"),
                                 product.at("macs_per_s")});
  }
  if (!json.contains("event_energies")) return measured;
  for (const Json& event : json.at("event_energies")) {
    measured.events.push_back({event.at("name"), event.at("unit"), event.at("of"), event.at("value"),
                               event.at("range").at(0), event.at("range").at(1)});
  }
  const Json& left_out = json.at("left_out");
  measured.error = {left_out.at("error_mean_abs"), left_out.at("error_max"), left_out.at("rows"),
                    "the measurements, each left out of the fit in turn", "board currents"};
  return measured;
}

Memory memory_from_json(const Json& json) {
  Memory memory{json.at("memory"), json.at("technology"), json.at("citation"), json.at("verified")};
  if (json.contains("points")) {
    for (const Json& point : json["points"])
      memory.points.emplace_back(point.at("size_bytes"),
                                 point.at("energy_j").get<double>() / json.at("access_bits").get<double>());
  } else if (json.contains("transfer_bits")) {
    const auto per_bit = [&](const char* current) {
      return json.at(current).get<double>() * json.at("voltage_v").get<double>() * json.at("cycles").get<double>() /
             json.at("clock_hz").get<double>() / json.at("transfer_bits").get<double>();
    };
    memory.low_j = memory.high_j = per_bit("read_current_a");
    memory.write_low_j = memory.write_high_j = per_bit("write_current_a");
    memory.formula = "current x voltage x cycles / clock / bits of a transfer";
  } else {
    const double bits = json.at("access_bits");
    memory.low_j = memory.write_low_j = json.at("energy_low_j").get<double>() / bits;
    memory.high_j = memory.write_high_j = json.at("energy_high_j").get<double>() / bits;
  }
  return memory;
}

/// The line of a file of power/sram.
Memory memory_by_port(const Json& json) {
  Memory memory{json.at("memory"), json.at("technology"), json.at("citation"), true};
  PortTable table{.sizes_bytes = json.at("sizes_bytes").get<std::vector<double>>(),
                  .widths_bits = json.at("widths_bits").get<std::vector<double>>(),
                  .serves = json.at("serves").get<std::vector<std::string>>(),
                  .scaled = json.value("scaled", ""),
                  .beside = json.value("beside", "")};
  table.fewest_words = 8 * table.sizes_bytes.front() / table.widths_bits.front();
  for (std::size_t size = 0; size < table.sizes_bytes.size(); ++size) {
    auto& row = table.entries.emplace_back();
    for (std::size_t width = 0; width < table.widths_bits.size(); ++width) {
      const auto value = [&](const char* field) {
        const Json& entry = json.at(field).at(size).at(width);
        return entry.is_null() ? not_known : entry.get<double>();
      };
      row.push_back({value("read_j"), value("write_j"), value("leakage_w"), value("area_m2"), value("access_s")});
    }
  }
  memory.ports = std::move(table);
  return memory;
}

}  // namespace

std::string name_pair(const MacSpec& mac) {
  const std::string a(name(mac.a_format)), b(name(mac.b_format));
  return a == b ? a : a + " x " + b;
}

std::string describe(const MacSpec& mac) {
  std::string text = describe_formats(mac);
  const bool integers = mac.is(MacFormat::integer);
  if (integers) {
    text = std::string(mac.a_signed ? "int" : "uint") + std::to_string(mac.a_width) + " x " +
           (mac.b_signed ? "int" : "uint") + std::to_string(mac.b_width) + " " + std::string(name(mac.structure));
  }
  if (mac.lanes != 1) text += ", " + std::to_string(mac.lanes) + " lanes";
  if (!mac.accumulator) {
    text += ", products only";
  } else if (integers) {
    text += ", " + std::to_string(mac.acc_width) + "-bit accumulator";
  }
  if (mac.pipelined) text += ", pipelined";
  return text;
}

MacSpec canonicalize(MacSpec mac) {
  const MacSpec defaults;
  if (!mac.is(MacFormat::integer)) {
    MacSpec plain;
    plain.a_format = mac.a_format;
    plain.b_format = mac.b_format;
    if (mac.a_format == MacFormat::integer)
      std::tie(plain.a_width, plain.a_signed) = std::tie(mac.a_width, mac.a_signed);
    if (mac.b_format == MacFormat::integer)
      std::tie(plain.b_width, plain.b_signed) = std::tie(mac.b_width, mac.b_signed);
    plain.lanes = mac.lanes;
    plain.accumulator = mac.accumulator;
    plain.pipelined = mac.pipelined && mac.is(MacFormat::mxfp4);
    return plain;
  }
  if (!mac.accumulator) mac.acc_width = defaults.acc_width;
  if (mac.structure == Structure::none) {  // weights have a sign beside their width, and are sorted
    mac.b_signed = true;
    if (mac.schedule == Schedule::plain) mac.schedule = Schedule::sorted;
  }
  return mac;
}

std::string rounded(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}

Answer begin_answer(Source source) {
  Answer answer;
  answer.unit = "J";
  answer.rung = source.rung;
  answer.technology = std::move(source.technology);
  answer.calibration = std::move(source.calibration);
  answer.recipe = std::move(source.recipe);
  answer.record = std::move(source.record);
  answer.netlist_sha256 = std::move(source.netlist_sha256);
  answer.stimulus = std::move(source.stimulus);
  answer.stimulus_sha256 = std::move(source.stimulus_sha256);
  return answer;
}

Answer finish_answer(Answer answer, double count, bool explain, Term each) {
  answer.each = each.value;
  answer.value = count * answer.each;
  if (!explain) return answer;
  if (count == 1) {
    answer.explanation = std::move(each);
  } else {
    answer.explanation = Term{"all", answer.value, answer.unit, rounded(count) + " x each", {}};
    answer.explanation->parts.push_back(std::move(each));
  }
  return answer;
}

}  // namespace data

using namespace data;

void each_embedded(std::string_view prefix, const std::function<void(const Json&)>& take) {
  for (const DataFile& file : embedded_data()) {
    if (!file.path.starts_with(prefix)) continue;
    const bool lines = file.path.ends_with(".jsonl");
    std::size_t begin = 0;
    for (int number = 1; begin < file.text.size(); ++number) {
      const std::size_t end = lines ? file.text.find('\n', begin) : std::string_view::npos;
      const std::string_view text = file.text.substr(begin, end - begin);
      begin = end == std::string_view::npos ? end : end + 1;
      try {
        take(Json::parse(text));
      } catch (const std::exception& error) {
        throw Error("power/" + std::string(file.path) + (lines ? ":" + std::to_string(number) : "") + ": " +
                    error.what());
      }
    }
  }
}

Json embedded_json(std::string_view path) {
  for (const DataFile& file : embedded_data())
    if (file.path == path) return Json::parse(file.text);
  return {};
}

Json embedded_record(std::string_view technology, std::string_view unit) {
  using Records = std::map<std::pair<std::string, std::string>, Json, std::less<>>;
  static const Records records = [] {
    Records found;
    each_embedded("records/", [&](const Json& record) {
      found[{record.at("technology").get<std::string>(), record.at("unit").get<std::string>()}] = record;
    });
    return found;
  }();
  const auto found = records.find(std::pair(std::string(technology), std::string(unit)));
  return found == records.end() ? Json() : found->second;
}

void Gauge::Data::add_technology(const Json& json) {
  Technology& technology = technologies[json.at("name")];
  technology.name = json.at("name");
  technology.kind = json.at("kind");
  technology.what = json.at("what");
  technology.citation = json.value("citation", "");
  technology.anchor = json.value("anchor", "");
  for (const Json& op : json.value("operations", Json::array())) {
    technology.operations.push_back(
        {op.at("op"), op.at("format"), op.at("source"), op.at("energy_j"), op.at("verified")});
  }
}

void Gauge::Data::add_calibration(const Json& json, const Units& units) {
  const std::string name = json.at("technology");
  Technology& technology = technologies[name];
  if (technology.name.empty()) {
    technology.name = name;
    technology.kind = "liberty";
    technology.what = "a calibration of the user's";
  }
  if (json.contains("products")) {
    technology.kind = "measured";
    technology.what = json.at("about");
  }
  if (json.contains("event_energies") || json.contains("products")) {
    technology.measured = measured_from_json(json);
  } else {
    technology.calibration = calibration_from_json(json, units);
  }
}

void Gauge::Data::add_record(const Json& json, const Units& units) {
  Record record{
      json.at("unit"), json.at("technology"), json.at("netlist_sha256"), {}, 1, {}, json.value("operation", "")};
  if (!record.operation.empty()) {
    record.macs_per_cycle = json.at("operations_per_cycle");
  } else {
    const auto unit = units.find(record.unit);
    if (unit == units.end()) return;  // a record of a unit that is no more: characterize.py --check tells of it
    std::tie(record.mac, record.macs_per_cycle) = unit->second;
  }
  for (const Json& sample : json.at("samples")) {
    record.samples.push_back({sample.at("stimulus"), sample.at("stimulus_sha256"), sample});
  }
  record.recipe = json.value("recipe_name", usual_recipe);
  (record.recipe == usual_recipe ? records : other_recipes[record.recipe]).push_back(std::move(record));
}

const std::vector<Record>& Gauge::Data::records_for(const Question& question) const {
  static const std::vector<Record> none;
  if (question.recipe.empty() || question.recipe == usual_recipe) return records;
  const auto found = other_recipes.find(question.recipe);
  return found == other_recipes.end() ? none : found->second;
}

void Gauge::Data::add_estimate(const Json& json, const Units& units) {
  const auto unit = units.find(json.at("unit"));
  std::optional<Measured>& measured = technologies[json.at("technology")].measured;
  if (unit == units.end() || !measured || json.at("calibration") != measured->id) return;  // stale: its check tells
  const Json& parts = json.at("parts");
  const Json& range = json.at("energy_per_cycle_range_j");
  measured->estimates.push_back({unit->first, json.at("stimulus"), json.at("stimulus_sha256"),
                                 json.at("netlist_sha256"), unit->second.first, unit->second.second,
                                 json.at("energy_per_cycle_j"), range.at(0), range.at(1), parts.at("flip_flops_j"),
                                 parts.at("nets_j"), parts.at("dsp_j")});
}

const Technology& Gauge::Data::technology(const std::string& name) const {
  const auto found = technologies.find(name);
  if (found == technologies.end())
    throw FieldError("technology", name.empty() ? "missing" : name,
                     "one of " + list_technologies([](const Technology&) { return true; }));
  if (!found->second.fault.empty())
    throw Error("The calibration of technology " + name + " is broken: " + found->second.fault);
  return found->second;
}

std::string Gauge::Data::list_technologies(bool (*wanted)(const Technology&)) const {
  std::string names;
  for (const auto& [name, technology] : technologies)
    if (wanted(technology)) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none here" : names;
}

Gauge::Gauge() : Gauge(std::span<const std::filesystem::path>()) {}

Gauge::Gauge(std::span<const std::filesystem::path> calibrations) {
  auto data = std::make_unique<Data>();
  Units units;
  each_embedded("units.json", [&](const Json& json) {
    for (const Json& unit : json.at("units"))
      if (unit.contains("mac"))
        units[unit.at("name")] = {mac_spec_from_json(unit.at("mac")), unit.at("macs_per_cycle")};
  });
  each_embedded("technologies/", [&](const Json& json) { data->add_technology(json); });
  each_embedded("calibration/", [&](const Json& json) {
    try {
      data->add_calibration(json, units);
    } catch (const std::exception& error) {  // of this technology only: the others go on answering
      data->technologies[json.value("technology", "")].fault = error.what();
    }
  });
  for (const char* folder : {"records/", "recipes/records/"})
    each_embedded(folder, [&](const Json& json) { data->add_record(json, units); });
  each_embedded("ice40up/estimates.json", [&](const Json& json) {
    for (const Json& unit : json.at("units")) data->add_estimate(unit, units);
  });
  each_embedded("memory.json", [&](const Json& json) {
    for (const Json& memory : json.at("memories")) data->memories.push_back(memory_from_json(memory));
  });
  each_embedded("sram/", [&](const Json& json) { data->memories.push_back(memory_by_port(json)); });
  for (const auto& path : calibrations) {
    try {
      data->add_calibration(io::read_json(path.string()), units);
    } catch (const io::Error& error) {
      throw Error(std::string("The calibration cannot be read: ") + error.what());
    } catch (const std::exception& error) {
      throw Error("Calibration " + io::shown(path.string()) + " is not one (" + error.what() +
                  "); docs/energy_ladder.md says how to make it");
    }
  }
  data_ = std::move(data);
}

Gauge::~Gauge() = default;
Gauge::Gauge(Gauge&&) noexcept = default;
Gauge& Gauge::operator=(Gauge&&) noexcept = default;

const Gauge& gauge() {
  static const Gauge built_in;
  return built_in;
}

std::vector<TechnologyInfo> Gauge::technologies() const {
  std::vector<TechnologyInfo> list;
  for (const auto& [name, technology] : data_->technologies) {
    const bool recorded = std::any_of(data_->records.begin(), data_->records.end(),
                                      [&](const Record& record) { return record.technology == technology.name; });
    TechnologyInfo info{name,
                        technology.kind,
                        technology.what,
                        technology.citation,
                        technology.calibration ? technology.calibration->id : "",
                        technology.kind == "cited" || technology.calibration || technology.measured || recorded,
                        ""};
    const auto flow = data_->technologies.find(technology.anchor);
    if (!technology.fault.empty()) {
      info.limit = "its calibration is broken: " + technology.fault;
    } else if (technology.kind == "cited") {
      if (flow == data_->technologies.end() || !flow->second.calibration)
        info.limit = "no calibration of " + technology.anchor + " for ratios: listed and recorded operations only";
    } else if (!info.can_answer) {
      info.limit = "neither calibration nor records in this build";
    } else if (!technology.calibration) {
      if (!technology.measured) {
        info.limit = "no calibration in this build: recorded units only";
      } else {
        info.limit = technology.measured->events.empty() ? "products that were measured on a board"
                                                         : "events on the chip and a few units";
      }
    }
    list.push_back(std::move(info));
  }
  return list;
}

std::vector<RecordInfo> Gauge::records() const {
  std::vector<RecordInfo> list;
  for (const Record& record : data_->records) {
    for (const Sample& sample : record.samples) {
      const auto joules = [&](const char* rung) {
        return sample.json.contains(rung) ? sample.json[rung].at("energy_j").get<double>() / record.macs_per_cycle
                                          : not_known;
      };
      list.push_back(
          {record.unit, record.technology, sample.stimulus, record.mac, joules("L2"), joules("L3"), record.operation});
    }
  }
  return list;
}

std::vector<std::string> Gauge::recipes() const {
  std::vector<std::string> list{usual_recipe};
  for (const auto& [recipe, records] : data_->other_recipes) list.push_back(recipe);
  return list;
}

std::vector<MemoryQuestion> Gauge::memories() const {
  std::vector<MemoryQuestion> list;
  for (const Memory& memory : data_->memories) {
    MemoryQuestion question{memory.memory, memory.technology};
    if (!memory.points.empty()) question.size_bytes = memory.points.front().first;
    if (memory.ports) {
      question.size_bytes = memory.ports->sizes_bytes.front();
      question.port_bits = memory.ports->widths_bits.front();
    }
    list.push_back(std::move(question));
  }
  return list;
}

std::string Gauge::sram_table(const std::string& technology) const {
  for (const Memory& memory : data_->memories) {
    if (!memory.ports) continue;
    const auto& serves = memory.ports->serves;
    if (memory.technology == technology || std::find(serves.begin(), serves.end(), technology) != serves.end())
      return memory.technology;
  }
  return {};
}

}  // namespace narrowgauge::power
