// SPDX-License-Identifier: Apache-2.0
// Answers from published constants: units anchored to them, memories, events on measured chips.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "features/text.hpp"
#include "gauge_data.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/power/json.hpp"

namespace narrowgauge::power {

using namespace data;

Answer Gauge::Data::answer_from_constants(const Technology& technology, const Question& question, bool carried) const {
  if (question.rung != Rung::best && question.rung != Rung::L0 && question.rung != Rung::L2 &&
      question.rung != Rung::L3)
    throw FieldError("rung", std::string(name(question.rung)), "best, L0, L2 or L3 in " + technology.name);
  const auto constant = [&](const char* op, std::string_view format) -> const Operation* {
    for (const Operation& operation : technology.operations)
      if (operation.op == op && operation.format == format) return &operation;
    return nullptr;
  };
  // The listed multiply-accumulate to start from: the format's own, or one of its class. Integers and narrow formats
  // are held against INT8, wide floating-point numbers against FP16 (or what is listed of them), whose unit has one
  // lane and no register, and glitches.
  const MacSpec asked = canonicalize(question.unit.mac);
  MacSpec reference;
  OperandStatistics baseline;
  std::string_view reference_name = "int8", sum_name = "int32";
  if (!is_wide_float(asked.a_format) && !is_wide_float(asked.b_format)) {
    if (question.reference == Reference::like_for_like) {
      reference = reference_mac();
      if (!asked.accumulator) std::tie(reference.lanes, reference.pipelined) = std::pair(1, false);
    }
    reference.accumulator = asked.accumulator;
  } else {
    const std::array classes{asked.format(), MacFormat::fp16, MacFormat::bf16, MacFormat::fp32};
    const auto listed = std::find_if(classes.begin(), classes.end(),
                                     [&](MacFormat format) { return constant("mul", name(format)) != nullptr; });
    reference.set_format(listed == classes.end() ? MacFormat::fp16 : *listed);
    reference_name = name(reference.format());
    sum_name = "fp32";
    baseline.distribution = Distribution::gauss;
    reference.accumulator = asked.accumulator || !asked.is(reference.format());
  }
  reference = canonicalize(reference);
  const Operation* product = constant("mul", reference_name);
  const Operation* sum = constant("add", sum_name);
  if (!product || !sum)
    throw Error("Technology " + technology.name + " lists no " + std::string(product ? sum_name : reference_name) +
                (product ? " addition" : " multiplication") + "; correct power/technologies/" + technology.name +
                ".json");
  const double constant_j = product->energy_j + (reference.accumulator ? sum->energy_j : 0);

  Answer answer = begin_answer({.rung = Rung::cited, .technology = technology.name});
  const bool direct = asked == reference && question.stimulus.empty() &&
                      question.unit.a.distribution == baseline.distribution &&
                      question.unit.b.distribution == baseline.distribution;
  Anchor anchor{std::string(reference_name) + (reference.accumulator ? " multiply-accumulate" : " multiplication"),
                constant_j, 1, technology.anchor};
  std::optional<Answer> of_asked, of_reference;
  if (direct) {
    answer.notes.push_back("A published constant as it stands (" + technology.citation +
                           "): its source states neither operands nor an error.");
  } else {
    Question here = question, there = question;
    here.unit.mac = asked;
    here.technology = there.technology = technology.anchor;
    here.count = there.count = 1;
    here.explain = there.explain = question.explain;
    there.unit = {reference, baseline, baseline};
    there.stimulus.clear();
    if (carried) {
      of_asked = answer_carried(here);
      of_reference = answer_carried(there);
    } else if (question.rung == Rung::best) {  // both answers take one rung
      const Technology& flow = this->technology(technology.anchor);
      of_asked = answer_from_records(flow, here, Rung::L3);
      of_reference = answer_from_records(flow, there, Rung::L3);
      here.rung = there.rung = Rung::L0;
    }
    if (!of_asked || !of_reference) {
      of_asked = answer_refined(here);
      of_reference = answer_refined(there);
    }
    anchor.ratio = of_asked->each / of_reference->each;
    answer = *of_asked;
    answer.technology = technology.name;
    answer.leakage_w = not_known;
    answer.notes.push_back("Anchored: the cited " + anchor.to + " times the ratio of the two units in " + anchor.flow +
                           "; the error of carrying a ratio to " + technology.name + " is not known" +
                           (answer.error ? ", the one given is that of the rung in " + anchor.flow : "") + ".");
  }
  for (const Operation* operation : {product, reference.accumulator ? sum : product}) {
    if (operation->verified) continue;
    answer.verified = false;
    answer.notes.push_back("Unverified: " + operation->format + " " + operation->op + " " +
                           quantity_text(operation->energy_j, "J") + " of " + technology.name + " (" +
                           operation->source + "); check it against " + technology.citation + " before quoting.");
    if (operation == sum || !reference.accumulator) break;
  }
  Term each{"one multiply-accumulate", constant_j * anchor.ratio, "J", direct ? "" : "cited constant x ratio", {}};
  if (question.explain) {
    Term cited{"cited " + anchor.to, constant_j, "J", technology.citation, {}};
    cited.parts.push_back({product->format + " multiplication", product->energy_j, "J", product->source, {}});
    if (reference.accumulator) cited.parts.push_back({sum->format + " addition", sum->energy_j, "J", sum->source, {}});
    each.parts.push_back(std::move(cited));
    if (!direct) {
      Term ratio{"ratio", anchor.ratio, "1", "unit asked for / the cited one, in " + anchor.flow, {}};
      ratio.parts.push_back(*of_asked->explanation);
      ratio.parts.push_back(*of_reference->explanation);
      each.parts.push_back(std::move(ratio));
    }
  }
  answer.anchor = std::move(anchor);
  return finish_answer(std::move(answer), question.count, question.explain, std::move(each));
}

PortTable::Values PortTable::at(double size_bytes, double port_bits) const {
  const auto outside = [](double value, const std::vector<double>& known) {
    return !(value >= known.front() && value <= known.back());
  };
  if (outside(size_bytes, sizes_bytes))
    throw FieldError("size_bytes", number_text(size_bytes),
                     number_text(sizes_bytes.front()) + " to " + number_text(sizes_bytes.back()) +
                         " bytes, the sizes that CACTI was asked for");
  if (outside(port_bits, widths_bits))
    throw FieldError("port_bits", number_text(port_bits),
                     number_text(widths_bits.front()) + " to " + number_text(widths_bits.back()) +
                         " bits, the ports that CACTI was asked for");
  if (8 * size_bytes < fewest_words * port_bits)
    throw FieldError("size_bytes", number_text(size_bytes),
                     number_text(fewest_words * port_bits / 8) + " or more at a port of " + number_text(port_bits) +
                         " bits: CACTI takes " + number_text(fewest_words) + " words or more");
  // The cell of the grid, and where in it, of logarithms.
  const auto place = [](double value, const std::vector<double>& known) {
    std::size_t cell = 0;
    while (cell + 2 < known.size() && value >= known[cell + 1]) ++cell;
    return std::pair(cell, std::log(value / known[cell]) / std::log(known[cell + 1] / known[cell]));
  };
  const auto [s, along] = place(size_bytes, sizes_bytes);
  const auto [w, across] = place(port_bits, widths_bits);
  // Each cell is two triangles along its diagonal, on which the words are as many: so the edge of the fewest words is
  // one of a triangle, and all its corners are known.
  const double first = std::max(along, across), second = std::min(along, across);
  const Values& origin = entries[s][w];
  const bool upper = along < across && !std::isnan(entries[s][w + 1].read_j);  // across may be rounded up on the edge
  const Values& corner = upper ? entries[s][w + 1] : entries[s + 1][w];
  const Values& far = entries[s + 1][w + 1];
  const auto of = [&](double Values::*field) {
    double value = origin.*field;
    if (first > 0) value *= std::pow(corner.*field / origin.*field, first);
    if (second > 0) value *= std::pow(far.*field / corner.*field, second);
    return value;
  };
  return {of(&Values::read_j), of(&Values::write_j), of(&Values::leakage_w), of(&Values::area_m2),
          of(&Values::access_s)};
}

Answer Gauge::energy(const MemoryQuestion& question) const {
  detail::breathe();
  if (!(question.bits >= 0) || std::isinf(question.bits))
    throw FieldError("bits", number_text(question.bits), "a finite number, not negative");
  const Memory* memory = nullptr;
  std::string there;
  for (const Memory& candidate : data_->memories) {
    there += (there.empty() ? "" : ", ") + candidate.memory + " of " + candidate.technology;
    if (candidate.memory == question.memory && candidate.technology == question.technology) memory = &candidate;
  }
  if (!memory && question.memory == "sram") {
    const std::string table = sram_table(question.technology);
    for (const Memory& candidate : data_->memories)
      if (!table.empty() && candidate.technology == table) memory = &candidate;
  }
  if (!memory)
    throw FieldError("memory",
                     question.memory + " of technology " + (question.technology.empty() ? "none" : question.technology),
                     "one of " + there);
  if (question.port_bits != 0 && !memory->ports) {
    const std::string other = question.memory == "sram" ? sram_table(question.technology) : "";
    throw FieldError("port_bits", number_text(question.port_bits),
                     "left out: " + question.memory + " of " + question.technology + " has no ports" +
                         (other.empty() ? "" : "; that of " + other + " has"));
  }
  Answer answer = begin_answer({.rung = Rung::cited, .technology = memory->technology});
  answer.verified = memory->verified;
  using Op = MemoryQuestion::Operation;
  Term each{"one bit", 0, "J", std::string(name(question.operation)) + "; " + memory->citation, {}};
  if (memory->ports) {
    const PortTable::Values access = memory->ports->at(question.size_bytes, question.port_bits);
    each.how = "an access / bits of the port";
    const auto add = [&](const char* what, double joules) {
      each.value += joules / question.port_bits;
      each.parts.push_back({what, joules, "J", "an access of " + number_text(question.port_bits) + " bits", {}});
    };
    if (question.operation != Op::write) add("read", access.read_j);
    if (question.operation != Op::read) add("write", access.write_j);
    answer.leakage_w = access.leakage_w;
    answer.notes.push_back("The memory takes " + rounded(1e12 * access.area_m2) + " um2 and answers in " +
                           quantity_text(access.access_s, "s") + ".");
    if (!memory->ports->scaled.empty()) answer.notes.push_back("Scaled " + memory->ports->scaled + ".");
    answer.notes.push_back("CACTI states no error" +
                           (memory->ports->beside.empty() ? "." : "; " + memory->ports->beside + "."));
  } else if (!memory->points.empty()) {
    const auto& points = memory->points;
    const double low = points.front().first, high = points.back().first;
    if (!(question.size_bytes > 0) || std::isinf(question.size_bytes))
      throw FieldError("size_bytes", number_text(question.size_bytes), "a finite size above 0 of the SRAM");
    std::size_t at = 0;
    while (at + 2 < points.size() && question.size_bytes > points[at + 1].first) ++at;
    if (question.size_bytes < low || question.size_bytes > high) {
      const std::string range = number_text(low) + " to " + number_text(high) + " bytes";
      if (question.strict)
        throw FieldError("size_bytes", number_text(question.size_bytes), range + ", the sizes that are cited (strict)");
      answer.in_range = false;
      answer.notes.push_back("size_bytes is " + number_text(question.size_bytes) + ", outside the cited " + range +
                             ": extrapolated along the last two.");
    }
    const double slope =
        std::log(points[at + 1].second / points[at].second) / std::log(points[at + 1].first / points[at].first);
    each.value = points[at].second * std::pow(question.size_bytes / points[at].first, slope);
    for (const auto& [size, joules] : points)
      if (size == question.size_bytes) each.value = joules;
    if (question.operation == Op::store_and_fetch) each.value *= 2;
    if (question.operation != Op::read)
      answer.notes.push_back("The source gives one energy for an access; a write is taken to cost the same as a read.");
    for (const std::size_t i : {at, at + 1})
      each.parts.push_back({number_text(points[i].first) + " bytes",
                            points[i].second,
                            "J",
                            "cited, a bit; between points a power law",
                            {}});
  } else {
    if (question.size_bytes != 0)
      throw FieldError("size_bytes", number_text(question.size_bytes), "left out: it goes with sram only");
    double low = 0, high = 0;
    const auto add = [&](const char* what, double from, double to) {
      low += from;
      high += to;
      each.parts.push_back({what,
                            0.5 * (from + to),
                            "J",
                            memory->formula.empty()
                                ? "middle of " + quantity_text(from, "J") + " to " + quantity_text(to, "J")
                                : memory->formula,
                            {}});
    };
    if (question.operation != Op::write) add("read", memory->low_j, memory->high_j);
    if (question.operation != Op::read) add("write", memory->write_low_j, memory->write_high_j);
    each.value = 0.5 * (low + high);
    if (high > low) {
      answer.notes.push_back("The source gives a range, " + quantity_text(low, "J") + " to " +
                             quantity_text(high, "J") + " a bit; the value is its middle, +- " +
                             percent_text((high - low) / (high + low)) + ".");
    }
  }
  answer.notes.push_back("Cited: " + memory->citation + ".");
  if (!memory->verified) answer.notes.push_back("Unverified: check it against its source before quoting.");
  return finish_answer(std::move(answer), question.bits, question.explain, std::move(each));
}

Answer Gauge::Data::answer_from_measurement(const Technology& technology, const Measurement& measurement,
                                            const Question& question) const {
  Answer answer = begin_answer({.rung = Rung::L5,
                                .technology = technology.name,
                                .calibration = technology.measured->id,
                                .record = "tile " + measurement.tile,
                                .netlist_sha256 = measurement.bitstream_sha256,
                                .stimulus = measurement.operands});
  answer.notes.push_back("Measured on a board: " + measurement.how +
                         ". The tile repeats a product on operands that stay in its banks, less the same tile at rest: "
                         "banks, control and accumulators are in it, operands that travel and what leaks are not.");
  answer.notes.push_back("The interval of the mean is " + quantity_text(measurement.low_j, "J") + " to " +
                         quantity_text(measurement.high_j, "J") + ", without the error of sensor and shunt.");
  Term each{"one multiply-accumulate", measurement.mac_j, "J", "power of the loop / multiply-accumulates a second", {}};
  each.parts.push_back({"power of the loop", measurement.power_w, "W", "running less at rest", {}});
  each.parts.push_back({"multiply-accumulates a second", measurement.macs_per_s, "1/s", "counted by the board", {}});
  return finish_answer(std::move(answer), question.count, question.explain, std::move(each));
}

Answer Gauge::Data::answer_from_estimates(const Technology& technology, const Question& question) const {
  const Measured& measured = *technology.measured;
  if (question.rung != Rung::best && question.rung != Rung::L5)
    throw FieldError("rung", std::string(name(question.rung)), "best or L5 in " + technology.name);
  const MacSpec asked = canonicalize(question.unit.mac);
  std::string there;
  for (const Measurement& measurement : measured.products) {
    if (name_pair(measurement.mac) == name_pair(asked))
      return answer_from_measurement(technology, measurement, question);
    there += (there.empty() ? "" : "; ") + name_pair(measurement.mac);
  }
  for (const Estimate& estimate : measured.estimates) {
    there += (there.empty() ? "" : "; ") + describe(estimate.mac) + " on " + estimate.stimulus;
    if (!(canonicalize(estimate.mac) == asked) || !stimulus_fits(question, estimate.stimulus)) continue;
    Answer answer = begin_answer({.rung = Rung::L5,
                                  .technology = technology.name,
                                  .calibration = measured.id,
                                  .record = estimate.unit,
                                  .netlist_sha256 = estimate.netlist_sha256,
                                  .stimulus = estimate.stimulus,
                                  .stimulus_sha256 = estimate.stimulus_sha256});
    answer.notes.push_back(
        "An estimate, not a measurement of this unit: events counted on its placed netlist x energies fitted to "
        "published board currents, which says nothing of the error here. The rules by which pulses count move the "
        "number from " +
        quantity_text(estimate.low_j / estimate.macs_per_cycle, "J") + " to " +
        quantity_text(estimate.high_j / estimate.macs_per_cycle, "J") + ". docs/energy_fpga.md.");
    Term each{"one multiply-accumulate",
              estimate.cycle_j / estimate.macs_per_cycle,
              "J",
              "energy of a cycle / " + rounded(estimate.macs_per_cycle) + " a cycle",
              {}};
    each.parts.push_back({"one cycle of the unit",
                          estimate.cycle_j,
                          "J",
                          "events of " + estimate.unit + " placed on the chip x their energies",
                          {{"nets", estimate.nets_j, "J", "transitions of routed nets", {}},
                           {"flip-flops", estimate.flip_flops_j, "J", "flip-flops clocked", {}},
                           {"dsp", estimate.dsp_j, "J", "products of DSP blocks", {}}}});
    return finish_answer(std::move(answer), question.count, question.explain, std::move(each));
  }
  if (measured.events.empty())
    throw FieldError("format", name_pair(asked), "one that was measured on " + technology.name + ": " + there);
  throw FieldError("technology", technology.name,
                   R"(a unit that was estimated there ()" + there + R"() or events on the chip, {"technology": ")" +
                       technology.name + R"(", "events": {")" + measured.events.back().name + R"(": 1}})");
}

