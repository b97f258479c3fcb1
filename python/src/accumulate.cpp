// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/mac/accumulate.hpp"

#include "bindings.hpp"

namespace narrowgauge::python {
namespace {

using MmaCodes = py::array_t<std::uint16_t, py::array::c_style>;
using MmaScales = py::array_t<std::uint8_t, py::array::c_style>;
using MmaStart = py::array_t<float, py::array::c_style>;

constexpr std::array<std::pair<std::string_view, MmaRule>, 4> mma_rules{{
    {"blackwell_64", blackwell_64},
    {"blackwell_32", blackwell_32},
    {"hopper_32", hopper_32},
    {"hopper_32_fp16", {32, 1, 13, MmaResult::fp16}},
}};

template <class T>
std::span<const T> mma_span(const py::array_t<T, py::array::c_style>& a) {
  return {a.data(), static_cast<std::size_t>(a.size())};
}

MmaOperand mma_operand(const MmaCodes& codes, std::string_view element, std::string_view scale,
                       const std::optional<MmaScales>& scales) {
  MmaOperand m{.element = find_format(element),
               .rows = static_cast<std::size_t>(codes.shape(0)),
               .k = static_cast<std::size_t>(codes.shape(1)),
               .codes = mma_span(codes),
               .scale = find_format(scale)};
  if (!scales) return m;
  const auto blocks = static_cast<std::size_t>(scales->shape(1));
  if (blocks == 0 || m.k % blocks != 0) {
    throw Error("scales have shape " + shape_text(*scales) + "; expected as many columns as blocks of equal length");
  }
  m.block = m.k / blocks;
  m.scales = mma_span(*scales);
  return m;
}

py::array_t<float> mma_arrays(const MmaCodes& a, const MmaCodes& b, const std::optional<MmaStart>& c,
                              std::string_view a_element, std::string_view b_element, std::string_view rule,
                              std::optional<int> bits, const std::optional<MmaScales>& a_scales,
                              const std::optional<MmaScales>& b_scales, std::string_view scale, unsigned threads) {
  MmaRule wanted = find_name(mma_rules, "rule", rule);
  if (bits) wanted.bits = *bits;
  const MmaOperand left = mma_operand(a, a_element, scale, a_scales),
                   right = mma_operand(b, b_element, scale, b_scales);
  const std::span<const float> start = c ? mma_span(*c) : std::span<const float>{};
  std::vector<float> d;
  {
    const Unlocked unlocked;
    d = mma(left, right, start, wanted, threads);
  }
  return own(std::move(d), left.rows, right.rows);
}

py::array_t<float> gemm_in_mode(const QuantizedMatrix& a, const QuantizedMatrix& b, std::string_view mode,
                                unsigned threads) {
  const Accumulation wanted = find_accumulation(mode).mode;
  std::vector<float> c;
  {
    const Unlocked unlocked;
    c = gemm(a, b, wanted, threads);
  }
  return own(std::move(c), a.rows, b.rows);
}

}  // namespace

void bind_accumulate(py::module_& module) {
  module.def(
      "accumulation_modes",
      [] {
        py::dict table;
        for (const AccumulationMode& m : accumulation_modes) table[py::str(m.name)] = py::str(m.use);
        return table;
      },
      "Names of the accumulations of a matrix product, each with its use.");
  module.def("gemm_in_mode", &gemm_in_mode, py::arg("a"), py::arg("b"), py::arg("mode"), py::kw_only(),
             py::arg("threads") = 0, "narrowgauge.gemm in an accumulation.");
  module.def("mma", &mma_arrays, py::arg("a"), py::arg("b"), py::arg("c"), py::kw_only(), py::arg("a_element"),
             py::arg("b_element"), py::arg("rule"), py::arg("bits"), py::arg("a_scales"), py::arg("b_scales"),
             py::arg("scale"), py::arg("threads"), "narrowgauge.mma of codes, rows x k.");
}

}  // namespace narrowgauge::python
