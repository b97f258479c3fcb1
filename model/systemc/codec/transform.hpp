// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_transform: ports, latency and back-pressure of rtl/codec/ng_transform.sv.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "systemc/codec/transform_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int size, int in_width, int out_width, int matrix_width, class Core = TransformCore<size>>
struct Transform : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int index_width = std::bit_width(static_cast<unsigned>(size - 1));
  static constexpr int sum_width = in_width + matrix_width + index_width;
  static constexpr int table_width = std::max(sum_width, out_width + 6);

  In<1> table_we_i{"table_we_i"};
  In<2> table_kind_i{"table_kind_i"};
  In<index_width> table_row_i{"table_row_i"}, table_column_i{"table_column_i"};
  In<table_width> table_data_i{"table_data_i"};
  In<in_width> data_i{"data_i"};
  In<1> last_i{"last_i"};
  Out<out_width> data_o{"data_o"};
  Out<1> last_o{"last_o"};

 private:
  static std::int64_t number(std::uint64_t bits, int width) {
    return static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
  }
  void step(Core& core) override {
    if (table_we_i) {
      const auto data = table_data_i.value();
      const auto row = table_row_i.value();
      if (table_kind_i.read() == 0) {
        core.load_entry(row, table_column_i.value(), static_cast<std::int16_t>(number(data, matrix_width)));
      } else if (table_kind_i.read() == 1) {
        core.load_bias(row, number(data, sum_width));
      } else {
        core.load_settings(data & 63, static_cast<std::int32_t>(data >> 6 & ((1U << (out_width - 1)) - 1)),
                           (data >> (out_width + 5) & 1) != 0);
      }
    }
    const typename Core::Value value{data_i.number(), last_i};
    core.step(valid_i ? &value : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    data_o = core.result().value & ((1 << out_width) - 1);
    last_o = core.result().last;
  }
};

}  // namespace narrowgauge::systemc
