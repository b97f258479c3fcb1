// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "narrowgauge/softmax/exaq.hpp"

namespace narrowgauge::python {
namespace {

template <class T>
using Array = py::array_t<T, py::array::c_style>;

template <class T>
Array<T> flat(const std::vector<T>& values) {
  return Array<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

std::size_t row_length(const py::array& x) { return static_cast<std::size_t>(x.shape(x.ndim() - 1)); }

}  // namespace

void bind_softmax(py::module_& module) {
  module.def("exaq_clip", &exaq_clip, py::arg("sigma"), py::arg("bits"), "exaq_clip.");
  module.def(
      "exaq_sigma",
      [](const Array<float>& scores, const Array<std::uint8_t>& mask) {
        return without_lock([&] { return exaq_sigma(span_of(scores), span_of(mask), row_length(scores)); });
      },
      py::arg("scores"), py::arg("mask"), "exaq_sigma.");
  module.def(
      "exaq_thresholds", [](double clip, int bits) { return flat(exaq_thresholds(clip, bits)); }, py::arg("clip"),
      py::arg("bits"), "exaq_thresholds.");
  module.def(
      "exaq_levels", [](double clip, int bits) { return flat(exaq_levels(clip, bits)); }, py::arg("clip"),
      py::arg("bits"), "exaq_levels.");
  module.def(
      "exaq_codes",
      [](const Array<float>& scores, const Array<std::uint8_t>& mask, const Array<float>& thresholds) {
        return shaped(without_lock([&] {
                        return exaq_codes(span_of(scores), span_of(mask), row_length(scores), span_of(thresholds));
                      }),
                      scores);
      },
      py::arg("scores"), py::arg("mask"), py::arg("thresholds"), "exaq_codes.");
  module.def(
      "exaq_softmax",
      [](const Array<std::uint8_t>& codes, const Array<float>& levels) {
        return shaped(without_lock([&] { return exaq_softmax(span_of(codes), row_length(codes), span_of(levels)); }),
                      codes);
      },
      py::arg("codes"), py::arg("levels"), "Probabilities.");
  module.def(
      "exaq_table", [](const Array<float>& levels) { return flat(exaq_table(span_of(levels))); }, py::arg("levels"),
      "exaq_table.");
  module.def(
      "exaq_row",
      [](const Array<std::uint8_t>& codes, const Array<std::uint16_t>& table, int bits) {
        const auto counts = exaq_counts(span_of(codes), bits);
        const ExaqRow row = exaq_row(counts, span_of(table));
        return py::make_tuple(flat(counts), row.sum, flat(row.probabilities), row.empty);
      },
      py::arg("codes"), py::arg("table"), py::arg("bits"), "Counts, sum, probabilities, whether the row is empty.");
  module.def(
      "exaq_attention",
      [](const Array<std::uint8_t>& codes, const Array<std::uint16_t>& table, const Array<std::int8_t>& v) {
        const std::size_t rows = static_cast<std::size_t>(codes.shape(0)), width = row_length(v);
        std::vector<float> out;
        {
          const Unlocked unlocked;
          for (std::size_t row = 0; row < rows; ++row) {
            const auto one = exaq_attention(span_of(codes).subspan(row * row_length(codes), row_length(codes)),
                                            span_of(table), span_of(v), width);
            out.insert(out.end(), one.begin(), one.end());
          }
        }
        return own(std::move(out), rows, width);
      },
      py::arg("codes"), py::arg("table"), py::arg("v"), "P V of rows of codes.");
}

}  // namespace narrowgauge::python
