// SPDX-License-Identifier: Apache-2.0
// What a question may say: names, ranges, JSON in.
#include <cmath>
#include <nlohmann/json.hpp>

#include "features/fields.hpp"
#include "features/text.hpp"
#include "narrowgauge/power/json.hpp"

namespace narrowgauge::power {
namespace {

using namespace fields;

constexpr std::string_view rungs[] = {"best", "L0", "L1", "L2", "L3", "L4", "L5", "cited"};
constexpr std::string_view modes[] = {"refined", "pann_paper"};
constexpr std::string_view references[] = {"like_for_like", "single_lane"};
constexpr std::string_view operations[] = {"read", "write", "store_and_fetch"};

/// Takes the keys that all questions have.
template <class AnyKind>
bool take_common(const std::string& key, const Json& value, AnyKind& question) {
  if (key == "technology") {
    question.technology = read_word("technology", value);
    if (question.technology.empty())
      throw FieldError("technology", brief(value), "the name of a technology; leave it out for osu018");
  } else if (key == "explain") {
    question.explain = read_flag("explain", value);
  } else {
    return key == "id";
  }
  return true;
}

/// Takes those that the questions about units have, the first `usable_rungs` of the rungs.
bool take_of_unit(const std::string& key, const Json& value, Question& question, std::size_t usable_rungs) {
  if (key == "rung") {
    question.rung = read_choice<Rung>("rung", value, rungs, usable_rungs);
  } else if (key == "recipe") {
    question.recipe = read_word("recipe", value);
    if (question.recipe.empty()) throw FieldError("recipe", brief(value), "the name of a recipe; left out for area");
  } else if (key == "stimulus") {
    question.stimulus = read_word("stimulus", value);
  } else if (key == "count") {
    question.count = read_real("count", value);
  } else if (key == "strict") {
    question.strict = read_flag("strict", value);
  } else {
    return take_common(key, value, question);
  }
  return true;
}

MemoryQuestion read_memory_question(const Json& json) {
  MemoryQuestion question;
  for (const auto& [key, value] : json.items()) {
    if (key == "memory") {
      question.memory = read_word("memory", value);
    } else if (key == "bits") {
      question.bits = read_real("bits", value);
    } else if (key == "size_bytes") {
      question.size_bytes = read_real("size_bytes", value);
    } else if (key == "port_bits") {
      question.port_bits = read_real("port_bits", value);
    } else if (key == "operation") {
      question.operation = read_choice<MemoryQuestion::Operation>("operation", value, operations);
    } else if (key == "strict") {
      question.strict = read_flag("strict", value);
    } else if (!take_common(key, value, question)) {
      throw FieldError(
          key, brief(value),
          "left out: a question about a memory has memory, technology, bits, size_bytes, port_bits, operation, "
          "strict, explain, id");
    }
  }
  return question;
}

EventQuestion read_event_question(const Json& json) {
  EventQuestion question;
  for (const auto& [key, value] : json.items()) {
    if (key == "events") {
      if (!value.is_object())
        throw FieldError("events", brief(value), R"(an object such as {"net": 63.4, "clock": 1})");
      for (const auto& [event, count] : value.items()) question.events.emplace_back(event, read_real("events", count));
    } else if (!take_common(key, value, question)) {
      throw FieldError(key, brief(value), "left out: a question about events has events, technology, explain, id");
    }
  }
  return question;
}

/// About a recorded unit by its name.
Question read_record_question(const Json& json) {
  Question question;
  for (const auto& [key, value] : json.items()) {
    if (key == "unit") {
      question.record = read_word("unit", value);
      if (question.record.empty()) throw FieldError("unit", brief(value), "the name of a recorded unit");
    } else if (!take_of_unit(key, value, question, 5)) {
      throw FieldError(key, brief(value),
                       "left out: a question about a unit by its name has unit, technology, rung, recipe, stimulus, "
                       "count, strict, explain, id");
    }
  }
  return question;
}

/// Where the program's flag is not the key with dashes.
void refuse_flag(const std::string& key, const Json& value) {
  static constexpr std::pair<std::string_view, std::string_view> flags[] = {
      {"a_values", R"("a": "gauss")"},
      {"b_values", R"("b": "gauss")"},
      {"a_unsigned", R"("a_signed": false)"},
      {"b_unsigned", R"("b_signed": false)"},
      {"products_only", R"("accumulator": false)"}};
  for (const auto& [flag, instead] : flags) {
    if (key == flag)
      throw FieldError(key, brief(value),
                       "left out: what the program's flag says is " + std::string(instead) + " in a question");
  }
}

/// A note where a width or a sign is not what the name of a format says: "int8" with a_width 4.
void note_overridden(const Json& json, const MacSpec& named, Question& question) {
  const MacSpec& mac = question.unit.mac;
  for (const bool b : {false, true}) {
    const Json& format = json.contains("format") ? json["format"] : json[b ? "b_format" : "a_format"];
    if (format == "int" || format == "integer") continue;  // these name no width
    const bool same = b ? mac.b_width == named.b_width && mac.b_signed == named.b_signed
                        : mac.a_width == named.a_width && mac.a_signed == named.a_signed;
    if (same) continue;
    question.notes.push_back("The operands are " + describe_formats(mac) +
                             ": a width or a sign that is given goes before that of format " +
                             format.get<std::string>() + ".");
    return;
  }
}

Question read_unit_question(const Json& json) {
  Question question;
  MacSpec& mac = question.unit.mac;
  read_formats(json, mac);
  const MacSpec named = mac;
  for (const auto& [key, value] : json.items()) {
    refuse_flag(key, value);
    if (take_mac(key, value, mac)) {
    } else if (key == "a") {
      question.unit.a = read_statistics("a", value);
    } else if (key == "b") {
      question.unit.b = read_statistics("b", value);
    } else if (key == "mode") {
      question.mode = read_choice<Mode>("mode", value, modes);
    } else if (key == "reference") {
      question.reference = read_choice<Reference>("reference", value, references);
    } else if (key == "energy_per_flip") {
      question.energy_per_flip = read_real("energy_per_flip", value);
    } else if (!take_of_unit(key, value, question, 7)) {
      throw FieldError(key, brief(value),
                       "left out: a question has " + std::string(mac_keys) +
                           ", a, b, technology, rung, recipe, mode, reference, stimulus, count, strict, explain, "
                           "energy_per_flip, id");
    }
  }
  question.lanes_by_default = !json.contains("lanes");
  question.unit_by_default = true;
  for (const char* key : {"structure", "lanes", "schedule", "pipelined", "additions"})
    question.unit_by_default &= !json.contains(key);
  note_overridden(json, named, question);
  // Uniform codes of wide floating-point numbers sum up to NaN: no baseline.
  for (const bool b : {false, true})
    if (!json.contains(b ? "b" : "a") && is_wide_float(mac.format_of(b)))
      (b ? question.unit.b : question.unit.a).distribution = Distribution::gauss;
  return question;
}

}  // namespace

std::string_view name(Rung rung) { return rungs[static_cast<std::size_t>(rung)]; }
std::string_view name(Reference reference) { return references[static_cast<std::size_t>(reference)]; }
std::string_view name(Mode mode) { return modes[static_cast<std::size_t>(mode)]; }
std::string_view name(MemoryQuestion::Operation operation) { return operations[static_cast<std::size_t>(operation)]; }

nlohmann::ordered_json vocabulary(const Gauge& gauge) {
  nlohmann::ordered_json words{{"format", formats},
                               {"structure", structures},
                               {"schedule", schedules},
                               {"a, b", std::span(distributions).first(3)},
                               {"rung", std::span(rungs).first(5)},
                               {"mode", modes},
                               {"reference", references}};
  words["rung"].push_back(name(Rung::L5));
  words["format"].insert(words["format"].end(), {"luq", "int1 ... int16", "uint1 ... uint16"});
  for (const TechnologyInfo& technology : gauge.technologies()) words["technology"].push_back(technology.name);
  words["recipe"] = gauge.recipes();
  for (const MemoryQuestion& memory : gauge.memories())
    words["memory"].push_back(memory.memory + " of " + memory.technology);
  words["operation"] = operations;
  return words;
}

AnyQuestion question_from_json(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw Error("The question is not JSON (at byte " + std::to_string(error.byte) +
                R"(); write one object a line, such as {"format": "int8"})");
  } catch (const Json::out_of_range& error) {
    throw Error(
        R"(The question has a number beyond double's range; write one object a line, such as {"format": "int8"})");
  }
  if (deeper_than(json, deepest_question))
    throw Error("The question has more than " + std::to_string(deepest_question) +
                R"( lists or objects in each other; write it flat, such as {"format": "int8"})");
  if (!json.is_object())
    throw Error("The question is " + brief(json) + R"(; expected an object such as {"format": "int8"})");
  if (json.contains("memory")) return read_memory_question(json);
  if (json.contains("events")) return read_event_question(json);
  if (json.contains("unit")) return read_record_question(json);
  return read_unit_question(json);
}

void validate(const Question& question) {
  validate(question.unit);
  if (!(question.count >= 0) || std::isinf(question.count))
    throw FieldError("count", number_text(question.count), "a finite number, not negative");
  if (!question.recipe.empty() && question.recipe != "area" &&
      (question.mode == Mode::pann_paper ||
       (question.rung != Rung::best && question.rung != Rung::L2 && question.rung != Rung::L3)))
    throw FieldError("recipe", question.recipe, "area: the others have records alone, rungs L2 and L3");
  if (!question.record.empty() && question.mode == Mode::pann_paper)
    throw FieldError("unit", question.record, "left out in mode pann_paper, whose formulas are of formats");
  if (question.energy_per_flip) {
    if (question.mode != Mode::pann_paper)
      throw FieldError("energy_per_flip", number_text(*question.energy_per_flip), "left out, or mode pann_paper");
    if (!(*question.energy_per_flip > 0) || std::isinf(*question.energy_per_flip))
      throw FieldError("energy_per_flip", number_text(*question.energy_per_flip), "finite joules above 0");
  }
}

}  // namespace narrowgauge::power
