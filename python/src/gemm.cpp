// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/mac/gemm.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "bindings.hpp"
#include "names.hpp"
#include "narrowgauge/mac/right_operand.hpp"
#include "narrowgauge/quant/delayed_scaling.hpp"
#include "narrowgauge/quant/dequantize.hpp"
#include "narrowgauge/quant/dialect.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge::python {
namespace {

using Codes = py::array_t<std::uint8_t, py::array::c_style>;
using Floats = py::array_t<float, py::array::c_style>;

std::string extent(std::size_t rows, std::size_t columns) {
  return "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")";
}

/// A matrix from its parts, refused if they do not fit together.
QuantizedMatrix make_matrix(std::string_view scheme, std::string_view element, const Codes& codes,
                            const std::optional<Codes>& scales, float tensor_scale, std::string_view scaling,
                            const std::optional<Floats>& fp32_scales, std::optional<std::size_t> k) {
  QuantizedMatrix q;
  q.scheme = find_scheme(scheme);
  q.element = q.scheme == Scheme::int4 && element == "int4" ? Format::e3m0 : find_format(element);
  q.scaling = find_name(scaling_names, "scaling", scaling);
  if (!has_element(q.scheme, q.element) || element != element_name(q.scheme, q.element)) {
    throw Error("scheme '" + std::string(scheme) + "' has elements '" + std::string(element) + "'; expected " +
                elements_text(q.scheme));
  }
  if (codes.ndim() != 2 || codes.size() == 0) {
    throw Error("codes have shape " + shape_text(codes) + "; expected two dimensions, both at least 1");
  }
  q.rows = static_cast<std::size_t>(codes.shape(0));
  q.k = static_cast<std::size_t>(codes.shape(1));
  if (k) {
    if (*k == 0 || *k > q.k) {
      throw Error("k is " + std::to_string(*k) + "; expected 1 to " + std::to_string(q.k) + ", the columns of codes");
    }
    q.k = *k;
  }
  const std::size_t block = block_size(q.scheme);
  q.k_padded = (q.k + block - 1) / block * block;
  const auto width = static_cast<std::size_t>(codes.shape(1));
  if (width != q.k && width != q.k_padded) {
    throw Error("codes have shape " + shape_text(codes) + "; expected k columns, or k rounded up to blocks, " +
                std::to_string(q.k_padded));
  }
  q.codes.assign(q.rows * q.k_padded, 0);
  for (std::size_t r = 0; r < q.rows; ++r) {
    std::copy_n(codes.data() + r * width, q.k, q.codes.begin() + static_cast<std::ptrdiff_t>(r * q.k_padded));
  }
  const auto top = *std::max_element(q.codes.begin(), q.codes.end());
  if (desc(q.element).bits < 8 && top >> desc(q.element).bits != 0) {
    throw Error("codes hold " + std::to_string(top) + "; expected codes of " + std::string(element) + ", 0 to " +
                std::to_string((1 << desc(q.element).bits) - 1));
  }
  const bool unscaled = !has_block_scales(q.scheme);
  if (unscaled ? scales.has_value()
               : !scales || scales->ndim() != 2 || static_cast<std::size_t>(scales->shape(0)) != q.rows ||
                     static_cast<std::size_t>(scales->shape(1)) != q.blocks()) {
    throw Error("scales are " + (scales ? "of shape " + shape_text(*scales) : std::string("missing")) + "; expected " +
                (unscaled ? "none of a byte for " + std::string(scheme) : extent(q.rows, q.blocks())));
  }
  if (scales) q.scales.assign(scales->data(), scales->data() + scales->size());
  q.tensor_scale = tensor_scale;
  if (fp32_scales) q.fp32_scales.assign(fp32_scales->data(), fp32_scales->data() + fp32_scales->size());
  check(q, "the matrix");
  return q;
}

