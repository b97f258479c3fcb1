// SPDX-License-Identifier: Apache-2.0
// ng_tile_encode and its SystemC module in lock-step: packets of all lengths, coded and raw. Build parameters:
// NG_STREAM_WIDTH, NG_ENCODERS.
#include <deque>

#include "../codec/codec_stimulus.hpp"
#include "dut_pins.hpp"
#include "systemc/tile/tile_encode.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr int width = NG_STREAM_WIDTH;
constexpr const char* faults[] = {"a word comes one cycle late", "the end is not seen", "a word is taken without ready",
                                  "a value without a code has one"};
using Base = systemc::TileEncodeCore<width / 32, NG_ENCODERS>;

struct Core : Base {
  bool valid() const { return Base::valid() && (bench::fault != 1 || seen_); }
  bool last() const { return bench::fault != 2 && Base::last(); }
  void load(std::uint8_t address, std::uint16_t data) {
    Base::load(address, bench::fault == 4 && data == 0 ? 0x1000 : data);
  }
  void step(const Word* word, bool ready) {
    seen_ = Base::valid();
    if (bench::fault == 3 && Base::valid() && !ready) Base::step(nullptr, true);
    Base::step(word, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc tile_encode " + std::to_string(NG_ENCODERS) + " x " + std::to_string(width));
  auto& [bench, dut, clk, rst_n] = both;
  systemc::TileEncode<width, NG_ENCODERS, Core> model("model");
  Pins pins(both, model);

  // Tables change after a reset, which drops the packets under way.
  DecoderTable decoder;
  std::deque<std::array<std::uint32_t, 2>> writes;
  systemc::PortWords<width> word{};
  double any = 0, end = 0;
  bool last = false, next = true;
  std::uint64_t waited = 0, refused = 0, packets = 0, values = 0, since = 0;
  bool fresh = true;
  const auto stimulate = [&](std::uint64_t i) {
    if (fresh) {
      const CodeLengths lengths = random_code(bench.rng());
      decoder = decoder_table(lengths);
      const auto entries = encoder_table(lengths);
      writes.clear();
      for (std::uint32_t symbol = 0; symbol < huffman_symbols; ++symbol)
        writes.push_back({symbol, entries[symbol].word()});
      fresh = false;
      since = i;
    }
    both.drive(pins.table_we_i, !writes.empty());
    if (!writes.empty()) {
      both.drive(pins.table_addr_i, writes.front()[0]);
      both.drive(pins.table_data_i, writes.front()[1]);
      writes.pop_front();
    }
    if (bench.rng().chance(0.005)) {
      any = bench.rng().chance(0.5) ? 0 : bench.rng().chance(0.5) ? 0.02 : 1;
      end = bench.rng().chance(0.3) ? 0.5 : 0.003;
    }
    if (next) {
      word = {};
      for (std::size_t b = 0; b < width / 8; ++b)
        word[b / 4] |= static_cast<std::uint32_t>(random_value(bench.rng(), decoder, any)) << b % 4 * 8;
      last = bench.rng().chance(end);
      next = false;
    }
    both.drive(pins, traffic_at(i, 1000));
    if (i - since <= 260) both.drive(pins.valid_i, false);
    both.drive(pins.data_i, systemc::port_of<width>(word));
    both.drive(pins.last_i, last);
    both.settle();
    next = dut->valid_i && dut->ready_o;
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    fresh |= !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->valid_o, pins.data_o, pins.last_o));
  };
  both.run(stimulate, compare, [&] {
    refused += !dut->ready_o;
    packets += dut->valid_o && dut->last_o;
    values += dut->valid_o;
  });
  both.covered("a word was not taken", refused);
  both.covered("a word waited", waited);
  both.covered("a packet ended", packets);
  both.covered("a word came", values, 200);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
