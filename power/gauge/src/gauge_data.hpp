// SPDX-License-Identifier: Apache-2.0
// What a Gauge holds: the data files, read. Private to ng_power.
#pragma once

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "narrowgauge/power/gauge.hpp"
#include "narrowgauge/power/json.hpp"

namespace narrowgauge::power {
namespace data {

using Json = nlohmann::json;

inline constexpr const char* reference_technology = "osu018";
inline constexpr const char* usual_recipe = "area";  // what calibrations are fitted to

inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// "integer", "integer x fp4_e3m0": the formats that a unit multiplies.
std::string name_pair(const MacSpec& mac);

struct Calibration {
  std::string id;
  Features coefficients{};
  std::vector<MacSpec> characterized;       // units that were fitted, and those held out of whose kind none was
  std::optional<double> l2_scale;           // L3 / L2 energies, fitted
  std::map<std::string, RungError> errors;  // by rung, all held-out samples
  std::map<std::pair<std::string, std::string>, RungError> family_errors;  // those of a family

  /// The family whose errors are a unit's, which is its format; serial multipliers, repeated additions and the unsigned
  /// split have their own.
  static std::string family(const MacSpec& mac) {
    const std::string formats = name_pair(mac);
    if (mac.structure == Structure::none) return formats + ", repeated additions";
    if (mac.structure == Structure::serial) return formats + ", serial";
    return mac.schedule == Schedule::plain ? formats : formats + ", unsigned split";
  }
  std::optional<RungError> error(Rung rung, const MacSpec& mac) const {
    const std::string key(name(rung));
    if (const auto own = family_errors.find({key, family(mac)}); own != family_errors.end()) return own->second;
    if (const auto all = errors.find(key); all != errors.end()) return all->second;
    return std::nullopt;
  }
};

/// A technology calibrated by measurement: joules of an event, watts of a state.
struct Event {
  std::string name, unit, of;
  double value, low, high;
};

/// A unit's energy from events counted on the chip's own cells and wires; not a measurement of the unit.
struct Estimate {
  std::string unit, stimulus, stimulus_sha256, netlist_sha256;
  MacSpec mac;
  double macs_per_cycle = 1;
  double cycle_j = 0, low_j = 0, high_j = 0;  // low, high: over the rules by which pulses count
  double flip_flops_j = 0, nets_j = 0, dsp_j = 0;
};

/// A product that was measured on a board: its tile as a whole, while it repeats the product, less the same when it
/// rests.
struct Measurement {
  MacSpec mac;
  std::string tile, operands, bitstream_sha256, how;  // how: sensor, rail and triples, as a sentence
  double mac_j = 0, low_j = 0, high_j = 0;            // low, high: the interval
  double power_w = 0, macs_per_s = 0;                 // of the difference
};

struct Measured {
  std::string id;
  std::vector<Event> events;
  RungError error;
  std::vector<Estimate> estimates = {};
  std::vector<Measurement> products = {};
};

struct Operation {
  std::string op, format, source;
  double energy_j;
  bool verified;
};

struct Technology {
  std::string name, kind, what, citation, anchor;
  std::vector<Operation> operations;
  std::optional<Calibration> calibration;
  std::optional<Measured> measured;
  std::string fault;  // of its calibration file
};

struct Sample {
  std::string stimulus, stimulus_sha256;
  Json json;  // of the file: "L2", "L3", "glitch_factor"
};

struct Record {
  std::string unit, technology, netlist_sha256;
  MacSpec mac;
  double macs_per_cycle = 1;  // operations, if it is no multiply-accumulate
  std::vector<Sample> samples;
  std::string operation = {};  // empty: multiply-accumulates, `mac` describes them
  std::string recipe = usual_recipe;

  std::string each() const { return operation.empty() ? "one multiply-accumulate" : operation; }
};

/// Accesses of an SRAM by size and port, as CACTI computes them. Both axes are powers of two without gaps; entries
/// below `fewest_words` words are NaN.
struct PortTable {
  struct Values {
    double read_j = 0, write_j = 0, leakage_w = 0, area_m2 = 0, access_s = 0;
  };
  std::vector<double> sizes_bytes, widths_bits;
  std::vector<std::vector<Values>> entries = {};  // by size, then width
  std::vector<std::string> serves;                // technologies that have no table of their own
  std::string scaled;                             // how it follows from another node; empty: it does not
  std::string beside;  // what cited figures of that node are beside it; empty: there are none
  double fewest_words = 0;

