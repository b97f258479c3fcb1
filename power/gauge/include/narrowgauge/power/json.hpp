// SPDX-License-Identifier: Apache-2.0
// Questions and answers as JSON: SI units without prefixes, one object a question. Keys and ranges: docs/energy.md.
#pragma once

#include <cstdint>
#include <exception>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "narrowgauge/power/gauge.hpp"

namespace narrowgauge::power {

/// The words that questions may use: {"format": [...], "structure": [...], ..., "technology": [...], "memory": [...]}.
nlohmann::ordered_json vocabulary(const Gauge& gauge);

/// A key "memory" or "events" makes it a question of that kind, "unit" one about a recorded unit by its name.
using AnyQuestion = std::variant<Question, MemoryQuestion, EventQuestion>;
/// Throws FieldError naming field, value and range; Error if the text is not a JSON object.
AnyQuestion question_from_json(std::string_view text);

std::string to_json(const Answer& answer);
/// `line` 0: not of a stream. `id`: JSON of the question's "id", which answers repeat; empty without.
std::string to_json(const std::exception& error, std::uint64_t line = 0, std::string_view id = {});
/// The text of an answer for people: sentences, with prefixes and the error bar.
std::string to_text(const Answer& answer);

/// Answers one JSON question in JSON. Throws like question_from_json and Gauge::energy.
std::string answer_json(const Gauge& gauge, std::string_view question);

/// JSON Lines: an answer for each line that is not blank, in order; for a bad one {"error": {..., "line": n}}, and the
/// stream goes on. Answers leave as soon as no further question is waiting. Returns how many were bad.
std::uint64_t answer_lines(const Gauge& gauge, std::istream& questions, std::ostream& answers);

}  // namespace narrowgauge::power
