// SPDX-License-Identifier: Apache-2.0
// The .npy header is parsed and written by xtensor. Preamble and payload are read here, because xtensor 0.24 does not
// notice a file that ends early, misreads header lengths whose low byte is above 127, and has no float16.
#include "npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <regex>
#include <xtensor/xadapt.hpp>
#include <xtensor/xnpy.hpp>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

/// The bytes of one element of type T, in its file's byte order, as a double.
template <class T>
double load(const char* bytes, bool swap) {
  std::array<char, sizeof(T)> raw;
  std::copy_n(bytes, sizeof(T), raw.begin());
  if (swap) std::reverse(raw.begin(), raw.end());
  return static_cast<double>(std::bit_cast<T>(raw));
}

double load_half(const char* bytes, bool swap) {
  return decode(Format::fp16, static_cast<std::uint32_t>(load<std::uint16_t>(bytes, swap)));
}

struct ElementType {
  std::string_view code;  ///< as in the header, without byte order
  std::string_view name;
  std::size_t size;
  double (*load)(const char*, bool);
};

constexpr std::array element_types{
    ElementType{"f2", "float16", 2, load_half},          ElementType{"f4", "float32", 4, load<float>},
    ElementType{"f8", "float64", 8, load<double>},       ElementType{"i1", "int8", 1, load<std::int8_t>},
    ElementType{"i2", "int16", 2, load<std::int16_t>},   ElementType{"i4", "int32", 4, load<std::int32_t>},
    ElementType{"i8", "int64", 8, load<std::int64_t>},   ElementType{"u1", "uint8", 1, load<std::uint8_t>},
    ElementType{"u2", "uint16", 2, load<std::uint16_t>}, ElementType{"u4", "uint32", 4, load<std::uint32_t>},
    ElementType{"u8", "uint64", 8, load<std::uint64_t>}, ElementType{"b1", "bool", 1, load<std::uint8_t>},
};

constexpr std::size_t max_header = 10000;  // numpy's own limit

/// Reads exactly `size` bytes, in pieces, so that an announced size costs no memory until its bytes are there.
std::vector<char> read_bytes(std::istream& in, std::size_t size, const std::string& path, std::string_view what) {
  constexpr std::size_t piece = std::size_t{1} << 24;
  std::vector<char> bytes;
  while (bytes.size() < size) {
    const std::size_t at = bytes.size();
    bytes.resize(at + std::min(piece, size - at));
    in.read(bytes.data() + at, static_cast<std::streamsize>(bytes.size() - at));
    if (!in) {
      throw Error(path + " is truncated: its " + std::string(what) + " should be " + std::to_string(size) +
                  " bytes long, but the file ends after " + std::to_string(at + static_cast<std::size_t>(in.gcount())) +
                  " of them; write or copy the file again");
    }
  }
  return bytes;
}

/// The dictionary between preamble and data.
std::string read_header(std::istream& in, const std::string& path) {
  std::array<char, 6> magic{};
  in.read(magic.data(), magic.size());
  if (!in || std::memcmp(magic.data(), "\x93NUMPY", magic.size()) != 0) {
    const bool zip = in && std::memcmp(magic.data(), "PK", 2) == 0;
    throw Error(path +
                (zip ? " is an .npz archive, not an .npy file; save the one array with numpy.save"
                     : " is not an .npy file: it does not start with numpy's signature; write it with numpy.save"));
  }
  const auto byte = [](char c) { return static_cast<std::size_t>(static_cast<unsigned char>(c)); };
  const std::size_t version = byte(read_bytes(in, 2, path, "version")[0]);
  if (version < 1 || version > 3) {
    throw Error(path + " has .npy version " + std::to_string(version) +
                "; versions 1, 2 and 3 are known; write it again with numpy.save");
  }
  const std::vector<char> length = read_bytes(in, version == 1 ? 2 : 4, path, "header length");
  std::size_t size = 0;
  for (std::size_t i = 0; i < length.size(); ++i) size |= byte(length[i]) << 8 * i;
  if (size > max_header) {
    throw Error(path + " has a header of " + std::to_string(size) + " bytes; a numeric array's is shorter than " +
                std::to_string(max_header) + "; write the array again with numpy.save");
  }
  const std::vector<char> header = read_bytes(in, size, path, "header");
  return {header.begin(), header.end()};
}

/// What a header says, for use in a sentence: one line, printable, not too long.
std::string quoted(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > 160) text = text.substr(0, 157) + "...";
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7E; }, '?');
  return text;
}

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