Answer Gauge::energy(const EventQuestion& question) const {
  const Technology& technology = data_->technology(question.technology);
  if (!technology.measured) {
    throw FieldError("technology", technology.name,
                     "one that prices events: " +
                         data_->list_technologies([](const Technology& one) { return one.measured.has_value(); }));
  }
  const Measured& measured = *technology.measured;
  Answer answer = begin_answer({.rung = Rung::L5, .technology = technology.name, .calibration = measured.id});
  answer.error = measured.error;
  Term all{"all events", 0, "J", "sum of count x coefficient", {}};
  double low = 0, high = 0;
  for (const auto& [name, count] : question.events) {
    if (!(count >= 0) || std::isinf(count))
      throw FieldError("events", name + ": " + number_text(count), "finite counts, none negative");
    const auto event = std::find_if(measured.events.begin(), measured.events.end(),
                                    [&name = name](const Event& candidate) { return candidate.name == name; });
    if (event == measured.events.end()) {
      std::string names;
      for (const Event& known : measured.events) names += (names.empty() ? "" : ", ") + known.name;
      throw FieldError("events", name, "events of " + technology.name + ": " + names);
    }
    all.value += count * event->value;
    low += count * event->low;
    high += count * event->high;
    all.parts.push_back({name,
                         count * event->value,
                         "J",
                         rounded(count) + (event->unit == "W" ? " seconds x " : " x ") +
                             quantity_text(event->value, event->unit) + ": " + event->of,
                         {}});
  }
  answer.notes.push_back("The error is that of predicting a whole board current; a single event is known to " +
                         quantity_text(low, "J") + " ... " + quantity_text(high, "J") +
                         " over placements and pulse models.");
  return finish_answer(std::move(answer), 1, question.explain, std::move(all));
}

}  // namespace narrowgauge::power
