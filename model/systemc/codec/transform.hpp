// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_transform: ports, latency and back-pressure of rtl/codec/ng_transform.sv.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "systemc/clocked.hpp"
#include "systemc/codec/transform_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int size, int in_width, int out_width, int matrix_width, class Core = TransformCore<size>>
class Transform : public Clocked {
 public:
  static constexpr int index_width = std::bit_width(static_cast<unsigned>(size - 1));
  static constexpr int sum_width = in_width + matrix_width + index_width;
  static constexpr int table_width = std::max(sum_width, out_width + 6);

  sc_core::sc_in<bool> table_we_i{"table_we_i"};
  sc_core::sc_in<Port<2>> table_kind_i{"table_kind_i"};
  sc_core::sc_in<Port<index_width>> table_row_i{"table_row_i"};
  sc_core::sc_in<Port<index_width>> table_column_i{"table_column_i"};
  sc_core::sc_in<Port<table_width>> table_data_i{"table_data_i"};
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<in_width>> data_i{"data_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<out_width>> data_o{"data_o"};
  sc_core::sc_out<bool> last_o{"last_o"};

  explicit Transform(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  static std::int64_t number(std::uint64_t bits, int width) {
    return static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
  }
  void reset() override { core_.reset(); }
  void step() override {
    if (table_we_i) {
      const auto data = static_cast<std::uint64_t>(table_data_i.read());
      const auto row = static_cast<std::size_t>(table_row_i.read());
      if (table_kind_i.read() == 0) {
        core_.load_entry(row, static_cast<std::size_t>(table_column_i.read()),
                         static_cast<std::int16_t>(number(data, matrix_width)));
      } else if (table_kind_i.read() == 1) {
        core_.load_bias(row, number(data, sum_width));
      } else {
        core_.load_settings(data & 63, static_cast<std::int32_t>(data >> 6 & ((1U << (out_width - 1)) - 1)),
                            (data >> (out_width + 5) & 1) != 0);
      }
    }
    const typename Core::Value value{
        static_cast<std::int32_t>(number(static_cast<std::uint64_t>(data_i.read()), in_width)), last_i};
    core_.step(valid_i ? &value : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = static_cast<Port<out_width>>(core_.result().value & ((1 << out_width) - 1));
    last_o = core_.result().last;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
