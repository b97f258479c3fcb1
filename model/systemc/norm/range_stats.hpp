// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_range_stats: ports, latency and back-pressure of rtl/norm/ng_range_stats.sv.
#pragma once

#include "systemc/norm/range_stats_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

/// cuts: `TreeCuts` of the RTL.
template <int cuts, class Core = RangeStatsCore<cuts>>
struct RangeStatistics : Shell<Core>, Streams {
  using Shell<Core>::Shell;

  In<128> codes_i{"codes_i"};
  In<1> chunk_last_i{"chunk_last_i"}, last_i{"last_i"};
  Out<12> maxima_o{"maxima_o"}, minima_o{"minima_o"};
  Out<24> sum_o{"sum_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, fields<16, std::int8_t>(codes_i), chunk_last_i, last_i, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    const RangeStats& result = core.result();
    maxima_o = static_cast<std::uint32_t>(result.maxima) & 0xFFF;
    minima_o = static_cast<std::uint32_t>(result.minima) & 0xFFF;
    sum_o = static_cast<std::uint32_t>(result.sum) & 0xFFFFFF;
  }
};

}  // namespace narrowgauge::systemc