Header parse_header(const std::string& text, const std::string& path) {
  // xtensor takes a missing or non-numeric shape for something: this guard is what it lacks. Numbers of 19 digits fit.
  static const std::regex shape(R"('shape'\s*:\s*\(\s*((\d{1,19}\s*,\s*)*\d{0,19})\s*\))");
  Header header;
  try {
    if (text.find('{') == std::string::npos || !std::regex_search(text, shape)) throw std::runtime_error("no shape");
    xt::detail::parse_header(text, header.descr, &header.fortran_order, header.shape);
  } catch (const std::runtime_error&) {
    throw Error(
        path + " does not hold an array of plain numbers: its header is \"" + quoted(text) +
        "\"; expected is a floating-point, integer or boolean array: convert it with array.astype(numpy.float32)");
  }
  return header;
}

template <class T>
void write_array(const std::string& path, std::span<const T> values, std::size_t rows, std::size_t cols) {
  const std::vector<std::size_t> shape{rows, cols};
  std::ofstream out(path, std::ios::binary);
  xt::detail::dump_npy_stream(out, xt::adapt(values.data(), values.size(), xt::no_ownership(), shape));
  out.close();
  if (!out) throw Error(path + " could not be written completely; check free space and permissions");
}

}  // namespace

Matrix read_matrix(const std::string& path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) throw Error(path + " is a directory; name an .npy file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path + " cannot be opened: " + std::strerror(errno) + "; name an existing .npy file");

  const Header header = parse_header(read_header(in, path), path);
  const auto type = std::find_if(element_types.begin(), element_types.end(), [&](const ElementType& t) {
    return t.code == std::string_view(header.descr).substr(1);
  });
  if (type == element_types.end()) {
    throw Error(path + " has elements of type '" + header.descr +
                "'; expected is float16, float32, float64, an integer type or bool: convert it with "
                "array.astype(numpy.float32)");
  }
  std::string shape;
  for (const std::size_t extent : header.shape) shape += (shape.empty() ? "" : " x ") + std::to_string(extent);
  if (header.shape.size() != 2) {
    throw Error(path + " holds an array of " + counted(header.shape.size(), "dimension") +
                (shape.empty() ? "" : " (" + shape + ")") +
                "; expected is a matrix of 2: reshape it with array.reshape(rows, columns)");
  }

  Matrix matrix{path, std::string(type->name), header.shape[0], header.shape[1], {}};
  if (matrix.rows == 0 || matrix.cols == 0) {
    throw Error(path + " holds an empty matrix (" + shape + "); expected is at least one row and one column");
  }
  if (matrix.rows > std::numeric_limits<std::size_t>::max() / type->size / matrix.cols) {
    throw Error(path + " announces a matrix of " + shape + " elements, more than can be addressed; write it again");
  }
  const std::size_t elements = matrix.rows * matrix.cols;
  const std::vector<char> bytes =
      read_bytes(in, elements * type->size, path, "data (" + shape + " " + matrix.dtype + ")");
  if (in.peek() != std::ifstream::traits_type::eof()) {
    throw Error(path + " goes on after its " + shape + " " + matrix.dtype +
                " matrix; expected is a file with exactly one array: write it again with numpy.save");
  }

  const bool swap = (header.descr[0] == '>') != (std::endian::native == std::endian::big) && header.descr[0] != '|';
  matrix.values.resize(elements);
  std::size_t at = 0;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t col = 0; col < matrix.cols; ++col) {
      const std::size_t from = header.fortran_order ? col * matrix.rows + row : at;
      matrix.values[at++] = type->load(bytes.data() + from * type->size, swap);
    }
  }
  return matrix;
}

std::vector<float> to_float32(const Matrix& matrix) {
  std::vector<float> result(matrix.values.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double value = matrix.values[i];
    // A conversion out of float32's range is undefined in C++; the rounding place of the library defines it.
    const auto bits = encode(Format::fp32, value, {.overflow = Overflow::ieee});
    result[i] = std::bit_cast<float>(bits);
    if (std::isfinite(result[i])) continue;
    const std::string where = " in row " + std::to_string(i / matrix.cols) + ", column " +
                              std::to_string(i % matrix.cols) + " (counted from 0) of " + matrix.path;
    if (std::isfinite(value)) {
      throw Error("The value " + number(value) + where +
                  " is beyond the range of float32 (3.40282e+38); scale the matrix first");
    }
    throw Error("The value " + number(value) + where +
                " cannot be quantized; expected are finite numbers: replace NaN and infinity first");
  }
  return result;
}

void check_writable(const std::string& path) {
  errno = 0;
  if (!std::ofstream(path, std::ios::binary | std::ios::app)) {
    throw Error(path + " cannot be written: " + std::strerror(errno) + "; name a file in an existing, writable folder");
  }
}

void write_npy(const std::string& path, std::span<const float> values, std::size_t rows, std::size_t cols) {
  write_array(path, values, rows, cols);
}

void write_npy(const std::string& path, std::span<const std::uint8_t> values, std::size_t rows, std::size_t cols) {
  write_array(path, values, rows, cols);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) throw Error(path + " could not be written completely; check free space and permissions");
}

}  // namespace narrowgauge::cli
