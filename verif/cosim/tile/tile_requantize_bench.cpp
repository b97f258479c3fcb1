// SPDX-License-Identifier: Apache-2.0
// ng_tile_requantize against the golden functions: every word of every image of random tiles, under bubbles and stalls
// of changing density, with resets; images whole and ended early, NaN and infinities, tensor scales that are refused;
// the largest magnitude in each cycle; whole images at full speed, to the cycle; every format of the set. Build
// parameters: NG_ROWS, NG_COLS, NG_LANES, NG_FORMAT_SET, NG_STREAM_WIDTH, NG_QUANTIZE_CUTS.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "../room.hpp"
#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/requantize.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned rows = NG_ROWS, cols = NG_COLS, lanes = NG_LANES, set = NG_FORMAT_SET, width = NG_STREAM_WIDTH;
constexpr bool has_fp4 = set & format_set::nvfp4, has_single = set & ~format_set::nvfp4;
constexpr unsigned elem_width = format_set::element_bits(set), blocks = has_fp4 ? lanes / 16 : 0;
constexpr unsigned numbers = std::min(width / 32, cols), tiles = lanes / cols, beats = rows * cols / numbers;
constexpr unsigned image_bits = rows * (lanes * elem_width + blocks * 8), words = (image_bits + width - 1) / width;
constexpr unsigned slot_width = numbers * elem_width, slots = rows * lanes / numbers, per_word = width / slot_width;
constexpr unsigned tail_words = words - slots / per_word;
constexpr bool folded = numbers < 16;
constexpr auto single_stages = static_cast<unsigned>(has_single ? std::popcount((NG_QUANTIZE_CUTS + 0U) >> 5) : 0);
constexpr auto block_stages = static_cast<unsigned>(folded ? 0 : std::popcount((NG_QUANTIZE_CUTS + 0U) & 31));
/// Of the last beat of an image to its first word.
constexpr unsigned latency(ResultFormat format) {
  const unsigned quantizer = format != ResultFormat::nvfp4 ? 0 : folded ? 21 + 16 / numbers : block_stages;
  return single_stages + 2 + quantizer + (slots < per_word ? slots + 1 : per_word);
}
/// Images that the number stages hold at most, and those that the quantizer does.
constexpr unsigned images_on_their_way = (single_stages + beats - 1) / beats;
constexpr unsigned blocks_inside = !has_fp4 ? 0 : folded ? (numbers == 8 ? 16 : 8) : block_stages * numbers / 16;
constexpr unsigned images_inside = has_fp4 ? (blocks_inside + rows * blocks - 1) / (rows * blocks) : 0;

struct Tile {
  std::array<std::array<std::uint16_t, cols>, rows> data{};
  ResultFormat format = ResultFormat::nvfp4;
  float tensor_scale = 1;
  bool end = false, last = false, irq = false;
};
struct Expected {
  std::vector<std::uint32_t> word = std::vector<std::uint32_t>(width / 32);
  bool last = false, irq = false, end = false;  // end: of the image
};

