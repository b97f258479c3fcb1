// SPDX-License-Identifier: Apache-2.0
// ng_int_mac and its SystemC module in lock-step, overflows included. Build parameters: NG_A_WIDTH, NG_B_WIDTH,
// NG_A_SIGNED, NG_B_SIGNED, NG_LANES, NG_ACC_WIDTH.
#include "Vdut.h"
#include "lockstep.hpp"
#include "systemc/mac/int_mac.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr narrowgauge::systemc::IntMacParams params{.a = {.width = NG_A_WIDTH, .is_signed = NG_A_SIGNED != 0},
                                                    .b = {.width = NG_B_WIDTH, .is_signed = NG_B_SIGNED != 0},
                                                    .lanes = NG_LANES,
                                                    .acc_width = NG_ACC_WIDTH};
constexpr const char* faults[] = {"the sum is one bit short", "first does not load", "a sum without valid",
                                  "the sum comes one cycle late", "the last lane's operands are swapped"};

struct Core : narrowgauge::systemc::IntMacCore<params> {
  using Base = narrowgauge::systemc::IntMacCore<params>;
  using Codes = std::span<const std::uint16_t>;
  __int128 acc() const {
    if (fault == 1) return narrowgauge::int_accumulate(Base::acc(), 0, params.acc_width - 1);
    return fault == 4 ? old_ : Base::acc();
  }
  void step(bool valid, bool first, Codes a, Codes b) {
    old_ = Base::acc();
    std::vector<std::uint16_t> other(b.begin(), b.end());
    if (fault == 5) other.back() = a.back();
    Base::step(valid || fault == 3, first && fault != 2, a, other);
  }
  __int128 old_ = 0;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc int_mac");
  using Module = narrowgauge::systemc::IntMac<params, Core>;
  sc_core::sc_signal<bool> valid_i, first_i;
  sc_core::sc_signal<Port<Module::a_width>> a_i;
  sc_core::sc_signal<Port<Module::b_width>> b_i;
  sc_core::sc_signal<Port<params.acc_width>> acc_o;
  Module model("model");
  model.clk_i(both.clk);
  model.rst_ni(both.rst_n);
  model.valid_i(valid_i);
  model.first_i(first_i);
  model.a_i(a_i);
  model.b_i(b_i);
  model.acc_o(acc_o);

  auto& [bench, dut, clk, rst_n] = both;
  const auto compare = [&] { both.same<params.acc_width>("acc_o", dut->acc_o, acc_o); };
  std::uint64_t wrapped = 0, resets = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (i == 0 || bench.rng().chance(0.002)) {
      both.set_reset(true);
      compare();
      for (std::uint64_t n = bench.rng().bits(2); n > 0; --n) both.tick();
      both.set_reset(false);
      ++resets;
    }
    // Every other phase sums products of one sign without a restart, until they overflow.
    const bool large = i / 1024 % 2 == 1;
    PortWords<Module::a_width> a;
    PortWords<Module::b_width> b;
    for (auto& word : a) word = large ? ~0U : static_cast<std::uint32_t>(bench.rng().bits(32));
    for (auto& word : b) word = large ? ~0U : static_cast<std::uint32_t>(bench.rng().bits(32));
    if (large) {  // the most negative codes, and the largest unsigned ones
      for (unsigned lane = 0; lane < params.lanes; ++lane) {
        if (params.a.is_signed) set_bits(a, lane * params.a.width, params.a.width, 1U << (params.a.width - 1));
        if (params.b.is_signed) set_bits(b, lane * params.b.width, params.b.width, 1U << (params.b.width - 1));
      }
    }
    both.drive(dut->valid_i, valid_i, bench.rng().chance(0.7));
    both.drive(dut->first_i, first_i, !large && bench.rng().chance(0.05));
    both.drive<Module::a_width>(dut->a_i, a_i, narrowgauge::systemc::port_of<Module::a_width>(a));
    both.drive<Module::b_width>(dut->b_i, b_i, narrowgauge::systemc::port_of<Module::b_width>(b));
    both.settle();
    compare();
    const bool top = get_bits(dut->acc_o, params.acc_width - 1, 1);
    both.tick();
    compare();
    wrapped += large && top != static_cast<bool>(get_bits(dut->acc_o, params.acc_width - 1, 1));
    bench.vector();
  }
  both.covered("reset", resets, 2);
  both.covered("a sum overflowed", wrapped, 1);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
