// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile.sv: every output in every cycle. Plain C++; systemc/tile/tile.hpp is its SystemC
// module.
//
//   TileCore<params> tile;                   // as after reset
//   for (;;) {
//     const TileOut& out = tile.out();       // what the tile drives in this cycle: all from registers
//     TileIn in = ...;                       // what the others drive, which may depend on `out`
//     tile.step(in);                         // the clock edge
//   }
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "systemc/mac/mac_array_core.hpp"
#include "systemc/prim/fifo2_core.hpp"
#include "systemc/prim/fifo_core.hpp"
#include "systemc/tile/operand_buffer_core.hpp"
#include "systemc/tile/tile_counters_core.hpp"
#include "systemc/tile/tile_deadline_core.hpp"
#include "systemc/tile/tile_decode_core.hpp"
#include "systemc/tile/tile_drain_core.hpp"
#include "systemc/tile/tile_loader_core.hpp"
#include "systemc/tile/tile_params.hpp"
#include "systemc/tile/tile_regs_core.hpp"
#include "systemc/tile/tile_results_core.hpp"
#include "systemc/tile/tile_sequencer_core.hpp"

namespace narrowgauge::systemc {

/// Inputs of a clock edge.
struct TileIn {
  LiteMasterPins lite;
  const void* operand = nullptr;  ///< s_axis_tdata, lowest byte first; nullptr if tvalid is low
  bool operand_last = false;      ///< s_axis_tlast
  bool result_ready = false;      ///< m_axis_tready
};

/// Outputs.
struct TileOut {
  LiteSlavePins lite;
  bool operand_ready = true;              ///< s_axis_tready
  const std::uint32_t* result = nullptr;  ///< m_axis_tdata, lowest word first, until step(); nullptr if tvalid is low
  bool result_last = false;               ///< m_axis_tlast, while there is a result
  bool irq = false;
};

/// The tile of the parameters, up to 64 rows and columns. Outputs are functions of the state; step() is a clock edge.
template <TileParams params>
class TileCore {
  static_assert(std::endian::native == std::endian::little,
                "TileCore reads ports as images; expected a little-endian machine");
  static_assert(params.valid(), "TileCore: the parameters are not those of a tile that can be built");

 public:
  void reset() {
    regs_.reset();
    core_on_ = false;
    reset_core();
  }

  TileOut out() const {
    return {.lite = regs_.pins(),
            .operand_ready = words_.ready(),
            .result = result_valid() ? result() : nullptr,
            .result_last = result_last(),
            .irq = regs_.irq()};
  }

  void step(const TileIn& in) {
    const bool soft_reset = regs_.soft_reset();
    if (core_on_ && !soft_reset) {
      step_all(in);
    } else {
      regs_.step(in.lite, status());
    }
    // The core's reset is a register: the edge at which it falls resets the core, and the next one, too.
    if (soft_reset) reset_core();
    core_on_ = !soft_reset;
  }

  /// The word that the register at a byte address holds, nothing if there is none. No side effects.
  std::optional<std::uint32_t> peek(std::uint32_t address) const { return regs_.peek(address, status()); }

  /// Nothing changes but the count of cycles until an input does.
  bool idle() const { return core_on_ && regs_.idle() && !status().busy && !words_.valid() && counters_.idle(); }

  /// Takes `cycles` clock edges at once, without input; idle() must hold.
  void skip(std::uint64_t cycles) {
    counters_.skip(cycles);
    if constexpr (params.deadline) deadline_.skip(cycles);
  }

 protected:
  // Open to those who put faults into the model.
  using Regs = TileRegsCore<params>;
  using Loader = TileLoaderCore<params.a_depth, params.b_depth, params.load_cuts>;
  using Sequencer = TileSequencerCore<params>;
  using Array = MacArrayCore<params.array()>;
  template <bool b, int depth>
  using Buffer = OperandBufferCore<params.image_words(b), params.stream_width / 8, depth>;

  using Decode = TileDecodeCore<params.stream_words(), params.codec == 0 ? 1 : params.codec>;
  using Word = typename Decode::Word;
  using Results = TileResultsCore<params.stream_words(), params.encoders == 0 ? 1 : params.encoders>;
  struct None {};

  static constexpr int queue_depth = 4;
  static constexpr int job_depth = params.rows > 1 && params.cell_cuts == 0 && params.convert_cuts == 0 ? 8 : 16;

