// SPDX-License-Identifier: Apache-2.0
// Answers as JSON and as text. JSON is written straight into a string: a stream of 1e5 answers a second has no time for
// a tree.
#include <charconv>
#include <cmath>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "features/text.hpp"
#include "narrowgauge/power/json.hpp"

namespace narrowgauge::power {
namespace {

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  Writer& key(std::string_view key) {
    comma();
    out_.append(1, '"').append(key).append("\":");
    fresh_ = true;
    return *this;
  }
  Writer& open(char bracket) {
    comma();
    out_ += bracket;
    fresh_ = true;
    return *this;
  }
  Writer& close(char bracket) {
    out_ += bracket;
    fresh_ = false;
    return *this;
  }
  Writer& number(double value) {
    comma();
    if (!std::isfinite(value)) {
      out_ += "null";
    } else {
      char buffer[32];
      out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    }
    fresh_ = false;
    return *this;
  }
  Writer& flag(bool value) {
    comma();
    out_ += value ? "true" : "false";
    fresh_ = false;
    return *this;
  }
  Writer& null() {
    comma();
    out_ += "null";
    fresh_ = false;
    return *this;
  }
  Writer& text(std::string_view value) {
    comma();
    out_ += '"';
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (byte < 0x20) {
        static constexpr char digits[] = "0123456789abcdef";
        out_.append("\\u00").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
      } else {
        out_ += c;
      }
    }
    out_ += '"';
    fresh_ = false;
    return *this;
  }
  /// null where there is none
  Writer& text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }
  Writer& raw(std::string_view json) {
    comma();
    out_ += json;
    fresh_ = false;
    return *this;
  }

 private:
  void comma() {
    if (!fresh_) out_ += ',';
    fresh_ = true;
  }

  std::string& out_;
  bool fresh_ = true;
};

void write(Writer& out, const Term& term) {
  out.open('{').key("name").text(term.name).key("value").number(term.value).key("unit").text(term.unit);
  if (!term.how.empty()) out.key("how").text(term.how);
  if (!term.parts.empty()) {
    out.key("parts").open('[');
    for (const Term& part : term.parts) write(out, part);
    out.close(']');
  }
  out.close('}');
}

void write(std::string& into, const Answer& answer, std::string_view id) {
  Writer out(into);
  out.open('{');
  if (!id.empty()) out.key("id").raw(id);
  out.key("value").number(answer.value).key("unit").text(answer.unit).key("each").number(answer.each);
  out.key("rung").text(name(answer.rung)).key("mode").text(name(answer.mode));
  out.key("technology").text_or_null(answer.technology).key("calibration").text_or_null(answer.calibration);
  out.key("recipe").text_or_null(answer.recipe);
  out.key("error");
  if (answer.error) {
    out.open('{').key("mean_abs").number(answer.error->mean_abs).key("max_abs").number(answer.error->max_abs);
    out.key("samples").number(answer.error->samples).key("against").text(answer.error->against);
    out.key("of").text(answer.error->of).close('}');
  } else {
    out.null();
  }
  if (answer.anchor) {
    out.key("anchor").open('{').key("to").text(answer.anchor->to).key("constant_j").number(answer.anchor->constant_j);
    out.key("ratio").number(answer.anchor->ratio).key("flow").text(answer.anchor->flow).key("error").null().close('}');
  }
  if (!answer.record.empty()) {
    out.key("record").text(answer.record).key("netlist_sha256").text(answer.netlist_sha256);
    out.key("stimulus").text(answer.stimulus).key("stimulus_sha256").text(answer.stimulus_sha256);
  }
  if (!std::isnan(answer.leakage_w)) out.key("leakage_w").number(answer.leakage_w);
  out.key("in_range").flag(answer.in_range).key("verified").flag(answer.verified);
  out.key("notes").open('[');
  for (const std::string& note : answer.notes) out.text(note);
  out.close(']');
  if (answer.explanation) {
    out.key("explanation");
    write(out, *answer.explanation);
  }
  out.close('}');
}

void write_text(std::string& out, const Term& term, int depth) {
  out.append(2 * static_cast<std::size_t>(depth), ' ');
  out += quantity_text(term.value, term.unit) + "  " + term.name;
  if (!term.how.empty()) out += " = " + term.how;
  out += '\n';
  for (const Term& part : term.parts) write_text(out, part, depth + 1);
}

