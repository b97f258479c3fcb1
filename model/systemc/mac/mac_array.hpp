// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_mac_array: ports, latency and back-pressure of rtl/mac/ng_mac_array.sv.
#pragma once

#include "systemc/mac/mac_array_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <MacArrayParams params, class Core = MacArrayCore<params>>
struct MacArray : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int a_width = params.rows * params.lanes * params.elem_width();
  static constexpr int b_width = params.cols * params.b_lanes() * params.elem_width();
  static constexpr int a_scale_width = params.rows * params.a_blocks() * params.a_block_bytes() * 8;
  static constexpr int b_scale_width = params.cols * params.blocks() * 8;
  static constexpr int data_width = params.cols * 32;

  In<1> first_i{"first_i"}, last_i{"last_i"};
  In<2> a_fmt_i{"a_fmt_i"}, b_fmt_i{"b_fmt_i"};
  In<params.rows> row_en_i{"row_en_i"};
  In<params.cols> col_en_i{"col_en_i"};
  In<a_width> a_i{"a_i"};
  In<b_width> b_i{"b_i"};
  In<a_scale_width> a_scale_i{"a_scale_i"};
  In<b_scale_width> b_scale_i{"b_scale_i"};
  Out<data_width> data_o{"data_o"};
  Out<1> last_o{"last_o"}, error_o{"error_o"};

 private:
  void drive(const Core& core) override {
    handshake(core);
    last_o = core.last();
    error_o = core.error();
    data_o = core.data();
  }

  void step(Core& core) override {
    if (!valid_i || !core.ready()) {
      core.step(nullptr, ready_i);
      return;
    }
    const auto a = a_i.words(), b = b_i.words();
    const auto a_scale = a_scale_i.words(), b_scale = b_scale_i.words();
    const MacArrayBeat beat{.first = first_i,
                            .last = last_i,
                            .a_fmt = a_fmt_i.value(),
                            .b_fmt = b_fmt_i.value(),
                            .row_en = row_en_i.read(),
                            .col_en = col_en_i.read(),
                            .a = image(a),
                            .b = image(b),
                            .a_scale = image(a_scale),
                            .b_scale = image(b_scale)};
    core.step(&beat, ready_i);
  }

  // The words of a port are its image on little-endian machines.
  static_assert(std::endian::native == std::endian::little,
                "MacArray reads ports as images; expected a little-endian machine");
  template <class Words>
  static const std::uint8_t* image(const Words& words) {
    return reinterpret_cast<const std::uint8_t*>(words.data());
  }
};

}  // namespace narrowgauge::systemc
