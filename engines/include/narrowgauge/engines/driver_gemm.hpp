// SPDX-License-Identifier: Apache-2.0
// A matrix product of the C++ model's operands through the C driver.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "narrowgauge/codec/huffman.hpp"
#include "narrowgauge/codec/tile_packet.hpp"
#include "narrowgauge/engines/engine.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/ng_tile.h"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"
#include "narrowgauge/quant/requantize.hpp"
#include "narrowgauge/sparse/sparse_product.hpp"

namespace narrowgauge {

/// Throws Error with the driver's text, and with what the port says of it, unless `result` is NG_OK.
inline void expect_ok(ng_result_t result, const std::string& what, const std::string& why = {}) {
  if (result != NG_OK) throw Error(what + ": " + ng_result_text(result) + (why.empty() ? "" : ": " + why));
}

/// The driver's name of such operands. Throws Error for what no tile computes, such as FP8 that is not OCP's.
inline ng_format_t driver_format(Scheme scheme, Format element) {
  const OperandFormat* const format = find_operand_format(scheme, element);
  if (format == nullptr) {
    throw Error("the tile does not compute " + std::string(desc(scheme).name) + " of " +
                std::string(desc(element).name) +
                ": use the model engine, or quantize to one of e4m3, e5m2, nvfp4, mxfp4, mxfp8 and mxfp6");
  }
  return static_cast<ng_format_t>(format->number);
}

/// The driver's view of `q`, whose vectors must outlive it. Throws Error as driver_format() does, and for FP32
/// scales of parts of a tensor.
inline ng_matrix_t driver_matrix(const QuantizedMatrix& q) {
  if (q.scaling != Scaling::tensor) {
    throw Error(
        "the tile scales a product by one factor, and this operand has FP32 scales of parts: use the model engine, or "
        "quantize with one scale for the tensor");
  }
  return {.format = driver_format(q.scheme, q.element),
          .rows = static_cast<std::uint32_t>(q.rows),
          .k = static_cast<std::uint32_t>(q.k),
          .k_padded = static_cast<std::uint32_t>(q.k_padded),
          .codes = q.codes.data(),
          .scales = q.scales.empty() ? nullptr : q.scales.data(),
          .sparsity = NG_DENSE,
          .metadata = nullptr};
}

/// The same of an operand of a product whose A is sparse.
inline ng_matrix_t driver_matrix(const SparseOperand& q) {
  return {.format = driver_format(q.scheme, q.element),
          .rows = static_cast<std::uint32_t>(q.rows),
          .k = static_cast<std::uint32_t>(q.k),
          .k_padded = static_cast<std::uint32_t>(q.k_padded),
          .codes = q.codes.data(),
          .scales = q.scales.empty() ? nullptr : q.scales.data(),
          .sparsity = q.pattern.pairs ? NG_4_8_PAIR : NG_2_4,
          .metadata = q.metadata.empty() ? nullptr : q.metadata.data()};
}

/// Results as the tile delivers them, BF16 codes as the floats that they are.
inline std::vector<float> floats_of(const std::vector<std::uint8_t>& bytes, bool bf16) {
  const std::size_t size = bf16 ? 2 : 4;
  std::vector<float> c(bytes.size() / size);
  for (std::size_t i = 0; i < c.size(); ++i) {
    std::uint32_t code = 0;
    std::memcpy(&code, bytes.data() + i * size, size);
    c[i] = std::bit_cast<float>(bf16 ? code << 16 : code);
  }
  return c;
}

/// What results become, and their tensor scale.
struct Requantized {
  ResultFormat format;
  float tensor_scale;
};

/// The driver's name of it.
inline ng_format_t driver_format(ResultFormat format) {
  return driver_format(desc(format).scheme, desc(format).element);
}

/// C = A x B on `tile`: operands packed, memory for results. Run it with ng_tile_gemm(&tile, &product.config), or step
/// by step; `config` may be changed before. Where the scales are two factors (epilogue_scales), the tile multiplies by
/// the first and result() by the second. With `results` they are requantized; with `sparse` A has that pattern.
/// Throws Error where the driver cannot pack, the operands of a sparse product are not such (check_sparse_product), and
/// for results in BF16 or requantized ones with two factors, which would be rounded in between.
class DriverGemm {
 public:
  DriverGemm(const ng_tile_t& tile, const QuantizedMatrix& a, const QuantizedMatrix& b, bool bf16 = false,
             const std::optional<Requantized>& results = std::nullopt,
             const std::optional<NmPattern>& sparse = std::nullopt)
      : scales_(epilogue_scales(a.tensor_scale, b.tensor_scale)),
        c_(results ? image_bytes(tile, results->format, a.rows, b.rows) : a.rows * b.rows * (bf16 ? 2 : 4)),
        scratch_(std::size_t{tile.stream_bytes} * 256) {
    if ((bf16 || results) && scales_.second != 1.0F) {
      throw Error(
          "the product of the tensor scales " + std::to_string(std::log2(a.tensor_scale)) + " and " +
          std::to_string(std::log2(b.tensor_scale)) +
          " (as powers of two) is no normal FP32 number, so that results take two factors: ask for FP32 results, "
          "or scale an operand by a power of two");
    }
    const ng_matrix_t left = driver_matrix(a), right = driver_matrix(b);
    if (sparse) {
      const SparseOperand stored = compress_operand(a, *sparse), beside = widen_operand(b, *sparse);
      config.a = pack(tile, driver_matrix(stored), NG_SIDE_A, a_);
      config.b = pack(tile, driver_matrix(beside), NG_SIDE_B, b_);
    } else {
      config.a = pack(tile, left, NG_SIDE_A, a_);
      config.b = pack(tile, right, NG_SIDE_B, b_);
    }
    config.c = c_.data();
    config.c_bytes = c_.size();
    config.scale = std::bit_cast<std::uint32_t>(scales_.first);
    config.bf16 = bf16;
    config.requantize = results.has_value();
    if (results) {
      format_ = results->format;
      config.c_format = driver_format(format_);
      config.tensor_scale = std::bit_cast<std::uint32_t>(results->tensor_scale);
    }
    config.scratch = scratch_.data();
    config.scratch_bytes = scratch_.size();
  }
  DriverGemm(const DriverGemm&) = delete;
  DriverGemm& operator=(const DriverGemm&) = delete;

