// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <variant>

#include "bindings.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/power/features.hpp"
#include "narrowgauge/power/gauge.hpp"
#include "narrowgauge/power/json.hpp"
#include "narrowgauge/power/operands.hpp"

namespace narrowgauge::python {
namespace {

using power::AnyQuestion;
using power::Gauge;

template <class T>
using StreamCodes = py::array_t<T, py::array::c_style | py::array::forcecast>;

/// Of operands: features of a cycle, cycles of a multiply-accumulate.
struct Counted {
  power::Features features;
  double cycles_per_mac;
};

/// An answer, and what it takes to derive it again.
struct Answered {
  power::Answer answer;
  AnyQuestion question;
  std::optional<Counted> counted;
  std::shared_ptr<const Gauge> gauge;
  std::string text;  ///< the question in JSON
};

Answered ask(std::shared_ptr<const Gauge> gauge, AnyQuestion question, const std::optional<Counted>& counted = {}) {
  power::Answer answer =
      counted ? gauge->energy_counted(std::get<power::Question>(question), counted->features, counted->cycles_per_mac)
              : std::visit([&](const auto& q) { return gauge->energy(q); }, question);
  return {std::move(answer), std::move(question), counted, std::move(gauge), {}};
}

Answered ask(std::shared_ptr<const Gauge> gauge, const std::string& text, const std::optional<Counted>& counted = {}) {
  Answered answered = ask(std::move(gauge), power::question_from_json(text), counted);
  answered.text = text;
  return answered;
}

/// The question, what was counted, the gauge's own files, and the answer's number.
py::tuple answer_state(const Answered& a) {
  const auto* const own = a.gauge.get() == &power::gauge() ? nullptr : static_cast<const FileGauge*>(a.gauge.get());
  py::object counted = py::none();
  if (a.counted) counted = py::make_tuple(a.counted->features, a.counted->cycles_per_mac);
  return py::make_tuple(a.text, counted, own ? py::cast(own->files) : py::none(), a.answer.value);
}

/// Asks again. Throws Error if the data here give another answer.
Answered asked_again(const py::tuple& state) {
  std::optional<Counted> counted;
  if (!state[1].is_none()) {
    const py::tuple pair = state[1];
    counted = {pair[0].cast<power::Features>(), pair[1].cast<double>()};
  }
  std::shared_ptr<const Gauge> gauge = or_default(nullptr);
  if (!state[2].is_none())
    gauge = std::make_shared<const FileGauge>(state[2].cast<std::vector<std::filesystem::path>>());
  Answered answered = ask(std::move(gauge), state[0].cast<std::string>(), counted);
  const auto value = state[3].cast<double>();
  if (answered.answer.value != value && !std::isnan(value)) {
    throw Error("the pickled answer is " + std::to_string(value) + " and the one here " +
                std::to_string(answered.answer.value) + "; expected the narrowgauge, and the data, that made it");
  }
  return answered;
}

/// The answer with its derivation.
power::Answer explained(const Answered& answered) {
  AnyQuestion question = answered.question;
  std::visit([](auto& q) { q.explain = true; }, question);
  return ask(answered.gauge, std::move(question), answered.counted).answer;
}

/// A real matrix as float32, row by row. `what` names it in errors.
py::array_t<float> real_matrix(const char* what, const py::array& x) {
  const char kind = x.dtype().kind();
  if (kind != 'f' && kind != 'i' && kind != 'u') {
    throw Error("operand " + std::string(what) + " has dtype " + std::string(py::str(x.dtype())) +
                "; expected real numbers or integers");
  }
  if (x.ndim() != 2 || x.size() == 0) {
    throw Error("operand " + std::string(what) + " has shape " + shape_text(x) +
                "; expected two dimensions, both at least 1");
  }
  const auto values = py::array_t<float, py::array::c_style | py::array::forcecast>::ensure(x);
  if (!values) throw py::error_already_set();
  return values;
}

/// The operands of a product, as arrays of Python.
struct Operands {
  Operands(const py::array& left, const py::array& right)
      : a(real_matrix("a", left)), b(real_matrix("b", right)), codes(left.dtype().kind() != 'f') {
    if (codes != (right.dtype().kind() != 'f')) {
      throw Error("operand a has dtype " + std::string(py::str(left.dtype())) + " and operand b " +
                  std::string(py::str(right.dtype())) + "; expected integers, or real numbers, in both");
    }
    if (a.shape(1) != b.shape(0)) {
      throw Error("operand a has shape " + shape_text(a) + " and operand b " + shape_text(b) +
                  "; expected M x K and K x N");
    }
    rows = static_cast<std::size_t>(a.shape(0));
    k = static_cast<std::size_t>(a.shape(1));
    columns = static_cast<std::size_t>(b.shape(1));
    a_values = {a.data(), rows * k};
    b_values = {b.data(), k * columns};
  }

