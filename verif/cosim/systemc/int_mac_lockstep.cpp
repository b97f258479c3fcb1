// SPDX-License-Identifier: Apache-2.0
// ng_int_mac and its SystemC module in lock-step, overflows included. Build parameters: NG_A_WIDTH, NG_B_WIDTH,
// NG_A_SIGNED, NG_B_SIGNED, NG_LANES, NG_ACC_WIDTH, NG_PIPELINED.
#include "dut_pins.hpp"
#include "systemc/mac/int_mac.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr narrowgauge::systemc::IntMacParams params{.a = {.width = NG_A_WIDTH, .is_signed = NG_A_SIGNED != 0},
                                                    .b = {.width = NG_B_WIDTH, .is_signed = NG_B_SIGNED != 0},
                                                    .lanes = NG_LANES,
                                                    .acc_width = NG_ACC_WIDTH,
                                                    .pipelined = NG_PIPELINED != 0};
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
  auto& [bench, dut, clk, rst_n] = both;
  using Module = narrowgauge::systemc::IntMac<params, Core>;
  Module model("model");
  Pins pins(both, model);

  std::uint64_t wrapped = 0;
  bool large = false, negative = false;
  const auto is_negative = [&] { return get_bits(dut->acc_o, params.acc_width - 1, 1) != 0; };
  const auto stimulate = [&](std::uint64_t i) {
    // Every other phase sums products of one sign without a restart, until they overflow.
    large = i / 1024 % 2 == 1;
    negative = is_negative();
    PortWords<Module::a_width> a_words;
    PortWords<Module::b_width> b_words;
    for (auto& word : a_words) word = large ? ~0U : static_cast<std::uint32_t>(bench.rng().bits(32));
    for (auto& word : b_words) word = large ? ~0U : static_cast<std::uint32_t>(bench.rng().bits(32));
    if (large) {  // the most negative codes, and the largest unsigned ones
      for (unsigned lane = 0; lane < params.lanes; ++lane) {
        if (params.a.is_signed) set_bits(a_words, lane * params.a.width, params.a.width, 1U << (params.a.width - 1));
        if (params.b.is_signed) set_bits(b_words, lane * params.b.width, params.b.width, 1U << (params.b.width - 1));
      }
    }
    both.drive(pins.valid_i, bench.rng().chance(0.7));
    both.drive(pins.first_i, !large && bench.rng().chance(0.05));
    both.drive(pins.a_i, narrowgauge::systemc::port_of<Module::a_width>(a_words));
    both.drive(pins.b_i, narrowgauge::systemc::port_of<Module::b_width>(b_words));
  };
  both.run(
      stimulate, [&] { both.same(pins); }, [&] { wrapped += large && is_negative() != negative; });
  both.covered("a sum overflowed", wrapped, 1);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
