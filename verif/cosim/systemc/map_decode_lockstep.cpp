// SPDX-License-Identifier: Apache-2.0
// ng_map_decode and its SystemC module in lock-step: tiles and any words. Build parameters: NG_WIDTH, NG_RUNS,
// NG_COUNT_BITS.
#include <deque>

#include "../codec/codec_stimulus.hpp"
#include "../codec/zero_stimulus.hpp"
#include "dut_pins.hpp"
#include "narrowgauge/codec/tile_stream.hpp"
#include "systemc/codec/map_decode.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr int width = NG_WIDTH, count_bits = NG_COUNT_BITS;
constexpr bool runs = NG_RUNS == 1;
constexpr const char* faults[] = {"a beat comes one cycle late", "a fault goes unnoticed",
                                  "a word is taken without ready", "the number of values is one more"};
using Base = systemc::MapDecodeCore<NG_WIDTH, runs>;

struct Core : Base {
  bool valid() const { return Base::valid() && (bench::fault != 1 || seen_); }
  Beat beat() const {
    Beat beat = Base::beat();
    if (bench::fault == 2) beat.fault = beat.empty;
    return beat;
  }
  void step(const Word* word, bool ready) {
    seen_ = Base::valid();
    if (bench::fault == 3 && word && !Base::ready()) Base::step(nullptr, true);
    Word other = word ? *word : Word{};
    if (bench::fault == 4) other.number = (other.number + 1) % (1U << count_bits);
    Base::step(word ? &other : nullptr, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc map_decode " + std::to_string(width));
  auto& [bench, dut, clk, rst_n] = both;
  systemc::MapDecode<width, NG_RUNS, count_bits, Core> model("model");
  Pins pins(both, model);

  // Tables change after a reset, which ends the tile under way.
  DecoderTable table;
  std::array<EncoderEntry, huffman_symbols> encoder{};
  std::deque<std::array<std::uint32_t, 2>> writes;
  std::deque<std::pair<std::uint64_t, bool>> words;
  std::uint32_t number = 0;
  ZeroRunSlots slots;
  const auto next_tile = [&] {
    std::vector<std::uint8_t> bytes;
    number = bench.rng().below(1U << std::min(count_bits, 9));
    if (bench.rng().chance(0.5)) {
      const auto values = random_runs(bench.rng(), number + 1);
      bytes = encode_tile(runs ? shorten_runs(values, slots) : values, encoder, width);
      if (bench.rng().chance(0.2)) ++number, number %= 1U << count_bits;
      if (bench.rng().chance(0.2) && number > 0) --number;
    } else {
      bytes.resize(width / 8 * (1 + bench.rng().below(40)));
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(bench.rng().bits(8));
      if (bench.rng().chance(0.7)) bytes[0] &= 0x3F;
    }
    for (std::size_t i = 0; i < bytes.size(); i += width / 8) {
      std::uint64_t word = 0;
      for (std::size_t b = width / 8; b-- > 0;) word = word << 8 | bytes[i + b];
      words.emplace_back(word, false);
    }
    words.back().second = true;
  };
  std::uint64_t waited = 0, refused = 0, broken = 0, whole = 0, values = 0, since = 0;
  bool fresh = true;
  const auto stimulate = [&](std::uint64_t i) {
    if (fresh) {
      const CodeLengths lengths = random_code(bench.rng());
      table = decoder_table(lengths);
      encoder = encoder_table(lengths);
      slots = random_slots(bench.rng(), bench.rng().below(8));
      const auto all = table_writes(table);
      writes.assign(all.begin(), all.end());
      for (const auto& [address, data] : table_writes(slots)) writes.push_back({512 + address, data});
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
    const Traffic& traffic = traffic_at(i, 200);
    both.drive(pins.s_axis_tvalid_i, i - since > 277 && !bench.rng().chance(traffic.bubble));
    both.drive(pins.m_axis_tready_i, !bench.rng().chance(traffic.stall));
    both.drive(pins.s_axis_tdata_i, static_cast<Port<width>>(words.front().first));
    both.drive(pins.s_axis_tuser_i, static_cast<Port<count_bits>>(number));
    both.drive(pins.s_axis_tlast_i, words.front().second);
    both.settle();
    refused += dut->s_axis_tvalid_i && !dut->s_axis_tready_o;
    if (dut->s_axis_tvalid_i && dut->s_axis_tready_o) words.pop_front();
    waited += dut->m_axis_tvalid_o && !dut->m_axis_tready_i;
  };
  const auto compare = [&] {
    fresh |= !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->m_axis_tvalid_o, pins.m_axis_tdata_o, pins.m_axis_tkeep_o, pins.m_axis_tuser_o,
                              pins.m_axis_tlast_o));
  };
  both.run(stimulate, compare, [&] {
    broken += dut->m_axis_tvalid_o && dut->m_axis_tuser_o;
    whole += dut->m_axis_tvalid_o && dut->m_axis_tlast_o && !dut->m_axis_tuser_o;
    values += dut->m_axis_tvalid_o && dut->m_axis_tkeep_o;
  });
  both.covered("a word was not taken", refused);
  both.covered("a beat waited", waited);
  both.covered("a tile had a fault", broken);
  both.covered("a tile had none", whole, 5);
  both.covered("a value came", values, 200);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
