// SPDX-License-Identifier: Apache-2.0
// How a .npy file looks is in numpy's documentation (numpy.lib.format): a signature, the length of a Python dictionary,
// the dictionary, the elements.
#include "narrowgauge/io/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "file.hpp"
#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/memory.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::io {
namespace {

/// n elements of type T, in their file's byte order, as doubles.
template <class T>
void load(const char* from, bool swap, std::size_t n, double* to) {
  for (std::size_t i = 0; i < n; ++i) {
    std::array<char, sizeof(T)> raw;
    std::copy_n(from + i * sizeof(T), sizeof(T), raw.begin());
    if (swap) std::reverse(raw.begin(), raw.end());
    to[i] = static_cast<double>(std::bit_cast<T>(raw));
  }
}

void load_bool(const char* from, bool, std::size_t n, double* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i] != 0;
}

/// bfloat16: the upper half of a binary32.
void load_bfloat16(const char* from, bool swap, std::size_t n, double* to) {
  load<std::uint16_t>(from, swap, n, to);
  for (std::size_t i = 0; i < n; ++i)
    to[i] = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(to[i]) << 16));
}

double half_value(unsigned code) {
  const unsigned exponent = code >> 10 & 31, mantissa = code & 1023;
  double value = std::ldexp(exponent ? 1024 + mantissa : mantissa, std::max(static_cast<int>(exponent), 1) - 25);
  if (exponent == 31) {
    value = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  }
  return code >> 15 ? -value : value;
}

/// IEEE 754's binary16.
void load_half(const char* from, bool swap, std::size_t n, double* to) {
  load<std::uint16_t>(from, swap, n, to);
  for (std::size_t i = 0; i < n; ++i) to[i] = half_value(static_cast<unsigned>(to[i]));
}

/// FP8 E5M2: the upper half of a binary16.
void load_e5m2(const char* from, bool, std::size_t n, double* to) {
  for (std::size_t i = 0; i < n; ++i)
    to[i] = half_value(static_cast<unsigned>(static_cast<unsigned char>(from[i])) << 8);
}

/// FP8 E4M3 without infinities.
void load_e4m3fn(const char* from, bool, std::size_t n, double* to) {
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned code = static_cast<unsigned char>(from[i]), exponent = code >> 3 & 15, mantissa = code & 7;
    const double value = (code & 127) == 127 ? std::numeric_limits<double>::quiet_NaN()
                                             : std::ldexp(exponent ? 8 + mantissa : mantissa,
                                                          std::max(static_cast<int>(exponent), 1) - 10);
    to[i] = code >> 7 ? -value : value;
  }
}

