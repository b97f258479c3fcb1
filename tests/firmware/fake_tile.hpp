// SPDX-License-Identifier: Apache-2.0
// A tile that exists as commands, banks, words and golden arithmetic only: what firmware is tested against. It counts
// cycles as a tile with a one-word stream and a one-beat array would without latencies (a register access takes four),
// so its times are estimates; everything else is as docs/units/tile.md says.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "narrowgauge/engines/tile_bus.hpp"
#include "narrowgauge/luq/mul_luq.hpp"
#include "narrowgauge/mac/dot_fp8.hpp"
#include "narrowgauge/mac/dot_nvfp4.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/ng_tile_regs.h"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/integer_results.hpp"
#include "narrowgauge/sparse/metadata.hpp"

namespace narrowgauge {

struct FakeTileConfig {
  unsigned rows = 2, cols = 2, lanes = 16, format_set = 1;
  unsigned stream_bytes = 4;
  unsigned a_depth = 64, b_depth = 64;
  unsigned max_beats = 4096;
  bool counters = true;
  bool sparse = false;
  bool integers = false;
  bool mx = false;

  /// Elements of a column in a beat; of a row of a sparse A `lanes` of them are stored.
  unsigned b_lanes() const { return sparse ? 2 * lanes : lanes; }
  unsigned elements_a_vector(unsigned side) const { return side == NG_TILE_OPERAND_A ? lanes : b_lanes(); }
  /// Lanes that have something beside them.
  unsigned block() const { return mx ? 32 : 16; }
  /// Bytes beside a block's elements: its scale, with NVFP4 in the set or MX, then the metadata of a sparse A.
  unsigned scale_bytes() const { return mx || (format_set & NG_TILE_FORMAT_SET_NVFP4) != 0 ? 1 : 0; }
  unsigned bytes_a_block(unsigned side) const { return scale_bytes() + (sparse && side == NG_TILE_OPERAND_A ? 4 : 0); }
};

inline const FakeTileConfig tiny{};
inline const FakeTileConfig middle{
    .rows = 4, .cols = 4, .format_set = 3, .stream_bytes = 8, .a_depth = 128, .b_depth = 64};
inline const FakeTileConfig large{
    .rows = 8, .cols = 8, .stream_bytes = 16, .a_depth = 512, .b_depth = 128, .max_beats = 65536};

class FakeTile : public TileBus {
 public:
  struct Load {
    unsigned side, count;
    bool more;
    friend bool operator==(const Load&, const Load&) = default;
  };
  struct Compute {
    unsigned a_format, b_format, a_panels, b_panels, beats, rows, cols;
    bool bf16, first, last, release_a, release_b, irq, part_a;
    std::uint32_t scale, integer;
  };

  explicit FakeTile(const FakeTileConfig& config) : config_(config) { soft_reset(); }

