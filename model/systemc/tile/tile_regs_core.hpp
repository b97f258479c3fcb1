// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_regs.sv. Offsets and fields are those that the register description gives.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "narrowgauge/tile/tile_regs.hpp"
#include "systemc/tile/lite.hpp"
#include "systemc/tile/tile_params.hpp"

namespace narrowgauge::systemc {

/// Outputs are functions of the state; step() is a clock edge.
template <TileParams params>
class TileRegsCore {
 public:
  /// What the tile tells about itself.
  struct Status {
    bool busy = false;
    std::uint32_t load_space = 0, compute_space = 0, error = 0, done_count = 0, loads_count = 0;
    std::uint16_t amax = 0;                  ///< of a tile that requantizes
    bool late = false;                       ///< of a tile with a deadline
    std::uint32_t beats = 0;                 ///< of a tile with a deadline
    const TileCounters* counters = nullptr;  ///< of a tile without: nullptr
    bool done_event = false, error_event = false;
  };

  void reset() { *this = {}; }

  LiteSlavePins pins() const {
    return {.awready = !aw_held_,
            .wready = !w_held_,
            .bvalid = bvalid_,
            .arready = !ar_held_,
            .rvalid = rvalid_,
            .rdata = rdata_,
            .bresp = bresp_,
            .rresp = rresp_};
  }
  bool irq() const { return (fields_.irq_pending & fields_.irq_enable) != 0; }
  /// No access is under way.
  bool idle() const { return !aw_held_ && !w_held_ && !ar_held_; }
  bool soft_reset() const { return soft_reset_; }
  bool clear_counters() const { return clear_counters_; }
  bool clear_amax() const { return clear_amax_; }
  bool load_valid() const { return load_valid_; }
  TileLoad load() const {
    using namespace tile_regs::load;
    return {.operand = operand.get(wdata_) != 0,
            .more = more.get(wdata_) != 0,
            .compressed = compressed.get(wdata_) != 0,
            .beats = panel_beats.get(wdata_)};
  }
  bool code_valid() const { return code_valid_; }
  std::uint32_t code_address() const { return tile_regs::code::address.get(wdata_); }
  std::uint32_t code_data() const { return tile_regs::code::data.get(wdata_); }
  bool result_code_valid() const { return result_code_valid_; }
  std::uint32_t result_code_address() const { return tile_regs::result_code::address.get(wdata_); }
  std::uint32_t result_code_data() const { return tile_regs::result_code::data.get(wdata_); }
  bool compress() const { return tile_regs::compress::results.get(fields_.compress) != 0; }
  bool deadline_valid() const { return deadline_valid_; }
  TileDeadline deadline() const {
    using namespace tile_regs::deadline;
    return {.armed = armed.get(wdata_) != 0, .clocks = clocks.get(wdata_)};
  }
  TileInteger integer() const {
    using namespace tile_regs::integer;
    const int code = static_cast<int>(zero_point.get(fields_.integer)), beyond = 1 << zero_point.width;
    return {.int8 = int8.get(fields_.integer) != 0, .zero_point = code < beyond / 2 ? code : code - beyond};
  }
  bool compute_valid() const { return compute_valid_; }
  TileCompute compute() const {
    namespace r = tile_regs;
    return {.scale = fields_.scale,
            .bf16 = r::format::bf16.get(fields_.format) != 0,
            .results = static_cast<std::uint8_t>(
                r::requantize::nvfp4.get(fields_.requantize) | r::requantize::e4m3.get(fields_.requantize) << 1 |
                r::requantize::e5m2.get(fields_.requantize) << 2 | r::requantize::int4.get(fields_.requantize) << 3),
            .relu = r::requantize::relu.get(fields_.requantize) != 0,
            .tensor_scale = fields_.tensor_scale,
            .integer = integer(),
            .a_fmt = static_cast<std::uint8_t>(r::format::a.get(fields_.format)),
            .b_fmt = static_cast<std::uint8_t>(r::format::b.get(fields_.format)),
            .a_panels = r::panels::a.get(fields_.panels),
            .b_panels = r::panels::b.get(fields_.panels),
            .beats = r::compute::beats.get(wdata_),
            .rows = r::edge::rows.get(fields_.edge),
            .cols = r::edge::cols.get(fields_.edge),
            .part_a = r::compute::part_a.get(wdata_) != 0,
            .irq = r::compute::irq.get(wdata_) != 0,
            .release_b = r::compute::release_b.get(wdata_) != 0,
            .release_a = r::compute::release_a.get(wdata_) != 0,
            .last = r::compute::last.get(wdata_) != 0,
            .first = r::compute::first.get(wdata_) != 0};
  }

