// SPDX-License-Identifier: Apache-2.0
// Arrays from and to .npy files (numpy.lib.format, versions 1 to 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "narrowgauge/io/output.hpp"

namespace narrowgauge::io {

inline constexpr std::size_t most_dimensions = 8;  ///< of an array that is read

/// An array as it stood in its file.
struct Array {
  std::string path;
  std::string dtype;               ///< numpy's name: "float16", "int32"
  std::vector<std::size_t> shape;  ///< 1 to most_dimensions extents, none of them 0
  std::vector<double> values;  ///< C order; exact, but for 64-bit integers beyond 2^53, which are rounded to nearest
};

/// One of two dimensions.
struct Matrix {
  std::string path;
  std::string dtype;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<double> values;  ///< row-major
};

/// Reads an array of float16/32/64, integers, bool, or bfloat16 and float8_e5m2 as numpy saves those of ml_dtypes, of 1
/// to most_dimensions dimensions, C or Fortran order, either byte order, at least one element. Its size is checked
/// against file and memory before it is read. Throws Error.
Array read_array(const std::string& path);
/// The same of an array that has to have 2 dimensions.
Matrix read_matrix(const std::string& path);

/// The numbers in float32, which is what the quantizers take: rounded to nearest even. Throws Error naming the place of
/// a NaN, an infinity, or a value beyond float32's range: row and column, or all indices.
std::vector<float> to_float32(const Matrix& matrix);
std::vector<float> to_float32(const Array& array);

/// Writes elements in C order, as many as the product of the extents, as float32 / uint8 / int8 / uint16.
void write_npy(OutputFile& file, std::span<const float> values, const std::vector<std::size_t>& shape);
void write_npy(OutputFile& file, std::span<const std::uint8_t> values, const std::vector<std::size_t>& shape);
void write_npy(OutputFile& file, std::span<const std::int8_t> values, const std::vector<std::size_t>& shape);
void write_npy(OutputFile& file, std::span<const std::uint16_t> values, const std::vector<std::size_t>& shape);

}  // namespace narrowgauge::io