  /// C, row-major.
  std::vector<float> result() const {
    std::vector<float> c = floats_of(c_, config.bf16);
    if (scales_.second != 1.0F)
      for (float& x : c) x = epilogue(x, scales_.second);
    return c;
  }

  /// C as the next operand A, from the images that the tile has sent, compressed or not.
  QuantizedMatrix requantized(const ng_tile_t& tile) const {
    const std::vector<std::uint8_t> sent = c_segments_.empty() ? c_ : decoded(tile);
    QuantizedMatrix q;
    q.scheme = desc(format_).scheme;
    q.element = desc(format_).element;
    q.rows = config.a.rows;
    q.k = config.b.rows;
    const std::size_t block = block_size(q.scheme), lanes = tile.lanes;
    q.k_padded = (q.k + block - 1) / block * block;
    q.tensor_scale = std::bit_cast<float>(config.tensor_scale);
    const std::size_t images = (q.k + lanes - 1) / lanes, blocks = lanes / 16;
    const bool wide = format_set::element_bits(tile.format_set, tile.mx) == 8;  // a byte a code
    for (std::size_t row = 0; row < q.rows; ++row) {
      const std::size_t in_panel = row % tile.rows;
      const auto image_of = [&](std::size_t i) {
        return sent.data() + (row / tile.rows * images + i / lanes) * tile.a_image;
      };
      for (std::size_t i = 0; i < q.k_padded; ++i) {
        const std::size_t at = in_panel * lanes + i % lanes;
        const unsigned code = wide ? image_of(i)[at] : image_of(i)[at / 2] >> at % 2 * 4 & 0xF;
        q.codes.push_back(i < q.k ? static_cast<std::uint8_t>(code) : std::uint8_t{0});
      }
      if (q.scheme != Scheme::nvfp4) continue;
      const std::size_t scales = tile.rows * lanes / (wide ? 1 : 2) + in_panel * blocks;
      for (std::size_t i = 0; i < q.k_padded; i += block) q.scales.push_back(image_of(i)[scales + i % lanes / block]);
    }
    return q;
  }

  /// C in INT8: sums times the factor, plus the zero point.
  void integers(float factor, int zero_point) {
    c_.resize(std::size_t{config.a.rows} * config.b.rows);
    config.c = c_.data();
    config.c_bytes = c_.size();
    config.scale = std::bit_cast<std::uint32_t>(factor);
    config.int8 = true;
    config.zero_point = zero_point;
  }
  std::vector<std::int8_t> integers() const { return {c_.begin(), c_.end()}; }

  /// What is chosen travels compressed. Throws Error where the tile has no decoder or encoder, or does not answer, and
  /// for a C that is not requantized.
  void compress(const ng_tile_t& tile, const Compressed& chosen) {
    if (chosen.c) compress_results(tile);
    if (chosen.a || chosen.b) compress_operands(tile, chosen);
  }

  /// The code of compressed results.
  const CodeLengths& result_lengths() const { return result_lengths_; }

  ng_gemm_config_t config{};