  // ---- what tests look at and break
  std::vector<Load> loads_seen;        ///< every load command
  std::vector<Compute> computes_seen;  ///< every compute command
  std::uint32_t magic = NG_TILE_MAGIC_RESET, version = NG_TILE_VERSION_RESET;
  std::uint32_t strange_geometry = 0, strange_stream = 0;  ///< or'ed to the capability words
  bool stuck_busy = false;
  bool dead = false;                                                               ///< no command ever starts
  std::uint64_t drop_operand = never, drop_result = never, repeat_result = never;  ///< words, counted from 0
  std::uint64_t turn_tlast = never;                                                ///< operand word with TLAST inverted
  bool lose_interrupts = false;                                                    ///< irq stays low
  std::uint32_t foreign_loads = 0, foreign_results = 0;                            ///< counted beside the driver's own
  void fail(unsigned error) { set_error(error); }
  std::uint64_t operand_words() const { return operand_words_; }
  std::uint64_t result_words() const { return result_words_; }
  const FakeTileConfig& config() const { return config_; }
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  // ---- TileBus
  bool read32(std::uint32_t offset, std::uint32_t& value) override {
    ticks(4);
    switch (offset) {
      case NG_TILE_MAGIC_OFFSET:
        value = magic;
        return true;
      case NG_TILE_VERSION_OFFSET:
        value = version;
        return true;
      case NG_TILE_GEOMETRY_OFFSET:
        value = config_.rows | config_.cols << NG_TILE_GEOMETRY_COLS_SHIFT |
                config_.lanes << NG_TILE_GEOMETRY_LANES_SHIFT |
                config_.format_set << NG_TILE_GEOMETRY_FORMAT_SET_SHIFT | strange_geometry;
        return true;
      case NG_TILE_DEPTHS_OFFSET:
        value = config_.a_depth | config_.b_depth << NG_TILE_DEPTHS_B_SHIFT;
        return true;
      case NG_TILE_STREAM_OFFSET:
        value = config_.stream_bytes | unsigned{config_.counters} << NG_TILE_STREAM_COUNTERS_SHIFT |
                unsigned{config_.sparse} << NG_TILE_STREAM_SPARSE_SHIFT |
                unsigned{config_.integers} << NG_TILE_STREAM_INTEGERS_SHIFT |
                unsigned{config_.mx} << NG_TILE_STREAM_MX_SHIFT | strange_stream;
        return true;
      case NG_TILE_MAX_BEATS_OFFSET:
        value = config_.max_beats;
        return true;
      case NG_TILE_STATUS_OFFSET:
        value = unsigned{busy()} | static_cast<unsigned>(queue - loads_.size()) << NG_TILE_STATUS_LOAD_SPACE_SHIFT |
                static_cast<unsigned>(queue - computes_.size()) << NG_TILE_STATUS_COMPUTE_SPACE_SHIFT |
                error_ << NG_TILE_STATUS_ERROR_SHIFT;
        return true;
      case NG_TILE_IRQ_ENABLE_OFFSET:
        value = irq_enable_;
        return true;
      case NG_TILE_IRQ_PENDING_OFFSET:
        value = irq_pending_;
        return true;
      case NG_TILE_FORMAT_OFFSET:
        value = format_;
        return true;
      case NG_TILE_SCALE_OFFSET:
        value = scale_;
        return true;
      case NG_TILE_PANELS_OFFSET:
        value = panels_;
        return true;
      case NG_TILE_EDGE_OFFSET:
        value = edge_;
        return true;
      case NG_TILE_DONE_OFFSET:
        value = done_count_ + foreign_results;
        return true;
      case NG_TILE_LOADS_OFFSET:
        value = load_count_ + foreign_loads;
        return true;
      case NG_TILE_SIGNATURE_OFFSET:
        value = signature_;
        return true;
      case NG_TILE_CONTROL_OFFSET:
      case NG_TILE_LOAD_OFFSET:
      case NG_TILE_COMPUTE_OFFSET:
        value = 0;
        return true;
      default:
        break;
    }
    if (offset < NG_TILE_CYCLES_OFFSET || offset > NG_TILE_FLIPS_B_HIGH_OFFSET || offset % 4 != 0) return false;
    const std::size_t counter = (offset - NG_TILE_CYCLES_OFFSET) / 8;
    if (offset % 8 == 0) {
      latched_high_ = static_cast<std::uint32_t>(counters_[counter] >> 32);
      value = static_cast<std::uint32_t>(counters_[counter]);
    } else {
      value = latched_high_;
    }
    if (!config_.counters) value = 0;
    return true;
  }

  bool write32(std::uint32_t offset, std::uint32_t value) override {
    ticks(4);
    if (!take(offset, value)) return false;
    if (offset >= NG_TILE_LOAD_OFFSET) {  // below are CONTROL and the interrupts
      std::uint32_t x = signature_ ^ value ^ (0xF000U | offset) * 0x10001U;
      x ^= x << 13;
      x ^= x >> 17;
      signature_ = x ^ x << 5;
    }
    return true;
  }

