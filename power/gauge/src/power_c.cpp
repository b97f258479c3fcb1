// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "narrowgauge/power.h"
#include "narrowgauge/power/gauge.hpp"
#include "narrowgauge/power/json.hpp"

struct ng_power {
  narrowgauge::power::Gauge gauge;
};

namespace narrowgauge::power {
namespace {

void copy(std::string_view text, char* to, std::size_t size) noexcept {
  if (to == nullptr || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

/// Runs `work`; what it throws becomes a code and a message.
template <class Work>
ng_power_result guarded(char* message, std::size_t size, Work&& work) noexcept {
  copy("", message, size);
  try {
    return work();
  } catch (const Error& error) {
    copy(error.what(), message, size);
    return NG_POWER_BAD_QUESTION;
  } catch (const std::exception& error) {
    copy(error.what(), message, size);
    return NG_POWER_FAULT;
  }
}

template <class T>
T choice(const char* field, std::int32_t value, std::int32_t count) {
  if (value < 0 || value >= count)
    throw FieldError(field, std::to_string(value), "a value of its enumeration, 0 to " + std::to_string(count - 1));
  return static_cast<T>(value);
}

OperandStatistics operand(const char* field, const ng_power_operand& from) {
  OperandStatistics statistics;
  statistics.distribution = choice<Distribution>(field, from.distribution, 4);
  if (statistics.distribution == Distribution::histogram && from.histogram != nullptr) {
    statistics.histogram =
        std::make_shared<const std::vector<double>>(from.histogram, from.histogram + from.histogram_size);
  }
  return statistics;
}

Question read_question(const ng_power_question& from) {
  Question question;
  MacSpec& mac = question.unit.mac;
  mac.set_format(choice<MacFormat>("format", from.format, 11));
  if (from.version >= 2 && from.b_format != NG_POWER_SAME_FORMAT)
    mac.b_format = choice<MacFormat>("b_format", from.b_format, 11);
  mac.a_width = from.a_width;
  mac.b_width = from.b_width;
  mac.a_signed = from.a_signed != 0;
  mac.b_signed = from.b_signed != 0;
  mac.structure = choice<Structure>("structure", from.structure, 5);
  mac.lanes = from.lanes;
  mac.accumulator = from.accumulator != 0;
  mac.acc_width = from.acc_width;
  mac.schedule = choice<Schedule>("schedule", from.schedule, 4);
  mac.additions = from.additions;
  // As they are in ng_power_question_default(): a format alone is asked about.
  const MacSpec usual;
  question.unit_by_default = mac.structure == usual.structure && mac.lanes == usual.lanes &&
                             mac.schedule == usual.schedule && mac.additions == usual.additions;
  question.unit.a = operand("a", from.a);
  question.unit.b = operand("b", from.b);
  if (from.technology != nullptr) question.technology = from.technology;
  if (from.stimulus != nullptr) question.stimulus = from.stimulus;
  question.rung = choice<Rung>("rung", from.rung, 7);
  question.mode = choice<Mode>("mode", from.mode, 2);
  question.strict = from.strict != 0;
  question.count = from.count;
  if (from.energy_per_flip != 0) question.energy_per_flip = from.energy_per_flip;
  return question;
}

}  // namespace
}  // namespace narrowgauge::power

using namespace narrowgauge::power;

ng_power_result ng_power_open(const char* const* calibrations, size_t count, ng_power** gauge, char* message,
                              size_t message_size) {
  if (gauge == nullptr || (calibrations == nullptr && count != 0)) {
    copy("ng_power_open got a null pointer; expected a place for the gauge and `count` paths", message, message_size);
    return NG_POWER_BAD_ARGUMENT;
  }
  *gauge = nullptr;
  const ng_power_result result = guarded(message, message_size, [&] {
    const std::vector<std::filesystem::path> paths(calibrations, calibrations + count);
    *gauge = new ng_power{Gauge(paths)};
    return NG_POWER_OK;
  });
  return result == NG_POWER_BAD_QUESTION ? NG_POWER_FAULT : result;
}

void ng_power_close(ng_power* gauge) { delete gauge; }

ng_power_result ng_power_energy(const ng_power* gauge, const ng_power_question* question, ng_power_answer* answer,
                                char* message, size_t message_size) {
  if (gauge == nullptr || question == nullptr || answer == nullptr || question->version < 1 ||
      question->version > NG_POWER_VERSION) {
    copy("ng_power_energy got a null pointer or a question of another version; start from ng_power_question_default()",
         message, message_size);
    return NG_POWER_BAD_ARGUMENT;
  }
  return guarded(message, message_size, [&] {
    const Answer from = gauge->gauge.energy(read_question(*question));
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::memset(answer, 0, sizeof *answer);
    answer->version = question->version;
    answer->unit = from.unit == "J" ? NG_POWER_JOULE : NG_POWER_FLIP;
    answer->rung = static_cast<int32_t>(from.rung);
    answer->mode = static_cast<int32_t>(from.mode);
    answer->in_range = from.in_range;
    answer->verified = from.verified;
    answer->value = from.value;
    answer->each = from.each;
    answer->error_mean_abs = from.error ? from.error->mean_abs : nan;
    answer->error_max_abs = from.error ? from.error->max_abs : nan;
    answer->leakage_w = from.leakage_w;
    copy(from.technology, answer->technology, sizeof answer->technology);
    copy(from.calibration, answer->calibration, sizeof answer->calibration);
    copy(from.record, answer->record, sizeof answer->record);
    copy(from.netlist_sha256, answer->netlist_sha256, sizeof answer->netlist_sha256);
    copy(from.stimulus_sha256, answer->stimulus_sha256, sizeof answer->stimulus_sha256);
    return NG_POWER_OK;
  });
}

ng_power_result ng_power_energy_json(const ng_power* gauge, const char* question, char* answer, size_t answer_size,
                                     size_t* needed) {
  if (needed != nullptr) *needed = 0;
  if (gauge == nullptr || question == nullptr || (answer == nullptr && answer_size != 0)) return NG_POWER_BAD_ARGUMENT;
  return guarded(answer, answer_size, [&] {
    std::string text;
    ng_power_result result = NG_POWER_OK;
    try {
      text = answer_json(gauge->gauge, question);
    } catch (const narrowgauge::Error& error) {
      text = to_json(error);
      result = NG_POWER_BAD_QUESTION;
    }
    if (needed != nullptr) *needed = text.size() + 1;
    copy(text, answer, answer_size);
    return text.size() < answer_size ? result : NG_POWER_TOO_SMALL;
  });
}