  Regs regs_;
  bool core_on_ = false;  // core_rst_n
  std::uint32_t error_ = 0, done_count_ = 0, loads_count_ = 0;
  FifoCore<TileLoad, queue_depth> loads_;
  FifoCore<TileCompute, queue_depth, true> computes_;
  FifoCore<TileJob, job_depth, true> jobs_;
  Fifo2Core<Word> words_;
  std::conditional_t<params.codec != 0, Decode, None> decode_;
  Loader loader_;
  Buffer<false, params.a_depth> a_;
  Buffer<true, params.b_depth> b_;
  Sequencer sequencer_;
  Array array_;
  TileDrainCore<params> drain_;
  std::conditional_t<params.encoders != 0, Results, None> results_;
  TileCountersCore<params> counters_;
  std::conditional_t<params.deadline, TileDeadlineCore, None> deadline_;

 private:
  void reset_core() {
    error_ = done_count_ = loads_count_ = 0;
    loads_.reset();
    computes_.reset();
    jobs_.reset();
    words_.reset();
    if constexpr (params.codec != 0) decode_.reset();
    loader_.reset();
    a_.reset();
    b_.reset();
    sequencer_.reset();
    array_.reset();
    drain_.reset();
    if constexpr (params.encoders != 0) results_.reset();
    counters_.reset();
    if constexpr (params.deadline) deadline_.reset();
  }

  // What leaves: the drain's words, or what the encoders make of them.
  typename Results::In drained() const {
    return {.valid = drain_.valid(), .data = drain_.data().data(), .last = drain_.last(), .irq = drain_.irq()};
  }
  bool result_valid() const {
    if constexpr (params.encoders != 0) return results_.valid(drained());
    return drain_.valid();
  }
  const std::uint32_t* result() const {
    if constexpr (params.encoders != 0) return results_.data(drained());
    return drain_.data().data();
  }
  bool result_last() const {
    if constexpr (params.encoders != 0) return results_.last(drained());
    return drain_.last();
  }
  bool result_irq() const {
    if constexpr (params.encoders != 0) return results_.irq(drained());
    return drain_.irq();
  }
  bool result_taken(bool out_ready) const {
    if constexpr (params.encoders != 0) return results_.ready(out_ready);
    return out_ready;
  }
  bool encoding() const {
    if constexpr (params.encoders != 0) return results_.busy() && error_ == 0;
    return false;
  }

  bool computing() const {
    return computes_.space() != queue_depth || sequencer_.busy() || jobs_.valid() || drain_.busy() || encoding();
  }

  bool late() const {
    if constexpr (params.deadline) return deadline_.late();
    return false;
  }
  std::uint32_t beats() const {
    if constexpr (params.deadline) return deadline_.beats();
    return 0;
  }

  typename Regs::Status status() const {
    return {.busy = loads_.valid() || computing(),
            .load_space = static_cast<std::uint32_t>(loads_.space()),
            .compute_space = static_cast<std::uint32_t>(computes_.space()),
            .error = error_,
            .done_count = done_count_,
            .loads_count = loads_count_,
            .amax = drain_.amax(),
            .late = late(),
            .beats = beats(),
            .counters = params.counters ? &counters_.counters() : nullptr};
  }