  /// The word that a read of byte address `address` gives at this moment, nothing if that is an error. No side effects.
  std::optional<std::uint32_t> peek(std::uint32_t address, const Status& status) const {
    namespace r = tile_regs;
    switch (address & ~3U) {
      case r::magic::offset:
        return r::magic::reset;
      case r::version::offset:
        return r::version::reset;
      case r::geometry::offset:
        return r::geometry::rows.put(params.rows) | r::geometry::cols.put(params.cols) |
               r::geometry::lanes.put(params.lanes) | r::geometry::format_set.put(params.format_set);
      case r::depths::offset:
        return r::depths::a.put(params.a_depth) | r::depths::b.put(params.b_depth);
      case r::stream::offset:
        return r::stream::bytes.put(params.stream_width / 8) | r::stream::counters.put(params.counters) |
               r::stream::requantize.put(params.requantize) | r::stream::sparse.put(params.sparse) |
               r::stream::codec.put(params.codec) | r::stream::encoders.put(params.encoders) |
               r::stream::protect.put(params.protect) | r::stream::deadline.put(params.deadline) |
               r::stream::integers.put(params.integers) | r::stream::mx.put(params.mx);
      case r::max_beats::offset:
        return r::max_beats::value.put(static_cast<std::uint32_t>(params.max_beats));
      case r::status::offset:
        return r::status::busy.put(status.busy) | r::status::load_space.put(status.load_space) |
               r::status::compute_space.put(status.compute_space) | r::status::error.put(status.error);
      case r::irq_enable::offset:
        return fields_.irq_enable;
      case r::irq_pending::offset:
        return fields_.irq_pending;
      case r::format::offset:
        return fields_.format;
      case r::scale::offset:
        return fields_.scale;
      case r::panels::offset:
        return fields_.panels;
      case r::edge::offset:
        return fields_.edge;
      case r::control::offset:
      case r::load::offset:
      case r::compute::offset:
        return 0;
      case r::done::offset:
        return status.done_count;
      case r::loads::offset:
        return status.loads_count;
      case r::requantize::offset:
        return existing(params.requantize, fields_.requantize);
      case r::tensor_scale::offset:
        return existing(params.requantize, fields_.tensor_scale);
      case r::integer::offset:
        return existing(params.integers, fields_.integer);
      case r::amax::offset:
        return existing(params.requantize, r::amax::value.put(status.amax));
      case r::code::offset:
        return existing(params.codec != 0, 0);
      case r::compress::offset:
        return existing(params.encoders != 0, fields_.compress);
      case r::result_code::offset:
        return existing(params.encoders != 0, 0);
      case r::deadline::offset:
        return existing(params.deadline, 0);
      case r::progress::offset:
        return existing(params.deadline, r::progress::late.put(status.late) | r::progress::beats.put(status.beats));
      case r::signature::offset:
        return fields_.signature;
      default:
        return peek_counter(address, status);
    }
  }

  void step(const LiteMasterPins& in, const Status& status) {
    const bool write = aw_held_ && w_held_ && !bvalid_, read = ar_held_ && !rvalid_;
    const bool write_ends = bvalid_ && in.bready, read_ends = rvalid_ && in.rready, clear = soft_reset_;
    soft_reset_ = clear_counters_ = clear_amax_ = load_valid_ = compute_valid_ = false;
    code_valid_ = result_code_valid_ = deadline_valid_ = false;
    if (read) this->read(status);
    std::uint32_t acknowledged = 0;
    if (write) {
      const bool good = this->write(acknowledged);
      bresp_ = good ? 0 : 2;
      if (good) sign();
    }
    fields_.irq_pending = tile_regs::irq_pending::done.put(status.done_event) |
                          tile_regs::irq_pending::error.put(status.error_event) | (fields_.irq_pending & ~acknowledged);
    if (clear) {
      fields_ = {};
      high_ = {};
    }

    if (!aw_held_ && in.awvalid) awaddr_ = in.awaddr & ~3U;
    if (!w_held_ && in.wvalid) {
      wdata_ = in.wdata;
      wstrb_ = in.wstrb;
    }
    if (!ar_held_ && in.arvalid) araddr_ = in.araddr & ~3U;
    aw_held_ = aw_held_ ? !write_ends : in.awvalid;
    w_held_ = w_held_ ? !write_ends : in.wvalid;
    ar_held_ = ar_held_ ? !read_ends : in.arvalid;
    bvalid_ = write || (bvalid_ && !in.bready);
    rvalid_ = read || (rvalid_ && !in.rready);
  }

 private:
  /// Stored fields, as the words of their registers.
  struct Fields {
    std::uint32_t irq_enable = tile_regs::irq_enable::reset, irq_pending = tile_regs::irq_pending::reset;
    std::uint32_t format = tile_regs::format::reset, scale = tile_regs::scale::reset;
    std::uint32_t panels = tile_regs::panels::reset, edge = tile_regs::edge::reset;
    std::uint32_t requantize = tile_regs::requantize::reset, tensor_scale = tile_regs::tensor_scale::reset,
                  integer = tile_regs::integer::reset;
    std::uint32_t compress = tile_regs::compress::reset;
    std::uint32_t signature = tile_regs::signature::reset;
  };
  using High = std::array<std::uint32_t, 9>;  // upper words of the counters, kept when the lower ones are read

  /// What a register reads that some tiles have; nothing if this one does not.
  static std::optional<std::uint32_t> existing(bool has, std::uint32_t word) {
    return has ? std::optional(word) : std::nullopt;
  }

