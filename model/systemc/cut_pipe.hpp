// SPDX-License-Identifier: Apache-2.0
// What the modules of all units with cuts share (docs/cuts.md).
#pragma once

#include <systemc>

#include "systemc/cut_pipe_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

/// A module with clock and enable, whose outputs are those of a function some edges ago.
template <class Core, class Value>
class CutPipe : public sc_core::sc_module {
 public:
  static constexpr int latency = Core::latency;
  In<1> clk_i{"clk_i"}, en_i{"en_i"};

  SC_HAS_PROCESS(CutPipe);
  explicit CutPipe(sc_core::sc_module_name name) : sc_core::sc_module(name) {
    SC_METHOD(edge);
    sensitive << clk_i.pos();
    dont_initialize();
  }

 protected:
  virtual Value value() const = 0;             ///< the golden function of the inputs
  virtual void drive(const Value& value) = 0;  ///< the outputs

 private:
  void edge() {
    core_.step(en_i, value());
    drive(core_.value());
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
