// SPDX-License-Identifier: Apache-2.0
// ng_map_encode against the files that the golden compressor writes: every word of every tile, of maps in bytes and of
// the components of transformed ones, under bubbles and stalls of changing density, with resets and new tables; long
// tiles at full speed within a bound of cycles. NG_CODEC_FILE names a file to go through first. Build parameters:
// NG_WIDTH, NG_RUNS.
#include <deque>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "map_stimulus.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned width = NG_WIDTH;
constexpr bool runs = NG_RUNS == 1;

class MapEncodeBench {
 public:
  MapEncodeBench(int argc, char** argv)
      : bench_(argc, argv, "map_encode, words of " + std::to_string(width) + (runs ? "" : ", no runs")),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    for (const CodedMap& map : coded_maps_of_environment(width, bench_)) full_speed("the file", map);
    constexpr std::size_t tile = 4096;
    full_speed("ReLU", long_map(bench_.rng(), MapKind::relu, width, runs, tile, bench_));
    full_speed("any values", long_map(bench_.rng(), MapKind::any, width, runs, tile, bench_));
    full_speed("runs of zeros", long_map(bench_.rng(), MapKind::runs, width, runs, tile, bench_));
    full_speed("zeros", long_map(bench_.rng(), MapKind::zeros, width, runs, tile, bench_));
    done_ = 0;
    while (done_ < bench_.budget()) {
      for (const CodedMap& map : random_maps(bench_.rng(), width, runs, 400, bench_)) {
        reset();
        load(map);
        shortened_ += !map.slots.empty();
        queue(map);
        double push = 1, pop = 1;
        bool cut = false;
        for (unsigned idle = 0; idle < 300 && !(values_.empty() && words_.empty()) && !cut; ++idle) {
          if (bench_.rng().chance(0.01)) {
            push = (1 + bench_.rng().below(4)) / 4.0;
            pop = bench_.rng().chance(0.2) ? 0.05 : (1 + bench_.rng().below(4)) / 4.0;
          }
          cut = bench_.rng().chance(0.0001);  // in the middle
          if (cycle(bench_.rng().chance(push), bench_.rng().chance(pop))) idle = 0;
        }
        bench_.expect(cut || values_.empty(), [] { return "values were never taken"; });
        if (cut) words_.abandon();
      }
    }
    bench_.expect(output_.stalls() > 0 && refused_ > 0 && (shortened_ > 0 || !runs),
                  [] { return "no word waited, no value did, or no run was shortened"; });
    return bench_.finish();
  }

 private:
  struct Word {
    std::uint64_t bits;
    bool last;
  };

  void reset() {
    dut_->s_axis_tvalid_i = dut_->m_axis_tready_i = dut_->s_axis_tlast_i = dut_->table_we_i = false;
    values_.clear();
    words_.reset();
    output_.clear();
    dut_.reset_without_edge(bench_);
    dut_.reset();
  }

  void load(const CodedMap& map) {
    std::vector<std::array<std::uint32_t, 2>> writes;
    for (std::uint32_t symbol = 0; symbol < huffman_symbols; ++symbol)
      writes.push_back({symbol, map.encoder[symbol].word()});
    for (const auto& [address, data] : table_writes(map.slots)) writes.push_back({256 + address, data});
    for (std::size_t i = writes.size(); i > 1; --i)
      std::swap(writes[i - 1], writes[bench_.rng().below(static_cast<std::uint32_t>(i))]);
    for (const auto& [address, data] : writes) {
      dut_->table_we_i = true;
      dut_->table_addr_i = address;
      dut_->table_data_i = static_cast<std::uint16_t>(data);
      dut_.tick();
      dut_->table_we_i = false;  // nothing is written without it
      dut_->table_data_i = static_cast<std::uint16_t>(bench_.rng().bits(16));
      if (bench_.rng().chance(0.05)) dut_.tick();
    }
  }

  void queue(const CodedMap& map) {
    for (std::size_t t = 0; t < map.tiles.size(); ++t) {
      for (const std::uint8_t value : map.values[t]) values_.push_back({value, false});
      values_.back().last = true;
      for (const std::uint64_t word : words_of_file(map.tiles[t], width)) words_.push_back({word, false});
      words_.back().last = true;
    }
  }

  /// All tiles of a map behind each other: a cycle a value, two more a tile, and what the last one takes on its way.
  void full_speed(const char* what, const CodedMap& map) {
    reset();
    load(map);
    queue(map);
    const std::uint64_t values = values_.size(), most = values + 2 * map.tiles.size() + codec_block + 24;
    std::uint64_t cycles = 0;
    for (; cycles < most && !words_.empty(); ++cycles) cycle(true, true);
    bench_.expect_settled(words_, std::string("in time: ") + what);
    std::printf("%s, %zu tiles: %.3f values a cycle, from the first value to the last word\n", what, map.tiles.size(),
                static_cast<double>(values) / static_cast<double>(cycles));
  }

  /// Whether a word left or a value was taken.
  bool cycle(bool valid, bool ready) {
    valid = valid && !values_.empty();
    dut_->s_axis_tvalid_i = valid;
    dut_->m_axis_tready_i = ready;
    dut_->s_axis_tdata_i = static_cast<std::uint8_t>(valid ? values_.front().bits : bench_.rng().bits(8));
    dut_->s_axis_tlast_i = valid ? values_.front().last : bench_.rng().chance(0.5);
    dut_.eval();
    output_.sample(dut_->m_axis_tvalid_o, dut_->m_axis_tready_i, dut_->m_axis_tdata_o, dut_->m_axis_tlast_o);
    bool moved = false;
    if (dut_->m_axis_tvalid_o) {
      if (const Word* const shown = words_.shown()) {
        const auto when = [] { return "of a word"; };
        bench_.expect_eq("m_axis_tdata_o", get_bits(dut_->m_axis_tdata_o, 0, width), shown->bits, when);
        bench_.expect_eq("m_axis_tlast_o", bool(dut_->m_axis_tlast_o), shown->last, when);
        if (ready) words_.pop_front();
      }
      moved = ready;
    }
    refused_ += valid && !dut_->s_axis_tready_o;
    if (valid && dut_->s_axis_tready_o) {
      values_.pop_front();
      bench_.vector();
      ++done_;
      moved = true;
    }
    dut_.tick();
    return moved;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  std::deque<Word> values_;  ///< to come
  Scoreboard<Word> words_{bench_, "words"};
  std::uint64_t done_ = 0, refused_ = 0, shortened_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return MapEncodeBench(argc, argv).run(); }