  void send(std::span<const std::uint8_t> packet) override { packets_.push_back({packet, 0}); }
  std::size_t packets_waiting() const override { return packets_.size(); }
  std::size_t receive(std::span<std::uint8_t> out) override {
    std::size_t bytes = 0;
    while (!arrived_.empty() && bytes + config_.stream_bytes <= out.size()) {
      std::ranges::copy(arrived_.front(), out.begin() + static_cast<std::ptrdiff_t>(bytes));
      bytes += config_.stream_bytes;
      arrived_.pop_front();
    }
    return bytes;
  }
  void reset_streams() override {
    packets_.clear();
    arrived_.clear();
  }
  void run(std::uint64_t cycles) override {
    const std::size_t waiting = packets_.size();
    while (cycles-- != 0 && !irq() && packets_.size() == waiting && arrived_.empty()) tick();
  }
  std::uint64_t cycles() const override { return cycle_; }
  bool irq() const override { return !lose_interrupts && (irq_pending_ & irq_enable_) != 0; }

 private:
  using Word = std::vector<std::uint8_t>;
  struct Bank {
    std::vector<Word> images;
    bool complete = false;
  };
  struct Operand {
    std::array<Bank, 2> banks;
    unsigned filling = 0, using_ = 0;
    Bank& fill() { return banks[filling]; }
    Bank& use() { return banks[using_]; }
  };
  struct Packet {
    std::span<const std::uint8_t> bytes;
    std::size_t sent;
  };
  struct Result {
    Word word;
    bool last, irq;
  };
  struct Cell {
    __extension__ __int128 sum = 0;  // in units of 2^fp8_lsb_exp
    SumFlags flags;
    float chain = 0;  // of MX, instead
  };
  enum Counter {
    cycles_,
    busy_,
    stall_in_,
    stall_out_,
    products_,
    zero_a_,
    zero_b_,
    flips_a_,
    flips_b_,
    counters_count
  };
  static constexpr std::size_t queue = 4, result_room = 4;  // commands; result tiles

  bool fp4() const { return (config_.format_set & format_set::nvfp4) != 0; }
  unsigned element_bits() const { return format_set::element_bits(config_.format_set, config_.mx); }
  unsigned vectors(unsigned side) const { return side == NG_TILE_OPERAND_A ? config_.rows : config_.cols; }
  std::size_t scales_at(unsigned side) const {
    return vectors(side) * config_.elements_a_vector(side) * element_bits() / 8;
  }
  std::size_t image_bytes(unsigned side) const {
    const std::size_t bytes =
        scales_at(side) + vectors(side) * (config_.lanes / config_.block()) * config_.bytes_a_block(side);
    return (bytes + config_.stream_bytes - 1) / config_.stream_bytes * config_.stream_bytes;
  }
  bool busy() const {
    return stuck_busy || (error_ == 0 && (loading_ || !loads_.empty() || !computes_.empty() || !results_.empty()));
  }