/// FP4 E2M1, a byte an element as ml_dtypes has it.
void load_e2m1fn(const char* from, bool, std::size_t n, double* to) {
  static constexpr std::array<double, 8> magnitudes{0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (std::size_t i = 0; i < n; ++i) {
    const auto code = static_cast<unsigned char>(from[i]);
    to[i] = code >> 3 & 1 ? -magnitudes[code & 7] : magnitudes[code & 7];
  }
}

struct ElementType {
  std::string_view code;  ///< as in the header, without byte order; "V": raw bytes
  std::string_view name;
  std::size_t size;
  void (*load)(const char*, bool, std::size_t, double*);
};

constexpr std::array element_types{
    ElementType{"f2", "float16", 2, load_half},
    ElementType{"f4", "float32", 4, load<float>},
    ElementType{"f8", "float64", 8, load<double>},
    ElementType{"i1", "int8", 1, load<std::int8_t>},
    ElementType{"i2", "int16", 2, load<std::int16_t>},
    ElementType{"i4", "int32", 4, load<std::int32_t>},
    ElementType{"i8", "int64", 8, load<std::int64_t>},
    ElementType{"u1", "uint8", 1, load<std::uint8_t>},
    ElementType{"u2", "uint16", 2, load<std::uint16_t>},
    ElementType{"u4", "uint32", 4, load<std::uint32_t>},
    ElementType{"u8", "uint64", 8, load<std::uint64_t>},
    ElementType{"b1", "bool", 1, load_bool},
    // Of the types of ml_dtypes that numpy.save writes as bytes, those that their size or kind gives away.
    ElementType{"V2", "bfloat16", 2, load_bfloat16},
    ElementType{"f1", "float8_e5m2", 1, load_e5m2},
    // Those that only a header which names them gives away.
    ElementType{{}, "float8_e4m3fn", 1, load_e4m3fn},
    ElementType{{}, "float4_e2m1fn", 1, load_e2m1fn},
};

/// The type that a header means: numpy's byte order and code, or a name of ml_dtypes, which some write there.
const ElementType* type_of(std::string_view descr) {
  const bool ordered = std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  for (const ElementType& type : element_types) {
    const bool of_ml_dtypes = type.code.empty() || type.code == "V2" || type.code == "f1";
    if (ordered ? !type.code.empty() && type.code == descr.substr(1) : of_ml_dtypes && type.name == descr) return &type;
  }
  return nullptr;
}

/// Why elements of such a type are refused, and what to do.
Error unknown_type(const std::string& name, const std::string& descr) {
  const std::string front = name + " has elements of type '" + shown(descr) + "'";
  const std::string_view code = std::string_view(descr).substr(1);
  if (code == "V1") {
    return Error(front +
                 ": numpy.save writes float8_e4m3fn, float8_e8m0fnu, float4_e2m1fn and others of ml_dtypes as bytes, "
                 "and the file does not say which of them; convert the array, while it knows its type, with "
                 "array.astype(numpy.float32), which loses nothing");
  }
  return Error(front +
               "; expected bfloat16, float8_e5m2, float16, float32, float64, an integer type or bool; convert it with "
               "array.astype(numpy.float32)");
}

constexpr std::size_t max_header = 10000;  // numpy's own limit

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

Error truncated(const std::string& name, std::string_view what, std::size_t expected, std::size_t there) {
  return Error(name + " is truncated: its " + std::string(what) + " should be " + std::to_string(expected) +
               " bytes long, but the file ends after " + std::to_string(there) +
               " of them; write or copy the file again");
}

/// A short part of the file.
std::string read_part(InputFile& in, std::size_t size, const std::string& name, std::string_view what) {
  std::string bytes(size, '\0');
  const std::size_t got = in.read(bytes.data(), size);
  if (got < size) throw truncated(name, what, size, got);
  return bytes;
}

/// The dictionary between preamble and data.
std::string read_dictionary(InputFile& in, const std::string& name, std::size_t& position) {
  std::array<char, 6> magic{};
  if (in.read(magic.data(), magic.size()) < magic.size() || std::memcmp(magic.data(), "\x93NUMPY", magic.size()) != 0) {
    const bool zip = std::memcmp(magic.data(), "PK", 2) == 0;
    throw Error(name +
                (zip ? " is an .npz archive, not an .npy file; save the one array with numpy.save"
                     : " is not an .npy file: it does not start with numpy's signature; write it with numpy.save"));
  }
  const auto byte = [](char c) { return static_cast<std::size_t>(static_cast<unsigned char>(c)); };
  const std::size_t version = byte(read_part(in, 2, name, "version")[0]);
  if (version < 1 || version > 3) {
    throw Error(name + " has .npy version " + std::to_string(version) +
                "; versions 1, 2 and 3 are known; write it again with numpy.save");
  }
  const std::string length = read_part(in, version == 1 ? 2 : 4, name, "header length");
  std::size_t size = 0;
  for (std::size_t i = 0; i < length.size(); ++i) size |= byte(length[i]) << 8 * i;
  if (size > max_header) {
    throw Error(name + " has a header of " + std::to_string(size) + " bytes; a numeric array's is shorter than " +
                std::to_string(max_header) + "; write the array again with numpy.save");
  }
  position = magic.size() + 2 + length.size() + size;
  return read_part(in, size, name, "header");
}

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

/// The dictionary of an array of plain numbers: 'descr' a string, 'fortran_order' a truth value, 'shape' a tuple of
/// whole numbers, in any order, each once. Anything else gives nothing.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  std::optional<Header> parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    if (!take('{')) return {};
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':')) return {};
      bool fits = false;
      if (*key == "descr" && !descr) {
        const auto value = string();
        if (value) header.descr = *value;
        fits = descr = value.has_value();
      } else if (*key == "fortran_order" && !order) {
        header.fortran_order = word("True");
        fits = order = header.fortran_order || word("False");
      } else if (*key == "shape" && !shape) {
        fits = shape = tuple(header.shape);
      }
      if (!fits || (!take(',') && !at('}'))) return {};
    }
    space();
    if (!text_.empty() || !descr || !order || !shape || header.descr.empty()) return {};
    return header;
  }

 private:
  void space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n\r"), text_.size())); }
  bool at(char c) {
    space();
    return text_.starts_with(c);
  }
  bool take(char c) {
    if (!at(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view expected) {
    space();
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::string_view> string() {
    const char quote = at('"') ? '"' : '\'';
    if (!take(quote)) return {};
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) return {};
    const std::string_view found = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return found;
  }
  bool tuple(std::vector<std::size_t>& numbers) {
    if (!take('(')) return false;
    while (!take(')')) {
      space();
      std::size_t number = 0;
      const auto [end, fault] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
      if (fault != std::errc()) return false;
      numbers.push_back(number);
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      if (!take(',') && !at(')')) return false;
    }
    return true;
  }

  std::string_view text_;
};

Header parse_header(std::string text, const std::string& name) {
  if (const auto header = HeaderParser(text).parse()) return *header;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > 160) text = text.substr(0, 157) + "...";
  throw Error(name + " does not hold an array of plain numbers: its header is \"" + shown(text) +
              "\"; expected is a floating-point, integer or boolean array: convert it with "
              "array.astype(numpy.float32)");
}

