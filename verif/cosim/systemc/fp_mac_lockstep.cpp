// SPDX-License-Identifier: Apache-2.0
// ng_fp_mac and its SystemC module in lock-step. Build parameter: NG_FORMAT (bf16, fp16, tf32, fp32).
#include "dut_pins.hpp"
#include "systemc/mac/fp_mac.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr auto format = narrowgauge::Format::NG_FORMAT;
constexpr auto desc = narrowgauge::desc(format);
constexpr const char* faults[] = {"the product is rounded before the sum", "first does not load", "a sum without valid",
                                  "the sum comes one cycle late", "NaNs keep their payload"};

struct Core : narrowgauge::systemc::FpMacCore<format> {
  using Base = narrowgauge::systemc::FpMacCore<format>;
  std::uint32_t acc() const {
    const std::uint32_t sum = fault == 4 ? old_ : Base::acc();
    return fault == 5 && sum == 0x7FC00000 ? 0x7FC00001 : sum;
  }
  void step(bool valid, bool first, std::uint32_t a, std::uint32_t b) {
    old_ = Base::acc();
    if (fault == 1 && valid) {
      const std::uint32_t product = narrowgauge::fma_fp32(desc, a, b, 0), one = 0x3F800000;
      const std::uint32_t bf16 = narrowgauge::encode(narrowgauge::Format::bf16, std::bit_cast<float>(product),
                                                     {.overflow = narrowgauge::Overflow::ieee});
      Base::step(false, first, a, b);
      sum_ = narrowgauge::fma_fp32(narrowgauge::desc(narrowgauge::Format::fp32), bf16 << 16, one, first ? 0 : sum_);
      return;
    }
    Base::step(valid || fault == 3, first && fault != 2, a, b);
    sum_ = Base::acc();
  }
  std::uint32_t old_ = 0, sum_ = 0;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc fp_mac " + std::string(desc.name));
  auto& [bench, dut, clk, rst_n] = both;
  using Module = narrowgauge::systemc::FpMac<format, Core>;
  Module model("model");
  Pins pins(both, model);

  std::uint64_t nans = 0;
  const auto stimulate = [&](std::uint64_t i) {
    // Any code in one phase, ordinary numbers in the next.
    const auto code = [&]() -> Port<Module::width> {
      const auto any = static_cast<std::uint32_t>(bench.rng().bits(desc.bits));
      if (i / 256 % 2 == 0) return static_cast<Port<Module::width>>(any);
      return static_cast<Port<Module::width>>((any & ~desc.inf_code()) | (desc.bias - 4 + bench.rng().below(8))
                                                                             << desc.man_bits);
    };
    both.drive(pins.valid_i, bench.rng().chance(0.7));
    both.drive(pins.first_i, bench.rng().chance(0.1));
    both.drive(pins.a_i, code());
    both.drive(pins.b_i, code());
  };
  both.run(
      stimulate, [&] { both.same(pins); }, [&] { nans += dut->acc_o == 0x7FC00000; });
  both.covered("a sum was NaN", nans);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
