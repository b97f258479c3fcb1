// SPDX-License-Identifier: Apache-2.0
// ng_huffman_encode and its SystemC module in lock-step.
#include "../codec/codec_stimulus.hpp"
#include "dut_pins.hpp"
#include "systemc/codec/huffman_encode.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a code comes one cycle late", "a block is never raw",
                                  "a value is taken without ready", "the last code of a tile is not marked"};

struct Core : systemc::HuffmanEncodeCore {
  using Base = systemc::HuffmanEncodeCore;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  Code code() const {
    Code code = Base::code();
    if (fault == 2 && code.length == 10) code.bits &= 0x1FFF;
    if (fault == 4) code.last = false;
    return code;
  }
  void step(const Value* value, bool ready) {
    seen_ = Base::valid();
    if (fault == 3 && value && !Base::ready()) Base::step(nullptr, true);
    Base::step(value, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc huffman_encode");
  auto& [bench, dut, clk, rst_n] = both;
  systemc::HuffmanEncode<Core> model("model");
  Pins pins(both, model);

  // Tables change after a reset, which ends the tile under way.
  CodeLengths lengths{};
  std::uint64_t waited = 0, refused = 0, ended = 0, raw = 0, since = 0;
  double any = 0;
  bool fresh = true;
  const auto stimulate = [&](std::uint64_t i) {
    if (fresh) {
      lengths = random_code(bench.rng());
      since = i;
      fresh = false;
    }
    const auto address = static_cast<unsigned>(i - since);
    both.drive(pins.table_we_i, address < huffman_symbols);
    if (address < huffman_symbols) {
      both.drive(pins.table_addr_i, address);
      both.drive(pins.table_data_i, encoder_table(lengths)[address].word());
    }
    if (bench.rng().chance(0.01)) any = bench.rng().below(3) / 2.0;
    both.drive(pins, traffic_at(i, 300));
    if (address <= huffman_symbols) both.drive(pins.valid_i, false);
    both.drive(pins.data_i, static_cast<Port<8>>(random_value(bench.rng(), decoder_table(lengths), any)));
    both.drive(pins.last_i, bench.rng().chance(0.005));
    both.settle();
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    fresh |= !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->valid_o, pins.code_o, pins.length_o, pins.last_o));
  };
  both.run(stimulate, compare, [&] {
    refused += !dut->ready_o;
    ended += dut->valid_o && dut->last_o;
    raw += dut->valid_o && dut->length_o == 10 && dut->code_o >= 0x2000;
  });
  both.covered("a value was not taken", refused);
  both.covered("a code waited", waited);
  both.covered("a tile ended", ended);
  both.covered("a block was raw", raw);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
