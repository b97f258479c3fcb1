// SPDX-License-Identifier: Apache-2.0
// ng_rht16 against its golden model, on the blocks of rht16_stimulus.hpp. Build parameters: NG_WINDOW, NG_CUTS.
#include <string>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/rht16.hpp"
#include "rht16_stimulus.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

class Rht16Bench {
 public:
  Rht16Bench(int argc, char** argv)
      : bench_(argc, argv, "rht16, window " + std::to_string(NG_WINDOW)), dut_(bench_), pipe_(bench_, dut_) {}

  int run() {
    Rht16Stimulus(bench_).run([this](const Rht16Block& x) { check(x); });
    pipe_.drain();
    bench_.expect(bench_.budget() < 1000 || (exact_ > 100 && (NG_WINDOW == 253 || cut_ > 100)),
                  [] { return "hardly a block was exact, or none was cut off"; });
    return bench_.finish();
  }

 private:
  void check(const Rht16Block& x) {
    for (unsigned r = 0; r < 16; ++r) set_bits(dut_->x_i, 16 * r, 16, x[r]);
    pipe_([this, x] { compare(x); });
  }

  void compare(const Rht16Block& x) {
    const Rht16Result expected = rht16(x, NG_WINDOW);
    ++(expected.exact ? exact_ : cut_);
    const auto inputs = [&] { return show(x); };
    for (unsigned c = 0; c < 16; ++c)
      bench_.expect_eq("y " + std::to_string(c), get_bits(dut_->y_o, 16 * c, 16), expected.y[c], inputs);
    bench_.expect_eq("exact_o", unsigned{dut_->exact_o}, unsigned{expected.exact}, inputs);
  }

  Bench bench_;
  Dut<Vdut> dut_;
  CutPipe<Vdut> pipe_;
  std::uint64_t exact_ = 0, cut_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return Rht16Bench(argc, argv).run(); }