  /// What a write does; false: SLVERR.
  bool take(std::uint32_t offset, std::uint32_t value) {
    switch (offset) {
      case NG_TILE_CONTROL_OFFSET:
        if (value & NG_TILE_CONTROL_SOFT_RESET_MASK) soft_reset();
        if (value & NG_TILE_CONTROL_CLEAR_COUNTERS_MASK) counters_ = {};
        return true;
      case NG_TILE_IRQ_ENABLE_OFFSET:
        irq_enable_ = value & 3U;
        return true;
      case NG_TILE_IRQ_PENDING_OFFSET:
        irq_pending_ &= ~value;
        return true;
      case NG_TILE_LOAD_OFFSET:
        push(loads_, loads_seen,
             Load{value >> 31, value & NG_TILE_LOAD_PANEL_BEATS_MASK, (value & NG_TILE_LOAD_MORE_MASK) != 0});
        return true;
      case NG_TILE_FORMAT_OFFSET:
        format_ = value & 31U;
        return true;
      case NG_TILE_SCALE_OFFSET:
        scale_ = value;
        return true;
      case NG_TILE_INTEGER_OFFSET:
        integer_ = value;
        return config_.integers;
      case NG_TILE_PANELS_OFFSET:
        panels_ = value;
        return true;
      case NG_TILE_EDGE_OFFSET:
        edge_ = value & 0xFFFFU;
        return true;
      case NG_TILE_COMPUTE_OFFSET: {
        const auto bit = [value](unsigned at) { return (value >> at & 1U) != 0; };
        push(computes_, computes_seen,
             Compute{.a_format = format_ & 3U,
                     .b_format = format_ >> 2 & 3U,
                     .a_panels = panels_ & 0xFFFFU,
                     .b_panels = panels_ >> 16,
                     .beats = value & 0xFFFFU,
                     .rows = edge_ & 0xFFU,
                     .cols = edge_ >> 8,
                     .bf16 = (format_ >> 4 & 1U) != 0,
                     .first = bit(NG_TILE_COMPUTE_FIRST_SHIFT),
                     .last = bit(NG_TILE_COMPUTE_LAST_SHIFT),
                     .release_a = bit(NG_TILE_COMPUTE_RELEASE_A_SHIFT),
                     .release_b = bit(NG_TILE_COMPUTE_RELEASE_B_SHIFT),
                     .irq = bit(NG_TILE_COMPUTE_IRQ_SHIFT),
                     .part_a = bit(NG_TILE_COMPUTE_PART_A_SHIFT),
                     .scale = scale_,
                     .integer = integer_});
        return true;
      }
      default:
        return false;
    }
  }

  template <class Queue, class Seen, class Command>
  void push(Queue& commands, Seen& seen, const Command& command) {
    seen.push_back(command);
    if (error_ != 0) return;
    if (commands.size() == queue) return set_error(NG_TILE_ERROR_QUEUE_FULL);
    commands.push_back(command);
  }

  void set_error(unsigned error) {
    if (error_ != 0) return;
    error_ = error;
    irq_pending_ |= NG_TILE_IRQ_PENDING_ERROR_MASK;
    loads_.clear();
    computes_.clear();
    loading_.reset();
  }

  void soft_reset() {
    operands_ = {};
    loads_.clear();
    computes_.clear();
    results_.clear();
    loading_.reset();
    cells_.assign(std::size_t{config_.rows} * config_.cols, {});
    a_panel_ = b_panel_ = beat_ = sum_beats_ = 0;
    a_start_ = 0;
    error_ = irq_enable_ = irq_pending_ = format_ = panels_ = edge_ = done_count_ = load_count_ = 0;
    scale_ = 0x3F800000;
    integer_ = 0;
    signature_ = 0;
    counters_ = {};
    last_elements_ = {};
  }

  void ticks(unsigned count) {
    while (count-- != 0) tick();
  }

  void tick() {
    ++cycle_;
    ++counters_[cycles_];
    if (dead) return;
    take_result();
    compute();
    load();
  }

  // ---- operand stream into banks

  struct StreamWord {
    std::span<const std::uint8_t> bytes;
    bool last;
  };
  std::optional<StreamWord> next_word() {
    while (!packets_.empty()) {
      Packet& packet = packets_.front();
      const StreamWord word{packet.bytes.subspan(packet.sent, config_.stream_bytes),
                            packet.sent + config_.stream_bytes >= packet.bytes.size()};
      packet.sent += config_.stream_bytes;
      if (word.last) packets_.pop_front();
      // A lost word that was the last one of its packet takes TLAST with it: the packets run together.
      const std::uint64_t number = operand_words_++;
      if (number != drop_operand) return StreamWord{word.bytes, word.last != (number == turn_tlast)};
    }
    return std::nullopt;
  }

