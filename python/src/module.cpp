// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"

PYBIND11_MODULE(_core, module) {
  namespace py = pybind11;
  module.doc() = "Bindings of the narrowgauge golden model; use them through the package narrowgauge.";
  module.attr("__version__") = NG_VERSION;
  py::register_exception<narrowgauge::Error>(module, "Error", PyExc_ValueError).attr("__doc__") =
      "What cannot be done, in a sentence: the thing, its value, what was expected, what to do.";
  narrowgauge::python::bind_formats(module);
  narrowgauge::python::bind_dlpack(module);
  narrowgauge::python::bind_gemm(module);
  narrowgauge::python::bind_engine(module);
  narrowgauge::python::bind_energy(module);
  narrowgauge::python::bind_explore(module);
}
