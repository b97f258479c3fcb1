// SPDX-License-Identifier: Apache-2.0
// ng_map_encode and its SystemC module in lock-step. Build parameters: NG_WIDTH, NG_RUNS.
#include <deque>

#include "../codec/codec_stimulus.hpp"
#include "../codec/zero_stimulus.hpp"
#include "dut_pins.hpp"
#include "systemc/codec/map_encode.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr int width = NG_WIDTH;
constexpr bool runs = NG_RUNS == 1;
constexpr const char* faults[] = {"a word comes one cycle late", "the end of a tile is not seen",
                                  "a value is taken without ready", "a value without a code has one"};
using Base = systemc::MapEncodeCore<NG_WIDTH, runs>;

struct Core : Base {
  bool valid() const { return Base::valid() && (bench::fault != 1 || seen_); }
  Word word() const {
    Word word = Base::word();
    if (bench::fault == 2) word.last = false;
    return word;
  }
  void load(unsigned address, std::uint16_t data) {
    Base::load(address, bench::fault == 4 && address < 256 && data == 0 ? 0x1000 : data);
  }
  void step(const Value* value, bool ready) {
    seen_ = Base::valid();
    if (bench::fault == 3 && value && !Base::ready()) Base::step(nullptr, true);
    Base::step(value, ready);
  }
  bool seen_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc map_encode " + std::to_string(width));
  auto& [bench, dut, clk, rst_n] = both;
  systemc::MapEncode<width, NG_RUNS, Core> model("model");
  Pins pins(both, model);

  // Tables change after a reset, which ends the tile under way.
  DecoderTable decoder;
  std::deque<std::array<std::uint32_t, 2>> writes;
  std::deque<std::uint8_t> values;
  std::uint64_t waited = 0, refused = 0, ended = 0, words = 0, since = 0;
  bool fresh = true;
  const auto stimulate = [&](std::uint64_t i) {
    if (fresh) {
      const CodeLengths lengths = random_code(bench.rng());
      decoder = decoder_table(lengths);
      const auto entries = encoder_table(lengths);
      writes.clear();
      for (std::uint32_t symbol = 0; symbol < huffman_symbols; ++symbol)
        writes.push_back({symbol, entries[symbol].word()});
      for (const auto& [address, data] : table_writes(random_slots(bench.rng(), bench.rng().below(8))))
        writes.push_back({256 + address, data});
      values.clear();
      fresh = false;
      since = i;
    }
    both.drive(pins.table_we_i, !writes.empty());
    if (!writes.empty()) {
      both.drive(pins.table_addr_i, writes.front()[0]);
      both.drive(pins.table_data_i, writes.front()[1]);
      writes.pop_front();
    }
    if (values.empty()) {
      const std::size_t count = 1 + bench.rng().below(400);
      if (bench.rng().chance(0.5)) {
        const auto more = random_runs(bench.rng(), count);
        values.assign(more.begin(), more.end());
      } else {
        while (values.size() < count) values.push_back(random_value(bench.rng(), decoder, 0.01));
      }
    }
    const Traffic& traffic = traffic_at(i, 200);
    both.drive(pins.s_axis_tvalid_i, i - since > 265 && !bench.rng().chance(traffic.bubble));
    both.drive(pins.m_axis_tready_i, !bench.rng().chance(traffic.stall));
    both.drive(pins.s_axis_tdata_i, static_cast<Port<8>>(values.front()));
    both.drive(pins.s_axis_tlast_i, values.size() == 1);
    both.settle();
    refused += dut->s_axis_tvalid_i && !dut->s_axis_tready_o;
    if (dut->s_axis_tvalid_i && dut->s_axis_tready_o) values.pop_front();
    waited += dut->m_axis_tvalid_o && !dut->m_axis_tready_i;
  };
  const auto compare = [&] {
    fresh |= !dut->rst_ni;
    both.same(pins, OnlyWhile(dut->m_axis_tvalid_o, pins.m_axis_tdata_o, pins.m_axis_tlast_o));
  };
  both.run(stimulate, compare, [&] {
    ended += dut->m_axis_tvalid_o && dut->m_axis_tlast_o;
    words += dut->m_axis_tvalid_o;
  });
  both.covered("a value was not taken", refused);
  both.covered("a word waited", waited);
  both.covered("a tile ended", ended);
  both.covered("a word came", words, 200);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