/// Takes `size` bytes to where they belong, in pieces of whole elements: `take` gets byte offset, bytes and their
/// number.
void read_data(InputFile& in, std::size_t size, const std::string& name, const std::string& what,
               const std::function<void(std::size_t, const char*, std::size_t)>& take) {
  constexpr std::size_t piece = std::size_t{1} << 22;
  std::vector<char> bytes(std::min(piece, size));
  for (std::size_t at = 0; at < size;) {
    const std::size_t wanted = std::min(piece, size - at);
    const std::size_t got = in.read(bytes.data(), wanted);
    if (got < wanted) throw truncated(name, what, size, at + got);
    take(at, bytes.data(), wanted);
    at += wanted;
  }
}

/// Extents or indices, as "2 x 3".
std::string joined(const std::vector<std::size_t>& numbers, std::string_view separator) {
  std::string text;
  for (const std::size_t number : numbers)
    text += (text.empty() ? "" : std::string(separator)) + std::to_string(number);
  return text;
}

std::size_t product(const std::vector<std::size_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
}

/// How many dimensions an array may have.
struct Dimensions {
  std::size_t least, most;
  std::string_view expected;  ///< and how one gets there
};
constexpr Dimensions of_matrix{2, 2, "a matrix of 2: reshape it with array.reshape(rows, columns)"};
constexpr Dimensions of_array{1, most_dimensions, "1 to 8: reshape it, as with array.reshape(-1)"};

void check_shape(const std::vector<std::size_t>& extents, const Dimensions& dimensions, std::size_t element,
                 const std::string& name) {
  const std::string shape = joined(extents, " x ");
  if (extents.size() < dimensions.least || extents.size() > dimensions.most) {
    throw Error(name + " holds an array of " + counted(extents.size(), "dimension") +
                (shape.empty() ? "" : " (" + shape + ")") + "; expected is " + std::string(dimensions.expected));
  }
  if (std::find(extents.begin(), extents.end(), std::size_t{0}) != extents.end())
    throw Error(name + " holds an empty array (" + shape + "); expected is at least one element");
  std::size_t most = std::numeric_limits<std::size_t>::max() / element;
  for (const std::size_t extent : extents) most /= extent;
  if (most == 0)
    throw Error(name + " announces an array of " + shape + " elements, more than can be addressed; write it again");
}

/// Where the element stands in C order that is the i-th in Fortran order.
std::size_t in_c_order(std::size_t i, const std::vector<std::size_t>& shape, std::size_t elements) {
  std::size_t place = 0, stride = elements;
  for (const std::size_t extent : shape) {
    stride /= extent;
    place += i % extent * stride;
    i /= extent;
  }
  return place;
}

