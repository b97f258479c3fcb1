// SPDX-License-Identifier: Apache-2.0
// Random operands and commands for the tile's bench.
#pragma once

#include <iterator>
#include <utility>

#include "../bench.hpp"
#include "tile_types.hpp"

namespace narrowgauge::tile_bench {

using namespace narrowgauge::bench;

enum class Style { finite, extreme, special, zero, any };

class Stimulus {
 public:
  explicit Stimulus(Rng& rng) : rng_(rng) {}

  unsigned upto(unsigned largest) { return 1 + rng_.below(largest); }  // 1 .. largest

  /// A format of the set, and one that goes with it on the other side.
  unsigned fmt() {
    unsigned fmt = 0;
    do fmt = rng_.below(has_luq ? 4 : 3);
    while (!legal(fmt, fmt));
    return fmt;
  }
  unsigned partner(unsigned fmt) {
    if (alike(fmt)) return fmt;
    return has_e4m3 && has_e5m2 ? rng_.below(2) : fmt;
  }

  /// What results can be: a set of one format.
  unsigned result_format() {
    unsigned format = 0;
    do format = 1U << rng_.below(4);
    while ((format & format_set) == 0);
    return format;
  }

  Bank bank(bool b, unsigned fmt, unsigned images, Style style) {
    Bank bank{fmt, {}};
    for (unsigned i = 0; i < images; ++i) bank.images.push_back(image(b, fmt, style));
    return bank;
  }

  std::uint32_t scale() {
    switch (rng_.below(8)) {
      case 0:
        return 0x3F800000;
      case 1:  // any: NaN, subnormal, infinite, huge
        return static_cast<std::uint32_t>(rng_.bits(32));
      case 2: {
        constexpr std::uint32_t odd[] = {0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 1, 0x807FFFFF};
        return odd[rng_.below(std::size(odd))];
      }
      default:
        return static_cast<std::uint32_t>(rng_.bits(1) << 31 | (127 + rng_.below(40) - 20) << 23 | rng_.bits(23));
    }
  }

  /// The output format: FP32, BF16, INT8, and a format of the set under a factor that mostly fits the results.
  void choose_output(Command& c) {
    c.bf16 = rng_.chance(0.4);
    c.results = requantizes && rng_.chance(0.6) ? result_format() : 0;
    c.relu = requantizes && rng_.chance(0.5);
    c.int8 = has_integers && rng_.chance(0.5);
    c.zero_point = has_integers ? zero_point() : 0;
    const std::uint32_t exponent = (c.scale >> 23 & 0xFF) + rng_.below(24);
    const bool power = has_e4m3 || has_e5m2 ? rng_.chance(0.9) : false;  // as FP8 takes it
    c.tensor_scale = rng_.chance(0.1)
                         ? scale()
                         : std::min(exponent, 254U) << 23 | (power ? 0 : static_cast<std::uint32_t>(rng_.bits(23)));
  }

  /// Of codes, among them those that put all results beyond one end.
  int zero_point() {
    constexpr int odd[] = {-256, -128, -1, 0, 0, 127, 255};
    return rng_.chance(0.5) ? odd[rng_.below(std::size(odd))] : static_cast<int>(rng_.below(512)) - 256;
  }

  /// A command of the given shape.
  Command shaped(unsigned a_panels, unsigned b_panels, unsigned beats) {
    Command c;
    c.a_fmt = fmt(), c.b_fmt = partner(c.a_fmt);
    c.a_panels = a_panels, c.b_panels = b_panels, c.beats = beats;
    return c;
  }