  void load() {
    if (error_ != 0) {
      static_cast<void>(next_word());
      return;
    }
    if (!loading_) {
      if (loads_.empty()) return;
      const Load head = loads_.front();
      Bank& bank = operands_[head.side].fill();
      const unsigned depth = head.side == NG_TILE_OPERAND_A ? config_.a_depth : config_.b_depth;
      if (head.count == 0) return set_error(NG_TILE_ERROR_BAD_LOAD);
      if (bank.complete) return;  // both banks are full or in use
      if (bank.images.size() + head.count > depth) return set_error(NG_TILE_ERROR_BAD_LOAD);
      loading_ = head;
      loads_.pop_front();
      image_.clear();
      images_left_ = head.count;
    }
    const std::optional<StreamWord> word = next_word();
    if (!word) return;
    Operand& operand = operands_[loading_->side];
    image_.insert(image_.end(), word->bytes.begin(), word->bytes.end());
    if (image_.size() == image_bytes(loading_->side)) {
      operand.fill().images.push_back(image_);
      image_.clear();
      --images_left_;
    }
    if (word->last != (images_left_ == 0)) {
      return set_error(word->last ? NG_TILE_ERROR_SHORT_STREAM : NG_TILE_ERROR_LONG_STREAM);
    }
    if (images_left_ != 0) return;
    ++load_count_;
    if (!loading_->more) {
      operand.fill().complete = true;
      operand.filling ^= 1;
    }
    loading_.reset();
  }

  // ---- banks into cells

  /// Formats of 4 bits, which both sides have.
  bool narrow(unsigned format) const {
    return format == NG_TILE_ELEMENT_NVFP4 || (format == NG_TILE_ELEMENT_LUQ && !config_.mx);
  }

  bool valid(const Compute& c) const {
    const auto in_set = [this](unsigned code) {
      return std::ranges::any_of(operand_formats, [&](const OperandFormat& f) {
        return f.code == code && is_mx(f.scheme) == config_.mx && (config_.format_set & f.mask) != 0;
      });
    };
    const bool single = c.first && c.last;
    return in_set(c.a_format) && in_set(c.b_format) &&
           (c.a_format == c.b_format || (!narrow(c.a_format) && !narrow(c.b_format))) && c.a_panels != 0 &&
           c.b_panels != 0 && c.beats != 0 && c.rows != 0 && c.rows <= config_.rows && c.cols != 0 &&
           c.cols <= config_.cols && (single || (c.a_panels == 1 && c.b_panels == 1)) &&
           (c.first ? 0 : sum_beats_) + c.beats <= config_.max_beats;
  }

