// SPDX-License-Identifier: Apache-2.0
// ng_maxsim against the scores of whole chunks and against the gains of its golden functions, and cycle for cycle
// against the cycle model: every bit of a product, every query, products one apart, sums at both ends of their width,
// chunks of one product at full speed to the cycle; then random chunks in the order of tokens, of queries and in none,
// under bubbles, stalls and resets. Build parameters: NG_WIDTH, NG_QUERIES.
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/retrieval/maxsim_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned width = NG_WIDTH, queries = NG_QUERIES;
constexpr unsigned sum_width = width + std::bit_width(queries - 1);
constexpr std::int64_t most = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - width)), least = -most - 1;

class MaxsimBench {
 public:
  using Core = systemc::MaxsimCore<NG_QUERIES>;
  using Product = Core::Product;

  MaxsimBench(int argc, char** argv)
      : bench_(argc, argv, "maxsim, " + std::to_string(width) + " bits"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    full_speed();
    bits();
    ends();
    cycles_ = 0;
    while (!done()) {
      push_ = (1 + bench_.rng().below(4)) / 4.0;
      pop_ = (1 + bench_.rng().below(4)) / 4.0;
      for (std::uint32_t chunks = bench_.rng().below(30); chunks > 0 && !done(); --chunks) {
        if (bench_.rng().chance(0.02)) {
          random_chunk(true);
          reset();
        }
        random_chunk(false);
      }
    }
    drain();
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a score left, or none waited"; });
    bench_.expect(refused_ > 0, [] { return "no product was refused"; });
    return bench_.finish();
  }

 private:
  bool done() const { return cycles_ >= bench_.budget(); }

