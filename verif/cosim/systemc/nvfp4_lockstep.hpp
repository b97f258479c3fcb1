// SPDX-License-Identifier: Apache-2.0
// Lock-step of the quantizers of BF16 blocks to NVFP4 with cuts, which have the same ports.
#pragma once

#include <string>

#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::bench {

/// `Model`: a SystemC module with cuts.
template <class Model>
int run_nvfp4_lockstep(int argc, char** argv, const std::string& name) {
  Lockstep<Vdut> both(argc, argv, "systemc " + name + ", cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  Model model("model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    // Numbers from 2^-8 to 2^8 of a tensor scale between 2^-7 and 2^8: scales of every size, zero and saturated among
    // them.
    systemc::PortWords<256> words;
    for (std::uint32_t& word : words)
      word = static_cast<std::uint32_t>(bench.rng().bits(32) & 0x87FF87FF) + 0x3B803B80U;
    both.drive(pins.a_i, systemc::port_of<256>(words));
    both.drive(pins.tensor_scale_i, 0x3C000000U + static_cast<std::uint32_t>(bench.rng().bits(27)));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace narrowgauge::bench
