// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_lossy_reduce: ports, latency and back-pressure of rtl/reduce/ng_lossy_reduce.sv.
#pragma once

#include <bit>

#include "systemc/reduce/lossy_reduce_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int workers, int values, int indices, class Core = LossyReduceCore<workers, values, indices>>
struct LossyReduce : Shell<Core>, Streams {
  using Shell<Core>::Shell;

  static constexpr int worker_bits = std::countr_zero(static_cast<unsigned>(workers)),
                       index_bits = std::countr_zero(static_cast<unsigned>(indices));
  In<worker_bits> worker_i{"worker_i"};
  In<index_bits> index_i{"index_i"};
  In<1> close_i{"close_i"};
  In<16> value_i{"value_i"};
  Out<16> mean_o{"mean_o"};
  Out<worker_bits + 1> count_o{"count_o"};
  Out<1> last_o{"last_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, worker_i.read(), index_i.read(), close_i, static_cast<std::uint16_t>(value_i.read()), ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    mean_o = core.result().mean;
    count_o = core.result().count;
    last_o = core.result().last;
  }
};

}  // namespace narrowgauge::systemc
