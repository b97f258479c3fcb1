// SPDX-License-Identifier: Apache-2.0
// Number formats as data. The table itself is generated (format_table.inc) from model/formats.json.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace narrowgauge {

/// How a format spells "not a number".
enum class NanKind : std::uint8_t {
  none,  ///< no NaN code
  fn,    ///< only the code(s) with all exponent and mantissa bits one ("fn" formats, E8M0)
  ieee,  ///< all-ones exponent, non-zero mantissa
  fnuz,  ///< only the code of minus zero, which there is not (AMD MI300's FP8)
};

/// What happens to values beyond the largest finite one, and to infinities (docs/numerics.md, Overflow and NaN).
enum class Overflow : std::uint8_t {
  saturate,  ///< finite overflow and infinity become the largest finite value (PTX satfinite, OCP SAT)
  ieee,      ///< overflow becomes infinity, or NaN where there is none; E2M1/FP6/E3M0/FP7 still saturate (OCP NONSAT)
  oracle,    ///< ml_dtypes' default: as ieee, with its NaN rules and its E8M0 corner cases
  oracle_saturate,  ///< ml_dtypes' saturate=true: finite overflow saturates, infinity stays infinity or becomes NaN
};

/// One row of the format table. A finite code is (-1)^s 2^(e-bias) (1 + m/2^man_bits) for e >= 1 and
/// (-1)^s 2^(1-bias) m/2^man_bits for e = 0; where has_zero is false, e = 0 is the plain power 2^-bias. The bits of e
/// and m are the magnitude; a negative number is its two's complement where `complement` is true.
struct FormatDesc {
  std::string_view name;
  int bits;      ///< storage bits of a code
  int sign;      ///< 1 if the top bit is a sign
  int exp_bits;  ///< exponent bits
  int man_bits;  ///< mantissa bits
  int bias;      ///< exponent bias
  bool has_inf;
  NanKind nan;
  bool has_zero;
  bool complement;            ///< two's complement instead of a sign bit
  Overflow overflow;          ///< the default rule
  std::string_view ml_dtype;  ///< numpy/ml_dtypes name of the oracle type, empty if there is none
  std::string_view use;

  /// Bits below the sign.
  constexpr int payload_bits() const { return exp_bits + man_bits; }
  /// All payload bits one.
  constexpr std::uint32_t payload_mask() const { return (std::uint32_t{1} << payload_bits()) - 1; }
  /// The sign bit, 0 for unsigned formats.
  constexpr std::uint32_t sign_mask() const { return sign ? std::uint32_t{1} << payload_bits() : 0; }
  /// Largest finite magnitude code.
  constexpr std::uint32_t max_code() const {
    const std::uint32_t top_exp = payload_mask() ^ ((std::uint32_t{1} << man_bits) - 1);
    if (has_inf || nan == NanKind::ieee) return top_exp - 1;
    return nan == NanKind::fn ? payload_mask() - 1 : payload_mask();
  }
  /// Magnitude code of infinity; meaningful only if has_inf.
  constexpr std::uint32_t inf_code() const { return payload_mask() ^ ((std::uint32_t{1} << man_bits) - 1); }
  /// Magnitude code of the canonical NaN (IEEE formats: quiet, as ml_dtypes writes it); meaningful only if it has NaN.
  constexpr std::uint32_t nan_code() const {
    if (nan == NanKind::fnuz) return sign_mask();
    return nan == NanKind::ieee ? inf_code() | (std::uint32_t{1} << (man_bits - 1)) : payload_mask();
  }
  /// Exponent of the smallest normal value (of the smallest value, where there is no zero).
  constexpr int min_exp() const { return (has_zero ? 1 : 0) - bias; }
  constexpr bool is_nan(std::uint32_t code) const {
    if (nan == NanKind::fnuz) return (code & (sign_mask() | payload_mask())) == sign_mask();
    const std::uint32_t payload = code & payload_mask();
    return nan == NanKind::fn ? payload == payload_mask() : nan == NanKind::ieee && payload > inf_code();
  }
  constexpr bool is_inf(std::uint32_t code) const { return has_inf && (code & payload_mask()) == inf_code(); }
  constexpr bool is_negative(std::uint32_t code) const { return (code & sign_mask()) != 0; }

  /// Whether a negative code is not the sign bit and the magnitude.
  constexpr bool recodes() const { return complement || nan == NanKind::fnuz; }
  /// The code of a number of this sign and magnitude code. Where there is no minus zero, that of zero.
  constexpr std::uint32_t with_sign(bool negative, std::uint32_t magnitude) const {
    if (!negative) return magnitude;
    if (complement) return (2 * sign_mask() - magnitude) & (2 * sign_mask() - 1);
    return nan == NanKind::fnuz && magnitude == 0 ? 0 : magnitude | sign_mask();
  }
  /// The magnitude code of a code: beyond max_code() for NaN, infinities, and for the complement's smallest number.
  constexpr std::uint32_t magnitude(std::uint32_t code) const {
    if (complement && is_negative(code)) return 2 * sign_mask() - (code & (2 * sign_mask() - 1));
    return nan == NanKind::fnuz && is_nan(code) ? sign_mask() : code & payload_mask();
  }
  /// Largest magnitude code of a number.
  constexpr std::uint32_t last_code() const { return complement ? sign_mask() : max_code(); }
};

#include "narrowgauge/format/format_table.inc"

/// The row of a format.
constexpr const FormatDesc& desc(Format format) { return format_table[static_cast<std::size_t>(format)]; }

/// The format of this name ("e4m3"). Throws Error, listing the known names, if there is none.
Format find_format(std::string_view name);

}  // namespace narrowgauge
