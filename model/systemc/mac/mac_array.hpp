// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_mac_array: ports, latency and back-pressure of rtl/mac/ng_mac_array.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/mac/mac_array_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <MacArrayParams params, class Core = MacArrayCore<params>>
class MacArray : public Clocked {
  static constexpr int a_width = params.rows * params.lanes * params.elem_width();
  static constexpr int b_width = params.cols * params.b_lanes() * params.elem_width();
  static constexpr int a_scale_width = params.rows * params.a_blocks() * params.a_block_bytes() * 8;
  static constexpr int b_scale_width = params.cols * params.blocks() * 8;
  static constexpr int data_width = params.cols * 32;

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<bool> first_i{"first_i"}, last_i{"last_i"};
  sc_core::sc_in<Port<2>> a_fmt_i{"a_fmt_i"}, b_fmt_i{"b_fmt_i"};
  sc_core::sc_in<Port<params.rows>> row_en_i{"row_en_i"};
  sc_core::sc_in<Port<params.cols>> col_en_i{"col_en_i"};
  sc_core::sc_in<Port<a_width>> a_i{"a_i"};
  sc_core::sc_in<Port<b_width>> b_i{"b_i"};
  sc_core::sc_in<Port<a_scale_width>> a_scale_i{"a_scale_i"};
  sc_core::sc_in<Port<b_scale_width>> b_scale_i{"b_scale_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<data_width>> data_o{"data_o"};
  sc_core::sc_out<bool> last_o{"last_o"}, error_o{"error_o"};

  explicit MacArray(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    last_o = core_.last();
    error_o = core_.error();
    data_o = port_of<data_width>(core_.data());
  }

  void step() override {
    if (!valid_i || !core_.ready()) {
      core_.step(nullptr, ready_i);
      return;
    }
    const auto a = words_of<a_width>(a_i), b = words_of<b_width>(b_i);
    const auto a_scale = words_of<a_scale_width>(a_scale_i), b_scale = words_of<b_scale_width>(b_scale_i);
    const MacArrayBeat beat{.first = first_i,
                            .last = last_i,
                            .a_fmt = static_cast<std::uint8_t>(a_fmt_i.read()),
                            .b_fmt = static_cast<std::uint8_t>(b_fmt_i.read()),
                            .row_en = row_en_i.read(),
                            .col_en = col_en_i.read(),
                            .a = image(a),
                            .b = image(b),
                            .a_scale = image(a_scale),
                            .b_scale = image(b_scale)};
    core_.step(&beat, ready_i);
  }

  // The words of a port are its image on little-endian machines.
  static_assert(std::endian::native == std::endian::little, "MacArray reads ports as images; expected a little-endian machine");
  template <class Words>
  static const std::uint8_t* image(const Words& words) {
    return reinterpret_cast<const std::uint8_t*>(words.data());
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