/// Vectors first ... first + count - 1, whole tiles of them where vectors share scales.
QuantizedMatrix part(const QuantizedMatrix& q, std::size_t first, std::size_t count) {
  const std::size_t shared = q.scaling == Scaling::block_128x128 ? fp32_block : 1;
  if (count == 0 || first + count > q.rows || first % shared != 0 || (count % shared != 0 && first + count != q.rows)) {
    throw Error("vectors " + std::to_string(first) + " to " + std::to_string(first + count) + " of " +
                std::to_string(q.rows) + " are no part; expected whole tiles of scales");
  }
  const auto cut = [&](const auto& all, std::size_t width, std::size_t rows) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(first / rows * width);
    return std::decay_t<decltype(all)>(from, from + static_cast<std::ptrdiff_t>((count + rows - 1) / rows * width));
  };
  QuantizedMatrix out{.scheme = q.scheme,
                      .element = q.element,
                      .rows = count,
                      .k = q.k,
                      .k_padded = q.k_padded,
                      .codes = cut(q.codes, q.k_padded, 1),
                      .scales = {},
                      .tensor_scale = q.tensor_scale,
                      .scaling = q.scaling};
  if (!q.scales.empty()) out.scales = cut(q.scales, q.blocks(), 1);
  if (!q.fp32_scales.empty()) out.fp32_scales = cut(q.fp32_scales, q.scale_columns(), shared);
  return out;
}

/// A part of `self`, in rows of `columns`, as an array that keeps `self` alive and cannot be written.
template <class T>
py::array view(const py::object& self, const std::vector<T>& data, std::size_t columns) {
  const py::array out(py::dtype::of<T>(),
                      {static_cast<py::ssize_t>(data.size() / columns), static_cast<py::ssize_t>(columns)}, data.data(),
                      self);
  out.attr("flags").attr("writeable") = false;
  return out;
}

QuantizedMatrix quantize_array(const Floats& x, std::string_view format, bool columns, bool right,
                               std::string_view rule, std::string_view rounding, int random_bits, std::uint64_t seed,
                               std::optional<float> tensor_scale, bool power_of_two_scale, std::string_view scaling,
                               bool wide_blocks, unsigned threads) {
  const GemmFormat& gemm_format = find_gemm_format(format);
  const QuantizeOptions options{
      .scheme = right ? gemm_format.b_scheme() : gemm_format.a_scheme(),
      .element = right ? gemm_format.b : gemm_format.a,
      .rule = find_name(rule_names, "scale rule", rule),
      .rounding = find_name(rounding_names, "rounding", rounding),
      .random_bits = random_bits,
      .seed = seed,
      .tensor_scale = tensor_scale,
      .threads = threads,
      .power_of_two_scale = power_of_two_scale,
      .scaling = find_name(scaling_names, "scaling", scaling),
      .wide_blocks = wide_blocks,
  };
  if (x.ndim() != 2) throw Error("x has shape " + shape_text(x) + "; expected two dimensions");
  const std::span<const float> data(x.data(), static_cast<std::size_t>(x.size()));
  const auto height = static_cast<std::size_t>(x.shape(0)), width = static_cast<std::size_t>(x.shape(1));
  const Unlocked unlocked;
  return quantize(data, height, width, columns ? Axis::columns : Axis::rows, options);
}

QuantizedMatrix quantize_dialect(const Floats& x, std::string_view text, const std::optional<std::string>& format,
                                 bool columns, const std::optional<std::string>& rounding,
                                 std::optional<int> random_bits, std::uint64_t seed, std::optional<float> amax,
                                 std::optional<float> tensor_scale,
                                 const std::optional<py::array_t<std::uint32_t, py::array::c_style>>& random,
                                 const std::optional<Floats>& uniforms, unsigned threads) {
  Dialect dialect = dialect_of(text, format);
  if (rounding) dialect.rounding = find_name(rounding_names, "rounding", *rounding);
  if (random_bits) dialect.random_bits = *random_bits;
  if (x.ndim() != 2) throw Error("x has shape " + shape_text(x) + "; expected two dimensions");
  DialectInputs inputs{.amax = amax, .tensor_scale = tensor_scale, .seed = seed, .threads = threads};
  if (random) inputs.random = {random->data(), static_cast<std::size_t>(random->size())};
  if (uniforms) inputs.uniforms = {uniforms->data(), static_cast<std::size_t>(uniforms->size())};
  const std::span<const float> data(x.data(), static_cast<std::size_t>(x.size()));
  const auto height = static_cast<std::size_t>(x.shape(0)), width = static_cast<std::size_t>(x.shape(1));
  const Unlocked unlocked;
  return quantize(data, height, width, columns ? Axis::columns : Axis::rows, dialect, inputs);
}

py::dict dialect_table() {
  py::dict table;
  for (const Dialect& d : dialects) {
    py::dict row;
    row["origin"] = py::str(d.origin);
    for (const DialectField& f : fields(d)) row[py::str(f.name)] = py::str(f.value);
    table[py::str(d.name)] = row;
  }
  return table;
}

