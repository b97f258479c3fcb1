// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_counters.sv and ng_tile_activity.sv.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "narrowgauge/tile/tile_regs.hpp"
#include "systemc/tile/tile_params.hpp"

namespace narrowgauge::systemc {

/// Outputs are functions of the state; step() is a clock edge.
template <TileParams params>
class TileCountersCore {
 public:
  void reset() { *this = {}; }

  const TileCounters& counters() const { return counters_; }

  /// No beat is on its way to the counters.
  bool idle() const { return !now_.valid && !later_.valid; }
  /// Takes `cycles` clock edges at once, which alone are counted; idle() must hold.
  void skip(std::uint64_t cycles) { counters_.cycles += cycles; }

  struct In {
    bool clear = false, busy = false, stall_in = false;
    bool valid = false, ready = false;  ///< the beat offered to the array
    std::uint8_t fmt = 0;               ///< its format of A
    std::uint64_t row_en = 0, col_en = 0;
    const std::uint8_t *a = nullptr, *b = nullptr;  ///< its elements
  };

  void step(const In& in) {
    counters_.cycles += 1;
    counters_.busy += in.busy;
    counters_.stall_in += in.stall_in;
    counters_.stall_out += in.valid && !in.ready;
    if (later_.valid) {
      counters_.products += later_.events.products;
      counters_.zero_a += later_.events.zero_a;
      counters_.zero_b += later_.events.zero_b;
      counters_.flips_a += later_.events.flips_a;
      counters_.flips_b += later_.events.flips_b;
    }
    later_ = now_;
    now_.valid = in.valid && in.ready;
    if (now_.valid) count(in);
    if (in.clear) {
      counters_ = {};
      later_.valid = now_.valid = false;
    }
  }

 private:
  struct Beat {
    bool valid = false;
    TileCounters events{};
  };
  template <bool b>
  struct Image {
    static constexpr int vectors = params.vectors(b);
    static constexpr std::size_t vector_bytes = static_cast<std::size_t>(params.vector_bytes(b));
    std::array<std::uint8_t, vectors * vector_bytes> bytes{};
  };

  void count(const In& in) {
    now_.events.products = static_cast<std::uint64_t>(std::popcount(in.row_en)) *
                           static_cast<std::uint64_t>(std::popcount(in.col_en)) * params.lanes;
    const bool fp4 = (in.fmt & 2) != 0;
    const bool int4 = params.array().has_luq() && in.fmt == static_cast<unsigned>(tile_regs::TileElement::luq);
    look(a_, in.a, in.row_en, fp4, int4, now_.events.zero_a, now_.events.flips_a);
    look(b_, in.b, in.col_en, fp4, false, now_.events.zero_b, now_.events.flips_b);
  }

  /// Counts zero elements of enabled vectors and bits that differ from the image before, which it replaces.
  template <bool b>
  static void look(Image<b>& before, const std::uint8_t* data, std::uint64_t enable, bool fp4, bool int4,
                   std::uint64_t& zeros, std::uint64_t& flips) {
    zeros = flips = 0;
    constexpr int step = 8;
    constexpr std::size_t vector_bytes = Image<b>::vector_bytes;
    for (int v = 0; v < Image<b>::vectors; ++v) {
      std::uint8_t* old = before.bytes.data() + static_cast<std::size_t>(v) * vector_bytes;
      const bool enabled = enable >> v & 1;
      for (std::size_t at = 0; at < vector_bytes; at += step) {
        const std::size_t size = std::min<std::size_t>(step, vector_bytes - at);
        std::uint64_t bits = 0, was = 0;
        if (enabled) std::memcpy(&bits, data + static_cast<std::size_t>(v) * vector_bytes + at, size);
        std::memcpy(&was, old + at, size);
        std::memcpy(old + at, &bits, size);
        flips += static_cast<unsigned>(std::popcount(bits ^ was));
        if (enabled) zeros += zero_elements(bits, fp4, int4) - (step - size) * 8 / params.array().elem_width();
      }
    }
  }

  /// Elements among the 64 bits whose bits but the sign, of integers all, are zero.
  static std::uint64_t zero_elements(std::uint64_t bits, bool fp4, bool int4) {
    constexpr std::uint64_t ones = params.array().elem_width() == 4 ? 0x1111111111111111 : 0x0101010101010101;
    std::uint64_t any = bits | bits >> 1 | bits >> 2;
    if (int4) any |= bits >> 3;
    if (params.array().has_int8())
      return static_cast<unsigned>(std::popcount(~(any | any >> 3 | bits >> 6 | bits >> 7) & ones));
    if (params.array().elem_width() == 8 && !fp4) any |= any >> 3 | bits >> 6;
    return static_cast<unsigned>(std::popcount(~any & ones));
  }

  TileCounters counters_{};
  Beat now_, later_;  // beats taken one and two cycles ago
  Image<false> a_;
  Image<true> b_;
};

}  // namespace narrowgauge::systemc
