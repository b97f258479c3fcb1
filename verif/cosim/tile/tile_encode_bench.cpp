// SPDX-License-Identifier: Apache-2.0
// ng_tile_encode against the golden model: every word of packets of all lengths, coded and raw, which the golden
// decoder reads again, under bubbles and stalls of changing density, with resets and new tables. Long packets at full
// speed take no more cycles than encoders or streams need; their rates are printed. Build parameters: NG_STREAM_WIDTH,
// NG_ENCODERS.
#include <cstdio>
#include <deque>

#include "../codec/codec_stimulus.hpp"
#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/codec/tile_encode.hpp"
#include "narrowgauge/codec/tile_stream.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned width = NG_STREAM_WIDTH, encoders = NG_ENCODERS;
constexpr std::size_t stream_bytes = width / 8, chunk = streamed_chunk(stream_bytes);
constexpr std::size_t parts = width / 32, taken = width >= 64 ? 2 : 1;  // words of 32 bits: of a stream word, a cycle
constexpr std::size_t chunk_parts = (8 * chunk + 2 * ((chunk + 63) / 64) + 6 + 31) / 32;  // words of a raw one

class TileEncodeBench {
 public:
  TileEncodeBench(int argc, char** argv)
      : bench_(argc, argv, "tile_encode, " + std::to_string(encoders) + " x " + std::to_string(width)),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    full_speed("short codes", [](unsigned i) { return i == 0 ? 250 : i < 64 ? 1 + 40 / (1 + i) : 0; });
    full_speed("codes of 6 bits and more", [](unsigned i) { return i < 64 ? 100 : 1; });
    full_speed("raw", [](unsigned i) { return i == 0 ? 1 : 0; });
    done_ = 0;  // the budget is for what follows
    load(random_code(bench_.rng()));
    while (done_ < bench_.budget()) {
      reset();
      if (bench_.rng().chance(0.5)) load(random_code(bench_.rng()));  // a reset leaves the table
      for (unsigned loads = bench_.rng().below(3);; --loads) {
        for (unsigned packets = 1 + bench_.rng().below(bench_.rng().chance(0.2) ? 60 : 5); packets > 0; --packets)
          queue(random_values());
        if (bench_.rng().chance(0.3)) stuff();
        if (!drain() || loads == 0) break;
        load(random_code(bench_.rng()));
      }
    }
    bench_.expect(output_.stalls() > 0 && input_stalls_ > 0 && largest_ > 0 && stuffed_ > 0,
                  [] { return "no word waited on a side, the unit was never full, or no chunk of the largest size"; });
    std::printf("%llu packets\n", static_cast<unsigned long long>(packets_));
    return bench_.finish();
  }

 private:
  struct Word {
    std::array<std::uint8_t, stream_bytes> bytes{};
    bool last = false;
  };

  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = dut_->table_we_i = false;
    words_.clear();
    expected_.reset();
    output_.clear();
    dut_.reset_without_edge(bench_);
    if (bench_.rng().chance(0.5)) dut_.reset();
  }

  void load(const CodeLengths& lengths) {
    decoder_ = decoder_table(lengths);
    encoder_ = encoder_table(lengths);
    for (unsigned address = 0; address < huffman_symbols; ++address) {
      dut_->table_we_i = true;
      dut_->table_addr_i = address;
      dut_->table_data_i = static_cast<std::uint16_t>(encoder_[address].word());
      dut_.tick();
      dut_->table_we_i = false;  // nothing is written without it
      dut_->table_data_i = static_cast<std::uint16_t>(bench_.rng().bits(16));
      if (bench_.rng().chance(0.05)) dut_.tick();
    }
  }

  std::vector<std::uint8_t> random_values(std::uint32_t most = ~0U) {
    Rng& rng = bench_.rng();
    const std::uint32_t chunks = rng.chance(0.1) ? 4 * encoders : 3, words = chunk / stream_bytes;
    std::uint32_t count = 1 + rng.below(rng.chance(0.5) ? 8 : chunks * words);
    if (rng.chance(0.2)) count = (1 + rng.below(chunks)) * words;  // whole chunks
    count = std::min(count, most);
    const double any = rng.chance(0.7) ? 0 : rng.chance(0.5) ? 0.05 : 1;
    std::vector<std::uint8_t> values(count * stream_bytes);
    for (std::uint8_t& value : values) value = random_value(rng, decoder_, any);
    return values;
  }

  std::vector<std::uint8_t> queue(const std::vector<std::uint8_t>& values) {
    const auto packet = encode_streamed_packet(values, encoder_, stream_bytes);
    const DecodedPacket back = decode_packet(packet, decoder_, stream_bytes);
    bench_.expect(!back.fault && back.bytes == values, [] { return "a packet does not come back"; });
    largest_ += values.size() >= chunk && packet[0] == chunk_parts;
    append(words_, values);
    append(expected_, packet);
    ++packets_;
    return packet;
  }

  static void append(auto& words, const std::vector<std::uint8_t>& bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += stream_bytes) {
      words.emplace_back();
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), stream_bytes, words.back().bytes.begin());
    }
    words.back().last = true;
  }

  /// Chunks of values that hardly shrink, so that the queues behind the encoders are full before the counts of chunks
  /// are.
  std::vector<std::uint8_t> bulky_values() {
    Rng& rng = bench_.rng();
    const double any = 0.25 * (1 + rng.below(4));
    std::vector<std::uint8_t> values(3 * encoders * chunk);
    for (std::uint8_t& value : values) value = random_value(rng, decoder_, any);
    return values;
  }

  /// As much as the unit holds while no word is taken, of short packets, bulky ones or others; one is offered even so.
  void stuff() {
    const bool brief = bench_.rng().chance(0.3), bulky = !brief && bench_.rng().chance(0.5);
    for (unsigned idle = 0; idle < 700; ++idle) {
      if (words_.empty()) queue(brief ? random_values(1) : bulky ? bulky_values() : random_values());
      if (cycle(true, false)) idle = 0;
    }
    bench_.expect(bool(dut_->valid_o), [] { return "no word is offered where none is taken"; });
    ++stuffed_;
    if (bench_.rng().chance(0.5)) taken_at_once();
  }

  /// The first chunk of each encoder waits: a head takes a cycle, two words or one, and an end of a packet.
  void taken_at_once() {
    const auto part = [&](std::size_t i) {
      const auto* bytes = expected_[i / parts].bytes.data() + i % parts * 4;
      return static_cast<std::size_t>(bytes[0] | bytes[1] << 8);
    };
    std::size_t at = 0, most = 3;
    for (unsigned e = 0; e < encoders; ++e) {
      const std::size_t words = part(at);
      most += 2 + (words + taken - 1) / taken;
      at += 1 + words;
      const std::size_t end = (at - 1) / parts;  // its last stream word
      if (expected_[end].last && (at % parts == 0 || part(at) == 0)) at = (end + 1) * parts;
    }
    const std::size_t left = expected_.size() - at / parts;
    std::size_t cycles = 0;
    for (; cycles <= most && expected_.size() > left; ++cycles) cycle(true, true);
    bench_.expect(expected_.size() <= left,
                  [&] { return "words that wait are not taken in " + std::to_string(most) + " cycles"; });
  }

  /// Until all packets have come; false after a stop in the middle.
  bool drain() {
    double push = 1, pop = 1;
    for (unsigned idle = 0; !words_.empty() || !expected_.empty();) {
      if (bench_.rng().chance(0.003)) {
        push = bench_.rng().below(5) / 4.0;
        pop = bench_.rng().below(5) / 4.0;
        if (push == 0 && pop == 0) push = pop = 1;
      }
      if (bench_.rng().chance(0.00002)) {
        expected_.abandon();
        return false;
      }
      const bool valid = bench_.rng().chance(push), ready = bench_.rng().chance(pop);
      if (cycle(valid, ready)) {
        idle = 0;
      } else if (ready && (valid || words_.empty()) && ++idle > 1500) {
        bench_.error("nothing moves");
        return false;
      }
    }
    for (int i = 0; i < 10; ++i) cycle(false, true);  // nothing follows
    return true;
  }

  /// A long packet of values of a code that has these counts.
  void full_speed(const char* kind, auto count) {
    reset();
    std::array<std::uint64_t, huffman_symbols> counts{};
    std::uint64_t all = 0;
    for (unsigned i = 0; i < huffman_symbols; ++i) all += counts[i] = static_cast<std::uint64_t>(count(i));
    load(make_code(counts));
    const bool raw = all == 1;
    constexpr std::size_t rounds = 32;
    std::vector<std::uint8_t> values(chunk * encoders * rounds);
    for (std::uint8_t& value : values) {
      value = static_cast<std::uint8_t>(bench_.rng().bits(8));
      if (raw) continue;
      std::uint64_t at = bench_.rng().below(static_cast<std::uint32_t>(all));
      for (value = 0; at >= counts[value]; ++value) at -= counts[value];
    }
    const auto packet = queue(values);
    const auto head_of = [&](std::size_t count) {
      std::size_t at = 0;
      for (; count > 0; --count) at += 4 * (std::size_t{1} + packet[at]);
      return at;
    };
    const std::size_t words = expected_.size();
    // What a chunk for each encoder takes at most: in the encoders, one or two cycles for what is no value; in words of
    // 32 bits, taken one or two a cycle; in stream words.
    const std::size_t chunk_words = words * parts / (encoders * rounds) + 1;
    const std::size_t most =
        rounds * std::max({chunk + 2, encoders * (chunk_words / taken + 1), encoders * chunk / stream_bytes}) + chunk +
        chunk_words + 16;
    // Stream words that are left when a quarter of the chunks has come, and three.
    const std::size_t quarter = words - head_of(encoders * rounds / 4) / stream_bytes,
                      quarters = words - head_of(encoders * rounds * 3 / 4) / stream_bytes;
    std::size_t cycles = 0, from = 0, to = 0, first = 0;
    for (; cycles <= most && !expected_.empty(); ++cycles) {
      if (expected_.size() > quarter) from = cycles;
      if (expected_.size() > quarters) to = cycles;
      cycle(true, true);
      if (expected_.size() == words) first = cycles + 1;
    }
    // A chunk leaves when it is whole: the codes of its last block follow its values.
    bench_.expect(first <= chunk + codec_block + 16,
                  [&] { return "the first word came in cycle " + std::to_string(first); });
    bench_.expect(expected_.empty(), [&] {
      return std::to_string(values.size()) + " values, " + kind + ", have not all come in " + std::to_string(most) +
             " cycles";
    });
    std::printf("%s, %.2f bits a value: %.2f values a cycle, %zu cycles from the first word in to the first out\n",
                kind, static_cast<double>(words * width) / static_cast<double>(values.size()),
                static_cast<double>(values.size()) / 2 / static_cast<double>(to - from), first);
  }

  /// Whether anything moved.
  bool cycle(bool valid, bool ready) {
    valid = valid && !words_.empty();
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    for (unsigned i = 0; i < stream_bytes; ++i)
      set_bits(dut_->data_i, 8 * i, 8, valid ? words_.front().bytes[i] : bench_.rng().bits(8));
    dut_->last_i = valid ? words_.front().last : bench_.rng().chance(0.5);
    dut_.eval();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->last_o);
    bool moved = false;
    if (dut_->valid_o) {
      if (const Word* const shown = expected_.shown()) {
        const Word& word = *shown;
        const auto when = [] { return "of a word"; };
        for (unsigned i = 0; i < stream_bytes; ++i)
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
    } else if (valid) {
      ++input_stalls_;
    }
    dut_.tick();
    return moved;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  DecoderTable decoder_;
  std::array<EncoderEntry, huffman_symbols> encoder_{};
  std::deque<Word> words_;
  Scoreboard<Word> expected_{bench_, "words"};
  std::uint64_t done_ = 0, packets_ = 0, input_stalls_ = 0, largest_ = 0, stuffed_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return TileEncodeBench(argc, argv).run(); }
