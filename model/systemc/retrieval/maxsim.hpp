// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_maxsim: ports, latency and back-pressure of rtl/retrieval/ng_maxsim.sv.
#pragma once

#include <bit>

#include "systemc/retrieval/maxsim_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int width, int queries, class Core = MaxsimCore<queries>>
struct Maxsim : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int query_width = std::bit_width(static_cast<unsigned>(queries - 1));

  In<width> dot_i{"dot_i"};
  In<query_width> query_i{"query_i"};
  In<1> first_i{"first_i"}, last_i{"last_i"};
  Out<width + query_width> score_o{"score_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, {.dot = dot_i.number(), .query = query_i.value(), .first = first_i, .last = last_i}, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    score_o = core.score();
  }
};

}  // namespace narrowgauge::systemc
