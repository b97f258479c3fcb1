// SPDX-License-Identifier: Apache-2.0
// ng_huffman_encode against the golden model: the bits of every tile, under bubbles and stalls of changing density,
// with resets and new tables; then tiles without any, to the cycle.

#include "../room.hpp"
#include "../scoreboard.hpp"
#include "Vdut.h"
#include "codec_stimulus.hpp"
#include "narrowgauge/codec/tile_stream.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

class HuffmanEncodeBench {
 public:
  HuffmanEncodeBench(int argc, char** argv)
      : bench_(argc, argv, "huffman_encode"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    full_speed();
    while (done_ < bench_.budget()) {
      reset();
      load();
      double push = 1, pop = 1, end = 0.02;
      bool cut = false;
      for (unsigned i = 0; i < 6000 && !cut; ++i) {
        if (bench_.rng().chance(0.003)) {
          push = bench_.rng().below(5) / 4.0;
          pop = bench_.rng().below(5) / 4.0;
          end = bench_.rng().chance(0.2) ? 0.5 : 0.2 / (1 + bench_.rng().below(40));
        }
        if (bench_.rng().chance(0.02)) any_ = bench_.rng().chance(0.6) ? 0 : bench_.rng().below(20) / 20.0;
        cycle(bench_.rng().chance(push), bench_.rng().chance(end), bench_.rng().chance(pop));
        cut = bench_.rng().chance(0.00005);  // a reset in the middle
      }
      for (unsigned i = 0; i < 8 * codec_block && !cut && !codes_.empty(); ++i) cycle(false, false, true);
      if (cut) codes_.abandon();
    }
    bench_.expect(output_.stalls() > 0 && tiles_ > 10 && raw_ > 10 && coded_ > 10,
                  [] { return "no code waited, or a kind of block was missing"; });
    return bench_.finish();
  }

 private:
  struct Code {
    std::uint32_t bits;
    unsigned length;
    bool last;
    bool end;              ///< of its block
    bool fetched = false;  ///< it stands at the output
  };

  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = dut_->table_we_i = false;
    block_.clear();
    codes_.reset();
    room_.clear();
    output_.clear();
    dut_.reset_without_edge(bench_);
    dut_.reset();
  }

  void load() {
    const CodeLengths lengths = random_code(bench_.rng());
    decoder_ = decoder_table(lengths);
    encoder_ = encoder_table(lengths);
    for (unsigned address = 0; address < huffman_symbols; ++address) {
      dut_->table_we_i = true;
      dut_->table_addr_i = address;
      dut_->table_data_i = static_cast<std::uint16_t>(encoder_[address].word());
      dut_.tick();
      dut_->table_we_i = false;  // nothing is written without it
      dut_->table_data_i = static_cast<std::uint16_t>(bench_.rng().bits(16));
      if (bench_.rng().chance(0.1)) dut_.tick();
    }
  }

  /// A value is taken in every cycle, and once codes come there is one in every cycle, one more than values.
  void full_speed() {
    reset();
    load();
    constexpr std::uint64_t values = 64 * 20;
    std::uint64_t codes = 0, first = 0, last = 0;
    for (std::uint64_t i = 0; i < values + 100; ++i) {
      bench_.expect(dut_->ready_o || i >= values, [] { return "an undisturbed value was not taken"; });
      cycle(i < values, i == values - 1, true);
      if (!dut_->valid_o) continue;
      if (codes++ == 0) first = i;
      last = i;
    }
    bench_.expect_eq("codes", codes, values + 1, [] { return "an undisturbed tile of 20 blocks"; });
    bench_.expect_eq("cycles", last - first, values, [] { return "an undisturbed tile of 20 blocks"; });
    bench_.expect_eq("latency", first, std::uint64_t{65}, [] { return "an undisturbed tile of 20 blocks"; });
  }

  void cycle(bool valid, bool last, bool ready) {
    const std::uint8_t value = random_value(bench_.rng(), decoder_, any_);
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    dut_->data_i = value;
    dut_->last_i = last;
    dut_.eval();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->code_o, dut_->length_o, dut_->last_o);
    if (dut_->valid_o) {
      if (Code* const shown = codes_.shown()) {
        // A block leaves its bank with the fetch of its last code.
        if (shown->end && !std::exchange(shown->fetched, true)) room_.give();
        const Code& code = *shown;
        const auto when = [] { return "of a code"; };
        bench_.expect_eq("length_o", unsigned{dut_->length_o}, code.length, when);
        bench_.expect_eq("code_o", std::uint32_t{dut_->code_o}, code.bits << (14 - code.length), when);
        bench_.expect_eq("last_o", bool(dut_->last_o), code.last, when);
        if (ready) codes_.pop_front();
      }
    }
    room_.check(dut_->ready_o);
    waited_ = codes_.empty() || dut_->valid_o ? 0 : waited_ + 1;  // a stall holds back nothing that is owed
    bench_.expect(waited_ < 4, [] { return "codes do not come"; });
    if (valid && dut_->ready_o) take(value, last);
    dut_.tick();
  }

  void take(std::uint8_t value, bool last) {
    bench_.vector();
    ++done_;
    block_.push_back(value);
    if (!last && block_.size() < codec_block) return;
    const bool raw = block_is_raw(block_, encoder_);
    ++(raw ? raw_ : coded_);
    tiles_ += last;
    if (last) codes_.push_back({static_cast<std::uint32_t>(raw << 7 | 1 << 6 | (block_.size() - 1)), 8, false, false});
    for (std::size_t i = 0; i < block_.size(); ++i) {
      const EncoderEntry& entry = encoder_[block_[i]];
      const unsigned length = raw ? 8 : entry.length;
      const std::uint32_t code = raw ? block_[i] : static_cast<std::uint32_t>(entry.code >> (12 - length));
      const bool head = i == 0 && !last, end = i + 1 == block_.size();
      codes_.push_back(
          {code | (head ? std::uint32_t{raw} << (length + 1) : 0), length + (head ? 2 : 0), last && end, end});
    }
    room_.take();
    block_.clear();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  DecoderTable decoder_;
  std::array<EncoderEntry, huffman_symbols> encoder_{};
  std::vector<std::uint8_t> block_;
  Scoreboard<Code> codes_{bench_, "codes"};
  Room room_{bench_, "blocks in the banks", 4};
  double any_ = 0;
  std::uint64_t done_ = 0, raw_ = 0, coded_ = 0, tiles_ = 0, waited_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return HuffmanEncodeBench(argc, argv).run(); }
