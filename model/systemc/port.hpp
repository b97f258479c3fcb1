// SPDX-License-Identifier: Apache-2.0
// The types of the modules' ports: those that `verilator --sc` gives a Verilated module, so that one can stand in for
// the other without adapters.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <systemc>
#include <type_traits>

namespace narrowgauge::systemc {

/// A vector of `width` bits, signed or not: bool, uint32_t, uint64_t, and above 64 bits sc_bv<width>.
template <int width>
using Port =
    std::conditional_t<width == 1, bool,
                       std::conditional_t<width <= 32, std::uint32_t,
                                          std::conditional_t<width <= 64, std::uint64_t, sc_dt::sc_bv<width>>>>;

/// A port's value as 32-bit words, lowest first; bits above `width` are zero.
template <int width>
using PortWords = std::array<std::uint32_t, (width + 31) / 32>;

template <int width>
PortWords<width> words_of(const Port<width>& value) {
  PortWords<width> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if constexpr (std::integral<Port<width>>) {
      words[i] = static_cast<std::uint32_t>(std::uint64_t{value} >> 32 * i);
    } else {
      words[i] = value.get_word(static_cast<int>(i));
    }
  }
  return words;
}

/// The inverse of words_of; bits above `width` are dropped.
template <int width>
Port<width> port_of(PortWords<width> words) {
  if (width % 32 != 0) words.back() &= (std::uint32_t{1} << width % 32) - 1;
  if constexpr (std::integral<Port<width>>) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < words.size(); ++i) value |= std::uint64_t{words[i]} << 32 * i;
    return static_cast<Port<width>>(value);
  } else {
    Port<width> value;
    for (std::size_t i = 0; i < words.size(); ++i) value.set_word(static_cast<int>(i), words[i]);
    return value;
  }
}

/// A port of `count` fields of `width` bits, 8 at most and a divisor of 32, the first in the low bits.
template <int count, int width>
std::array<std::uint8_t, static_cast<std::size_t>(count)> fields_of(const Port<count * width>& value) {
  static_assert(width <= 8 && 32 % width == 0, "fields_of: width must be 1, 2, 4 or 8");
  constexpr int in_word = 32 / width;
  const PortWords<count* width> words = words_of<count * width>(value);
  std::array<std::uint8_t, static_cast<std::size_t>(count)> fields;
  for (int i = 0; i < count; ++i)
    fields[static_cast<std::size_t>(i)] =
        words[static_cast<std::size_t>(i / in_word)] >> i % in_word * width & ((1U << width) - 1);
  return fields;
}

__extension__ using Int128 = __int128;

/// A port as a two's-complement number; width 2 to 128.
template <int width>
Int128 signed_of(const Port<width>& value) {
  const PortWords<width> words = words_of<width>(value);
  unsigned __int128 bits = 0;
  for (std::size_t i = 0; i < words.size(); ++i) bits |= static_cast<unsigned __int128>(words[i]) << 32 * i;
  return static_cast<Int128>(bits << (128 - width)) >> (128 - width);
}

/// The low `width` bits of a number; width 2 to 128.
template <int width>
Port<width> port_of_signed(Int128 value) {
  PortWords<width> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(value >> 32 * i);
  return port_of<width>(words);
}

}  // namespace narrowgauge::systemc
