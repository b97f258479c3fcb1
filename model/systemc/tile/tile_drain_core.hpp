// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_drain.sv. Scaling is narrowgauge::epilogue, BF16 is narrowgauge::encode,
// operand A TileRequantizeCore, INT8 narrowgauge::int8_result.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/integer_results.hpp"
#include "narrowgauge/quant/requantize.hpp"
#include "systemc/pipe_core.hpp"
#include "systemc/prim/fifo2_core.hpp"
#include "systemc/tile/tile_params.hpp"
#include "systemc/tile/tile_requantize_core.hpp"

namespace narrowgauge::systemc {

/// What a drain without requantization has instead of TileRequantizeCore.
struct NoRequantizeCore {
  void reset() {}
  bool ready() const { return false; }
  bool valid() const { return false; }
  bool busy() const { return false; }
  std::uint16_t amax() const { return 0; }
};

/// Outputs are functions of the state; step() is a clock edge.
template <TileParams params>
class TileDrainCore {
  static constexpr int cols = params.cols, units = params.stream_words();

 public:
  using Word = std::array<std::uint32_t, units>;  ///< of the stream
  using Row = std::array<std::uint32_t, cols>;

  void reset() {
    group_ = 0;
    chosen_.valid = scaled_.valid = packing_.valid = false;
    products_.reset();
    requantize_.reset();
    queue_.reset();
  }

  bool ready() const { return choose() && row_end(); }
  bool job_ready() const { return chosen_.valid && chosen_.job_end && scale_ready(); }
  bool valid() const { return queue_.valid(); }
  const Word& data() const { return queue_.data().word; }
  bool last() const { return queue_.data().last; }
  bool irq() const { return queue_.data().irq; }
  bool busy() const {
    return products_.busy() || scaled_.valid || packing_.valid || queue_.valid() || requantize_.busy();
  }
  std::uint16_t amax() const { return requantize_.amax(); }

  /// `row`: nullptr if valid_i is low, `last`: the last row of a job. `job`: the head of the queue of jobs.
  void step(const Row* row, bool last, const TileJob& job, bool ready, bool clear_amax = false) {
    const bool choose = this->choose(), scale_ready = this->scale_ready(), row_end = this->row_end();
    const bool scaled_ready = this->scaled_ready();
    pack(ready, clear_amax);
    if constexpr (params.integers) {
      if (scaled_ready) packing_ = scaled_;
    }
    if (scale_ready) {
      const auto scaled = products_.step(chosen_.valid ? std::optional(scale(job)) : std::nullopt);
      scaled_.valid = scaled.has_value();
      if (scaled) scaled_ = *scaled;
    }
    if (choose) {
      chosen_.valid = row != nullptr;
      if (row) {
        for (int u = 0; u < units; ++u) {
          const int column = group_ * units + u;
          chosen_.data[static_cast<std::size_t>(u)] = column < cols ? (*row)[static_cast<std::size_t>(column)] : 0;
        }
        chosen_.odd = group_ % 2 != 0;
        chosen_.quarter = group_ % 4;
        chosen_.row_end = row_end;
        chosen_.job_end = row_end && last;
        group_ = row_end ? 0 : group_ + 1;
      }
    }
  }

 private:
  static constexpr int groups = (cols + units - 1) / units, last_units = cols - (groups - 1) * units;

  using Requantize = std::conditional_t<params.requantize,
                                        TileRequantizeCore<params.rows, params.cols, params.lanes, params.format_set,
                                                           params.stream_width, params.requantize_cuts>,
                                        NoRequantizeCore>;

  struct Chosen {
    bool valid = false, odd = false, row_end = false, job_end = false;
    int quarter = 0;  // of a word, in INT8
    Word data{};
  };
  struct Scaled {
    bool valid = false, odd = false, row_end = false, bf16 = false, last = false, irq = false;
    bool relu = false, images_end = false;
    std::uint8_t results = 0;
    std::uint32_t tensor_scale = 0;
    TileInteger integer;
    int quarter = 0;
    Word data{};
  };
  struct Result {
    Word word{};
    bool last = false, irq = false;
  };