  /// What happens in a unit that multiplies them. Runs without Python.
  Counted count(const power::MacSpec& mac, std::size_t max_products, unsigned threads) const {
    const bool integers = codes && mac.is(power::MacFormat::integer);
    const power::ProductOperands product =
        power::product_operands(mac, a_values, rows, k, b_values, columns, integers, max_products);
    if (product.stream.cycles < 2) {
      throw Error(
          "the operands take the unit one cycle; expected two or more, for a flip takes two; fewer lanes do it");
    }
    return {power::features_counted(mac, product.stream, threads), power::cycles_per_mac(mac, product.stream)};
  }

  py::array_t<float> a, b;
  bool codes;  ///< of integers, not values to be quantized
  std::size_t rows, k, columns;
  std::span<const float> a_values, b_values;
};

const power::Question& unit_question(const AnyQuestion& question) {
  if (const auto* unit = std::get_if<power::Question>(&question)) return *unit;
  throw Error("a question about a memory has no operands to count on: leave operands out");
}

py::dict by_name(const power::Features& features) {
  py::dict named;
  for (std::size_t i = 0; i < features.size(); ++i) named[py::str(power::feature_names[i])] = features[i];
  return named;
}

std::optional<std::string> if_any(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

template <class T>
auto text_or_none(T member) {
  return [member](const Answered& a) { return if_any(a.answer.*member); };
}

py::list ask_many(const std::vector<std::string>& questions, const GaugeArgument& gauge) {
  const std::shared_ptr<const Gauge> asked = or_default(gauge);
  std::vector<std::variant<Answered, std::exception_ptr>> answers;
  answers.reserve(questions.size());
  {
    const Unlocked unlocked;
    for (const std::string& question : questions) {
      try {
        answers.emplace_back(ask(asked, question));
      } catch (...) {
        answers.emplace_back(std::current_exception());
      }
    }
  }
  py::list list;
  for (auto& answer : answers) {
    if (auto* good = std::get_if<Answered>(&answer)) {
      list.append(py::cast(std::move(*good)));
      continue;
    }
    // Raised and taken again, which turns it into its Python exception.
    const py::cpp_function raise([error = std::get<std::exception_ptr>(answer)] { std::rethrow_exception(error); });
    try {
      raise();
    } catch (py::error_already_set& error) {
      list.append(error.value());
    }
  }
  return list;
}

}  // namespace

void bind_energy(py::module_& module) {
  static py::handle field_error;  // lives as long as the interpreter
  field_error = py::exception<power::FieldError>(module, "FieldError", module.attr("Error")).release();
  field_error.attr("__doc__") =
      "A question that cannot be answered because of one `field`, its `value`, and what was `expected`.";
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const power::FieldError& error) {
      const py::object raised = field_error(error.what());
      raised.attr("field") = error.field();
      raised.attr("value") = error.value();
      raised.attr("expected") = error.expected();
      PyErr_SetObject(field_error.ptr(), raised.ptr());
    }
  });

  py::class_<power::RungError>(module, "RungError",
                               "How far a rung is off, relative, on units that its calibration has not seen.")
      .def_readonly("mean_abs", &power::RungError::mean_abs)
      .def_readonly("max_abs", &power::RungError::max_abs)
      .def_readonly("samples", &power::RungError::samples)
      .def_readonly("against", &power::RungError::against, "The rung compared with.")
      .def(py::pickle(
          [](const power::RungError& e) { return py::make_tuple(e.mean_abs, e.max_abs, e.samples, e.against, e.of); },
          [](const py::tuple& s) {
            return power::RungError{s[0].cast<double>(), s[1].cast<double>(), s[2].cast<int>(),
                                    s[3].cast<std::string>(), s[4].cast<std::string>()};
          }))
      .def("__repr__", [](const power::RungError& e) {
        return "<RungError " + std::to_string(100 * e.mean_abs) + " % mean, " + std::to_string(100 * e.max_abs) +
               " % max against " + e.against + ">";
      });
  py::class_<power::Anchor>(module, "Anchor", "How a cited technology's answer came from a constant: constant x ratio.")
      .def_readonly("to", &power::Anchor::to, "What the constant is of.")
      .def_readonly("constant_j", &power::Anchor::constant_j, "Joules, as cited.")
      .def_readonly("ratio", &power::Anchor::ratio, "Unit asked for / that one, both in the flow of `flow`.")
      .def_readonly("flow", &power::Anchor::flow, "Calibrated technology of the ratio.")
      .def(py::pickle([](const power::Anchor& a) { return py::make_tuple(a.to, a.constant_j, a.ratio, a.flow); },
                      [](const py::tuple& s) {
                        return power::Anchor{s[0].cast<std::string>(), s[1].cast<double>(), s[2].cast<double>(),
                                             s[3].cast<std::string>()};
                      }));

  py::class_<Answered>(module, "Answer", R"(An energy, where it comes from, and how far off it may be.

str() of it is a text for people; explain() derives it.)")
      .def(py::pickle(&answer_state, &asked_again))
      .def_property_readonly(
          "value", [](const Answered& a) { return a.answer.value; }, "Of the whole question: count x each.")
      .def_property_readonly(
          "unit", [](const Answered& a) { return a.answer.unit; }, "'J', or 'flip' in mode pann_paper.")
      .def_property_readonly(
          "each", [](const Answered& a) { return a.answer.each; },
          "Of one multiply-accumulate (structure none: of one weight element), or of one bit of memory.")
      .def_property_readonly(
          "leakage_w",
          [](const Answered& a) {
            return std::isnan(a.answer.leakage_w) ? std::nullopt : std::optional(a.answer.leakage_w);
          },
          "Leakage of the whole unit in watts, not in value; None: not known.")
      .def_property_readonly(
          "rung", [](const Answered& a) { return power::name(a.answer.rung); }, "'L0' to 'L5', or 'cited'.")
      .def_property_readonly("mode", [](const Answered& a) { return power::name(a.answer.mode); })
      .def_property_readonly("technology", text_or_none(&power::Answer::technology))
      .def_property_readonly("calibration", text_or_none(&power::Answer::calibration), "Id of the calibration.")
      .def_property_readonly("recipe", text_or_none(&power::Answer::recipe),
                             "How the netlists behind the number were mapped: 'area', 'adders', 'speed'.")
      .def_property_readonly(
          "error", [](const Answered& a) { return a.answer.error; }, "None: not known, and a note says why.")
      .def_property_readonly("anchor", [](const Answered& a) { return a.answer.anchor; })
      .def_property_readonly("record", text_or_none(&power::Answer::record), "Unit whose record this is.")
      .def_property_readonly("stimulus", text_or_none(&power::Answer::stimulus))
      .def_property_readonly("netlist_sha256", text_or_none(&power::Answer::netlist_sha256))
      .def_property_readonly("stimulus_sha256", text_or_none(&power::Answer::stimulus_sha256))
      .def_property_readonly(
          "in_range", [](const Answered& a) { return a.answer.in_range; },
          "Whether the question is within what the calibration was checked on.")
      .def_property_readonly(
          "verified", [](const Answered& a) { return a.answer.verified; },
          "False if it rests on a cited constant that nobody has checked against its source.")
      .def_property_readonly(
          "notes", [](const Answered& a) { return a.answer.notes; }, "Sentences: what else to know.")
      .def_property_readonly(
          "features",
          [](const Answered& a) { return a.counted ? std::optional(by_name(a.counted->features)) : std::nullopt; },
          "What was counted on the operands, per cycle; None without operands.")
      .def(
          "explain", [](const Answered& a) { return power::to_text(explained(a)); },
          "The derivation as text, down to flips or toggles.")
      .def(
          "json", [](const Answered& a, bool explain) { return power::to_json(explain ? explained(a) : a.answer); },
          py::kw_only(), py::arg("explain") = false, "The answer as `narrowgauge energy --json` prints it.")
      .def("__str__", [](const Answered& a) { return power::to_text(a.answer); })
      .def("__repr__", [](const Answered& a) {
        std::ostringstream text;
        text << "<Answer " << a.answer.value << ' ' << a.answer.unit << ", " << power::name(a.answer.rung);
        if (!a.answer.technology.empty()) text << ", " << a.answer.technology;
        text << '>';
        return text.str();
      });

  py::class_<power::TechnologyInfo>(module, "Technology", "What energies can be asked about.")
      .def_readonly("name", &power::TechnologyInfo::name)
      .def_readonly("kind", &power::TechnologyInfo::kind)
      .def_readonly("what", &power::TechnologyInfo::what)
      .def_readonly("citation", &power::TechnologyInfo::citation)
      .def_readonly("calibration", &power::TechnologyInfo::calibration, "Id; empty if there is none.")
      .def_readonly("can_answer", &power::TechnologyInfo::can_answer)
      .def_readonly("limit", &power::TechnologyInfo::limit, "What it cannot answer, and why; or empty.")
      .def(py::pickle(
          [](const power::TechnologyInfo& t) {
            return py::make_tuple(t.name, t.kind, t.what, t.citation, t.calibration, t.can_answer, t.limit);
          },
          [](const py::tuple& s) {
            const auto text = [&](std::size_t i) { return s[i].cast<std::string>(); };
            return power::TechnologyInfo{text(0), text(1), text(2), text(3), text(4), s[5].cast<bool>(), text(6)};
          }))
      .def("__repr__", [](const power::TechnologyInfo& t) { return "<technology " + t.name + ">"; });

  using Files = std::vector<std::filesystem::path>;
  py::class_<FileGauge, std::shared_ptr<FileGauge>>(module, "Gauge", "What narrowgauge.Gauge has inside.")
      .def(py::init<Files>(), py::arg("calibrations") = Files(), py::call_guard<Unlocked>())
      .def(py::pickle([](const FileGauge& gauge) { return py::make_tuple(gauge.files); },
                      [](const py::tuple& state) { return std::make_shared<FileGauge>(state[0].cast<Files>()); }));

  module.def(
      "technologies",
      [](const GaugeArgument& gauge) {
        py::dict table;
        for (power::TechnologyInfo& info : or_default(gauge)->technologies()) {
          const py::str name(info.name);
          table[name] = std::move(info);
        }
        return table;
      },
      py::kw_only(), py::arg("gauge") = py::none(), "What energies can be asked about, by name.");
  module.def(
      "ask", [](const std::string& question, const GaugeArgument& gauge) { return ask(or_default(gauge), question); },
      py::arg("question"), py::kw_only(), py::arg("gauge") = py::none(), py::call_guard<Unlocked>(),
      "One question in JSON, as `narrowgauge energy` reads it. Raises FieldError, or Error if it is not JSON.");
  module.def("ask_many", &ask_many, py::arg("questions"), py::kw_only(), py::arg("gauge") = py::none(),
             "An answer for each question in JSON, or the exception that ask() would raise.");
  module.def(
      "ask_counted",
      [](const std::string& question, const py::array& a, const py::array& b, std::size_t max_products,
         unsigned threads, const GaugeArgument& gauge) {
        const AnyQuestion asked = power::question_from_json(question);
        const Operands operands(a, b);
        const Unlocked unlocked;
        std::shared_ptr<const Gauge> of = or_default(gauge);
        const power::MacSpec mac = of->usual_unit(unit_question(asked)).unit.mac;
        return ask(std::move(of), question, operands.count(mac, max_products, threads));
      },
      py::arg("question"), py::arg("a"), py::arg("b"), py::kw_only(), py::arg("max_products") = 1 << 22,
      py::arg("threads") = 0, py::arg("gauge") = py::none(),
      "One question in JSON at rung L1, flips counted on operands, M x K and K x N.");
  module.def(
      "count_features",
      [](const std::string& question, const py::array& a, const py::array& b, std::size_t max_products,
         unsigned threads) {
        const AnyQuestion asked = power::question_from_json(question);
        const Operands operands(a, b);
        power::Features features;
        {
          const Unlocked unlocked;
          features = operands.count(unit_question(asked).unit.mac, max_products, threads).features;
        }
        return by_name(features);
      },
      py::arg("question"), py::arg("a"), py::arg("b"), py::kw_only(), py::arg("max_products") = 1 << 22,
      py::arg("threads") = 0, "What ask_counted counts, by name, per cycle.");
  module.def(
      "ask_stream",
      [](const std::string& question, const StreamCodes<std::uint32_t>& a, const StreamCodes<std::uint32_t>& b,
         const StreamCodes<std::uint8_t>& a_scale, const StreamCodes<std::uint8_t>& b_scale, std::size_t first_every,
         std::size_t held, const GaugeArgument& gauge) {
        std::shared_ptr<const Gauge> of = or_default(gauge);
        const power::MacSpec mac = of->usual_unit(unit_question(power::question_from_json(question))).unit.mac;
        power::OperandStream stream;
        stream.a = {a.data(), static_cast<std::size_t>(a.size())};
        stream.b = {b.data(), static_cast<std::size_t>(b.size())};
        stream.a_scale = {a_scale.data(), static_cast<std::size_t>(a_scale.size())};
        stream.b_scale = {b_scale.data(), static_cast<std::size_t>(b_scale.size())};
        stream.cycles = stream.a.size() / static_cast<std::size_t>(mac.lanes);
        stream.first_every = first_every;
        const Unlocked unlocked;
        Counted counted{power::features_counted(mac, stream), power::cycles_per_mac(mac, stream)};
        for (std::size_t i = 0; i < counted.features.size(); ++i) {
          // Where nothing changes, nothing flips, but the clock goes on.
          if (static_cast<power::Feature>(i) != power::Feature::flip_flops)
            counted.features[i] *= static_cast<double>(stream.cycles) / static_cast<double>(stream.cycles + held);
        }
        return ask(std::move(of), question, counted);
      },
      py::arg("question"), py::arg("a"), py::arg("b"), py::arg("a_scale"), py::arg("b_scale"), py::arg("first_every"),
      py::arg("held"), py::kw_only(), py::arg("gauge") = py::none(),
      "One question in JSON at rung L1, flips counted on codes, a row a cycle; a sum starts in each first_every. In "
      "`held` "
      "more cycles nothing changes.");
  module.def(
      "operand_shape",
      [](const std::string& question, const GaugeArgument& gauge) {
        const AnyQuestion asked = power::question_from_json(question);
        const power::MacSpec mac = or_default(gauge)->usual_unit(unit_question(asked)).unit.mac;
        power::check_priceable(mac);
        return py::make_tuple(mac.lanes, power::code_bits(mac, false), power::code_bits(mac, true),
                              power::block_lanes(mac), mac.accumulator);
      },
      py::arg("question"), py::kw_only(), py::arg("gauge") = py::none(),
      "Lanes, bits of a code of a and of b, lanes a scale, and whether sums are kept.");
  module.def(
      "recorded_mac",
      [](const std::string& unit, const GaugeArgument& gauge) {
        const auto records = or_default(gauge)->records();
        const auto of = [&](const power::RecordInfo& record) {
          return record.unit == unit && record.operation.empty();
        };
        const auto found = std::find_if(records.begin(), records.end(), of);
        if (found == records.end()) {
          throw Error("unit " + io::shown(unit) + " is no recorded unit that multiplies; narrowgauge energy --units " +
                      "lists what is recorded");
        }
        return power::to_json(found->mac).dump();
      },
      py::arg("unit"), py::kw_only(), py::arg("gauge") = py::none(),
      "A recorded unit's fields of a question, in JSON.");
  module.def(
      "energy_lines",
      [](const std::string& questions, const GaugeArgument& gauge) {
        std::istringstream in(questions);
        std::ostringstream out;
        power::answer_lines(*or_default(gauge), in, out);
        return out.str();
      },
      py::arg("questions"), py::kw_only(), py::arg("gauge") = py::none(), py::call_guard<Unlocked>(),
      "JSON Lines in, JSON Lines out.");
}

}  // namespace narrowgauge::python
