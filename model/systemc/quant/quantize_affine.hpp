// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_affine with cuts: ports and latency of rtl/quant/ng_quantize_affine.sv.
#pragma once

#include <array>

#include "narrowgauge/quant/quantize_affine.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int lanes>
struct AffineCodes {
  std::array<std::uint8_t, static_cast<std::size_t>(lanes)> codes{};  ///< their low bits
  bool special = false;
};

/// The unit's parameters, as the RTL has them.
struct AffineParams {
  int lanes, bits, input;
  bool pow2, per_lane, is_signed, ties_away;
  int random_bits;

  constexpr AffineUnit unit() const {
    return {.input = static_cast<AffineInput>(input),
            .bits = bits,
            .power_of_two = pow2,
            .is_signed = is_signed,
            .ties_away = ties_away,
            .random_bits = random_bits};
  }
  constexpr int scales() const { return per_lane ? lanes : 1; }
  constexpr int random_width() const { return random_bits > 0 ? random_bits : 1; }
};

template <AffineParams params, int cuts, class Core = CutPipeCore<cuts, AffineCodes<params.lanes>>>
struct QuantizeAffine : CutPipe<Core, AffineCodes<params.lanes>> {
  static constexpr int lanes = params.lanes, bits = params.bits, scales = params.scales();
  using Codes = AffineCodes<lanes>;
  using CutPipe<Core, Codes>::CutPipe;
  In<32 * lanes> a_i{"a_i"};
  In<24 * scales> inverse_i{"inverse_i"};
  In<params.unit().shift_bits() * scales> shift_i{"shift_i"};
  In<(bits + 1) * scales> zero_point_i{"zero_point_i"};
  In<1> stochastic_i{"stochastic_i"};
  In<params.random_width() * lanes> rand_i{"rand_i"};
  Out<bits * lanes> codes_o{"codes_o"};
  Out<1> special_o{"special_o"};

 private:
  Codes value() const override {
    constexpr AffineUnit unit = params.unit();
    const auto x = fields<lanes>(a_i);
    const auto inverse = fields<scales>(inverse_i);
    const auto shift = fields<scales>(shift_i);
    const auto zero_point = fields<scales, int>(zero_point_i);
    const auto random = fields<lanes>(rand_i);
    Codes out;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t scale = params.per_lane ? i : 0;
      const int zero = zero_point[scale] < 1 << bits ? zero_point[scale] : zero_point[scale] - (2 << bits);
      const int code = quantize_affine(unit, x[i], {.inverse = inverse[scale], .shift = shift[scale]}, zero,
                                       stochastic_i, random[i]);
      out.codes[i] = static_cast<std::uint8_t>(code & ((1 << bits) - 1));
      out.special |= unit.input == AffineInput::fp32 && (x[i] >> 23 & 0xFF) == 0xFF;
    }
    return out;
  }
  void drive(const Codes& out) override {
    codes_o = out.codes;
    special_o = out.special;
  }
};

}  // namespace narrowgauge::systemc
