// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding of whole arrays: what encode() and decode() of round_pack.hpp give element by element, faster.
#pragma once

#include <cstdint>
#include <ranges>
#include <span>

#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge {

namespace detail {
template <class Real, class Code>
void encode_span(Format format, std::span<const Real> x, std::span<Code> codes, const RoundOptions& options,
                 std::span<const std::uint32_t> random);
template <class Code, class Real>
void decode_span(Format format, std::span<const Code> codes, std::span<Real> x);
}  // namespace detail

/// codes[i] = encode(format, x[i], options). `x` holds float or double, `codes` std::uint8_t, std::uint16_t or
/// std::uint32_t, wide enough for the format, in the low bits. Stochastic rounding takes options.random for all
/// elements, or random[i] (below 2^random_bits) if `random` is given. Throws Error if lengths differ or the code type
/// is too narrow.
template <std::ranges::contiguous_range Reals, std::ranges::contiguous_range Codes>
void encode_span(Format format, const Reals& x, Codes&& codes, const RoundOptions& options = {},
                 std::span<const std::uint32_t> random = {}) {
  detail::encode_span(format, std::span<const std::ranges::range_value_t<Reals>>(x),
                      std::span<std::ranges::range_value_t<Codes>>(codes), options, random);
}

/// x[i] = decode(format, codes[i]): exact in float and double for every format of the table. Throws Error if lengths
/// differ.
template <std::ranges::contiguous_range Codes, std::ranges::contiguous_range Reals>
void decode_span(Format format, const Codes& codes, Reals&& x) {
  detail::decode_span(format, std::span<const std::ranges::range_value_t<Codes>>(codes),
                      std::span<std::ranges::range_value_t<Reals>>(x));
}

}  // namespace narrowgauge
