// SPDX-License-Identifier: Apache-2.0
// ng_l2_normalize against its golden function, row by row, and cycle for cycle against the cycle model: rows of one
// length without bubbles and stalls, to the cycle; then rows of six kinds under bubbles and stalls of changing density,
// rows that are too long, and resets. Build parameters: NG_MAN_BITS, NG_MAX_ELEMENTS, NG_EPSILON.
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/quant/l2_normalize_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned man_bits = NG_MAN_BITS, max_elements = NG_MAX_ELEMENTS;

class L2NormalizeBench {
 public:
  L2NormalizeBench(int argc, char** argv)
      : bench_(argc, argv,
               "l2_normalize, " + std::to_string(man_bits) + " mantissa bits, " + std::to_string(max_elements) +
                   " elements"),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    for (const unsigned elements : {1U, 2U, max_elements}) full_speed(elements);
    reset();
    double push = 1, pop = 1, end = 0.2;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.003)) {  // a new density
        push = (1 + bench_.rng().below(4)) / 4.0;
        pop = (1 + bench_.rng().below(4)) / 4.0;
        end = bench_.rng().below(4) == 0 ? 1.0 : (1 + bench_.rng().below(3)) / static_cast<double>(max_elements);
      }
      if (bench_.rng().chance(0.0005)) reset();
      cycle(bench_.rng().chance(push), bench_.rng().chance(end), bench_.rng().chance(pop));
    }
    for (int i = 0; i < 5000 && !expected_.empty(); ++i) cycle(false, false, true);  // what is inside leaves
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10,
                  [] { return "hardly an element left, or none waited"; });
    bench_.expect(cut_ > 0 && whole_ > 0, [] { return "no row was too long, or none had the largest length"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = false;
    row_.clear();
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    dut_.reset();
  }

  /// A row of n elements takes 2 n + 29 cycles.
  void full_speed(unsigned elements) {
    if (NG_EPSILON < 0x800000) return;  // a root of a subnormal number takes longer
    reset();
    for (unsigned n = 0; n < 3; ++n) {
      for (unsigned i = 0; i < 2 * elements + 29; ++i) {
        const auto when = [&] { return "cycle " + std::to_string(i) + " of a row of " + std::to_string(elements); };
        bench_.expect_eq("ready_o", bool(dut_->ready_o), i < elements, when);
        bench_.expect_eq("valid_o", bool(dut_->valid_o), i >= elements + 29, when);
        cycle(true, i == elements - 1, true);
      }
    }
  }

  std::uint32_t with_exponent(std::uint32_t exponent) {
    return static_cast<std::uint32_t>(bench_.rng().bits(1)) << (8 + man_bits) | exponent << man_bits |
           static_cast<std::uint32_t>(bench_.rng().bits(man_bits));
  }

  std::uint32_t element() {
    const std::uint32_t zero = static_cast<std::uint32_t>(bench_.rng().bits(1)) << (8 + man_bits);
    switch (kind_) {
      case 0:  // next to each other in size
        return with_exponent(110 + bench_.rng().below(20));
      case 1:  // of all sizes whose squares do not overflow, zeros among them
        return bench_.rng().chance(0.1) ? zero : with_exponent(bench_.rng().below(190));
      case 2:  // epsilon decides
        return with_exponent(107 + bench_.rng().below(12));
      case 3:  // zeros and subnormals
        return bench_.rng().chance(0.5) ? zero : with_exponent(0);
      case 4:  // a special one among others
        return bench_.rng().chance(0.2) ? with_exponent(255) & (bench_.rng().below(2) ? ~0U : ~0U << man_bits)
                                        : with_exponent(120);
      default:  // overflow
        return with_exponent(185 + bench_.rng().below(70));
    }
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    bench_.expect_eq("too_long_o", bool(dut_->too_long_o), core_.too_long(), model);
    if (!dut_->valid_o) return;
    const Element* const shown = expected_.shown();
    if (shown == nullptr) return;
    const auto& [y, last] = *shown;
    bench_.expect_eq("y_o", dut_->y_o, y, [] { return "the golden function"; });
    bench_.expect_eq("last_o", bool(dut_->last_o), last, [] { return "of the row"; });
    bench_.expect_eq("y_o", dut_->y_o, core_.y(), model);
    bench_.expect_eq("last_o", bool(dut_->last_o), core_.last(), model);
  }

  void cycle(bool valid, bool last, bool ready) {
    if (row_.empty()) kind_ = bench_.rng().below(10) < 4 ? 0 : bench_.rng().below(6);
    const std::uint32_t x = element(), fp32 = x << (23 - man_bits);
    dut_->valid_i = valid;
    dut_->x_i = x;
    dut_->last_i = last;
    dut_->ready_i = ready;
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->y_o, dut_->last_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    if (valid && dut_->ready_o) take(fp32, last);
    core_.step(valid, fp32, last, ready);
    dut_.tick();
    outputs();
  }

  void take(std::uint32_t x, bool last) {
    row_.push_back(x);
    if (!last && row_.size() < max_elements) return;
    cut_ += !last;
    whole_ += last && row_.size() == max_elements;
    l2_normalize(row_, row_, NG_EPSILON);
    for (const std::uint32_t y : row_) expected_.push_back({y, false});
    expected_.back().last = true;
    row_.clear();
  }

  struct Element {
    std::uint32_t y;
    bool last;
  };
  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  systemc::L2NormalizeCore<max_elements, NG_EPSILON> core_;
  std::vector<std::uint32_t> row_;  // that comes
  Scoreboard<Element> expected_{bench_, "elements"};
  std::uint32_t kind_ = 0;
  std::uint64_t cut_ = 0, whole_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return L2NormalizeBench(argc, argv).run(); }
