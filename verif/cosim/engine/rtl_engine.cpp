// SPDX-License-Identifier: Apache-2.0
#include "rtl_engine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "mac_array_model.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace narrowgauge {

// rtl_configurations.inc, generated from configurations.json: NG_ARRAY(name, rows, cols, lanes, format_set, max_beats)
// lines.
#define NG_ARRAY(name, ...)                                                   \
  std::unique_ptr<MacArrayModel> make_array_##name(const std::string& trace); \
  std::unique_ptr<MacArrayModel> make_traced_array_##name(const std::string& trace);
#include "rtl_configurations.inc"
#undef NG_ARRAY

namespace {

struct Array {
  MacArrayConfig config;
  MacArrayFactory make, make_traced;
};
constexpr Array arrays[] = {
#define NG_ARRAY(name, ...) {{#name, __VA_ARGS__}, make_array_##name, make_traced_array_##name},
#include "rtl_configurations.inc"
#undef NG_ARRAY
};

/// a_fmt_i or b_fmt_i of ng_mac_array.
std::uint8_t format_code(Format element) { return element == Format::e4m3 ? 0 : element == Format::e5m2 ? 1 : 2; }
/// Its bit in FormatSet.
unsigned format_bit(Format element) { return element == Format::e4m3 ? 2 : element == Format::e5m2 ? 4 : 1; }

const Array& array_for(const QuantizedMatrix& a, const QuantizedMatrix& b) {
  if (a.scheme == Scheme::mxfp4) {
    throw Error(
        "the rtl engine has no array for mxfp4, whose block scales span too far for exact sums: use the model engine, "
        "or quantize to nvfp4 or fp8");
  }
  const unsigned needed = format_bit(a.element) | format_bit(b.element);
  for (const Array& array : arrays) {
    if ((array.config.format_set & needed) == needed) return array;
  }
  throw Error("the rtl engine has no array for " + std::string(desc(a.element).name) + " times " +
              std::string(desc(b.element).name) + ": add one to verif/cosim/engine/configurations.json");
}

std::size_t ceil_div(std::size_t x, std::size_t y) { return (x + y - 1) / y; }

/// One operand as the images of its port, beat after beat, group of rows (or columns) after group; zeros where it ends.
class PortImages {
 public:
  /// `vectors` of `lanes` elements of `elem_width` bits, and of `blocks` scales, a beat. Image sizes are whole 64-bit
  /// words, which covers every way in which Verilator holds a port.
  PortImages(const QuantizedMatrix& q, unsigned vectors, const MacArrayConfig& config)
      : groups(ceil_div(q.rows, vectors)),
        beats(ceil_div(q.k_padded, config.lanes)),
        vectors_(vectors),
        rows_(q.rows),
        code_bytes_(ceil_div(vectors * config.lanes * config.elem_width(), 64) * 8),
        scale_bytes_(ceil_div(vectors * config.blocks(), 8) * 8),
        codes_(groups * beats * code_bytes_),
        scales_(groups * beats * scale_bytes_) {
    const std::size_t lanes = config.lanes, blocks = config.blocks();
    for (std::size_t row = 0; row < q.rows; ++row) {
      for (std::size_t k = 0; k < q.k_padded; ++k) {
        const std::size_t element = row % vectors * lanes + k % lanes;
        std::uint8_t* image = codes_.data() + (row / vectors * beats + k / lanes) * code_bytes_;
        const std::uint8_t code = q.codes[row * q.k_padded + k];
        if (config.elem_width() == 8) {
          image[element] = code;
        } else {
          image[element / 2] |= static_cast<std::uint8_t>(code << element % 2 * 4);
        }
      }
      for (std::size_t block = 0; q.scheme == Scheme::nvfp4 && block < q.blocks(); ++block) {
        scales_[(row / vectors * beats + block / blocks) * scale_bytes_ + row % vectors * blocks + block % blocks] =
            q.scales[row * q.blocks() + block];
      }
    }
  }

