// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_zap_predict: ports, latency and back-pressure of rtl/sparse/ng_zap_predict.sv. Coefficients are
// 0 until they are loaded; the RTL's have no meaning.
#pragma once

#include <bit>

#include "systemc/shell.hpp"
#include "systemc/sparse/zap_predict_core.hpp"

namespace narrowgauge::systemc {

/// The coefficients of a channel as coefficients_i has them.
inline ZapChannel zap_channel_of(const Port<192>& port) {
  const auto bits = fields_of<48, 4>(port);
  const auto field = [&](std::size_t at, std::size_t digits) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i) value |= std::uint32_t{bits[at + i]} << 4 * i;
    return value;
  };
  const auto number = [&](std::size_t at, std::size_t digits) {
    return static_cast<std::int32_t>(field(at, digits) << (32 - 4 * digits)) >> (32 - 4 * digits);
  };
  ZapChannel channel{.bias = number(18, 6), .shift = field(24, 1), .threshold = number(43, 5)};
  for (std::size_t i = 0; i < 9; ++i) {
    channel.first[i] = static_cast<std::int8_t>(number(2 * i, 2));
    channel.second[i] = static_cast<std::int8_t>(number(25 + 2 * i, 2));
  }
  return channel;
}

template <int channels, int columns, class Core = ZapPredictCore<channels>>
struct ZapPredict : Shell<Core>, Streams {
  using Shell<Core>::Shell;

  static constexpr int channel_bits = channels > 1 ? std::bit_width(channels - 1U) : 1, column_bits = std::bit_width(
                                                                                            columns - 1U);
  In<1> load_i{"load_i"};
  In<channel_bits> channel_i{"channel_i"};
  In<192> coefficients_i{"coefficients_i"};
  In<4> kind_i{"kind_i"};
  In<column_bits> last_column_i{"last_column_i"};
  In<8 * channels> outputs_i{"outputs_i"};
  In<1> last_i{"last_i"};
  Out<channels> keep_o{"keep_o"};
  Out<1> last_o{"last_o"};

 private:
  void step(Core& core) override {
    const typename Core::Place place{.outputs = fields<channels, std::int8_t>(outputs_i),
                                     .kind = static_cast<int>(kind_i.read()),
                                     .last_column = last_column_i.read(),
                                     .last = last_i};
    core.step(valid_i ? &place : nullptr, ready_i);
    if (load_i) core.load(channel_i.read(), zap_channel_of(coefficients_i.read()));
  }
  void drive(const Core& core) override {
    handshake(core);
    keep_o = core.result().keep;
    last_o = core.result().last;
  }
};

}  // namespace narrowgauge::systemc
