// SPDX-License-Identifier: Apache-2.0
// ng_quantize_eden against its golden function and, cycle for cycle, its cycle model: groups of one to eight blocks of
// all kinds under tensor scales of all sizes, under bubbles, stalls and resets. With NG_GROUPS=FILE, the groups of that
// file instead (verif/oracle/test_eden_rtl.py). Build parameters: NG_MAN_BITS, NG_ELEMENT_MAX, NG_RAND_BITS.
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/quantize_eden.hpp"
#include "systemc/quant/quantize_eden_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned man_bits = NG_MAN_BITS, bits = 9 + man_bits, rand_bits = NG_RAND_BITS;
constexpr std::uint32_t element_max_bits = NG_ELEMENT_MAX;
const float element_max = std::bit_cast<float>(element_max_bits);
using Block = std::array<float, 16>;

struct Result {
  std::uint64_t codes;
  std::uint8_t scale;
  bool last;
};

class QuantizeEdenBench {
 public:
  QuantizeEdenBench(int argc, char** argv)
      : bench_(argc, argv,
               "quantize_eden, " + std::to_string(man_bits) + " mantissa bits, " + std::to_string(rand_bits) +
                   " random bits"),
        dut_(bench_),
        output_(bench_, "output"),
        core_(element_max) {}

