// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "narrowgauge/format/random.hpp"

namespace narrowgauge::python {

void bind_noise(py::module_& module) {
  module.def(
      "random_normals",
      [](std::uint64_t seed, std::uint64_t first, py::ssize_t count) {
        py::array_t<double> normals(count);
        const std::span<double> out(normals.mutable_data(), static_cast<std::size_t>(count));
        const Unlocked unlocked;
        detail::Pace pace;
        std::array<std::uint32_t, 512> fields{};
        constexpr std::size_t batch = fields.size() / 2;
        for (std::size_t start = 0; start < out.size(); start += batch) {
          const auto part = out.subspan(start, std::min(batch, out.size() - start));
          pace(16 * part.size());
          random_fields(seed, 2 * (first + start), 32, std::span(fields).first(2 * part.size()));
          for (std::size_t i = 0; i < part.size(); ++i) {
            part[i] = standard_normal((fields.at(2 * i) + 1.0) * 0x1p-32, fields.at(2 * i + 1) * 0x1p-32);
          }
        }
        return normals;
      },
      py::arg("seed"), py::arg("first"), py::arg("count"), "narrowgauge.noise.normals.");
}

}  // namespace narrowgauge::python