std::string shortest(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

template <class T>
void write_array(OutputFile& file, std::string_view descr, std::span<const T> values,
                 const std::vector<std::size_t>& shape) {
  const char order = sizeof(T) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  std::string header = "{'descr': '" + (order + std::string(descr)) + "', 'fortran_order': False, 'shape': (" +
                       joined(shape, ", ") + (shape.size() == 1 ? "," : "") + "), }";
  constexpr std::size_t preamble = 10, alignment = 64;  // of the data, so that they can be mapped
  header.append(alignment - 1 - (preamble + header.size()) % alignment, ' ').append("\n");
  std::string front("\x93NUMPY\x01\x00", 8);
  front += {static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  file.write(front + header);
  file.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

Array read(const std::string& path, const Dimensions& dimensions) {
  InputFile in(path, "an existing .npy file");
  const std::string name = shown(path);
  std::size_t position = 0;
  const Header header = parse_header(read_dictionary(in, name, position), name);
  const ElementType* const type = type_of(header.descr);
  if (type == nullptr) throw unknown_type(name, header.descr);
  check_shape(header.shape, dimensions, type->size, name);

  Array array{path, std::string(type->name), header.shape, {}};
  const std::size_t elements = product(array.shape), size = elements * type->size;
  const std::string text = joined(array.shape, " x ") + " " + array.dtype;
  const std::string what = "data (" + text + ")";
  const auto goes_on = [&] {
    return Error(name + " goes on after its " + text +
                 " array; expected is a file with exactly one array: write it again with numpy.save");
  };
  if (in.size()) {
    const std::size_t there = *in.size() - std::min(position, *in.size());
    if (there < size) throw truncated(name, what, size, there);
    if (there > size) throw goes_on();
  }
  check_memory(static_cast<double>(elements) * sizeof(double), name + " (" + text + ")");

  const bool big = std::endian::native == std::endian::big;
  const bool swap = header.descr[0] == (big ? '<' : '>');
  const auto put = [&](std::size_t at, const char* bytes, std::size_t count) {
    const std::size_t first = at / type->size, n = count / type->size;
    if (!header.fortran_order) return type->load(bytes, swap, n, array.values.data() + first);
    std::vector<double> run(n);
    type->load(bytes, swap, n, run.data());
    for (std::size_t i = 0; i < n; ++i) array.values[in_c_order(first + i, array.shape, elements)] = run[i];
  };
  if (in.size()) {
    array.values.resize(elements);
    read_data(in, size, name, what, put);
  } else {  // a pipe: an announced size costs no memory until its bytes are there
    std::vector<char> bytes;
    read_data(in, size, name, what,
              [&](std::size_t, const char* from, std::size_t n) { bytes.insert(bytes.end(), from, from + n); });
    array.values.resize(elements);
    put(0, bytes.data(), size);
  }
  char more = 0;
  if (in.read(&more, 1) != 0) throw goes_on();
  return array;
}

/// `where`: the place of value i.
std::vector<float> narrowed(std::span<const double> values, const std::string& path,
                            const std::function<std::string(std::size_t)>& where) {
  constexpr double most = FLT_MAX;
  constexpr double beyond = 0x1.ffffffp127;  // from here on the nearest is 2^128
  std::vector<float> result(values.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double value = values[i];
    if (std::abs(value) < beyond) {
      result[i] = static_cast<float>(std::clamp(value, -most, most));
      continue;
    }
    const std::string what = "The value " + shortest(value) + " " + where(i) + " (counted from 0) of " + shown(path);
    if (std::isfinite(value)) {
      throw Error(what + " is beyond the range of float32 (its largest is " + shortest(most) +
                  "); scale the array first");
    }
    throw Error(what + " cannot be quantized; expected are finite numbers: replace NaN and infinity first");
  }
  return result;
}

}  // namespace

Array read_array(const std::string& path) { return read(path, of_array); }

Matrix read_matrix(const std::string& path) {
  Array array = read(path, of_matrix);
  return {array.path, array.dtype, array.shape[0], array.shape[1], std::move(array.values)};
}

std::vector<float> to_float32(const Matrix& matrix) {
  return narrowed(matrix.values, matrix.path, [&](std::size_t i) {
    return "in row " + std::to_string(i / matrix.cols) + ", column " + std::to_string(i % matrix.cols);
  });
}

std::vector<float> to_float32(const Array& array) {
  return narrowed(array.values, array.path, [&](std::size_t i) {
    std::vector<std::size_t> indices(array.shape.size());
    for (std::size_t d = indices.size(); d-- > 0; i /= array.shape[d]) indices[d] = i % array.shape[d];
    return "at [" + joined(indices, ", ") + "]";
  });
}

void write_npy(OutputFile& file, std::span<const float> values, const std::vector<std::size_t>& shape) {
  write_array(file, "f4", values, shape);
}

void write_npy(OutputFile& file, std::span<const std::uint8_t> values, const std::vector<std::size_t>& shape) {
  write_array(file, "u1", values, shape);
}

void write_npy(OutputFile& file, std::span<const std::int8_t> values, const std::vector<std::size_t>& shape) {
  write_array(file, "i1", values, shape);
}

void write_npy(OutputFile& file, std::span<const std::uint16_t> values, const std::vector<std::size_t>& shape) {
  write_array(file, "u2", values, shape);
}

}  // namespace narrowgauge::io
