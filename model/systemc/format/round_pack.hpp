// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_round_pack with cuts: ports and latency of rtl/format/ng_round_pack.sv.
#pragma once

#include "narrowgauge/format/round_pack.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

struct RoundPackParams {
  Format format;
  Overflow overflow;
  int sig_width, exp_width, rand_bits;
};

template <RoundPackParams params, int cuts, class Core = CutPipeCore<cuts, std::uint32_t>>
struct RoundPack : CutPipe<Core, std::uint32_t> {
  using CutPipe<Core, std::uint32_t>::CutPipe;
  static constexpr FormatDesc target = desc(params.format);
  In<2> mode_i{"mode_i"};
  In<1> nan_i{"nan_i"}, inf_i{"inf_i"}, sign_i{"sign_i"};
  In<params.exp_width> exp_i{"exp_i"};
  In<params.sig_width> sig_i{"sig_i"};
  In<params.rand_bits> rand_i{"rand_i"};
  Out<target.bits> code_o{"code_o"};

 private:
  std::uint32_t value() const override {
    if (nan_i) return encode_nan(target, sign_i, params.overflow);
    if (inf_i) return encode_inf(target, sign_i, params.overflow);
    const int exponent = exp_i.number() - (params.sig_width - 1);
    return narrowgauge::round_pack(
        target, sign_i, exponent, sig_i.read(),
        {static_cast<Rounding>(mode_i.read()), params.overflow, rand_i.read(), params.rand_bits});
  }
  void drive(const std::uint32_t& code) override { code_o = code; }
};

}  // namespace narrowgauge::systemc
