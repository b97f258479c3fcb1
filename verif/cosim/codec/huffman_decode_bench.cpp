// SPDX-License-Identifier: Apache-2.0
// ng_huffman_decode against the golden model: every beat of tiles that are whole, that are broken and of any bits,
// under bubbles and stalls of changing density, with resets and new tables; then tiles without any, to the cycle. Build
// parameter: NG_WIDTH.
#include <cstdio>
#include <deque>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "codec_stimulus.hpp"
#include "narrowgauge/codec/tile_stream.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned width = NG_WIDTH;

class HuffmanDecodeBench {
 public:
  HuffmanDecodeBench(int argc, char** argv)
      : bench_(argc, argv, "huffman_decode, words of " + std::to_string(width)),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    reset();
    for (int i = 0; i < 4; ++i) full_speed();
    while (done_ < bench_.budget()) {
      reset();
      load();
      for (unsigned tiles = 1 + bench_.rng().below(6); tiles > 0; --tiles) queue(bench_.rng().below(200) + 1, true);
      double push = 1, pop = 1;
      bool cut = false;
      for (unsigned idle = 0; idle < 1000 && !(words_.empty() && beats_.empty()) && !cut; ++idle) {
        if (bench_.rng().chance(0.01)) {
          push = (1 + bench_.rng().below(4)) / 4.0;
          pop = (1 + bench_.rng().below(4)) / 4.0;
        }
        cut = bench_.rng().chance(0.0003);  // in the middle
        if (cycle(bench_.rng().chance(push), bench_.rng().chance(pop))) idle = 0;
      }
      bench_.expect(cut || words_.empty(),
                    [this] { return std::to_string(words_.size()) + " words were never taken"; });
      if (cut) beats_.abandon();
    }
    bench_.expect(output_.stalls() > 0 && broken_ > 0 && too_long_ > 0 && whole_ > 0,
                  [] { return "no beat waited, or a kind of tile was missing"; });
    std::printf("tiles: %llu whole, %llu broken, %llu too long\n", static_cast<unsigned long long>(whole_),
                static_cast<unsigned long long>(broken_), static_cast<unsigned long long>(too_long_));
    return bench_.finish();
  }

 private:
  struct Word {
    std::uint64_t bits;
    bool last;
  };
  struct Beat {
    std::uint8_t value;
    bool last, fault, empty;
  };

  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = dut_->table_we_i = false;
    words_.clear();
    beats_.reset();
    output_.clear();
    dut_.reset_without_edge(bench_);
    if (bench_.rng().chance(0.5)) dut_.reset();
  }

  void load() {
    lengths_ = random_code(bench_.rng());
    table_ = decoder_table(lengths_);
    // Length 1 has base 0 in every code of this codec, but the unit takes another (found 2026-11-23 by an injected
    // fault).
    if (bench_.rng().chance(0.2)) table_.base[0] = static_cast<std::uint8_t>(bench_.rng().bits(8));
    encoder_ = encoder_table(lengths_);
    auto writes = table_writes(table_);
    for (std::uint32_t other : {256U, 269U, 270U, 271U}) writes.push_back({other, 0x1FFFFF});
    for (std::size_t i = writes.size(); i > 1; --i)
      std::swap(writes[i - 1], writes[bench_.rng().below(static_cast<std::uint32_t>(i))]);
    for (const auto& [address, data] : writes) {
      dut_->table_we_i = true;
      dut_->table_addr_i = address;
      dut_->table_data_i = data;
      dut_.tick();
      dut_->table_we_i = false;  // nothing is written without it
      dut_->table_data_i = static_cast<std::uint32_t>(bench_.rng().bits(21));
      if (bench_.rng().chance(0.1)) dut_.tick();
    }
  }

  /// A tile of so many values to come; `faults`: perhaps not what an encoder made.
  void queue(unsigned count, bool faults) {
    std::vector<std::uint8_t> values(count);
    const double any = bench_.rng().chance(0.5) ? 0 : bench_.rng().chance(0.5) ? 0.01 : 0.3;
    for (std::uint8_t& value : values) value = random_value(bench_.rng(), table_, any);
    // Now and then the first block ends with a word, if the code has lengths for that, and so does the tile.
    for (int tries = faults && count > codec_block && bench_.rng().chance(0.2) ? 200 : 0; tries > 0; --tries) {
      std::size_t bits = 2;
      for (std::size_t i = 0; i < codec_block; ++i) bits += encoder_[values[i]].length;
      if (bits % width == 0 && !block_is_raw(std::span(values).first(codec_block), encoder_)) {
        std::vector<std::uint8_t> cut = encode_tile(values, encoder_, width);
        cut.resize(bits / 8);
        return send(cut);
      }
      values[bench_.rng().below(codec_block)] = random_value(bench_.rng(), table_, 0);
    }
    std::vector<std::uint8_t> bytes = encode_tile(values, encoder_, width);
    const unsigned kind = faults ? bench_.rng().below(14) : 0;
    if (kind == 8) {  // a bit is wrong
      const std::uint32_t bit = bench_.rng().below(static_cast<std::uint32_t>(bytes.size() * 8));
      bytes[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
    } else if (kind == 9 && bytes.size() > width / 8) {  // it ends early
      bytes.resize(width / 8 * (1 + bench_.rng().below(static_cast<std::uint32_t>(bytes.size() * 8 / width - 1))));
    } else if (kind == 10) {  // it goes on
      bytes.resize(bytes.size() + width / 8 * (1 + bench_.rng().below(4)));
    } else if (kind >= 11) {  // any bits, often around a limit at first
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(bench_.rng().bits(8));
      const unsigned length = bench_.rng().chance(0.3) ? 12 : 1 + bench_.rng().below(12);
      const unsigned window = (table_.limit[length - 1] - bench_.rng().below(2)) % 4096;
      if (kind > 11) {
        bytes[0] = static_cast<std::uint8_t>(window >> 6);  // a header of zeros before it
        bytes[1] = static_cast<std::uint8_t>(window << 2 | bench_.rng().bits(2));
      }
    }
    send(bytes);
  }

  void send(const std::vector<std::uint8_t>& bytes) {
    const DecodedTile tile = decode_tile(bytes, table_, width);
    for (const std::uint8_t value : tile.values) beats_.push_back({value, false, false, false});
    if (tile.fault == TileFault::broken) {
      beats_.push_back({0, true, true, true});
      ++broken_;
    } else {
      beats_.back().last = true;
      beats_.back().fault = tile.fault == TileFault::too_long;
      ++(tile.fault == TileFault::too_long ? too_long_ : whole_);
    }
    for (const std::uint64_t word : words_of_bytes(bytes, width)) words_.push_back({word, false});
    words_.back().last = true;
  }

  /// A long tile: there is a value in every cycle but one, in which the header of the last block is taken.
  void full_speed() {
    reset();
    load();
    queue(64 * 20, false);
    for (int i = 0; i < 12; ++i) cycle(true, false);
    bench_.expect(dut_->valid_o, [] { return "no value waits at an output that was never ready"; });
    std::uint64_t cycles = 0;
    for (; cycles < 2 * 64 * 20 && !beats_.empty(); ++cycles) cycle(true, true);
    bench_.expect_eq("cycles", cycles, std::uint64_t{64 * 20 + 1}, [] { return "a tile of 20 blocks, undisturbed"; });
  }

  /// Whether a beat left or a word was taken.
  bool cycle(bool valid, bool ready) {
    valid = valid && !words_.empty();
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    set_bits(dut_->data_i, 0, width, valid ? words_.front().bits : bench_.rng().bits(width));
    dut_->last_i = valid ? words_.front().last : bench_.rng().chance(0.5);
    dut_.eval();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->last_o, dut_->fault_o, dut_->void_o);
    bool moved = false;
    if (dut_->valid_o) {
      if (const Beat* const shown = beats_.shown()) {
        const Beat& beat = *shown;
        const auto when = [] { return "of a beat"; };
        bench_.expect_eq("data_o", unsigned{dut_->data_o}, unsigned{beat.value}, when);
        bench_.expect_eq("last_o", bool(dut_->last_o), beat.last, when);
        bench_.expect_eq("fault_o", bool(dut_->fault_o), beat.fault, when);
        bench_.expect_eq("void_o", bool(dut_->void_o), beat.empty, when);
        if (ready) beats_.pop_front();
      }
      if (ready) {
        moved = true;
        bench_.vector();
        ++done_;
      }
    }
    if (valid && dut_->ready_o) {
      words_.pop_front();
      moved = true;
    }
    dut_.tick();
    if (!moved && !(words_.empty() && beats_.empty()) && ready && valid && ++stuck_ > 50) bench_.error("nothing moves");
    if (moved) stuck_ = 0;
    return moved;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  CodeLengths lengths_{};
  DecoderTable table_;
  std::array<EncoderEntry, huffman_symbols> encoder_{};
  std::deque<Word> words_;
  Scoreboard<Beat> beats_{bench_, "beats"};
  std::uint64_t done_ = 0, broken_ = 0, too_long_ = 0, whole_ = 0, stuck_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return HuffmanDecodeBench(argc, argv).run(); }