  void compute() {
    if (!computes_.empty() || !results_.empty()) ++counters_[busy_];
    if (computes_.empty()) return;
    const Compute c = computes_.front();
    if (!valid(c)) return set_error(NG_TILE_ERROR_BAD_COMPUTE);
    Bank &a = operands_[0].use(), &b = operands_[1].use();
    const std::size_t a_images = std::size_t{c.a_panels} * c.beats, b_images = std::size_t{c.b_panels} * c.beats;
    const std::size_t a_at = (c.first || !c.part_a ? 0 : a_start_) + a_panel_ * std::size_t{c.beats} + beat_;
    const std::size_t b_at = b_panel_ * std::size_t{c.beats} + beat_;
    const bool a_wrong = c.part_a ? a_at >= a.images.size() : a.images.size() != a_images;
    if (a_images > config_.a_depth || b_images > config_.b_depth || (a.complete && a_wrong) ||
        (b.complete && b.images.size() != b_images)) {
      return set_error(NG_TILE_ERROR_BANK_MISMATCH);
    }
    const bool last_beat = beat_ + 1 == c.beats;
    const bool command_end = last_beat && a_panel_ + 1 == c.a_panels && b_panel_ + 1 == c.b_panels;
    const bool ends = (a.complete || (c.part_a && !c.release_a)) && b.complete;
    if (a_at >= a.images.size() || b_at >= b.images.size() || (command_end && !ends)) {
      ++counters_[stall_in_];
      return;
    }
    if (last_beat && c.last && results_.size() >= result_room * result_words(c)) {
      ++counters_[stall_out_];
      return;
    }
    const unsigned rows = a_panel_ + 1 == c.a_panels ? c.rows : config_.rows;
    const unsigned cols = b_panel_ + 1 == c.b_panels ? c.cols : config_.cols;
    const Word &a_image = a.images[a_at], &b_image = b.images[b_at];
    if (c.first && beat_ == 0) cells_.assign(cells_.size(), {});
    if (illegal(a_image, rows)) return set_error(NG_TILE_ERROR_BAD_METADATA);
    accumulate(c, a_image, b_image, rows, cols);
    counters_[products_] += std::uint64_t{rows} * cols * config_.lanes;
    const bool integers = c.a_format == NG_TILE_ELEMENT_LUQ;  // they have no sign bit
    const unsigned payload = narrow(c.a_format) ? 0x7U : integers ? 0xFFU : 0x7FU;
    count_elements(0, a_image, rows, integers && narrow(c.a_format) ? 0xFU : payload);
    count_elements(1, b_image, cols, payload);
    if (!last_beat) {
      ++beat_;
      return;
    }
    beat_ = 0;
    if (c.last) drain(c, a_panel_ + 1 == c.a_panels && b_panel_ + 1 == c.b_panels);
    if (++b_panel_ < c.b_panels) return;
    b_panel_ = 0;
    if (++a_panel_ < c.a_panels) return;
    a_panel_ = 0;
    sum_beats_ = c.last ? 0 : (c.first ? 0 : sum_beats_) + c.beats;
    a_start_ = c.part_a && !c.release_a && !c.last ? a_at + 1 : 0;
    computes_.pop_front();
    for (Operand& operand : operands_) {
      if (&operand == &operands_[0] ? !c.release_a : !c.release_b) continue;
      operand.use() = {};
      operand.using_ ^= 1;
    }
  }

  unsigned element(const Word& image, std::size_t at) const {
    return element_bits() == 8 ? image[at] : image[at / 2] >> at % 2 * 4 & 0xFU;
  }

  /// Of a block of a sparse A.
  unsigned nibble(const Word& a, unsigned block, unsigned group) const {
    const unsigned at = block * config_.bytes_a_block(0) + config_.scale_bytes();
    return a[scales_at(0) + at + group / 2] >> group % 2 * 4 & 0xFU;
  }
  bool illegal(const Word& a, unsigned rows) const {
    if (!config_.sparse) return false;
    for (unsigned block = 0; block < rows * config_.lanes / 16; ++block)
      for (unsigned group = 0; group < 8; ++group)
        if (!is_metadata(nibble(a, block, group))) return true;
    return false;
  }

  /// What a block of MX adds: its exact sum times both scales, rounded.
  static float mx_block(const Compute& c, std::span<const std::uint8_t> x, std::span<const std::uint8_t> y,
                        std::uint8_t a_scale, std::uint8_t b_scale) {
    const auto format = [](unsigned code) {
      return code == NG_TILE_ELEMENT_NVFP4 ? Format::e2m1 : code == NG_TILE_ELEMENT_E4M3 ? Format::e4m3 : Format::e5m2;
    };
    Fp8Sum sum;
    if (c.a_format == NG_TILE_ELEMENT_NVFP4) {
      for (std::size_t i = 0; i < x.size(); ++i)
        sum.value += static_cast<int>(4 * decode(Format::e2m1, x[i]) * decode(Format::e2m1, y[i]));
    } else if (c.a_format == NG_TILE_ELEMENT_LUQ) {  // of MX the code of MXINT8
      for (std::size_t i = 0; i < x.size(); ++i)
        sum.value += static_cast<std::int8_t>(x[i]) * static_cast<std::int8_t>(y[i]);
    } else {
      sum = dot_fp8(x, y, format(c.a_format), format(c.b_format));
    }
    sum.flags.nan |= a_scale == 0xFF || b_scale == 0xFF;
    const int unit = c.a_format == NG_TILE_ELEMENT_NVFP4 ? -2 : c.a_format == NG_TILE_ELEMENT_LUQ ? -12 : fp8_lsb_exp;
    return fixed_to_fp32(sum.value, unit + a_scale - 127 + b_scale - 127, sum.flags);
  }

