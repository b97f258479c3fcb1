// SPDX-License-Identifier: Apache-2.0
// L1 in the Verilated units: flips of the RTL's registers, counted cycle by cycle with exclusive or and popcount (no
// trace file), are those that features_counted counts in the golden model on the same operands. Exactly. NG_INTEGER:
// ng_int_mac with NG_LANES lanes of 8 x 8 bits; else ng_mac_pe with one block of NVFP4.
#include <bit>
#include <cstdio>
#include <random>
#include <vector>

#include "Vdut.h"
#include "Vdut___024root.h"
#include "narrowgauge/power/features.hpp"

using namespace narrowgauge::power;

namespace {

constexpr std::size_t cycles = 5000, every = 256;

/// A register's flips.
class Register {
 public:
  explicit Register(std::uint64_t value) : last_(value) {}
  void next(std::uint64_t value) {
    flips += static_cast<std::uint64_t>(std::popcount(value ^ last_));
    last_ = value;
  }
  std::uint64_t flips = 0;

 private:
  std::uint64_t last_;
};

void clock(Vdut& dut) {
  dut.clk_i = 0;
  dut.eval();
  dut.clk_i = 1;
  dut.eval();
}

/// Bits of codes of `width` bits, the first lowest.
std::uint64_t packed(const std::vector<std::uint32_t>& codes, std::size_t cycle, std::size_t lanes, int width) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < lanes; ++i)
    bits |= std::uint64_t{codes[cycle * lanes + i]} << (static_cast<int>(i) * width);
  return bits;
}

}  // namespace

int main() {
  std::mt19937_64 engine(21);
  const auto random = [&](std::size_t n, std::uint32_t mask) {
    std::vector<std::uint32_t> out(n);
    for (auto& code : out) code = static_cast<std::uint32_t>(engine()) & mask;
    return out;
  };
  Vdut dut;
  dut.rst_ni = 0;
  dut.eval();
  dut.rst_ni = 1;
#ifdef NG_INTEGER
  constexpr std::size_t lanes = NG_LANES;
  const MacSpec mac{.structure = Structure::booth, .lanes = lanes};
  const auto a = random(cycles * lanes, 255), b = random(cycles * lanes, 255);
  const Features golden = features_counted(mac, {cycles, a, b, {}, {}, every});
  std::vector<Register> registers;
  for (std::size_t t = 0; t < cycles; ++t) {
    const std::uint64_t values[] = {packed(a, t, lanes, 8), packed(b, t, lanes, 8), dut.acc_o};
    for (std::size_t i = 0; i < 3; ++i) {
      if (t == 0) registers.emplace_back(values[i]);
      registers[i].next(values[i]);
    }
    dut.a_i = static_cast<std::uint32_t>(values[0]);
    dut.b_i = static_cast<std::uint32_t>(values[1]);
    dut.valid_i = 1;
    dut.first_i = t % every == 0;
    clock(dut);
  }
#else
  constexpr std::size_t lanes = 16;
  const MacSpec mac{.a_format = MacFormat::nvfp4, .b_format = MacFormat::nvfp4, .lanes = lanes};
  const auto a = random(cycles * lanes, 15), b = random(cycles * lanes, 15);
  std::vector<std::uint8_t> a_scale(cycles), b_scale(cycles);
  for (std::size_t t = 0; t < cycles; ++t) {
    a_scale[t] = static_cast<std::uint8_t>(engine() % 127);
    b_scale[t] = static_cast<std::uint8_t>(engine() % 127);
  }
  const Features golden = features_counted(mac, {cycles, a, b, a_scale, b_scale, every});
  std::vector<Register> registers;
  const auto count = [&](std::size_t i, std::uint64_t value) {
    if (registers.size() == i) registers.emplace_back(value);
    registers[i].next(value);
  };
  dut.dot_en_i = dut.term_en_i = dut.acc_en_i = dut.active_i = 1;
  // The three registers hold cycle t's values one, two and three edges later; the sum starts as 0.
  for (std::size_t t = 0; t < cycles + 2; ++t) {
    const std::size_t now = std::min(t, cycles - 1), scaled = std::min(t > 0 ? t - 1 : 0, cycles - 1);
    dut.a_fp4_i = packed(a, now, lanes, 4);
    dut.b_fp4_i = packed(b, now, lanes, 4);
    dut.a_scale_i = a_scale[scaled];
    dut.b_scale_i = b_scale[scaled];
    dut.acc_first_i = t >= 2 && (t - 2) % every == 0;
    if (t == 2) registers.emplace_back(0);  // the sum, last of the registers in order of their first value
    clock(dut);
    const auto& root = *dut.rootp;
    if (t < cycles) {
      count(0, dut.a_fp4_i);
      count(1, dut.b_fp4_i);
      count(2, a_scale[t]);
      count(3, b_scale[t]);
      count(4, root.ng_mac_pe__DOT__gen_fp4__DOT__dot_q);
    }
    if (t >= 1 && t < cycles + 1) count(5, root.ng_mac_pe__DOT__term);
    if (t >= 2 && t - 2 < cycles - 1) count(6, root.ng_mac_pe__DOT__acc);
  }
#endif
  std::uint64_t flips = 0;
  for (const Register& r : registers) flips += r.flips;
  const double expected = golden[static_cast<std::size_t>(Feature::register_flips)] * static_cast<double>(cycles - 1);
  std::printf("%zu cycles: %llu flips of %zu registers in the RTL, %.3f in the golden model\n", cycles,
              static_cast<unsigned long long>(flips), registers.size(), expected);
  return flips > cycles && static_cast<double>(flips) - expected < 0.5 && expected - static_cast<double>(flips) < 0.5
             ? 0
             : 1;
}
