// SPDX-License-Identifier: Apache-2.0
#include <tuple>
#include <utility>

#include "narrowgauge/power/explore/explore.hpp"
#include "narrowgauge/power/gauge.hpp"
#include "narrowgauge/power/json.hpp"

namespace narrowgauge::power {
namespace {

std::string source_of(const Answer& answer) {
  std::string text = "rung " + std::string(name(answer.rung)) + ", technology " + answer.technology;
  if (!answer.calibration.empty()) text += ", calibration " + answer.calibration;
  if (answer.error) {
    text += ", mean error " + std::to_string(answer.error->mean_abs) + " of " + answer.error->against + " on " +
            std::to_string(answer.error->samples) + " held-out samples";
  }
  if (answer.anchor)
    text += ", anchored: " + answer.anchor->to + " x " + std::to_string(answer.anchor->ratio) + " in " +
            answer.anchor->flow;
  for (const std::string& note : answer.notes) text += (text.ends_with('.') ? " " : ". ") + note;
  return text;
}

Price price_of(const Answer& answer) {
  Price price{answer.each, source_of(answer), std::string(name(answer.rung))};
  if (answer.error)
    std::tie(price.error_mean, price.error_max) = std::pair(answer.error->mean_abs, answer.error->max_abs);
  return price;
}

MemoryQuestion memory_question(const std::string& memory, const std::string& technology, bool write) {
  MemoryQuestion question;
  question.memory = memory;
  question.technology = technology;
  question.operation = write ? MemoryQuestion::Operation::write : MemoryQuestion::Operation::read;
  return question;
}

}  // namespace

Price Prices::sram_port_bit(const std::string& table, double, double, bool) const {
  throw Error("the ports of SRAM " + table + " are not known");
}

Price GaugePrices::mac(const MacQuestion& unit, const std::string& technology) const {
  Question question;
  question.unit = unit;
  question.technology = technology;
  try {
    return price_of(gauge_.carried(question));
  } catch (const Error& error) {
    throw Error("the energy of a multiply-accumulate in " + describe_formats(unit.mac) + " of " +
                std::to_string(unit.mac.lanes) + " lanes in " + technology +
                " is not known: leave it out of the space, or give its mac_energy_j (" + error.what() + ")");
  }
}

Price GaugePrices::sram_bit(const std::string& technology, double size_bytes, bool write) const {
  MemoryQuestion question = memory_question("sram", technology, write);
  question.size_bytes = size_bytes;
  return price_of(gauge_.energy(question));
}

std::string GaugePrices::sram_table(const std::string& technology) const { return gauge_.sram_table(technology); }

Price GaugePrices::sram_port_bit(const std::string& table, double size_bytes, double port_bits, bool write) const {
  MemoryQuestion question = memory_question("sram", table, write);
  question.size_bytes = size_bytes;
  question.port_bits = port_bits;
  return price_of(gauge_.energy(question));
}

Price GaugePrices::dram_bit(const std::string& memory, const std::string& technology, bool write) const {
  return price_of(gauge_.energy(memory_question(memory, technology, write)));
}

std::optional<Price> GaugePrices::unit(const std::string& name, const std::string& technology) const {
  const auto of_unit = [&](const std::string& flow) {
    Question question;
    question.record = name;
    question.technology = flow;
    return gauge_.energy(question);
  };
  const auto of_int8 = [&](const std::string& where) {
    Question question;
    question.unit.mac = reference_mac(8);
    question.unit.a.distribution = question.unit.b.distribution = Distribution::gauss;
    question.technology = where;
    return gauge_.carried(question);
  };
  try {
    return price_of(of_unit(technology));
  } catch (const Error&) {  // no records of its own
  }
  try {
    const Answer here = of_int8(technology);
    if (!here.anchor && here.record.empty()) return {};
    const std::string flow = here.anchor ? here.anchor->flow : "osu018";
    const Answer unit = of_unit(flow);
    const double ratio = unit.each / of_int8(flow).each;
    // The error of carrying a ratio to another technology is not known.
    return Price{ratio * here.each,
                 "INT8 multiply-accumulate of " + technology + " x " + std::to_string(ratio) + ", the ratio in " +
                     flow + ": " + source_of(unit),
                 std::string(power::name(unit.rung))};
  } catch (const Error&) {
    return {};
  }
}

}  // namespace narrowgauge::power
