// SPDX-License-Identifier: Apache-2.0
// A shared library for each unit of a matrix instruction: NG_MODEL is the Verilated class, NG_MMA_ENTRY the function to
// define, NG_REGISTERS the unit's cuts. NG_SCALES: it has block scales; NG_FORMATS: it has formats.
#include <cstdint>
#include <cstring>

#define NG_STRING(x) #x
#define NG_HEADER(x) NG_STRING(x.h)
#include NG_HEADER(NG_MODEL)
#include "narrowgauge/engines/mma_unit_model.hpp"

namespace narrowgauge {
namespace {

/// A port of any width takes the low bits.
template <class Port>
[[maybe_unused]] void set(Port& port, std::uint32_t value) {
  port = static_cast<Port>(value);
}

class VerilatedMma final : public MmaUnitModel {
 public:
  VerilatedMma() : dut_(&context_) { dut_.en_i = 1; }
  ~VerilatedMma() override {
    dut_.final();
    Verilated::threadContextp(&context_);  // as in verilated_tile.cpp
  }
  unsigned registers() const override { return NG_REGISTERS; }
  std::uint32_t cycle(const MmaStep& step) override {
    std::memcpy(&dut_.a_i, step.a.data(), sizeof step.a);
    std::memcpy(&dut_.b_i, step.b.data(), sizeof step.b);
    dut_.fp32_i = step.c;
#ifdef NG_SCALES
    set(dut_.a_scale_i, step.a_scales);
    set(dut_.b_scale_i, step.b_scales);
#endif
#ifdef NG_FORMATS
    set(dut_.a_fmt_i, step.a_format);
    set(dut_.b_fmt_i, step.b_format);
#endif
    // What stands before the first registers follows the inputs without a clock.
    for (const int clock : {0, 1}) {
      dut_.clk_i = static_cast<CData>(clock);
      dut_.eval();
    }
    return dut_.fp32_o;
  }

 private:
  VerilatedContext context_;
  NG_MODEL dut_;
};

}  // namespace
}  // namespace narrowgauge

extern "C" narrowgauge::MakeMmaUnit NG_MMA_ENTRY;
extern "C" narrowgauge::MmaUnitModel* NG_MMA_ENTRY() { return new narrowgauge::VerilatedMma; }