  /// An image as the words of the stream; what the last word has beyond it is noise.
  std::vector<Word> words_of(const Image& image) {
    const unsigned elements = static_cast<unsigned>(image.elements.size()) * elem_width;
    // Of scales, if there are any, and above each the metadata of its block.
    const unsigned pitch = (has_fp4 || mx ? 8 : 0) + (image.metadata.empty() ? 0 : 32);
    const unsigned bits = elements + static_cast<unsigned>(image.scales.size() * 8 + image.metadata.size() * 4);
    const unsigned count = (bits + NG_STREAM_WIDTH - 1) / NG_STREAM_WIDTH;
    Word flat = noise(count * stream_words);
    for (unsigned i = 0; i < image.elements.size(); ++i) set_bits(flat, i * elem_width, elem_width, image.elements[i]);
    for (unsigned i = 0; i < image.scales.size(); ++i) set_bits(flat, elements + i * pitch, 8, image.scales[i]);
    for (unsigned i = 0; i < image.metadata.size(); ++i)
      set_bits(flat, elements + i / 8 * pitch + pitch % 32 + i % 8 * 4, 4, image.metadata[i]);
    std::vector<Word> words;
    for (unsigned i = 0; i < count; ++i)
      words.emplace_back(flat.begin() + i * stream_words, flat.begin() + (i + 1) * stream_words);
    return words;
  }

  Word noise(unsigned words = stream_words) {
    Word noise(words);
    for (std::uint32_t& word : noise) word = static_cast<std::uint32_t>(rng_.bits(32));
    return noise;
  }

 private:
  /// `int4`: of LUQ's A.
  std::uint8_t element(unsigned fmt, Style style, bool int4) {
    const FormatDesc& f = desc(element_format[fmt]);
    const std::uint32_t sign = rng_.chance(0.5) ? f.sign_mask() : 0;
    std::uint32_t code = static_cast<std::uint32_t>(rng_.bits(static_cast<unsigned>(f.bits)));
    if (style == Style::extreme)
      code = f.max_code();  // one sign: the largest sums
    else if (style == Style::zero || rng_.chance(0.1))
      code = sign;
    else if (style == Style::special && rng_.chance(0.02))
      code = f.payload_mask() ^ (rng_.chance(0.5) ? 3U : 0U) ^ sign;
    else if (style != Style::any && (f.is_nan(code) || f.is_inf(code)))
      code ^= 1U << f.man_bits;
    if (int4 && style == Style::extreme) code = 8;  // -8: the sums of the largest magnitude
    if (int4 && style == Style::zero) code = 0;
    // The upper half of a 4-bit element in an array of 8 bits must not matter.
    if (narrow(fmt) && elem_width == 8) code |= static_cast<std::uint32_t>(rng_.bits(4)) << 4;
    return static_cast<std::uint8_t>(code);
  }

  /// An E8M0 scale: mostly near 1, so that sums round; some anywhere, for underflow and overflow; seldom NaN.
  std::uint8_t mx_scale(Style style) {
    if (style == Style::any || (style == Style::special && rng_.chance(0.05)))
      return static_cast<std::uint8_t>(rng_.bits(8));
    const unsigned spread = rng_.chance(0.8) ? 6 : 120;
    return static_cast<std::uint8_t>(127 - spread + rng_.below(2 * spread + 1));
  }

  Image image(bool b, unsigned fmt, Style style) {
    const unsigned vectors = b ? cols : rows;
    Image image{b ? b_lanes : lanes, {}, {}};
    for (unsigned i = 0; i < vectors * image.lanes; ++i)
      image.elements.push_back(element(fmt, style, fmt == luq && !b && !has_int8));
    for (unsigned i = 0; i < (b ? 0 : vectors * metadata_a_row); ++i) {
      constexpr std::uint8_t nibbles[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
      image.metadata.push_back(nibbles[rng_.below(std::size(nibbles))]);
    }
    for (unsigned i = 0; i < vectors * blocks; ++i) {
      if (mx) {
        image.scales.push_back(mx_scale(style));
        continue;
      }
      std::uint64_t scale = rng_.bits(8);  // the top bit must not matter
      if (style == Style::extreme) scale = 0x7E;
      if ((scale & 0x7F) == 0x7F && style != Style::any && !(style == Style::special && rng_.chance(0.3))) scale ^= 1;
      image.scales.push_back(static_cast<std::uint8_t>(scale));
    }
    return image;
  }

  Rng& rng_;
};

}  // namespace narrowgauge::tile_bench
