// SPDX-License-Identifier: Apache-2.0
// ng_tile_regs and its SystemC module in lock-step: AXI4-Lite traffic with stalls on all channels, every address, all
// strobes, random status, events and counters, resets in mid-flight. Build parameters: those of the tile.
#include "Vdut.h"
#include "built_tile.hpp"
#include "lite_pins.hpp"
#include "lockstep.hpp"
#include "systemc/tile/tile_regs.hpp"

namespace {

using namespace narrowgauge::bench;
namespace axi = narrowgauge::axi;
using narrowgauge::systemc::LiteMasterPins, narrowgauge::systemc::TileRegsCore;

constexpr auto params = built_tile;

constexpr const char* faults[] = {"strobes are ignored", "an event is lost when it is acknowledged",
                                  "a response is late", "a soft reset comes without all strobes", "SLVERR is OKAY"};

struct Core : TileRegsCore<params> {
  using Base = TileRegsCore<params>;
  auto pins() const {
    auto pins = Base::pins();
    if (fault == 3 && !seen_) pins.bvalid = false;
    if (fault == 5) pins.bresp = pins.rresp = 0;
    return pins;
  }
  void step(LiteMasterPins in, Status status) {
    if (fault == 1 || (fault == 4 && (in.awaddr & ~3U) == 0x020)) in.wstrb = 0xF;
    if (fault == 2 && Base::irq()) status.done_event = false;
    seen_ = Base::pins().bvalid;
    Base::step(in, status);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv,
                      "systemc tile_regs " + std::to_string(params.rows) + "x" + std::to_string(params.cols));
  auto& [bench, dut, clk, rst_n] = both;
  Rng& rng = bench.rng();
  narrowgauge::systemc::TileRegs<params, Core> model("model");
  both.join_clock(model);
  LitePins lite(*dut, model);
  auto busy = pin(dut->busy_i, model.busy_i);
  auto load_space = pin<3>(dut->load_space_i, model.load_space_i);
  auto compute_space = pin<3>(dut->compute_space_i, model.compute_space_i);
  auto error = pin<4>(dut->error_i, model.error_i);
  auto done_event = pin(dut->done_event_i, model.done_event_i);
  auto error_event = pin(dut->error_event_i, model.error_event_i);
  auto done_count = pin<32>(dut->done_count_i, model.done_count_i);
  auto loads_count = pin<32>(dut->loads_count_i, model.loads_count_i);
  auto counters = pin<576>(dut->counters_i, model.counters_i);
  auto soft_reset = pin(dut->soft_reset_o, model.soft_reset_o);
  auto clear_counters = pin(dut->clear_counters_o, model.clear_counters_o);
  auto clear_amax = pin(dut->clear_amax_o, model.clear_amax_o);
  auto results = pin<4>(dut->results_o, model.results_o);
  auto relu = pin(dut->relu_o, model.relu_o);
  auto tensor_scale = pin<32>(dut->tensor_scale_o, model.tensor_scale_o);
  auto amax = pin<15>(dut->amax_i, model.amax_i);
  auto code_valid = pin(dut->code_valid_o, model.code_valid_o);
  auto code_data = pin<21>(dut->code_data_o, model.code_data_o);
  auto code_address = pin<9>(dut->code_address_o, model.code_address_o);
  auto compress = pin(dut->compress_o, model.compress_o);
  auto result_code_valid = pin(dut->result_code_valid_o, model.result_code_valid_o);
  auto result_code_data = pin<16>(dut->result_code_data_o, model.result_code_data_o);
  auto result_code_address = pin<8>(dut->result_code_address_o, model.result_code_address_o);
  auto irq = pin(dut->irq_o, model.irq_o);
  auto load_valid = pin(dut->load_valid_o, model.load_valid_o);
  auto load_panel_beats = pin<16>(dut->load_panel_beats_o, model.load_panel_beats_o);
  auto load_compressed = pin(dut->load_compressed_o, model.load_compressed_o);
  auto load_more = pin(dut->load_more_o, model.load_more_o);
  auto load_operand = pin(dut->load_operand_o, model.load_operand_o);
  auto format_a = pin<2>(dut->format_a_o, model.format_a_o);
  auto format_b = pin<2>(dut->format_b_o, model.format_b_o);
  auto bf16 = pin(dut->bf16_o, model.bf16_o);
  auto scale = pin<32>(dut->scale_o, model.scale_o);
  auto panels_a = pin<16>(dut->panels_a_o, model.panels_a_o);
  auto panels_b = pin<16>(dut->panels_b_o, model.panels_b_o);
  auto edge_rows = pin<8>(dut->edge_rows_o, model.edge_rows_o);
  auto edge_cols = pin<8>(dut->edge_cols_o, model.edge_cols_o);
  auto compute_valid = pin(dut->compute_valid_o, model.compute_valid_o);
  auto compute_beats = pin<16>(dut->compute_beats_o, model.compute_beats_o);
  auto compute_flags = pin<6>(dut->compute_flags_o, model.compute_flags_o);