  /// Between entries a power law of both. Throws FieldError outside.
  Values at(double size_bytes, double port_bits) const;
};

struct Memory {
  std::string memory, technology, citation;
  bool verified = false;
  std::vector<std::pair<double, double>> points = {};  // size_bytes, joules a bit, ascending
  double low_j = 0, high_j = 0;                        // joules a bit, where there are no points
  double write_low_j = 0, write_high_j = 0;
  std::string formula = {};  // of a bit read and written, where it is one
  std::optional<PortTable> ports = {};
};

/// Of power/units.json: a unit's description and its multiply-accumulates a cycle.
using Units = std::map<std::string, std::pair<MacSpec, double>>;

/// The parts that do not matter to the unit brought to their defaults, so that == compares what does.
MacSpec canonicalize(MacSpec mac);

/// "int8 x int8 array, 32-bit accumulator"
std::string describe(const MacSpec& mac);

/// Whether a sample of that stimulus answers the question: the stimulus it names, or the one like its distributions.
bool stimulus_fits(const Question& question, std::string_view stimulus);

/// Four significant digits.
std::string rounded(double value);

/// Where the number of an answer is from.
struct Source {
  Rung rung = Rung::L0;
  std::string technology, calibration = {}, recipe = {};
  /// Of a unit as it was recorded or estimated.
  std::string record = {}, netlist_sha256 = {}, stimulus = {}, stimulus_sha256 = {};
};
/// An answer in joules that says so.
Answer begin_answer(Source source);
/// Sets each to that of the term, the value to count x each, and their derivation where it is asked for.
Answer finish_answer(Answer answer, double count, bool explain, Term each);

}  // namespace data

struct Gauge::Data {
  std::map<std::string, data::Technology, std::less<>> technologies;
  std::vector<data::Record> records;                               // of the usual recipe
  std::map<std::string, std::vector<data::Record>> other_recipes;  // by recipe
  std::vector<data::Memory> memories;

  void add_technology(const data::Json& json);
  void add_calibration(const data::Json& json, const data::Units& units);
  void add_record(const data::Json& json, const data::Units& units);
  /// Those of the question's recipe.
  const std::vector<data::Record>& records_for(const Question& question) const;
  void add_estimate(const data::Json& json, const data::Units& units);

  /// Throws FieldError if there is none of this name, Error if its calibration could not be read.
  const data::Technology& technology(const std::string& name) const;
  /// "osu018, osu035": those that `wanted` takes; "none here" without any.
  std::string list_technologies(bool (*wanted)(const data::Technology&)) const;

  // What answers: gauge.cpp,
  Answer answer_refined(const Question& question) const;
  /// A note: the lanes of an answer to a question that gave none, and what 16 would give; empty where that is no
  /// question.
  std::string note_on_lanes(const Question& question) const;
  Answer answer_from_closed_form(const data::Technology& technology, const Question& question) const;
  Answer answer_from_features(const data::Technology& technology, const Question& question, Rung rung,
                              const Features& features, double cycles) const;
  /// From the first record that fits; none if there is none.
  std::optional<Answer> answer_from_records(const data::Technology& technology, const Question& question,
                                            Rung rung) const;
  /// From a sample of a record, at a rung that it has.
  Answer answer_from_record(const data::Technology& technology, const Question& question, const data::Record& record,
                            const data::Sample& sample, Rung rung) const;
  /// From records of another recipe than the usual one, L3 or L2. Throws FieldError where it has none.
  Answer answer_by_recipe(const data::Technology& technology, const Question& question) const;
  /// About a unit by its name: L3 or L2.
  Answer answer_by_name(const data::Technology& technology, const Question& question) const;
  /// Throws FieldError where nothing is known of a unit that multiplies these formats, naming what there is.
  void check_formats(const data::Technology& technology, const MacSpec& mac) const;
  void check_range(const data::Technology& technology, const Question& question, Answer& answer) const;
  Answer answer_by_paper(const Question& question) const;
  // gauge_carried.cpp,
  Answer answer_carried(const Question& question) const;
  // and gauge_cited.cpp.
  /// `carried`: the ratio is that of answer_carried().
  Answer answer_from_constants(const data::Technology& technology, const Question& question,
                               bool carried = false) const;
  Answer answer_from_measurement(const data::Technology& technology, const data::Measurement& measurement,
                                 const Question& question) const;
  Answer answer_from_estimates(const data::Technology& technology, const Question& question) const;
};

}  // namespace narrowgauge::power
