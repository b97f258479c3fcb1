// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/affine.hpp"

#include <bit>
#include <cstdint>
#include <optional>

#include "bindings.hpp"
#include "narrowgauge/quant/quantize_affine.hpp"

namespace narrowgauge::python {
namespace {

using Numbers = py::array_t<float, py::array::c_style>;
using Words = py::array_t<std::uint32_t, py::array::c_style>;
using Integers = py::array_t<std::int16_t, py::array::c_style>;

std::vector<py::ssize_t> dimensions(const py::array& x) { return {x.shape(), x.shape() + x.ndim()}; }

}  // namespace

void bind_affine(py::module_& module) {
  module.def(
      "affine_rules",
      [] {
        py::dict rules;
        for (const AffineRule& rule : affine_rules) rules[py::str(rule.name)] = py::str(rule.origin);
        return rules;
      },
      "Names of the rules, and whose they are.");

  py::class_<AffineQuantizer>(module, "AffineParameters")
      .def(py::init([](int bits, bool is_signed, bool ties_away, float scale, float offset,
                       std::optional<float> zero_point, bool expanded) {
             return AffineQuantizer{bits, is_signed, ties_away, scale, offset, zero_point, expanded};
           }),
           py::kw_only(), py::arg("bits"), py::arg("is_signed"), py::arg("ties_away"), py::arg("scale"),
           py::arg("offset"), py::arg("zero_point"), py::arg("expanded"))
      .def_readonly("is_signed", &AffineQuantizer::is_signed)
      .def_readonly("ties_away", &AffineQuantizer::ties_away)
      .def_readonly("scale", &AffineQuantizer::scale)
      .def_readonly("offset", &AffineQuantizer::offset)
      .def_readonly("zero_point", &AffineQuantizer::zero_point)
      .def_readonly("expanded", &AffineQuantizer::expanded)
      .def(
          "quantize",
          [](const AffineQuantizer& q, const Numbers& x, const std::optional<Numbers>& noise) {
            Integers codes(dimensions(x));
            const float* const in = x.data();
            const float* const added = noise ? noise->data() : nullptr;
            std::int16_t* const out = codes.mutable_data();
            const py::ssize_t n = x.size();
            const Unlocked unlocked;
            detail::Pace pace;
            for (py::ssize_t i = 0; i < n; ++i) {
              pace();
              out[i] = static_cast<std::int16_t>(q.quantize(in[i], added ? added[i] : 0.0F));
            }
            return codes;
          },
          py::arg("x"), py::arg("noise"), "Codes of float32 numbers; noise of the same shape, or None.")
      .def(
          "dequantize",
          [](const AffineQuantizer& q, const Integers& codes) {
            Numbers values(dimensions(codes));
            const std::int16_t* const in = codes.data();
            float* const out = values.mutable_data();
            const py::ssize_t n = codes.size();
            const Unlocked unlocked;
            detail::Pace pace;
            for (py::ssize_t i = 0; i < n; ++i) {
              pace();
              out[i] = q.dequantize(in[i]);
            }
            return values;
          },
          py::arg("codes"), "Values of codes.");

  module.def(
      "affine_of_range",
      [](const std::string& rule, int bits, float low, double width) {
        return affine_quantizer(find_affine_rule(rule), bits, low, width);
      },
      py::arg("rule"), py::kw_only(), py::arg("bits"), py::arg("low"), py::arg("width"),
      "The quantizer of the range low to low + width.");

  module.def(
      "affine_inverse",
      [](float scale, bool fp32, bool power_of_two) {
        const AffineInverse inverse = affine_inverse(
            scale, {.input = fp32 ? AffineInput::fp32 : AffineInput::int32, .power_of_two = power_of_two});
        return py::make_tuple(inverse.inverse, inverse.shift);
      },
      py::arg("scale"), py::kw_only(), py::arg("fp32"), py::arg("power_of_two"), "inverse_i and shift_i of a scale.");

  module.def(
      "quantize_affine",
      [](const Words& x, const Words& inverse, const Words& shift, const Integers& zero_point,
         const std::optional<Words>& random, bool fp32, int bits, bool is_signed, bool ties_away, bool power_of_two,
         int random_bits) {
        const AffineUnit unit{.input = fp32 ? AffineInput::fp32 : AffineInput::int32,
                              .bits = bits,
                              .power_of_two = power_of_two,
                              .is_signed = is_signed,
                              .ties_away = ties_away,
                              .random_bits = random_bits};
        Integers codes(dimensions(x));
        const std::uint32_t* const in = x.data();
        const std::uint32_t* const inverses = inverse.data();
        const std::uint32_t* const shifts = shift.data();
        const std::int16_t* const zeros = zero_point.data();
        const std::uint32_t* const words = random ? random->data() : nullptr;
        std::int16_t* const out = codes.mutable_data();
        const py::ssize_t n = x.size();
        const Unlocked unlocked;
        detail::Pace pace;
        for (py::ssize_t i = 0; i < n; ++i) {
          pace();
          out[i] = static_cast<std::int16_t>(quantize_affine(unit, in[i], {.inverse = inverses[i], .shift = shifts[i]},
                                                             zeros[i], words != nullptr, words ? words[i] : 0));
        }
        return codes;
      },
      py::arg("x"), py::arg("inverse"), py::arg("shift"), py::arg("zero_point"), py::arg("random"), py::kw_only(),
      py::arg("fp32"), py::arg("bits"), py::arg("is_signed"), py::arg("ties_away"), py::arg("power_of_two"),
      py::arg("random_bits"), "quantize_affine of arrays of one shape; x: bits of INT32 or FP32.");
}

}  // namespace narrowgauge::python
