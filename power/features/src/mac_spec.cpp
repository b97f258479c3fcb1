// SPDX-License-Identifier: Apache-2.0
// The description of a unit and its operands: names, ranges, JSON.
#include "narrowgauge/power/mac_spec.hpp"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "features/fields.hpp"
#include "features/text.hpp"
#include "narrowgauge/power/features.hpp"
#include "narrowgauge/power/field_error.hpp"

namespace narrowgauge::power {
namespace fields {

int read_whole(const char* field, const Json& value, int low, int high) {
  if (value.is_number_integer()) {
    const bool below = value.is_number_unsigned() ? false : value.get<std::int64_t>() < low;
    const bool above = value.is_number_unsigned() ? value.get<std::uint64_t>() > static_cast<std::uint64_t>(high)
                                                  : value.get<std::int64_t>() > high;
    if (!below && !above && value.get<std::int64_t>() >= low) return value.get<int>();
  }
  throw FieldError(field, brief(value), "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

bool read_flag(const char* field, const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  throw FieldError(field, brief(value), "true or false");
}

double read_real(const char* field, const Json& value) {
  if (value.is_number()) return value.get<double>();
  throw FieldError(field, brief(value), "a number");
}

const std::string& read_word(const char* field, const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>();
  throw FieldError(field, brief(value), "a string");
}

namespace {

std::string format_words(bool both) {
  return "one of " + join(formats) + (both ? ", luq" : "") + ", int1 to int16, uint1 to uint16";
}

/// "int8", "uint4": width and sign of an integer. False if it is not such a name.
bool read_integer_name(std::string_view text, int& width, bool& is_signed) {
  const bool is_unsigned = text.starts_with('u');
  if (is_unsigned) text.remove_prefix(1);
  if (!text.starts_with("int")) return false;
  int bits = 0;
  const auto [end, fault] = std::from_chars(text.data() + 3, text.data() + text.size(), bits);
  if (fault != std::errc() || end != text.data() + text.size() || bits < 1 || bits > 16) return false;
  width = bits;
  is_signed = !is_unsigned;
  return true;
}

MacFormat read_format(const char* field, const Json& value, int& width, bool& is_signed) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text == "int" || read_integer_name(text, width, is_signed)) return MacFormat::integer;
    for (std::size_t i = 0; i < std::size(formats); ++i)
      if (formats[i] == text) return static_cast<MacFormat>(i);
  }
  throw FieldError(field, brief(value), format_words(std::string_view(field) == "format"));
}

}  // namespace

void read_formats(const Json& object, MacSpec& mac) {
  const bool both = object.contains("format");
  if (both && object["format"] == "luq" && !object.contains("a_format") && !object.contains("b_format")) {
    mac = luq_mac();
    return;
  }
  for (const bool b : {false, true}) {
    const char* own = b ? "b_format" : "a_format";
    const auto found = object.find(own);
    if (both && found != object.end())
      throw FieldError(own, brief(*found), "left out, or format: that is of both operands");
    if (!both && found == object.end()) {
      const bool other = object.contains(b ? "a_format" : "b_format");
      throw FieldError(other ? own : "format", "missing", format_words(!other));
    }
    (b ? mac.b_format : mac.a_format) = read_format(both ? "format" : own, both ? object["format"] : *found,
                                                    b ? mac.b_width : mac.a_width, b ? mac.b_signed : mac.a_signed);
  }
  mac.lanes = static_cast<int>(block_lanes(mac));
}

bool take_mac(const std::string& key, const Json& value, MacSpec& mac) {
  const auto wants_integer = [&](MacFormat format) {
    if (format != MacFormat::integer)
      throw FieldError(key, brief(value),
                       "left out: it goes with format integer only, " + std::string(name(format)) + " brings its own");
  };
  const auto wants_integers = [&] {
    wants_integer(mac.a_format);
    wants_integer(mac.b_format);
  };
  if (key == "format" || key == "a_format" || key == "b_format") return true;
  if (key == "a_width" || key == "b_width") {
    wants_integer(mac.format_of(key[0] == 'b'));
    (key[0] == 'a' ? mac.a_width : mac.b_width) = read_whole(key.c_str(), value, 1, 16);
  } else if (key == "a_signed" || key == "b_signed") {
    wants_integer(mac.format_of(key[0] == 'b'));
    (key[0] == 'a' ? mac.a_signed : mac.b_signed) = read_flag(key.c_str(), value);
  } else if (key == "structure") {
    wants_integers();
    mac.structure = read_choice<Structure>("structure", value, structures);
  } else if (key == "lanes") {
    mac.lanes = read_whole("lanes", value, 1, 1024);
  } else if (key == "accumulator") {
    mac.accumulator = read_flag("accumulator", value);
  } else if (key == "acc_width") {
    wants_integers();
    mac.acc_width = read_whole("acc_width", value, 1, 128);
  } else if (key == "schedule") {
    wants_integers();
    mac.schedule = read_choice<Schedule>("schedule", value, schedules);
  } else if (key == "additions") {
    wants_integers();
    mac.additions = read_real("additions", value);
  } else if (key == "pipelined") {
    if (!mac.is(MacFormat::mxfp4)) wants_integers();
    mac.pipelined = read_flag("pipelined", value);
  } else {
    return false;
  }
  return true;
}

OperandStatistics read_statistics(const char* field, const Json& value) {
  OperandStatistics statistics;
  if (value.is_string()) {
    statistics.distribution = read_choice<Distribution>(field, value, distributions, 3);
    return statistics;
  }
  if (!value.is_object() || value.size() != 1)
    throw FieldError(field, brief(value), R"("uniform", "gauss", "half_normal" or {"histogram": [...]})");
  const std::string& key = value.begin().key();
  const Json& content = *value.begin();
  if (key == "distribution") {
    statistics.distribution = read_choice<Distribution>(field, content, distributions, 3);
  } else if (key == "histogram" && content.is_array()) {
    auto counts = std::make_shared<std::vector<double>>();
    counts->reserve(content.size());
    for (const Json& count : content) counts->push_back(read_real(field, count));
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

MacSpec reference_mac(int width) {
  MacSpec mac;
  mac.a_width = mac.b_width = width;
  mac.structure = Structure::wallace;
  mac.lanes = 16;
  mac.pipelined = true;
  return mac;
}

MacSpec luq_mac() {
  MacSpec mac;
  mac.a_width = 4;
  mac.b_format = MacFormat::fp4_e3m0;
  return mac;
}

bool is_wide_float(MacFormat format) {
  return format == MacFormat::bf16 || format == MacFormat::fp16 || format == MacFormat::tf32 ||
         format == MacFormat::fp32;
}

std::string_view name(MacFormat format) { return formats[static_cast<std::size_t>(format)]; }
std::string_view name(Structure structure) { return structures[static_cast<std::size_t>(structure)]; }
std::string_view name(Schedule schedule) { return schedules[static_cast<std::size_t>(schedule)]; }
std::string_view name(Distribution distribution) { return distributions[static_cast<std::size_t>(distribution)]; }

FieldError::FieldError(std::string field, std::string value, std::string expected)
    : Error(field + " is " + value + "; expected " + expected),
      field_(std::move(field)),
      value_(std::move(value)),
      expected_(std::move(expected)) {}

std::string describe_formats(const MacSpec& mac) {
  const auto one = [&](bool b) {
    if (mac.format_of(b) != MacFormat::integer) return std::string(name(mac.format_of(b)));
    return ((b ? mac.b_signed : mac.a_signed) ? "int" : "uint") + std::to_string(b ? mac.b_width : mac.a_width);
  };
  const std::string a = one(false), b = one(true);
  return a == b ? a : a + " x " + b;
}

MacSpec mac_spec_from_json(const Json& json) {
  MacSpec mac;
  if (!json.is_object()) throw FieldError("mac", brief(json), "an object with the keys " + std::string(mac_keys));
  read_formats(json, mac);
  for (const auto& [key, value] : json.items()) {
    if (!take_mac(key, value, mac)) throw FieldError(key, brief(value), "one of the keys " + std::string(mac_keys));
  }
  validate(MacQuestion{mac, {}, {}});
  return mac;
}

nlohmann::ordered_json to_json(const MacSpec& mac) {
  nlohmann::ordered_json json;
  if (mac.one_format())
    json["format"] = name(mac.format());
  else
    json.update({{"a_format", name(mac.a_format)}, {"b_format", name(mac.b_format)}});
  const bool a = mac.a_format == MacFormat::integer, b = mac.b_format == MacFormat::integer;
  if (a) json["a_width"] = mac.a_width;
  if (b) json["b_width"] = mac.b_width;
  if (a) json["a_signed"] = mac.a_signed;
  if (b) json["b_signed"] = mac.b_signed;
  if (a && b) json["structure"] = name(mac.structure);
  json["lanes"] = mac.lanes;
  json["accumulator"] = mac.accumulator;
  if (a && b) {
    if (mac.accumulator) json["acc_width"] = mac.acc_width;
    json["schedule"] = name(mac.schedule);
    if (mac.structure == Structure::none) json["additions"] = mac.additions;
  }
  if (mac.pipelined) json["pipelined"] = true;
  return json;
}

void validate(const MacQuestion& question) {
  const MacSpec& mac = question.mac;
  for (const bool b : {false, true}) {
    const MacFormat format = mac.format_of(b);
    if (static_cast<std::size_t>(format) >= std::size(formats))
      throw FieldError(mac.one_format() ? "format"
                       : b              ? "b_format"
                                        : "a_format",
                       std::to_string(static_cast<int>(format)), "one of " + join(formats));
    if (format == MacFormat::integer) check_width(b ? "b_width" : "a_width", b ? mac.b_width : mac.a_width, 16);
  }
  check_width("lanes", mac.lanes, 1024);
  if (mac.is(MacFormat::integer)) {
    if (static_cast<std::size_t>(mac.structure) >= std::size(structures))
      throw FieldError("structure", std::to_string(static_cast<int>(mac.structure)), "one of " + join(structures));
    if (static_cast<std::size_t>(mac.schedule) >= std::size(schedules))
      throw FieldError("schedule", std::to_string(static_cast<int>(mac.schedule)), "one of " + join(schedules));
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
    if (mac.pipelined &&
        (mac.schedule != Schedule::plain || mac.structure == Structure::serial || mac.structure == Structure::none))
      throw FieldError("pipelined", "true", "false, or schedule plain and structure array, booth or wallace");
  }
  if (mac.pipelined && !mac.accumulator) throw FieldError("pipelined", "true", "false where there is no accumulator");
  check_statistics("a", question.a, code_bits(mac, false));
  check_statistics("b", question.b, code_bits(mac, true));
}

}  // namespace narrowgauge::power