  void accumulate(const Compute& c, const Word& a, const Word& b, unsigned rows, unsigned cols) {
    const bool nvfp4 = c.a_format == NG_TILE_ELEMENT_NVFP4;
    const auto unpack = [&](const Word& image, unsigned count, unsigned elements) {
      Word codes(std::size_t{count} * elements);
      for (std::size_t i = 0; i < codes.size(); ++i) {
        codes[i] = static_cast<std::uint8_t>(element(image, i) & (narrow(c.a_format) ? 0xFU : 0xFFU));
      }
      return codes;
    };
    const Word a_codes = unpack(a, rows, config_.lanes), b_codes = unpack(b, cols, config_.b_lanes());
    const auto format = [](unsigned code) { return code == NG_TILE_ELEMENT_E4M3 ? Format::e4m3 : Format::e5m2; };
    for (unsigned r = 0; r < rows; ++r) {
      for (unsigned col = 0; col < cols; ++col) {
        Cell& cell = cells_[std::size_t{r} * config_.cols + col];
        const auto x = std::span(a_codes).subspan(std::size_t{r} * config_.lanes, config_.lanes);
        Word y(b_codes.begin() + col * config_.b_lanes(), b_codes.begin() + (col + 1) * config_.b_lanes());
        for (unsigned lane = 0; config_.sparse && lane < config_.lanes; ++lane) {
          const unsigned both = nibble(a, r * config_.lanes / 16 + lane / 16, lane % 16 / 2);
          y[lane] = b_codes[col * config_.b_lanes() + lane / 2 * 4 + (lane % 2 != 0 ? both >> 2 : both & 3)];
        }
        y.resize(config_.lanes);
        if (config_.mx) {
          cell.chain += mx_block(c, x, y, a[scales_at(0) + r], b[scales_at(1) + col]);
          continue;
        }
        if (c.a_format == NG_TILE_ELEMENT_LUQ) {
          cell.sum += static_cast<decltype(cell.sum)>(luq_dot(x, y)) << -fp8_lsb_exp;
          continue;
        }
        if (!nvfp4) {
          const Fp8Sum term = dot_fp8(x, y, format(c.a_format), format(c.b_format));
          cell.sum += term.value;
          cell.flags |= term.flags;
          continue;
        }
        const unsigned blocks = config_.lanes / 16;
        for (unsigned block = 0; block < blocks; ++block) {
          const Nvfp4Term term = nvfp4_term(x.subspan(block * 16, 16), std::span(y).subspan(block * 16, 16),
                                            a[scales_at(0) + (r * blocks + block) * config_.bytes_a_block(0)],
                                            b[scales_at(1) + col * blocks + block]);
          cell.sum += static_cast<decltype(cell.sum)>(term.value) << (nvfp4_lsb_exp - fp8_lsb_exp);
          cell.flags.nan |= term.nan;
        }
      }
    }
  }

  /// Zeros among the elements in use, and bits that differ from the image before, unused rows counting as zero.
  void count_elements(unsigned side, const Word& image, unsigned used, unsigned payload) {
    Word masked(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(scales_at(side)));
    const std::size_t in_use = std::size_t{used} * config_.elements_a_vector(side);
    std::fill(masked.begin() + static_cast<std::ptrdiff_t>(in_use * element_bits() / 8), masked.end(), 0);
    for (std::size_t i = 0; i < in_use; ++i) {
      counters_[zero_a_ + side] += (element(image, i) & payload) == 0;
    }
    Word& before = last_elements_[side];
    before.resize(masked.size());
    for (std::size_t i = 0; i < masked.size(); ++i) {
      counters_[flips_a_ + side] += static_cast<unsigned>(std::popcount(static_cast<unsigned>(masked[i] ^ before[i])));
    }
    before = masked;
  }

