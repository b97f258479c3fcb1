// SPDX-License-Identifier: Apache-2.0
// What the modules of all clocked units share.
#pragma once

#include <systemc>

namespace narrowgauge::systemc {

/// A module with clock and asynchronous reset.
class Clocked : public sc_core::sc_module {
 public:
  sc_core::sc_in<bool> clk_i{"clk_i"}, rst_ni{"rst_ni"};

  SC_HAS_PROCESS(Clocked);
  explicit Clocked(sc_core::sc_module_name name) : sc_core::sc_module(name) {
    SC_METHOD(edge);
    sensitive << clk_i.pos() << rst_ni.neg();
  }

 protected:
  virtual void reset() = 0;  ///< while rst_ni is low
  virtual void step() = 0;   ///< at a rising edge of clk_i
  virtual void drive() = 0;  ///< the outputs, after either

 private:
  void edge() {
    if (!rst_ni) {
      reset();
    } else if (clk_i.posedge()) {
      step();
    }
    drive();
  }
};

}  // namespace narrowgauge::systemc
