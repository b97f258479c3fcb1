// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/io/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "file.hpp"
#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/memory.hpp"

namespace narrowgauge::io {
namespace {

/// Length of the character at the front, and its code point; length 0 if it is not UTF-8.
struct Character {
  std::size_t length = 0;
  std::uint32_t code = 0;
};

Character front(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {length, code};
}

/// Controls of C0 and C1, ends of lines and paragraphs, and what turns the direction of writing.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 || code == 0x200E ||
         code == 0x200F || (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::string_view text, bool controls) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const Character c = front(text);
    const std::size_t length = c.length ? c.length : 1;
    if (c.length && !(controls && is_control(c.code))) {
      out += text.substr(0, length);
    } else {
      for (const char byte : text.substr(0, length)) {
        const auto value = static_cast<unsigned char>(byte);
        out += {'\\', 'x', digits[value >> 4], digits[value & 15]};
      }
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string shown(std::string_view text) { return escaped(text, true); }
std::string utf8(std::string_view text) { return escaped(text, false); }

namespace {

/// "A, B or C"
std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text.append(i == 0 ? "" : i + 1 < names.size() ? ", " : " or ").append(names[i]);
  return text;
}

}  // namespace

std::string read_bytes(const std::string& path, const std::string& expected, std::size_t most,
                       std::span<const std::string_view> beginnings) {
  InputFile in(path, expected);
  const auto too_long = [&](std::size_t size) {
    return Error(shown(path) + " is " + bytes_text(static_cast<double>(size)) + " long; expected is " + expected +
                 " of at most " + bytes_text(static_cast<double>(most)));
  };
  if (in.size() && *in.size() > most) throw too_long(*in.size());
  std::string text;
  constexpr std::size_t piece = std::size_t{1} << 16;
  for (std::size_t at = 0;;) {
    text.resize(at + piece);
    const std::size_t got = in.read(text.data() + at, piece);
    text.resize(at += got);
    const auto begins = [&](std::string_view wanted) { return std::string_view(text).starts_with(wanted); };
    if (at == got && !beginnings.empty() && std::none_of(beginnings.begin(), beginnings.end(), begins))
      throw Error(shown(path) + ": it does not begin as " + expected + "; expected " + listed(beginnings) +
                  " in the beginning, as narrowgauge compress writes it");
    if (got < piece) return text;
    if (at > most) throw too_long(at);
  }
}

std::string read_text(const std::string& path, std::size_t most) { return read_bytes(path, "a text file", most); }

std::size_t edit_distance(std::string_view x, std::string_view y) {
  std::vector<std::size_t> before, last(y.size() + 1), now(y.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= x.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= y.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (x[i - 1] != y[j - 1])});
      const bool swapped = i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    std::swap(last, now);
  }
  return last[y.size()];
}

}  // namespace narrowgauge::io