  const std::uint8_t* codes(std::size_t group, std::size_t beat) const {
    return codes_.data() + (group * beats + beat) * code_bytes_;
  }
  const std::uint8_t* scales(std::size_t group, std::size_t beat) const {
    return scales_.data() + (group * beats + beat) * scale_bytes_;
  }
  /// Rows of a group that exist.
  std::size_t used(std::size_t group) const { return std::min<std::size_t>(vectors_, rows_ - group * vectors_); }
  std::uint64_t enables(std::size_t group) const { return ~std::uint64_t{0} >> (64 - used(group)); }

  const std::size_t groups, beats;

 private:
  std::size_t vectors_, rows_, code_bytes_, scale_bytes_;
  std::vector<std::uint8_t> codes_, scales_;
};

class RtlEngine final : public Engine {
 public:
  explicit RtlEngine(RtlEngineOptions options) : options_(std::move(options)) {}
  std::string_view name() const override { return "rtl"; }

  EngineResult gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, const Progress& progress) override {
    check_product(a, b);
    const Array& array = array_for(a, b);
    const MacArrayConfig& config = array.config;
    const PortImages a_images(a, config.rows, config), b_images(b, config.cols, config);
    if (a_images.beats > config.max_beats) {
      throw Error("the contraction of length " + std::to_string(a.k) + " takes " + std::to_string(a_images.beats) +
                  " beats of array " + std::string(config.name) + ": expected at most " +
                  std::to_string(config.max_beats) + "; split it and add the parts");
    }
    MacArrayModel& model = model_of(array);
    model.set_formats({format_code(a.element), format_code(b.element)});

    // Tiles follow each other without a gap; the results of one leave while the next ones accumulate.
    EngineResult result;
    result.c.resize(a.rows * b.rows);
    const float alpha = epilogue_scale(a, b);
    const std::uint64_t tiles = a_images.groups * b_images.groups, beats = a_images.beats;
    std::uint64_t sent = 0;  // beats
    std::uint64_t rows_left = tiles * config.rows;
    MacArrayBeat beat{};
    while (rows_left != 0) {
      if (const std::uint32_t* row = model.row()) {
        const std::uint64_t taken = tiles * config.rows - rows_left--, tile = taken / config.rows;
        const std::size_t i = tile / b_images.groups * config.rows + taken % config.rows;
        const std::size_t group = tile % b_images.groups;
        for (std::size_t c = 0; i < a.rows && c < b_images.used(group); ++c) {
          result.c[i * b.rows + group * config.cols + c] = epilogue(std::bit_cast<float>(row[c]), alpha);
        }
      }
      const bool offered = sent < tiles * beats, taken = offered && model.ready();
      if (taken) {
        const std::size_t tile = sent / beats, at = sent % beats;
        const std::size_t down = tile / b_images.groups, across = tile % b_images.groups;
        beat = {.first = at == 0,
                .last = at + 1 == beats,
                .row_en = a_images.enables(down),
                .col_en = b_images.enables(across),
                .a = a_images.codes(down, at),
                .b = b_images.codes(across, at),
                .a_scale = a_images.scales(down, at),
                .b_scale = b_images.scales(across, at)};
        ++sent;
      }
      model.cycle(taken ? &beat : nullptr);
      ++result.cycles;
      if (progress && result.cycles % 16384 == 0) progress(sent, tiles * beats);
    }
    if (progress) progress(sent, tiles * beats);
    result.products = std::uint64_t{a.rows} * b.rows * a.k;
    result.products_possible = result.cycles * config.rows * config.cols * config.lanes;
    return result;
  }

 private:
  /// Arrays are kept: making one takes longer than a small product. A traced one is made anew, and its file with it.
  MacArrayModel& model_of(const Array& array) {
    std::unique_ptr<MacArrayModel>& model = models_[static_cast<std::size_t>(&array - arrays)];
    if (!options_.trace.empty()) {
      model = array.make_traced(options_.trace);
    } else if (!model) {
      model = array.make({});
    }
    model->reset();
    return *model;
  }

  RtlEngineOptions options_;
  std::unique_ptr<MacArrayModel> models_[std::size(arrays)];
};

}  // namespace

std::unique_ptr<Engine> make_rtl_engine(const RtlEngineOptions& options) {
  return std::make_unique<RtlEngine>(options);
}

}  // namespace narrowgauge