  bool row_end() const { return group_ == groups - 1; }
  bool choose() const { return !chosen_.valid || scale_ready(); }
  bool scale_ready() const { return !scaled_.valid || scaled_ready(); }
  bool scaled_ready() const {
    if constexpr (params.integers) {
      if (!packing_.valid) return true;
    }
    return pack_ready();
  }
  /// What is packed: with integers all numbers go through a stage more.
  const Scaled& packing() const {
    if constexpr (params.integers) return packing_;
    return scaled_;
  }
  bool pack_ready() const {
    if (requantizes()) return requantize_.ready();
    return !word_end() || (queue_.ready() && !requantize_.busy());
  }
  bool requantizes() const { return params.requantize && packing().results != 0; }
  bool int8() const { return params.integers && packing().integer.int8; }
  bool word_end() const {
    if (packing().row_end) return true;
    return int8() ? packing().quarter == 3 : !packing().bf16 || packing().odd;
  }

  Scaled scale(const TileJob& job) const {
    const auto factor = std::bit_cast<float>(job.scale);
    // Zeros after a row stay zeros whatever the scale is.
    Scaled scaled{.valid = true,
                  .odd = chosen_.odd,
                  .row_end = chosen_.row_end,
                  .bf16 = job.bf16,
                  .last = chosen_.job_end && job.final_tile,
                  .irq = job.irq,
                  .relu = job.relu,
                  .images_end = job.row_end,
                  .results = job.results,
                  .tensor_scale = job.tensor_scale,
                  .integer = job.integer,
                  .quarter = chosen_.quarter};
    const int numbers = chosen_.row_end ? last_units : units;
    for (std::size_t u = 0; u < static_cast<std::size_t>(numbers); ++u)
      scaled.data[u] = std::bit_cast<std::uint32_t>(epilogue(std::bit_cast<float>(chosen_.data[u]), factor));
    return scaled;
  }

  void pack(bool ready, bool clear_amax) {
    const Scaled& from = packing();
    Result result{};
    bool push = from.valid && !requantizes() && word_end() && !requantize_.busy();
    if (push) {
      result.last = from.last;
      result.irq = from.irq;
      if (int8()) {
        if (from.quarter != 0) result.word = low_;
        put_int8(result.word);
      } else if (from.bf16) {
        if (from.odd) result.word = low_;
        put_bf16(result.word, from.odd);
      } else {
        result.word = from.data;
      }
    }
    if constexpr (params.requantize) {
      if (requantize_.valid()) {
        push = true;
        result = {.word = requantize_.data(), .last = requantize_.last(), .irq = requantize_.irq()};
      }
      typename Requantize::Beat beat{.format = from.results,
                                     .tensor_scale = from.tensor_scale,
                                     .end = from.images_end,
                                     .last = from.last,
                                     .irq = from.irq};
      for (std::size_t u = 0; u < beat.data.size(); ++u)
        beat.data[u] = requantize_input(std::bit_cast<float>(from.data[u]), from.relu);
      requantize_.step(from.valid && from.results != 0 ? &beat : nullptr, queue_.ready(), clear_amax);
    }
    // A group that stays keeps its part of the word, which it would put there once more.
    const bool kept = from.valid && !word_end();
    queue_.step(push ? &result : nullptr, ready);
    if (!kept) return;
    if (int8()) {
      if (from.quarter == 0) low_ = {};
      put_int8(low_);
    } else {
      low_ = {};
      put_bf16(low_, false);
    }
  }

  std::uint32_t bf16(std::size_t u) const {
    return encode(Format::bf16, std::bit_cast<float>(packing().data[u]), {.overflow = Overflow::ieee});
  }

  /// The scaled numbers as BF16, to the lower or upper half of a word.
  void put_bf16(Word& word, bool upper) const {
    for (unsigned u = 0; u < units; ++u) {
      const unsigned half = u + (upper ? units : 0);
      word[half / 2] |= bf16(u) << half % 2 * 16;
    }
  }

  /// The scaled numbers as INT8, to their quarter of a word; behind a row zeros, whatever the zero point is.
  void put_int8(Word& word) const {
    const Scaled& from = packing();
    const unsigned numbers = from.row_end ? last_units : units;
    for (unsigned u = 0; u < numbers; ++u) {
      const unsigned place = u + static_cast<unsigned>(from.quarter) * units;
      const auto code =
          static_cast<std::uint8_t>(int8_result(std::bit_cast<float>(from.data[u]), from.integer.zero_point));
      word[place / 4] |= std::uint32_t{code} << place % 4 * 8;
    }
  }

  int group_ = 0;  // of the row's numbers
  Chosen chosen_;
  PipeCore<std::popcount(params.scale_cuts), Scaled> products_;  // in the stages of scaling
  Scaled scaled_, packing_;
  Word low_{};
  Requantize requantize_;
  Fifo2Core<Result> queue_;
};

}  // namespace narrowgauge::systemc
