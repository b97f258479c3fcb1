// SPDX-License-Identifier: Apache-2.0
// Matrices from and to .npy files. Every fault of a file is an Error: a sentence that names the file and the fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace narrowgauge::cli {

/// A 2-D array as it stood in its file.
struct Matrix {
  std::string path;
  std::string dtype;  ///< numpy's name: "float16", "int32"
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<double> values;  ///< row-major; exact, but for 64-bit integers beyond 2^53, which are rounded to nearest
};

/// Reads a 2-D array of float16/32/64, integers or bool, C or Fortran order, either byte order, at least one element.
Matrix read_matrix(const std::string& path);

/// The matrix in float32, which is what the quantizers take: rounded to nearest even. Throws Error naming row and
/// column of a NaN, an infinity, or a value beyond float32's range.
std::vector<float> to_float32(const Matrix& matrix);

/// Throws Error unless `path` can be written. Called before long work, so that its result has somewhere to go.
void check_writable(const std::string& path);

/// Writes rows x cols row-major elements as float32 / uint8.
void write_npy(const std::string& path, std::span<const float> values, std::size_t rows, std::size_t cols);
void write_npy(const std::string& path, std::span<const std::uint8_t> values, std::size_t rows, std::size_t cols);

/// Writes text, with the same errors as write_npy.
void write_text(const std::string& path, const std::string& text);

}  // namespace narrowgauge::cli
