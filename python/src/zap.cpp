// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/sparse/zap.hpp"

#include "bindings.hpp"

namespace narrowgauge::python {
namespace {

template <class T>
using Array = py::array_t<T, py::array::c_style>;

/// The nine numbers of channel `channel`.
template <class T>
std::array<T, 9> nine(const Array<T>& filters, std::size_t channel) {
  std::array<T, 9> weights{};
  std::copy_n(filters.data() + 9 * channel, 9, weights.begin());
  return weights;
}

ZapFilter filter_of(const Array<double>& weights, const Array<double>& bias, std::size_t channel) {
  return {.weights = nine(weights, channel), .bias = bias.data()[channel]};
}

std::vector<ZapPredictor> predictors_of(const Array<double>& first, const Array<double>& first_bias,
                                        const Array<double>& second, const Array<double>& second_bias) {
  std::vector<ZapPredictor> predictors;
  for (std::size_t i = 0; i < static_cast<std::size_t>(first_bias.size()); ++i) {
    predictors.push_back({.first = filter_of(first, first_bias, i), .second = filter_of(second, second_bias, i)});
  }
  return predictors;
}

/// Rows or columns of maps: the length of the dimension before the last, or of the last.
std::size_t side(const py::array& x, py::ssize_t from_the_end) {
  return static_cast<std::size_t>(x.shape(x.ndim() - from_the_end));
}

py::tuple integers(const std::vector<ZapPredictor>& predictors, double scale, double threshold) {
  const auto count = static_cast<py::ssize_t>(predictors.size());
  Array<std::int8_t> first({count, py::ssize_t{3}, py::ssize_t{3}}), second({count, py::ssize_t{3}, py::ssize_t{3}});
  Array<std::int32_t> bias(count), limit(count);
  Array<std::uint8_t> shift(count);
  for (std::size_t i = 0; i < predictors.size(); ++i) {
    const ZapChannel channel = zap_quantize(predictors[i], scale, threshold);
    std::copy(channel.first.begin(), channel.first.end(), first.mutable_data() + 9 * i);
    std::copy(channel.second.begin(), channel.second.end(), second.mutable_data() + 9 * i);
    bias.mutable_data()[i] = channel.bias;
    shift.mutable_data()[i] = static_cast<std::uint8_t>(channel.shift);
    limit.mutable_data()[i] = channel.threshold;
  }
  return py::make_tuple(first, bias, shift, second, limit);
}

}  // namespace

void bind_zap(py::module_& module) {
  module.def(
      "zap_pattern",
      [](int kind, std::size_t rows, std::size_t columns) {
        return own(without_lock([&] { return zap_pattern(kind, rows, columns); }), rows, columns);
      },
      py::arg("kind"), py::arg("rows"), py::arg("columns"), "zap_pattern.");
  module.def(
      "zap_fold",
      [](const Array<double>& weights, const Array<double>& bias, const Array<double>& norm) {
        const auto count = static_cast<std::size_t>(bias.size());
        Array<double> folded({bias.size(), py::ssize_t{3}, py::ssize_t{3}}), biases(bias.size());
        for (std::size_t i = 0; i < count; ++i) {
          const double* of = norm.data() + i;
          const ZapFilter filter =
              zap_fold(filter_of(weights, bias, i), {of[0], of[count], of[2 * count], of[3 * count]});
          std::copy(filter.weights.begin(), filter.weights.end(), folded.mutable_data() + 9 * i);
          biases.mutable_data()[i] = filter.bias;
        }
        return py::make_tuple(folded, biases);
      },
      py::arg("weights"), py::arg("bias"), py::arg("norm"), "Weights and biases.");
  module.def(
      "zap_values",
      [](const Array<float>& x, const Array<double>& first, const Array<double>& first_bias,
         const Array<double>& second, const Array<double>& second_bias, int kind) {
        const auto predictors = predictors_of(first, first_bias, second, second_bias);
        return shaped(without_lock([&] { return zap_values(span_of(x), side(x, 2), side(x, 1), predictors, kind); }),
                      x);
      },
      py::arg("x"), py::arg("first"), py::arg("first_bias"), py::arg("second"), py::arg("second_bias"), py::arg("kind"),
      "zap_values.");
  module.def(
      "zap_keep",
      [](const Array<float>& values, float threshold, int kind) {
        return shaped(
            without_lock([&] { return zap_keep(span_of(values), side(values, 2), side(values, 1), threshold, kind); }),
            values);
      },
      py::arg("values"), py::arg("threshold"), py::arg("kind"), "zap_keep.");
  module.def(
      "zap_quantize",
      [](const Array<double>& first, const Array<double>& first_bias, const Array<double>& second,
         const Array<double>& second_bias, double scale, double threshold) {
        return integers(predictors_of(first, first_bias, second, second_bias), scale, threshold);
      },
      py::arg("first"), py::arg("first_bias"), py::arg("second"), py::arg("second_bias"), py::arg("scale"),
      py::arg("threshold"), "First filters, biases, shifts, second filters, thresholds.");
  module.def(
      "zap_predict",
      [](const Array<std::int8_t>& x, const Array<std::int8_t>& first, const Array<std::int32_t>& bias,
         const Array<std::uint8_t>& shift, const Array<std::int8_t>& second, const Array<std::int32_t>& threshold,
         int kind) {
        std::vector<ZapChannel> channels;
        for (std::size_t i = 0; i < static_cast<std::size_t>(bias.size()); ++i) {
          channels.push_back({.first = nine(first, i),
                              .bias = bias.data()[i],
                              .shift = shift.data()[i],
                              .second = nine(second, i),
                              .threshold = threshold.data()[i]});
        }
        return shaped(without_lock([&] { return zap_predict(span_of(x), side(x, 2), side(x, 1), channels, kind); }), x);
      },
      py::arg("x"), py::arg("first"), py::arg("bias"), py::arg("shift"), py::arg("second"), py::arg("threshold"),
      py::arg("kind"), "zap_predict.");
  module.def(
      "zap_passes",
      [](const Array<std::uint8_t>& keep, std::size_t rows, std::size_t depth) {
        const ZapArray array{.rows = rows, .columns = side(keep, 2), .depth = depth};
        auto passes = without_lock([&] { return zap_passes(span_of(keep), array); });
        const std::size_t made = passes.size() / array.columns;
        return own(std::move(passes), made, array.columns);
      },
      py::arg("keep"), py::arg("rows"), py::arg("depth"), "zap_passes, columns x places; a row of a pass a row.");
}

}  // namespace narrowgauge::python
