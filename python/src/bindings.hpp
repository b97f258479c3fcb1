// SPDX-License-Identifier: Apache-2.0
// The parts of the extension module, and the few things that they share.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "narrowgauge/error.hpp"

namespace narrowgauge::python {

namespace py = pybind11;

/// A value of an enumeration, by the name Python knows it under.
template <class Enum, std::size_t N>
Enum find_name(const std::array<std::pair<std::string_view, Enum>, N>& table, std::string_view what,
               std::string_view name) {
  std::string text("unknown ");
  text.append(what).append(" '").append(name).append("': expected one of");
  const char* separator = " ";
  for (const auto& [known, value] : table) {
    if (known == name) return value;
    text.append(separator).append(known);
    separator = ", ";
  }
  throw Error(text);
}

template <class Enum, std::size_t N>
std::string_view name_of(const std::array<std::pair<std::string_view, Enum>, N>& table, Enum value) {
  for (const auto& [text, known] : table) {
    if (known == value) return text;
  }
  return "?";
}

/// "(3, 4)", for error texts.
inline std::string shape_text(const py::array& a) { return py::str(a.attr("shape")); }

void bind_formats(py::module_& module);
void bind_gemm(py::module_& module);

}  // namespace narrowgauge::python
