// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>

#include "bindings.hpp"
#include "narrowgauge/sparse/prune.hpp"
#include "narrowgauge/sparse/transposable_exact.hpp"

namespace narrowgauge::python {
namespace {

template <class T>
using Array = py::array_t<T, py::array::c_style>;

constexpr std::array<std::pair<std::string_view, Pruning>, 3> method_names{{
    {"greedy", Pruning::greedy},
    {"mvue", Pruning::mvue},
    {"approx-mvue", Pruning::approximate_mvue},
}};

constexpr std::array<std::pair<std::string_view, TransposableMask>, 2> mask_names{{
    {"approximate", TransposableMask::approximate},
    {"enumerate", TransposableMask::enumerate},
}};

template <class T>
struct View {
  explicit View(const Array<T>& x)
      : rows(static_cast<std::size_t>(x.shape(0))),
        cols(static_cast<std::size_t>(x.shape(1))),
        values(x.data(), static_cast<std::size_t>(x.size())) {}
  std::size_t rows, cols;
  std::span<const T> values;
};

py::tuple prune_array(const Array<float>& x, std::string_view pattern, std::string_view method, std::uint64_t seed,
                      int random_bits) {
  const View<float> view(x);
  const NmPattern wanted = NmPattern::of(pattern);
  const Pruning by = find_name(method_names, "method", method);
  PrunedMatrix pruned;
  {
    const Unlocked unlocked;
    pruned = prune(view.values, view.rows, view.cols, wanted, {.method = by, .seed = seed, .random_bits = random_bits});
  }
  return py::make_tuple(own(std::move(pruned.values), view.rows, view.cols),
                        own(std::move(pruned.mask), view.rows, view.cols));
}

py::array transposable_mask_of(const Array<float>& x, std::string_view pattern, std::string_view method) {
  const View<float> view(x);
  const NmPattern wanted = NmPattern::of(pattern);
  const bool exact = method == "exact";
  const TransposableMask by = exact ? TransposableMask::approximate : find_name(mask_names, "method", method);
  std::vector<std::uint8_t> mask = without_lock([&] {
    return exact ? transposable_mask_exact(view.values, view.rows, view.cols, wanted)
                 : transposable_mask(view.values, view.rows, view.cols, wanted, by);
  });
  return own(std::move(mask), view.rows, view.cols);
}

double error_of(const Array<float>& x, std::string_view pattern, std::string_view method) {
  const View<float> view(x);
  const NmPattern wanted = NmPattern::of(pattern);
  const Pruning by = find_name(method_names, "method", method);
  const Unlocked unlocked;
  return expected_error(view.values, view.rows, view.cols, wanted, by);
}

template <class T>
py::tuple compress_array(const Array<T>& x, const Array<std::uint8_t>& mask, std::string_view pattern) {
  const View<T> view(x);
  const View<std::uint8_t> kept(mask);
  CompressedMatrix<T> stored =
      without_lock([&] { return compress<T>(view.values, kept.values, view.rows, view.cols, NmPattern::of(pattern)); });
  const std::size_t bytes = stored.metadata_bytes();
  return py::make_tuple(own(std::move(stored.values), view.rows, view.cols / 2),
                        own(std::move(stored.metadata), view.rows, bytes));
}

template <class T>
py::array decompress_array(const Array<T>& values, const Array<std::uint8_t>& metadata, std::string_view pattern,
                           std::size_t cols) {
  const View<T> view(values);
  const View<std::uint8_t> nibbles(metadata);
  const CompressedMatrix<T> stored{.rows = view.rows,
                                   .cols = cols,
                                   .pattern = NmPattern::of(pattern),
                                   .values = {view.values.begin(), view.values.end()},
                                   .metadata = {nibbles.values.begin(), nibbles.values.end()}};
  return own(without_lock([&] { return decompress(stored); }), view.rows, cols);
}

template <class T>
void bind_storage(py::module_& module, const std::string& what) {
  module.def(("sparse_" + what).c_str(), &compress_array<T>, py::arg("x").noconvert(), py::arg("mask"),
             py::arg("pattern"), "narrowgauge.to_sparse of arrays.");
  module.def(("dense_" + what).c_str(), &decompress_array<T>, py::arg("values").noconvert(), py::arg("metadata"),
             py::arg("pattern"), py::arg("columns"), "narrowgauge.SparseMatrix.to_dense of arrays.");
}

}  // namespace

void bind_sparse(py::module_& module) {
  module.def("prune", &prune_array, py::arg("x"), py::arg("pattern"), py::kw_only(), py::arg("method"), py::arg("seed"),
             py::arg("random_bits"), "narrowgauge.prune of arrays: values and mask.");
  module.def("transposable_mask", &transposable_mask_of, py::arg("x"), py::arg("pattern"), py::kw_only(),
             py::arg("method"), "narrowgauge.transposable_mask of arrays.");
  module.def("pruning_error", &error_of, py::arg("x"), py::arg("pattern"), py::kw_only(), py::arg("method"),
             "narrowgauge.pruning_error of arrays.");
  bind_storage<float>(module, "numbers");
  bind_storage<std::uint8_t>(module, "codes");
}

}  // namespace narrowgauge::python
