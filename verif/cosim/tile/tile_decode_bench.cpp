// SPDX-License-Identifier: Apache-2.0
// ng_tile_decode against the golden model: every word of packets that are whole, broken in each way and of any bits,
// under bubbles and stalls of changing density, with resets and new tables; a fault comes where the golden decoder has
// one, and then words are taken and none is given until a reset. Long packets at full speed take no more cycles than
// decoders or streams need; their rates are printed. Chunks of up to more than 2^15 words, and as many chunks as the
// queues hold. Build parameters: NG_STREAM_WIDTH, NG_DECODERS.
#include <algorithm>
#include <cstdio>
#include <deque>

#include "../codec/codec_stimulus.hpp"
#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/codec/tile_packet.hpp"
#include "narrowgauge/codec/tile_stream.hpp"
#include "packet_stimulus.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned width = NG_STREAM_WIDTH, decoders = NG_DECODERS;
constexpr std::size_t parts = width / 32, taken = decoders > 4 && parts >= 2 ? 2 : 1;  // words of 32 bits: of a stream
                                                                                       // word, a cycle
constexpr std::size_t steps = (parts + taken - 1) / taken;  // cycles in which a stream word is dealt

class TileDecodeBench {
 public:
  TileDecodeBench(int argc, char** argv)
      : bench_(argc, argv, "tile_decode, " + std::to_string(decoders) + " x " + std::to_string(width)),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    full_speed("short codes", [](unsigned i) { return i == 0 ? 250 : i < 64 ? 1 + 40 / (1 + i) : 0; });
    full_speed("codes of 6 bits and more", [](unsigned i) { return i < 64 ? 100 : 1; });
    full_speed("raw", [](unsigned i) { return i == 0 ? 1 : 0; });
    for (int i = 0; i < 3; ++i) short_chunks();
    done_ = 0;  // the budget is for what follows
    while (done_ < bench_.budget()) {
      reset();
      load(random_code(bench_.rng()));
      for (unsigned packets = 1 + bench_.rng().below(4); packets > 0 && !fault_; --packets)
        queue(random_packet(bench_.rng(), lengths_, width / 8));
      // Of the next packet, which a broken one keeps from being read.
      if (fault_)
        for (unsigned i = bench_.rng().below(20); i > 0; --i) words_.push_back({{}, bench_.rng().chance(0.2)});
      double push = 1, pop = 1;
      for (unsigned idle = 0; !complete();) {
        if (bench_.rng().chance(0.01)) {
          push = (1 + bench_.rng().below(4)) / 4.0;
          pop = (1 + bench_.rng().below(4)) / 4.0;
        }
        if (bench_.rng().chance(0.0001)) break;  // in the middle
        idle = cycle(bench_.rng().chance(push), bench_.rng().chance(pop)) ? 0 : idle + 1;
        if (idle > 2000) {
          bench_.error("nothing moves, or a fault is missing");
          break;
        }
      }
      if (complete()) {
        after();
      } else {
        expected_.abandon();
      }
    }
    for (unsigned bits = 8; bits < 16; ++bits) long_chunk(bits);
    bench_.expect(output_.stalls() > 0 && faults_ > 0 && whole_ > 0,
                  [] { return "no word waited, or a kind of packet was missing"; });
    std::printf("packets: %llu whole, %llu broken\n", static_cast<unsigned long long>(whole_),
                static_cast<unsigned long long>(faults_));
    return bench_.finish();
  }

 private:
  struct Word {
    std::array<std::uint8_t, width / 8> bytes{};
    bool last = false;
  };

  bool complete() { return words_.empty() && expected_.empty() && bool(dut_->fault_o) == fault_; }

  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = dut_->table_we_i = false;
    words_.clear();
    expected_.reset();
    fault_ = false;
    output_.clear();
    dut_.reset_without_edge(bench_, steps == 1);
    const auto when = [] { return "after a reset without a clock edge"; };
    bench_.expect_eq("fault_o", unsigned{dut_->fault_o}, 0U, when);
    if (bench_.rng().chance(0.5)) dut_.reset();
  }

  void load(const CodeLengths& lengths) {
    lengths_ = lengths;
    table_ = decoder_table(lengths_);
    for (const auto& [address, data] : table_writes(table_)) {
      dut_->table_we_i = true;
      dut_->table_addr_i = address;
      dut_->table_data_i = data;
      dut_.tick();
      dut_->table_we_i = false;  // nothing is written without it
      dut_->table_data_i = static_cast<std::uint32_t>(bench_.rng().bits(21));
      if (bench_.rng().chance(0.05)) dut_.tick();
    }
  }

  void queue(const std::vector<std::uint8_t>& packet) {
    const DecodedPacket decoded = decode_packet(packet, table_, width / 8);
    append(words_, packet, true);
    append(expected_, decoded.bytes, !decoded.fault);
    fault_ = decoded.fault;
    ++(fault_ ? faults_ : whole_);
  }

  static void append(auto& words, const std::vector<std::uint8_t>& bytes, bool last) {
    for (std::size_t at = 0; at < bytes.size(); at += width / 8) {
      words.emplace_back();
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), width / 8, words.back().bytes.begin());
    }
    if (last) words.back().last = true;
  }

  /// Nothing comes any more, and what is offered is taken if the packet was broken.
  void after() {
    for (int i = 0; i < 20; ++i) {
      if (fault_) {
        bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, 1U, [] { return "behind a broken packet"; });
        words_.push_back({{}, bench_.rng().chance(0.5)});
      }
      cycle(true, true);
      bench_.expect_eq("fault_o", bool(dut_->fault_o), fault_, [] { return "behind the packets"; });
    }
  }

  /// A long packet of values of a code that has these counts.
  void full_speed(const char* kind, auto count) {
    reset();
    std::array<std::uint64_t, huffman_symbols> counts{};
    std::uint64_t all = 0;
    for (unsigned i = 0; i < huffman_symbols; ++i) all += counts[i] = static_cast<std::uint64_t>(count(i));
    load(make_code(counts));
    constexpr std::size_t rounds = 32;
    std::vector<std::uint8_t> values(packet_chunk * decoders * rounds / (width / 8) * (width / 8));
    for (std::uint8_t& value : values) {
      value = static_cast<std::uint8_t>(bench_.rng().bits(8));
      if (all == 1) continue;
      std::uint64_t at = bench_.rng().below(static_cast<std::uint32_t>(all));
      for (value = 0; at >= counts[value]; ++value) at -= counts[value];
    }
    queue(encode_packet(values, encoder_table(lengths_), width / 8));
    // What a chunk for each decoder takes at most: in a decoder, three cycles for what is no value; as words that are
    // dealt; as values that are taken. Before, one for each is dealt, or behind, one is decoded.
    const std::size_t packet = words_.size(), total = expected_.size(), dealt = packet * steps / rounds + 1;
    const std::size_t most = rounds * std::max({packet_chunk + 3, dealt, decoders * packet_chunk / 4 / taken}) +
                             std::max(dealt, packet_chunk) + 32;
    std::size_t cycles = 0, from = 0, to = 0, first = 0;
    for (; cycles <= most && !expected_.empty(); ++cycles) {
      if (expected_.size() == total) first = cycles;
      if (expected_.size() > total * 3 / 4) from = cycles;
      if (expected_.size() > total / 4) to = cycles;
      cycle(true, true);
    }
    bench_.expect(expected_.empty(), [&] {
      return std::to_string(values.size()) + " values, " + kind + ", have not all come in " + std::to_string(most) +
             " cycles";
    });
    std::printf("%s, %.2f bits a value: %.2f values a cycle, %zu cycles from the first word in to the first out\n",
                kind, static_cast<double>(packet * width) / static_cast<double>(values.size()),
                static_cast<double>(values.size()) / 2 / static_cast<double>(to - from), first);
  }

  /// `values` as a packet of chunks of `size`, all of which are in the unit, or waiting before it, when a word is taken
  /// for the first time. `rough`: then words come and are taken for a while each. Returns the stream words that the
  /// unit took before it gave one.
  std::size_t stalled(const std::vector<std::uint8_t>& values, std::size_t size, bool rough) {
    reset();
    CodeLengths lengths{};
    lengths[0] = lengths[1] = 1;
    load(lengths);
    std::vector<std::uint8_t> packet(bench_.rng().chance(0.5) ? 4 : 0);  // a word to skip
    for (std::size_t at = 0; at < values.size(); at += size) {
      const auto chunk =
          encode_tile(std::span(values).subspan(at, std::min(size, values.size() - at)), encoder_table(lengths));
      const std::size_t words = chunk.size() / 4;
      packet.insert(packet.end(), {static_cast<std::uint8_t>(words), static_cast<std::uint8_t>(words >> 8), 0, 0});
      packet.insert(packet.end(), chunk.begin(), chunk.end());
    }
    while (packet.size() % (width / 8) != 0) packet.push_back(0);
    queue(packet);
    const std::size_t all = words_.size();
    for (std::size_t idle = 0; idle < 1000 && !words_.empty(); ++idle)
      if (cycle(true, false)) idle = 0;
    const std::size_t inside = all - words_.size();
    // What waits is taken, as many words of 32 bits a cycle as can be.
    if (rough) {
      const std::size_t left = expected_.size() - 32 * decoders * taken / parts;
      for (unsigned i = 0; i < 32 * decoders + 4; ++i) cycle(true, true);
      bench_.expect(expected_.size() <= left, [] { return "words that wait are not taken at full speed"; });
    }
    bool push = true, pop = true;
    for (std::size_t i = 0; i < 2 * values.size() + 2000 && !expected_.empty(); ++i) {
      if (rough && bench_.rng().chance(0.01)) {
        push = bench_.rng().chance(0.7);
        pop = !push || bench_.rng().chance(0.7);
      }
      cycle(push, pop);
    }
    bench_.expect(expected_.empty(), [&] { return "chunks of " + std::to_string(size) + " values have not all come"; });
    after();
    return inside;
  }

  /// A raw chunk of more than 2^`bits` words, so that every bit of the count of those that are to come is at work.
  void long_chunk(unsigned bits) {
    const std::uint32_t words = (1U << bits) + (bits < 15 ? bench_.rng().below(1U << bits) : 0);
    std::vector<std::uint8_t> values((words + parts - 1) / parts * (width / 8));
    for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(bench_.rng().bits(8));
    stalled(values, values.size(), false);
  }

  /// More chunks than queues and decoders hold, coming and going, for every bit of their count.
  void short_chunks() {
    std::vector<std::uint8_t> values(decoders * 480 * 4);
    for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(bench_.rng().bits(1));
    const std::size_t inside = stalled(values, 4 * taken, true);
    // Packets that end while the unit is as full as it gets, so that it counts down from there to their end; a chunk is
    // two words of 32 bits here.
    const std::size_t most = inside * parts / 2 * 4 * taken / (width / 8);  // stream words of their values
    for (std::size_t less = 0; less < 3; ++less) {
      values.resize((most - less) * (width / 8));
      stalled(values, 4 * taken, false);
    }
  }

  /// Whether anything moved.
  bool cycle(bool valid, bool ready) {
    valid = valid && !words_.empty();
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    for (unsigned i = 0; i < width / 8; ++i)
      set_bits(dut_->data_i, 8 * i, 8, valid ? words_.front().bytes[i] : bench_.rng().bits(8));
    dut_->last_i = valid ? words_.front().last : bench_.rng().chance(0.5);
    dut_.eval();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->last_o);
    bool moved = false;
    if (dut_->fault_o) bench_.expect(fault_ && expected_.empty(), [] { return "a fault came that nobody expects"; });
    if (dut_->valid_o) {
      if (const Word* const shown = expected_.shown()) {
        const Word& word = *shown;
        const auto when = [] { return "of a word"; };
        for (unsigned i = 0; i < width / 8; ++i)
          bench_.expect_eq("data_o", get_bits(dut_->data_o, 8 * i, 8), std::uint64_t{word.bytes[i]}, when);
        bench_.expect_eq("last_o", bool(dut_->last_o), word.last, when);
        if (ready) expected_.pop_front();
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
    return moved;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  CodeLengths lengths_{};
  DecoderTable table_;
  std::deque<Word> words_;
  Scoreboard<Word> expected_{bench_, "words"};
  bool fault_ = false;
  std::uint64_t done_ = 0, faults_ = 0, whole_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return TileDecodeBench(argc, argv).run(); }
