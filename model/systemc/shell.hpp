// SPDX-License-Identifier: Apache-2.0
// What the modules of all clocked units share.
#pragma once

#include <systemc>

#include "systemc/port.hpp"

namespace narrowgauge::systemc {

/// A module with clock and asynchronous reset about a core: the unit's module adds the other ports, step() and drive().
template <class Core>
class Shell : public sc_core::sc_module {
 public:
  In<1> clk_i{"clk_i"}, rst_ni{"rst_ni"};

  SC_HAS_PROCESS(Shell);
  /// `arguments`: of the core's constructor.
  explicit Shell(sc_core::sc_module_name name, const auto&... arguments)
      : sc_core::sc_module(name), core_(arguments...) {
    SC_METHOD(edge);
    sensitive << clk_i.pos() << rst_ni.neg();
  }

 protected:
  virtual void step(Core& core) = 0;         ///< a rising edge of clk_i
  virtual void drive(const Core& core) = 0;  ///< the outputs, after an edge or a reset

 private:
  void edge() {
    if (!rst_ni) {
      core_.reset();
    } else if (clk_i.posedge()) {
      step(core_);
    }
    drive(core_);
  }

  Core core_{};
};

/// The handshakes of a unit with one stream in and one out (docs/handshake.md).
struct Streams {
  In<1> valid_i{"valid_i"};
  Out<1> ready_o{"ready_o"}, valid_o{"valid_o"};
  In<1> ready_i{"ready_i"};

 protected:
  void handshake(const auto& core) {
    ready_o = core.ready();
    valid_o = core.valid();
  }
};

}  // namespace narrowgauge::systemc
