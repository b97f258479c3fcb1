// SPDX-License-Identifier: Apache-2.0
// One price for all points of a space: L3 of the recorded units, carried to others by the closed forms.
#include <algorithm>
#include <cmath>
#include <utility>

#include "features/text.hpp"
#include "gauge_data.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge::power {

using namespace data;

namespace {

/// L3 over the closed form, of the recorded units that are most like one that is asked for.
struct Carrier {
  double ratio = 1;
  std::string of;  ///< their names
};

double closed_form(const Calibration& forms, const MacQuestion& unit) {
  return dot(features(unit), forms.coefficients) * cycles_per_mac(unit);
}

/// Units alike but for lanes, widths and accumulator: those of the nearest lanes; between two widths the ratio is
/// interpolated, geometrically.
std::optional<Carrier> carrier(const std::vector<Record>& records, const std::string& technology,
                               const Calibration& forms, const Question& question) {
  struct Known {
    const Record* record;
    double each_j;
  };
  std::vector<Known> alike;
  const MacSpec asked = canonicalize(question.unit.mac);
  for (const Record& record : records) {
    if (record.technology != technology || !record.operation.empty()) continue;
    MacSpec mac = canonicalize(record.mac);
    mac.lanes = asked.lanes;
    mac.a_width = asked.a_width;
    mac.b_width = asked.b_width;
    mac.acc_width = asked.acc_width;
    if (!(mac == asked)) continue;
    for (const Sample& sample : record.samples) {
      if (!stimulus_fits(question, sample.stimulus) || !sample.json.contains("L3")) continue;
      alike.push_back({&record, sample.json["L3"].at("energy_j").get<double>() / record.macs_per_cycle});
      break;
    }
  }
  if (alike.empty()) return std::nullopt;
  const auto far = [&](const Known& known) {  // of two that are as far, the one of more lanes
    return std::pair(std::abs(std::log2(static_cast<double>(known.record->mac.lanes) / asked.lanes)),
                     -known.record->mac.lanes);
  };
  const auto nearest = far(*std::ranges::min_element(alike, {}, far));
  std::erase_if(alike, [&](const Known& known) { return far(known) != nearest; });
  const auto bits = [](const MacSpec& mac) { return static_cast<double>(mac.a_width + mac.b_width); };
  std::ranges::stable_sort(alike, {}, [&](const Known& known) { return bits(known.record->mac); });
  const auto ratio = [&](const Known& known) {
    MacQuestion unit = question.unit;
    unit.mac = known.record->mac;
    return known.each_j / closed_form(forms, unit);
  };
  const double wanted = bits(asked);
  const auto above = std::ranges::find_if(alike, [&](const Known& known) { return bits(known.record->mac) >= wanted; });
  if (above == alike.end()) return Carrier{ratio(alike.back()), alike.back().record->unit};
  if (above == alike.begin() || bits(above->record->mac) == wanted) return Carrier{ratio(*above), above->record->unit};
  const Known &low = *std::prev(above), &high = *above;
  const double part = (wanted - bits(low.record->mac)) / (bits(high.record->mac) - bits(low.record->mac));
  return Carrier{std::pow(ratio(low), 1 - part) * std::pow(ratio(high), part),
                 low.record->unit + " and " + high.record->unit};
}

}  // namespace

Answer Gauge::Data::answer_carried(const Question& question) const {
  const Technology& reference = this->technology(reference_technology);
  const Technology& technology =
      this->technology(question.technology.empty() ? reference_technology : question.technology);
  check_formats(technology, question.unit.mac);
  if (technology.kind == "cited") return answer_from_constants(technology, question, true);
  const bool recorded = std::ranges::any_of(
      records, [&](const Record& record) { return record.technology == technology.name && record.operation.empty(); });
  Question forms_alone = question;
  forms_alone.rung = Rung::L0;
  if (technology.measured || !recorded || !reference.calibration) return answer_refined(forms_alone);
  if (auto answer = answer_from_records(technology, question, Rung::L3)) return *answer;
  const Calibration& forms = technology.calibration ? *technology.calibration : *reference.calibration;
  const auto found = carrier(records, technology.name, forms, question);
  // Of a format without a unit there: as many INT8 multiply-accumulates as where there is one.
  Question of_int8 = question;
  of_int8.unit = {reference_mac(), {}, {}};
  of_int8.stimulus.clear();
  std::optional<Answer> int8;
  if (!found && !technology.calibration) int8 = answer_from_records(technology, of_int8, Rung::L3);
  if (!found && !int8) return answer_refined(forms_alone);
  Answer answer =
      begin_answer({.rung = Rung::L0, .technology = technology.name, .calibration = forms.id, .recipe = usual_recipe});
  Term each{"one multiply-accumulate", 0, "J", "", {}};
  if (found) {
    if (technology.calibration) answer.error = forms.error(Rung::L0, question.unit.mac);
    each.parts = {{"closed form", closed_form(forms, question.unit), "J", "calibration " + forms.id, {}},
                  {"ratio", found->ratio, "1", "L3 over the closed form, of " + found->of, {}}};
    answer.notes.push_back("Carried: L3 of " + found->of + " times what the closed forms say of the two units.");
  } else {
    Question there = question;
    there.technology = of_int8.technology = reference.name;
    const Answer of = answer_carried(there);
    each.parts = {
        {"in " + reference.name, of.each, "J", "calibration " + of.calibration, {}},
        {"ratio", int8->each / answer_carried(of_int8).each, "1", "of INT8 in the two technologies, at L3", {}}};
    answer.notes.push_back("Carried: no unit of " + describe_formats(question.unit.mac) + " is recorded in " +
                           technology.name + "; the price of " + reference.name + " times the ratio of INT8's.");
  }
  each.value = each.parts[0].value * each.parts[1].value;
  each.how = each.parts[0].name + " x ratio";
  return finish_answer(std::move(answer), question.count, question.explain, std::move(each));
}

Answer Gauge::carried(const Question& asked) const {
  detail::breathe();
  const Question question = usual_unit(asked);
  validate(question);
  if (question.mode == Mode::pann_paper || !question.record.empty())
    throw FieldError("mode", std::string(name(question.mode)), "refined, and a format: prices of a space are carried");
  if (&data_->records_for(question) != &data_->records)
    throw FieldError("recipe", question.recipe, "area: prices of a space are of one recipe");
  Answer answer = data_->answer_carried(question);
  answer.notes.insert(answer.notes.begin(), question.notes.begin(), question.notes.end());
  return answer;
}

}  // namespace narrowgauge::power