py::dict dialect_fields(std::string_view text) {
  py::dict row;
  for (const DialectField& f : fields(parse_dialect(text))) row[py::str(f.name)] = py::str(f.value);
  return row;
}

py::dict dialect_scales(std::string_view text, float amax, std::optional<int> scale_code) {
  const Dialect d = parse_dialect(text);
  py::dict out;
  out["encode_scale"] = encode_scale(d, amax);
  out["tensor_scale"] = tensor_scale(d, amax);
  if (scale_code) out["block_factor"] = block_factor(d, static_cast<float>(decode(Format::ue4m3, *scale_code)), amax);
  return out;
}

py::tuple front_stage_array(const Floats& x, std::string_view stage, unsigned threads) {
  const Dialect d = parse_dialect("te:front=" + std::string(stage));
  if (x.ndim() != 2) throw Error("x has shape " + shape_text(x) + "; expected two dimensions");
  const auto height = static_cast<std::size_t>(x.shape(0)), width = static_cast<std::size_t>(x.shape(1));
  FrontResult out;
  {
    const Unlocked unlocked;
    out = front_stage(std::span(x.data(), static_cast<std::size_t>(x.size())), height, width, d.front, threads);
  }
  const std::size_t means = out.mean.size();
  return py::make_tuple(own(std::move(out.x), height, out.k), own(std::move(out.mean), 1, means));
}

template <class T>
py::array_t<T> dequantize_matrix(const QuantizedMatrix& q, unsigned threads) {
  py::array_t<T> out({q.rows, q.k});
  const std::span<T> values(out.mutable_data(), q.rows * q.k);
  const Unlocked unlocked;
  dequantize(q, values, threads);
  return out;
}

py::array_t<float> gemm_matrices(const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads) {
  std::vector<float> c;
  {
    const Unlocked unlocked;
    c = gemm(a, b, threads);
  }
  return own(std::move(c), a.rows, b.rows);
}

py::array_t<float> gemm_kept(const QuantizedMatrix& a, const RightOperand& b, unsigned threads) {
  std::vector<float> c;
  {
    const Unlocked unlocked;
    c = gemm(a, b, threads);
  }
  return own(std::move(c), a.rows, b.matrix().rows);
}

}  // namespace

