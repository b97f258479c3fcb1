// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_retrieve: ports, latency and back-pressure of rtl/retrieval/ng_retrieve.sv. Key and index of a
// place that holds no chunk are 0; the RTL's have no meaning.
#pragma once

#include <array>
#include <bit>

#include "systemc/retrieval/retrieve_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int rows, int cols, int stream_width, int width, int queries, int panels, int k, int index_bits,
          class Core = RetrieveCore<rows, cols, stream_width / 32, width, queries, k>>
struct Retrieve : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int key_width = Core::score_bits;

  In<std::bit_width(static_cast<unsigned>(queries - 1))> last_query_i{"last_query_i"};
  In<std::bit_width(static_cast<unsigned>(panels - 1))> last_panel_i{"last_panel_i"};
  In<index_bits> last_index_i{"last_index_i"};
  In<8> exponent_i{"exponent_i"};
  In<stream_width> data_i{"data_i"};
  Out<k> found_o{"found_o"};
  Out<k * key_width> keys_o{"keys_o"};
  Out<k * index_bits> indices_o{"indices_o"};

 private:
  void step(Core& core) override {
    typename Core::Word word;
    const auto numbers = data_i.words();
    for (std::size_t unit = 0; unit < word.size(); ++unit) word[unit] = std::bit_cast<float>(numbers[unit]);
    core.step(valid_i, word,
              {.last_query = last_query_i.value(),
               .last_panel = last_panel_i.value(),
               .last_index = last_index_i.value(),
               .exponent = static_cast<unsigned>(exponent_i.value())},
              ready_i);
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
