// SPDX-License-Identifier: Apache-2.0
// Tensors of other libraries through DLPack (https://dmlc.github.io/dlpack), with the narrow types that numpy's own
// reader refuses.
#include <cstdint>
#include <string>
#include <vector>

#include "bindings.hpp"

namespace narrowgauge::python {
namespace {

// The structures of an unversioned capsule, as DLPack has them.
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  std::int32_t device_type, device_id;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; nullptr: C order
  std::uint64_t byte_offset;
};
struct ManagedTensor {
  Tensor tensor;
  void* manager;
  void (*deleter)(ManagedTensor*);
};

/// How numpy holds a type, and the format whose codes these are, if it is one that numpy does not know.
struct Held {
  const char* dtype;
  const char* format;
};

Held held_as(const DataType& type) {
  enum Code : std::uint8_t {
    integer = 0,
    natural = 1,
    real = 2,
    bfloat = 4,
    e3m4 = 7,
    e4m3 = 8,
    e4m3b11fnuz = 9,
    e4m3fn = 10,
    e4m3fnuz = 11,
    e5m2 = 12,
    e5m2fnuz = 13,
    e8m0 = 14,
    e2m1 = 17,
    boolean = 6
  };
  const int bits = type.bits;
  if (type.code == e2m1 && bits == 4 && type.lanes == 2) return {"u1", "packed e2m1"};
  if (type.lanes == 1) {
    if (type.code == boolean && bits == 8) return {"?", nullptr};
    if (type.code == bfloat && bits == 16) return {"u2", "bf16"};
    if (type.code == e3m4 && bits == 8) return {"u1", "e3m4"};
    if (type.code == e4m3 && bits == 8) return {"u1", "e4m3_ieee"};
    if (type.code == e4m3b11fnuz && bits == 8) return {"u1", "e4m3b11fnuz"};
    if (type.code == e4m3fnuz && bits == 8) return {"u1", "e4m3fnuz"};
    if (type.code == e5m2fnuz && bits == 8) return {"u1", "e5m2fnuz"};
    if (type.code == e4m3fn && bits == 8) return {"u1", "e4m3"};
    if (type.code == e5m2 && bits == 8) return {"u1", "e5m2"};
    if (type.code == e8m0 && bits == 8) return {"u1", "e8m0"};
    constexpr const char* integers[] = {"i1", "i2", "i4", "i8"};
    constexpr const char* naturals[] = {"u1", "u2", "u4", "u8"};
    for (int i = 0; i < 4; ++i) {
      if (bits != 8 << i) continue;
      if (type.code == integer) return {integers[i], nullptr};
      if (type.code == natural) return {naturals[i], nullptr};
      if (type.code == real && i > 0) return {i == 1 ? "f2" : i == 2 ? "f4" : "f8", nullptr};
    }
  }
  throw Error("the DLPack tensor has type code " + std::to_string(type.code) + " with " + std::to_string(bits) +
              " bits and " + std::to_string(type.lanes) +
              " lanes; expected integers, booleans, floats, bfloat16, float8 or packed float4; convert it to float32");
}

/// The tensor as an array, which keeps it alive, and the name of its format if numpy does not know that type.
py::tuple from_dlpack(const py::capsule& capsule) {
  constexpr const char* fresh = "dltensor";
  if (!PyCapsule_IsValid(capsule.ptr(), fresh)) {
    throw Error("the DLPack capsule is used up, or of another version; expected a fresh one named dltensor");
  }
  auto* const managed = static_cast<ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), fresh));
  const Tensor& tensor = managed->tensor;
  const Held held = held_as(tensor.dtype);
  const py::dtype dtype(held.dtype);
  constexpr int most_dimensions = 32;  // of numpy 1
  if (tensor.ndim < 0 || tensor.ndim > most_dimensions || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    throw Error("the DLPack tensor has " + std::to_string(tensor.ndim) + " dimensions" +
                (tensor.ndim > 0 && tensor.shape == nullptr ? " and no shape" : "") + "; expected 0 to " +
                std::to_string(most_dimensions) + ", each with an extent");
  }
  std::vector<py::ssize_t> shape, strides;
  bool empty = false;
  for (int i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] < 0) {
      throw Error("the DLPack tensor has the extent " + std::to_string(tensor.shape[i]) + " in dimension " +
                  std::to_string(i) + "; expected 0 or more");
    }
    empty = empty || tensor.shape[i] == 0;
    shape.push_back(tensor.shape[i]);
    if (tensor.strides != nullptr) strides.push_back(tensor.strides[i] * dtype.itemsize());
  }
  if (tensor.data == nullptr && !empty) {
    throw Error("the DLPack tensor has no data; expected an address of the CPU's memory");
  }
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  const py::capsule owner(managed, [](void* p) {
    auto* const mine = static_cast<ManagedTensor*>(p);
    if (mine->deleter != nullptr) mine->deleter(mine);
  });
  const void* const data = static_cast<const std::uint8_t*>(tensor.data) + tensor.byte_offset;
  return py::make_tuple(py::array(dtype, std::move(shape), std::move(strides), data, owner), held.format);
}

}  // namespace

void bind_dlpack(py::module_& module) {
  module.def("from_dlpack", &from_dlpack, py::arg("capsule"),
             "A tensor of the CPU as an array of numpy's types, and the format whose codes these are, or None.");
}

}  // namespace narrowgauge::python