  // ---- cells into the result stream

  static unsigned result_bytes(const Compute& c) {
    return (c.integer & NG_TILE_INTEGER_INT8_MASK) != 0 ? 1 : c.bf16 ? 2 : 4;
  }
  std::size_t words_a_row(const Compute& c) const {
    const std::size_t bytes = std::size_t{config_.cols} * result_bytes(c);
    return (bytes + config_.stream_bytes - 1) / config_.stream_bytes;
  }
  std::size_t result_words(const Compute& c) const { return config_.rows * words_a_row(c); }

  void drain(const Compute& c, bool last_tile) {
    for (unsigned r = 0; r < config_.rows; ++r) {
      Word row(words_a_row(c) * config_.stream_bytes);
      for (unsigned col = 0; col < config_.cols; ++col) {
        const Cell& cell = cells_[std::size_t{r} * config_.cols + col];
        const float sum = config_.mx ? cell.chain : fixed_to_fp32(cell.sum, fp8_lsb_exp, cell.flags);
        const float scaled = epilogue(sum, std::bit_cast<float>(c.scale));
        const unsigned size = result_bytes(c), field = c.integer >> NG_TILE_INTEGER_ZERO_POINT_SHIFT;
        const int zero_point = static_cast<int>(field) - (field > 255 ? 512 : 0);
        const std::uint32_t code = size == 1   ? static_cast<std::uint8_t>(int8_result(scaled, zero_point))
                                   : size == 2 ? encode(Format::bf16, scaled, {.overflow = Overflow::ieee})
                                               : std::bit_cast<std::uint32_t>(scaled);
        for (unsigned i = 0; i < size; ++i) row[col * size + i] = static_cast<std::uint8_t>(code >> 8 * i);
      }
      for (std::size_t at = 0; at < row.size(); at += config_.stream_bytes) {
        const auto first = row.begin() + static_cast<std::ptrdiff_t>(at);
        const bool last = last_tile && r + 1 == config_.rows && at + config_.stream_bytes == row.size();
        results_.push_back({Word(first, first + config_.stream_bytes), last, c.irq});
      }
    }
  }

  void take_result() {
    if (results_.empty()) return;
    const Result result = results_.front();
    results_.pop_front();
    const std::uint64_t number = result_words_++;
    if (number != drop_result) arrived_.push_back(result.word);
    if (number == repeat_result) arrived_.push_back(result.word);
    if (!result.last) return;
    ++done_count_;
    if (result.irq) irq_pending_ |= NG_TILE_IRQ_PENDING_DONE_MASK;
  }

  const FakeTileConfig config_;
  std::array<Operand, 2> operands_;
  std::deque<Load> loads_;
  std::deque<Compute> computes_;
  std::deque<Packet> packets_;
  std::deque<Result> results_;
  std::deque<Word> arrived_;
  std::optional<Load> loading_;
  Word image_;
  unsigned images_left_ = 0;
  std::vector<Cell> cells_;
  unsigned a_panel_ = 0, b_panel_ = 0, beat_ = 0, sum_beats_ = 0;
  std::size_t a_start_ = 0;  // first image of A of a command with part_a
  unsigned error_ = 0, irq_enable_ = 0, irq_pending_ = 0, format_ = 0, panels_ = 0, edge_ = 0;
  std::uint32_t scale_ = 0, integer_ = 0, signature_ = 0, done_count_ = 0, load_count_ = 0, latched_high_ = 0;
  std::uint64_t cycle_ = 0, operand_words_ = 0, result_words_ = 0;
  std::array<std::uint64_t, counters_count> counters_{};
  std::array<Word, 2> last_elements_;
};

}  // namespace narrowgauge