  int run() {
    reset();
    if (const char* file = std::getenv("NG_GROUPS")) return replay(file);
    undisturbed();
    for (int a = 0; a < 8; ++a) {  // exponents next to those that are refused
      for (int b = a; b < 8; ++b) {
        const int exponent = 255 - (1 << a) - (b > a ? 1 << b : 0);
        x_.fill(std::numeric_limits<float>::infinity());  // no sums, and no division that the next group would meet
        alone(p_);
        x_.fill(0);
        alone(std::abs(with_exponent(exponent)));
        x_[bench_.rng().below(16)] = with_exponent(exponent);
        alone(1);
      }
    }
    x_.fill(0);
    for (unsigned bit = 0; bit < 31; ++bit) alone(std::bit_cast<float>(1U << bit));  // a tensor scale of one bit
    double push = 1, pop = 1;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.001)) {
        push = bench_.rng().below(3) == 0 ? 0.05 : 1;
        pop = bench_.rng().below(3) == 0 ? 0.3 : 1;
      }
      if (bench_.rng().chance(0.0001)) reset();
      // The tensor scale changes when a group has left; most times the next one comes after that.
      const bool between = group_.empty() && !expected_.empty();
      const bool offers = !offered_ && bench_.rng().chance(push) && !(between && alone_);
      if (offers) {
        if (plan_.empty()) {
          if (expected_.empty()) tensor();
          plan();
        }
        x_ = plan_.front().x;
        word_ = plan_.front().word;
        last_ = plan_.front().last;
        plan_.pop_front();
      }
      cycle(offers, bench_.rng().chance(pop));
    }
    for (int i = 0; i < 50'000 && !expected_.empty(); ++i) cycle(false, true);  // what is inside leaves
    bench_.expect(output_.beats() > 0 && output_.stalls() > 0, [] { return "no block left, or none ever waited"; });
    if (bench_.budget() >= 100'000) {
      bench_.expect(eight_ > 0 && short_ > 0, [] { return "no group was whole, or none was short"; });
      bench_.expect(up_ > 0 && refused_ > 0 && ones_ > 0 && zeros_ > 0,
                    [] { return "no scale went up, or no block was refused, of scale one, or a group without sums"; });
    }
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = false;
    plan_.clear();
    group_.clear();
    words_.clear();
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    core_.reset();
    offered_ = false;
    dut_.reset_without_edge(bench_);
    outputs();
    dut_.reset();
  }

  /// One whole group of ordinary numbers, without bubbles and stalls: 31 or 32 cycles an element, 58 to 60 a block
  /// beside them, and 70 or 71 until the first block is offered.
  void undisturbed() {
    p_ = 0x1p-4F;
    std::uint64_t cycles = 0;
    for (int b = 0; b < 8; ++b) {
      for (float& x : x_) x = narrow(std::ldexp(1 + static_cast<float>(bench_.rng().below(128)) / 128, -3));
      word_ = 1;
      last_ = false;
      do cycle(true, true), ++cycles;
      while (offered_);
    }
    while (!dut_->valid_o && cycles < 10'000) cycle(false, true), ++cycles;
    bench_.expect(cycles >= 8 * (16 * 31 + 58) + 70 && cycles <= 8 * (16 * 32 + 60) + 71,
                  [&] { return "a group took " + std::to_string(cycles) + " cycles"; });
    while (dut_->valid_o) cycle(false, true);
  }

  /// The block x_ as a group under p, from its offer until it has left.
  void alone(float p) {
    p_ = p;
    word_ = 0;
    last_ = true;
    do cycle(true, true);
    while (offered_);
    while (!expected_.empty()) cycle(false, true);
  }

  /// The groups of a file: a line "tensor SCALE" for each tensor, then one for each block, "NUMBERS WORD CODES SCALE
  /// LAST", numbers and codes from element 15 down, all in hexadecimal digits. Numbers are BF16 codes.
  int replay(const char* name) {
    std::ifstream file(name);
    std::string line, numbers;
    for (std::uint64_t at = 1; std::getline(file, line); ++at) {
      std::istringstream words(line);
      if (line.starts_with("tensor ")) {
        words >> numbers >> std::hex >> numbers;
        p_ = std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(numbers, nullptr, 16)));
        continue;
      }
      std::uint64_t codes = 0;
      unsigned scale = 0;
      words >> numbers >> std::hex >> word_ >> codes >> scale >> last_;
      if (!words || numbers.size() != 64) {
        std::fprintf(stderr,
                     "%s:%llu: line is wrong; expected 'tensor SCALE', or numbers, word, codes, scale and last\n", name,
                     static_cast<unsigned long long>(at));
        return 2;
      }
      for (unsigned i = 0; i < 16; ++i)
        x_[i] = std::bit_cast<float>(
            static_cast<std::uint32_t>(std::stoul(numbers.substr(60 - 4 * i, 4), nullptr, 16) << 16));
      given_.push_back({codes, static_cast<std::uint8_t>(scale), last_});
      do cycle(true, true);
      while (offered_);
      if (group_.empty()) {  // whole
        for (std::size_t i = 0; i < given_.size(); ++i) {
          const Result& mine = expected_[expected_.size() - given_.size() + i];
          bench_.expect(mine.codes == given_[i].codes && mine.scale == given_[i].scale,
                        [&] { return "the file's block " + std::to_string(i) + " before line " + std::to_string(at); });
        }
        given_.clear();
        while (!expected_.empty()) cycle(false, true);
      }
    }
    bench_.expect(given_.empty(), [] { return "the file ends within a group"; });
    return bench_.finish();
  }

  static float narrow(float x) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) >> (23 - man_bits) << (23 - man_bits));
  }
  float with_exponent(int exponent) {  // of any sign and mantissa
    const auto field = static_cast<std::uint32_t>(std::clamp(exponent, 0, 254));
    return narrow(std::bit_cast<float>(static_cast<std::uint32_t>(bench_.rng().bits(1)) << 31 | field << 23 |
                                       static_cast<std::uint32_t>(bench_.rng().bits(23))));
  }

  /// A tensor scale, and how large numbers are under it.
  void tensor() {
    const unsigned choice = bench_.rng().below(20);
    // Mostly about 1; powers of two, under which elements may be at midpoints.
    p_ = std::abs(with_exponent(127 + static_cast<int>(bench_.rng().below(9)) - 4));
    if (choice < 8) p_ = std::bit_cast<float>(std::bit_cast<std::uint32_t>(p_) & 0x7F800000);
    if (choice == 8) p_ = std::abs(with_exponent(static_cast<int>(bench_.rng().below(255))));
    if (choice == 9) p_ = std::bit_cast<float>(1 + bench_.rng().below(5));  // subnormal, and the least of all
    if (choice == 10) p_ = std::abs(with_exponent(250 + static_cast<int>(bench_.rng().below(5))));
    if (choice == 13) p_ = std::bit_cast<float>(1U << bench_.rng().below(23));
    if (choice == 14) p_ = std::abs(with_exponent(255 - (1 << bench_.rng().below(8))));
    if (choice == 15) p_ = std::bit_cast<float>((250 + bench_.rng().below(4)) << 23);
    centre_ = static_cast<int>(std::bit_cast<std::uint32_t>(p_) >> 23) + 2;
    tie_ = 0;
    if (choice >= 17) {  // of a magnitude whose scale is at a tie, or beside it by a unit in the last place of p
      tie_ = std::abs(with_exponent(centre_ + static_cast<int>(bench_.rng().below(8))));
      const float tie = std::ldexp(1 + (1 + 2 * static_cast<float>(bench_.rng().below(8))) / 16,
                                   static_cast<int>(bench_.rng().below(10)) - 3);
      const float p = tie_ / element_max / tie;
      if (p > 0x1p-120F && p < 0x1p120F)
        p_ = std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) + bench_.rng().below(3) - 1);
      centre_ = static_cast<int>(std::bit_cast<std::uint32_t>(p_) >> 23) + 2;
    }
    if (choice == 11 || choice == 16) {
      constexpr std::uint32_t bad[] = {0, 0, 0, 0x80000000, 0xBF800000, 0x7F800000, 0x7FC00000, 0x7F800001, 0xC0000000};
      p_ = std::bit_cast<float>(bad[bench_.rng().below(9)]);
    }
    if (choice == 12) centre_ += static_cast<int>(bench_.rng().below(200));  // clips; sums may overflow
    alone_ = bench_.rng().below(4) != 0;
    length_ = bench_.rng().below(8) == 0 ? 8 : 1 + bench_.rng().below(3);
  }

  /// A group to come. Its random numbers are those at which a scale goes up and beside them, so that every bit of the
  /// correction counts.
  void plan() {
    const std::size_t count = std::min<std::size_t>(8, length_ + (bench_.rng().below(4) == 0 ? 1 : 0));
    std::vector<EdenBlock> nearest;
    for (std::size_t b = 0; b < count; ++b) {
      block();
      nearest.push_back(eden_block(x_, p_, element_max));
      plan_.push_back({x_, static_cast<std::uint32_t>(bench_.rng().bits(rand_bits)), false});
    }
    plan_.back().last = count < 8 || bench_.rng().bits(1);
    const float correction = eden_sums(nearest).correction;
    for (std::size_t b = 0; b < count; ++b) {
      const unsigned choice = bench_.rng().below(16);
      if (choice == 0) plan_[b].word = bench_.rng().bits(1) ? 0 : (1U << rand_bits) - 1;
      if (choice < 2 || nearest[b].refused || !std::isfinite(correction)) continue;
      const double at = std::ldexp(double{eden_place(nearest[b].scale, correction).p}, rand_bits);
      const std::int64_t word = static_cast<std::int64_t>(std::ceil(at)) - bench_.rng().below(2);
      plan_[b].word = static_cast<std::uint32_t>(std::clamp<std::int64_t>(word, 0, (1LL << rand_bits) - 1));
    }
  }

  void block() {
    if (tie_ > 0 && bench_.rng().bits(1)) {
      const int below = static_cast<int>(std::bit_cast<std::uint32_t>(tie_) >> 23) - 1;
      for (float& x : x_)
        x = bench_.rng().below(4) ? 0 : with_exponent(below - static_cast<int>(bench_.rng().below(4)));
      x_[bench_.rng().below(16)] = tie_;
      return;
    }
    const unsigned kind = bench_.rng().below(24);
    // The scale: code 1 to 126 and beyond them.
    const int size = centre_ + static_cast<int>(bench_.rng().below(20)) - (kind == 0 ? 30 : 9);
    for (float& x : x_) x = with_exponent(size - static_cast<int>(bench_.rng().below(bench_.rng().below(8) + 1)));
    if (kind == 1) x_.fill(0);
    if (kind == 2)
      for (float& x : x_) x = with_exponent(static_cast<int>(bench_.rng().below(2)));
    if (kind == 3) x_[bench_.rng().below(16)] = with_exponent(0);
    if (kind == 4 || kind == 5) {  // no code but 0 and 8, under scale 1, and of one bit
      for (float& x : x_) {
        const int exponent = kind == 4 ? -149 + static_cast<int>(bench_.rng().below(30)) : -30;
        x = narrow(std::ldexp(bench_.rng().bits(1) ? -1.0F : 1.0F, exponent + centre_ - 2 - 127));
      }
    }
    if (kind == 6)  // far below the largest one
      for (float& x : x_)
        if (bench_.rng().bits(1)) x = with_exponent(static_cast<int>(bench_.rng().below(std::max(size, 1))));
    if (kind == 19)  // one bit of the exponent is clear
      x_[bench_.rng().below(16)] = with_exponent(255 - (1 << bench_.rng().below(8)));
    const EdenBlock rounded = eden_block(x_, p_, element_max);
    if (kind >= 7 && kind < 16 && !rounded.refused &&
        std::isfinite(rounded.factor)) {  // at midpoints, beside them, zeros
      constexpr float midpoints[] = {0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5, 0};
      for (unsigned i = 0; i < 16; ++i) {
        const float x = midpoints[bench_.rng().below(8)] * rounded.factor;
        if (bench_.rng().below(3) == 0 || !(x <= rounded.amax)) continue;
        const std::uint32_t steps = bench_.rng().below(4) ? 0 : 1U << (23 - man_bits);
        std::uint32_t code = std::bit_cast<std::uint32_t>(x);
        code = bench_.rng().bits(1) && code > steps ? code - steps : code + steps;
        x_[i] = std::copysign(narrow(std::bit_cast<float>(code)), bench_.rng().bits(1) ? -1.0F : 1.0F);
      }
    }
    if (kind == 16 || kind == 17)
      x_[bench_.rng().below(16)] = narrow(std::bit_cast<float>(static_cast<std::uint32_t>(
          bench_.rng().bits(1) << 31 | 0x7F800000 | (kind == 16 ? 0 : bench_.rng().bits(23)))));
    if (kind == 18) {  // one alone
      const unsigned alone = bench_.rng().below(16);
      for (unsigned i = 0; i < 16; ++i) x_[i] = i == alone ? x_[i] : 0;
    }
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const Result* const shown = expected_.shown();
    if (shown == nullptr) return;
    const Result& result = *shown;
    const auto where = [&] { return "tensor scale " + hex(std::bit_cast<std::uint32_t>(p_)); };
    bench_.expect_eq("codes_o", std::uint64_t{dut_->codes_o}, result.codes, where);
    bench_.expect_eq("scale_o", std::uint64_t{dut_->scale_o}, std::uint64_t{result.scale}, where);
    bench_.expect_eq("last_o", bool(dut_->last_o), result.last, where);
    bench_.expect(packed(core_.codes()) == result.codes && core_.scale() == result.scale && core_.last() == result.last,
                  [] { return "the cycle model's block is not the golden one"; });
  }

  static std::uint64_t packed(const std::array<std::uint8_t, 16>& codes) {
    std::uint64_t word = 0;
    for (unsigned i = 0; i < 16; ++i) word |= std::uint64_t{codes[i]} << 4 * i;
    return word;
  }

  void cycle(bool valid, bool ready) {
    offered_ |= valid;
    dut_->valid_i = offered_;
    dut_->ready_i = ready;
    dut_->last_i = last_;
    dut_->rand_i = word_;
    dut_->tensor_scale_i = std::bit_cast<std::uint32_t>(p_);
    for (unsigned i = 0; i < 16; ++i)
      set_bits(dut_->data_i, i * bits, bits, std::bit_cast<std::uint32_t>(x_[i]) >> (23 - man_bits));
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->codes_o, dut_->scale_o, dut_->last_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    const bool taken = offered_ && dut_->ready_o;
    core_.step(p_, offered_ ? &x_ : nullptr, word_, last_, ready);
    if (taken) take();
    dut_.tick();
    outputs();
  }

  void take() {
    offered_ = false;
    group_.insert(group_.end(), x_.begin(), x_.end());
    words_.push_back(word_);
    if (!last_ && words_.size() < 8) return;
    eight_ += words_.size() == 8;
    short_ += words_.size() < 8;
    const std::vector<EdenBlock> blocks = quantize_eden(group_, p_, words_, element_max, rand_bits);
    zeros_ += eden_sums(blocks).products == 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const EdenBlock nearest = eden_block(std::span(group_).subspan(16 * b, 16), p_, element_max);
      refused_ += nearest.refused;
      ones_ += nearest.scale == 0x38;
      up_ += !nearest.refused && blocks[b].scale > nearest.scale;
      expected_.push_back({packed(blocks[b].codes), blocks[b].scale, last_ && b + 1 == blocks.size()});
    }
    group_.clear();
    words_.clear();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  systemc::QuantizeEdenCore<static_cast<int>(rand_bits)> core_;
  float p_ = 1;
  float tie_ = 0;           // a magnitude whose scale is at a tie under p_, or 0
  int centre_ = 127;        // exponent of numbers whose scale is about 1
  std::size_t length_ = 1;  // blocks of the group, where it does not go on
  struct Planned {
    Block x;
    std::uint32_t word;
    bool last;
  };
  std::deque<Planned> plan_;  // of the group, not yet offered
  Block x_{};                 // that is offered, with its random number
  std::uint32_t word_ = 0;
  bool last_ = false, offered_ = false, alone_ = true;
  std::vector<float> group_;  // that comes
  std::vector<std::uint32_t> words_;
  Scoreboard<Result> expected_{bench_, "blocks"};
  std::vector<Result> given_;  // by the file
  std::uint64_t eight_ = 0, short_ = 0, up_ = 0, refused_ = 0, ones_ = 0, zeros_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return QuantizeEdenBench(argc, argv).run(); }
