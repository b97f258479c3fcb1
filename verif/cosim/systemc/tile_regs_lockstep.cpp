// SPDX-License-Identifier: Apache-2.0
// ng_tile_regs and its SystemC module in lock-step: AXI4-Lite traffic with stalls on all channels, every address, all
// strobes, random status, events and counters, resets in mid-flight. Build parameters: those of the tile.
#include "../axi.hpp"
#include "Vdut.h"
#include "lockstep.hpp"
#include "systemc/tile/tile_regs.hpp"

namespace {

using namespace narrowgauge::bench;
namespace axi = narrowgauge::axi;
using narrowgauge::systemc::LiteMasterPins, narrowgauge::systemc::TileParams, narrowgauge::systemc::TileRegsCore;

constexpr TileParams params{.rows = NG_ROWS,
                            .cols = NG_COLS,
                            .lanes = NG_LANES,
                            .format_set = NG_FORMAT_SET,
                            .stream_width = NG_STREAM_WIDTH,
                            .a_depth = NG_A_DEPTH,
                            .b_depth = NG_B_DEPTH,
                            .max_beats = NG_MAX_BEATS,
                            .counters = NG_COUNTERS != 0};

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
  sc_core::sc_signal<bool> awvalid, wvalid, bready, arvalid, rready, awready, wready, bvalid, arready, rvalid;
  sc_core::sc_signal<Port<12>> awaddr, araddr;
  sc_core::sc_signal<Port<32>> wdata, rdata, scale, done_count, loads_count;
  sc_core::sc_signal<Port<4>> wstrb, error;
  sc_core::sc_signal<Port<2>> bresp, rresp, format_a, format_b;
  sc_core::sc_signal<bool> soft_reset, clear_counters, busy, done_event, error_event, irq, load_valid, load_more;
  sc_core::sc_signal<bool> load_operand, bf16, compute_valid;
  sc_core::sc_signal<Port<3>> load_space, compute_space;
  sc_core::sc_signal<Port<16>> load_panel_beats, panels_a, panels_b, compute_beats;
  sc_core::sc_signal<Port<8>> edge_rows, edge_cols;
  sc_core::sc_signal<Port<5>> compute_flags;
  sc_core::sc_signal<Port<576>> counters;
  narrowgauge::systemc::TileRegs<params, Core> model("model");
  model.clk_i(both.clk);
  model.rst_ni(both.rst_n);
  model.s_axil_awvalid_i(awvalid);
  model.s_axil_awaddr_i(awaddr);
  model.s_axil_wvalid_i(wvalid);
  model.s_axil_wdata_i(wdata);
  model.s_axil_wstrb_i(wstrb);
  model.s_axil_bready_i(bready);
  model.s_axil_arvalid_i(arvalid);
  model.s_axil_araddr_i(araddr);
  model.s_axil_rready_i(rready);
  model.s_axil_awready_o(awready);
  model.s_axil_wready_o(wready);
  model.s_axil_bvalid_o(bvalid);
  model.s_axil_bresp_o(bresp);
  model.s_axil_arready_o(arready);
  model.s_axil_rvalid_o(rvalid);
  model.s_axil_rdata_o(rdata);
  model.s_axil_rresp_o(rresp);
  model.soft_reset_o(soft_reset);
  model.clear_counters_o(clear_counters);
  model.busy_i(busy);
  model.load_space_i(load_space);
  model.compute_space_i(compute_space);
  model.error_i(error);
  model.done_event_i(done_event);
  model.error_event_i(error_event);
  model.irq_o(irq);
  model.load_valid_o(load_valid);
  model.load_panel_beats_o(load_panel_beats);
  model.load_more_o(load_more);
  model.load_operand_o(load_operand);
  model.format_a_o(format_a);
  model.format_b_o(format_b);
  model.bf16_o(bf16);
  model.scale_o(scale);
  model.panels_a_o(panels_a);
  model.panels_b_o(panels_b);
  model.edge_rows_o(edge_rows);
  model.edge_cols_o(edge_cols);
  model.compute_valid_o(compute_valid);
  model.compute_beats_o(compute_beats);
  model.compute_flags_o(compute_flags);
  model.done_count_i(done_count);
  model.loads_count_i(loads_count);
  model.counters_i(counters);