  void reset() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    dut_.reset();
  }

  void drain() {
    for (int i = 0; i < 8; ++i) cycle(false, any_product(), true);
    bench_.expect(expected_.empty(), [] { return "a chunk that ended did not leave"; });
  }

  std::int64_t any_dot() {
    const auto bits = static_cast<std::int64_t>(bench_.rng().bits(width) << (64 - width)) >> (64 - width);
    return kind_ == 0 ? bits : kind_ == 1 ? bits & most & 3 : kind_ == 2 ? (bits & 1 ? most : least) : bits | least;
  }

  Product any_product() {
    return {.dot = any_dot(),
            .query = bench_.rng().below(queries),
            .first = bench_.rng().chance(0.5),
            .last = bench_.rng().chance(0.5)};
  }

  /// Chunks of one product: a score comes with the third edge, and a product passes every cycle.
  void full_speed() {
    for (unsigned i = 0; i < 40; ++i) {
      const auto when = [&] { return "cycle " + std::to_string(i) + " at full speed"; };
      const bool refused = i >= 3 && i % 2 == 1;
      bench_.expect_eq("ready_o", bool(dut_->ready_o), !refused, when);
      bench_.expect_eq("valid_o", bool(dut_->valid_o), refused, when);
      Product product = any_product();
      product.first = product.last = true;
      if (!refused) expected_.push_back(product.dot);
      cycle(true, product, true);
    }
    drain();
    for (unsigned i = 0; i < 40; ++i) {  // of two: none waits
      bench_.expect_eq("ready_o", bool(dut_->ready_o), true, [] { return "chunks of two products"; });
      Product product = any_product();
      product.query = i % 2;
      product.first = true, product.last = i % 2 == 1;
      sum_ = product.dot + (i % 2 ? sum_ : 0);
      if (product.last) expected_.push_back(sum_);
      cycle(true, product, true);
    }
    drain();
  }

  /// A chunk of full rows of `tokens`, a row for a query from `from` on, in this order of places.
  void chunk_of(const std::vector<std::int64_t>& dots, std::size_t tokens, std::size_t from,
                const std::vector<std::size_t>& order, bool cut_short = false) {
    std::array<bool, queries> met{};
    std::size_t left = cut_short ? bench_.rng().below(static_cast<std::uint32_t>(order.size())) : order.size();
    const bool whole = left == order.size();
    if (whole) expected_.push_back(max_sim(dots, tokens));
    for (std::size_t i = 0; left > 0; ++i, --left) {
      const std::size_t query = (from + order[i] / tokens) % queries;
      const Product product{.dot = dots[order[i]], .query = query, .first = !met[query], .last = whole && left == 1};
      met[query] = true;
      do cycle(true, product, bench_.rng().chance(pop_));
      while (!was_ready_);
      while (bench_.rng().chance(1 - push_)) cycle(false, any_product(), bench_.rng().chance(pop_));
    }
  }

  static std::vector<std::size_t> in_order(std::size_t count) {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    return order;
  }

  void bits() {
    push_ = pop_ = 1;
    for (unsigned i = 0; i < std::max(queries, width); ++i) {
      const unsigned query = i % queries, bit = i % width;
      const std::int64_t one = bit + 1 == width ? least : std::int64_t{1} << bit;
      for (const std::int64_t before : {std::int64_t{0}, one, one == least ? most : one - 1}) {
        for (const std::size_t far : {0U, 1U, 2U}) {  // products between those of the query
          std::vector<std::int64_t> dots(4, 0);
          dots[0] = before, dots[1] = one;
          const std::vector<std::size_t> order = far == 0   ? std::vector<std::size_t>{0, 1, 2, 3}
                                                 : far == 1 ? std::vector<std::size_t>{0, 2, 1, 3}
                                                            : std::vector<std::size_t>{0, 2, 3, 1};
          chunk_of(dots, 2, query, order);
          std::swap(dots[0], dots[1]);
          chunk_of(dots, 2, query, order);
        }
      }
    }
    drain();
  }

  void ends() {
    for (const std::int64_t dot : {least, most}) chunk_of(std::vector(queries, dot), 1, 0, in_order(queries));
    std::vector<std::int64_t> dots;  // from the one end to the other
    for (unsigned query = 0; query < queries; ++query) dots.insert(dots.end(), {least, most});
    chunk_of(dots, 2, 0, in_order(dots.size()));
    drain();
  }

  void random_chunk(bool cut_short) {
    kind_ = bench_.rng().below(4);
    const std::size_t tokens = 1 + bench_.rng().below(5);
    const std::size_t rows = bench_.rng().chance(0.7) ? 1 + bench_.rng().below(std::min(queries, 4U)) : queries;
    std::vector<std::int64_t> dots(tokens * rows);
    for (std::int64_t& dot : dots) dot = any_dot();
    std::vector<std::size_t> order = in_order(dots.size());
    const std::uint32_t how = bench_.rng().below(3);
    if (how == 0)  // of the order of tokens
      std::ranges::stable_sort(order, {}, [&](std::size_t place) { return place % tokens; });
    else if (how == 1)
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[bench_.rng().below(static_cast<std::uint32_t>(i))]);
    chunk_of(dots, tokens, bench_.rng().below(queries), order, cut_short);
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const __int128* const shown = expected_.shown();
    if (shown == nullptr) return;
    const auto chunk = [] { return "of the chunk"; };
    bench_.expect_eq("score_o", get_signed128(dut_->score_o, 0, sum_width), *shown, chunk);
    bench_.expect_eq("score of the cycle model", core_.score(), *shown, chunk);
  }

  void cycle(bool valid, const Product& product, bool ready) {
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    dut_->first_i = product.first;
    dut_->last_i = product.last;
    set_bits(dut_->dot_i, 0, width, static_cast<std::uint64_t>(product.dot));
    set_bits(dut_->query_i, 0, sum_width - width, product.query);
    dut_.eval();
    bench_.vector();
    ++cycles_;
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->score_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    was_ready_ = dut_->ready_o;
    refused_ += valid && !was_ready_;
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    core_.step(valid, product, ready);
    dut_.tick();
    outputs();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  Scoreboard<__int128> expected_{bench_, "scores"};
  __int128 sum_ = 0;
  double push_ = 1, pop_ = 1;
  unsigned kind_ = 0;
  bool was_ready_ = false;
  std::uint64_t refused_ = 0, cycles_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return MaxsimBench(argc, argv).run(); }
