// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/luq/luq.hpp"

#include "bindings.hpp"
#include "narrowgauge/luq/lognormal.hpp"

namespace narrowgauge::python {
namespace {

constexpr std::array<std::pair<std::string_view, LuqRounding>, 2> luq_rounding_names{{
    {"stochastic", LuqRounding::stochastic},
    {"nearest_power", LuqRounding::nearest_power},
}};

using Floats = py::array_t<float, py::array::c_style>;

}  // namespace

void bind_luq(py::module_& module) {
  py::class_<HindsightMax>(module, "HindsightMax")
      .def(py::init<double>(), py::kw_only(), py::arg("eta"))
      .def_property_readonly("amax", &HindsightMax::amax)
      .def("record", &HindsightMax::record, py::arg("amax"))
      .def(py::pickle(
          [](const HindsightMax& m) {
            const auto [eta, amax, empty] = m.state();
            return py::make_tuple(eta, amax, empty);
          },
          [](const py::tuple& s) {
            return HindsightMax(HindsightMax::State{s[0].cast<double>(), s[1].cast<float>(), s[2].cast<bool>()});
          }));

  module.def(
      "luq_alpha", [](float amax, int levels, bool power_of_two) { return luq_alpha(amax, levels, power_of_two); },
      py::arg("amax"), py::arg("levels"), py::arg("power_of_two"), "luq.alpha.");

  module.def(
      "luq_quantize",
      [](const Floats& x, int levels, std::string_view rounding, bool power_of_two, int random_bits, std::uint64_t seed,
         std::uint64_t first_field, const std::optional<float>& amax) {
        LuqTensor q;
        const LuqOptions options{.levels = levels,
                                 .rounding = find_name(luq_rounding_names, "rounding", rounding),
                                 .power_of_two = power_of_two,
                                 .random_bits = random_bits,
                                 .seed = seed,
                                 .first_field = first_field,
                                 .amax = amax};
        {
          const Unlocked unlocked;
          q = luq_quantize(span_of(x), options);
        }
        return py::make_tuple(shaped(q.codes, x), q.alpha);
      },
      py::arg("x"), py::kw_only(), py::arg("levels"), py::arg("rounding"), py::arg("power_of_two"),
      py::arg("random_bits"), py::arg("seed"), py::arg("first_field"), py::arg("amax"), "Codes and alpha.");

  module.def(
      "luq_dequantize",
      [](const py::array_t<std::uint8_t, py::array::c_style>& codes, float alpha, int levels) {
        const LuqTensor q{.codes = {codes.data(), codes.data() + codes.size()}, .alpha = alpha, .levels = levels};
        return shaped(without_lock([&] { return luq_dequantize(q); }), codes);
      },
      py::arg("codes"), py::arg("alpha"), py::arg("levels"), "Values, float64.");

  module.def(
      "sawb_clip", [](const Floats& x) { return without_lock([&] { return sawb_clip(span_of(x)); }); }, py::arg("x"),
      "luq.sawb_clip.");

  module.def(
      "int4_quantize",
      [](const Floats& x, const std::optional<double>& clip) {
        const Int4Tensor q = without_lock([&] { return int4_quantize(span_of(x), clip); });
        return py::make_tuple(shaped(q.values, x), q.scale);
      },
      py::arg("x"), py::arg("clip"), "Values and scale.");

  module.def(
      "luq_gemm",
      [](const py::array_t<std::int8_t, py::array::c_style>& a, float scale,
         const py::array_t<std::uint8_t, py::array::c_style>& b, float alpha, int levels) {
        if (a.ndim() != 2 || b.ndim() != 2 || a.shape(1) != b.shape(1)) {
          throw Error("the operands have shapes " + shape_text(a) + " and " + shape_text(b) +
                      "; expected two matrices of equally long rows");
        }
        const auto m = static_cast<std::size_t>(a.shape(0)), n = static_cast<std::size_t>(b.shape(0)),
                   k = static_cast<std::size_t>(a.shape(1));
        const Int4Tensor left{.values = {a.data(), a.data() + a.size()}, .scale = scale};
        const LuqTensor right{.codes = {b.data(), b.data() + b.size()}, .alpha = alpha, .levels = levels};
        std::vector<float> c;
        {
          const Unlocked unlocked;
          c = luq_gemm(left, right, m, n, k);
        }
        return own(std::move(c), m, n);
      },
      py::arg("a"), py::arg("scale"), py::arg("b"), py::arg("alpha"), py::arg("levels"),
      "m x k times n x k: m x n, float32.");

  module.def(
      "log_statistics",
      [](const Floats& x) {
        const LogStatistics s = without_lock([&] { return log_statistics(span_of(x)); });
        return py::make_tuple(s.count, s.zeros, s.mean, s.sigma, s.amax);
      },
      py::arg("x"), "Count, zeros, mean and sigma of log2|x|, amax.");

  module.def("lognormal_scale", &lognormal_scale, py::arg("mean"), "luq.LogStatistics.scale.");

  module.def("exponent_bits", &exponent_bits, py::arg("bits"), py::arg("sigma"), "luq.exponent_bits.");

  module.def(
      "pruning_threshold",
      [](double target, std::size_t count, std::size_t zeros, double mean, double sigma) {
        return pruning_threshold(target, {.count = count, .zeros = zeros, .mean = mean, .sigma = sigma});
      },
      py::arg("target"), py::kw_only(), py::arg("count"), py::arg("zeros"), py::arg("mean"), py::arg("sigma"),
      "luq.pruning_threshold.");

  module.def(
      "expected_sparsity",
      [](const Floats& x, float threshold, int random_bits) {
        return without_lock([&] { return expected_sparsity(span_of(x), threshold, random_bits); });
      },
      py::arg("x"), py::arg("threshold"), py::arg("random_bits"), "luq.expected_sparsity.");

  module.def(
      "luq_prune",
      [](const Floats& x, float threshold, std::uint64_t seed, int random_bits) {
        return shaped(without_lock([&] { return prune(span_of(x), threshold, seed, random_bits); }), x);
      },
      py::arg("x"), py::arg("threshold"), py::arg("seed"), py::arg("random_bits"), "luq.prune.");
}

}  // namespace narrowgauge::python