 private:
  /// Under a code for the bytes of A, each counted once more than it is there: of results no more is known yet than
  /// that they are like what is multiplied.
  void compress_results(const ng_tile_t& tile) {
    if (!config.requantize) throw Error("results in FP32 or BF16 do not come compressed: requantize them");
    std::array<std::uint64_t, huffman_symbols> counts{};
    counts.fill(1);
    for (const std::uint8_t byte : a_) ++counts[byte];
    result_lengths_ = make_code(counts);
    expect_ok(ng_tile_load_result_code(&tile, pack_code(result_lengths_).data()), "the code of compressed results");
    std::size_t bytes = 0;
    std::uint32_t segments = 0;
    expect_ok(ng_tile_compressed_size(&tile, config.a.rows, config.b.rows, &bytes, &segments), "compressed results");
    c_.resize(bytes);
    c_segments_.resize(segments + std::size_t{1});
    config.c = c_.data();
    config.c_bytes = bytes;
    config.c_segments = c_segments_.data();
  }

  /// Under one code for the bytes of both.
  void compress_operands(const ng_tile_t& tile, const Compressed& chosen) {
    std::array<std::uint64_t, huffman_symbols> counts{};
    if (chosen.a)
      for (const std::uint8_t byte : a_) ++counts[byte];
    if (chosen.b)
      for (const std::uint8_t byte : b_) ++counts[byte];
    const CodeLengths lengths = make_code(counts);
    expect_ok(ng_tile_load_code(&tile, pack_code(lengths).data()), "the code of compressed operands");
    if (chosen.a) compress(tile, config.a, a_, a_segments_, lengths);
    if (chosen.b) compress(tile, config.b, b_, b_segments_, lengths);
  }

  static void compress(const ng_tile_t& tile, ng_operand_t& operand, std::vector<std::uint8_t>& images,
                       std::vector<std::size_t>& segments, const CodeLengths& lengths) {
    const auto table = encoder_table(lengths);
    std::uint32_t count = 0;
    expect_ok(ng_tile_segments(&tile, &operand, &count), "segments of a compressed operand");
    std::vector<std::uint8_t> data;
    std::size_t start = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      segments.push_back(data.size());
      std::size_t end = 0;
      expect_ok(ng_tile_segment(&tile, &operand, i + 1, &end), "segments of a compressed operand");
      const auto packet = encode_packet(std::span(images).subspan(start, end - start), table, tile.stream_bytes);
      data.insert(data.end(), packet.begin(), packet.end());
      start = end;
    }
    segments.push_back(data.size());
    images = std::move(data);
    operand.data = images.data();
    operand.bytes = images.size();
    operand.segments = segments.data();
  }

  /// The images of a C that came compressed.
  std::vector<std::uint8_t> decoded(const ng_tile_t& tile) const {
    const DecoderTable table = decoder_table(result_lengths_);
    std::vector<std::uint8_t> images;
    for (std::size_t i = 0; i + 1 < c_segments_.size(); ++i) {
      const auto segment = std::span(c_).subspan(c_segments_[i], c_segments_[i + 1] - c_segments_[i]);
      const DecodedPacket packet = decode_packet(segment, table, tile.stream_bytes);
      if (packet.fault) throw Error("segment " + std::to_string(i) + " of the compressed results is broken");
      images.insert(images.end(), packet.bytes.begin(), packet.bytes.end());
    }
    return images;
  }

  /// Bytes of an operand A of `rows` vectors of `k`.
  static std::size_t image_bytes(const ng_tile_t& tile, ResultFormat format, std::size_t rows, std::size_t k) {
    const std::uint8_t some = 0;
    const auto padded = static_cast<std::uint32_t>((k + 15) / 16 * 16);
    const ng_matrix_t matrix{.format = driver_format(format),
                             .rows = static_cast<std::uint32_t>(rows),
                             .k = static_cast<std::uint32_t>(k),
                             .k_padded = padded,
                             .codes = &some,
                             .scales = &some,
                             .sparsity = NG_DENSE,
                             .metadata = nullptr};
    std::size_t bytes = 0;
    expect_ok(ng_tile_pack_size(&tile, &matrix, NG_SIDE_A, &bytes), "requantized results");
    return bytes;
  }

  static ng_operand_t pack(const ng_tile_t& tile, const ng_matrix_t& matrix, ng_side_t side,
                           std::vector<std::uint8_t>& buffer) {
    const std::string name = side == NG_SIDE_A ? "packing A for the tile" : "packing B for the tile";
    std::size_t bytes = 0;
    expect_ok(ng_tile_pack_size(&tile, &matrix, side, &bytes), name);
    buffer.resize(bytes);
    ng_operand_t operand{};
    expect_ok(ng_tile_pack(&tile, &matrix, side, buffer.data(), bytes, &operand), name);
    return operand;
  }

  EpilogueScales scales_;
  std::vector<std::uint8_t> a_, b_, c_, scratch_;
  std::vector<std::size_t> a_segments_, b_segments_, c_segments_;
  CodeLengths result_lengths_{};
  ResultFormat format_ = ResultFormat::nvfp4;
};

}  // namespace narrowgauge
