// SPDX-License-Identifier: Apache-2.0
// ng_quantize_te against its golden model, for tensors of many largest magnitudes: every magnitude as a block's
// largest; under every block scale the numbers at which a code changes, and their neighbours; random blocks, ties of
// BF16 among them; edges without enable, blocks while a table is made, new tensors, resets, NaN and infinities.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/quant/quantize_te_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;
using Block = std::array<std::uint16_t, 16>;

constexpr std::uint32_t finite_codes = 0x7F80;  // of BF16 without sign

class QuantizeTeBench {
 public:
  QuantizeTeBench(int argc, char** argv) : bench_(argc, argv, "quantize_te", 20'000), dut_(bench_) {}

  int run() {
    reset();
    if (const char* file = std::getenv("NG_TENSORS")) return replay(file);
    check({});  // no table: NaN
    drain();
    for (unsigned bit = 0; bench_.budget() >= 10'000 && bit < 31; ++bit) {  // A = 0 is told from all others
      begin(1U << bit);
      powers();
      drain();
    }
    for (unsigned bit = 0; bench_.budget() >= 10'000 && bit < 25; ++bit) {
      begin(with_rest(bit));
      thresholds();
      drain();
    }
    for (const unsigned bits : {0x2AAAAAU, 0x355555U}) {  // of 1 / S, below 2^-127: each bit is 0 and 1
      begin(std::bit_cast<std::uint32_t>(std::ldexp(2688.0F * static_cast<float>(bits), -149)));
      thresholds();
      drain();
    }
    const std::uint64_t per_tensor = 500;
    std::uint64_t tensor = 0;
    for (std::uint64_t done = 0; done < bench_.budget(); ++tensor) {
      if (tensor % 16 == 7) begin(0x7F800000 | static_cast<std::uint32_t>(bench_.rng().bits(23)));  // has no table
      begin(largest(tensor));
      if (amax_ < 0x7F800000) {
        scales(bench_.budget() < 10'000 ? 37 : tensor % 16 == 0 ? 1 : 23);
        powers();
        thresholds();
      }
      for (std::uint64_t i = 0; i < per_tensor; ++i, ++done) check(random(i % 6));
      drain();
      if (tensor % 8 == 5) {  // a new tensor while its table is made is not taken; a reset ends it
        begin(0x3F800000, false);
        for (int i = 0; i < 100; ++i) cycle(random(0), true, true, 0x40000000);
        waiting_.abandon();
        reset();
      }
      if (tensor % 8 == 3) {  // or it is offered until its turn comes
        begin(0x3F800000, false);
        until_complete(true, 0x40000000);
        begin(0x40000000);
        for (int i = 0; i < 100; ++i) check(random(i % 6));
        drain();
      }
    }
    bench_.expect(tensor > 2, [] { return "the budget is too small for three tensors"; });
    return bench_.finish();
  }

 private:
  /// Tensors of others from a text of hexadecimal numbers: "tensor A"; for each block 16 numbers from element 15 down
  /// as one, and what the original made of it, codes likewise and the scale (verif/oracle/test_te_rtl.py).
  int replay(const char* file) {
    std::ifstream in(file);
    bench_.expect(in.good(), [&] { return std::string("no file ") + file; });
    for (std::string numbers, codes; in >> numbers >> codes;) {
      if (numbers == "tensor") {
        drain();
        begin(static_cast<std::uint32_t>(std::stoul(codes, nullptr, 16)));
        continue;
      }
      std::string scale;
      if (!(in >> scale) || numbers.size() != 64 || codes.size() != 16 || scale.size() != 2) {
        bench_.error(std::string(file) + ": line \"" + numbers + " " + codes + " " + scale +
                     "\" is wrong; expected 64, 16 and 2 digits");
        break;
      }
      Block x;
      Nvfp4Block made;
      made.scale = static_cast<std::uint8_t>(std::stoul(scale, nullptr, 16));
      for (std::size_t i = 0; i < 16; ++i) {
        x[i] = static_cast<std::uint16_t>(std::stoul(numbers.substr(60 - 4 * i, 4), nullptr, 16));
        made.codes[i] = static_cast<std::uint8_t>(std::stoul(codes.substr(15 - i, 1), nullptr, 16));
      }
      original_ = made;
      check(x);
      original_.reset();
    }
    drain();
    return bench_.finish();
  }

  /// FP32 codes of largest magnitudes. Of nine tensors two are corners or of any size, four stand on or above a tie of
  /// the block scales, three beside a change of a threshold.
  std::uint32_t largest(std::uint64_t tensor) {
    tie_bits_ = 0;
    const std::uint64_t turn = tensor / 9;
    switch (tensor % 9) {
      case 0:
        return corner(2 * turn);
      case 4:
        return corner(2 * turn + 1);
      case 1:
      case 3:
      case 6:
        return on_tie(3 * turn + tensor % 9 / 2 - (tensor % 9 > 3 ? 1 : 0));
      case 8:
        return above_tie(turn);
      default:
        return beside_threshold(3 * turn + tensor % 9 / 3);
    }
  }

  /// Corners first, then every size.
  std::uint32_t corner(std::uint64_t tensor) {
    const auto code = [](float v) { return std::bit_cast<std::uint32_t>(v); };
    const std::uint32_t corners[] = {
        code(1),    code(0x1p-106F), 0x7F7F0000, code(2688),      0x00010000, code(0x1p-117F), 0x7F800000,
        1,          0x05ABCDEF,      0,          0x7F7FFFFF,      code(448),  0x06234567,      code(6),
        0x7FC00000, code(0x1p-119F), 0x00400000, code(0x1p-126F), 0x00800000, code(0x1p-110F)};
    if (tensor < std::size(corners)) return corners[tensor];
    switch (tensor % 4) {
      case 0:
        return static_cast<std::uint32_t>(bench_.rng().bits(15) % finite_codes) << 16;
      case 1:
        return static_cast<std::uint32_t>(bench_.rng().bits(31)) % 0x7F800000;
      case 2:  // 1 / S is subnormal
        return 0x05400000 + static_cast<std::uint32_t>(bench_.rng().bits(24));
      default:
        break;
    }
    return 0x38000000 + static_cast<std::uint32_t>(bench_.rng().bits(27));
  }

  /// The tensor whose S is this number, or 0: nearly all S have one.
  static std::uint32_t tensor_of(float s_enc) {
    const auto a = std::bit_cast<std::uint32_t>(nvfp4_max / s_enc);
    for (std::uint32_t near = a - std::min(a, 2U); near <= a + 2 && near < 0x7F800000; ++near) {
      if (near > 0 && vendor::encode_scale(std::bit_cast<float>(near)) == s_enc) return near;
    }
    return 0;
  }

  /// Number whose FP32 code is `by` higher.
  static float moved(float v, int by) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) + static_cast<std::uint32_t>(by));
  }

  // Two searches for tensors under which some largest magnitude times the factor m of its scales is a tie of E4M3, or
  // beside one so little that a wrong bit of the product, or of S times fl(1/6), gives another scale.

  /// With a product known to the bit, another for each turn. q 2^27 is a tie of E4M3 among products of 32 bits, and 2^7
  /// half a unit of FP32 in the last place; or half of both.
  std::uint32_t on_tie(std::uint64_t turn) {
    struct Product {
      unsigned shift;
      std::int64_t off;  ///< from the tie
    };
    std::vector<Product> products;
    for (const unsigned shift : {27U, 26U}) {
      const std::int64_t half = std::int64_t{1} << (shift - 20);
      products.push_back({shift, half});  // a tie of FP32, to the tie of E4M3
      products.push_back({shift, -half});
      for (std::int64_t bit = 1; bit < half; bit *= 2) products.push_back({shift, half + bit});
    }
    for (std::int64_t bit = 0x100; bit <= 0x8000; bit *= 2) products.push_back({27, bit});
    // Ties that go down, and those that go up; even q are ties of subnormal scales.
    constexpr std::array<std::array<std::int64_t, 8>, 2> ties = {
        {{17, 21, 25, 29, 18, 26, 20, 16}, {19, 23, 27, 31, 22, 30, 28, 24}}};
    for (;; ++turn) {  // no number has a product of half a unit and 1
      const Product& p = products[turn % products.size()];
      const std::uint32_t begin = bench_.rng().below(1024);
      for (std::uint32_t i = 0; i < 1024; ++i) {
        const std::uint32_t n = (begin + i) % 1024;
        const std::int64_t product = (ties[p.off < 0][n / 128] << p.shift) + p.off;
        const std::int64_t a = 128 + n % 128;
        if (product % a != 0) continue;
        if (const std::uint32_t tensor = tensor_of_factor(product / a, false)) {
          tie_bits_ = a & 0x7F;
          return tensor;
        }
      }
    }
  }

  /// With the first m whose product is not below a tie; by turns one that a bit far down in S fl(1/6) decides.
  std::uint32_t above_tie(std::uint64_t turn) {
    for (int tries = 0; tries < 100'000; ++tries) {
      const std::int64_t a = 128 + bench_.rng().below(128);
      const std::int64_t tie = static_cast<std::int64_t>(17 + 2 * bench_.rng().below(8)) << (26 + bench_.rng().bits(1));
      const std::int64_t m = (tie + a - 1) / a;
      const auto scale = [&](std::int64_t factor) {
        return encode(Format::ue4m3, static_cast<float>(a) * static_cast<float>(factor) * 0x1p-30F);
      };
      if (scale(m) == scale(m - 1)) continue;
      if (const std::uint32_t tensor = tensor_of_factor(m, turn % 2 == 0)) {
        tie_bits_ = a & 0x7F;
        return tensor;
      }
    }
    bench_.expect(false, [] { return "no tensor above a tie"; });
    return 0;
  }

  /// A tensor, of any size, with these 24 bits of m, or 0.
  std::uint32_t tensor_of_factor(std::int64_t m, bool far_down) {
    if (m < 0x800000 || m > 0xFFFFFF) return 0;
    const float factor = std::ldexp(static_cast<float>(m), static_cast<int>(bench_.rng().below(180)) - 110);
    for (int by = -3; by <= 3; ++by) {
      const float s_enc = moved(factor * 6, by);
      if (s_enc * (1.0F / 6) != factor || (far_down && !sticky(s_enc))) continue;
      if (const std::uint32_t tensor = tensor_of(s_enc)) return tensor;
    }
    return 0;
  }

  /// Whether the product of S and fl(1/6) is above a tie of FP32 by less than a quarter of half a unit.
  static bool sticky(float s_enc) {
    const std::uint64_t sig = (std::bit_cast<std::uint32_t>(s_enc) & 0x7FFFFF) | 0x800000;
    const std::uint64_t product = sig * 0xAAAAAB;
    const int below = product >> 47 ? 24 : 23;  // bits under FP32's
    const std::uint64_t rest = product & ((std::uint64_t{1} << below) - 1);
    const std::uint64_t half = std::uint64_t{1} << (below - 1);
    return rest > half && rest < half + half / 4;
  }

  /// A tensor under which x e, for a BF16 number x and a block scale s, is so near to the number T above or below which
  /// its code changes that the last bit of e or of T decides, by turns below it, T itself and above; the 25 bits of T
  /// are those of a midpoint of two codes and half a unit of FP32 in the last place. By other turns s / S is a tie of
  /// FP32 or off it by a bit of the product, and 1 / S is subnormal.
  std::uint32_t beside_threshold(std::uint64_t turn) {
    constexpr std::array<std::int64_t, 4> limits = {0x1000001, 0x17FFFFF, 0x1400001, 0x1BFFFFF};
    const std::uint64_t side = turn / 4 % 3;
    const bool tie = side != 1 && turn % 3 == 1;
    const bool subnormal = side != 1 && turn % 3 == 2;
    for (int tries = 0; tries < 1'000'000; ++tries) {
      const std::int64_t x = 128 + bench_.rng().below(128);
      std::int64_t limit = limits[turn % 4];
      std::int64_t last = 1;  // of T
      while (limit / x < 0x800000) limit *= 2, last *= 2;
      const std::int64_t e = limit / x + (side == 2 ? 1 : side == 0 && limit % x == 0 ? -1 : 0);
      const std::int64_t above = x * e - limit;
      if (e > 0xFFFFFF || (side == 1 ? above != 0 : above < -last || above > last)) continue;
      const int size =
          subnormal ? 125 + static_cast<int>(bench_.rng().below(4)) : static_cast<int>(bench_.rng().below(220)) - 100;
      if (const std::uint32_t tensor = tensor_of_e(e, size, tie, subnormal)) return tensor;
    }
    bench_.expect(false, [&] { return "no tensor beside a threshold, turn " + std::to_string(turn); });
    return 0;
  }

  /// A tensor under which T less a multiple of e, as they stand when a bit of the quotient is made, is this power of
  /// two.
  std::uint32_t with_rest(unsigned bit) {
    for (int tries = 0; tries < 1'000'000; ++tries) {
      std::int64_t limit = bench_.rng().bits(1) ? 0x17FFFFF : 0x1BFFFFF;
      std::int64_t x = 1;  // the bits that are made
      if (bit == 0) {      // the first bit only: all others are of even numbers
        limit = (limit - 1) / 2;
      } else {
        x += bench_.rng().below(255);
        while (limit / x < 0x800000) limit *= 2;
        limit -= std::int64_t{1} << (bit - 1);
      }
      const std::int64_t e = limit / x;
      if (limit % x != 0 || e < 0x800000 || e > 0xFFFFFF) continue;
      const int size = static_cast<int>(bench_.rng().below(220)) - 100;
      if (const std::uint32_t tensor = tensor_of_e(e, size, false, false)) return tensor;
    }
    bench_.expect(false, [&] { return "no tensor with the rest 2^" + std::to_string(bit); });
    return 0;
  }

  /// Tries a block scale for a tensor with these 24 bits of e: 0 or a tensor. size: that of S, exponent of two;
  /// tie: s / S is a tie of FP32 or near one; subnormal: whether 1 / S is.
  std::uint32_t tensor_of_e(std::int64_t e, int size, bool tie, bool subnormal) {
    const std::uint32_t s_sig = 8 + bench_.rng().below(8);
    const float begin = std::ldexp(1 / (static_cast<float>(s_sig) * static_cast<float>(e)), 26 - size);
    const float d = moved(begin, static_cast<int>(bench_.rng().below(7)) - 3);
    if (subnormal != (d < 0x1p-126F) || d < 0x1p-128F) return 0;
    if (tie) {
      const std::uint32_t product = s_sig * ((std::bit_cast<std::uint32_t>(d) & 0x7FFFFF) | 0x800000);
      const std::uint32_t rest = product >> 27 ? product & 15 : 2 * (product & 7);
      if (rest < 7 || rest > 10) return 0;
    }
    const float made = vendor::block_encode_scale(static_cast<float>(s_sig) * 8, 1 / d);
    if (((std::bit_cast<std::uint32_t>(made) & 0x7FFFFF) | 0x800000) != e) return 0;
    for (int by = -1; by <= 1; ++by) {
      const float s_enc = moved(1 / d, by);
      if (1 / s_enc != d) continue;
      if (const std::uint32_t tensor = tensor_of(s_enc)) return tensor;
    }
    return 0;
  }

  void reset() {
    dut_->valid_i = 0;
    dut_->en_i = 0;
    dut_.reset_without_edge(bench_);
    core_.reset();
    waiting_.reset();
    outputs();
    dut_.reset();
  }

  void begin(std::uint32_t amax, bool finish = true) {
    amax_ = amax;
    cycle({}, false, true, amax);
    if (finish) until_complete(false, 0);
  }

  /// The cycles until the table is complete, in which a tensor is offered or not.
  void until_complete(bool valid, std::uint32_t amax) {
    for (int i = 0; !dut_->ready_o && i < 20'000; ++i) cycle({}, false, valid, amax);
    bench_.expect(dut_->ready_o, [] { return "the table is never complete"; });
  }

  /// Every step-th magnitude as the largest of a block.
  void scales(std::uint32_t step) {
    for (std::uint32_t a = 0; a < finite_codes; a += step) one(a, a % 16);
  }

  /// Every power of two, or number of the bits that stand beside a tie, as the largest of a block.
  void powers() {
    for (std::uint32_t a = 1; a < 0x80; a *= 2) one(a, a % 13);
    for (std::uint32_t a = 0x80; a < finite_codes; a += 0x80) one(a | tie_bits_, (a >> 7) % 16);
  }

  /// A block of zeros but one.
  void one(std::uint32_t a, std::size_t lane) {
    Block x{};
    x[lane] = static_cast<std::uint16_t>(a | sign());
    check(x);
  }

  /// Under each scale: the largest numbers below each code and the smallest with it.
  void thresholds() {
    std::array<std::uint32_t, 127> last{};  // the largest magnitude that has the scale
    for (std::uint32_t a = 0; a < finite_codes; ++a) last[te_block_scale(static_cast<std::uint16_t>(a), amax_)] = a;
    for (std::uint32_t s = 0; s < 127; ++s) {
      Block x{};
      x[s % 16] = static_cast<std::uint16_t>(last[s] | sign());
      std::size_t at = s + 1;
      for (std::uint32_t code = 1; code < 8; ++code) {
        std::uint32_t low = 0, high = last[s];
        const auto is = [&](std::uint32_t m) {
          return te_element(static_cast<std::uint16_t>(m), static_cast<std::uint8_t>(s), amax_) >= code;
        };
        if (!is(high)) break;
        while (high - low > 1) (is((low + high) / 2) ? high : low) = (low + high) / 2;
        x[at++ % 16] = static_cast<std::uint16_t>(low | sign());
        x[at++ % 16] = static_cast<std::uint16_t>(high | sign());
      }
      if (last[s] != 0 || s == 0) check(x);
    }
  }

  std::uint32_t sign() { return static_cast<std::uint32_t>(bench_.rng().bits(1)) << 15; }

  Block random(std::uint64_t kind) {
    // A magnitude of the tensor, for the block to be of a size that has a scale.
    const std::uint32_t top = std::clamp<std::uint32_t>(amax_ >> 16, 1, finite_codes - 1);
    const std::uint32_t room = std::min<std::uint32_t>(top, 18 << 7);
    const std::uint32_t size = top - bench_.rng().below(room);
    Block x;
    for (std::uint16_t& code : x) {
      std::uint32_t m = 0;
      switch (kind) {
        case 0:  // any code, NaN and infinities too
          m = static_cast<std::uint32_t>(bench_.rng().bits(15));
          if (bench_.rng().chance(0.95)) m %= finite_codes;
          break;
        case 1:  // up to the tensor's largest
          m = bench_.rng().below(top + 1);
          break;
        case 2:  // of one size
        case 3:  // few bits: ties
          m = size - std::min(size, bench_.rng().below(5 << 7));
          if (kind == 3) m &= 0x7FE0;
          break;
        case 4:  // zeros and one number
          m = bench_.rng().chance(0.2) ? size : 0;
          break;
        default:  // beyond the tensor's largest
          m = std::min(size + bench_.rng().below(3 << 7), finite_codes - 1);
      }
      code = static_cast<std::uint16_t>(m | sign());
    }
    return x;
  }

  void drain() {
    for (unsigned i = 0; i < latency; ++i) cycle({}, true, false, 0, false);
    bench_.expect_settled(waiting_, "behind the last block");
  }

  /// A block, after edges without enable now and then.
  void check(const Block& x) {
    while (bench_.rng().chance(0.2)) cycle(random(0), false, false, 0);
    cycle(x, true, false, 0);
  }

  void outputs() {
    std::uint64_t codes = 0;
    for (unsigned i = 0; i < 16; ++i) codes |= std::uint64_t{core_.block().codes[i]} << 4 * i;
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, unsigned{core_.ready()}, model);
    bench_.expect_eq("codes_o", std::uint64_t{dut_->codes_o}, codes, model);
    bench_.expect_eq("scale_o", unsigned{dut_->scale_o}, unsigned{core_.block().scale}, model);
    if (waiting_.empty() || waiting_.front().edges < latency) return;
    const auto& [x, amax, original, edges] = waiting_.front();
    if (amax == unknown) return;
    const auto inputs = [&] {
      std::string text = "A = " + hex(amax) + ", a_i =";
      for (const std::uint16_t code : x) text += " " + hex(code);
      return text;
    };
    const Nvfp4Block expected = original ? *original : quantize_te(x, amax);
    codes = 0;
    for (unsigned i = 0; i < 16; ++i) codes |= std::uint64_t{expected.codes[i]} << 4 * i;
    bench_.expect_eq("scale", unsigned{dut_->scale_o}, unsigned{expected.scale}, inputs);
    bench_.expect_eq("codes", std::uint64_t{dut_->codes_o}, codes, inputs);
  }

  /// `compared`: what the block gives is compared when it has come through.
  void cycle(const Block& x, bool enable, bool valid, std::uint32_t amax, bool compared = true) {
    dut_->valid_i = valid;
    dut_->amax_i = amax;
    dut_->en_i = enable;
    for (unsigned i = 0; i < 16; ++i) set_bits(dut_->a_i, 16 * i, 16, x[i]);
    const bool complete = dut_->ready_o;  // of the state only
    core_.step(valid, amax, enable, x);
    dut_.tick();
    if (valid && complete) {  // only the cycle model says what becomes of blocks that are under way
      for (Waiting& waiting : waiting_) waiting.amax = unknown;
    }
    if (enable) {
      bench_.vector();
      if (!waiting_.empty() && waiting_.front().edges == latency) waiting_.pop_front();
      for (Waiting& waiting : waiting_) ++waiting.edges;
      if (compared) waiting_.push_back({x, complete ? amax_ : unknown, original_, 1});
    }
    outputs();
  }

  static constexpr std::uint32_t unknown = 0xFFFFFFFF;
  static constexpr unsigned latency = 4;
  struct Waiting {
    Block x;
    std::uint32_t amax;                  ///< of the table, or unknown
    std::optional<Nvfp4Block> original;  ///< instead of the golden function's
    unsigned edges;                      ///< with enable, that which took the block counted
  };
  Bench bench_;
  Dut<Vdut> dut_;
  systemc::QuantizeTeCore core_;
  Scoreboard<Waiting> waiting_{bench_, "blocks"};
  std::optional<Nvfp4Block> original_;  // of the block that is driven
  std::uint32_t amax_ = 0x7F800000;     // no table
  std::uint32_t tie_bits_ = 0;          // mantissa of the largest magnitude that is beside a tie
};

}  // namespace

int main(int argc, char** argv) { return QuantizeTeBench(argc, argv).run(); }
