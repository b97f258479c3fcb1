// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "narrowgauge/io/error.hpp"

PYBIND11_MODULE(_core, module) {
  namespace py = pybind11;
  module.doc() = "Bindings of the narrowgauge golden model; use them through the package narrowgauge.";
  module.attr("__version__") = NG_VERSION;
  py::register_exception<narrowgauge::Error>(module, "Error", PyExc_ValueError).attr("__doc__") =
      "What cannot be done, in a sentence: the thing, its value, what was expected, what to do.";
  static const py::handle error = module.attr("Error");  // errors of files are of this type, too
  py::register_exception_translator([](std::exception_ptr fault) {
    try {
      if (fault) std::rethrow_exception(fault);
    } catch (const narrowgauge::io::Error& said) {
      PyErr_SetString(error.ptr(), said.what());
    }
  });
  module.def(
      "look_every",
      [](double seconds) { narrowgauge::python::look_every_ns = static_cast<std::int64_t>(1e9 * seconds); },
      py::arg("seconds"), "How often long calls look for signals; for tests.");
  narrowgauge::python::bind_affine(module);
  narrowgauge::python::bind_binary(module);
  narrowgauge::python::bind_checkpoint(module);
  narrowgauge::python::bind_codec(module);
  narrowgauge::python::bind_formats(module);
  narrowgauge::python::bind_dlpack(module);
  narrowgauge::python::bind_gemm(module);
  narrowgauge::python::bind_accumulate(module);
  narrowgauge::python::bind_engine(module);
  narrowgauge::python::bind_energy(module);
  narrowgauge::python::bind_explore(module);
  narrowgauge::python::bind_luq(module);
  narrowgauge::python::bind_noise(module);
  narrowgauge::python::bind_norm(module);
  narrowgauge::python::bind_softmax(module);
  narrowgauge::python::bind_sparse(module);
  narrowgauge::python::bind_training(module);
  narrowgauge::python::bind_zap(module);
}
