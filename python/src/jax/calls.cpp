// SPDX-License-Identifier: Apache-2.0
// Custom calls of narrowgauge.jax: the model's quantizers and products as handlers of XLA's foreign function interface.
// A handler takes batches: the dimensions before the last two count matrices that know nothing of each other.
#include <algorithm>
#include <array>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../names.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/dequantize.hpp"
#include "narrowgauge/quant/dialect.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"
#include "xla/ffi/api/ffi.h"

namespace narrowgauge::python {
namespace {

namespace ffi = xla::ffi;
using Floats = ffi::Buffer<ffi::F32>;
using Words = ffi::Buffer<ffi::U32>;
using Bytes = ffi::Buffer<ffi::U8>;

/// The floating point environment of the C standard while it lives: XLA's threads flush subnormal numbers to zero,
/// which no rule of the model does.
class StandardFloats {
 public:
  StandardFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~StandardFloats() { std::fesetenv(&before_); }
  StandardFloats(const StandardFloats&) = delete;
  StandardFloats& operator=(const StandardFloats&) = delete;

 private:
  std::fenv_t before_{};
};

/// Calls `work`; what it throws becomes an error of XLA's with the same sentence.
template <class Work>
ffi::Error guarded(const Work& work) {
  const StandardFloats standard;
  try {
    work();
    return ffi::Error::Success();
  } catch (const std::exception& error) {
    return {ffi::ErrorCode::kInvalidArgument, error.what()};
  }
}

/// A batch of matrices: how many, and the extents of one.
struct Extent {
  std::size_t count = 1, rows = 1, columns = 1;
};

template <class Buffer>
Extent extent_of(const Buffer& buffer) {
  const auto dims = buffer.dimensions();
  if (dims.size() < 2) throw Error("an operand of a custom call has fewer than two dimensions; expected a matrix");
  Extent extent;
  extent.columns = static_cast<std::size_t>(dims[dims.size() - 1]);
  extent.rows = static_cast<std::size_t>(dims[dims.size() - 2]);
  for (std::size_t i = 0; i + 2 < dims.size(); ++i) extent.count *= static_cast<std::size_t>(dims[i]);
  return extent;
}

/// Item `index` of a buffer that is cut into `count` equal parts.
template <class T>
std::span<T> part(T* data, std::size_t size, std::size_t count, std::size_t index) {
  return {data + size / count * index, size / count};
}

void expect(bool right, std::string_view what) {
  if (!right)
    throw Error(std::string(what) +
                " of a custom call has another shape than its matrix; call it through narrowgauge.jax");
}

/// What quantizes a matrix, as attributes of the call. A name that is empty was not given.
struct Rule {
  std::string_view format, dialect, rule, rounding, scaling;
  std::int64_t random_bits, threads;
  bool columns, right, power_of_two_scale, given_scale, given_amax;
};

QuantizedMatrix quantized(std::span<const float> x, std::size_t rows, std::size_t columns, const Rule& how,
                          std::uint64_t seed, std::span<const float> given) {
  const Axis along = how.columns ? Axis::columns : Axis::rows;
  const auto threads = static_cast<unsigned>(how.threads);
  if (!how.dialect.empty()) {
    Dialect dialect =
        dialect_of(how.dialect, how.format.empty() ? std::nullopt : std::optional<std::string_view>(how.format));
    if (!how.rounding.empty()) dialect.rounding = find_name(rounding_names, "rounding", how.rounding);
    if (how.random_bits != 0) dialect.random_bits = static_cast<int>(how.random_bits);
    DialectInputs inputs{.seed = seed, .threads = threads};
    if (how.given_scale) inputs.tensor_scale = given[0];
    if (how.given_amax) inputs.amax = given[1];
    return quantize(x, rows, columns, along, dialect, inputs);
  }
  const GemmFormat& format = find_gemm_format(how.format);
  QuantizeOptions options{
      .scheme = how.right ? format.b_scheme() : format.a_scheme(),
      .element = how.right ? format.b : format.a,
      .rule = find_name(rule_names, "scale rule", how.rule),
      .rounding = find_name(rounding_names, "rounding", how.rounding),
      .random_bits = static_cast<int>(how.random_bits),
      .seed = seed,
      .threads = threads,
      .power_of_two_scale = how.power_of_two_scale,
      .scaling = find_name(scaling_names, "scaling", how.scaling),
  };
  if (how.given_scale) options.tensor_scale = given[0];
  return quantize(x, rows, columns, along, options);
}

ffi::Error quantize_call(Floats x, Words seed, Floats given, std::string_view format, std::string_view dialect,
                         std::string_view rule, std::string_view rounding, std::string_view scaling,
                         std::int64_t random_bits, std::int64_t threads, bool columns, bool right,
                         bool power_of_two_scale, bool given_scale, bool given_amax, ffi::Result<Bytes> codes,
                         ffi::Result<Bytes> scales, ffi::Result<Floats> fp32_scales, ffi::Result<Floats> tensor_scale) {
  return guarded([&] {
    const Rule how{format,  dialect, rule,  rounding,           scaling,     random_bits,
                   threads, columns, right, power_of_two_scale, given_scale, given_amax};
    const Extent extent = extent_of(x);
    expect(seed.element_count() == 2 * extent.count && given.element_count() == 2 * extent.count &&
               tensor_scale->element_count() == extent.count,
           "a seed or a scale");
    for (std::size_t i = 0; i < extent.count; ++i) {
      const std::uint32_t* words = seed.typed_data() + 2 * i;
      const QuantizedMatrix q =
          quantized(part(x.typed_data(), x.element_count(), extent.count, i), extent.rows, extent.columns, how,
                    std::uint64_t{words[0]} << 32 | words[1], {given.typed_data() + 2 * i, 2});
      const auto put = [&](const auto& from, auto& to, std::string_view what) {
        const auto place = part(to->typed_data(), to->element_count(), extent.count, i);
        expect(place.size() == from.size(), what);
        std::copy(from.begin(), from.end(), place.begin());
      };
      put(q.codes, codes, "codes");
      put(q.scales, scales, "scales");
      put(q.fp32_scales, fp32_scales, "FP32 scales");
      tensor_scale->typed_data()[i] = q.tensor_scale;
    }
  });
}

/// Matrix `index` of a batch, from its parts.
QuantizedMatrix matrix_of(const Extent& extent, std::size_t index, const Bytes& codes, const Bytes& scales,
                          const Floats& fp32_scales, const Floats& tensor_scale, std::string_view scheme,
                          std::string_view element, std::string_view scaling, std::int64_t k) {
  QuantizedMatrix q;
  q.scheme = find_scheme(scheme);
  q.element = element == "int4" ? Format::e3m0 : find_format(element);
  q.scaling = find_name(scaling_names, "scaling", scaling);
  q.rows = extent.rows;
  q.k = static_cast<std::size_t>(k);
  q.k_padded = extent.columns;
  const auto copy = [&](const auto& buffer, auto& to) {
    const auto place = part(buffer.typed_data(), buffer.element_count(), extent.count, index);
    to.assign(place.begin(), place.end());
  };
  copy(codes, q.codes);
  copy(scales, q.scales);
  copy(fp32_scales, q.fp32_scales);
  expect(tensor_scale.element_count() == extent.count, "a tensor scale");
  q.tensor_scale = tensor_scale.typed_data()[index];
  check(q, "the matrix");
  return q;
}

ffi::Error gemm_call(Bytes a_codes, Bytes a_scales, Floats a_fp32, Floats a_tensor, Bytes b_codes, Bytes b_scales,
                     Floats b_fp32, Floats b_tensor, std::string_view a_scheme, std::string_view a_element,
                     std::string_view a_scaling, std::string_view b_scheme, std::string_view b_element,
                     std::string_view b_scaling, std::int64_t k, std::int64_t threads, ffi::Result<Floats> c) {
  return guarded([&] {
    const Extent left = extent_of(a_codes), right = extent_of(b_codes);
    expect(left.count == right.count && c->element_count() == left.count * left.rows * right.rows, "an operand");
    for (std::size_t i = 0; i < left.count; ++i) {
      const QuantizedMatrix a =
          matrix_of(left, i, a_codes, a_scales, a_fp32, a_tensor, a_scheme, a_element, a_scaling, k);
      const QuantizedMatrix b =
          matrix_of(right, i, b_codes, b_scales, b_fp32, b_tensor, b_scheme, b_element, b_scaling, k);
      const std::vector<float> sums = gemm(a, b, static_cast<unsigned>(threads));
      std::ranges::copy(sums, part(c->typed_data(), c->element_count(), left.count, i).begin());
    }
  });
}

ffi::Error dequantize_call(Bytes codes, Bytes scales, Floats fp32_scales, Floats tensor_scale, std::string_view scheme,
                           std::string_view element, std::string_view scaling, std::int64_t k, std::int64_t threads,
                           ffi::Result<Floats> x) {
  return guarded([&] {
    const Extent extent = extent_of(codes);
    for (std::size_t i = 0; i < extent.count; ++i) {
      const QuantizedMatrix q =
          matrix_of(extent, i, codes, scales, fp32_scales, tensor_scale, scheme, element, scaling, k);
      dequantize(q, part(x->typed_data(), x->element_count(), extent.count, i), static_cast<unsigned>(threads));
    }
  });
}

}  // namespace
}  // namespace narrowgauge::python