class RequantizeBench {
 public:
  RequantizeBench(int argc, char** argv)
      : bench_(argc, argv,
               "tile_requantize " + std::to_string(rows) + " x " + std::to_string(cols) + ", " + std::to_string(width) +
                   " bits, " + std::to_string(lanes) + " lanes, set of formats " + std::to_string(set)),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    for (const auto format : {ResultFormat::nvfp4, ResultFormat::e4m3, ResultFormat::e5m2, ResultFormat::int4})
      if (static_cast<unsigned>(format) & set) full_speed(format);
    reset();
    double push = 1, pop = 1;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.1 / beats)) {  // a new density: 0 and 1 included
        push = (1 + bench_.rng().below(4)) / 4.0;
        pop = bench_.rng().below(5) / 4.0;
      }
      if (bench_.rng().chance(0.0005)) {
        if (resets_++ % 2 == 0) drain();
        reset();
      }
      cycle(bench_.rng().chance(push), bench_.rng().chance(pop));
    }
    drain();
    if (bench_.budget() >= 2000) {
      bench_.expect(output_.stalls() > 0 && refused_ > 0 && (early_ > 0 || tiles == 1) && whole_ > 0,
                    [] { return "no word waited, no beat, or no image was whole or ended early"; });
      for (unsigned f = 0; f < 4; ++f)
        bench_.expect((set >> f & 1) == 0 || images_[f] > 0, [] { return "no image had one of the formats"; });
    }
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->clear_amax_i = false;
    expected_.abandon();  // any cycle may be the last before a reset
    collected_.clear();
    room_.clear();
    output_.clear();
    beat_ = 0;
    amax_ = 0;
    dut_.reset_without_edge(bench_);
    const auto when = [] { return "after a reset without a clock edge"; };
    bench_.expect_eq("busy_o", unsigned{dut_->busy_o}, 0U, when);
    bench_.expect_eq("amax_o", unsigned{dut_->amax_o}, 0U, when);
    dut_.reset();
    next_tile();
  }

  /// Whole images of one format as fast as they can come: no beat waits, unless a word or an image is over before its
  /// tail has left, and the first word leaves to the cycle.
  void full_speed(ResultFormat format) {
    whole_only_ = format;
    reset();
    constexpr unsigned image_beats = beats * tiles;
    const unsigned first = image_beats - 1 + latency(format);
    for (unsigned i = 0; i < 6 * image_beats + first; ++i) {
      cycle(true, true);
      const auto when = [&] { return "cycle " + std::to_string(i) + " of an undisturbed run"; };
      if (std::min(slots, per_word) >= tail_words + 2) bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, 1U, when);
      if (i + 1 < first) bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, 0U, when);
      if (i + 1 == first) bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, 1U, when);
    }
    whole_only_.reset();
  }

  void drain() {
    for (unsigned waited = 0; !expected_.empty() && waited < 10'000; ++waited) cycle(false, true);
    bench_.expect_settled(expected_, "behind the last image");
  }

  void next_tile() {
    Rng& rng = bench_.rng();
    tile_ = {};
    const unsigned style = rng.below(8);
    const unsigned low = 0x3F80 - 0x80 * rng.below(12), span = 1 + rng.below(style == 0 ? 0x7F80 - low : 0x500);
    for (auto& row : tile_.data) {
      for (std::uint16_t& code : row) {
        const unsigned magnitude = rng.chance(style == 1 ? 0.9 : 0.05) ? 0 : low + rng.below(span);
        code = static_cast<std::uint16_t>(magnitude | rng.bits(1) << 15);
        if (style == 2 && rng.chance(0.05))
          code = static_cast<std::uint16_t>(0x7F80 | rng.bits(1) << 15 | rng.below(3));
      }
    }
    if (style == 3 && amax_ < 0x7F7F) {  // one number is above the largest so far by its last place
      for (auto& row : tile_.data)
        for (std::uint16_t& code : row) code = static_cast<std::uint16_t>(rng.below(amax_ + 1U) | rng.bits(1) << 15);
      tile_.data[rng.below(rows)][rng.below(cols)] = static_cast<std::uint16_t>((amax_ + 1U) | rng.bits(1) << 15);
    }
    // Quarters up to six of a power of two, which lie on numbers of NVFP4 and between two of them: a factor that is off
    // a power of two by its last bit moves them.
    const bool quarters = style == 4;
    for (auto& row : tile_.data) {
      for (std::uint16_t& code : row) {
        if (!quarters) break;
        const auto magnitude = std::bit_cast<std::uint32_t>(static_cast<float>(1 + rng.below(24)));
        code = static_cast<std::uint16_t>(((magnitude >> 16) - 0x3F80 + low) | rng.bits(1) << 15);
      }
    }
    if (collected_.empty()) {  // of all tiles of an image
      unsigned format = 0;
      do format = 1U << rng.below(4);
      while ((format & set) == 0);
      format_ = whole_only_.value_or(static_cast<ResultFormat>(format));
    }
    if (collected_.empty()) edge_ = format_ == ResultFormat::nvfp4 && rng.chance(0.3) ? low + rng.below(0x80) : 0U;
    tile_.format = format_;
    const bool fp8 = format_ == ResultFormat::e4m3 || format_ == ResultFormat::e5m2;
    std::uint32_t scale = static_cast<std::uint32_t>((low - 0x100U) << 16) + static_cast<std::uint32_t>(rng.bits(24));
    // Results from below the least number to beyond the largest.
    if (fp8) scale = ((low >> 7) - 12 + rng.below(32)) << 23;
    if (quarters && !fp8) {
      scale = ((low >> 7) - rng.below(6)) << 23;
      if (rng.chance(0.7)) scale ^= 1U << rng.below(23);
    }
    if (edge_ != 0) scale = edge_scale();
    if (rng.chance(0.05)) {
      constexpr std::array<std::uint32_t, 12> corners{0,          0x80000000, 0x7F800000, 0x7FC00000,
                                                      0xBF800000, 0x07FFFFFF, 0x08000000, 0x07800000,
                                                      0x3F800001, 0x3FC00000, 0x7F000000, 0xFF800000};
      scale = corners[rng.below(corners.size())];
      if (rng.chance(0.2)) scale ^= 1U << rng.below(32);
    }
    if (fp8 && rng.chance(0.15)) scale ^= 1U << rng.below(32);  // which is no power of two by any bit
    tile_.tensor_scale = std::bit_cast<float>(scale);
    tile_.end = !whole_only_ && rng.chance(0.3);
    tile_.last = rng.chance(0.4);
    tile_.irq = rng.chance(0.5);
  }

  /// Numbers up to edge_, which each row has nearly surely, and the factor under which that gives a block scale in the
  /// middle of two, or a few last places beside it.
  std::uint32_t edge_scale() {
    Rng& rng = bench_.rng();
    for (auto& row : tile_.data) {
      for (std::uint16_t& code : row) {
        const unsigned magnitude = rng.chance(0.4) ? edge_ : rng.below(edge_);
        code = static_cast<std::uint16_t>(magnitude | rng.bits(1) << 15);
      }
    }
    const float middle = 6.0F * static_cast<float>(17 + 2 * rng.below(8)) / 16.0F;
    const auto exact = std::bit_cast<std::uint32_t>(std::bit_cast<float>(edge_ << 16) / middle);
    const std::uint32_t near = 1U << rng.below(16);
    return exact + rng.below(2 * near) - near - (rng.below(6) << 23);
  }

  void cycle(bool valid, bool ready) {
    Rng& rng = bench_.rng();
    const bool clear = rng.chance(0.003);
    const unsigned row = beat_ * numbers / cols, col = beat_ * numbers % cols;
    const bool tile_end = beat_ + 1 == beats;
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    dut_->clear_amax_i = clear;
    for (unsigned n = 0; n < numbers; ++n)
      set_bits(dut_->data_i, 16 * n, 16, valid ? tile_.data[row][col + n] : rng.bits(16));
    // In NVFP4 the factor counts with the beat that ends an image; what is not a tile's last beat says nothing of
    // packets.
    const bool in_force = valid && (tile_end || tile_.format != ResultFormat::nvfp4);
    dut_->format_i = valid && !std::has_single_bit(set) ? static_cast<unsigned>(tile_.format) : rng.below(16);
    dut_->tensor_scale_i =
        in_force ? std::bit_cast<std::uint32_t>(tile_.tensor_scale) : static_cast<std::uint32_t>(rng.bits(32));
    dut_->end_i = valid ? tile_.end : rng.bits(1) != 0;
    dut_->last_i = valid && tile_end ? tile_.last : rng.bits(1) != 0;
    dut_->irq_i = valid && tile_end ? tile_.irq : rng.bits(1) != 0;
    dut_.eval();
    bench_.vector();
    bench_.expect_eq("amax_o", unsigned{dut_->amax_o}, unsigned{amax_}, [] { return "the largest magnitude"; });
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->last_o, dut_->irq_o);
    room_.check(dut_->ready_o);
    if (dut_->valid_o) compare(ready);
    refused_ += valid && !dut_->ready_o;
    if (clear) amax_ = 0;
    if (valid && dut_->ready_o) {
      for (unsigned n = 0; n < numbers; ++n) amax_ = std::max<std::uint16_t>(amax_, tile_.data[row][col + n] & 0x7FFF);
      if (tile_end) take();
      beat_ = tile_end ? 0 : beat_ + 1;
      if (tile_end) next_tile();
    }
    dut_.tick();
    if (!expected_.empty()) {
      bench_.expect_eq("busy_o", unsigned{dut_->busy_o}, 1U, [] { return "words have not left"; });
    } else if (collected_.empty() && beat_ == 0) {
      bench_.expect_eq("busy_o", unsigned{dut_->busy_o}, 0U, [] { return "all words have left"; });
    }
  }

  void compare(bool taken) {
    const Expected* const shown = expected_.shown();
    if (shown == nullptr) return;
    const Expected& expected = *shown;
    const auto which = [] { return "a word of an image"; };
    for (unsigned i = 0; i < width / 32; ++i)
      bench_.expect_eq("data_o", get_bits(dut_->data_o, 32 * i, 32), std::uint64_t{expected.word[i]}, which);
    bench_.expect_eq("last_o", unsigned{dut_->last_o}, unsigned{expected.last}, which);
    if (expected.last) bench_.expect_eq("irq_o", unsigned{dut_->irq_o}, unsigned{expected.irq}, which);
    if (!taken) return;
    if (expected.end) room_.give();
    expected_.pop_front();
  }

  /// The tile has come: if its image is complete, its words.
  void take() {
    collected_.push_back(tile_);
    if (!tile_.end && collected_.size() < tiles) return;
    (collected_.size() < tiles ? early_ : whole_) += 1;
    // The golden function of a matrix: one row at a time, since the factor is the last tile's, or, of single numbers,
    // each tile's own.
    std::vector<std::uint32_t> image(static_cast<std::size_t>(words) * width / 32);
    for (unsigned r = 0; r < rows; ++r) {
      std::vector<float> numbers_of_row;
      std::vector<std::uint8_t> codes;
      for (const Tile& tile : collected_) {
        std::vector<float> of_tile;
        for (const std::uint16_t code : tile.data[r])
          of_tile.push_back(std::bit_cast<float>(std::uint32_t{code} << 16));
        numbers_of_row.insert(numbers_of_row.end(), of_tile.begin(), of_tile.end());
        if (tile_.format == ResultFormat::nvfp4) continue;
        const QuantizedMatrix q = requantize(of_tile, 1, cols, tile.format, tile.tensor_scale);
        codes.insert(codes.end(), q.codes.begin(), q.codes.end());
      }
      if (tile_.format == ResultFormat::nvfp4) {
        numbers_of_row.resize(lanes);
        const QuantizedMatrix q = requantize(numbers_of_row, 1, lanes, tile_.format, tile_.tensor_scale);
        codes = q.codes;
        for (unsigned b = 0; b < blocks; ++b)
          set_bits(image, rows * lanes * elem_width + (r * blocks + b) * 8, 8, q.scales[b]);
      }
      for (unsigned i = 0; i < codes.size(); ++i) set_bits(image, (r * lanes + i) * elem_width, elem_width, codes[i]);
    }
    for (unsigned w = 0; w < words; ++w) {
      Expected expected;
      std::copy_n(image.begin() + w * (width / 32), width / 32, expected.word.begin());
      expected.last = tile_.last && w + 1 == words;
      expected.irq = tile_.irq;
      expected.end = w + 1 == words;
      expected_.push_back(std::move(expected));
    }
    room_.take();
    collected_.clear();
    ++images_[std::countr_zero(static_cast<unsigned>(tile_.format))];
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Tile tile_;
  unsigned beat_ = 0;                       // of the tile
  std::optional<ResultFormat> whole_only_;  // of an undisturbed run
  std::uint16_t amax_ = 0;
  unsigned edge_ = 0;  // the largest magnitude of an image whose scales lie beside the middle of two; 0: of no such
  std::vector<Tile> collected_;  // of the image that comes
  Scoreboard<Expected> expected_{bench_, "words of images"};
  // One is read, and one waits; one more leaves, and one stands before it.
  Room room_{bench_, "images", 2, 4 + images_on_their_way + images_inside};
  ResultFormat format_ = ResultFormat::nvfp4;  // of the image that comes
  std::array<std::uint64_t, 4> images_{};      // of each format
  std::uint64_t refused_ = 0, early_ = 0, whole_ = 0, resets_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return RequantizeBench(argc, argv).run(); }
