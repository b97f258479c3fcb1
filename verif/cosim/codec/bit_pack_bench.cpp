// SPDX-License-Identifier: Apache-2.0
// ng_bit_pack against the golden writer of bits: every word of every tile, under bubbles and stalls of changing
// density, with resets; then tiles without any, to the cycle. Build parameters: NG_WIDTH, NG_CODE_BITS.

#include "../room.hpp"
#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/codec/bits.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned width = NG_WIDTH, code_bits = NG_CODE_BITS;

class BitPackBench {
 public:
  BitPackBench(int argc, char** argv)
      : bench_(argc, argv, "bit_pack, words of " + std::to_string(width) + ", codes of " + std::to_string(code_bits)),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    // The longest codes, and those that fill words exactly: none waits, but behind the end of a tile.
    reset();
    for (unsigned i = 0; i < 500; ++i) {
      longest_ = i % 2 ? code_bits : code_bits & ~1U;
      shortest_ = longest_;
      cycle(true, false, true);
      bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, 1U, [] { return "a tile without stalls"; });
    }
    double push = 1, pop = 0, end = 0.1;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (i > 20 && bench_.rng().chance(0.01)) {
        push = bench_.rng().below(5) / 4.0;
        pop = bench_.rng().below(5) / 4.0;
        end = 1.0 / (1 << bench_.rng().below(8));
        shortest_ = 1 + bench_.rng().below(code_bits);
        longest_ = shortest_ + bench_.rng().below(code_bits - shortest_ + 1);
      }
      if (bench_.rng().chance(0.0005)) reset();
      cycle(bench_.rng().chance(push), bench_.rng().chance(end), bench_.rng().chance(pop));
    }
    for (int i = 0; i < 20; ++i) cycle(false, false, true);
    bench_.expect(output_.stalls() > 0 && tails_ > 0, [] { return "no word waited, or none stood behind a code"; });
    return bench_.finish();
  }

 private:
  struct Word {
    std::uint64_t bits;
    bool last;
  };

  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = false;
    static_cast<void>(writer_.finish());
    words_.abandon();  // any cycle may be the last before a reset
    pending_ = false;
    room_.clear();
    output_.clear();
    dut_.reset_without_edge(bench_);
    dut_.reset();
  }

  void cycle(bool valid, bool last, bool ready) {
    const unsigned length = shortest_ + bench_.rng().below(longest_ - shortest_ + 1);
    const auto code = static_cast<std::uint32_t>(bench_.rng().bits(length));
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    dut_->last_i = last;
    dut_->length_i = length;
    dut_->code_i = code << (code_bits - length);
    dut_.eval();
    bench_.vector();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->last_o);
    const bool offered = !words_.empty();
    bench_.expect_eq("valid_o", bool(dut_->valid_o), offered, [] { return "the cycle after a word was full, or not"; });
    if (offered && dut_->valid_o) {
      const Word& word = words_.front();
      bench_.expect_eq("data_o", get_bits(dut_->data_o, 0, width), word.bits, [] { return "of a word"; });
      bench_.expect_eq("last_o", bool(dut_->last_o), word.last, [] { return "of a word"; });
    }
    const bool taken = valid && dut_->ready_o, left = dut_->valid_o && ready;
    // The word behind the last code of a tile goes into the queue as soon as there is room; until then it counts as
    // one that is there.
    room_.check(dut_->ready_o);
    const bool enters = pending_ && words_.size() < 2;
    if (left && !words_.empty()) {
      words_.pop_front();
      room_.give();
    }
    if (enters) {
      words_.push_back(behind_);
      pending_ = false;
    }
    if (taken) take(code, length, last);
    dut_.tick();
  }

  void take(std::uint32_t code, unsigned length, bool last) {
    writer_.put(code, length);
    const std::size_t bits = writer_.bits();
    if (bits < width && !last) return;
    const std::vector<std::uint8_t> bytes = writer_.finish(width);
    const auto word_at = [&](std::size_t at) {
      std::uint64_t word = 0;
      for (std::size_t i = at; i < at + width / 8; ++i) word = word << 8 | bytes[i];
      return word;
    };
    const bool two = bits > width;
    words_.push_back({word_at(0), last && !two});
    room_.take();
    if (!two) return;
    if (last) {
      behind_ = {word_at(width / 8), true};
      pending_ = true;
      room_.take();
      ++tails_;
    } else {
      const auto rest = static_cast<unsigned>(bits - width);
      writer_.put(static_cast<std::uint32_t>(word_at(width / 8) >> (width - rest)), rest);
    }
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  BitWriter writer_;  ///< bits that no word has yet
  Scoreboard<Word> words_{bench_, "words"};
  Room room_{bench_, "words in the queue", 2};
  Word behind_{};
  bool pending_ = false;
  unsigned shortest_ = 1, longest_ = code_bits;
  std::uint64_t tails_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return BitPackBench(argc, argv).run(); }
