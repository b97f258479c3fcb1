// SPDX-License-Identifier: Apache-2.0
// A shared library for each tile, with and without waves: NG_MODEL is the Verilated class, NG_TILE_ENTRY the function
// to define.
#include <cstdio>
#include <cstring>
#include <string>

#define NG_STRING(x) #x
#define NG_HEADER(x) NG_STRING(x.h)
#include NG_HEADER(NG_MODEL)
#include "narrowgauge/engines/tile_pin_model.hpp"
#include "narrowgauge/error.hpp"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

#if VM_TRACE
// The writer of waves does not look whether its writes succeed, but it closes its files by fclose, which the linker
// turns into this (engines/CMakeLists.txt).
static thread_local unsigned incomplete_files = 0;
extern "C" {
int __real_fclose(std::FILE* file);
int __wrap_fclose(std::FILE* file);
int __wrap_fclose(std::FILE* file) {
  const bool failed = std::ferror(file) != 0;
  const int closed = __real_fclose(file);
  incomplete_files += failed || closed != 0;
  return closed;
}
unsigned ng_incomplete_files();
unsigned ng_incomplete_files() { return incomplete_files; }
}
#endif

namespace narrowgauge {
namespace {

class VerilatedTile final : public TilePinModel {
 public:
  explicit VerilatedTile(const std::string& trace) : dut_(&context_) {
#if VM_TRACE
    context_.traceEverOn(true);
    dut_.trace(&wave_, 99);
    wave_.set_time_unit("1ns");
    wave_.set_time_resolution("1ns");
    wave_.open(trace.c_str());
    if (!wave_.isOpen()) {
      // That `trace` itself can be written has been seen to: engines/src/tile_engine.cpp.
      throw Error("the writer of the waves '" + trace +
                  "' cannot make the files beside it, or temporary ones: check "
                  "space and permissions of its folder and of the folder of temporary files");
    }
#else
    static_cast<void>(trace);
#endif
  }
  ~VerilatedTile() override {
    dut_.final();
    // Verilator takes a dying model's scopes out of the thread's context: the latest model's, which may be gone
    // (2026-11-21: a hang when an engine with two tiles ended).
    Verilated::threadContextp(&context_);
  }

  void reset(TilePins& pins) override {
    dut_.clk_i = 0;
    dut_.rst_ni = 1;
    put(pins);
    eval();
    dut_.rst_ni = 0;
    for (const int clock : {1, 0}) {
      dut_.clk_i = static_cast<CData>(clock);
      eval();
    }
    dut_.rst_ni = 1;
    eval();
    get(pins);
  }

  void cycle(TilePins& pins) override {
    // Inputs may change together with the edge: outputs depend on registers only, and registers see the new inputs.
    put(pins);
    dut_.clk_i = 1;
    eval();
    dut_.clk_i = 0;
    eval();
    get(pins);
  }

 private:
  void put(const TilePins& pins) {
    axi::put_lite(dut_, pins.bus);
    dut_.s_axis_tvalid_i = pins.in_valid;
    // Verilator keeps ports in host integers or little-endian arrays of 32-bit words.
    if (pins.in_valid) std::memcpy(&dut_.s_axis_tdata_i, pins.in_data, sizeof dut_.s_axis_tdata_i);
    dut_.s_axis_tlast_i = pins.in_valid && pins.in_last;
    dut_.m_axis_tready_i = pins.out_ready;
  }
  void get(TilePins& pins) {
    axi::get_lite(dut_, pins.bus);
    pins.in_ready = dut_.s_axis_tready_o;
    pins.out_valid = dut_.m_axis_tvalid_o;
    pins.out_last = dut_.m_axis_tlast_o;
    pins.out_data = reinterpret_cast<const std::uint8_t*>(&dut_.m_axis_tdata_o);
    pins.irq = dut_.irq_o;
  }
  void eval() {
    dut_.eval();
#if VM_TRACE
    wave_.dump(context_.time());
    context_.timeInc(5);
#endif
  }

  VerilatedContext context_;
#if VM_TRACE
  VerilatedFstC wave_;
#endif
  NG_MODEL dut_;
};

}  // namespace
}  // namespace narrowgauge

extern "C" narrowgauge::MakeTile NG_TILE_ENTRY;
extern "C" narrowgauge::TilePinModel* NG_TILE_ENTRY(const char* trace) { return new narrowgauge::VerilatedTile(trace); }
