// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/power/explore/explore.hpp"

#include <pybind11/stl/filesystem.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "bindings.hpp"
#include "narrowgauge/power/explore/workload_formats.hpp"
#include "narrowgauge/power/export.hpp"
#include "narrowgauge/power/gauge.hpp"

namespace narrowgauge::python {
namespace {

using power::Explorer;
using power::Front;
using power::Gauge;
using Settings = std::map<std::string, std::int64_t>;
using Real = py::array_t<float, py::array::c_style | py::array::forcecast>;

/// The prices of a gauge that they keep alive.
class KeptPrices final : public power::Prices {
 public:
  explicit KeptPrices(std::shared_ptr<const Gauge> gauge) : gauge_(std::move(gauge)), prices_(*gauge_) {}
  power::Price mac(const power::MacQuestion& question, const std::string& technology) const override {
    return prices_.mac(question, technology);
  }
  power::Price sram_bit(const std::string& technology, double size_bytes, bool write) const override {
    return prices_.sram_bit(technology, size_bytes, write);
  }
  std::string sram_table(const std::string& technology) const override { return prices_.sram_table(technology); }
  power::Price sram_port_bit(const std::string& table, double size_bytes, double port_bits, bool write) const override {
    return prices_.sram_port_bit(table, size_bytes, port_bits, write);
  }
  power::Price dram_bit(const std::string& memory, const std::string& technology, bool write) const override {
    return prices_.dram_bit(memory, technology, write);
  }
  std::optional<power::Price> unit(const std::string& name, const std::string& technology) const override {
    return prices_.unit(name, technology);
  }

 private:
  std::shared_ptr<const Gauge> gauge_;
  power::GaugePrices prices_;
};

power::Tensors tensors_of(const std::optional<std::pair<Real, Real>>& tensors) {
  if (!tensors) return power::normal_tensors();
  const auto& [a, b] = *tensors;
  if (a.ndim() != 2 || b.ndim() != 2 || a.shape(1) != b.shape(0) || a.size() == 0 || b.size() == 0) {
    throw Error("the tensors have shapes " + shape_text(a) + " and " + shape_text(b) +
                "; expected M x K and K x N, both at least 1");
  }
  return {.m = static_cast<std::size_t>(a.shape(0)),
          .n = static_cast<std::size_t>(b.shape(1)),
          .k = static_cast<std::size_t>(a.shape(1)),
          .a = {a.data(), a.data() + a.size()},
          .b = {b.data(), b.data() + b.size()}};
}

nlohmann::json parse(const char* what, const std::string& text) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Error(std::string(what) + " is not JSON (" + error.what() + "): docs/explore.md has its keys");
  }
}

Explorer make_explorer(const std::string& workload, const std::string& space, const Settings& set,
                       const std::optional<std::pair<Real, Real>>& tensors, const GaugeArgument& gauge) {
  power::Tensors values = tensors_of(tensors);
  const Unlocked unlocked;
  power::Workload work = workload.starts_with('{') ? power::workload_from_json(parse("the workload", workload), set)
                                                   : power::load_workload(workload, set);
  return Explorer(std::move(work), power::space_from_json(parse("the space", space)),
                  std::make_shared<KeptPrices>(or_default(gauge)), values);
}

/// The costs of points `first` to first + count - 1 as a structured array.
py::array evaluate(const Explorer& explorer, std::uint64_t first, std::uint64_t count) {
  if (first > explorer.points() || count > explorer.points() - first) {
    throw Error("points " + std::to_string(first) + " to " + std::to_string(first + count) +
                " are beyond the space's " + std::to_string(explorer.points()));
  }
  py::array_t<power::Point> out(static_cast<py::ssize_t>(count));
  power::Point* const points = out.mutable_data();
  const Unlocked unlocked;
  explorer.evaluate(first, {points, count});
  return out;
}

Front run(const Explorer& explorer, unsigned threads, std::uint64_t chunk,
          const std::optional<std::filesystem::path>& checkpoint, bool resume,
          const std::optional<py::function>& progress) {
  PythonProgress told(progress);
  const Unlocked unlocked;
  return explorer.run({.threads = threads,
                       .chunk = chunk,
                       .checkpoint = checkpoint.value_or(""),
                       .resume = resume,
                       .progress = [&](std::uint64_t done, std::uint64_t all) { told(done, all); }});
}

py::array_t<std::uint64_t> points_of(const Front& front) {
  return py::array_t<std::uint64_t>(static_cast<py::ssize_t>(front.points.size()), front.points.data());
}

}  // namespace

