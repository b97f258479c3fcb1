// SPDX-License-Identifier: Apache-2.0
// A command of a beat on the tile `chain` (4 x 4 cells, NVFP4, a stream of 64 bits) on the RTL: both operands loaded,
// multiplied, the results taken with a stall. docs/pictures/tile.trace.
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "narrowgauge/error.hpp"
#include "trace.hpp"
#include "verilated_tiles.hpp"

namespace {

using namespace narrowgauge;

constexpr unsigned rows = 4, lanes = 16, image_words = 5;  // 4 rows of 16 codes, 4 scales: 288 bits
constexpr std::uint32_t irq_enable = 0x28, load = 0x30, format = 0x34, panels = 0x3C, edge = 0x40, compute = 0x44;
// E2M1 codes of each row of A and each column of B, and what they stand for.
constexpr std::array<std::uint8_t, rows> a{2, 3, 4, 5}, b{2, 4, 6, 7};
constexpr std::array<float, 8> value{0, 0.5, 1, 1.5, 2, 3, 4, 6};

/// An image in which a row has one code throughout, under scales of 1.
std::array<std::uint64_t, image_words> image(const std::array<std::uint8_t, rows>& codes) {
  std::array<std::uint64_t, image_words> words{};
  for (unsigned row = 0; row < rows; ++row) words[row] = 0x1111'1111'1111'1111 * codes[row];
  words[rows] = 0x3838'3838;
  return words;
}

struct Run {
  std::unique_ptr<TilePinModel> tile = make_verilated_tile("chain", "");
  TilePins pins;
  axi::LiteMaster master;
  std::deque<std::pair<std::uint64_t, bool>> words;  // to send, and whether it is the last of its load
  std::array<std::uint8_t, 8> sent{};
  std::deque<std::pair<std::uint32_t, std::uint32_t>> writes;
  std::vector<std::uint32_t> results;
  unsigned stall = 0;  // cycles for which results still wait

  /// One cycle; false when there is nothing more to be done.
  bool step(trace::Writer* trace) {
    if (master.write_ready() && !writes.empty()) {
      master.start_write(writes.front().first, writes.front().second);
      writes.pop_front();
    }
    master.drive(pins.bus);
    pins.in_valid = !words.empty();
    if (pins.in_valid) {
      std::memcpy(sent.data(), &words.front().first, sent.size());
      pins.in_data = sent.data();
      pins.in_last = words.front().second;
    }
    const bool hold = results.size() == 6 && stall != 0;  // before the fourth word
    stall -= hold;
    pins.out_ready = !hold;
    std::uint64_t out = 0;
    if (pins.out_valid) std::memcpy(&out, pins.out_data, sizeof out);
    if (trace) {
      trace->cycle({{"awvalid_i", pins.bus.awvalid},
                    {"awready_o", pins.bus.awready},
                    {"awaddr_i", pins.bus.awvalid ? pins.bus.awaddr : 0},
                    {"wdata_i", pins.bus.wvalid ? pins.bus.wdata : 0},
                    {"bvalid_o", pins.bus.bvalid},
                    {"s_tvalid_i", pins.in_valid},
                    {"s_tready_o", pins.in_ready},
                    {"s_tdata_i", pins.in_valid ? words.front().first : 0},
                    {"s_tlast_i", pins.in_valid && pins.in_last},
                    {"m_tvalid_o", pins.out_valid},
                    {"m_tready_i", pins.out_ready},
                    {"m_tdata_o", out},
                    {"m_tlast_o", pins.out_valid && pins.out_last},
                    {"irq_o", pins.irq}});
    }
    master.sample(pins.bus);
    if (pins.in_valid && pins.in_ready) words.pop_front();
    if (pins.out_valid && pins.out_ready) {
      results.push_back(static_cast<std::uint32_t>(out));
      results.push_back(static_cast<std::uint32_t>(out >> 32));
    }
    tile->cycle(pins);
    static_cast<void>(master.take_write());
    return !writes.empty() || !master.write_ready() || !words.empty() || results.size() < rows * rows || !pins.irq;
  }
};

int run() {
  Run at;
  at.tile->reset(at.pins);
  at.writes = {{irq_enable, 1}, {format, 0xA}, {panels, 0x0001'0001}, {edge, 0x0404}};
  for (int i = 0; i < 40; ++i) at.step(nullptr);

  trace::Writer trace("ng_tile, configuration chain: tests/docs/tile_trace.cpp on the RTL");
  at.writes = {{load, 1}, {load, 0x8000'0001}, {compute, 0x001F'0001}};
  for (const auto& codes : {a, b})
    for (unsigned i = 0; i < image_words; ++i) at.words.emplace_back(image(codes)[i], i + 1 == image_words);
  at.stall = 3;
  int cycles = 0;
  while (at.step(&trace))
    if (++cycles == 200) throw Error("the tile did not finish a command of a beat within 200 cycles");
  for (int i = 0; i < 2; ++i) at.step(&trace);
  for (unsigned i = 0; i < rows * rows; ++i) {
    const float expected = lanes * value[a[i / rows]] * value[b[i % rows]];
    if (at.results[i] != std::bit_cast<std::uint32_t>(expected))
      throw Error("result " + std::to_string(i) + " is wrong");
  }
  return 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ng_trace_tile: %s\n", error.what());
    return 1;
  }
}
