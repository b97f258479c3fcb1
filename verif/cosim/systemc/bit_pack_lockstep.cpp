// SPDX-License-Identifier: Apache-2.0
// ng_bit_pack and its SystemC module in lock-step. Build parameters: NG_WIDTH, NG_CODE_BITS.
#include "dut_pins.hpp"
#include "systemc/codec/bit_pack.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int width = NG_WIDTH, code_bits = NG_CODE_BITS, length_width = std::bit_width(unsigned{NG_CODE_BITS});
constexpr const char* faults[] = {"a code that fills a word exactly leaves a word behind it",
                                  "a word comes one cycle late", "a code is taken without ready",
                                  "last_o is low at a word behind the last code"};

struct Core : narrowgauge::systemc::BitPackCore<NG_WIDTH, NG_CODE_BITS> {
  using Base = narrowgauge::systemc::BitPackCore<NG_WIDTH, NG_CODE_BITS>;
  bool valid() const { return Base::valid() && (fault != 2 || seen_); }
  Word word() const {
    Word word = Base::word();
    if (fault == 4 && tail_) word.last = false;
    return word;
  }
  void step(const Code* code, bool ready) {
    seen_ = Base::valid();
    tail_ = !Base::ready() && ready;
    if (fault == 3 && code && !Base::ready()) Base::step(nullptr, true);
    Base::step(code, ready);
    if (fault == 1 && code && code->last) Base::step(code, false);
  }
  bool seen_ = false, tail_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc bit_pack " + std::to_string(width) + " x " + std::to_string(code_bits));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::BitPack<width, code_bits, Core> model("model");
  Pins pins(both, model);

  std::uint64_t refused = 0, waited = 0, ended = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i, 200));
    const unsigned length = 1 + bench.rng().below(code_bits);
    both.drive(pins.length_i, static_cast<Port<length_width>>(length));
    both.drive(pins.code_i, static_cast<Port<code_bits>>(bench.rng().bits(length) << (code_bits - length)));
    both.drive(pins.last_i, bench.rng().chance(0.1));
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.data_o, pins.last_o)); };
  both.run(stimulate, compare, [&] {
    refused += !dut->ready_o;
    ended += dut->valid_o && dut->last_o;
  });
  both.covered("no code was taken", refused);
  both.covered("a word waited", waited);
  both.covered("a tile ended", ended);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
