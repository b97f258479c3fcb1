// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_tile_regs: ports, latency and back-pressure of rtl/tile/ng_tile_regs.sv.
#pragma once

#include "systemc/port.hpp"
#include "systemc/tile/lite_slave.hpp"
#include "systemc/tile/tile_regs_core.hpp"

namespace narrowgauge::systemc {

template <TileParams params, class Core = TileRegsCore<params>>
class TileRegs : public LiteSlave {
 public:
  // The tile.
  sc_core::sc_out<bool> soft_reset_o{"soft_reset_o"}, clear_counters_o{"clear_counters_o"};
  sc_core::sc_out<bool> clear_amax_o{"clear_amax_o"};
  sc_core::sc_in<bool> busy_i{"busy_i"};
  sc_core::sc_in<Port<3>> load_space_i{"load_space_i"}, compute_space_i{"compute_space_i"};
  sc_core::sc_in<Port<4>> error_i{"error_i"};
  sc_core::sc_in<bool> done_event_i{"done_event_i"}, error_event_i{"error_event_i"};
  sc_core::sc_out<bool> irq_o{"irq_o"};
  sc_core::sc_out<bool> load_valid_o{"load_valid_o"};
  sc_core::sc_out<Port<16>> load_panel_beats_o{"load_panel_beats_o"};
  sc_core::sc_out<bool> load_compressed_o{"load_compressed_o"};
  sc_core::sc_out<bool> load_more_o{"load_more_o"}, load_operand_o{"load_operand_o"};
  sc_core::sc_out<Port<2>> format_a_o{"format_a_o"}, format_b_o{"format_b_o"};
  sc_core::sc_out<bool> bf16_o{"bf16_o"};
  sc_core::sc_out<Port<32>> scale_o{"scale_o"};
  sc_core::sc_out<Port<16>> panels_a_o{"panels_a_o"}, panels_b_o{"panels_b_o"};
  sc_core::sc_out<Port<8>> edge_rows_o{"edge_rows_o"}, edge_cols_o{"edge_cols_o"};
  sc_core::sc_out<bool> compute_valid_o{"compute_valid_o"};
  sc_core::sc_out<Port<16>> compute_beats_o{"compute_beats_o"};
  sc_core::sc_out<Port<6>> compute_flags_o{"compute_flags_o"};
  sc_core::sc_in<Port<32>> done_count_i{"done_count_i"}, loads_count_i{"loads_count_i"};
  sc_core::sc_out<Port<4>> results_o{"results_o"};
  sc_core::sc_out<bool> relu_o{"relu_o"};
  sc_core::sc_out<Port<32>> tensor_scale_o{"tensor_scale_o"};
  sc_core::sc_in<Port<15>> amax_i{"amax_i"};
  sc_core::sc_out<bool> code_valid_o{"code_valid_o"};
  sc_core::sc_out<Port<21>> code_data_o{"code_data_o"};
  sc_core::sc_out<Port<9>> code_address_o{"code_address_o"};
  sc_core::sc_out<bool> compress_o{"compress_o"};
  sc_core::sc_out<bool> result_code_valid_o{"result_code_valid_o"};
  sc_core::sc_out<Port<16>> result_code_data_o{"result_code_data_o"};
  sc_core::sc_out<Port<8>> result_code_address_o{"result_code_address_o"};
  sc_core::sc_in<Port<9 * 64>> counters_i{"counters_i"};

  explicit TileRegs(sc_core::sc_module_name name) : LiteSlave(name) {}

 private:
  void reset() override { core_.reset(); }
  void drive() override {
    drive_lite(core_.pins());
    soft_reset_o = core_.soft_reset();
    clear_counters_o = core_.clear_counters();
    clear_amax_o = core_.clear_amax();
    irq_o = core_.irq();
    const TileLoad load = core_.load();
    load_valid_o = core_.load_valid();
    load_panel_beats_o = load.beats;
    load_compressed_o = load.compressed;
    load_more_o = load.more;
    load_operand_o = load.operand;
    code_valid_o = core_.code_valid();
    code_data_o = core_.code_data();
    code_address_o = core_.code_address();
    compress_o = core_.compress();
    result_code_valid_o = core_.result_code_valid();
    result_code_data_o = core_.result_code_data();
    result_code_address_o = core_.result_code_address();
    const TileCompute compute = core_.compute();
    compute_valid_o = core_.compute_valid();
    format_a_o = compute.a_fmt;
    format_b_o = compute.b_fmt;
    bf16_o = compute.bf16;
    scale_o = compute.scale;
    results_o = compute.results;
    relu_o = compute.relu;
    tensor_scale_o = compute.tensor_scale;
    panels_a_o = compute.a_panels;
    panels_b_o = compute.b_panels;
    edge_rows_o = compute.rows;
    edge_cols_o = compute.cols;
    compute_beats_o = compute.beats;
    compute_flags_o = static_cast<Port<6>>(compute.first | compute.last << 1 | compute.release_a << 2 |
                                           compute.release_b << 3 | compute.irq << 4 | compute.part_a << 5);
  }

  void step() override {
    TileCounters counters;
    const PortWords<9 * 64> words = words_of<9 * 64>(counters_i);
    std::uint64_t* const all[] = {&counters.cycles,    &counters.busy,     &counters.stall_in,
                                  &counters.stall_out, &counters.products, &counters.zero_a,
                                  &counters.zero_b,    &counters.flips_a,  &counters.flips_b};
    for (std::size_t i = 0; i < std::size(all); ++i) *all[i] = words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32;
    core_.step(lite_master(), {.busy = busy_i,
                               .load_space = load_space_i,
                               .compute_space = compute_space_i,
                               .error = error_i,
                               .done_count = done_count_i,
                               .loads_count = loads_count_i,
                               .amax = static_cast<std::uint16_t>(amax_i.read()),
                               .counters = &counters,
                               .done_event = done_event_i,
                               .error_event = error_event_i});
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
