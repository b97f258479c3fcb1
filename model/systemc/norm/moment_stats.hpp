// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_moment_stats: ports, latency and back-pressure of rtl/norm/ng_moment_stats.sv.
#pragma once

#include "systemc/norm/moment_stats_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

/// order, cuts: `Order` and `TreeCuts` of the RTL.
template <int order, int cuts, class Core = MomentStatsCore<order, cuts>>
struct MomentStatistics : Shell<Core>, Streams {
  using Shell<Core>::Shell;

  In<128> codes_i{"codes_i"};
  In<8> centre_i{"centre_i"};
  In<1> last_i{"last_i"};
  Out<31> spread_o{"spread_o"};
  Out<24> sum_o{"sum_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, fields<16, std::int8_t>(codes_i), static_cast<std::int8_t>(wrap_signed(centre_i, 8)), last_i,
              ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    const MomentStats& result = core.result();
    spread_o = static_cast<std::uint32_t>(result.spread);
    sum_o = static_cast<std::uint32_t>(result.sum) & 0xFFFFFF;
  }
};

}  // namespace narrowgauge::systemc