  void step_all(const TileIn& in) {
    const bool stop = error_ != 0;

    // What the units say in this cycle. The loader takes the stream, or what the decoders make of it.
    const bool compressed = params.codec != 0 && loads_.valid() && loads_.data().compressed;
    const void* word = words_.data().data.data();
    bool word_valid = words_.valid(), word_last = words_.data().last, code_error = false;
    if constexpr (params.codec != 0) {
      code_error = decode_.fault();
      if (compressed) {
        word = decode_.data().data();
        word_valid = decode_.valid();
        word_last = decode_.last();
      }
    }
    const typename Loader::In loader_in{.stop = stop,
                                        .cmd = loads_.valid() ? &loads_.data() : nullptr,
                                        .valid = word_valid,
                                        .last = word_last,
                                        .a_open = a_.open(),
                                        .a_last_word = a_.last_word(),
                                        .a_filled = a_.filled(),
                                        .b_open = b_.open(),
                                        .b_last_word = b_.last_word(),
                                        .b_filled = b_.filled()};
    const auto loader = loader_.look(loader_in);
    const typename Sequencer::In sequencer_in{.stop = stop,
                                              .late = late(),
                                              .cmd = computes_.valid() ? &computes_.data() : nullptr,
                                              .a_complete = a_.complete(),
                                              .b_complete = b_.complete(),
                                              .a_images = a_.images(),
                                              .b_images = b_.images(),
                                              .array_ready = array_.ready()};
    const auto sequencer = sequencer_.look(sequencer_in);
    const auto& beat = sequencer_.beat();
    const bool row_ready = drain_.ready(), job_pop = drain_.job_ready();
    const bool left = result_valid() && in.result_ready && result_last();
    const bool load_push = regs_.load_valid(), compute_push = regs_.compute_valid();
    const TileLoad load = regs_.load();
    const TileCompute compute = compute_push ? regs_.compute() : TileCompute{};
    const bool code_valid = params.codec != 0 && regs_.code_valid();
    const std::uint32_t code_address = regs_.code_address(), code_data = regs_.code_data();
    const bool result_code_valid = params.encoders != 0 && regs_.result_code_valid(), compress = regs_.compress();
    const std::uint32_t result_code_address = regs_.result_code_address(), result_code_data = regs_.result_code_data();
    const bool deadline_start = params.deadline && regs_.deadline_valid();
    const TileDeadline deadline = regs_.deadline();
    const bool clear_counters = regs_.clear_counters(), clear_amax = regs_.clear_amax();

    auto status = this->status();
    const bool busy = computing();
    status.done_event = left && result_irq();
    const bool full_error = (load_push && !loads_.ready()) || (compute_push && !computes_.ready());
    if (!stop) {
      using enum tile_regs::TileError;
      error_ = static_cast<std::uint32_t>(loader.load_error          ? bad_load
                                          : sequencer.compute_error  ? bad_compute
                                          : full_error               ? queue_full
                                          : loader.short_error       ? short_stream
                                          : loader.long_error        ? long_stream
                                          : sequencer.mismatch_error ? bank_mismatch
                                          : array_.error()           ? bad_metadata
                                          : code_error               ? bad_code
                                                                     : none);
      status.error_event = error_ != 0;
    }

    // The edge. Each unit moves after those that look at its outputs of this cycle.
    regs_.step(in.lite, status);
    done_count_ += left;
    loads_count_ += loader.done;
    const std::uint8_t *a = a_.image(), *b = b_.image();
    if constexpr (params.counters) {
      counters_.step({.clear = clear_counters,
                      .busy = busy,
                      .stall_in = sequencer.starved,
                      .valid = beat.valid,
                      .ready = sequencer_in.array_ready,
                      .fmt = beat.a_fmt,
                      .row_en = beat.row_en,
                      .col_en = beat.col_en,
                      .a = a,
                      .b = b});
    }
    const bool result_taken = this->result_taken(in.result_ready);
    if constexpr (params.encoders != 0) {
      results_.step(drained(), compress, in.result_ready);
      if (result_code_valid)
        results_.load(static_cast<std::uint8_t>(result_code_address), static_cast<std::uint16_t>(result_code_data));
    }
    drain_.step(array_.valid() ? &array_.data() : nullptr, array_.valid() && array_.last(), jobs_.data(), result_taken,
                clear_amax);
    jobs_.step(sequencer.job_valid ? &sequencer.job : nullptr, job_pop);
    const MacArrayBeat operands{.first = beat.first,
                                .last = beat.last,
                                .a_fmt = beat.a_fmt,
                                .b_fmt = beat.b_fmt,
                                .row_en = beat.row_en,
                                .col_en = beat.col_en,
                                .a = a,
                                .b = b,
                                .a_scale = a + params.element_bytes(false),
                                .b_scale = b + params.element_bytes(true)};
    array_.step(beat.valid ? &operands : nullptr, row_ready);
    a_.step({.write = loader.a_write ? word : nullptr,
             .close = loader.close,
             .read = sequencer.read,
             .addr = sequencer.a_addr,
             .release = sequencer.a_release});
    b_.step({.write = loader.b_write ? word : nullptr,
             .close = loader.close,
             .read = sequencer.read,
             .addr = sequencer.b_addr,
             .release = sequencer.b_release});
    loader_.step(loader_in, loader);
    sequencer_.step(sequencer_in, sequencer);
    if constexpr (params.deadline) deadline_.step(deadline_start ? &deadline : nullptr, sequencer.read);
    loads_.step(load_push ? &load : nullptr, loader.done, stop);
    computes_.step(compute_push ? &compute : nullptr, sequencer.cmd_ready, stop);
    bool ready = loader.ready;
    if constexpr (params.codec != 0) {
      if (compressed && !stop) ready = decode_.ready();
      decode_.step(words_.valid() && compressed && !stop ? &words_.data() : nullptr, loader.ready && compressed);
      if (code_valid) decode_.load(code_address, code_data);
    }
    take_word(in, ready);
  }

  void take_word(const TileIn& in, bool ready) {
    if (!in.operand || !words_.ready()) return words_.step(nullptr, ready);
    Word word;
    std::memcpy(word.data.data(), in.operand, sizeof word.data);
    word.last = in.operand_last;
    words_.step(&word, ready);
  }
};

}  // namespace narrowgauge::systemc