void bind_gemm(py::module_& module) {
  py::class_<QuantizedMatrix, std::shared_ptr<QuantizedMatrix>>(
      module, "Vectors", "The vectors of a narrowgauge.QuantizedMatrix, rows x k.")
      .def(py::init(&make_matrix), py::arg("scheme"), py::arg("element"), py::arg("codes"),
           py::arg("scales") = py::none(), py::arg("tensor_scale") = 1.0F, py::kw_only(), py::arg("scaling") = "tensor",
           py::arg("fp32_scales") = py::none(), py::arg("k") = py::none())
      .def_property_readonly("scheme", [](const QuantizedMatrix& q) { return desc(q.scheme).name; })
      .def_property_readonly("element", [](const QuantizedMatrix& q) { return element_name(q.scheme, q.element); })
      .def_property_readonly("scaling", [](const QuantizedMatrix& q) { return name_of(scaling_names, q.scaling); })
      .def_readonly("rows", &QuantizedMatrix::rows)
      .def_readonly("k", &QuantizedMatrix::k)
      .def_readonly("k_padded", &QuantizedMatrix::k_padded)
      .def_property_readonly("block", [](const QuantizedMatrix& q) { return block_size(q.scheme); })
      .def_property_readonly("codes",
                             [](const py::object& self) {
                               const auto& q = self.cast<const QuantizedMatrix&>();
                               return view(self, q.codes, q.k_padded);
                             })
      .def_property_readonly("scales",
                             [](const py::object& self) -> std::optional<py::array> {
                               const auto& q = self.cast<const QuantizedMatrix&>();
                               if (q.scales.empty()) return std::nullopt;
                               return view(self, q.scales, q.blocks());
                             })
      .def_property_readonly("fp32_scales",
                             [](const py::object& self) -> std::optional<py::array> {
                               const auto& q = self.cast<const QuantizedMatrix&>();
                               if (q.fp32_scales.empty()) return std::nullopt;
                               return view(self, q.fp32_scales, q.scale_columns());
                             })
      .def_readonly("tensor_scale", &QuantizedMatrix::tensor_scale)
      .def("part", &part, py::arg("first"), py::arg("count"), "A copy of some of the vectors.");

  module.def(
      "gemm_formats",
      [] {
        py::dict table;
        for (const GemmFormat& f : gemm_formats) table[py::str(f.name)] = py::str(f.use);
        return table;
      },
      "Names of the formats of a matrix product, each with its use.");

  module.def("quantize", &quantize_array, py::arg("x"), py::arg("format"), py::kw_only(), py::arg("columns"),
             py::arg("right"), py::arg("rule"), py::arg("rounding"), py::arg("random_bits"), py::arg("seed"),
             py::arg("tensor_scale"), py::arg("power_of_two_scale"), py::arg("scaling"), py::arg("wide_blocks"),
             py::arg("threads"),
             "narrowgauge.quantize of a float32 matrix: its rows or columns, as the left or right operand.");
  module.def("quantize_dialect", &quantize_dialect, py::arg("x"), py::arg("dialect"), py::kw_only(), py::arg("format"),
             py::arg("columns"), py::arg("rounding"), py::arg("random_bits"), py::arg("seed"), py::arg("amax"),
             py::arg("tensor_scale"), py::arg("random"), py::arg("uniforms"), py::arg("threads"),
             "narrowgauge.quantize of a float32 matrix in a dialect.");
  module.def("dialects", &dialect_table, "Fields of every dialect, by name.");
  module.def("dialect_fields", &dialect_fields, py::arg("dialect"), "Fields of a dialect as text.");
  module.def("dialect_scales", &dialect_scales, py::arg("dialect"), py::arg("amax"), py::arg("scale_code") = py::none(),
             "Factors of a tensor, and of a block, of these maxima.");
  module.def("front_stage", &front_stage_array, py::arg("x"), py::arg("stage"), py::kw_only(), py::arg("threads"),
             "What a front stage makes of vectors, and the mean.");
  py::class_<DelayedScaling>(module, "DelayedScaling", "What narrowgauge.DelayedScaling has inside.")
      .def(py::init([](float largest, std::size_t history, int margin, bool power_of_two, bool most_recent) {
             return DelayedScaling({.largest = largest,
                                    .history = history,
                                    .margin = margin,
                                    .power_of_two = power_of_two,
                                    .most_recent = most_recent});
           }),
           py::kw_only(), py::arg("largest"), py::arg("history"), py::arg("margin"), py::arg("power_of_two"),
           py::arg("most_recent"))
      .def_property_readonly("scale", &DelayedScaling::scale)
      .def_property_readonly("history", &DelayedScaling::history)
      .def("record", &DelayedScaling::record, py::arg("amax"))
      .def(py::pickle(
          [](const DelayedScaling& scaling) {
            const DelayedScaling::State s = scaling.state();
            const DelayedScalingOptions& o = s.options;
            return py::make_tuple(o.largest, o.history, o.margin, o.power_of_two, o.most_recent, s.scale,
                                  s.tensor_scale, s.history);
          },
          [](const py::tuple& s) {
            return DelayedScaling(DelayedScaling::State{.options = {.largest = s[0].cast<float>(),
                                                                    .history = s[1].cast<std::size_t>(),
                                                                    .margin = s[2].cast<int>(),
                                                                    .power_of_two = s[3].cast<bool>(),
                                                                    .most_recent = s[4].cast<bool>()},
                                                        .scale = s[5].cast<float>(),
                                                        .tensor_scale = s[6].cast<float>(),
                                                        .history = s[7].cast<std::vector<float>>()});
          }));
  module.def("dequantize", &dequantize_matrix<double>, py::arg("q"), py::kw_only(), py::arg("threads") = 1,
             "The exact values, rows x k.");
  module.def("dequantize_float32", &dequantize_matrix<float>, py::arg("q"), py::kw_only(), py::arg("threads") = 1,
             "The values, rows x k, rounded to nearest even.");
  py::class_<RightOperand>(module, "RightOperand", "A right operand that keeps its unpacked form.")
      .def(py::init([](const std::shared_ptr<QuantizedMatrix>& q) { return RightOperand(q); }), py::arg("vectors"));
  module.def("gemm", &gemm_matrices, py::arg("a"), py::arg("b"), py::kw_only(), py::arg("threads") = 0,
             "C = A x B of M vectors of k and N vectors of k.");
  module.def("gemm_kept", &gemm_kept, py::arg("a"), py::arg("b"), py::kw_only(), py::arg("threads") = 0,
             "The same, where B keeps its unpacked form.");
}

}  // namespace narrowgauge::python
