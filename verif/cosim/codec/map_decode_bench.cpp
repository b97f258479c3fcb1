// SPDX-License-Identifier: Apache-2.0
// ng_map_decode against the golden decoder: every beat of the tiles of files, of maps in bytes and of the components of
// transformed ones, of such tiles corrupted in every way and of any words, under bubbles and stalls of changing
// density, with resets and new tables; long tiles at full speed within a bound of cycles. NG_CODEC_FILE names a file to
// go through first. Build parameters: NG_WIDTH, NG_RUNS, NG_COUNT_BITS.
#include <deque>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "map_stimulus.hpp"
#include "narrowgauge/error.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned width = NG_WIDTH, count_bits = NG_COUNT_BITS;
constexpr bool runs = NG_RUNS == 1;
constexpr std::size_t most_values = std::size_t{1} << count_bits;

class MapDecodeBench {
 public:
  MapDecodeBench(int argc, char** argv)
      : bench_(argc, argv, "map_decode, words of " + std::to_string(width) + (runs ? "" : ", no runs")),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    for (const CodedMap& map : coded_maps_of_environment(width, bench_)) full_speed("the file", map);
    const std::size_t tile = std::min<std::size_t>(4096, most_values);
    full_speed("ReLU", long_map(bench_.rng(), MapKind::relu, width, runs, tile, bench_));
    full_speed("any values", long_map(bench_.rng(), MapKind::any, width, runs, tile, bench_));
    full_speed("runs of zeros", long_map(bench_.rng(), MapKind::runs, width, runs, tile, bench_));
    full_speed("zeros", long_map(bench_.rng(), MapKind::zeros, width, runs, tile, bench_));
    done_ = whole_ = 0;
    while (done_ < bench_.budget()) {
      for (const CodedMap& map :
           random_maps(bench_.rng(), width, runs, std::min<std::size_t>(400, most_values), bench_)) {
        reset();
        load(map);
        const double good = bench_.rng().below(3) / 2.0;
        for (std::size_t t = 0; t < map.tiles.size(); ++t) {
          if (bench_.rng().chance(good))
            queue(map, map.tiles[t], map.values[t].size());
          else
            corrupt(map, t);
        }
        double push = 1, pop = 1;
        bool cut = false;
        for (unsigned idle = 0; idle < 1000 && !(words_.empty() && beats_.empty()) && !cut; ++idle) {
          if (bench_.rng().chance(0.01)) {
            push = (1 + bench_.rng().below(4)) / 4.0;
            pop = (1 + bench_.rng().below(4)) / 4.0;
          }
          cut = bench_.rng().chance(0.0001);  // in the middle
          if (cycle(bench_.rng().chance(push), bench_.rng().chance(pop))) idle = 0;
        }
        bench_.expect(cut || words_.empty(), [] { return "words were never taken"; });
        if (cut) beats_.abandon();
      }
    }
    bench_.expect(output_.stalls() > 0 && broken_ > 0 && short_ > 0 && long_ > 0 && whole_ > 0,
                  [] { return "no beat waited, or a kind of tile was missing"; });
    std::printf("tiles: %llu whole, %llu with a beat that stands for no value, %llu too short, %llu too long\n",
                static_cast<unsigned long long>(whole_), static_cast<unsigned long long>(broken_),
                static_cast<unsigned long long>(short_), static_cast<unsigned long long>(long_));
    return bench_.finish();
  }

 private:
  struct Word {
    std::uint64_t bits;
    std::size_t number;
    bool first, last;
  };
  struct Beat {
    std::uint8_t value;
    bool last = false, fault = false, keep = true;
  };

  void reset() {
    dut_->s_axis_tvalid_i = dut_->m_axis_tready_i = dut_->s_axis_tlast_i = dut_->table_we_i = false;
    words_.clear();
    beats_.reset();
    output_.clear();
    dut_.reset_without_edge(bench_);
    if (bench_.rng().chance(0.5)) dut_.reset();
  }

  void load(const CodedMap& map) {
    auto writes = table_writes(map.decoder);
    for (const auto& [address, data] : table_writes(map.slots)) writes.push_back({512 + address, data});
    for (std::size_t i = writes.size(); i > 1; --i)
      std::swap(writes[i - 1], writes[bench_.rng().below(static_cast<std::uint32_t>(i))]);
    for (const auto& [address, data] : writes) {
      dut_->table_we_i = true;
      dut_->table_addr_i = address;
      dut_->table_data_i = data;
      dut_.tick();
      dut_->table_we_i = false;  // nothing is written without it
      dut_->table_data_i = static_cast<std::uint32_t>(bench_.rng().bits(21));
      if (bench_.rng().chance(0.05)) dut_.tick();
    }
  }

  /// A tile that is to have so many values.
  void queue(const CodedMap& map, const std::vector<std::uint8_t>& bytes, std::size_t count) {
    const MapTile tile = decode_map_tile(bytes, map.decoder, map.slots, count, width);
    for (const std::uint8_t value : tile.values) beats_.push_back({value});
    if (tile.broken) beats_.push_back({0, true, true, false});
    beats_.back().last = true;
    beats_.back().fault = tile.fault;
    ++(!tile.fault ? whole_ : tile.broken ? broken_ : tile.values.size() < count ? short_ : long_);
    const std::vector<std::uint64_t> words = words_of_file(bytes, width);
    for (std::size_t i = 0; i < words.size(); ++i)
      words_.push_back({words[i], count - 1, i == 0, i + 1 == words.size()});
    if (width == 32) check_file(map, bytes, count, tile);
  }

  /// The golden decompressor calls the same tiles wrong.
  void check_file(const CodedMap& map, const std::vector<std::uint8_t>& bytes, std::size_t count, const MapTile& tile) {
    CompressedHead head;
    head.tile = head.values = count;
    head.slots = map.slots;
    for (std::size_t symbol = 0; symbol < huffman_symbols; ++symbol) head.lengths[symbol] = map.encoder[symbol].length;
    head.tiles = {{0, bytes.size(), crc32(bytes)}};
    bool fault = false;
    try {
      const auto values = decompress_tile(bytes, head, 0);
      bench_.expect(values == tile.values, [] { return "the golden decompressor has other values"; });
    } catch (const Error&) {
      fault = true;
    }
    bench_.expect_eq("fault of the golden decompressor", fault, tile.fault, [] { return "of a tile"; });
  }

  void corrupt(const CodedMap& map, std::size_t t) {
    std::vector<std::uint8_t> bytes = map.tiles[t];
    std::size_t count = map.values[t].size();
    const auto below = [&](std::size_t bound) { return bench_.rng().below(static_cast<std::uint32_t>(bound)); };
    switch (bench_.rng().below(6)) {
      case 0:  // bits are wrong
        for (unsigned n = 1 + below(3); n > 0; --n)
          if (const std::size_t bit = below(bytes.size() * 8); true)
            bytes[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
        break;
      case 1:  // it ends early
        bytes.resize(width / 8 * (1 + below(bytes.size() * 8 / width)));
        break;
      case 2:  // it goes on
        bytes.resize(bytes.size() + width / 8 * (1 + below(4)));
        break;
      case 3:  // it is to have more values
        count = std::min(count + 1 + below(bench_.rng().chance(0.5) ? 3 : 300), most_values);
        break;
      case 4:  // or fewer
        count -= below(std::min<std::size_t>(count, bench_.rng().chance(0.5) ? 3 : 300));
        break;
      default:  // any words
        bytes.resize(width / 8 * (1 + below(60)));
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(bench_.rng().bits(8));
        if (bench_.rng().chance(0.7)) bytes[0] &= 0x3F;
    }
    queue(map, bytes, count);
  }

  /// All tiles of a map behind each other: a cycle a value, four more a tile, and what the first one takes on its way.
  void full_speed(const char* what, const CodedMap& map) {
    reset();
    load(map);
    for (std::size_t t = 0; t < map.tiles.size(); ++t) queue(map, map.tiles[t], map.values[t].size());
    const std::uint64_t values = beats_.size(), most = values + 4 * map.tiles.size() + 12;
    std::uint64_t cycles = 0;
    for (; cycles < most && !beats_.empty(); ++cycles) cycle(true, true);
    bench_.expect_settled(beats_, std::string("in time: ") + what);
    std::printf("%s, %zu tiles: %.3f values a cycle, from the first word to the last value\n", what, map.tiles.size(),
                static_cast<double>(values) / static_cast<double>(cycles));
  }

  /// Whether a beat left or a word was taken.
  bool cycle(bool valid, bool ready) {
    valid = valid && !words_.empty();
    dut_->s_axis_tvalid_i = valid;
    dut_->m_axis_tready_i = ready;
    set_bits(dut_->s_axis_tdata_i, 0, width, valid ? words_.front().bits : bench_.rng().bits(width));
    dut_->s_axis_tuser_i = static_cast<std::uint32_t>(valid && words_.front().first ? words_.front().number
                                                                                    : bench_.rng().bits(count_bits));
    dut_->s_axis_tlast_i = valid ? words_.front().last : bench_.rng().chance(0.5);
    dut_.eval();
    output_.sample(dut_->m_axis_tvalid_o, dut_->m_axis_tready_i, dut_->m_axis_tdata_o, dut_->m_axis_tkeep_o,
                   dut_->m_axis_tuser_o, dut_->m_axis_tlast_o);
    bool moved = false;
    if (dut_->m_axis_tvalid_o) {
      if (const Beat* const shown = beats_.shown()) {
        const Beat& beat = *shown;
        const auto when = [] { return "of a beat"; };
        bench_.expect_eq("m_axis_tdata_o", unsigned{dut_->m_axis_tdata_o}, unsigned{beat.value}, when);
        bench_.expect_eq("m_axis_tlast_o", bool(dut_->m_axis_tlast_o), beat.last, when);
        bench_.expect_eq("m_axis_tuser_o", bool(dut_->m_axis_tuser_o), beat.fault, when);
        bench_.expect_eq("m_axis_tkeep_o", bool(dut_->m_axis_tkeep_o), beat.keep, when);
        if (ready) beats_.pop_front();
      }
      if (ready) {
        moved = true;
        bench_.vector();
        ++done_;
      }
    }
    if (valid && dut_->s_axis_tready_o) {
      words_.pop_front();
      moved = true;
    }
    dut_.tick();
    return moved;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  std::deque<Word> words_;
  Scoreboard<Beat> beats_{bench_, "beats"};
  std::uint64_t done_ = 0, broken_ = 0, short_ = 0, long_ = 0, whole_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return MapDecodeBench(argc, argv).run(); }
