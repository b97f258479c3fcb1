// SPDX-License-Identifier: Apache-2.0
// ng_fp8_adam against its golden function and cycle for cycle against the cycle model: elements and constants of
// several kinds, under bubbles, stalls and resets. A vector is an element.
#include <array>
#include <bit>
#include <cmath>

#include "../serial_bench.hpp"
#include "Vdut.h"
#include "systemc/quant/fp8_adam_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

struct Input {
  std::uint32_t gradient = 0;
  Fp8AdamElement old;
};

class Fp8AdamBench : SerialBench<Fp8AdamBench, Vdut, systemc::Fp8AdamCore, Input> {
  friend SerialBench;

 public:
  Fp8AdamBench(int argc, char** argv) : SerialBench(argc, argv, "fp8_adam", 20'000) {}

  int run() {
    reset();
    // Every code of both moments, in steps of training.
    kind_ = 0;
    new_constants();
    for (unsigned code = 0; code < 256; ++code) {
      Input x = training();
      x.old.m = static_cast<std::uint8_t>(code);
      offer(x);
      x = training();
      x.old.v = static_cast<std::uint8_t>(code);
      offer(x);
    }
    drain(0, 0);
    for (std::uint64_t i = 0; i < bench_.budget();) {
      constexpr std::array kinds{0U, 1U, 2U, 3U, 4U, 5U, 5U, 5U, 6U, 7U};
      kind_ = kinds[below(kinds.size())];
      new_constants();
      for (int n = 0; n < 8; ++n, ++i) offer(element());
      drain_or_reset(0.02, 80, [&] { return element(); });
    }
    return finish();
  }

 private:
  static std::uint32_t code(double x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }
  static double number(std::uint32_t code) { return std::bit_cast<float>(code); }
  std::uint32_t word() { return bits(32); }
  double uniform() { return static_cast<double>(bench_.rng().bits(53)) * 0x1p-53; }

  void new_constants() {
    if (kind_ == 4) {  // any
      for (std::uint32_t* each : words()) *each = any();
      return;
    }
    Fp8AdamStep step;
    step.rate = std::exp2(-4.0 - bench_.rng().below(16));
    step.beta1 = 1 - std::exp2(-1.0 - bench_.rng().below(6));
    step.beta2 = 1 - std::exp2(-3.0 - bench_.rng().below(9));
    step.epsilon = kind_ == 3 || kind_ == 6 ? 0 : std::exp2(-10.0 - bench_.rng().below(30));
    step.weight_decay = bench_.rng().below(2) * uniform();
    step.step = 1 + bench_.rng().below(bench_.rng().below(2) ? 10 : 100'000);
    size_ = std::exp2(static_cast<double>(bench_.rng().below(30)) - 20);  // of the gradients
    step.m_scale = static_cast<float>((64 + 1000 * uniform()) / size_);
    step.m_scale_old = static_cast<float>((64 + 1000 * uniform()) / size_);
    step.v_scale = static_cast<float>((4096 + 100'000 * uniform()) / (size_ * size_));
    step.v_scale_old = static_cast<float>((4096 + 100'000 * uniform()) / (size_ * size_));
    constants_ = fp8_adam_constants(step);
    if (kind_ == 6) constants_.v_decay = code(std::ldexp(1, -115 - static_cast<int>(below(35))));
    if (kind_ == 7) {  // any decays, of moments without a gradient (found 2026-11-26 by an injected fault)
      constants_.m_decay = word();
      constants_.v_decay = word();
    }
    if (kind_ == 5) {  // the moments are as good as those of a gradient alone, and their codes next to ties
      gradient_ = code((1 + uniform()) * size_);
      const double g = number(gradient_), m_gain = 1 + uniform(), v_gain = 1 + uniform();
      constants_.m_decay = code(0x1p-100 * (1 + uniform()));
      constants_.v_decay = code(0x1p-100 * (1 + uniform()));
      constants_.m_gain = code(m_gain);
      constants_.v_gain = code(v_gain);
      constants_.m_scale = code(std::ldexp(17 + 2 * below(8), static_cast<int>(below(12)) - 8) / (g * m_gain));
      for (std::uint32_t* each : {&constants_.root_scale, &constants_.epsilon, &constants_.rate, &constants_.keep})
        *each ^= bits(1) << 31;
      constants_.v_scale = code(std::ldexp(9 + 2 * below(4), static_cast<int>(below(24)) - 14) / (g * g * v_gain));
    }
  }
  std::array<std::uint32_t*, 10> words() {
    Fp8AdamConstants& k = constants_;
    return {&k.m_decay, &k.m_gain,     &k.v_decay, &k.v_gain, &k.m_scale,
            &k.v_scale, &k.root_scale, &k.epsilon, &k.rate,   &k.keep};
  }

  /// Any number, special and subnormal ones among them.
  std::uint32_t any() {
    switch (bench_.rng().below(6)) {
      case 0:
        return word();
      case 1:
        return word() & 0x807FFFFF;
      case 2:
        return word() & 0x80000000;
      case 3:  // a NaN by a single bit
        return (word() & 0x80000000) | 0x7F800000 | 1U << below(23);
      default:
        return (word() & 0x807FFFFF) | (97 + bench_.rng().below(60)) << 23;
    }
  }

  Input training() {
    const double spread = std::exp2(-(8 * uniform()) * (8 * uniform()) / 8);
    return {.gradient = code((2 * uniform() - 1) * size_ * spread),
            .old = {.weight = code(2 * uniform() - 1),
                    .m = static_cast<std::uint8_t>(bench_.rng().bits(8)),
                    .v = static_cast<std::uint8_t>(bench_.rng().below(0x7C))}};
  }
  Input element() {
    Input x = training();
    switch (kind_) {
      case 1:  // zeros: no gradient, no moments, no weight
        if (bench_.rng().below(2)) x.gradient &= 0x80000000;
        if (bench_.rng().below(2)) x.old.m &= 0x80;
        if (bench_.rng().below(2)) x.old.v = 0;
        if (bench_.rng().below(4) == 0) x.old.weight &= 0x80000000;
        break;
      case 2:  // a gradient that is too large, special, or too small
        x.gradient = any();
        break;
      case 3:  // without epsilon: division by zero; the least codes
        x.old.m = static_cast<std::uint8_t>(bench_.rng().bits(1) << 7 | bench_.rng().below(9));
        x.old.v = static_cast<std::uint8_t>(bench_.rng().below(9));
        if (bench_.rng().below(2)) x.gradient &= 0x80FFFFFF;
        break;
      case 5:
        x.gradient = gradient_ | static_cast<std::uint32_t>(bench_.rng().bits(1)) << 31;
        x.old.m &= 0xF7;  // no NaN
        break;
      case 6:  // no gradient, and a second moment of one bit that becomes subnormal
        x.gradient &= 0x80000000;
        x.old.v &= 0x7C;
        break;
      case 7:
        x.gradient &= 0x80000000;
        break;
      case 4:
        x = {.gradient = any(),
             .old = {.weight = any(),
                     .m = static_cast<std::uint8_t>(bench_.rng().bits(8)),
                     .v = static_cast<std::uint8_t>(bench_.rng().bits(8))}};
        break;
      default:
        break;
    }
    return x;
  }

  Input noise() {
    return {.gradient = word(),
            .old = {.weight = word(), .m = static_cast<std::uint8_t>(word()), .v = static_cast<std::uint8_t>(word())}};
  }
  void drive(const Input& x) {
    dut_->gradient_i = x.gradient;
    dut_->weight_i = x.old.weight;
    dut_->m_i = x.old.m;
    dut_->v_i = x.old.v;
    const Fp8AdamConstants& k = constants_;
    dut_->m_decay_i = k.m_decay;
    dut_->m_gain_i = k.m_gain;
    dut_->v_decay_i = k.v_decay;
    dut_->v_gain_i = k.v_gain;
    dut_->m_scale_i = k.m_scale;
    dut_->v_scale_i = k.v_scale;
    dut_->root_scale_i = k.root_scale;
    dut_->epsilon_i = k.epsilon;
    dut_->rate_i = k.rate;
    dut_->keep_i = k.keep;
  }
  void step(bool offered, const Input& x, bool ready) { core_.step(offered, constants_, x.gradient, x.old, ready); }
  void sample() {
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->weight_o, dut_->m_o, dut_->v_o, dut_->m_fp32_o, dut_->v_fp32_o);
  }
  void check(const Input& x) {
    const auto inputs = [&] {
      return "kind " + std::to_string(kind_) + ", gradient " + hex(x.gradient) + ", weight " + hex(x.old.weight) +
             ", m " + hex(x.old.m) + ", v " + hex(x.old.v);
    };
    const Fp8AdamElement expected = fp8_adam(constants_, x.gradient, x.old), element = core_.element();
    bench_.expect_eq("weight_o", dut_->weight_o, expected.weight, inputs);
    bench_.expect_eq("m_o", unsigned{dut_->m_o}, unsigned{expected.m}, inputs);
    bench_.expect_eq("v_o", unsigned{dut_->v_o}, unsigned{expected.v}, inputs);
    bench_.expect_eq("m_fp32_o", dut_->m_fp32_o, expected.m_fp32, inputs);
    bench_.expect_eq("v_fp32_o", dut_->v_fp32_o, expected.v_fp32, inputs);
    bench_.expect_eq("weight_o", dut_->weight_o, element.weight, model);
  }

  Fp8AdamConstants constants_;
  std::uint32_t kind_ = 0;
  double size_ = 1;             // of gradients
  std::uint32_t gradient_ = 0;  // where all are the same, but for the sign
};

}  // namespace

int main(int argc, char** argv) { return Fp8AdamBench(argc, argv).run(); }
