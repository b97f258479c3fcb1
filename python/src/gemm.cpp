// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/mac/gemm.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "bindings.hpp"
#include "names.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge::python {
namespace {

using Codes = py::array_t<std::uint8_t, py::array::c_style>;

constexpr std::array<std::pair<std::string_view, Axis>, 2> axis_names{{
    {"rows", Axis::rows},
    {"columns", Axis::columns},
}};
constexpr std::array<std::pair<std::string_view, ScaleRule>, 2> rule_names{{
    {"exact", ScaleRule::exact},
    {"vendor", ScaleRule::vendor},
}};

std::string extent(std::size_t rows, std::size_t columns) {
  return "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")";
}

/// A matrix from its parts, refused if they do not fit together.
QuantizedMatrix make_matrix(std::string_view scheme, std::string_view element, const Codes& codes,
                            const std::optional<Codes>& scales, float tensor_scale, std::optional<std::size_t> k) {
  QuantizedMatrix q;
  q.scheme = find_name(scheme_names, "scheme", scheme);
  q.element = find_format(element);
  const bool fp8 = q.scheme == Scheme::fp8;
  if (fp8 ? q.element != Format::e4m3 && q.element != Format::e5m2 : q.element != Format::e2m1) {
    throw Error("scheme '" + std::string(scheme) + "' has elements '" + std::string(element) + "': expected " +
                (fp8 ? "e4m3 or e5m2" : "e2m1"));
  }
  if (codes.ndim() != 2 || codes.size() == 0) {
    throw Error("codes have shape " + shape_text(codes) + ": expected two dimensions, both at least 1");
  }
  q.rows = static_cast<std::size_t>(codes.shape(0));
  q.k = static_cast<std::size_t>(codes.shape(1));
  if (k) {
    if (*k == 0 || *k > q.k) {
      throw Error("k is " + std::to_string(*k) + ": expected 1 to " + std::to_string(q.k) + ", the columns of codes");
    }
    q.k = *k;
  }
  const std::size_t block = block_size(q.scheme);
  q.k_padded = (q.k + block - 1) / block * block;
  const auto width = static_cast<std::size_t>(codes.shape(1));
  if (width != q.k && width != q.k_padded) {
    throw Error("codes have shape " + shape_text(codes) + ": expected k columns, or k rounded up to blocks, " +
                std::to_string(q.k_padded));
  }
  q.codes.assign(q.rows * q.k_padded, 0);
  for (std::size_t r = 0; r < q.rows; ++r) {
    std::copy_n(codes.data() + r * width, q.k, q.codes.begin() + static_cast<std::ptrdiff_t>(r * q.k_padded));
  }
  const auto top = *std::max_element(q.codes.begin(), q.codes.end());
  if (desc(q.element).bits < 8 && top >> desc(q.element).bits != 0) {
    throw Error("codes hold " + std::to_string(top) + ": expected codes of " + std::string(element) + ", 0 to " +
                std::to_string((1 << desc(q.element).bits) - 1));
  }
  if (fp8 ? scales.has_value()
          : !scales || scales->ndim() != 2 || static_cast<std::size_t>(scales->shape(0)) != q.rows ||
                static_cast<std::size_t>(scales->shape(1)) != q.blocks()) {
    throw Error("scales are " + (scales ? "of shape " + shape_text(*scales) : std::string("missing")) + ": expected " +
                (fp8 ? "none for fp8" : extent(q.rows, q.blocks())));
  }
  if (scales) q.scales.assign(scales->data(), scales->data() + scales->size());
  q.tensor_scale = tensor_scale;
  return q;
}

/// A part of `self`, rows of `columns` bytes, as an array that keeps `self` alive and cannot be written.
py::array view(const py::object& self, const std::vector<std::uint8_t>& data, std::size_t columns) {
  const py::array out(py::dtype::of<std::uint8_t>(),
                      {static_cast<py::ssize_t>(data.size() / columns), static_cast<py::ssize_t>(columns)}, data.data(),
                      self);
  out.attr("flags").attr("writeable") = false;
  return out;
}

QuantizedMatrix quantize_array(const py::array& x, std::string_view format, std::string_view axis,
                               std::string_view rule, std::string_view rounding, int random_bits, std::uint64_t seed,
                               std::optional<float> tensor_scale, bool power_of_two_scale, unsigned threads) {
  const GemmFormat& gemm_format = find_gemm_format(format);
  const Axis along = find_name(axis_names, "axis", axis);
  const QuantizeOptions options{
      .scheme = gemm_format.scheme,
      .element = along == Axis::rows ? gemm_format.a : gemm_format.b,
      .rule = find_name(rule_names, "scale rule", rule),
      .rounding = find_name(rounding_names, "rounding", rounding),
      .random_bits = random_bits,
      .seed = seed,
      .tensor_scale = tensor_scale,
      .threads = threads,
      .power_of_two_scale = power_of_two_scale,
  };
  if (x.ndim() != 2) throw Error("x has shape " + shape_text(x) + ": expected two dimensions");
  if (x.dtype().kind() != 'f' || x.itemsize() > 8) {
    throw Error("x has dtype " + std::string(py::str(x.dtype())) +
                ": expected float16, float32 or float64; convert it with astype(numpy.float32)");
  }
  const auto values = py::array_t<float, py::array::c_style | py::array::forcecast>::ensure(x);
  if (!values) throw py::error_already_set();
  const std::span<const float> data(values.data(), static_cast<std::size_t>(values.size()));
  const auto rows = static_cast<std::size_t>(x.shape(0));
  const auto columns = static_cast<std::size_t>(x.shape(1));
  const py::gil_scoped_release release;
  return quantize(data, rows, columns, along, options);
}

