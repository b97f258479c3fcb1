// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "bindings.hpp"
#include "names.hpp"
#include "narrowgauge/format/convert.hpp"
#include "narrowgauge/format/format.hpp"
#include "narrowgauge/format/p3109.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/hif4.hpp"
#include "narrowgauge/quant/if4.hpp"
#include "narrowgauge/quant/mixfp4.hpp"
#include "narrowgauge/quant/swizzle_scales.hpp"

namespace narrowgauge::python {
namespace {

using Bytes = py::array_t<std::uint8_t, py::array::c_style>;
using RandomWords = py::array_t<std::uint32_t, py::array::c_style>;

template <class Code, class Real>
py::array encode_array(const py::array_t<Real, py::array::c_style>& x, Format format, const RoundOptions& options,
                       const std::optional<RandomWords>& random) {
  py::array_t<Code> codes(std::vector<py::ssize_t>(x.shape(), x.shape() + x.ndim()));
  const auto n = static_cast<std::size_t>(x.size());
  const std::span<const Real> in(x.data(), n);
  const std::span<Code> out(codes.mutable_data(), n);
  const std::span<const std::uint32_t> words = random ? std::span(random->data(), n) : std::span<const std::uint32_t>();
  const Unlocked unlocked;
  encode_span(format, in, out, options, words);
  return codes;
}

template <class Real>
py::array encode_real(const py::array& any, Format format, const RoundOptions& options,
                      const std::optional<RandomWords>& random) {
  const auto x = py::array_t<Real, py::array::c_style | py::array::forcecast>::ensure(any);
  if (!x) throw py::error_already_set();
  const int bits = desc(format).bits;
  if (bits <= 8) return encode_array<std::uint8_t, Real>(x, format, options, random);
  if (bits <= 16) return encode_array<std::uint16_t, Real>(x, format, options, random);
  return encode_array<std::uint32_t, Real>(x, format, options, random);
}

/// A 64-bit integer in double: one of more than 53 bits is cut, and its last bit is set if the rest was not zero
/// (rounded to odd), so that the rounding that follows is the only one.
template <class Integer>
double odd_double(Integer value) {
  const bool negative = value < 0;
  const auto bits = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = negative ? 0 - bits : bits;
  const int shift = std::max(static_cast<int>(std::bit_width(magnitude)) - 53, 0);
  const std::uint64_t kept = magnitude >> shift;
  const bool lost = kept << shift != magnitude;
  const double result = std::ldexp(static_cast<double>(kept | (lost ? 1U : 0U)), shift);
  return negative ? -result : result;
}

template <class Integer>
py::array odd_doubles(const py::array& any) {
  const auto x = py::array_t<Integer, py::array::c_style | py::array::forcecast>::ensure(any);
  if (!x) throw py::error_already_set();
  py::array_t<double> out(std::vector<py::ssize_t>(x.shape(), x.shape() + x.ndim()));
  std::transform(x.data(), x.data() + x.size(), out.mutable_data(), odd_double<Integer>);
  return out;
}

/// Random words as uint32 of the shape of `x`, each below 2^random_bits.
RandomWords random_words(const py::array& random, const py::array& x, int random_bits) {
  if (random.dtype().kind() != 'u' && random.dtype().kind() != 'i') {
    throw Error("random has dtype " + std::string(py::str(random.dtype())) + "; expected an unsigned integer array");
  }
  const auto same_shape = [&] {
    if (random.ndim() != x.ndim()) return false;
    for (py::ssize_t i = 0; i < x.ndim(); ++i) {
      if (random.shape(i) != x.shape(i)) return false;
    }
    return true;
  };
  if (!same_shape()) {
    throw Error("random has shape " + shape_text(random) + "; expected the shape of x, " + shape_text(x));
  }
  const auto wide = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(random);
  if (!wide) throw py::error_already_set();
  RandomWords words(std::vector<py::ssize_t>(x.shape(), x.shape() + x.ndim()));
  for (py::ssize_t i = 0; i < wide.size(); ++i) {
    const std::int64_t word = wide.data()[i];
    if (word < 0 || word >> random_bits != 0) {
      throw Error("random holds " + std::to_string(word) + "; expected 0 to 2^" + std::to_string(random_bits) +
                  " - 1; draw random_bits bits a value");
    }
    words.mutable_data()[i] = static_cast<std::uint32_t>(word);
  }
  return words;
}

py::array encode(const py::array& x, std::string_view format, std::string_view rounding,
                 const std::optional<std::string>& overflow, const std::optional<py::array>& random, int random_bits) {
  const Format target = find_format(format);
  RoundOptions options{
      .rounding = find_name(rounding_names, "rounding", rounding),
      .overflow = overflow ? find_name(overflow_names, "overflow policy", *overflow) : desc(target).overflow,
      .random_bits = random_bits};
  if (random_bits < 1 || random_bits > 32) {
    throw Error("random_bits is " + std::to_string(random_bits) + "; expected 1 to 32");
  }
  if ((options.rounding == Rounding::stochastic) != random.has_value()) {
    throw Error(random ? "random words were given with rounding '" + std::string(rounding) +
                             "': they are for rounding 'stochastic' only"
                       : std::string("rounding 'stochastic' needs random: an integer array of the shape of x"));
  }
  std::optional<RandomWords> words;
  if (random) words = random_words(*random, x, random_bits);
  const char kind = x.dtype().kind();
  if (kind == 'f' && x.itemsize() <= 4) return encode_real<float>(x, target, options, words);
  if (kind == 'i' && x.itemsize() == 8)
    return encode_real<double>(odd_doubles<std::int64_t>(x), target, options, words);
  if (kind == 'u' && x.itemsize() == 8)
    return encode_real<double>(odd_doubles<std::uint64_t>(x), target, options, words);
  if ((kind == 'f' && x.itemsize() == 8) || kind == 'i' || kind == 'u') {
    return encode_real<double>(x, target, options, words);
  }
  throw Error("x has dtype " + std::string(py::str(x.dtype())) +
              "; expected float16, float32, float64 or integers; convert it with astype(numpy.float32)");
}

template <class Code>
void decode_into(const py::array& any, Format format, float* out) {
  const auto codes = py::array_t<Code, py::array::c_style | py::array::forcecast>::ensure(any);
  if (!codes) throw py::error_already_set();
  const auto n = static_cast<std::size_t>(codes.size());
  const std::span<const Code> in(codes.data(), n);
  const Unlocked unlocked;
  const int bits = desc(format).bits;
  const Code largest = n == 0 ? Code{0} : *std::max_element(in.begin(), in.end());
  if (std::uint64_t{largest} >> bits != 0) {
    throw Error("codes hold " + std::to_string(largest) + "; expected codes of " + std::string(desc(format).name) +
                ", 0 to " + std::to_string((std::uint64_t{1} << bits) - 1));
  }
  decode_span(format, in, std::span(out, n));
}

py::array decode(const py::array& codes, std::string_view format) {
  const Format source = find_format(format);
  if (codes.dtype().kind() != 'u' || codes.itemsize() > 4) {
    throw Error("codes have dtype " + std::string(py::str(codes.dtype())) + "; expected uint8, uint16 or uint32");
  }
  py::array_t<float> out(std::vector<py::ssize_t>(codes.shape(), codes.shape() + codes.ndim()));
  if (codes.itemsize() == 1) {
    decode_into<std::uint8_t>(codes, source, out.mutable_data());
  } else if (codes.itemsize() == 2) {
    decode_into<std::uint16_t>(codes, source, out.mutable_data());
  } else {
    decode_into<std::uint32_t>(codes, source, out.mutable_data());
  }
  return out;
}

/// Scales of matrices (matrices x rows x blocks) in the 128x4 layout, matrices x bytes.
Bytes swizzle(const Bytes& scales, unsigned threads) {
  const auto rows = static_cast<std::size_t>(scales.shape(1)), blocks = static_cast<std::size_t>(scales.shape(2));
  Bytes out({scales.shape(0), static_cast<py::ssize_t>(swizzled_size(rows, blocks))});
  const std::size_t size = rows * blocks, bytes = swizzled_size(rows, blocks);
  const auto matrices = static_cast<std::size_t>(scales.shape(0));
  const std::uint8_t* const from = scales.data();
  std::uint8_t* const to = out.mutable_data();
  const Unlocked unlocked;
  for (std::size_t i = 0; i < matrices; ++i) {
    std::ranges::copy(swizzle_scales({from + i * size, size}, rows, blocks, threads), to + i * bytes);
  }
  return out;
}

/// The inverse.
Bytes unswizzle(const Bytes& layouts, std::size_t rows, std::size_t blocks, unsigned threads) {
  Bytes out({layouts.shape(0), static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(blocks)});
  const std::size_t size = rows * blocks;
  const auto matrices = static_cast<std::size_t>(layouts.shape(0)), bytes = static_cast<std::size_t>(layouts.shape(1));
  const std::uint8_t* const from = layouts.data();
  std::uint8_t* const to = out.mutable_data();
  const Unlocked unlocked;
  for (std::size_t i = 0; i < matrices; ++i) {
    std::ranges::copy(unswizzle_scales({from + i * bytes, bytes}, rows, blocks, threads), to + i * size);
  }
  return out;
}

template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

using Floats = py::array_t<float, py::array::c_style>;

py::tuple parts_of(const FlaggedBlocks& q, const Floats& x) {
  return py::make_tuple(shaped(q.codes, x), array_of(q.scales), q.amax);
}

py::tuple if4_blocks(const Floats& x, int choice, unsigned threads) {
  return parts_of(without_lock([&] { return if4_quantize(span_of(x), static_cast<If4Choice>(choice), threads); }), x);
}

py::tuple mixfp4_blocks(const Floats& x, unsigned threads) {
  return parts_of(without_lock([&] { return mixfp4_quantize(span_of(x), threads); }), x);
}

py::tuple hif4_blocks(const py::array_t<float, py::array::c_style>& x, unsigned threads) {
  const Hif4Blocks q = without_lock([&] { return hif4_quantize(span_of(x), threads); });
  return py::make_tuple(shaped(q.codes, x), array_of(q.scales), array_of(q.level2), array_of(q.level3));
}

py::array_t<float> hif4_values(const Bytes& codes, const Bytes& scales, const Bytes& level2,
                               const py::array_t<std::uint16_t, py::array::c_style>& level3, unsigned threads) {
  return shaped(without_lock([&] {
                  return hif4_dequantize(span_of(codes), span_of(scales), span_of(level2), span_of(level3), threads);
                }),
                codes);
}

py::array_t<float> if4_values(const Bytes& codes, const Bytes& scales, float amax, unsigned threads) {
  return shaped(without_lock([&] { return if4_dequantize(span_of(codes), span_of(scales), amax, threads); }), codes);
}

py::array_t<float> mixfp4_values(const Bytes& codes, const Bytes& scales, float amax, unsigned threads) {
  return shaped(without_lock([&] { return mixfp4_dequantize(span_of(codes), span_of(scales), amax, threads); }), codes);
}

}  // namespace

void bind_formats(py::module_& module) {
  py::class_<FormatDesc>(module, "FormatDesc", "One row of the table of number formats.")
      .def_readonly("name", &FormatDesc::name)
      .def_readonly("bits", &FormatDesc::bits, "Storage bits of a code.")
      .def_property_readonly(
          "sign", [](const FormatDesc& f) { return f.sign != 0; }, "True if the top bit is a sign.")
      .def_readonly("exp_bits", &FormatDesc::exp_bits)
      .def_readonly("man_bits", &FormatDesc::man_bits)
      .def_readonly("bias", &FormatDesc::bias)
      .def_readonly("has_inf", &FormatDesc::has_inf)
      .def_property_readonly("has_nan", [](const FormatDesc& f) { return f.nan != NanKind::none; })
      .def_readonly("has_zero", &FormatDesc::has_zero)
      .def_property_readonly(
          "max", [](const FormatDesc& f) { return narrowgauge::decode(f, f.max_code()); }, "Largest finite value.")
      .def_property_readonly(
          "overflow", [](const FormatDesc& f) { return name_of(overflow_names, f.overflow); },
          "Overflow policy used where none is named.")
      .def_readonly("ml_dtype", &FormatDesc::ml_dtype, "numpy or ml_dtypes type of the same encoding; '' if none.")
      .def_readonly("use", &FormatDesc::use)
      .def(py::pickle([](const FormatDesc& f) { return std::string(f.name); },
                      [](const std::string& name) { return desc(find_format(name)); }))
      .def("__repr__", [](const FormatDesc& f) { return "<format " + std::string(f.name) + ">"; });

  module.def(
      "formats",
      [] {
        py::dict table;
        for (const FormatDesc& f : format_table) table[py::str(f.name)] = py::cast(f);
        return table;
      },
      "Every number format by name, in the order of the table (docs/formats.md).");

  module.def("encode", &encode, py::arg("x"), py::arg("format"), py::kw_only(), py::arg("rounding") = "nearest_even",
             py::arg("overflow") = py::none(), py::arg("random") = py::none(), py::arg("random_bits") = 8,
             "narrowgauge.encode of arrays.");

  module.def("decode", &decode, py::arg("codes"), py::arg("format"), "narrowgauge.decode of arrays.");

  module.def("swizzle_scales", &swizzle, py::arg("scales"), py::arg("threads"), "narrowgauge.swizzle_scales.");

  module.def("unswizzle_scales", &unswizzle, py::arg("swizzled"), py::arg("rows"), py::arg("blocks"),
             py::arg("threads"), "narrowgauge.unswizzle_scales.");

  module.def("hif4_quantize", &hif4_blocks, py::arg("x"), py::arg("threads"), "narrowgauge.quantize_hif4.");

  module.def("hif4_dequantize", &hif4_values, py::arg("codes"), py::arg("scales"), py::arg("level2"), py::arg("level3"),
             py::arg("threads"), "narrowgauge.dequantize_hif4.");

  module.def("if4_quantize", &if4_blocks, py::arg("x"), py::arg("choice"), py::arg("threads"),
             "narrowgauge.quantize_if4.");

  module.def("if4_dequantize", &if4_values, py::arg("codes"), py::arg("scales"), py::arg("amax"), py::arg("threads"),
             "narrowgauge.dequantize_if4.");

  module.def("mixfp4_quantize", &mixfp4_blocks, py::arg("x"), py::arg("threads"), "narrowgauge.quantize_mixfp4.");

  module.def("mixfp4_dequantize", &mixfp4_values, py::arg("codes"), py::arg("scales"), py::arg("amax"),
             py::arg("threads"), "narrowgauge.dequantize_mixfp4.");

  module.def(
      "p3109_values",
      [](int bits, int precision, bool is_signed, bool extended) {
        return array_of(p3109_values({bits, precision, is_signed, extended}));
      },
      py::arg("bits"), py::arg("precision"), py::arg("is_signed"), py::arg("extended"), "narrowgauge.p3109_values.");

  module.def(
      "random_fields",
      [](std::uint64_t seed, std::uint64_t first, py::ssize_t count, int bits) {
        RandomWords fields(count);
        const std::span<std::uint32_t> out(fields.mutable_data(), static_cast<std::size_t>(count));
        const Unlocked unlocked;
        random_fields(seed, first, bits, out);
        return fields;
      },
      py::arg("seed"), py::arg("first"), py::arg("count"), py::arg("bits"), "narrowgauge.random_fields.");
}

}  // namespace narrowgauge::python
