// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <tuple>

#include "bindings.hpp"
#include "narrowgauge/io/safetensors.hpp"

namespace narrowgauge::python {
namespace {

using Entry = std::tuple<std::string, std::string, std::vector<std::size_t>>;

/// The bytes of a tensor where they lie in the mapped file, which lives as long as the array; read only.
py::array_t<std::uint8_t> bytes_of(const std::shared_ptr<io::SafetensorsFile>& file, std::size_t number) {
  if (number >= file->tensors().size()) throw Error("there is no tensor of this number; expected a smaller one");
  const std::span<const std::uint8_t> bytes = file->bytes(file->tensors()[number]);
  py::array_t<std::uint8_t> array({static_cast<py::ssize_t>(bytes.size())}, bytes.data(), py::cast(file));
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

}  // namespace

void bind_checkpoint(py::module_& module) {
  py::class_<io::SafetensorsFile, std::shared_ptr<io::SafetensorsFile>>(module, "SafetensorsFile",
                                                                        "A mapped .safetensors file.")
      .def(py::init([](const std::string& path) {
             return without_lock([&] { return std::make_shared<io::SafetensorsFile>(path); });
           }),
           py::arg("path"))
      .def_property_readonly("metadata",
                             [](const io::SafetensorsFile& file) {
                               py::dict texts;
                               for (const auto& [key, value] : file.metadata()) texts[py::str(key)] = py::str(value);
                               return texts;
                             })
      .def_property_readonly(
          "tensors",
          [](const io::SafetensorsFile& file) {
            py::list tensors;
            for (const io::TensorEntry& tensor : file.tensors())
              tensors.append(py::make_tuple(tensor.name, tensor.dtype, py::tuple(py::cast(tensor.shape))));
            return tensors;
          })
      .def("bytes", &bytes_of, py::arg("number"), "Of the tensor of this number in `tensors`.");
  py::class_<io::SafetensorsWriter>(module, "SafetensorsWriter", "A .safetensors file that is written.")
      .def(py::init([](const std::string& path, const std::vector<Entry>& entries,
                       const std::map<std::string, std::string>& metadata) {
             std::vector<io::TensorEntry> tensors;
             for (const auto& [name, dtype, shape] : entries)
               tensors.push_back({.name = name, .dtype = dtype, .shape = shape});
             return std::make_unique<io::SafetensorsWriter>(path, std::move(tensors), metadata);
           }),
           py::arg("path"), py::arg("tensors"), py::arg("metadata"))
      .def(
          "write",
          [](io::SafetensorsWriter& writer, const std::string& name,
             const py::array_t<std::uint8_t, py::array::c_style>& bytes) {
            const std::span<const std::uint8_t> all = span_of(bytes);
            without_lock([&] {
              writer.write(name, all);
              return 0;
            });
          },
          py::arg("name"), py::arg("bytes"), "All bytes of one tensor.")
      .def("commit", &io::SafetensorsWriter::commit, "Puts the file in its place.");
}

}  // namespace narrowgauge::python
