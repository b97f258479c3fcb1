// SPDX-License-Identifier: Apache-2.0
// Answers about units: closed forms, records, the paper's formulas.
#include "narrowgauge/power/gauge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "features/paper.hpp"
#include "features/text.hpp"
#include "gauge_data.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/power/json.hpp"

namespace narrowgauge::power {

using namespace data;

namespace {

/// What an operand is distributed like under a stimulus of the flow.
bool stimulus_is(std::string_view stimulus, const OperandStatistics& operand, bool is_signed) {
  switch (operand.distribution) {
    case Distribution::uniform:
      return stimulus == "uniform";
    case Distribution::gauss:
      return stimulus == "gauss" || (stimulus == "half_normal" && is_signed);
    case Distribution::half_normal:
      return stimulus == "half_normal" && !is_signed;
    case Distribution::histogram:
      return false;
  }
  return false;
}

bool is_signed(const MacSpec& mac, bool b) {
  return mac.format_of(b) != MacFormat::integer || (b ? mac.b_signed : mac.a_signed);
}

std::string shown(bool value) { return value ? "true" : "false"; }
template <class Enumeration>
std::string shown(Enumeration value) {
  return std::string(name(value));
}

}  // namespace

bool data::stimulus_fits(const Question& question, std::string_view stimulus) {
  if (!question.stimulus.empty()) return stimulus == question.stimulus;
  const MacSpec& mac = question.unit.mac;
  if (!stimulus_is(stimulus, question.unit.a, is_signed(mac, false))) return false;
  // Of repeated additions a stimulus is the activations'; weights are Gaussian.
  if (mac.structure == Structure::none) return question.unit.b.distribution == Distribution::gauss;
  return stimulus_is(stimulus, question.unit.b, is_signed(mac, true));
}

void Gauge::Data::check_formats(const Technology& technology, const MacSpec& mac) const {
  if (has_closed_form(mac)) return;
  std::set<std::string> known;
  const std::string& flow = technology.anchor.empty() ? technology.name : technology.anchor;
  for (const Record& record : records)
    if (record.technology == flow && record.operation.empty()) known.insert(name_pair(record.mac));
  if (const auto found = technologies.find(flow); found != technologies.end()) {
    if (found->second.calibration)
      for (const MacSpec& unit : found->second.calibration->characterized) known.insert(name_pair(unit));
    if (found->second.measured) {
      for (const Estimate& estimate : found->second.measured->estimates) known.insert(name_pair(estimate.mac));
      for (const Measurement& product : found->second.measured->products) known.insert(name_pair(product.mac));
    }
  }
  if (known.contains(name_pair(mac))) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  throw FieldError(mac.one_format() ? "format" : "b_format", std::string(name(mac.b_format)),
                   "what " + technology.name + " has units of, in both operands: " + join(names) + "; of " +
                       describe_formats(mac) + " there is neither a unit nor a calibration yet");
}

void Gauge::Data::check_range(const Technology& technology, const Question& question, Answer& answer) const {
  const MacSpec asked = canonicalize(question.unit.mac);
  double distance = 0;
  const auto outside = [&](const char* field, const std::string& value, const std::string& range, double how_far = 1) {
    const std::string expected = range + ", which was characterized in " + technology.name;
    if (question.strict) throw FieldError(field, value, expected + " (strict)");
    answer.in_range = false;
    distance += how_far;
    answer.notes.push_back(std::string(field) + " is " + value + ", an extrapolation; expected " + expected + ".");
  };
  // The rule by which errors grow: held-out units' times 1 + the distance, which is 1 for each name (a structure, a
  // sign) that no such unit has, and the doublings to the nearest one for each number.
  struct Growth {
    const double& distance;
    Answer& answer;
    ~Growth() {
      if (distance == 0 || !answer.error) return;
      answer.error->mean_abs *= 1 + distance;
      answer.error->max_abs *= 1 + distance;
      answer.notes.push_back("The error is that of held-out units times " + rounded(1 + distance) +
                             ": 1 + the distance from what was characterized.");
    }
  } growth{distance, answer};
  std::vector<const MacSpec*> alike;
  for (const MacSpec& mac : technology.calibration->characterized) alike.push_back(&mac);
  if (alike.empty()) return outside("technology", technology.name, "one whose calibration lists fitted_units");
  // From coarse to fine: keeps what is like the question in the next field too, if anything is.
  std::vector<const MacSpec*> same;
  const auto narrow = [&](const char* field, auto member) {
    same.clear();
    for (const MacSpec* mac : alike)
      if (mac->*member == asked.*member) same.push_back(mac);
    if (!same.empty()) {
      alike.swap(same);
      return true;
    }
    std::vector<std::string> values;
    for (const MacSpec* mac : alike) values.push_back(shown(mac->*member));
    std::sort(values.begin(), values.end());
    const auto last = std::unique(values.begin(), values.end());
    outside(field, shown(asked.*member), join(std::vector<std::string_view>(values.begin(), last)));
    return false;
  };
  const auto doublings = [](double x, double y) { return std::abs(std::log2(x / y)); };
  const auto between = [&](const char* field, auto member) {
    const auto [low, high] = std::minmax_element(
        alike.begin(), alike.end(), [&](const MacSpec* x, const MacSpec* y) { return x->*member < y->*member; });
    const double least = (*low)->*member, most = (*high)->*member;
    const bool inside = asked.*member >= least && asked.*member <= most;
    if (!inside)
      outside(field, rounded(asked.*member), rounded(least) + (most > least ? " to " + rounded(most) : ""),
              doublings(asked.*member, asked.*member < least ? least : most));
    return inside;
  };
  if (!narrow(asked.one_format() ? "format" : "a_format", &MacSpec::a_format)) return;
  if (!narrow("b_format", &MacSpec::b_format)) return;
  narrow("accumulator", &MacSpec::accumulator);
  narrow("pipelined", &MacSpec::pipelined);
  if (asked.is(MacFormat::integer)) {
    narrow("structure", &MacSpec::structure);
    narrow("schedule", &MacSpec::schedule);
    narrow("a_signed", &MacSpec::a_signed);
    narrow("b_signed", &MacSpec::b_signed);
  }
  bool inside = between("lanes", &MacSpec::lanes);
  if (!asked.is(MacFormat::integer)) return;
  inside &= between("a_width", &MacSpec::a_width);
  inside &= between("b_width", &MacSpec::b_width);
  if (asked.accumulator) inside &= between("acc_width", &MacSpec::acc_width);
  if (asked.structure == Structure::none) inside &= between("additions", &MacSpec::additions);
  if (!inside) return;
  // Each in its range is not yet all of them together: one unit must be as large in everything, and one as small.
  const auto within = [&](const MacSpec& small, const MacSpec& large) {
    return small.lanes <= large.lanes && small.a_width <= large.a_width && small.b_width <= large.b_width &&
           (!asked.accumulator || small.acc_width <= large.acc_width) && small.additions <= large.additions;
  };
  for (const bool above : {false, true}) {
    const auto bounds = [&](const MacSpec* mac) { return above ? within(asked, *mac) : within(*mac, asked); };
    if (std::any_of(alike.begin(), alike.end(), bounds)) continue;
    double nearest = std::numeric_limits<double>::infinity();
    for (const MacSpec* mac : alike) {
      const auto beyond = [&](double x, double y) { return (above ? x > y : x < y) ? doublings(x, y) : 0; };
      double far =
          beyond(asked.lanes, mac->lanes) + beyond(asked.a_width, mac->a_width) + beyond(asked.b_width, mac->b_width);
      if (asked.accumulator) far += beyond(asked.acc_width, mac->acc_width);
      if (asked.structure == Structure::none) far += beyond(asked.additions, mac->additions);
      nearest = std::min(nearest, far);
    }
    outside("lanes", std::to_string(asked.lanes) + " of " + describe_formats(asked),
            std::string("lanes, widths and accumulator that one unit is at least as ") + (above ? "large" : "small") +
                " in",
            nearest);
    return;
  }
}

Answer Gauge::Data::answer_from_closed_form(const Technology& technology, const Question& question) const {
  try {
    check_priceable(question.unit.mac);
  } catch (const FieldError& error) {
    throw FieldError(
        error.field(), error.value(),
        error.expected() + ", for L0; L2 and L3 answer for the units that `narrowgauge energy --units` lists");
  }
  return answer_from_features(technology, question, Rung::L0, features(question.unit), cycles_per_mac(question.unit));
}

Answer Gauge::Data::answer_from_features(const Technology& technology, const Question& question, Rung rung,
                                         const Features& features, double cycles) const {
  if (!technology.calibration) {
    throw FieldError("technology", technology.name,
                     "one with a calibration: " +
                         list_technologies([](const Technology& one) { return one.calibration.has_value(); }) +
                         "; in " + technology.name +
                         " only recorded units answer, by name or by all of their fields: `narrowgauge energy --units` "
                         "lists them");
  }
  const Calibration& calibration = *technology.calibration;
  const double cycle_j = dot(features, calibration.coefficients);
  Answer answer = begin_answer(
      {.rung = rung, .technology = technology.name, .calibration = calibration.id, .recipe = usual_recipe});
  answer.error = calibration.error(rung, question.unit.mac);
  check_range(technology, question, answer);
  const int lanes = question.unit.mac.lanes;
  Term each{"one multiply-accumulate",
            cycle_j * cycles,
            "J",
            cycles * lanes == 1 ? "energy of a cycle / lanes" : "energy of a cycle x " + rounded(cycles) + " cycles",
            {}};
  if (question.explain) {
    Term cycle{"one cycle of the unit", cycle_j, "J", "sum of feature x coefficient", {}};
    for (std::size_t i = 0; i < feature_count; ++i) {
      if (features[i] == 0) continue;
      cycle.parts.push_back({std::string(feature_names[i]),
                             features[i] * calibration.coefficients[i],
                             "J",
                             rounded(features[i]) + " a cycle x " + quantity_text(calibration.coefficients[i], "J"),
                             {{"count",
                               features[i],
                               "1",
                               rung == Rung::L0 ? "expected from the operands' statistics" : "counted on the operands",
                               {}},
                              {"coefficient", calibration.coefficients[i], "J", "calibration " + calibration.id, {}}}});
    }
    each.parts.push_back(std::move(cycle));
  }
  return finish_answer(std::move(answer), question.count, question.explain, std::move(each));
}

std::optional<Answer> Gauge::Data::answer_from_records(const Technology& technology, const Question& question,
                                                       Rung rung) const {
  const MacSpec asked = canonicalize(question.unit.mac);
  for (const Record& record : records_for(question)) {
    if (record.technology != technology.name || !record.operation.empty() || !(canonicalize(record.mac) == asked))
      continue;
    for (const Sample& sample : record.samples) {
      if (stimulus_fits(question, sample.stimulus) && sample.json.contains(std::string(name(rung))))
        return answer_from_record(technology, question, record, sample, rung);
    }
  }
  return std::nullopt;
}

Answer Gauge::Data::answer_from_record(const Technology& technology, const Question& question, const Record& record,
                                       const Sample& sample, Rung rung) const {
  const Json& of = sample.json[std::string(name(rung))];
  const double cycle = of.at("energy_j");
  Answer answer = begin_answer({.rung = rung,
                                .technology = technology.name,
                                .recipe = record.recipe,
                                .record = record.unit,
                                .netlist_sha256 = record.netlist_sha256,
                                .stimulus = sample.stimulus,
                                .stimulus_sha256 = sample.stimulus_sha256});
  answer.leakage_w = of.value("leakage_w", not_known);
  if (!record.operation.empty())
    answer.notes.push_back("How far " + std::string(name(rung)) + " is off was measured on multiply-accumulates only.");
  else if (technology.calibration && record.recipe == usual_recipe)
    answer.error = technology.calibration->error(rung, canonicalize(record.mac));
  if (of.contains("standard_error"))
    answer.notes.push_back("Mean of " + rounded(sample.json.value("cycles", not_known)) +
                           " cycles; its standard error is " + percent_text(of["standard_error"]) + ".");
  if (rung == Rung::L2 && record.recipe == usual_recipe && technology.calibration && technology.calibration->l2_scale) {
    answer.notes.push_back("L2 has no glitches: times " + rounded(*technology.calibration->l2_scale) +
                           ", a factor fitted for " + technology.name + ", it comes nearer to L3 (" +
                           percent_text(technology.calibration->errors.at("L2_scaled").mean_abs) +
                           " mean error on held-out units); the value is without it.");
  }
  if (rung == Rung::L3)
    answer.notes.push_back(
        "L3 is the rung that the others are held against; what it leaves out (wires, the library's own error) is "
        "in "
        "docs/energy_ladder.md.");
  Term each{record.each(),
            cycle / record.macs_per_cycle,
            "J",
            "energy of a cycle / " + rounded(record.macs_per_cycle) + " a cycle",
            {}};
  if (question.explain) {
    Term whole{"one cycle of the unit",
               cycle,
               "J",
               "mean of the record's cycles of " + record.unit + " in " + technology.name,
               {}};
    const auto part = [&](const char* field, const char* label, const char* how) {
      if (of.contains(field) && of[field].is_number())
        whole.parts.push_back({label, of[field].get<double>(), "J", how, {}});
    };
    part("internal_j", "internal", "cells' internal energy, each transition x the Liberty table at its slew and load");
    part("switching_j", "switching", "toggles of each net x C V^2 / 2");
    part("clock_j", "clock", "clock pins of the flip-flops");
    if (of.contains("toggles") && of["toggles"].is_number()) {
      const double toggles = of["toggles"];
      whole.parts.push_back({"toggles",
                             toggles,
                             "1",
                             "of nets in a cycle: " + quantity_text(cycle / toggles, "J") + " each on average",
                             {}});
    }
    each.parts.push_back(std::move(whole));
  }
  return finish_answer(std::move(answer), question.count, question.explain, std::move(each));
}

namespace {

/// The eight names that are most like `word`, where to see all, and the one that was probably meant.
std::string candidates(const std::string& word, std::vector<std::string> names) {
  const auto unlike = [&](const std::string& name) {
    const bool apart = word.empty() || name.find(word) == std::string::npos;
    return std::pair(apart, io::edit_distance(word, name));
  };
  std::ranges::stable_sort(names, {}, unlike);
  const std::size_t all = names.size();
  const bool meant = unlike(names.front()).second <= std::max<std::size_t>(1, word.size() / 3);
  std::string text = all > 8 ? "such as" : "one of";
  names.resize(std::min<std::size_t>(all, 8));
  for (const std::string& name : names) text += (&name == &names.front() ? " " : ", ") + name;
  if (all > 8) text += " (`narrowgauge energy --units` lists all " + std::to_string(all) + ")";
  return text + (meant ? "; did you mean " + names.front() + "?" : "");
}

}  // namespace

Answer Gauge::Data::answer_by_name(const Technology& technology, const Question& question) const {
  std::string there;
  std::vector<std::string> units;
  for (const Record& record : records_for(question)) {
    if (record.technology != technology.name) continue;
    units.push_back(record.unit);
    if (record.unit != question.record) continue;
    for (const Sample& sample : record.samples) {
      there += (there.empty() ? "" : ", ") + sample.stimulus;
      if (!question.stimulus.empty() && sample.stimulus != question.stimulus) continue;
      for (const Rung rung : {Rung::L3, Rung::L2}) {
        if ((question.rung == rung || question.rung == Rung::best) && sample.json.contains(std::string(name(rung))))
          return answer_from_record(technology, question, record, sample, rung);
      }
    }
    if (question.rung == Rung::L0 || question.rung == Rung::L1)
      throw FieldError("rung", std::string(name(question.rung)),
                       "best, L2 or L3: forms and flips of operands are asked by format, not by a unit's name");
    throw FieldError("stimulus", question.stimulus, "one that " + record.unit + " is recorded on: " + there);
  }
  throw FieldError("unit", question.record,
                   units.empty() ? "a unit recorded in " + technology.name + "; there is none"
                                 : "one recorded in " + technology.name + ", " + candidates(question.record, units));
}

Answer Gauge::Data::answer_by_recipe(const Technology& technology, const Question& question) const {
  std::string there;
  for (const Record& record : records_for(question)) {
    if (record.technology != technology.name) continue;
    if (record.unit == question.record) return answer_by_name(technology, question);
    there += (there.empty() ? "" : ", ") + record.unit;
  }
  if (question.record.empty() && !there.empty()) {
    check_formats(technology, question.unit.mac);
    for (const Rung rung : {Rung::L3, Rung::L2}) {
      if (question.rung != rung && question.rung != Rung::best) continue;
      if (auto answer = answer_from_records(technology, question, rung)) return *answer;
    }
  }
  std::string known = usual_recipe;
  for (const auto& [recipe, of] : other_recipes)
    if (std::ranges::any_of(of, [&](const Record& record) { return record.technology == technology.name; }))
      known += ", " + recipe;
  throw FieldError("recipe", question.recipe,
                   there.empty() ? "one that units of " + technology.name + " are mapped by: " + known
                                 : std::string(usual_recipe) + ", or a unit and a stimulus that are recorded in " +
                                       technology.name + " under it, of " + there);
}

Answer Gauge::Data::answer_refined(const Question& question) const {
  const std::string wanted = question.technology.empty() ? reference_technology : question.technology;
  const Technology& technology = this->technology(wanted);
  if (&records_for(question) != &records) return answer_by_recipe(technology, question);
  if (!question.record.empty()) return answer_by_name(technology, question);
  check_formats(technology, question.unit.mac);
  if (technology.kind == "cited") return answer_from_constants(technology, question);
  if (technology.measured) return answer_from_estimates(technology, question);
  switch (question.rung) {
    case Rung::L0:
    case Rung::best:
      if (question.rung == Rung::best || !question.stimulus.empty()) {
        if (!question.stimulus.empty() && question.rung == Rung::L0)
          throw FieldError("stimulus", question.stimulus, "left out, or rung L2, L3 or best: L0 takes distributions");
        for (const Rung rung : {Rung::L3, Rung::L2}) {
          if (auto answer = answer_from_records(technology, question, rung)) return *answer;
        }
        if (!question.stimulus.empty()) break;
      }
      return answer_from_closed_form(technology, question);
    case Rung::L1:
      throw FieldError(
          "rung", "L1",
          "operands to count on: Gauge::energy_counted, or `narrowgauge energy --rung L1 --a A.npy --b B.npy`");
    case Rung::L2:
    case Rung::L3:
      if (auto answer = answer_from_records(technology, question, question.rung)) return *answer;
      break;
    case Rung::L4:
    case Rung::L5:
    case Rung::cited:
      throw FieldError("rung", std::string(name(question.rung)), "best, L0, L1, L2 or L3 in " + technology.name);
  }
  std::string there;
  for (const Record& record : records) {
    if (record.technology == technology.name && record.operation.empty() &&
        canonicalize(record.mac) == canonicalize(question.unit.mac)) {
      for (const Sample& sample : record.samples) there += (there.empty() ? "" : ", ") + sample.stimulus;
    }
  }
  const std::string what = describe(question.unit.mac);
  const bool by_stimulus = !there.empty() && !question.stimulus.empty();
  throw FieldError(
      by_stimulus ? "stimulus" : "rung", by_stimulus ? question.stimulus : std::string(name(question.rung)),
      there.empty() ? "L0, for there is no record of " + what + " in " + technology.name +
                          " (`narrowgauge energy --units` lists the records; docs/energy_ladder.md says how "
                          "to characterize a unit)"
                    : "another stimulus: " + what + " is recorded in " + technology.name + " on " + there);
}

Answer Gauge::Data::answer_by_paper(const Question& question) const {
  const MacSpec& mac = question.unit.mac;
  if (!mac.is(MacFormat::integer))
    throw FieldError(mac.one_format()                     ? "format"
                     : mac.a_format != MacFormat::integer ? "a_format"
                                                          : "b_format",
                     std::string(name(mac.a_format != MacFormat::integer ? mac.a_format : mac.b_format)),
                     "integer (int1 to int16): mode pann_paper knows no other");
  if (mac.lanes != 1) throw FieldError("lanes", std::to_string(mac.lanes), "1 in mode pann_paper");
  if (question.rung != Rung::best && question.rung != Rung::L0)
    throw FieldError("rung", std::string(name(question.rung)), "L0, or left out: mode pann_paper is a closed form");
  if (!question.stimulus.empty())
    throw FieldError("stimulus", question.stimulus, "left out: mode pann_paper does not depend on operands");
  Answer answer;
  answer.mode = Mode::pann_paper;
  answer.unit = "flip";
  Term each{"one multiply-accumulate", 0, "flip", "arXiv 2202.02783", {}};
  const auto part = [&](const char* place, double flips, const char* how) {
    each.parts.push_back({place, flips, "flip", how, {}});
    each.value += flips;
  };
  if (mac.structure == Structure::none) {
    each.name = "one weight element";
    part("adder input", 0.5 * mac.a_width, "0.5 b_x, once an element");
    part("adder output and register", mac.additions * mac.a_width, "R additions x (0.5 + 0.5) b_x");
  } else {
    const bool is_unsigned = (!mac.a_signed && !mac.b_signed) || mac.schedule != Schedule::plain;
    const paper::MacFlips flips = is_unsigned ? paper::unsigned_mac(mac.b_width, mac.a_width)
                                              : paper::signed_mac(mac.b_width, mac.a_width, mac.acc_width);
    part("multiplier inputs", flips.multiplier_inputs, "0.5 b_w + 0.5 b_x");
    part("multiplier internal", flips.multiplier_internal, "0.5 max(b_w, b_x)^2");
    if (mac.accumulator) {
      part("accumulator input", flips.accumulator_input,
           is_unsigned ? "0.5 (b_w + b_x): unsigned" : "0.5 B: the product sign-extended to the accumulator's width");
      part("accumulator sum", flips.accumulator_sum, "0.5 (b_w + b_x)");
      part("accumulator register", flips.accumulator_register, "0.5 (b_w + b_x)");
    }
  }
  answer.verified = false;
  answer.notes.push_back(
      "Unverified: nobody has compared the formulas with the paper's tables (docs/pann.md, Formulas). What gates do "
      "instead is on that page too.");
  if (question.unit.a.distribution != Distribution::uniform || question.unit.b.distribution != Distribution::uniform)
    answer.notes.push_back("The paper's formulas do not depend on the operands' distribution.");
  std::optional<double> flip_j = question.energy_per_flip;
  std::string from = "as given in the question";
  if (!flip_j && !question.technology.empty()) {
    Question int8;
    int8.technology = question.technology;
    int8.reference = Reference::single_lane;  // the paper's unit
    int8.rung = technology(question.technology).kind == "cited" ? Rung::best : Rung::L0;
    const Answer of = answer_refined(int8);
    const double flips = paper::signed_mac(8, 8, 32).total();
    flip_j = of.each / flips;
    answer.technology = of.technology;
    answer.calibration = of.calibration;
    answer.recipe = of.recipe;
    from = "INT8 multiply-accumulate of " + of.technology + " (" + quantity_text(of.each, "J") + ") / its " +
           rounded(flips) + " flips";
  }
  if (flip_j) {
    answer.notes.push_back("Energy per flip " + quantity_text(*flip_j, "J") + ", " + from +
                           ". One value for all flips is this mode's simplification.");
    Term flips = std::move(each);
    answer.unit = "J";
    each = {"one multiply-accumulate", flips.value * *flip_j, "J", "flips x energy per flip", {}};
    each.parts.push_back(std::move(flips));
    each.parts.push_back({"energy per flip", *flip_j, "J", from, {}});
  }
  return finish_answer(std::move(answer), question.count, question.explain, std::move(each));
}

std::string Gauge::Data::note_on_lanes(const Question& question) const {
  const MacSpec& mac = question.unit.mac;
  const Technology& technology =
      this->technology(question.technology.empty() ? reference_technology : question.technology);
  if (technology.kind == "cited" || technology.measured) return "";  // the constants say what they stand for
  if (mac.lanes != 1)
    return "Lanes were not given: " + std::to_string(mac.lanes) + ", a block; --lanes " + std::to_string(mac.lanes) +
           " of another format compares.";
  const bool sums = mac.accumulator && mac.schedule == Schedule::plain && mac.structure != Structure::none &&
                    mac.structure != Structure::serial;
  if (!sums || is_wide_float(mac.a_format) || is_wide_float(mac.b_format)) return "";
  Question wide = question;
  wide.unit.mac.lanes = 16;
  std::string value;
  try {
    const Answer answer = answer_refined(wide);
    value = quantity_text(answer.each, answer.unit) + " (rung " + std::string(name(answer.rung)) + ")";
  } catch (const Error&) {  // no record or form of 16 lanes
    return "Lanes were not given: 1, with an accumulator of its own, where nvfp4 has 16 by default that share one.";
  }
  return "Lanes were not given: 1, with an accumulator of its own. Beside nvfp4, which has 16 by default, compare "
         "16 lanes that share one: " +
         value + ".";
}

namespace {

Answer with_notes(Answer answer, const Question& question) {
  answer.notes.insert(answer.notes.begin(), question.notes.begin(), question.notes.end());
  return answer;
}

}  // namespace

Question Gauge::usual_unit(Question question) const {
  MacSpec& mac = question.unit.mac;
  if (!question.unit_by_default || !question.record.empty() || question.mode != Mode::refined ||
      question.reference != Reference::like_for_like || !mac.is(MacFormat::integer) ||
      data_->technology(question.technology.empty() ? reference_technology : question.technology).measured)
    return question;
  const MacSpec reference = reference_mac();
  mac.structure = reference.structure;
  if (mac.accumulator) std::tie(mac.lanes, mac.pipelined) = std::tie(reference.lanes, reference.pipelined);
  question.notes.push_back("Taken as " + describe(mac) +
                           ", like for like with the array's cells of other formats; structure, lanes or pipelined ask "
                           "for another unit, and reference single_lane for an array of one lane.");
  question.unit_by_default = question.lanes_by_default = false;
  return question;
}

Answer Gauge::energy(const Question& asked) const {
  detail::breathe();  // tables ask many
  const Question question = usual_unit(asked);
  validate(question);
  if (question.mode == Mode::pann_paper) return with_notes(data_->answer_by_paper(question), question);
  Answer answer = with_notes(data_->answer_refined(question), question);
  const std::string note = question.lanes_by_default && question.record.empty() ? data_->note_on_lanes(question) : "";
  if (!note.empty()) answer.notes.push_back(note);
  return answer;
}

Answer Gauge::energy_counted(const Question& asked, const Features& counted, std::optional<double> cycles) const {
  const Question question = usual_unit(asked);
  validate(question);
  if (question.mode == Mode::pann_paper)
    throw FieldError("mode", "pann_paper", "refined: the paper's formulas do not depend on operands");
  if (!question.record.empty())
    throw FieldError("unit", question.record, "left out, and a format: operands are counted on in the golden model");
  const Technology& technology =
      data_->technology(question.technology.empty() ? reference_technology : question.technology);
  data_->check_formats(technology, question.unit.mac);
  return with_notes(data_->answer_from_features(technology, question, Rung::L1, counted,
                                                cycles ? *cycles : cycles_per_mac(question.unit)),
                    question);
}

Gauge::Fast Gauge::prepare(std::string_view technology) const {
  const Technology& found = data_->technology(std::string(technology.empty() ? reference_technology : technology));
  if (!found.calibration) throw FieldError("technology", found.name, "one with a calibration of its own");
  Fast fast;
  fast.coefficients_ = found.calibration->coefficients;
  return fast;
}

}  // namespace narrowgauge::power
