// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_topk: ports, latency and back-pressure of rtl/retrieval/ng_topk.sv. Key and index of a place
// that holds no candidate are 0; the RTL's have no meaning.
#pragma once

#include <array>

#include "systemc/retrieval/topk_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int k, int key_bits, int index_bits, class Core = TopkCore<k>>
struct Topk : Shell<Core>, Streams {
  using Shell<Core>::Shell;

  In<key_bits> key_i{"key_i"};
  In<index_bits> index_i{"index_i"};
  In<1> last_i{"last_i"};
  Out<k> found_o{"found_o"};
  Out<k * key_bits> keys_o{"keys_o"};
  Out<k * index_bits> indices_o{"indices_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, {.key = key_i.value(), .index = index_i.value()}, last_i, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    std::array<std::uint64_t, k> keys{}, indices{};
    const auto& best = core.best();
    for (std::size_t place = 0; place < best.size(); ++place) {
      keys[place] = best[place].key;
      indices[place] = best[place].index;
    }
    found_o = static_cast<std::uint64_t>(best.empty() ? 0 : ~std::uint64_t{0} >> (64 - best.size()));
    keys_o = keys;
    indices_o = indices;
  }
};

}  // namespace narrowgauge::systemc
