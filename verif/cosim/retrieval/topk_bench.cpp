// SPDX-License-Identifier: Apache-2.0
// ng_topk against its golden function, stream by stream, and cycle for cycle against the cycle model: candidates in
// rising and falling order and all equal, every bit of a key and of an index alone in every place, streams at full
// speed to the cycle; then random streams, many with ties, under bubbles, stalls and resets. Build parameters: NG_K,
// NG_KEY_BITS, NG_INDEX_BITS.
#include <string>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/retrieval/topk_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned k = NG_K, key_bits = NG_KEY_BITS, index_bits = NG_INDEX_BITS;
constexpr std::uint64_t largest_key = ~std::uint64_t{0} >> (64 - key_bits);
constexpr std::uint64_t largest_index = ~std::uint64_t{0} >> (64 - index_bits);

class TopkBench {
 public:
  TopkBench(int argc, char** argv)
      : bench_(argc, argv, "topk, " + std::to_string(k) + " places"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    full_speed();
    orders();
    bits();
    double push = 1, pop = 1, end = 0.1;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.01)) {  // a new density
        push = (1 + bench_.rng().below(4)) / 4.0;
        pop = (1 + bench_.rng().below(4)) / 4.0;
        end = bench_.rng().chance(0.3) ? 0.5 : 0.5 / k;
        kind_ = bench_.rng().below(4);
      }
      if (bench_.rng().chance(0.001)) reset();
      cycle(bench_.rng().chance(push), random_candidate(), bench_.rng().chance(end), bench_.rng().chance(pop));
    }
    drain();
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a result left, or none waited"; });
    bench_.expect(full_ > 0, [] { return "no stream had more than K candidates"; });
    bench_.expect(k == 1 || short_ > 0, [] { return "every stream had K candidates"; });
    return bench_.finish();
  }

 private:
  using Best = std::vector<Candidate>;

  void reset() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    stream_.clear();
    count_ = 0;
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    dut_.reset();
  }

  void drain() {
    for (int i = 0; i < 4; ++i) cycle(false, random_candidate(), false, true);
    bench_.expect(expected_.empty(), [] { return "a stream that ended did not leave"; });
  }

  /// Streams of three candidates: the result comes with the second edge from the last one on, and costs two cycles.
  void full_speed() {
    for (unsigned i = 0; i < 40; ++i) {
      const auto when = [&] { return "cycle " + std::to_string(i) + " at full speed"; };
      bench_.expect_eq("ready_o", bool(dut_->ready_o), i % 5 < 3, when);
      bench_.expect_eq("valid_o", bool(dut_->valid_o), i % 5 == 4, when);
      cycle(true, random_candidate(), i % 5 == 2, true);
    }
    drain();
  }

  /// One stream of these candidates at full speed.
  void stream_of(const Best& candidates) {
    for (std::size_t i = 0; i < candidates.size(); ++i) cycle(true, candidates[i], i + 1 == candidates.size(), false);
    for (int i = 0; i < 3; ++i) cycle(false, random_candidate(), false, i == 2);
  }

  void orders() {
    for (unsigned count : {1U, k, 2 * k + 1}) {
      Best rising, falling, equal;
      for (std::uint64_t i = 0; i < count; ++i) {
        rising.push_back({i & largest_key, i & largest_index});
        falling.push_back({largest_key - (i & largest_key), i & largest_index});
        equal.push_back({largest_key / 2, i & largest_index});
      }
      for (const Best& candidates : {rising, falling, equal}) stream_of(candidates);
    }
    drain();
  }

  /// Falling keys but for one candidate, which has one bit more or less than the one it meets in a place.
  void bits() {
    for (unsigned place = 0; place < k; ++place) {
      for (unsigned bit = 0; bit < key_bits; ++bit) {
        const std::uint64_t one = std::uint64_t{1} << bit, others = bench_.rng().bits(key_bits) & ~one;
        for (const bool above : {false, true}) {
          Best candidates;
          for (unsigned i = 0; i < k; ++i) {
            const std::uint64_t met = above ? others : others | one;
            candidates.push_back({i < place ? largest_key : i == place ? met : 0, bench_.rng().bits(index_bits)});
          }
          candidates.push_back({above ? others | one : others, bench_.rng().bits(index_bits)});
          stream_of(candidates);
        }
      }
      for (unsigned bit = 0; bit < index_bits; ++bit) {
        Best candidates(k, {largest_key, 0});
        candidates[place].index = std::uint64_t{1} << bit;
        stream_of(candidates);
      }
    }
    drain();
  }

  Candidate random_candidate() {
    const std::uint64_t any = bench_.rng().bits(key_bits);
    // Anything, few values, rising by little steps, and one bit that differs.
    const std::uint64_t key = kind_ == 0   ? any
                              : kind_ == 1 ? any & 3
                              : kind_ == 2 ? (++rising_ >> 1) & largest_key
                                           : (largest_key / 3) ^ (std::uint64_t{1} << bench_.rng().below(key_bits));
    return {key, bench_.rng().bits(index_bits)};
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const Best* const shown = expected_.shown();
    if (shown == nullptr) return;
    bench_.expect(core_.best() == *shown, [] { return "the cycle model has other candidates"; });
    bench_.expect_eq("found_o", get_bits(dut_->found_o, 0, k), ~std::uint64_t{0} >> (64 - shown->size()),
                     [] { return "of the stream"; });
    for (unsigned place = 0; place < shown->size(); ++place) {
      const auto where = [&] { return "place " + std::to_string(place); };
      bench_.expect_eq("keys_o", get_bits(dut_->keys_o, place * key_bits, key_bits), (*shown)[place].key, where);
      bench_.expect_eq("indices_o", get_bits(dut_->indices_o, place * index_bits, index_bits), (*shown)[place].index,
                       where);
    }
  }

  void cycle(bool valid, const Candidate& candidate, bool last, bool ready) {
    dut_->valid_i = valid;
    dut_->last_i = last;
    dut_->ready_i = ready;
    set_bits(dut_->key_i, 0, key_bits, candidate.key);
    set_bits(dut_->index_i, 0, index_bits, candidate.index);
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->keys_o, dut_->indices_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    if (valid && dut_->ready_o) {
      insert_candidate(stream_, candidate, k);
      ++count_;
      if (last) {
        expected_.push_back(stream_);
        ++(count_ > k ? full_ : short_);
        stream_.clear();
        count_ = 0;
      }
    }
    core_.step(valid, candidate, last, ready);
    dut_.tick();
    outputs();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  systemc::TopkCore<NG_K> core_;
  Best stream_;  ///< the best of the candidates taken
  Scoreboard<Best> expected_{bench_, "results"};
  std::uint64_t count_ = 0, full_ = 0, short_ = 0, rising_ = 0;
  unsigned kind_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return TopkBench(argc, argv).run(); }
