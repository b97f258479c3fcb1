// SPDX-License-Identifier: Apache-2.0
// ng_int_mult_serial against exact products and, in every cycle, the golden register's next value: all pairs of corner
// codes back to back, whose pace is counted; all pairs of codes, and all pairs of pairs, where the budget allows;
// random pairs under bubbles and stalls of changing density, with resets amid the steps. Build parameters: NG_A_WIDTH,
// NG_B_WIDTH, NG_A_SIGNED, NG_B_SIGNED.
#include <deque>
#include <utility>
#include <vector>

#include "../bench.hpp"
#include "Vdut.h"
#include "systemc/mac/int_mult_serial_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr IntFormat a_format{.width = NG_A_WIDTH, .is_signed = NG_A_SIGNED != 0};
constexpr IntFormat b_format{.width = NG_B_WIDTH, .is_signed = NG_B_SIGNED != 0};
constexpr unsigned product_width = a_format.width + b_format.width;

class IntMultSerialBench {
 public:
  IntMultSerialBench(int argc, char** argv)
      : bench_(argc, argv, "int_mult_serial", 65'536), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    for (const std::uint32_t a : corners(a_format))
      for (const std::uint32_t b : corners(b_format)) pairs_.push_back({a, b});
    const std::uint64_t pairs = pairs_.size(), start = dut_.cycles();
    drain(0, 0);
    bench_.expect_eq("cycles", dut_.cycles() - start, pairs * b_format.width,
                     [&] { return std::to_string(pairs) + " products back to back"; });

    constexpr std::uint64_t all = std::uint64_t{1} << product_width;
    if (bench_.sweep_step("pairs of codes", all) == 1) {
      for (std::uint64_t p = 0; p < all; ++p) offer(p);
      drain(0, 0);
    }
    // The register of a pair begins where that of the one before ended.
    if (product_width <= 8 && bench_.sweep_step("pairs of pairs", all * all) == 1) {
      for (std::uint64_t p = 0; p < all * all; ++p) {
        offer(p >> product_width);
        offer(p);
      }
      drain(0, 0);
    }

    for (const std::uint64_t swept = taken_; taken_ < swept + bench_.budget();) {
      const double bubble = bench_.rng().below(3) / 4.0, stall = bench_.rng().below(4) / 5.0;
      for (int i = 0; i < 20; ++i)
        pairs_.push_back({static_cast<std::uint32_t>(bench_.rng().bits(a_format.width)),
                          static_cast<std::uint32_t>(bench_.rng().bits(b_format.width))});
      drain(bubble, stall);
      if (bench_.rng().chance(0.05)) {
        pairs_.push_back({a_format.mask(), b_format.mask()});
        for (std::uint32_t cycles = bench_.rng().below(2 * b_format.width); cycles > 0; --cycles) cycle(0, 0.5);
        reset();
      }
    }
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10,
                  [] { return "hardly a product, or none ever waited"; });
    return bench_.finish();
  }

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  static std::vector<std::uint32_t> corners(const IntFormat& format) {
    const std::uint32_t top = std::uint32_t{1} << (format.width - 1), all = format.mask();
    std::vector<std::uint32_t> codes = {0, 1, all, all - 1, top, top - 1, top | 1, 0x5555 & all, 0xAAAA & all};
    for (std::uint32_t& code : codes) code &= all;
    return codes;
  }

  void offer(std::uint64_t p) {
    const auto code = static_cast<std::uint32_t>(p);
    pairs_.push_back({code & a_format.mask(), code >> a_format.width & b_format.mask()});
    if (pairs_.size() >= 100) drain(0, 0);
  }

  void reset() {
    dut_->valid_i = 0;
    dut_->ready_i = 0;
    dut_.reset(0);
    core_.reset();
    pairs_.clear();
    products_.clear();
    output_.clear();
    outputs();
    dut_.reset();
  }

  void drain(double bubble, double stall) {
    while (!pairs_.empty() || !products_.empty()) cycle(bubble, stall);
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, unsigned{core_.ready()}, model);
    bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, unsigned{core_.valid()}, model);
    bench_.expect_eq("product_o", get_bits(dut_->product_o, 0, product_width), core_.product(), model);
    if (!dut_->valid_o) return;
    const bool due = !products_.empty();
    bench_.expect(due, [] { return "a product without a pair"; });
    if (due)
      bench_.expect_eq("product", get_bits(dut_->product_o, 0, product_width),
                       get_bits(products_.front(), 0, product_width), [] { return "the pair taken"; });
  }

  void cycle(double bubble, double stall) {
    // A pair that was offered stays offered.
    offered_ = !pairs_.empty() && (offered_ || bubble == 0 || !bench_.rng().chance(bubble));
    const Pair noise{static_cast<std::uint32_t>(bench_.rng().bits(a_format.width)),
                     static_cast<std::uint32_t>(bench_.rng().bits(b_format.width))};
    const auto [a, b] = offered_ ? pairs_.front() : noise;
    dut_->valid_i = offered_;
    dut_->a_i = a;
    dut_->b_i = b;
    dut_->ready_i = stall == 0 || !bench_.rng().chance(stall);
    dut_.eval();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->product_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    const bool taken = offered_ && dut_->ready_o, given = dut_->valid_o && dut_->ready_i;
    core_.step(offered_, a, b, dut_->ready_i);
    dut_.tick();
    if (given && !products_.empty()) products_.pop_front();
    if (taken) {
      bench_.vector();
      products_.push_back(static_cast<std::uint64_t>(int_product(a_format, a, b_format, b)));
      pairs_.pop_front();
      offered_ = false;
      ++taken_;
    }
    outputs();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  systemc::IntMultSerialCore<systemc::IntMultSerialParams{a_format, b_format}> core_;
  std::deque<Pair> pairs_;
  std::deque<std::uint64_t> products_;
  bool offered_ = false;
  std::uint64_t taken_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return IntMultSerialBench(argc, argv).run(); }
