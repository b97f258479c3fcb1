// SPDX-License-Identifier: Apache-2.0
// The types of the modules' ports: those that `verilator --sc` gives a Verilated module, so that one can stand in for
// the other without adapters.
#pragma once

#include <algorithm>
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

/// The smallest unsigned type of `width` bits, 64 at most.
template <int width>
using Field = std::conditional_t<
    width <= 8, std::uint8_t,
    std::conditional_t<width <= 16, std::uint16_t, std::conditional_t<width <= 32, std::uint32_t, std::uint64_t>>>;

/// A port of `count` fields of `width` bits, 64 at most, the first in the low bits.
template <int count, int width>
std::array<Field<width>, static_cast<std::size_t>(count)> fields_of(const Port<count * width>& value) {
  static_assert(width >= 1 && width <= 64, "fields_of: width must be 1 to 64");
  const PortWords<count* width> words = words_of<count * width>(value);
  std::array<Field<width>, static_cast<std::size_t>(count)> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::uint64_t field = 0;
    for (std::size_t bit = 0; bit < width;) {  // word by word
      const std::size_t at = i * width + bit, taken = std::min<std::size_t>(width - bit, 32 - at % 32);
      field |= (words[at / 32] >> at % 32 & ~std::uint64_t{0} >> (64 - taken)) << bit;
      bit += taken;
    }
    fields[i] = static_cast<Field<width>>(field);
  }
  return fields;
}

/// The inverse of fields_of: each field has `width` bits.
template <int width, class T, std::size_t count>
Port<static_cast<int>(count) * width> port_of_fields(const std::array<T, count>& fields) {
  static_assert(width >= 1 && width <= 64, "port_of_fields: width must be 1 to 64");
  PortWords<static_cast<int>(count) * width> words{};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t bit = 0; bit < width;) {
      const std::size_t at = i * width + bit;
      words[at / 32] |= static_cast<std::uint32_t>(std::uint64_t{fields[i]} >> bit << at % 32);
      bit += 32 - at % 32;
    }
  }
  return port_of<static_cast<int>(count) * width>(words);
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

/// What a port takes as a number.
template <class T>
concept Number = std::integral<T> || std::same_as<T, Int128>;

/// An input of `width` bits.
template <int width>
struct In : sc_core::sc_in<Port<width>> {
  explicit In(const char* name) : sc_core::sc_in<Port<width>>(name) {}

  /// The bits as an unsigned number; width 64 at most.
  Field<width> value() const {
    static_assert(width <= 64, "In::value: width must be 64 or less");
    return static_cast<Field<width>>(this->read());
  }
  /// The bits as a two's-complement number; width 2 to 128.
  auto number() const {
    using Result = std::conditional_t<width <= 32, std::int32_t, std::conditional_t<width <= 64, std::int64_t, Int128>>;
    return static_cast<Result>(signed_of<width>(this->read()));
  }
  PortWords<width> words() const { return words_of<width>(this->read()); }
};

/// The `count` equal fields of an input, the first in the low bits, each as a T.
template <int count, class T = void, int width>
auto fields(const In<width>& port) {
  static_assert(width % count == 0, "fields: width must be a multiple of count");
  const auto found = fields_of<count, width / count>(port.read());
  if constexpr (std::is_void_v<T>) {
    return found;
  } else {
    std::array<T, found.size()> result;
    std::transform(found.begin(), found.end(), result.begin(), [](auto field) { return static_cast<T>(field); });
    return result;
  }
}

/// An output of `width` bits.
template <int width>
struct Out : sc_core::sc_out<Port<width>> {
  explicit Out(const char* name) : sc_core::sc_out<Port<width>>(name) {}

  /// The low bits of a number.
  void operator=(Number auto value) {
    if constexpr (width == 1) {
      this->write((value & 1) != 0);
    } else if constexpr (width <= 64) {
      this->write(static_cast<Port<width>>(static_cast<std::uint64_t>(value) & ~std::uint64_t{0} >> (64 - width)));
    } else {
      this->write(port_of_signed<width>(value));
    }
  }
  /// Equal fields, the first in the low bits.
  template <class T, std::size_t count>
  void operator=(const std::array<T, count>& fields) {
    static_assert(width % count == 0, "Out: width must be a multiple of the number of fields");
    this->write(port_of_fields<width / static_cast<int>(count)>(fields));
  }
  void operator=(const Port<width>& value) requires(width > 64) { this->write(value); }
};

}  // namespace narrowgauge::systemc
