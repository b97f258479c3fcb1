// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "bindings.hpp"
#include "narrowgauge/mac/rsqrt_fp32.hpp"
#include "narrowgauge/quant/fp8_adam_all.hpp"
#include "narrowgauge/quant/l2_normalize.hpp"
#include "narrowgauge/quant/smooth_channel.hpp"
#include "narrowgauge/reduce/lossy_reduce.hpp"

namespace narrowgauge::python {
namespace {

using Codes32 = py::array_t<std::uint32_t, py::array::c_style>;

using Codes16 = py::array_t<std::uint16_t, py::array::c_style>;

using Codes8 = py::array_t<std::uint8_t, py::array::c_style>;

Codes32 like(const py::array& x) { return Codes32(std::vector<py::ssize_t>(x.shape(), x.shape() + x.ndim())); }

}  // namespace

void bind_training(py::module_& module) {
  module.def(
      "rsqrt",
      [](const Codes32& x) {
        Codes32 y = like(x);
        std::uint32_t* const out = y.mutable_data();
        const std::uint32_t* const in = x.data();
        const py::ssize_t n = x.size();
        const Unlocked unlocked;
        detail::Pace pace;
        for (py::ssize_t i = 0; i < n; ++i) {
          pace();
          out[i] = rsqrt_fp32(in[i]);
        }
        return y;
      },
      py::arg("x"), "rsqrt of FP32 codes.");

  module.def(
      "l2_normalize",
      [](const Codes32& x, float epsilon) {
        Codes32 y = like(x);
        const auto length = static_cast<std::size_t>(x.shape(x.ndim() - 1));
        const std::size_t size = static_cast<std::size_t>(x.size());
        const std::span<const std::uint32_t> in(x.data(), size);
        const std::span<std::uint32_t> out(y.mutable_data(), size);
        const Unlocked unlocked;
        detail::Pace pace;
        for (std::size_t i = 0; i < size; i += length) {
          pace(length);
          l2_normalize(in.subspan(i, length), out.subspan(i, length), std::bit_cast<std::uint32_t>(epsilon));
        }
        return y;
      },
      py::arg("x"), py::kw_only(), py::arg("epsilon"), "l2_normalize of FP32 codes, one dimension or more.");

  module.def(
      "smooth",
      [](const Codes16& x) {
        const auto blocks = static_cast<std::size_t>(x.shape(0)), rows = static_cast<std::size_t>(x.shape(1)),
                   channels = static_cast<std::size_t>(x.shape(2));
        Codes16 y(std::vector<py::ssize_t>(x.shape(), x.shape() + 3));
        Codes8 scales(std::vector<py::ssize_t>{x.shape(0), x.shape(2)});
        const std::uint16_t* in = x.data();
        std::uint16_t* out = y.mutable_data();
        std::uint8_t* found = scales.mutable_data();
        {
          const Unlocked unlocked;
          detail::Pace pace;
          for (std::size_t block = 0; block < blocks; ++block, found += channels) {
            std::ranges::copy(smooth_channel_scales({in, rows * channels}, channels), found);
            for (std::size_t row = 0; row < rows; ++row) {
              pace(channels);
              for (std::size_t i = 0; i < channels; ++i) *out++ = smooth_divide(*in++, found[i]);
            }
          }
        }
        return py::make_tuple(y, scales);
      },
      py::arg("x"), "BF16 codes of blocks, rows and channels: divided by their channels' scales, and these, E8M0.");

  module.def(
      "fold_scales",
      [](const Codes16& w, const Codes8& scales) {
        Codes16 y(std::vector<py::ssize_t>(w.shape(), w.shape() + 2));
        const std::uint16_t* in = w.data();
        const std::uint8_t* const scale = scales.data();
        const py::ssize_t rows = w.shape(0), columns = w.shape(1);
        std::uint16_t* out = y.mutable_data();
        const Unlocked unlocked;
        detail::Pace pace;
        for (py::ssize_t row = 0; row < rows; ++row) {
          pace(static_cast<std::size_t>(columns));
          for (py::ssize_t i = 0; i < columns; ++i) *out++ = smooth_multiply(*in++, scale[row]);
        }
        return y;
      },
      py::arg("w"), py::arg("scales"), "BF16 codes, a row for each channel, times the E8M0 scales of the channels.");

  module.def(
      "bf16_means",
      [](const Codes16& parts, const Codes8& counts) {
        const py::ssize_t workers = parts.shape(0), size = parts.shape(1);
        Codes16 means(size);
        const std::uint16_t* const in = parts.data();
        const std::uint8_t* const count = counts.data();
        std::uint16_t* const out = means.mutable_data();
        const Unlocked unlocked;
        detail::Pace pace;
        for (py::ssize_t i = 0; i < size; ++i) {
          pace(static_cast<std::size_t>(workers));
          Bf16Sum sum;
          for (py::ssize_t worker = 0; worker < workers; ++worker) sum.add(in[worker * size + i]);
          out[i] = sum.mean(count[i]);
        }
        return means;
      },
      py::arg("parts"), py::arg("counts"),
      "Of BF16 codes, a row a worker, 64 at most: exact sums times 1/count, as BF16 codes.");

  module.def(
      "adam_step",
      [](const Codes32& gradient, const Codes32& weight, const Codes8& m, const Codes8& v, double rate, double beta1,
         double beta2, double epsilon, double weight_decay, std::uint64_t step, std::pair<float, float> m_scales,
         std::pair<float, float> v_scales, bool measure_scales, bool floor, int random_bits, std::uint64_t seed,
         unsigned threads) {
        const Fp8AdamStep now{.rate = rate,
                              .beta1 = beta1,
                              .beta2 = beta2,
                              .epsilon = epsilon,
                              .weight_decay = weight_decay,
                              .step = step,
                              .m_scale_old = m_scales.first,
                              .v_scale_old = v_scales.first,
                              .m_scale = m_scales.second,
                              .v_scale = v_scales.second};
        Codes32 new_weight = like(gradient), m_fp32 = like(gradient), v_fp32 = like(gradient);
        const std::vector<py::ssize_t> shape(gradient.shape(), gradient.shape() + gradient.ndim());
        Codes8 new_m(shape), new_v(shape);
        const auto size = static_cast<std::size_t>(gradient.size());
        const auto in = [size](const auto& array) { return std::span(array.data(), size); };
        const auto out = [size](auto& array) { return std::span(array.mutable_data(), size); };
        const Fp8AdamTensor old{in(gradient), in(weight), in(m), in(v)};
        const Fp8AdamNewTensor next{out(new_weight), out(new_m), out(new_v), out(m_fp32), out(v_fp32)};
        Fp8AdamScales scales;
        {
          const Unlocked unlocked;
          scales = fp8_adam_all(now, old, next,
                                {.floor = floor,
                                 .random_bits = random_bits,
                                 .seed = seed,
                                 .measure_scales = measure_scales,
                                 .threads = threads});
        }
        return py::make_tuple(new_weight, new_m, new_v, m_fp32, v_fp32, scales.m, scales.v);
      },
      py::arg("gradient"), py::arg("weight"), py::arg("m"), py::arg("v"), py::kw_only(), py::arg("rate"),
      py::arg("beta1"), py::arg("beta2"), py::arg("epsilon"), py::arg("weight_decay"), py::arg("step"),
      py::arg("m_scales"), py::arg("v_scales"), py::arg("measure_scales"), py::arg("floor"), py::arg("random_bits"),
      py::arg("seed"), py::arg("threads"), "fp8_adam of arrays of one shape; scales: old and new.");
}

}  // namespace narrowgauge::python