  /// The counter of a low word's address, or of the high word's after it; past the last one, and before the first: 9.
  static constexpr std::size_t counter_of(std::uint32_t address) {
    const std::uint32_t index = (address - tile_regs::cycles::offset) / 8;
    return index < High{}.size() ? index : High{}.size();
  }

  static std::uint64_t counter(const TileCounters& counters, std::size_t index) {
    const std::uint64_t all[] = {counters.cycles,    counters.busy,     counters.stall_in,
                                 counters.stall_out, counters.products, counters.zero_a,
                                 counters.zero_b,    counters.flips_a,  counters.flips_b};
    static_assert(std::size(all) == High{}.size());
    return all[index];
  }

  std::optional<std::uint32_t> peek_counter(std::uint32_t address, const Status& status) const {
    const std::size_t index = counter_of(address);
    if (index == high_.size()) return {};
    if constexpr (!params.counters) return 0;
    if (address & 4) return high_[index];
    return static_cast<std::uint32_t>(counter(*status.counters, index));
  }

  void read(const Status& status) {
    const auto word = peek(araddr_, status);
    rdata_ = word.value_or(0);
    rresp_ = word ? 0 : 2;
    const std::size_t index = counter_of(araddr_);
    if (params.counters && index < high_.size() && !(araddr_ & 4))
      high_[index] = static_cast<std::uint32_t>(counter(*status.counters, index) >> 32);
  }

  /// Takes the write that is held into the signature.
  void sign() {
    namespace r = tile_regs;
    if (awaddr_ == r::control::offset || awaddr_ == r::irq_enable::offset || awaddr_ == r::irq_pending::offset) return;
    const std::uint32_t key = std::uint32_t{wstrb_} << 12 | awaddr_;
    std::uint32_t x = fields_.signature ^ wdata_ ^ (key << 16 | key);
    x ^= x << 13;
    x ^= x >> 17;
    fields_.signature = x ^ x << 5;
  }

  /// Does the write that is held; false: an error. `acknowledged`: interrupts that it clears.
  bool write(std::uint32_t& acknowledged) {
    namespace r = tile_regs;
    std::uint32_t bytes = 0;
    for (unsigned i = 0; i < 4; ++i) bytes |= wstrb_ >> i & 1 ? 0xFFU << 8 * i : 0;
    const auto put = [&](std::uint32_t& word, std::uint32_t fields) {
      word = (word & ~(bytes & fields)) | (wdata_ & bytes & fields);
      return true;
    };
    const bool whole = wstrb_ == 0xF;
    switch (awaddr_) {
      case r::control::offset:
        soft_reset_ = whole && r::control::soft_reset.get(wdata_);
        clear_counters_ = whole && r::control::clear_counters.get(wdata_);
        clear_amax_ = whole && r::control::clear_amax.get(wdata_);
        return whole;
      case r::irq_enable::offset:
        return put(fields_.irq_enable, r::irq_enable::done.mask() | r::irq_enable::error.mask());
      case r::irq_pending::offset:
        return put(acknowledged, r::irq_pending::done.mask() | r::irq_pending::error.mask());
      case r::load::offset:
        return load_valid_ = whole;
      case r::format::offset:
        return put(fields_.format, r::format::a.mask() | r::format::b.mask() | r::format::bf16.mask());
      case r::scale::offset:
        return put(fields_.scale, r::scale::value.mask());
      case r::panels::offset:
        return put(fields_.panels, r::panels::a.mask() | r::panels::b.mask());
      case r::edge::offset:
        return put(fields_.edge, r::edge::rows.mask() | r::edge::cols.mask());
      case r::compute::offset:
        return compute_valid_ = whole;
      case r::code::offset:
        return code_valid_ = params.codec != 0 && whole;
      case r::result_code::offset:
        return result_code_valid_ = params.encoders != 0 && whole;
      case r::deadline::offset:
        return deadline_valid_ = params.deadline && whole;
      case r::compress::offset:
        return params.encoders != 0 && put(fields_.compress, r::compress::results.mask());
      case r::requantize::offset:
        return params.requantize &&
               put(fields_.requantize, r::requantize::nvfp4.mask() | r::requantize::relu.mask() |
                                           r::requantize::e4m3.mask() | r::requantize::e5m2.mask() |
                                           r::requantize::int4.mask());
      case r::tensor_scale::offset:
        return params.requantize && put(fields_.tensor_scale, r::tensor_scale::value.mask());
      case r::integer::offset:
        return params.integers && put(fields_.integer, r::integer::int8.mask() | r::integer::zero_point.mask());
      default:
        return false;
    }
  }

  bool aw_held_ = false, w_held_ = false, bvalid_ = false, ar_held_ = false, rvalid_ = false;
  std::uint32_t awaddr_ = 0, wdata_ = 0, araddr_ = 0, rdata_ = 0;
  std::uint8_t wstrb_ = 0, bresp_ = 0, rresp_ = 0;
  bool soft_reset_ = false, clear_counters_ = false, clear_amax_ = false, load_valid_ = false, compute_valid_ = false;
  bool code_valid_ = false, result_code_valid_ = false, deadline_valid_ = false;
  Fields fields_;
  High high_{};
};

}  // namespace narrowgauge::systemc