void bind_explore(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(power::Point, possible, cycles, time_s, mac_j, sram_j, dram_j, codec_j, idle_j, area_m2,
                       sqnr_db);

  py::class_<Front>(module, "Front", "The points of a part of a space that no other of the part beats. Can be pickled.")
      .def_property_readonly("points", &points_of, "uint64, ascending.")
      .def_readonly("evaluated", &Front::evaluated)
      .def_readonly("impossible", &Front::impossible)
      .def("__repr__",
           [](const Front& front) {
             return "<Front of " + std::to_string(front.points.size()) + " points out of " +
                    std::to_string(front.evaluated) + ">";
           })
      .def(py::pickle([](const Front& f) { return py::make_tuple(f.points, f.values, f.evaluated, f.impossible); },
                      [](const py::tuple& state) {
                        return Front{.points = state[0].cast<decltype(Front::points)>(),
                                     .values = state[1].cast<decltype(Front::values)>(),
                                     .evaluated = state[2].cast<std::uint64_t>(),
                                     .impossible = state[3].cast<std::uint64_t>()};
                      }));

  py::class_<Explorer>(module, "Explorer", py::dynamic_attr(), R"(Prices the points of a design space for a workload.

workload: JSON text, a file, or a name of workloads(). space: JSON text. set: values of the workload's parameters.
tensors: A (M x K) and B (K x N) for the accuracy proxy; None: normal random numbers.
narrowgauge.explore does all that is below; docs/explore.md is the manual.)")
      .def(py::init(&make_explorer), py::arg("workload"), py::arg("space"), py::kw_only(), py::arg("set") = Settings(),
           py::arg("tensors") = py::none(), py::arg("gauge") = py::none())
      .def_property_readonly("id", &Explorer::id, "Of workload, space, prices and tensors: equal ids, equal results.")
      .def_property_readonly("points", &Explorer::points, "How many the space has.")
      .def_property_readonly(
          "workload", [](const Explorer& e) { return e.workload().name; }, "Name of the workload.")
      .def_property_readonly(
          "macs", [](const Explorer& e) { return e.workload().macs(); }, "Multiply-accumulates of the workload.")
      .def_property_readonly(
          "parameters", [](const Explorer& e) { return e.workload().parameters; }, "Of the workload, as set.")
      .def_property_readonly(
          "space", [](const Explorer& e) { return power::to_json(e.space()).dump(); }, "Every axis, in JSON.")
      .def_property_readonly(
          "sources", [](const Explorer& e) { return e.sources().dump(); }, "Where the energies come from, in JSON.")
      .def(
          "describe", [](const Explorer& e, std::uint64_t point) { return e.describe(point).dump(); }, py::arg("point"),
          "A point's place on the axes, its costs and what in them is assumed, in JSON.")
      .def(
          "unit",
          [](const Explorer& e, const std::string& name, const std::string& technology) {
            const std::optional<power::Price> price = e.unit(name, technology);
            if (!price) return std::string("null");
            nlohmann::json json{{"energy_j", price->energy_j}, {"rung", price->rung}, {"source", price->source}};
            json["error_mean"] = price->error_mean ? nlohmann::json(*price->error_mean) : nlohmann::json();
            return json.dump();
          },
          py::arg("name"), py::arg("technology"), py::call_guard<Unlocked>(),
          "Of one operation of a recorded unit, in JSON; null where that is not known.")
      .def_property_readonly(
          "layers",
          [](const Explorer& e) {
            nlohmann::json layers = nlohmann::json::array();
            for (const power::Layer& layer : e.workload().layers)
              layers.push_back({{"name", layer.name},
                                {"m", layer.gemm.m},
                                {"n", layer.gemm.n},
                                {"k", layer.gemm.k},
                                {"count", layer.count},
                                {"weights", layer.weights}});
            return layers.dump();
          },
          "The products of the workload, in JSON.")
      .def_property_readonly(
          "tokens", [](const Explorer& e) { return e.workload().tokens; }, "Of the workload; 0: not known.")
      .def("evaluate", &evaluate, py::arg("first"), py::arg("count"),
           "Costs of `count` points from `first` on, as a structured array.")
      .def(
          "front_of", [](const Explorer& e, std::uint64_t begin, std::uint64_t end) { return e.front_of(begin, end); },
          py::arg("begin"), py::arg("end"), py::call_guard<Unlocked>(), "The front of points begin to end - 1.")
      .def(
          "merge", [](const Explorer& e, const std::vector<Front>& fronts) { return e.merge(fronts); },
          py::arg("fronts"), "The front of several fronts.")
      .def("run", &run, py::kw_only(), py::arg("threads") = 0, py::arg("chunk") = 1 << 16,
           py::arg("checkpoint") = py::none(), py::arg("resume") = false, py::arg("progress") = py::none(),
           "The front of the space, on `threads` (0: one a core).");

  module.def(
      "workload_text",
      [](const std::string& text, bool csv) {
        const nlohmann::json workload =
            csv ? power::workload_from_scalesim(text) : power::workload_from_tree(parse("the workload", text));
        power::workload_from_json(workload);  // its sizes are in range
        return workload.dump();
      },
      py::arg("text"), py::arg("csv"), py::call_guard<Unlocked>(),
      "A SCALE-Sim topology, or the tree of a ZigZag or Timeloop file as JSON, as a workload in JSON.");
  module.def("workloads", &power::workload_names, "Names of the workloads that come along.");
  module.def(
      "export_tables",
      [](const std::string& kind, const std::filesystem::path& folder, const std::string& technology,
         const GaugeArgument& gauge) { return power::export_tables(*or_default(gauge), kind, technology, folder); },
      py::arg("kind"), py::arg("folder"), py::kw_only(), py::arg("technology") = "osu018",
      py::arg("gauge") = py::none(), py::call_guard<Unlocked>(), "Writes tables; returns the files.");
}

}  // namespace narrowgauge::python
