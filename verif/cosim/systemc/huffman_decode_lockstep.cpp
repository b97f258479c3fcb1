// SPDX-License-Identifier: Apache-2.0
// ng_huffman_decode and its SystemC module in lock-step: tiles and any bits. Build parameter: NG_WIDTH.
#include <deque>

#include "../codec/codec_stimulus.hpp"
#include "dut_pins.hpp"
#include "narrowgauge/codec/tile_stream.hpp"
#include "systemc/codec/huffman_decode.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr int width = NG_WIDTH;
constexpr const char* faults[] = {"a beat comes one cycle late", "a tile that is too long goes unnoticed",
                                  "a word is taken without ready", "the base of length 2 is not loaded"};

struct Core : systemc::HuffmanDecodeCore<NG_WIDTH> {
  using Base = systemc::HuffmanDecodeCore<NG_WIDTH>;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  Beat beat() const {
    Beat beat = Base::beat();
    if (fault == 2) beat.fault = beat.empty;
    return beat;
  }
  void load(unsigned address, std::uint32_t data) { Base::load(address, fault == 4 && address == 258 ? 0 : data); }
  void step(const Word* word, bool ready) {
    seen_ = Base::valid();
    if (fault == 3 && word && !Base::ready()) Base::step(nullptr, true);
    Base::step(word, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc huffman_decode " + std::to_string(width));
  auto& [bench, dut, clk, rst_n] = both;
  systemc::HuffmanDecode<width, Core> model("model");
  Pins pins(both, model);

  // Tables change after a reset, which ends the tile under way.
  DecoderTable table;
  std::deque<std::array<std::uint32_t, 2>> writes;
  std::deque<std::pair<std::uint64_t, bool>> words;
  const auto next_tile = [&] {
    std::vector<std::uint8_t> bytes(width / 8 * (1 + bench.rng().below(40)));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(bench.rng().bits(8));
    if (!bench.rng().chance(0.2)) bytes[0] = bench.rng().chance(0.7) ? bytes[0] & 0x3F : bytes[0] | 0x40;
    for (const std::uint64_t word : words_of_bytes(bytes, width)) words.emplace_back(word, false);
    words.back().second = true;
  };
  std::uint64_t waited = 0, refused = 0, broken = 0, values = 0, since = 0;
  bool fresh = true;
  const auto stimulate = [&](std::uint64_t i) {
    if (fresh) {
      table = decoder_table(random_code(bench.rng()));
      const auto all = table_writes(table);
      writes.assign(all.begin(), all.end());
      words.clear();
      fresh = false;
      since = i;
    }
    both.drive(pins.table_we_i, !writes.empty());
    if (!writes.empty()) {
      both.drive(pins.table_addr_i, writes.front()[0]);
      both.drive(pins.table_data_i, writes.front()[1]);
      writes.pop_front();
    }
    if (words.empty()) next_tile();
    both.drive(pins, traffic_at(i, 200));
    if (i - since <= 270) both.drive(pins.valid_i, false);
    both.drive(pins.data_i, static_cast<Port<width>>(words.front().first));
    both.drive(pins.last_i, words.front().second);
    both.settle();
    if (dut->valid_i && dut->ready_o) words.pop_front();
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    fresh |= !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->valid_o, pins.data_o, pins.last_o, pins.fault_o, pins.void_o));
  };
  both.run(stimulate, compare, [&] {
    refused += !dut->ready_o;
    broken += dut->valid_o && dut->void_o;
    values += dut->valid_o && !dut->void_o;
  });
  both.covered("a word was not taken", refused);
  both.covered("a beat waited", waited);
  both.covered("a tile was broken", broken);
  both.covered("a value came", values, 200);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