  const auto compare = [&] {
    lite.compare(both);
    both.same("soft_reset_o", soft_reset);
    both.same("clear_counters_o", clear_counters);
    both.same("irq_o", irq);
    both.same("load_valid_o", load_valid);
    if (dut->load_valid_o) {
      both.same("load_panel_beats_o", load_panel_beats);
      both.same("load_compressed_o", load_compressed);
      both.same("load_more_o", load_more);
      both.same("load_operand_o", load_operand);
    }
    both.same("code_valid_o", code_valid);
    if (dut->code_valid_o) {
      both.same("code_data_o", code_data);
      both.same("code_address_o", code_address);
    }
    both.same("format_a_o", format_a);
    both.same("format_b_o", format_b);
    both.same("bf16_o", bf16);
    both.same("scale_o", scale);
    both.same("clear_amax_o", clear_amax);
    both.same("results_o", results);
    both.same("relu_o", relu);
    both.same("compress_o", compress);
    both.same("result_code_valid_o", result_code_valid);
    if (dut->result_code_valid_o) {
      both.same("result_code_data_o", result_code_data);
      both.same("result_code_address_o", result_code_address);
    }
    both.same("tensor_scale_o", tensor_scale);
    both.same("panels_a_o", panels_a);
    both.same("panels_b_o", panels_b);
    both.same("edge_rows_o", edge_rows);
    both.same("edge_cols_o", edge_cols);
    both.same("compute_valid_o", compute_valid);
    if (dut->compute_valid_o) {
      both.same("compute_beats_o", compute_beats);
      both.same("compute_flags_o", compute_flags);
    }
  };
  axi::LiteMaster master;
  axi::LiteSignals bus;
  double hold = 0;
  std::uint64_t writes = 0, reads = 0, refused = 0, soft = 0, irqs = 0, resets = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (both.maybe_reset(i, compare, 0.001)) {
      master.reset();
      ++resets;
    }
    if (i % 200 == 0) hold = rng.chance(0.4) ? 0 : 0.5;
    // Mostly registers that exist.
    const auto address = [&] {
      return static_cast<std::uint32_t>(rng.bits(rng.chance(0.6) ? 7 : rng.chance(0.8) ? 8 : 12));
    };
    if (master.write_ready() && rng.chance(0.5))
      master.start_write(address(), static_cast<std::uint32_t>(rng.bits(32)),
                         static_cast<std::uint8_t>(rng.chance(0.5) ? 0xF : rng.bits(4)));
    if (master.read_ready() && rng.chance(0.5)) master.start_read(address());
    master.drive(bus, go_at_random(rng, hold));
    lite.drive(both, bus);
    both.drive(busy, rng.chance(0.5));
    both.drive(done_event, rng.chance(0.05));
    both.drive(error_event, rng.chance(0.02));
    both.drive_random(load_space);
    both.drive_random(compute_space);
    both.drive_random(error);
    both.drive_random(done_count);
    both.drive_random(loads_count);
    both.drive_random(amax);
    both.drive_random(counters);
    both.settle();
    compare();
    axi::get_lite(*dut, bus);
    master.sample(bus);
    both.tick();
    compare();
    soft += dut->soft_reset_o;
    irqs += dut->irq_o;
    if (const auto done = master.take_write()) {
      ++writes;
      refused += done->resp != axi::okay;
    }
    if (master.take_read()) ++reads;
    bench.vector();
  }
  both.covered("registers were written", writes, 500);
  both.covered("registers were read", reads, 500);
  both.covered("writes were refused", refused, 50);
  both.covered("soft reset", soft, 2);
  both.covered("irq was up", irqs);
  both.covered("reset", resets, 2);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
