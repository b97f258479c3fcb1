// SPDX-License-Identifier: Apache-2.0
// ng_uart_bridge and its SystemC module in lock-step: frames and bare commands of all kinds on the line, and anything
// at the bus and the streams. Build parameters: those of the unit.
#include <deque>
#include <vector>

#include "../board/bridge_tile.hpp"
#include "dut_pins.hpp"
#include "systemc/board/uart_bridge.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr const char* faults[] = {"a byte comes one cycle late", "an access is never given up",
                                  "results lose the highest bits of their bytes", "an answer leaves one clock late",
                                  "a refused access goes unnoticed"};

using Base = systemc::UartBridgeCore<NG_CLOCKS_PER_BIT, NG_STREAM_WIDTH, NG_REQUEST_BYTES, NG_ANSWER_BYTES, NG_TX_BYTES,
                                     NG_RX_BYTES, NG_BUS_CLOCKS, NG_TIMEOUT_CLOCKS>;

struct Core : Base {
  void step(const Inputs& in) {
    Inputs seen = in;
    if (fault == 1) seen.rx = before_;
    if (fault == 2 && (bus().wait_read || bus().wait_write)) seen.bus.bvalid = seen.bus.rvalid = ++waits_ % 16 == 0;
    for (std::uint32_t& word : seen.in)
      if (fault == 3) word &= 0x7F7F7F7F;
    if (fault == 5) seen.bus.bresp = seen.bus.rresp = 0;
    before_ = in.rx;
    last_ = Base::tx();
    Base::step(seen);
  }
  bool tx() const { return fault == 4 ? last_ : Base::tx(); }
  bool before_ = true, last_ = true;
  unsigned waits_ = 0;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc uart_bridge");
  auto& [bench, dut, clk, rst_n] = both;
  systemc::UartBridge<Core> model("model");
  Pins pins(both, model);
  Rng& rng = bench.rng();

