// SPDX-License-Identifier: Apache-2.0
// Lock-step of the quantizers of BF16 blocks to NVFP4 with cuts, which have the same ports.
#pragma once

#include <string>

#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::bench {

/// `Model`: a SystemC module with cuts.
template <class Model>
int run_nvfp4_lockstep(int argc, char** argv, const std::string& name) {
  Lockstep<Vdut> both(argc, argv, "systemc " + name + ", cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  Model model("model");
  auto a = pin<256>(dut->a_i, model.a_i);
  auto tensor_scale = pin<32>(dut->tensor_scale_i, model.tensor_scale_i);
  auto codes = pin<64>(dut->codes_o, model.codes_o);
  auto scale = pin<8>(dut->scale_o, model.scale_o);
  const auto stimulate = [&] {
    // Numbers from 2^-8 to 2^8 of a tensor scale between 2^-7 and 2^8: scales of every size, zero and saturated among
    // them.
    systemc::PortWords<256> words;
    for (std::uint32_t& word : words)
      word = static_cast<std::uint32_t>(bench.rng().bits(32) & 0x87FF87FF) + 0x3B803B80U;
    both.drive(a, systemc::port_of<256>(words));
    both.drive(tensor_scale, 0x3C000000U + static_cast<std::uint32_t>(bench.rng().bits(27)));
  };
  const auto compare = [&] {
    both.same("codes_o", codes);
    both.same("scale_o", scale);
  };
  run_cut_lockstep(both, model, stimulate, compare);
  return bench.finish();
}

}  // namespace narrowgauge::bench
