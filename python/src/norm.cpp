// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "narrowgauge/norm/batch_norm.hpp"
#include "narrowgauge/norm/moment_stats.hpp"
#include "narrowgauge/norm/norm_apply.hpp"
#include "narrowgauge/norm/range_stats.hpp"
#include "narrowgauge/norm/weight_norm.hpp"

namespace narrowgauge::python {
namespace {

using Numbers = py::array_t<float, py::array::c_style>;
using Int8Codes = py::array_t<std::int8_t, py::array::c_style>;

constexpr std::array<std::pair<std::string_view, NormGrid>, 3> grids{
    {{"bf16", NormGrid::bf16}, {"paper", NormGrid::paper}, {"fp32", NormGrid::fp32}}};

/// A rule with its options, as Python has it.
struct BatchNormCall {
  BatchNormRule rule;
  BatchNormOptions options;
};

Numbers array_of(const std::vector<float>& values) {
  return Numbers(static_cast<py::ssize_t>(values.size()), values.data());
}

std::size_t rows_of(const py::array& x) { return static_cast<std::size_t>(x.shape(0)); }

/// INT32 numbers of each row of codes: stats(row, codes), an array.
template <class Stats>
py::array_t<std::int32_t> stats_of_rows(const Int8Codes& codes, const Stats& stats) {
  std::vector<std::int32_t> out;
  const std::size_t rows = rows_of(codes), length = static_cast<std::size_t>(codes.shape(1));
  {
    const Unlocked unlocked;
    detail::Pace pace;
    for (std::size_t row = 0; row < rows; ++row) {
      pace(length);
      const auto numbers = stats(row, span_of(codes).subspan(row * length, length));
      out.insert(out.end(), numbers.begin(), numbers.end());
    }
  }
  return own(std::move(out), rows, out.size() / rows);
}

std::array<std::int32_t, 2> numbers_of(const MomentStats& stats) { return {stats.spread, stats.sum}; }

/// What ng_norm_apply gives of rows of codes, each under a fold of its own: apply(fold, code).
template <class Result, class Apply>
py::array_t<Result> applied(const Int8Codes& codes, const std::vector<NormFold>& folds, const Apply& apply) {
  const std::size_t rows = rows_of(codes), length = static_cast<std::size_t>(codes.shape(1));
  std::vector<Result> out(rows * length);
  {
    const Unlocked unlocked;
    detail::Pace pace;
    for (std::size_t i = 0; i < out.size(); ++i) {
      pace();
      out[i] = apply(folds[i / length], codes.data()[i]);
    }
  }
  return own(std::move(out), rows, length);
}

}  // namespace

void bind_norm(py::module_& module) {
  module.def(
      "batch_norm_rules",
      [] {
        py::dict rules;
        for (const BatchNormRule& rule : batch_norm_rules) rules[py::str(rule.name)] = py::str(rule.origin);
        return rules;
      },
      "Names of the rules, and whose they are.");
  module.def("range_constant", &range_constant, py::arg("chunk"), "range_constant.");
  module.def(
      "range_stats",
      [](const Int8Codes& codes, std::size_t chunks) {
        return stats_of_rows(codes, [&](std::size_t, std::span<const std::int8_t> row) {
          const RangeStats stats = range_stats(row, chunks);
          return std::array{stats.maxima, stats.minima, stats.sum};
        });
      },
      py::arg("codes"), py::arg("chunks"), "range_stats of each row.");
  module.def(
      "square_stats",
      [](const Int8Codes& codes) {
        return stats_of_rows(
            codes, [](std::size_t, std::span<const std::int8_t> row) { return numbers_of(square_stats(row)); });
      },
      py::arg("codes"), "square_stats of each row.");
  module.def(
      "distance_stats",
      [](const Int8Codes& codes, const Int8Codes& centres) {
        return stats_of_rows(codes, [&](std::size_t at, std::span<const std::int8_t> row) {
          return numbers_of(distance_stats(row, centres.data()[at]));
        });
      },
      py::arg("codes"), py::arg("centres"), "distance_stats of each row, each with its centre.");

  py::class_<BatchNormParameters>(module, "BatchNormParameters")
      .def(py::init([](const Numbers& mean, const Numbers& spread, const Numbers& scale, const Numbers& scale_used,
                       const Numbers& gamma_used, const Numbers& beta_used) {
             const auto held = [](const Numbers& x) { return std::vector(x.data(), x.data() + x.size()); };
             return BatchNormParameters{held(mean),       held(spread),     held(scale),
                                        held(scale_used), held(gamma_used), held(beta_used)};
           }),
           py::arg("mean"), py::arg("spread"), py::arg("scale"), py::arg("scale_used"), py::arg("gamma_used"),
           py::arg("beta_used"))
      .def("arrays", [](const BatchNormParameters& p) {
        return py::make_tuple(array_of(p.mean), array_of(p.spread), array_of(p.scale), array_of(p.scale_used),
                              array_of(p.gamma_used), array_of(p.beta_used));
      });

  py::class_<BatchNormCall>(module, "BatchNormCall")
      .def(py::init([](std::string_view rule, std::string_view grid, std::size_t chunks, std::size_t top,
                       double epsilon) {
             return BatchNormCall{find_batch_norm_rule(rule), {find_name(grids, "grid", grid), chunks, top, epsilon}};
           }),
           py::arg("rule"), py::arg("grid"), py::arg("chunks"), py::arg("top"), py::arg("epsilon"))
      .def_property_readonly("divides", [](const BatchNormCall& call) { return call.rule.divides; })
      .def(
          "parameters",
          [](const BatchNormCall& call, const Numbers& x, const Numbers& gamma, const Numbers& beta,
             const Numbers& previous) {
            return without_lock([&] {
              return batch_norm_parameters(call.rule, call.options, span_of(x), span_of(gamma), span_of(beta),
                                           span_of(previous));
            });
          },
          py::arg("x"), py::arg("gamma"), py::arg("beta"), py::arg("previous"), "batch_norm_parameters.")
      .def(
          "integer_parameters",
          [](const BatchNormCall& call, const Int8Codes& codes, float step, float low, const Numbers& gamma,
             const Numbers& beta) {
            return without_lock([&] {
              return range_norm_parameters(call.rule, call.options, span_of(codes), step, low, span_of(gamma),
                                           span_of(beta));
            });
          },
          py::arg("codes"), py::arg("step"), py::arg("low"), py::arg("gamma"), py::arg("beta"),
          "range_norm_parameters.")
      .def(
          "running",
          [](const BatchNormCall& call, const Numbers& mean, const Numbers& running, const Numbers& gamma,
             const Numbers& beta) {
            return batch_norm_running(call.rule, call.options, span_of(mean), span_of(running), span_of(gamma),
                                      span_of(beta));
          },
          py::arg("mean"), py::arg("running"), py::arg("gamma"), py::arg("beta"), "batch_norm_running.")
      .def(
          "apply",
          [](const BatchNormCall& call, const Numbers& x, const BatchNormParameters& p) {
            return shaped(without_lock([&] { return batch_norm_apply(call.rule, call.options, span_of(x), p); }), x);
          },
          py::arg("x"), py::arg("parameters"), "batch_norm_apply.")
      .def(
          "backward",
          [](const BatchNormCall& call, const Numbers& x, const BatchNormParameters& p, const Numbers& g) {
            const BatchNormGradients out =
                without_lock([&] { return batch_norm_backward(call.rule, call.options, span_of(x), p, span_of(g)); });
            return py::make_tuple(shaped(out.x, x), array_of(out.gamma), array_of(out.beta));
          },
          py::arg("x"), py::arg("parameters"), py::arg("g"), "batch_norm_backward.");

  module.def(
      "norm_apply",
      [](const Int8Codes& codes, const std::vector<double>& mean, const std::vector<double>& m,
         const std::vector<double>& b, int exponent, bool bf16) -> py::array {
        std::vector<NormFold> folds;
        for (std::size_t i = 0; i < mean.size(); ++i) folds.push_back(fold_norm(mean[i], m[i], b[i], exponent));
        if (bf16) {
          return applied<std::uint16_t>(
              codes, folds, [&](const NormFold& fold, std::int8_t code) { return norm_to_bf16(fold, exponent, code); });
        }
        return applied<std::int8_t>(
            codes, folds, [&](const NormFold& fold, std::int8_t code) { return norm_to_int8(fold, -exponent, code); });
      },
      py::arg("codes"), py::arg("mean"), py::arg("m"), py::arg("b"), py::arg("exponent"), py::arg("bf16"),
      "What ng_norm_apply gives of rows.");

  module.def(
      "bounded_weight_norm",
      [](const Numbers& v, const Numbers& g, double rho) {
        return shaped(without_lock([&] { return bounded_weight_norm(span_of(v), rows_of(v), span_of(g), rho); }), v);
      },
      py::arg("v"), py::arg("g"), py::arg("rho"), "bounded_weight_norm.");
  module.def(
      "bounded_weight_norm_backward",
      [](const Numbers& v, const Numbers& g, double rho, const Numbers& weight_gradients) {
        const WeightNormGradients out = without_lock([&] {
          return bounded_weight_norm_backward(span_of(v), rows_of(v), span_of(g), rho, span_of(weight_gradients));
        });
        return py::make_tuple(shaped(out.v, v), array_of(out.g));
      },
      py::arg("v"), py::arg("g"), py::arg("rho"), py::arg("weight_gradients"), "bounded_weight_norm_backward.");
}

}  // namespace narrowgauge::python