/// The "id" of a question, as it stands there; "" without one.
std::string id_of(std::string_view question) {
  if (question.find("\"id\"") == std::string_view::npos) return {};
  const auto json = nlohmann::json::parse(question, nullptr, false);
  const bool has_id = json.is_object() && json.contains("id") && !deeper_than(json, deepest_question);
  return has_id ? json["id"].dump() : std::string();
}

}  // namespace

std::string to_json(const Answer& answer) {
  std::string text;
  text.reserve(512);
  write(text, answer, {});
  return text;
}

std::string to_json(const std::exception& error, std::uint64_t line, std::string_view id) {
  std::string text;
  Writer out(text);
  out.open('{');
  if (!id.empty()) out.key("id").raw(id);
  out.key("error").open('{');
  if (const auto* field = dynamic_cast<const FieldError*>(&error)) {
    out.key("field").text(field->field()).key("value").text(field->value()).key("expected").text(field->expected());
  }
  out.key("message").text(error.what());
  if (line != 0) out.key("line").number(static_cast<double>(line));
  out.close('}').close('}');
  return text;
}

std::string to_text(const Answer& answer) {
  std::string text = quantity_text(answer.value, answer.unit);
  if (answer.error) {
    text += " +- " + percent_text(answer.error->mean_abs) + " (the mean error of rung " +
            std::string(name(answer.rung)) + " against " + answer.error->against + " on " +
            std::to_string(answer.error->samples) + " held-out samples of " + answer.error->of + "; the worst was " +
            percent_text(answer.error->max_abs) + ")";
  } else if (answer.unit == "J") {
    text += ", error not known";
  }
  text += answer.mode == Mode::pann_paper ? ", by the paper's formulas" : "";
  if (!answer.technology.empty()) text += ", in " + answer.technology;
  if (answer.rung != Rung::cited && answer.mode == Mode::refined) text += ", rung " + std::string(name(answer.rung));
  if (!answer.recipe.empty()) text += ", recipe " + answer.recipe;
  text += ".\n";
  if (answer.value != answer.each) text += "Each: " + quantity_text(answer.each, answer.unit) + ".\n";
  if (!answer.calibration.empty()) text += "Calibration " + answer.calibration + ".\n";
  if (!answer.record.empty()) {
    text += "Recorded on unit " + answer.record + ", stimulus " + answer.stimulus + "; netlist " +
            answer.netlist_sha256.substr(0, 12) + ", stimulus file " + answer.stimulus_sha256.substr(0, 12) + ".\n";
  }
  if (!std::isnan(answer.leakage_w))
    text += "Leakage of the whole unit, not in the number: " + quantity_text(answer.leakage_w, "W") + ".\n";
  for (const std::string& note : answer.notes) text += "Note: " + note + "\n";
  if (answer.explanation) {
    text += "\n";
    write_text(text, *answer.explanation, 0);
  }
  return text;
}

std::string answer_json(const Gauge& gauge, std::string_view question) {
  std::string text;
  text.reserve(512);
  const AnyQuestion any = question_from_json(question);
  const Answer answer = std::visit([&](const auto& asked) { return gauge.energy(asked); }, any);
  write(text, answer, id_of(question));
  return text;
}

std::uint64_t answer_lines(const Gauge& gauge, std::istream& questions, std::ostream& answers) {
  std::string line, out;
  std::uint64_t number = 0, bad = 0;
  while (std::getline(questions, line)) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      out += answer_json(gauge, line);
    } catch (const std::exception& error) {
      ++bad;
      out += to_json(error, number, id_of(line));
    }
    out += '\n';
    if (questions.rdbuf()->in_avail() <= 0 || out.size() > (1U << 16)) {
      answers.write(out.data(), static_cast<std::streamsize>(out.size())).flush();
      out.clear();
      if (!answers)
        throw Error("The answers could not be written; check that their reader still runs and for free space");
    }
  }
  answers.write(out.data(), static_cast<std::streamsize>(out.size())).flush();
  if (!answers) throw Error("The answers could not be written; check that their reader still runs and for free space");
  if (questions.bad()) throw Error("The questions cannot be read; give them as a file or pipe on stdin");
  return bad;
}

}  // namespace narrowgauge::power
