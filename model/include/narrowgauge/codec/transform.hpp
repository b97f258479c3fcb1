// SPDX-License-Identifier: Apache-2.0
// Transform coding of feature maps: groups of channels are turned into their principal components, which are quantized
// under one step and coded (docs/codec.md, The transform). After "Feature map transform coding", arXiv 1905.10830.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/codec/feature_map.hpp"
#include "narrowgauge/codec/integer_transform.hpp"

namespace narrowgauge {

inline constexpr std::size_t largest_group = 128;
inline constexpr std::size_t most_tables = 8;
inline constexpr int transform_codes = 32767;  ///< largest magnitude of the codes before and behind the transform

enum class Basis : std::uint8_t {
  identity,  ///< every channel by itself, and no mean taken away: the map is quantized as it is
  klt,       ///< principal components of the calibration data (Karhunen-Loeve transform)
};

struct TransformOptions {
  Basis basis = Basis::klt;
  std::size_t axis = 1;       ///< the dimension of channels
  std::size_t group = 0;      ///< channels of a group, a divisor of the channels; 0: their largest divisor up to 64
  unsigned bits = 8;          ///< of the components' codes, 2 to 8
  unsigned matrix_bits = 12;  ///< of the integer matrices, 8 to 16
  bool relu = true;           ///< behind the inverse
  double step = 0;            ///< of the components; 0: their largest magnitude / (2^(bits - 1) - 1)
};

/// What calibration finds for a layer. Codes before the transform are x / input_step, codes of components are component
/// / step, codes behind the inverse stand for output_step each; all are rounded to nearest.
struct Transform {
  std::size_t axis = 1, channels = 0, group = 0;
  unsigned bits = 8, matrix_bits = 12;
  bool relu = true;
  Basis basis = Basis::klt;
  float input_step = 0, step = 0, output_step = 0;
  std::vector<double> mean;     ///< of every channel
  std::vector<double> vectors;  ///< group after group, row k the unit vector of component k, the largest variance first
  std::vector<double> variance;                    ///< of every component
  std::vector<IntegerTransform> forward, inverse;  ///< of every group
};

/// Means, covariances and components of the map `x`, and the integer matrices. Deterministic: the same bits on every
/// machine (cyclic Jacobi rotations in float64, no library). The range of codes before and behind the transform is
/// twice that of `x`. Throws Error for numbers that are not finite, shapes that do not fit, a map of zeros, options out
/// of range, and for a step that the integer matrices cannot hold.
Transform calibrate_transform(std::span<const float> x, std::span<const std::uint64_t> shape,
                              const TransformOptions& options = {});
/// The transform under another step, above 0; its components stay. Throws Error for a step that the integer matrices
/// cannot hold.
Transform with_step(Transform transform, double step);

/// Bounds on what the integers add to the exact transform of codes of at most `largest` magnitude where nothing is
/// clipped, in units of the result's codes: a half for rounding it, and what rounding the matrix and bias can do.
double forward_error_bound(const Transform& transform, double largest = transform_codes);
double inverse_error_bound(const Transform& transform);
/// A bound on the error of a value behind forward and inverse, in units of the map, where nothing was clipped. ReLU
/// makes none of the three bounds larger.
double error_bound(const Transform& transform, double largest = transform_codes);

/// Codes of a map's components, component after component (of the first group, then the next), each of the map's
/// vectors in C order of the other dimensions.
std::vector<std::int8_t> forward_transform(std::span<const float> x, std::span<const std::uint64_t> shape,
                                           const Transform& transform);
/// The map from them: codes x output_step, float32, in C order.
std::vector<float> inverse_transform(std::span<const std::int8_t> codes, std::span<const std::uint64_t> shape,
                                     const Transform& transform);

struct TransformFileOptions {
  std::size_t tables = 4;   ///< most codes of the map, 1 to most_tables; components of like variance share one
  std::size_t tile = 4096;  ///< and zero_runs: as of CompressOptions
  bool zero_runs = true;
};

/// The file, which has the inverse transform in it. Throws Error as compress() and for a map whose channels are not
/// the transform's.
std::vector<std::uint8_t> compress_transformed(std::span<const float> x, std::vector<std::uint64_t> shape,
                                               const Transform& transform, const TransformFileOptions& options = {});

/// The head of such a file.
struct TransformedHead {
  std::vector<std::uint64_t> shape;
  std::size_t axis = 0, group = 0, values = 0;
  bool relu = false, diagonal = false;
  float step = 0, output_step = 0;
  std::vector<std::uint8_t> table_of;     ///< of every component
  std::vector<IntegerTransform> inverse;  ///< of every group
  struct Part {
    std::size_t begin, size;  ///< a file of compress()
  };
  std::vector<Part> parts;  ///< of every table
};
/// Whether the file begins as one of compress_transformed does.
bool is_transformed(std::span<const std::uint8_t> file);
/// Throws Error for what is no such file, another version, a wrong checksum, anything that does not fit.
TransformedHead read_transformed_head(std::span<const std::uint8_t> file);
/// The map: codes x output_step. Throws Error as read_transformed_head and decompress do.
std::vector<float> decompress_transformed(std::span<const std::uint8_t> file, const TransformedHead& head);

}  // namespace narrowgauge
