// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <span>

#include "bindings.hpp"
#include "narrowgauge/codec/feature_map.hpp"
#include "narrowgauge/codec/report.hpp"

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

FeatureMap map_of(const RealArray& values, unsigned bits) {
  return quantize_map(values_of(values), shape_of(values), bits);
}

py::bytes compress_map(const FeatureMap& map, std::size_t tile, bool zero_runs) {
  std::vector<std::uint8_t> file;
  {
    const py::gil_scoped_release release;
    file = compress(map, {tile, zero_runs});
  }
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

py::bytes compress_codes(const ByteArray& values, bool is_signed, std::size_t tile, bool zero_runs) {
  return compress_map(map_of(values, is_signed), tile, zero_runs);
}

py::bytes compress_real(const RealArray& values, unsigned bits, std::size_t tile, bool zero_runs) {
  return compress_map(map_of(values, bits), tile, zero_runs);
}

/// Bytes or numbers, in the map's shape; whether bytes are signed.
py::tuple decompress_file(const py::bytes& data) {
  const std::string_view text = data;
  const FeatureMap map = decompress({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  const std::vector<py::ssize_t> shape(map.shape.begin(), map.shape.end());
  if (map.step == 0) {
    ByteArray array(shape);
    std::copy(map.values.begin(), map.values.end(), array.mutable_data());
    return py::make_tuple(array, map.is_signed);
  }
  const std::vector<float> x = dequantize_map(map);
  RealArray array(shape);
  std::copy(x.begin(), x.end(), array.mutable_data());
  return py::make_tuple(array, map.is_signed);
}

py::dict report_map(const FeatureMap& map, std::size_t tile) {
  const auto rates = [&] {
    const py::gil_scoped_release release;
    return codec_report(map, tile);
  }();
  py::dict report;
  for (const CodecRate& rate : rates) report[py::str(rate.name)] = rate.bits;
  return report;
}

py::dict report_codes(const ByteArray& values, bool is_signed, std::size_t tile) {
  return report_map(map_of(values, is_signed), tile);
}

py::dict report_real(const RealArray& values, unsigned bits, std::size_t tile) {
  return report_map(map_of(values, bits), tile);
}

std::vector<unsigned> code_lengths(const std::vector<std::uint64_t>& counts, unsigned longest) {
  if (counts.size() != huffman_symbols) {
    throw Error("counts has " + std::to_string(counts.size()) + " entries: expected 256");
  }
  const CodeLengths lengths = make_code(std::span<const std::uint64_t, huffman_symbols>(counts), longest);
  return {lengths.begin(), lengths.end()};
}

}  // namespace

void bind_codec(py::module_& module) {
  module.def("compress_codes", &compress_codes, py::arg("values"), py::arg("is_signed"), py::arg("tile"),
             py::arg("zero_runs"), "The file of a map of bytes.");
  module.def("compress_real", &compress_real, py::arg("values"), py::arg("bits"), py::arg("tile"), py::arg("zero_runs"),
             "The file of a map of numbers, quantized under one step.");
  module.def("decompress", &decompress_file, py::arg("data"), "The map of a file, and whether its codes are signed.");
  module.def("report_codes", &report_codes, py::arg("values"), py::arg("is_signed"), py::arg("tile"),
             "Bits per value of a map of bytes, here and in published codes.");
  module.def("report_real", &report_real, py::arg("values"), py::arg("bits"), py::arg("tile"),
             "The same of a map of numbers, quantized under one step.");
  module.def("code_lengths", &code_lengths, py::arg("counts"), py::arg("longest"),
             "Lengths of the best code of 256 symbols.");
}

}  // namespace narrowgauge::python
