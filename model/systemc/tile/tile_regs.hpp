// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_tile_regs: ports, latency and back-pressure of rtl/tile/ng_tile_regs.sv.
#pragma once

#include "systemc/shell.hpp"
#include "systemc/tile/lite_slave.hpp"
#include "systemc/tile/tile_regs_core.hpp"

namespace narrowgauge::systemc {

template <TileParams params, class Core = TileRegsCore<params>>
struct TileRegs : Shell<Core>, LiteSlave {
  using Shell<Core>::Shell;
  // The tile.
  Out<1> soft_reset_o{"soft_reset_o"}, clear_counters_o{"clear_counters_o"}, clear_amax_o{"clear_amax_o"};
  In<1> busy_i{"busy_i"};
  In<3> load_space_i{"load_space_i"}, compute_space_i{"compute_space_i"};
  In<4> error_i{"error_i"};
  In<1> done_event_i{"done_event_i"}, error_event_i{"error_event_i"};
  Out<1> irq_o{"irq_o"}, load_valid_o{"load_valid_o"};
  Out<16> load_panel_beats_o{"load_panel_beats_o"};
  Out<1> load_compressed_o{"load_compressed_o"}, load_more_o{"load_more_o"}, load_operand_o{"load_operand_o"};
  Out<2> format_a_o{"format_a_o"}, format_b_o{"format_b_o"};
  Out<1> bf16_o{"bf16_o"};
  Out<32> scale_o{"scale_o"};
  Out<16> panels_a_o{"panels_a_o"}, panels_b_o{"panels_b_o"};
  Out<8> edge_rows_o{"edge_rows_o"}, edge_cols_o{"edge_cols_o"};
  Out<1> compute_valid_o{"compute_valid_o"};
  Out<16> compute_beats_o{"compute_beats_o"};
  Out<6> compute_flags_o{"compute_flags_o"};
  In<32> done_count_i{"done_count_i"}, loads_count_i{"loads_count_i"};
  Out<4> results_o{"results_o"};
  Out<1> relu_o{"relu_o"};
  Out<32> tensor_scale_o{"tensor_scale_o"};
  Out<1> int8_o{"int8_o"};
  Out<9> zero_point_o{"zero_point_o"};
  In<15> amax_i{"amax_i"};
  Out<1> code_valid_o{"code_valid_o"};
  Out<21> code_data_o{"code_data_o"};
  Out<9> code_address_o{"code_address_o"};
  Out<1> compress_o{"compress_o"}, result_code_valid_o{"result_code_valid_o"};
  Out<16> result_code_data_o{"result_code_data_o"};
  Out<8> result_code_address_o{"result_code_address_o"};
  Out<1> deadline_valid_o{"deadline_valid_o"};
  Out<31> deadline_clocks_o{"deadline_clocks_o"};
  Out<1> deadline_armed_o{"deadline_armed_o"};
  In<31> beats_i{"beats_i"};
  In<1> late_i{"late_i"};
  In<9 * 64> counters_i{"counters_i"};

 private:
  void drive(const Core& core) override {
    drive_lite(core.pins());
    soft_reset_o = core.soft_reset();
    clear_counters_o = core.clear_counters();
    clear_amax_o = core.clear_amax();
    irq_o = core.irq();
    const TileLoad load = core.load();
    load_valid_o = core.load_valid();
    load_panel_beats_o = load.beats;
    load_compressed_o = load.compressed;
    load_more_o = load.more;
    load_operand_o = load.operand;
    code_valid_o = core.code_valid();
    code_data_o = core.code_data();
    code_address_o = core.code_address();
    compress_o = core.compress();
    result_code_valid_o = core.result_code_valid();
    result_code_data_o = core.result_code_data();
    result_code_address_o = core.result_code_address();
    const TileDeadline deadline = core.deadline();
    deadline_valid_o = core.deadline_valid();
    deadline_clocks_o = deadline.clocks;
    deadline_armed_o = deadline.armed;
    const TileCompute compute = core.compute();
    compute_valid_o = core.compute_valid();
    format_a_o = compute.a_fmt;
    format_b_o = compute.b_fmt;
    bf16_o = compute.bf16;
    scale_o = compute.scale;
    results_o = compute.results;
    relu_o = compute.relu;
    tensor_scale_o = compute.tensor_scale;
    int8_o = compute.integer.int8;
    zero_point_o = static_cast<unsigned>(compute.integer.zero_point) & 0x1FF;
    panels_a_o = compute.a_panels;
    panels_b_o = compute.b_panels;
    edge_rows_o = compute.rows;
    edge_cols_o = compute.cols;
    compute_beats_o = compute.beats;
    compute_flags_o = compute.first | compute.last << 1 | compute.release_a << 2 | compute.release_b << 3 |
                      compute.irq << 4 | compute.part_a << 5;
  }

  void step(Core& core) override {
    TileCounters counters;
    const auto values = fields<9>(counters_i);
    std::uint64_t* const all[] = {&counters.cycles,    &counters.busy,     &counters.stall_in,
                                  &counters.stall_out, &counters.products, &counters.zero_a,
                                  &counters.zero_b,    &counters.flips_a,  &counters.flips_b};
    for (std::size_t i = 0; i < std::size(all); ++i) *all[i] = values[i];
    core.step(lite_master(), {.busy = busy_i,
                              .load_space = load_space_i,
                              .compute_space = compute_space_i,
                              .error = error_i,
                              .done_count = done_count_i,
                              .loads_count = loads_count_i,
                              .amax = amax_i.value(),
                              .late = late_i,
                              .beats = beats_i,
                              .counters = &counters,
                              .done_event = done_event_i,
                              .error_event = error_event_i});
  }
};

}  // namespace narrowgauge::systemc
