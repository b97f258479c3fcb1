// SPDX-License-Identifier: Apache-2.0
// ng_ram against an array: every word written and read back, then random writes and reads, rdata_o held while re_i is
// low. Words that nobody wrote, and those read while being written, are not compared. Build parameters: NG_WIDTH,
// NG_DEPTH.
#include <optional>
#include <vector>

#include "../bench.hpp"
#include "Vdut.h"

namespace {

using namespace narrowgauge::bench;

constexpr unsigned width = NG_WIDTH, depth = NG_DEPTH;
using Word = std::optional<std::uint64_t>;

class RamBench {
 public:
  RamBench(int argc, char** argv)
      : bench_(argc, argv, "ram of " + std::to_string(depth) + " x " + std::to_string(width) + " bits", 200'000),
        dut_(bench_),
        words_(depth) {}

  int run() {
    dut_->clk_i = 0;
    dut_.eval();
    for (unsigned address = 0; address < depth; ++address) cycle(true, address, false, 0);
    for (unsigned address = 0; address < depth; ++address) cycle(false, 0, true, address);
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      // A few addresses often, so that words are read soon after they were written and again later.
      const unsigned reach = bench_.rng().chance(0.5) ? depth : std::min(depth, 4U);
      const bool write = bench_.rng().chance(0.5), read = bench_.rng().chance(0.7);
      cycle(write, bench_.rng().below(reach), read, bench_.rng().below(reach));
    }
    return bench_.finish();
  }

 private:
  void cycle(bool write, unsigned write_address, bool read, unsigned read_address) {
    const std::uint64_t data = bench_.rng().bits(width);
    dut_->we_i = write;
    dut_->waddr_i = write_address;
    set_bits(dut_->wdata_i, 0, width, data);
    dut_->re_i = read;
    dut_->raddr_i = read_address;
    dut_.eval();
    dut_.tick();
    bench_.vector();
    if (read) expected_ = write && write_address == read_address ? Word{} : words_[read_address];
    if (write) words_[write_address] = data;
    if (expected_) {
      bench_.expect_eq("rdata_o", get_bits(dut_->rdata_o, 0, width), *expected_,
                       [&] { return (read ? "address " : "held, address ") + std::to_string(read_address); });
    }
  }

  Bench bench_;
  Dut<Vdut> dut_;
  std::vector<Word> words_;
  Word expected_;
};

}  // namespace

int main(int argc, char** argv) { return RamBench(argc, argv).run(); }