py::array_t<double> dequantize_matrix(const QuantizedMatrix& q) {
  std::vector<double> values;
  {
    const py::gil_scoped_release release;
    values = dequantize(q);
  }
  return own(std::move(values), q.rows, q.k);
}

py::array_t<float> gemm_matrices(const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads) {
  std::vector<float> c;
  {
    const py::gil_scoped_release release;
    c = gemm(a, b, threads);
  }
  return own(std::move(c), a.rows, b.rows);
}

}  // namespace

void bind_gemm(py::module_& module) {
  py::class_<QuantizedMatrix>(module, "QuantizedMatrix", R"(Vectors in a narrow format, as operand of a matrix product.

`rows` vectors of `k` elements along the contraction: the rows of A (M x K), or the columns of B (K x N), which is thus
stored transposed. Value of element i of vector r:
decode(codes[r, i], element) * decode(scales[r, i // block], scale format) * tensor_scale.
The block is 16 with ue4m3 scales for nvfp4, 32 with e8m0 scales for mxfp4; fp8 has no block scales.)")
      .def(py::init(&make_matrix), py::arg("scheme"), py::arg("element"), py::arg("codes"),
           py::arg("scales") = py::none(), py::arg("tensor_scale") = 1.0F, py::kw_only(), py::arg("k") = py::none(),
           R"(A matrix from its parts.

scheme: 'nvfp4', 'mxfp4', 'fp8'. element: 'e2m1', or 'e4m3' or 'e5m2' for fp8.
codes: uint8, rows x k (or x k_padded), one code a byte. scales: uint8, rows x blocks; None for fp8.
k: logical length if codes are padded. Raises Error if the parts do not fit.)")
      .def_property_readonly("scheme", [](const QuantizedMatrix& q) { return name_of(scheme_names, q.scheme); })
      .def_property_readonly("element", [](const QuantizedMatrix& q) { return desc(q.element).name; })
      .def_readonly("rows", &QuantizedMatrix::rows, "Number of vectors.")
      .def_readonly("k", &QuantizedMatrix::k, "Logical length of a vector.")
      .def_readonly("k_padded", &QuantizedMatrix::k_padded, "k rounded up to whole blocks.")
      .def_property_readonly("block", [](const QuantizedMatrix& q) { return block_size(q.scheme); })
      .def_property_readonly(
          "codes",
          [](const py::object& self) {
            const auto& q = self.cast<const QuantizedMatrix&>();
            return view(self, q.codes, q.k_padded);
          },
          "uint8, rows x k_padded, read only; the padding is 0.")
      .def_property_readonly(
          "scales",
          [](const py::object& self) -> std::optional<py::array> {
            const auto& q = self.cast<const QuantizedMatrix&>();
            if (q.scales.empty()) return std::nullopt;
            return view(self, q.scales, q.blocks());
          },
          "uint8, rows x blocks, read only; None for fp8.")
      .def_readonly("tensor_scale", &QuantizedMatrix::tensor_scale)
      .def("__repr__", [](const QuantizedMatrix& q) {
        return "<QuantizedMatrix " + std::string(name_of(scheme_names, q.scheme)) + " " +
               std::string(desc(q.element).name) + ", " + std::to_string(q.rows) + " vectors of " +
               std::to_string(q.k) + ">";
      });

  module.def(
      "gemm_formats",
      [] {
        py::dict table;
        for (const GemmFormat& f : gemm_formats) table[py::str(f.name)] = py::str(f.use);
        return table;
      },
      "Names of the formats of a matrix product, each with its use.");

  module.def("quantize", &quantize_array, py::arg("x"), py::arg("format") = "nvfp4", py::kw_only(),
             py::arg("axis") = "rows", py::arg("rule") = "exact", py::arg("rounding") = "nearest_even",
             py::arg("random_bits") = 8, py::arg("seed") = 0, py::arg("tensor_scale") = py::none(),
             py::arg("power_of_two_scale") = false, py::arg("threads") = 0,
             R"(Quantizes a matrix as operand of a product.

x: float16, float32 or float64, two dimensions, finite; rounded to float32 first.
format: a name of gemm_formats(); with axis 'rows' the format of the left operand, with 'columns' that of the right one.
axis: 'rows' (each row is a vector along the contraction: A of A x B) or 'columns' (B of A x B).
rule: 'exact' (correctly rounded, without a division: the hardware's) or 'vendor' (NVFP4 only: Transformer Engine's
    float32 sequence).
rounding: of the elements, a name as for encode(); 'stochastic' draws `random_bits` (1 to 24) bits a value from `seed`.
tensor_scale: use this one instead of the one from the largest magnitude.
power_of_two_scale: round that one up to a power of two.
threads: 0 is one a core.

Raises Error for other shapes, dtypes or names, empty matrices, and NaN or infinity in x (it names row and column).)");

  module.def("dequantize", &dequantize_matrix, py::arg("q"),
             "Values of a QuantizedMatrix: float64, rows x k, exact. (B of A x B comes out transposed.)");

  module.def("gemm", &gemm_matrices, py::arg("a"), py::arg("b"), py::kw_only(), py::arg("threads") = 0,
             R"(C = A x B by the golden model.

a: M vectors of k; b: N vectors of k; both of one scheme (fp8 may mix e4m3 and e5m2).
threads: 0 is one a core; the result does not depend on it.
Returns float32, M x N: sums exact and rounded once (mxfp4: accumulated in float32 block by block, in order), then
multiplied by the product of the tensor scales. Raises Error if k or the schemes differ.)");
}

}  // namespace narrowgauge::python