  auto& [bench, dut, clk, rst_n] = both;
  Rng& rng = bench.rng();
  const auto compare = [&] {
    both.same("s_axil_awready_o", dut->s_axil_awready_o, awready);
    both.same("s_axil_wready_o", dut->s_axil_wready_o, wready);
    both.same("s_axil_bvalid_o", dut->s_axil_bvalid_o, bvalid);
    if (dut->s_axil_bvalid_o) both.same<2>("s_axil_bresp_o", dut->s_axil_bresp_o, bresp);
    both.same("s_axil_arready_o", dut->s_axil_arready_o, arready);
    both.same("s_axil_rvalid_o", dut->s_axil_rvalid_o, rvalid);
    if (dut->s_axil_rvalid_o) {
      both.same<32>("s_axil_rdata_o", dut->s_axil_rdata_o, rdata);
      both.same<2>("s_axil_rresp_o", dut->s_axil_rresp_o, rresp);
    }
    both.same("soft_reset_o", dut->soft_reset_o, soft_reset);
    both.same("clear_counters_o", dut->clear_counters_o, clear_counters);
    both.same("irq_o", dut->irq_o, irq);
    both.same("load_valid_o", dut->load_valid_o, load_valid);
    if (dut->load_valid_o) {
      both.same<16>("load_panel_beats_o", dut->load_panel_beats_o, load_panel_beats);
      both.same("load_more_o", dut->load_more_o, load_more);
      both.same("load_operand_o", dut->load_operand_o, load_operand);
    }
    both.same<2>("format_a_o", dut->format_a_o, format_a);
    both.same<2>("format_b_o", dut->format_b_o, format_b);
    both.same("bf16_o", dut->bf16_o, bf16);
    both.same<32>("scale_o", dut->scale_o, scale);
    both.same<16>("panels_a_o", dut->panels_a_o, panels_a);
    both.same<16>("panels_b_o", dut->panels_b_o, panels_b);
    both.same<8>("edge_rows_o", dut->edge_rows_o, edge_rows);
    both.same<8>("edge_cols_o", dut->edge_cols_o, edge_cols);
    both.same("compute_valid_o", dut->compute_valid_o, compute_valid);
    if (dut->compute_valid_o) {
      both.same<16>("compute_beats_o", dut->compute_beats_o, compute_beats);
      both.same<5>("compute_flags_o", dut->compute_flags_o, compute_flags);
    }
  };
  axi::LiteMaster master;
  axi::LiteSignals bus;
  double hold = 0;
  std::uint64_t writes = 0, reads = 0, refused = 0, soft = 0, irqs = 0, resets = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (i == 0 || rng.chance(0.001)) {
      both.set_reset(true);
      compare();
      for (std::uint64_t n = rng.bits(2); n > 0; --n) both.tick();
      both.set_reset(false);
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
    master.drive(bus, {.aw = !rng.chance(hold),
                       .w = !rng.chance(hold),
                       .b = !rng.chance(hold),
                       .ar = !rng.chance(hold),
                       .r = !rng.chance(hold)});
    both.drive(dut->s_axil_awvalid_i, awvalid, bus.awvalid);
    both.drive<12>(dut->s_axil_awaddr_i, awaddr, bus.awaddr);
    both.drive(dut->s_axil_wvalid_i, wvalid, bus.wvalid);
    both.drive<32>(dut->s_axil_wdata_i, wdata, bus.wdata);
    both.drive<4>(dut->s_axil_wstrb_i, wstrb, bus.wstrb);
    both.drive(dut->s_axil_bready_i, bready, bus.bready);
    both.drive(dut->s_axil_arvalid_i, arvalid, bus.arvalid);
    both.drive<12>(dut->s_axil_araddr_i, araddr, bus.araddr);
    both.drive(dut->s_axil_rready_i, rready, bus.rready);
    both.drive(dut->busy_i, busy, rng.chance(0.5));
    both.drive<3>(dut->load_space_i, load_space, static_cast<Port<3>>(rng.bits(3)));
    both.drive<3>(dut->compute_space_i, compute_space, static_cast<Port<3>>(rng.bits(3)));
    both.drive<4>(dut->error_i, error, static_cast<Port<4>>(rng.bits(4)));
    both.drive(dut->done_event_i, done_event, rng.chance(0.05));
    both.drive(dut->error_event_i, error_event, rng.chance(0.02));
    both.drive<32>(dut->done_count_i, done_count, static_cast<Port<32>>(rng.bits(32)));
    both.drive<32>(dut->loads_count_i, loads_count, static_cast<Port<32>>(rng.bits(32)));
    PortWords<576> words;
    for (auto& word : words) word = static_cast<std::uint32_t>(rng.bits(32));
    both.drive<576>(dut->counters_i, counters, narrowgauge::systemc::port_of<576>(words));
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
