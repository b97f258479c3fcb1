// SPDX-License-Identifier: Apache-2.0
// ng_round_pack against narrowgauge::round_pack: every significand x exponent x mode where the significand has up to 17
// bits and the budget allows; directed patterns around the last place; random ones; stochastic rounding on both sides
// of its carry and at random. Build parameters: NG_FORMAT (enumerator of Format), NG_OVERFLOW (0..3), NG_SIG_WIDTH,
// NG_EXP_WIDTH, NG_RAND_BITS,
// NG_CUTS.
#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/format/round_pack.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr FormatDesc format = desc(Format::NG_FORMAT);
constexpr auto overflow = static_cast<Overflow>(NG_OVERFLOW);
constexpr int sig_width = NG_SIG_WIDTH, exp_width = NG_EXP_WIDTH, rand_bits = NG_RAND_BITS;
constexpr std::uint64_t sig_range = std::uint64_t{1} << sig_width;

class RoundPackBench {
 public:
  RoundPackBench(int argc, char** argv)
      : bench_(argc, argv, "round_pack " + std::string(format.name) + " overflow " + std::to_string(NG_OVERFLOW),
               2'000'000),
        dut_(bench_),
        pipe_(bench_, dut_) {}

  int run() {
    specials();
    // One exponent beyond everything that behaves differently, within what the port can carry.
    const int port_min = -(1 << (exp_width - 1)), port_max = (1 << (exp_width - 1)) - 1;
    const int lo = std::max(format.min_exp() - format.man_bits - rand_bits - 3, port_min);
    const int hi = std::min(format.min_exp() + (1 << format.exp_bits) + 3, port_max);
    if (sig_width <= 17) {
      const std::uint64_t size = static_cast<std::uint64_t>(hi - lo + 1) * sig_range;
      const std::uint64_t step = bench_.sweep_step("significand x exponent", size);
      for (std::uint64_t x = 0; x < size; x += step) point(lo + static_cast<int>(x / sig_range), x % sig_range);
    }
    for (int exponent = lo; exponent <= hi; ++exponent) corners(exponent);
    for (int exponent = lo; exponent <= hi; ++exponent) lone_sticky(exponent);
    for (int exponent = port_min; exponent <= port_max; ++exponent) point(exponent, sig_range / 2 + 1);
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      const int exponent = lo + static_cast<int>(bench_.rng().below(static_cast<std::uint32_t>(hi - lo + 1)));
      // Runs of zeros below make ties and exact values as likely as anything else.
      const std::uint64_t sig = bench_.rng().bits(sig_width) >> bench_.rng().below(sig_width);
      point(exponent, (sig << std::countl_zero(sig | 1)) >> (64 - sig_width));
    }
    pipe_.drain();
    return bench_.finish();
  }

 private:
  void check(const char* what, std::uint32_t expected, const RoundOptions& options, bool negative, int exponent,
             std::uint64_t sig) {
    pipe_([this, what, expected, options, negative, exponent, sig] {
      bench_.expect_eq(what, static_cast<std::uint32_t>(get_bits(dut_->code_o, 0, format.bits)), expected, [&] {
        return "mode " + std::to_string(static_cast<int>(options.rounding)) + " sign " + std::to_string(negative) +
               " exponent " + std::to_string(exponent) + " significand " + hex(sig) + " random " + hex(options.random);
      });
    });
  }

  void specials() {
    // The number beside the flag must not matter: the smallest and the largest that the ports carry, and random ones.
    for (int i = 0; i < 64; ++i) {
      const std::uint64_t sig = sig_range / 2 | (i < 2 ? 0 : bench_.rng().bits(sig_width));
      const int exponent = (i % 2 != 0 ? 1 : -1) *
                           static_cast<int>(i < 2 ? (1 << (exp_width - 1)) - 1 : bench_.rng().bits(exp_width - 1));
      set_bits(dut_->sig_i, 0, sig_width, sig);
      set_bits(dut_->exp_i, 0, exp_width, static_cast<std::uint64_t>(exponent));
      set_bits(dut_->rand_i, 0, rand_bits, bench_.rng().bits(rand_bits));
      for (int flags = 1; flags < 4; ++flags) {
        for (int negative = 0; negative < 2; ++negative) {
          dut_->nan_i = flags & 1;
          dut_->inf_i = flags >> 1;
          dut_->sign_i = negative;
          const std::uint32_t expected =
              flags & 1 ? encode_nan(format, negative, overflow) : encode_inf(format, negative, overflow);
          for (int mode = 0; mode < 4; ++mode) {
            dut_->mode_i = mode;
            check(flags & 1 ? "NaN" : "infinity", expected, {static_cast<Rounding>(mode)}, negative, exponent, sig);
          }
        }
      }
    }
    dut_->nan_i = dut_->inf_i = 0;
  }

  // All modes at one operand; the sign alternates, both signs on zero.
  void point(int exponent, std::uint64_t sig) {
    if (sig != 0 && sig < sig_range / 2 && exponent > format.min_exp()) return;  // not normalized: outside the contract
    sign_ = !sign_;
    set_bits(dut_->exp_i, 0, exp_width, static_cast<std::uint64_t>(exponent));
    set_bits(dut_->sig_i, 0, sig_width, sig);
    one(Rounding::nearest_even, exponent, sig, 0);
    one(Rounding::nearest_away, exponent, sig, 0);
    one(Rounding::toward_zero, exponent, sig, 0);
    constexpr std::uint64_t top = (std::uint64_t{1} << rand_bits) - 1;
    const std::uint64_t carry = carry_point(exponent, sig);
    one(Rounding::stochastic, exponent, sig, static_cast<std::uint32_t>(std::min(carry, top)));
    one(Rounding::stochastic, exponent, sig, static_cast<std::uint32_t>(carry ? carry - 1 : 0));
    one(Rounding::stochastic, exponent, sig, static_cast<std::uint32_t>(bench_.rng().bits(rand_bits)));
    if (sig == 0 && !again_) {
      again_ = true;
      point(exponent, sig);
      again_ = false;
    }
  }

  // The random word from which on this operand rounds up: 2^r - floor(delta 2^r).
  static std::uint64_t carry_point(int exponent, std::uint64_t sig) {
    const int last_place = std::max(exponent, format.min_exp()) - format.man_bits;
    const int below = last_place - (exponent - sig_width + 1);  // significand bits below the last place
    if (below <= 0) return std::uint64_t{1} << rand_bits;
    const std::uint64_t rest = below < 64 ? sig & ((std::uint64_t{1} << below) - 1) : sig;
    const int drop = below - rand_bits;
    const std::uint64_t f = drop <= 0 ? rest << -drop : drop < 64 ? rest >> drop : 0;
    return (std::uint64_t{1} << rand_bits) - f;
  }

  void one(Rounding rounding, int exponent, std::uint64_t sig, std::uint32_t random) {
    const RoundOptions options{rounding, overflow, random, rand_bits};
    dut_->mode_i = static_cast<unsigned>(rounding);
    dut_->sign_i = sign_;
    // The word must matter in stochastic rounding only.
    set_bits(dut_->rand_i, 0, rand_bits, rounding == Rounding::stochastic ? random : bench_.rng().bits(rand_bits));
    check("code", round_pack(format, sign_, exponent - (sig_width - 1), sig, options), options, sign_, exponent, sig);
  }

  // Every pattern of the bits around the last place, under all-zero, all-one and random upper bits.
  void corners(int exponent) {
    const int below = std::max(0, std::max(exponent, format.min_exp()) - format.man_bits - (exponent - sig_width + 1));
    const int low = std::min(below + 1, 6), base = std::clamp(below + 1 - low, 0, sig_width - 1);
    const std::uint64_t one_bit = sig_range / 2, mask = sig_range - 1;
    for (std::uint64_t pattern = 0; pattern < (std::uint64_t{1} << low); ++pattern) {
      for (const std::uint64_t upper : {std::uint64_t{0}, mask, bench_.rng().bits(sig_width)}) {
        const std::uint64_t kept = base + low < sig_width ? upper >> (base + low) << (base + low) : 0;
        for (const std::uint64_t sticky : {std::uint64_t{0}, std::uint64_t{1}}) {
          point(exponent, (one_bit | kept | pattern << base | sticky) & mask);
        }
      }
    }
    point(exponent, 0);
  }

  // A midpoint, and one bit below it: each bit in turn is all that tells it from the tie.
  void lone_sticky(int exponent) {
    const int guard = std::max(exponent, format.min_exp()) - format.man_bits - (exponent - sig_width + 1) - 1;
    if (guard < 0) return;
    const std::uint64_t top = sig_range / 2, half = guard < sig_width ? std::uint64_t{1} << guard : 0;
    for (int bit = std::min(guard, sig_width) - 1; bit >= 0; --bit) {
      const std::uint64_t sticky = std::uint64_t{1} << bit;
      point(exponent, top | half | sticky);
      point(exponent, half | sticky);  // subnormal operands need no leading one; point() leaves out the others
    }
  }

  Bench bench_;
  Dut<Vdut> dut_;
  CutPipe<Vdut> pipe_;
  bool sign_ = false, again_ = false;
};

}  // namespace

int main(int argc, char** argv) { return RoundPackBench(argc, argv).run(); }
