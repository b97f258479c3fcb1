// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_log_prune: ports, latency and back-pressure of rtl/luq/ng_log_prune.sv.
#pragma once

#include <bit>

#include "systemc/clocked.hpp"
#include "systemc/luq/log_prune_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <LogPruneParams params, class Core = LogPruneCore<params>>
class LogPrune : public Clocked {
 public:
  static constexpr int lanes = params.lanes, rand_bits = params.rand_bits;
  static constexpr int grow_bits = std::bit_width(static_cast<unsigned>(lanes - 1)) + params.count_bits;
  static constexpr int sum_width = 9 + params.frac_bits + grow_bits;
  static constexpr int square_width = 15 + 2 * params.frac_bits + grow_bits;
  static constexpr int count_width = grow_bits + 1;

  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<16 * lanes>> data_i{"data_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_in<Port<15>> threshold_i{"threshold_i"};
  sc_core::sc_in<Port<rand_bits * lanes>> rand_i{"rand_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<16 * lanes>> data_o{"data_o"};
  sc_core::sc_out<bool> last_o{"last_o"};
  sc_core::sc_out<Port<sum_width>> sum_o{"sum_o"};
  sc_core::sc_out<Port<square_width>> squares_o{"squares_o"};
  sc_core::sc_out<Port<count_width>> count_o{"count_o"}, zeros_o{"zeros_o"};
  sc_core::sc_out<bool> special_o{"special_o"};

  explicit LogPrune(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    typename Core::Beat beat;
    beat.data = fields_of<lanes, 16>(data_i);
    const PortWords<rand_bits* lanes> words = words_of<rand_bits * lanes>(rand_i);
    for (int bit = 0; bit < rand_bits * lanes; ++bit)
      beat.random[static_cast<std::size_t>(bit / rand_bits)] |=
          (words[static_cast<std::size_t>(bit / 32)] >> bit % 32 & 1) << bit % rand_bits;
    beat.threshold = static_cast<std::uint16_t>(threshold_i.read());
    beat.last = last_i;
    core_.step(valid_i ? &beat : nullptr, ready_i);
  }
  template <int width>
  static Port<width> narrowed(std::uint64_t value) {
    return port_of_signed<width>(static_cast<std::int64_t>(value));
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = port_of_fields<16>(core_.data());
    last_o = core_.last();
    sum_o = port_of_signed<sum_width>(core_.sums().sum);
    squares_o = narrowed<square_width>(core_.sums().squares);
    count_o = narrowed<count_width>(core_.sums().count);
    zeros_o = narrowed<count_width>(core_.sums().zeros);
    special_o = core_.sums().special;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
