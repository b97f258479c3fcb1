// SPDX-License-Identifier: Apache-2.0
// Compiled once a configuration and tracing choice: NG_MODEL is the Verilated class, NG_FACTORY the function to define.
#include "mac_array_model.hpp"

#include <cstring>

#define NG_STRING(x) #x
#define NG_HEADER(x) NG_STRING(x.h)
#include NG_HEADER(NG_MODEL)
#include "narrowgauge/error.hpp"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

namespace narrowgauge {
namespace {

/// Verilator keeps ports in host integers or little-endian arrays of 32-bit words: images are copied as they are.
template <class Port>
void copy(Port& port, const std::uint8_t* image) {
  std::memcpy(&port, image, sizeof port);
}

class Model final : public MacArrayModel {
 public:
  explicit Model(const std::string& trace) : dut_(&context_) {
#if VM_TRACE
    context_.traceEverOn(true);
    dut_.trace(&wave_, 99);
    wave_.open(trace.c_str());
    if (!wave_.isOpen()) {
      throw Error("the wave file '" + trace +
                  "' cannot be written: check that its folder exists and may be written to");
    }
#else
    static_cast<void>(trace);
#endif
  }
  ~Model() override { dut_.final(); }

  void reset() override {
    dut_.clk_i = dut_.valid_i = dut_.ready_i = 0;
    dut_.rst_ni = 1;
    eval();
    dut_.rst_ni = 0;
    eval();
    dut_.rst_ni = 1;
    eval();
    dut_.ready_i = 1;
  }

  void set_formats(MacArrayFormats formats) override {
    dut_.a_fmt_i = formats.a;
    dut_.b_fmt_i = formats.b;
  }

  bool ready() const override { return dut_.ready_o; }
  const std::uint32_t* row() const override {
    return dut_.valid_o ? reinterpret_cast<const std::uint32_t*>(&dut_.data_o) : nullptr;
  }

  void cycle(const MacArrayBeat* beat) override {
    dut_.valid_i = beat != nullptr;
    if (beat) {
      dut_.first_i = beat->first;
      dut_.last_i = beat->last;
      dut_.row_en_i = beat->row_en;
      dut_.col_en_i = beat->col_en;
      copy(dut_.a_i, beat->a);
      copy(dut_.b_i, beat->b);
      copy(dut_.a_scale_i, beat->a_scale);
      copy(dut_.b_scale_i, beat->b_scale);
    }
    // Inputs may change together with the edge: outputs depend on registers only, and registers see the new inputs.
    dut_.clk_i = 1;
    eval();
    dut_.clk_i = 0;
    eval();
  }

 private:
  void eval() {
    dut_.eval();
#if VM_TRACE
    wave_.dump(context_.time());
    context_.timeInc(1);
#endif
  }

  VerilatedContext context_;
#if VM_TRACE
  VerilatedFstC wave_;
#endif
  NG_MODEL dut_;
};

}  // namespace

std::unique_ptr<MacArrayModel> NG_FACTORY(const std::string& trace) { return std::make_unique<Model>(trace); }

}  // namespace narrowgauge
