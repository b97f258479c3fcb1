// SPDX-License-Identifier: Apache-2.0
// Matrices from and to .npy files (numpy.lib.format, versions 1 to 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "narrowgauge/io/output.hpp"

namespace narrowgauge::io {

/// A 2-D array as it stood in its file.
struct Matrix {
  std::string path;
  std::string dtype;  ///< numpy's name: "float16", "int32"
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<double> values;  ///< row-major; exact, but for 64-bit integers beyond 2^53, which are rounded to nearest
};

/// Reads a 2-D array of float16/32/64, integers, bool, or bfloat16 and float8_e5m2 as numpy saves those of ml_dtypes,
/// C or Fortran order, either byte order, at least one element. Its size is checked against file and memory before it
/// is read. Throws Error.
Matrix read_matrix(const std::string& path);

/// The matrix in float32, which is what the quantizers take: rounded to nearest even. Throws Error naming row and
/// column of a NaN, an infinity, or a value beyond float32's range.
std::vector<float> to_float32(const Matrix& matrix);

/// Writes rows x cols row-major elements as float32 / uint8.
void write_npy(OutputFile& file, std::span<const float> values, std::size_t rows, std::size_t cols);
void write_npy(OutputFile& file, std::span<const std::uint8_t> values, std::size_t rows, std::size_t cols);

}  // namespace narrowgauge::io
