// SPDX-License-Identifier: Apache-2.0
// ng_tile_decode and its SystemC module in lock-step: whole and broken packets. Build parameters: NG_STREAM_WIDTH,
// NG_DECODERS.
#include <deque>

#include "../tile/packet_stimulus.hpp"
#include "dut_pins.hpp"
#include "systemc/tile/tile_decode.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr int width = NG_STREAM_WIDTH;
constexpr const char* faults[] = {"a word comes one cycle late", "the fault is not reported", "the end is not seen",
                                  "a word is taken without ready", "the base of length 2 is not loaded"};
using Base = systemc::TileDecodeCore<width / 32, NG_DECODERS>;

struct Core : Base {
  bool valid() const { return Base::valid() && (bench::fault != 1 || seen_); }
  bool fault() const { return bench::fault != 2 && Base::fault(); }
  bool last() const { return bench::fault != 3 && Base::last(); }
  void load(unsigned address, std::uint32_t data) {
    Base::load(address, bench::fault == 5 && address == 258 ? 0 : data);
  }
  void step(const Word* word, bool ready) {
    seen_ = Base::valid();
    if (bench::fault == 4 && Base::valid() && !ready) Base::step(nullptr, true);
    Base::step(word, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc tile_decode " + std::to_string(NG_DECODERS) + " x " + std::to_string(width));
  auto& [bench, dut, clk, rst_n] = both;
  systemc::TileDecode<width, NG_DECODERS, Core> model("model");
  Pins pins(both, model);

  // Tables change after a reset, which ends the packet under way.
  CodeLengths lengths{};
  std::deque<std::array<std::uint32_t, 2>> writes;
  std::deque<std::pair<systemc::PortWords<width>, bool>> words;
  const auto next_packet = [&] {
    const auto packet = random_packet(bench.rng(), lengths, width / 8);
    for (std::size_t at = 0; at < packet.size(); at += width / 8) {
      words.emplace_back();
      for (std::size_t i = 0; i < width / 8; ++i)
        words.back().first[i / 4] |= static_cast<std::uint32_t>(packet[at + i]) << i % 4 * 8;
    }
    words.back().second = true;
  };
  std::uint64_t waited = 0, refused = 0, broken = 0, values = 0, since = 0;
  bool fresh = true;
  const auto stimulate = [&](std::uint64_t i) {
    if (fresh) {
      lengths = random_code(bench.rng());
      const auto all = table_writes(decoder_table(lengths));
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
    if (words.empty()) next_packet();
    both.drive(pins, traffic_at(i, 200));
    if (i - since <= 270) both.drive(pins.valid_i, false);
    both.drive(pins.data_i, systemc::port_of<width>(words.front().first));
    both.drive(pins.last_i, words.front().second);
    both.settle();
    if (dut->valid_i && dut->ready_o) words.pop_front();
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    fresh |= !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->valid_o, pins.data_o, pins.last_o));
  };
  both.run(stimulate, compare, [&] {
    refused += !dut->ready_o;
    broken += dut->fault_o;
    values += dut->valid_o;
  });
  both.covered("a word was not taken", refused);
  both.covered("a word waited", waited);
  both.covered("a packet was broken", broken);
  both.covered("a word came", values, 200);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
