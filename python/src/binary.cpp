// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/binary/binary.hpp"

#include "bindings.hpp"

namespace narrowgauge::python {
namespace {

template <class T>
using Array = py::array_t<T, py::array::c_style>;

std::size_t row_length(const py::array& x) { return static_cast<std::size_t>(x.shape(x.ndim() - 1)); }

}  // namespace

void bind_binary(py::module_& module) {
  module.def(
      "binarize",
      [](const Array<float>& x, const Array<float>& shift) {
        return shaped(without_lock([&] { return binarize(span_of(x), span_of(shift)); }), x);
      },
      py::arg("x"), py::arg("shift"), "Bits of activations.");
  module.def(
      "binarize_weights",
      [](const Array<float>& w) {
        const BinaryWeights binary = without_lock([&] { return binarize_weights(span_of(w), row_length(w)); });
        return py::make_tuple(shaped(binary.bits, w),
                              Array<float>(static_cast<py::ssize_t>(binary.scale.size()), binary.scale.data()));
      },
      py::arg("w"), "Bits of weights, and the scale of each row.");
  module.def(
      "popcount_gemm",
      [](const Array<std::uint8_t>& x, const Array<std::uint8_t>& w, const std::optional<Array<std::uint8_t>>& valid,
         std::size_t n, bool planes) {
        const auto rows = static_cast<std::size_t>(x.shape(0)), columns = static_cast<std::size_t>(w.shape(0));
        return own(without_lock([&] {
                     return popcount_gemm(span_of(x), span_of(w),
                                          valid ? span_of(*valid) : std::span<const std::uint8_t>(), n,
                                          planes ? BitProduct::and_of_planes : BitProduct::xnor_of_signs);
                   }),
                   rows, columns);
      },
      py::arg("x"), py::arg("w"), py::arg("valid"), py::arg("n"), py::arg("planes"), "Popcounts of packed rows.");
  module.def(
      "fuse_batch_norm",
      [](double gamma, double beta, double mean, double variance, std::uint32_t n, double scale, double epsilon) {
        const PopcountThreshold fused = fitted(fuse_batch_norm(gamma, beta, mean, variance, n, scale, epsilon), n);
        return py::make_tuple(fused.value, fused.at_most);
      },
      py::arg("gamma"), py::arg("beta"), py::arg("mean"), py::arg("variance"), py::arg("n"), py::arg("scale"),
      py::arg("epsilon"), "Threshold of a popcount, 0 to n + 1, and whether it is an upper bound.");
  module.def(
      "plane_sums",
      [](const Array<std::uint8_t>& planes, const Array<std::int8_t>& v) {
        return own(without_lock([&] { return plane_sums(span_of(planes), span_of(v), row_length(v)); }),
                   static_cast<std::size_t>(planes.shape(0)), row_length(v));
      },
      py::arg("planes"), py::arg("v"), "Sums of the rows that each plane selects.");
}

}  // namespace narrowgauge::python
