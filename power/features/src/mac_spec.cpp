// SPDX-License-Identifier: Apache-2.0
// The description of a unit and its operands: names, ranges, JSON.
#include "narrowgauge/power/mac_spec.hpp"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "features/fields.hpp"
#include "features/text.hpp"
#include "narrowgauge/power/field_error.hpp"

namespace narrowgauge::power {
namespace fields {

int whole(const char* field, const Json& value, int low, int high) {
  if (value.is_number_integer()) {
    const bool below = value.is_number_unsigned() ? false : value.get<std::int64_t>() < low;
    const bool above = value.is_number_unsigned() ? value.get<std::uint64_t>() > static_cast<std::uint64_t>(high)
                                                  : value.get<std::int64_t>() > high;
    if (!below && !above && value.get<std::int64_t>() >= low) return value.get<int>();
  }
  throw FieldError(field, brief(value), "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

bool flag(const char* field, const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  throw FieldError(field, brief(value), "true or false");
}

double real(const char* field, const Json& value) {
  if (value.is_number()) return value.get<double>();
  throw FieldError(field, brief(value), "a number");
}

const std::string& word(const char* field, const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>();
  throw FieldError(field, brief(value), "a string");
}

namespace {

/// "int8", "uint4": widths and signs of integers. False if it is not such a name.
bool integer_name(std::string_view text, MacSpec& mac) {
  const bool is_unsigned = text.starts_with('u');
  if (is_unsigned) text.remove_prefix(1);
  if (!text.starts_with("int")) return false;
  int width = 0;
  const auto [end, fault] = std::from_chars(text.data() + 3, text.data() + text.size(), width);
  if (fault != std::errc() || end != text.data() + text.size() || width < 1 || width > 16) return false;
  mac.format = MacFormat::integer;
  mac.a_width = mac.b_width = width;
  mac.a_signed = mac.b_signed = !is_unsigned;
  return true;
}

}  // namespace

void set_format(const Json& value, MacSpec& mac) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (integer_name(text, mac)) return;
    for (std::size_t i = 0; i < std::size(formats); ++i) {
      if (formats[i] == text || (i == 0 && text == "int")) {
        mac.format = static_cast<MacFormat>(i);
        mac.lanes = mac.format == MacFormat::nvfp4 ? 16 : mac.format == MacFormat::mxfp4 ? 32 : 1;  // a block
        return;
      }
    }
  }
  throw FieldError("format", brief(value), "one of " + joined(formats) + ", int1 to int16, uint1 to uint16");
}

bool take_mac(const std::string& key, const Json& value, MacSpec& mac) {
  const auto integers_only = [&] {
    if (mac.format != MacFormat::integer)
      throw FieldError(
          key, brief(value),
          "left out: it goes with format integer only, " + std::string(name(mac.format)) + " brings its own");
  };
  if (key == "format") return true;
  if (key == "a_width" || key == "b_width") {
    integers_only();
    (key[0] == 'a' ? mac.a_width : mac.b_width) = whole(key.c_str(), value, 1, 16);
  } else if (key == "a_signed" || key == "b_signed") {
    integers_only();
    (key[0] == 'a' ? mac.a_signed : mac.b_signed) = flag(key.c_str(), value);
  } else if (key == "structure") {
    integers_only();
    mac.structure = choice<Structure>("structure", value, structures);
  } else if (key == "lanes") {
    mac.lanes = whole("lanes", value, 1, 1024);
  } else if (key == "accumulator") {
    mac.accumulator = flag("accumulator", value);
  } else if (key == "acc_width") {
    integers_only();
    mac.acc_width = whole("acc_width", value, 1, 128);
  } else if (key == "schedule") {
    integers_only();
    mac.schedule = choice<Schedule>("schedule", value, schedules);
  } else if (key == "additions") {
    integers_only();
    mac.additions = real("additions", value);
  } else {
    return false;
  }
  return true;
}

OperandStatistics statistics(const char* field, const Json& value) {
  OperandStatistics statistics;
  if (value.is_string()) {
    statistics.distribution = choice<Distribution>(field, value, distributions, 3);
    return statistics;
  }
  if (!value.is_object() || value.size() != 1)
    throw FieldError(field, brief(value), R"("uniform", "gauss", "half_normal" or {"histogram": [...]})");
  const std::string& key = value.begin().key();
  const Json& content = *value.begin();
  if (key == "distribution") {
    statistics.distribution = choice<Distribution>(field, content, distributions, 3);
  } else if (key == "histogram" && content.is_array()) {
    auto counts = std::make_shared<std::vector<double>>();
    counts->reserve(content.size());
    for (const Json& count : content) counts->push_back(real(field, count));
    statistics.distribution = Distribution::histogram;
    statistics.histogram = std::move(counts);
  } else {
    throw FieldError(field, brief(value), R"("uniform", "gauss", "half_normal" or {"histogram": [...]})");
  }
  return statistics;
}

}  // namespace fields

using namespace fields;

namespace {

void check_width(const char* field, int width, int high) {
  if (width < 1 || width > high)
    throw FieldError(field, std::to_string(width), "a whole number from 1 to " + std::to_string(high));
}

void check_statistics(const char* field, const OperandStatistics& statistics, int code_width) {
  if (static_cast<std::size_t>(statistics.distribution) >= std::size(distributions))
    throw FieldError(field, std::to_string(static_cast<int>(statistics.distribution)), "a Distribution");
  if (statistics.distribution != Distribution::histogram) return;
  if (code_width > 16) throw FieldError(field, "a histogram", "a named distribution: fp32 has too many codes");
  const std::size_t codes = std::size_t{1} << code_width;
  const std::size_t entries = statistics.histogram ? statistics.histogram->size() : 0;
  if (entries != codes)
    throw FieldError(field, "a histogram of " + std::to_string(entries) + " entries",
                     std::to_string(codes) + " entries, one for each code of " + std::to_string(code_width) + " bits");
  double sum = 0;
  for (const double count : *statistics.histogram) {
    if (!(count >= 0) || std::isinf(count))
      throw FieldError(field, "a histogram with the entry " + number_text(count), "finite counts, none negative");
    sum += count;
  }
  if (!(sum > 0) || std::isinf(sum))
    throw FieldError(field, "a histogram of sum " + number_text(sum), "a finite sum above 0");
}

}  // namespace

std::string_view name(MacFormat format) { return formats[static_cast<std::size_t>(format)]; }
std::string_view name(Structure structure) { return structures[static_cast<std::size_t>(structure)]; }
std::string_view name(Schedule schedule) { return schedules[static_cast<std::size_t>(schedule)]; }
std::string_view name(Distribution distribution) { return distributions[static_cast<std::size_t>(distribution)]; }

FieldError::FieldError(std::string field, std::string value, std::string expected)
    : Error(field + " is " + value + "; expected " + expected),
      field_(std::move(field)),
      value_(std::move(value)),
      expected_(std::move(expected)) {}

MacSpec mac_spec_from_json(const Json& json) {
  MacSpec mac;
  if (!json.is_object()) throw FieldError("mac", brief(json), "an object with the keys " + std::string(mac_keys));
  const auto format = json.find("format");
  if (format == json.end()) throw FieldError("format", "missing", "one of " + joined(formats));
  set_format(*format, mac);
  for (const auto& [key, value] : json.items()) {
    if (!take_mac(key, value, mac)) throw FieldError(key, brief(value), "one of the keys " + std::string(mac_keys));
  }
  validate(MacQuestion{mac, {}, {}});
  return mac;
}

nlohmann::ordered_json to_json(const MacSpec& mac) {
  nlohmann::ordered_json json{{"format", name(mac.format)}};
  if (mac.format == MacFormat::integer) {
    json.update({{"a_width", mac.a_width},
                 {"b_width", mac.b_width},
                 {"a_signed", mac.a_signed},
                 {"b_signed", mac.b_signed},
                 {"structure", name(mac.structure)}});
  }
  json["lanes"] = mac.lanes;
  json["accumulator"] = mac.accumulator;
  if (mac.format == MacFormat::integer) {
    if (mac.accumulator) json["acc_width"] = mac.acc_width;
    json["schedule"] = name(mac.schedule);
    if (mac.structure == Structure::none) json["additions"] = mac.additions;
  }
  return json;
}

void validate(const MacQuestion& question) {
  const MacSpec& mac = question.mac;
  if (static_cast<std::size_t>(mac.format) >= std::size(formats))
    throw FieldError("format", std::to_string(static_cast<int>(mac.format)), "one of " + joined(formats));
  check_width("lanes", mac.lanes, 1024);
  int a_bits = 0, b_bits = 0;
  switch (mac.format) {
    case MacFormat::integer:
      check_width("a_width", mac.a_width, 16);
      check_width("b_width", mac.b_width, 16);
      a_bits = mac.a_width;
      b_bits = mac.b_width + (mac.schedule != Schedule::plain || mac.structure == Structure::none);  // a sign beside
      break;
    case MacFormat::nvfp4:
    case MacFormat::mxfp4:
      a_bits = b_bits = 4;
      break;
    case MacFormat::fp8_e4m3:
    case MacFormat::fp8_e5m2:
      a_bits = b_bits = 8;
      break;
    case MacFormat::bf16:
    case MacFormat::fp16:
      a_bits = b_bits = 16;
      break;
    case MacFormat::tf32:
      a_bits = b_bits = 19;
      break;
    case MacFormat::fp32:
      a_bits = b_bits = 32;
      break;
  }
  if (mac.format == MacFormat::integer) {
    if (static_cast<std::size_t>(mac.structure) >= std::size(structures))
      throw FieldError("structure", std::to_string(static_cast<int>(mac.structure)), "one of " + joined(structures));
    if (static_cast<std::size_t>(mac.schedule) >= std::size(schedules))
      throw FieldError("schedule", std::to_string(static_cast<int>(mac.schedule)), "one of " + joined(schedules));
    if (mac.accumulator) check_width("acc_width", mac.acc_width, 128);
    if (mac.structure == Structure::none) {
      if (!(mac.additions > 0) || std::isinf(mac.additions))
        throw FieldError("additions", number_text(mac.additions),
                         "a finite number above 0: the mean additions per weight of structure none");
      if (!mac.accumulator)
        throw FieldError("accumulator", "false", "true: structure none adds into its accumulator, there is no product");
      if (mac.lanes != 1) throw FieldError("lanes", std::to_string(mac.lanes), "1 with structure none");
    } else if (mac.additions != 0) {
      throw FieldError("additions", number_text(mac.additions), "0, or structure none");
    }
    if (mac.schedule != Schedule::plain) {
      if (mac.a_signed)
        throw FieldError("schedule", std::string(name(mac.schedule)),
                         "plain, or unsigned activations (a_signed false): the split needs a >= 0");
      if (!mac.accumulator)
        throw FieldError("schedule", std::string(name(mac.schedule)), "plain where there is no accumulator");
    }
  }
  check_statistics("a", question.a, a_bits);
  check_statistics("b", question.b, b_bits);
}

}  // namespace narrowgauge::power
