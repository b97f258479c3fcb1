// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_log_prune: ports, latency and back-pressure of rtl/luq/ng_log_prune.sv.
#pragma once

#include <bit>

#include "systemc/luq/log_prune_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <LogPruneParams params, class Core = LogPruneCore<params>>
struct LogPrune : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int lanes = params.lanes, rand_bits = params.rand_bits;
  static constexpr int grow_bits = std::bit_width(static_cast<unsigned>(lanes - 1)) + params.count_bits;
  static constexpr int sum_width = 9 + params.frac_bits + grow_bits;
  static constexpr int square_width = 15 + 2 * params.frac_bits + grow_bits;
  static constexpr int count_width = grow_bits + 1;

  In<16 * lanes> data_i{"data_i"};
  In<1> last_i{"last_i"};
  In<15> threshold_i{"threshold_i"};
  In<rand_bits * lanes> rand_i{"rand_i"};
  Out<16 * lanes> data_o{"data_o"};
  Out<1> last_o{"last_o"};
  Out<sum_width> sum_o{"sum_o"};
  Out<square_width> squares_o{"squares_o"};
  Out<count_width> count_o{"count_o"}, zeros_o{"zeros_o"};
  Out<1> special_o{"special_o"};

 private:
  void step(Core& core) override {
    typename Core::Beat beat;
    beat.data = fields<lanes>(data_i);
    beat.random = fields<lanes, std::uint32_t>(rand_i);
    beat.threshold = threshold_i.value();
    beat.last = last_i;
    core.step(valid_i ? &beat : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    data_o = core.data();
    last_o = core.last();
    sum_o = core.sums().sum;
    squares_o = core.sums().squares;
    count_o = core.sums().count;
    zeros_o = core.sums().zeros;
    special_o = core.sums().special;
  }
};

}  // namespace narrowgauge::systemc
