// SPDX-License-Identifier: Apache-2.0
// The parts of the extension module, and the few things that they share.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "names.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/power/gauge.hpp"
#include "narrowgauge/progress.hpp"

namespace narrowgauge::python {

namespace py = pybind11;

template <class Enum, std::size_t N>
std::string_view name_of(const std::array<std::pair<std::string_view, Enum>, N>& table, Enum value) {
  for (const auto& [text, known] : table) {
    if (known == value) return text;
  }
  return "?";
}

/// "(3, 4)", for error texts.
inline std::string shape_text(const py::array& a) { return py::str(a.attr("shape")); }

/// `data` as a rows x columns array that owns it: nothing is copied.
template <class T>
py::array_t<T> own(std::vector<T>&& data, std::size_t rows, std::size_t columns) {
  auto kept = std::make_unique<std::vector<T>>(std::move(data));
  T* const values = kept->data();
  const py::capsule owner(kept.get(), [](void* p) { delete static_cast<std::vector<T>*>(p); });
  static_cast<void>(kept.release());
  return py::array_t<T>({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)}, values, owner);
}

/// How often long calls look after Python; tests set it to zero.
inline std::atomic<std::int64_t> look_every_ns{50'000'000};

/// While it lives, other threads of Python run, and Ctrl-C ends what this thread does (what a handler of a signal
/// raises, that is). Every call that can take long has one.
class Unlocked {
 public:
  Unlocked() : hearing_([this] { look(); }) {}

 private:
  void look() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::nanoseconds(look_every_ns);
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

  Hearing hearing_;
  std::chrono::steady_clock::time_point next_;
  py::gil_scoped_release release_;
};

/// What f() returns, without Python's lock.
template <class F>
auto without_lock(const F& f) {
  const Unlocked unlocked;
  return f();
}

/// The elements of an array without gaps.
template <class T>
std::span<const T> span_of(const py::array_t<T, py::array::c_style>& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

/// `values` as an array of the shape of `like`.
template <class T>
py::array_t<T> shaped(const std::vector<T>& values, const py::array& like) {
  py::array_t<T> out(std::vector<py::ssize_t>(like.shape(), like.shape() + like.ndim()));
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

/// Calls a callback of Python now and then.
class PythonProgress {
 public:
  explicit PythonProgress(const std::optional<py::function>& callback) : callback_(callback) {}

  void operator()(std::uint64_t done, std::uint64_t total) {
    detail::hear();
    const auto now = std::chrono::steady_clock::now();
    if (!callback_ || (now < next_ && done != total)) return;
    next_ = now + std::chrono::milliseconds(100);
    const py::gil_scoped_acquire acquire;
    (*callback_)(done, total);
  }

 private:
  const std::optional<py::function>& callback_;
  std::chrono::steady_clock::time_point next_;
};

/// A gauge that remembers its calibration files, so that it can be pickled.
struct FileGauge final : power::Gauge {
  explicit FileGauge(std::vector<std::filesystem::path> calibrations)
      : power::Gauge(calibrations), files(std::move(calibrations)) {}
  std::vector<std::filesystem::path> files;
};
using GaugeArgument = std::shared_ptr<const FileGauge>;

/// `gauge`, or the package's own for None.
inline std::shared_ptr<const power::Gauge> or_default(const GaugeArgument& gauge) {
  if (gauge) return gauge;
  return {std::shared_ptr<const power::Gauge>(), &power::gauge()};
}

void bind_accumulate(py::module_& module);
void bind_affine(py::module_& module);
void bind_binary(py::module_& module);
void bind_checkpoint(py::module_& module);
void bind_codec(py::module_& module);
void bind_formats(py::module_& module);
void bind_dlpack(py::module_& module);
void bind_gemm(py::module_& module);
void bind_engine(py::module_& module);
void bind_energy(py::module_& module);
void bind_explore(py::module_& module);
void bind_luq(py::module_& module);
void bind_noise(py::module_& module);
void bind_norm(py::module_& module);
void bind_softmax(py::module_& module);
void bind_sparse(py::module_& module);
void bind_training(py::module_& module);
void bind_zap(py::module_& module);

}  // namespace narrowgauge::python
