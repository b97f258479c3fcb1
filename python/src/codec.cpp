// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <span>

#include "bindings.hpp"
#include "narrowgauge/codec/entropy.hpp"
#include "narrowgauge/codec/exponents.hpp"
#include "narrowgauge/codec/feature_map.hpp"
#include "narrowgauge/codec/report.hpp"
#include "narrowgauge/codec/transform.hpp"

namespace narrowgauge::python {
namespace {

using ByteArray = py::array_t<std::uint8_t, py::array::c_style>;
using RealArray = py::array_t<float, py::array::c_style>;

std::vector<std::uint64_t> shape_of(const py::array& a) { return {a.shape(), a.shape() + a.ndim()}; }

template <class T>
std::span<const T> values_of(const py::array_t<T, py::array::c_style>& a) {
  return {a.data(), static_cast<std::size_t>(a.size())};
}

FeatureMap map_of(const ByteArray& values, bool is_signed) {
  const auto span = values_of(values);
  return {shape_of(values), {span.begin(), span.end()}, is_signed, 0};
}

FeatureMap map_of(const RealArray& values, unsigned bits, float limit) {
  const auto span = values_of(values);
  auto shape = shape_of(values);
  const Unlocked unlocked;
  return quantize_map(span, std::move(shape), bits, limit);
}

template <class F>
py::bytes file_of(const F& f) {
  const std::vector<std::uint8_t> file = without_lock(f);
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

py::bytes compress_map(const FeatureMap& map, std::size_t tile, bool zero_runs) {
  return file_of([&] { return compress(map, {tile, zero_runs}); });
}

py::bytes compress_codes(const ByteArray& values, bool is_signed, std::size_t tile, bool zero_runs) {
  return compress_map(map_of(values, is_signed), tile, zero_runs);
}

py::bytes compress_real(const RealArray& values, unsigned bits, std::size_t tile, bool zero_runs, float limit) {
  return compress_map(map_of(values, bits, limit), tile, zero_runs);
}

py::bytes compress_components(const RealArray& values, const Transform& transform, std::size_t tables, std::size_t tile,
                              bool zero_runs) {
  const auto span = values_of(values);
  const auto shape = shape_of(values);
  return file_of([&] { return compress_transformed(span, shape, transform, {tables, tile, zero_runs}); });
}

py::bytes compress_floats(const py::array_t<std::uint16_t, py::array::c_style>& codes, const std::string& format,
                          std::size_t tile, bool zero_runs) {
  const auto span = values_of(codes);
  const FloatCodes tensor{format, shape_of(codes), {span.begin(), span.end()}};
  return file_of([&] { return compress_exponents(tensor, {tile, zero_runs}); });
}

template <class T>
py::array_t<T, py::array::c_style> array_of(std::span<const T> values, std::span<const std::uint64_t> shape) {
  py::array_t<T, py::array::c_style> array(std::vector<py::ssize_t>(shape.begin(), shape.end()));
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

/// An array in the map's shape, and what its elements are: "uint8", "int8", "float32", or codes of a format.
py::tuple decompress_file(const py::bytes& data) {
  const std::string_view text = data;
  const std::span file(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  if (is_of_exponents(file)) {
    const FloatCodes tensor = without_lock([&] { return decompress_exponents(file); });
    return py::make_tuple(array_of<std::uint16_t>(tensor.codes, tensor.shape), std::string(tensor.format));
  }
  if (is_transformed(file)) {
    const TransformedHead head = read_transformed_head(file);
    return py::make_tuple(array_of<float>(without_lock([&] { return decompress_transformed(file, head); }), head.shape),
                          "float32");
  }
  const FeatureMap map = without_lock([&] { return decompress(file); });
  if (map.step == 0)
    return py::make_tuple(array_of<std::uint8_t>(map.values, map.shape), map.is_signed ? "int8" : "uint8");
  return py::make_tuple(array_of<float>(without_lock([&] { return dequantize_map(map); }), map.shape), "float32");
}

py::dict report_map(const FeatureMap& map, std::size_t tile) {
  const auto rates = without_lock([&] { return codec_report(map, tile); });
  py::dict report;
  for (const CodecRate& rate : rates) report[py::str(rate.name)] = rate.bits;
  return report;
}

py::dict report_codes(const ByteArray& values, bool is_signed, std::size_t tile) {
  return report_map(map_of(values, is_signed), tile);
}

py::dict report_real(const RealArray& values, unsigned bits, std::size_t tile) {
  return report_map(map_of(values, bits, 0), tile);
}

Transform calibrate(const RealArray& values, const std::string& basis, std::size_t axis, std::size_t group,
                    unsigned bits, unsigned matrix_bits, bool relu, double step) {
  const Unlocked unlocked;
  return calibrate_transform(
      values_of(values), shape_of(values),
      {basis == "klt" ? Basis::klt : Basis::identity, axis, group, bits, matrix_bits, relu, step});
}

py::dict report_components(const RealArray& values, double mse, std::size_t axis, std::size_t group, unsigned bits,
                           unsigned matrix_bits, bool relu, std::size_t tile) {
  const auto span = values_of(values);
  const auto shape = shape_of(values);
  const auto rates = without_lock([&] {
    return transform_report(span, shape, mse, {Basis::klt, axis, group, bits, matrix_bits, relu, 0}, tile);
  });
  py::dict report;
  for (const TransformRate& rate : rates)
    report[py::str(rate.name)] =
        py::dict(py::arg("bits") = rate.bits, py::arg("mse") = rate.mse, py::arg("step") = rate.step);
  return report;
}

py::array_t<double> vectors_of(const Transform& t) {
  return array_of<double>(t.vectors, std::array<std::uint64_t, 3>{t.channels / t.group, t.group, t.group});
}

py::tuple soft_entropy_of(const RealArray& values, unsigned bits, double sharpness) {
  const SoftEntropy soft = without_lock([&] { return soft_entropy(values_of(values), bits, sharpness); });
  return py::make_tuple(soft.bits, array_of<double>(soft.gradient, shape_of(values)));
}

/// Rows of one direction, of every group: matrix, bias, shift.
py::list integers_of(const std::vector<IntegerTransform>& groups) {
  py::list list;
  for (const IntegerTransform& t : groups) {
    list.append(py::make_tuple(array_of<std::int16_t>(t.matrix, std::array<std::uint64_t, 2>{t.size, t.size}),
                               array_of<std::int64_t>(t.bias, std::array<std::uint64_t, 1>{t.size}), t.shift));
  }
  return list;
}

std::vector<unsigned> code_lengths(const std::vector<std::uint64_t>& counts, unsigned longest) {
  if (counts.size() != huffman_symbols) {
    throw Error("counts has " + std::to_string(counts.size()) + " entries; expected 256");
  }
  const CodeLengths lengths = make_code(std::span<const std::uint64_t, huffman_symbols>(counts), longest);
  return {lengths.begin(), lengths.end()};
}

}  // namespace

void bind_codec(py::module_& module) {
  module.def("compress_codes", &compress_codes, py::arg("values"), py::arg("is_signed"), py::arg("tile"),
             py::arg("zero_runs"), "The file of a map of bytes.");
  module.def("compress_real", &compress_real, py::arg("values"), py::arg("bits"), py::arg("tile"), py::arg("zero_runs"),
             py::arg("limit"), "The file of a map of numbers, quantized under one step.");
  module.def("decompress", &decompress_file, py::arg("data"), "The map of a file, and what its elements are.");
  module.def("report_codes", &report_codes, py::arg("values"), py::arg("is_signed"), py::arg("tile"),
             "Bits per value of a map of bytes, here and in published codes.");
  module.def("report_real", &report_real, py::arg("values"), py::arg("bits"), py::arg("tile"),
             "The same of a map of numbers, quantized under one step.");
  py::class_<Transform>(module, "Transform", "Integer transform of a layer's channels.")
      .def_readonly("axis", &Transform::axis)
      .def_readonly("channels", &Transform::channels)
      .def_readonly("group", &Transform::group)
      .def_readonly("bits", &Transform::bits)
      .def_readonly("matrix_bits", &Transform::matrix_bits)
      .def_readonly("relu", &Transform::relu)
      .def_readonly("input_step", &Transform::input_step)
      .def_readonly("step", &Transform::step)
      .def_readonly("output_step", &Transform::output_step)
      .def_property_readonly("is_klt", [](const Transform& t) { return t.basis == Basis::klt; })
      .def_property_readonly("mean", [](const Transform& t) { return py::array_t<double>(py::cast(t.mean)); })
      .def_property_readonly("variance", [](const Transform& t) { return py::array_t<double>(py::cast(t.variance)); })
      .def_property_readonly("vectors", &vectors_of)
      .def_property_readonly("forward_integers", [](const Transform& t) { return integers_of(t.forward); })
      .def_property_readonly("inverse_integers", [](const Transform& t) { return integers_of(t.inverse); })
      .def(py::pickle(
          [](const Transform& t) {
            return py::make_tuple(t.axis, t.channels, t.group, t.bits, t.matrix_bits, t.relu, t.basis == Basis::klt,
                                  t.input_step, t.step, t.mean, t.vectors, t.variance);
          },
          [](const py::tuple& s) {
            Transform t;
            t.axis = s[0].cast<std::size_t>();
            t.channels = s[1].cast<std::size_t>();
            t.group = s[2].cast<std::size_t>();
            t.bits = s[3].cast<unsigned>();
            t.matrix_bits = s[4].cast<unsigned>();
            t.relu = s[5].cast<bool>();
            t.basis = s[6].cast<bool>() ? Basis::klt : Basis::identity;
            t.input_step = s[7].cast<float>();
            t.mean = s[9].cast<std::vector<double>>();
            t.vectors = s[10].cast<std::vector<double>>();
            t.variance = s[11].cast<std::vector<double>>();
            return with_step(std::move(t), s[8].cast<double>());  // makes the integers again
          }))
      .def("with_step", &with_step, py::arg("step"))
      .def("forward_error_bound", &forward_error_bound, py::arg("largest"))
      .def("inverse_error_bound", &inverse_error_bound)
      .def("error_bound", &error_bound, py::arg("largest"))
      .def(
          "forward",
          [](const Transform& t, const RealArray& values) {
            const auto shape = shape_of(values);
            const auto codes = without_lock([&] { return forward_transform(values_of(values), shape, t); });
            return array_of<std::int8_t>(codes, std::array<std::uint64_t, 2>{t.channels, codes.size() / t.channels});
          },
          py::arg("values"))
      .def(
          "inverse",
          [](const Transform& t, const py::array_t<std::int8_t, py::array::c_style>& codes,
             const std::vector<std::uint64_t>& shape) {
            const auto x = without_lock([&] { return inverse_transform(values_of(codes), shape, t); });
            return array_of<float>(x, shape);
          },
          py::arg("codes"), py::arg("shape"));
  module.def("calibrate_transform", &calibrate, py::arg("values"), py::arg("basis"), py::arg("axis"), py::arg("group"),
             py::arg("bits"), py::arg("matrix_bits"), py::arg("relu"), py::arg("step"), "The transform of a map.");
  module.def("compress_components", &compress_components, py::arg("values"), py::arg("transform"), py::arg("tables"),
             py::arg("tile"), py::arg("zero_runs"), "The file of a map under a transform.");
  module.def("compress_floats", &compress_floats, py::arg("codes"), py::arg("format"), py::arg("tile"),
             py::arg("zero_runs"), "The file of codes of floating point, exponents apart.");
  module.def("report_components", &report_components, py::arg("values"), py::arg("mse"), py::arg("axis"),
             py::arg("group"), py::arg("bits"), py::arg("matrix_bits"), py::arg("relu"), py::arg("tile"),
             "Bits per value before ReLU at an error behind it.");
  module.def("soft_entropy", &soft_entropy_of, py::arg("values"), py::arg("bits"), py::arg("sharpness"),
             "Differentiable entropy and its gradient.");
  module.def(
      "clip_limit",
      [](const RealArray& x, double sigmas) { return without_lock([&] { return clip_limit(values_of(x), sigmas); }); },
      py::arg("values"), py::arg("sigmas"), "Mean and deviations of a map.");
  module.def("code_lengths", &code_lengths, py::arg("counts"), py::arg("longest"),
             "Lengths of the best code of 256 symbols.");
}

}  // namespace narrowgauge::python
