// SPDX-License-Identifier: Apache-2.0
// ng_int_mult_serial against exact products and, in every cycle, the golden register's next value: all pairs of corner
// codes back to back, whose pace is counted; all pairs of codes, and all pairs of pairs, where the budget allows;
// random pairs under bubbles and stalls of changing density, with resets amid the steps. Build parameters: NG_A_WIDTH,
// NG_B_WIDTH, NG_A_SIGNED, NG_B_SIGNED.
#include <utility>
#include <vector>

#include "../serial_bench.hpp"
#include "Vdut.h"
#include "systemc/mac/int_mult_serial_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr IntFormat a_format{.width = NG_A_WIDTH, .is_signed = NG_A_SIGNED != 0};
constexpr IntFormat b_format{.width = NG_B_WIDTH, .is_signed = NG_B_SIGNED != 0};
constexpr unsigned product_width = a_format.width + b_format.width;

using Pair = std::pair<std::uint32_t, std::uint32_t>;
using Core = systemc::IntMultSerialCore<systemc::IntMultSerialParams{a_format, b_format}>;

class IntMultSerialBench : SerialBench<IntMultSerialBench, Vdut, Core, Pair> {
  friend SerialBench;

 public:
  IntMultSerialBench(int argc, char** argv) : SerialBench(argc, argv, "int_mult_serial", 65'536) {}

  int run() {
    reset();
    const std::uint64_t start = dut_.cycles();
    for (const std::uint32_t a : corners(a_format))
      for (const std::uint32_t b : corners(b_format)) offer({a, b});
    drain(0, 0);
    const std::uint64_t pairs = taken();
    bench_.expect_eq("cycles", dut_.cycles() - start, pairs * b_format.width,
                     [&] { return std::to_string(pairs) + " products back to back"; });

    constexpr std::uint64_t all = std::uint64_t{1} << product_width;
    if (bench_.sweep_step("pairs of codes", all) == 1) {
      for (std::uint64_t p = 0; p < all; ++p) offer(pair(p));
      drain(0, 0);
    }
    // The register of a pair begins where that of the one before ended.
    if (product_width <= 8 && bench_.sweep_step("pairs of pairs", all * all) == 1) {
      for (std::uint64_t p = 0; p < all * all; ++p) {
        offer(pair(p >> product_width));
        offer(pair(p));
      }
      drain(0, 0);
    }

    for (const std::uint64_t swept = taken(); taken() < swept + bench_.budget();) {
      for (int i = 0; i < 20; ++i) offer(noise());
      drain_or_reset(0.05, 2 * b_format.width, [] { return Pair{a_format.mask(), b_format.mask()}; });
    }
    return finish();
  }

 private:
  static std::vector<std::uint32_t> corners(const IntFormat& format) {
    const std::uint32_t top = std::uint32_t{1} << (format.width - 1), all = format.mask();
    std::vector<std::uint32_t> codes = {0, 1, all, all - 1, top, top - 1, top | 1, 0x5555 & all, 0xAAAA & all};
    for (std::uint32_t& code : codes) code &= all;
    return codes;
  }

  static Pair pair(std::uint64_t p) {
    const auto code = static_cast<std::uint32_t>(p);
    return {code & a_format.mask(), code >> a_format.width & b_format.mask()};
  }

  Pair noise() { return {bits(a_format.width), bits(b_format.width)}; }
  void drive(const Pair& pair) {
    dut_->a_i = pair.first;
    dut_->b_i = pair.second;
  }
  void step(bool offered, const Pair& pair, bool ready) { core_.step(offered, pair.first, pair.second, ready); }
  void sample() { output_.sample(dut_->valid_o, dut_->ready_i, dut_->product_o); }
  void check_always() { bench_.expect_eq("product_o", product(), core_.product(), model); }
  void check(const Pair& pair) {
    const auto exact = static_cast<std::uint64_t>(int_product(a_format, pair.first, b_format, pair.second));
    bench_.expect_eq("product", product(), get_bits(exact, 0, product_width), [] { return "the pair taken"; });
  }
  std::uint64_t product() { return get_bits(dut_->product_o, 0, product_width); }
};

}  // namespace

int main(int argc, char** argv) { return IntMultSerialBench(argc, argv).run(); }
