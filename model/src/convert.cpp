// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/format/convert.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "convert.hpp"
#include "kernels.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge::detail {

Encoding make_encoding(const FormatDesc& format, const RoundOptions& options) {
  FormatDesc f = format;
  f.complement = false;
  const bool saturates = options.overflow == Overflow::saturate || options.overflow == Overflow::oracle_saturate;
  Encoding e{.man_bits = f.man_bits,
             .min_exp = f.min_exp(),
             .random_bits = options.random_bits,
             .max_code = f.max_code(),
             .sign = {0, f.sign_mask()},
             .overflow = {},
             .inf = {},
             .nan = {},
             .keep_negative = f.sign ? ~std::uint32_t{0} : 0};
  for (const bool negative : {false, true}) {
    e.inf[negative] = encode_inf(f, negative, options.overflow);
    e.nan[negative] = encode_nan(f, negative, options.overflow);
    e.overflow[negative] = saturates ? f.max_code() | e.sign[negative] : e.inf[negative];
  }
  return e;
}

namespace {

void check_lengths(std::size_t reals, std::size_t codes) {
  if (reals != codes) {
    throw Error("there are " + std::to_string(reals) + " values but " + std::to_string(codes) +
                " codes: pass arrays of equal length");
  }
}

}  // namespace

template <class Real, class Code>
void encode_span(Format format, std::span<const Real> x, std::span<Code> codes, const RoundOptions& options,
                 std::span<const std::uint32_t> random) {
  const FormatDesc& f = desc(format);
  check_lengths(x.size(), codes.size());
  if (!random.empty()) check_lengths(x.size(), random.size());
  if (f.bits > std::numeric_limits<Code>::digits) {
    throw Error("codes of " + std::string(f.name) + " have " + std::to_string(f.bits) + " bits and do not fit the " +
                std::to_string(std::numeric_limits<Code>::digits) + "-bit code type: use a wider one");
  }
  const bool stochastic = options.rounding == Rounding::stochastic;
  const bool narrows = f.has_zero && f.man_bits < std::numeric_limits<Real>::digits - 1;
  constexpr bool has_kernel = sizeof(Code) == 1 || (std::is_same_v<Real, float> && sizeof(Code) == 2);
  if (has_kernel && narrows && (!stochastic || (options.random_bits <= 24 && !random.empty()))) {
    const Encoding encoding = make_encoding(f, options);
    constexpr std::size_t piece = std::size_t{1} << 16;
    for (std::size_t first = 0; first < x.size(); first += piece) {
      breathe();
      const std::size_t count = std::min(piece, x.size() - first);
      const std::uint32_t* const words = random.empty() ? nullptr : random.data() + first;
      const std::span<Code> here = codes.subspan(first, count);
      if constexpr (std::is_same_v<Real, float> && sizeof(Code) == 1) {
        kernels().encode_float8(encoding, options.rounding, x.data() + first, words, count, here.data());
      } else if constexpr (std::is_same_v<Real, float> && sizeof(Code) == 2) {
        kernels().encode_float16(encoding, options.rounding, x.data() + first, words, count, here.data());
      } else if constexpr (sizeof(Code) == 1) {
        kernels().encode_double8(encoding, options.rounding, x.data() + first, words, count, here.data());
      }
      recode(f, x.subspan(first, count), here);
    }
    return;
  }
  RoundOptions each = options;
  Pace pace;
  for (std::size_t i = 0; i < x.size(); ++i) {
    pace();
    if (!random.empty()) each.random = random[i];
    codes[i] = static_cast<Code>(encode(f, x[i], each));
  }
}

template <class Code, class Real>
void decode_span(Format format, std::span<const Code> codes, std::span<Real> x) {
  const FormatDesc& f = desc(format);
  check_lengths(x.size(), codes.size());
  if (sizeof(Code) == 1 && codes.size() > 256) {
    std::array<Real, 256> table;
    for (unsigned code = 0; code < 256; ++code) table[code] = static_cast<Real>(decode(f, code));
    constexpr std::size_t piece = std::size_t{1} << 16;
    for (std::size_t first = 0; first < x.size(); first += piece) {
      breathe();
      const std::size_t last = std::min(x.size(), first + piece);
      for (std::size_t i = first; i < last; ++i) x[i] = table[static_cast<std::uint8_t>(codes[i])];
    }
  } else {
    Pace pace;
    for (std::size_t i = 0; i < x.size(); ++i) {
      pace();
      x[i] = static_cast<Real>(decode(f, codes[i]));
    }
  }
}

#define NG_INSTANTIATE(Real, Code)                                                                           \
  template void encode_span<Real, Code>(Format, std::span<const Real>, std::span<Code>, const RoundOptions&, \
                                        std::span<const std::uint32_t>);                                     \
  template void decode_span<Code, Real>(Format, std::span<const Code>, std::span<Real>);
NG_INSTANTIATE(float, std::uint8_t)
NG_INSTANTIATE(float, std::uint16_t)
NG_INSTANTIATE(float, std::uint32_t)
NG_INSTANTIATE(double, std::uint8_t)
NG_INSTANTIATE(double, std::uint16_t)
NG_INSTANTIATE(double, std::uint32_t)
#undef NG_INSTANTIATE

}  // namespace narrowgauge::detail