  // What the golden bridge expects is a likely number of the next frame.
  BridgeTile tile(NG_STREAM_WIDTH / 8);
  std::optional<board::UartBridge> golden;
  std::deque<std::uint8_t> line;
  unsigned left = 0, sent = 0, shift = 0, pause = 0;
  std::uint64_t locked = 0, loops = 0, operands = 0, sunk = 0, answers = 0, given_up = 0;
  double answered = 0.2;
  bool tx_before = true;
  const auto restart = [&] {
    golden.emplace(tile);
    line.clear();
    left = pause = 0;
  };
  const auto command = [&](std::vector<std::uint8_t>& bytes) {
    constexpr std::uint32_t places[] = {0x0,    0x24,   0x44,   0x1000, 0x1000, 0x1004, 0x1008, 0x100C, 0x1010, 0x1010,
                                        0x1014, 0x1018, 0x101C, 0x1020, 0x102C, 0x1030, 0x1034, 0x1034, 0x1038, 0x103C,
                                        0x103C, 0x103C, 0x1040, 0x1040, 0x1044, 0x1048, 0x1FFC, 0x2000};
    const auto kind = static_cast<std::uint8_t>(1 + rng.below(4));
    const unsigned words = rng.below(5);
    bytes.push_back(kind);
    bytes.push_back(static_cast<std::uint8_t>(words));
    board::append_big(bytes, places[rng.below(std::size(places))] / 4 +
                                 (rng.chance(0.02) ? static_cast<std::uint32_t>(rng.bits(32)) : 0));
    for (unsigned i = 0; kind % 2 == 1 && i < words; ++i)
      board::append_big(bytes, rng.chance(0.5) ? rng.below(8) : static_cast<std::uint32_t>(rng.bits(32)));
  };
  const auto more = [&] {
    std::vector<std::uint8_t> bytes;
    if (dut->locked_o || rng.chance(0.3)) {
      std::vector<std::uint8_t> frame;
      frame.push_back(static_cast<std::uint8_t>(golden->expected() - rng.below(rng.chance(0.2) ? 3 : 1)));
      for (unsigned n = rng.below(4); n != 0; --n) command(frame);
      board::append_frame(bytes, frame);
      if (rng.chance(0.1)) bytes[rng.below(static_cast<std::uint32_t>(bytes.size()))] ^= 1U << rng.below(8);
    } else {
      command(bytes);
      if (rng.chance(0.1)) bytes.resize(rng.below(static_cast<std::uint32_t>(bytes.size())));
      pause = rng.below(40 * 16 * NG_CLOCKS_PER_BIT);
      if (rng.chance(0.05)) pause += NG_TIMEOUT_CLOCKS;
    }
    for (const std::uint8_t byte : bytes) golden->byte(byte);
    line.assign(bytes.begin(), bytes.end());
    if (pause == 0) pause = rng.below(rng.chance(0.5) ? 10 : 60 * 10 * NG_CLOCKS_PER_BIT);
    answered = rng.chance(0.1) ? 0.003 : 0.2;
    tile.open = true;
    tile.error = 1;  // ends a loop at once
    tile.granted = 0;
    tile.operands.clear();
    tile.written.clear();
  };
  const auto stimulate = [&] {
    if (left == 0 && line.empty() && pause != 0) {
      --pause;
    } else if (left == 0) {
      if (line.empty()) more();
      if (!line.empty()) {
        shift = 0x200U | line.front() << 1;
        if (rng.chance(0.002)) shift &= 0x1FF;
        line.pop_front();
        left = 10 * NG_CLOCKS_PER_BIT + (shift & 0x200U ? 0 : NG_CLOCKS_PER_BIT);
        sent = 0;
      }
    }
    both.drive_random(pins);
    both.drive(pins.rx_i, left == 0 || sent >= 10 * NG_CLOCKS_PER_BIT || (shift >> sent / NG_CLOCKS_PER_BIT & 1) != 0);
    if (left != 0) --left, ++sent;
    both.drive(pins.m_axil_bvalid_i, rng.chance(answered));
    both.drive(pins.m_axil_rvalid_i, rng.chance(answered));
    both.drive(pins.m_axil_bresp_i, rng.chance(0.3) ? 2 : 0);
    both.drive(pins.m_axil_rresp_i, rng.chance(0.3) ? 2 : 0);
    if (rng.chance(0.9)) both.drive(pins.m_axil_rdata_i, static_cast<std::uint32_t>(rng.bits(12)));
    both.drive(pins.m_axis_tready_i, rng.chance(0.02));
    both.drive(pins.s_axis_tvalid_i, rng.chance(0.02));
  };
  const auto compare = [&] {
    both.same(pins, OnlyWhile(dut->m_axil_awvalid_o, pins.m_axil_awaddr_o),
              OnlyWhile(dut->m_axil_arvalid_o, pins.m_axil_araddr_o),
              OnlyWhile(dut->m_axil_wvalid_o, pins.m_axil_wdata_o),
              OnlyWhile(dut->m_axis_tvalid_o, pins.m_axis_tdata_o, pins.m_axis_tlast_o));
  };
  std::uint64_t resets = 0, waits = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (both.maybe_reset(i, compare, 1e-4)) {
      ++resets;
      restart();
    }
    stimulate();
    both.settle();
    compare();
    sunk += dut->s_axis_tvalid_i && dut->s_axis_tready_o;
    both.tick();
    compare();
    bench.vector();
    locked += dut->locked_o;
    loops += dut->running_o;
    operands += dut->m_axis_tvalid_o;
    answers += tx_before && !dut->tx_o;
    tx_before = dut->tx_o;
    waits = dut->m_axil_bready_o || dut->m_axil_rready_o ? waits + 1 : 0;
    given_up += waits > NG_BUS_CLOCKS;
  }
  both.covered("reset", resets, 2);
  both.covered("good frames had come", locked);
  both.covered("the loop ran", loops);
  both.covered("operands waited", operands);
  both.covered("results came", sunk);
  both.covered("the board sent", answers);
  both.covered("an access was given up", given_up);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
