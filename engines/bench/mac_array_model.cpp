// SPDX-License-Identifier: Apache-2.0
// Compiled once a configuration: NG_MODEL is the Verilated class, NG_FACTORY the function to define.
#include "mac_array_model.hpp"

#include <cstring>

#define NG_STRING(x) #x
#define NG_HEADER(x) NG_STRING(x.h)
#include NG_HEADER(NG_MODEL)

namespace narrowgauge {
namespace {

/// Verilator keeps ports in host integers or little-endian arrays of 32-bit words: images are copied as they are.
template <class Port>
void copy(Port& port, const std::uint8_t* image) {
  std::memcpy(&port, image, sizeof port);
}

class Model final : public MacArrayModel {
 public:
  Model() : dut_(&context_) {}
  ~Model() override {
    dut_.final();
    Verilated::threadContextp(&context_);  // as in verilated_tile.cpp
  }

  void reset() override {
    dut_.clk_i = dut_.valid_i = dut_.ready_i = 0;
    dut_.rst_ni = 1;
    dut_.eval();
    dut_.rst_ni = 0;
    dut_.eval();
    dut_.rst_ni = 1;
    dut_.eval();
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
    dut_.eval();
    dut_.clk_i = 0;
    dut_.eval();
  }

 private:
  VerilatedContext context_;
  NG_MODEL dut_;
};

}  // namespace

std::unique_ptr<MacArrayModel> NG_FACTORY() { return std::make_unique<Model>(); }

}  // namespace narrowgauge