// The names under which narrowgauge.jax finds the handlers.
// NOLINTBEGIN
XLA_FFI_DEFINE_HANDLER_SYMBOL(NgJaxQuantize, narrowgauge::python::quantize_call,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::U32>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Attr<std::string_view>("format")
                                  .Attr<std::string_view>("dialect")
                                  .Attr<std::string_view>("rule")
                                  .Attr<std::string_view>("rounding")
                                  .Attr<std::string_view>("scaling")
                                  .Attr<std::int64_t>("random_bits")
                                  .Attr<std::int64_t>("threads")
                                  .Attr<bool>("columns")
                                  .Attr<bool>("right")
                                  .Attr<bool>("power_of_two_scale")
                                  .Attr<bool>("given_scale")
                                  .Attr<bool>("given_amax")
                                  .Ret<xla::ffi::Buffer<xla::ffi::U8>>()
                                  .Ret<xla::ffi::Buffer<xla::ffi::U8>>()
                                  .Ret<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Ret<xla::ffi::Buffer<xla::ffi::F32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(NgJaxGemm, narrowgauge::python::gemm_call,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::Buffer<xla::ffi::U8>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::U8>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::U8>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::U8>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Attr<std::string_view>("a_scheme")
                                  .Attr<std::string_view>("a_element")
                                  .Attr<std::string_view>("a_scaling")
                                  .Attr<std::string_view>("b_scheme")
                                  .Attr<std::string_view>("b_element")
                                  .Attr<std::string_view>("b_scaling")
                                  .Attr<std::int64_t>("k")
                                  .Attr<std::int64_t>("threads")
                                  .Ret<xla::ffi::Buffer<xla::ffi::F32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(NgJaxDequantize, narrowgauge::python::dequantize_call,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::Buffer<xla::ffi::U8>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::U8>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Attr<std::string_view>("scheme")
                                  .Attr<std::string_view>("element")
                                  .Attr<std::string_view>("scaling")
                                  .Attr<std::int64_t>("k")
                                  .Attr<std::int64_t>("threads")
                                  .Ret<xla::ffi::Buffer<xla::ffi::F32>>());
// NOLINTEND
