// SPDX-License-Identifier: Apache-2.0
// ng_retrieve against its golden function, memory by memory, and cycle for cycle against the cycle model: one query
// token and all of them, products of every exponent with every bit and with ties, chunks beyond 32768, streams at full
// speed to the cycle; then random memories under bubbles, stalls and resets. Build parameters: NG_ROWS, NG_COLS,
// NG_STREAM_WIDTH, NG_WIDTH, NG_QUERIES, NG_PANELS, NG_K, NG_INDEX_BITS.
#include <algorithm>
#include <string>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "retrieve_stimulus.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned rows = NG_ROWS, cols = NG_COLS, units = NG_STREAM_WIDTH / 32, width = NG_WIDTH;
constexpr unsigned queries = NG_QUERIES, panels = NG_PANELS, k = NG_K, index_bits = NG_INDEX_BITS;
using Core = systemc::RetrieveCore<NG_ROWS, NG_COLS, NG_STREAM_WIDTH / 32, NG_WIDTH, NG_QUERIES, NG_K>;
constexpr unsigned key_width = Core::score_bits, query_width = key_width - width;
constexpr unsigned panel_width = std::bit_width(panels - 1);
constexpr std::uint64_t most_chunks = index_bits < 6 ? std::uint64_t{1} << index_bits : 64;

class RetrieveBench {
 public:
  RetrieveBench(int argc, char** argv)
      : bench_(argc, argv, "retrieve, " + std::to_string(rows) + " x " + std::to_string(cols)),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    reset();
    full_speed();
    counts();
    numbers();
    high_bits();
    waiting();
    resets();
    cycles_ = 0;
    while (!done()) {
      push_ = (1 + bench_.rng().below(4)) / 4.0;
      pop_ = bench_.rng().chance(0.2) ? 0.05 : (1 + bench_.rng().below(4)) / 4.0;
      for (std::uint32_t memories = bench_.rng().below(20); memories > 0 && !done(); --memories) {
        if (bench_.rng().chance(0.05)) {
          send(random_memory(), true);
          reset();
        }
        send(random_memory());
      }
    }
    await();
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a result left, or none waited"; });
    bench_.expect(refused_ > 0, [] { return "no word was refused"; });
    return bench_.finish();
  }

 private:
  using Best = std::vector<Candidate>;
  using Word = Core::Word;

  bool done() const { return cycles_ >= bench_.budget(); }

  void reset() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    dut_.reset_without_edge(bench_, units == 1 || cols == 1);
    core_.reset();
    outputs();
    if (bench_.rng().chance(0.5)) dut_.reset();
  }

  static RetrievalRule rule_of(const Memory& memory) {
    return {.queries = memory.query.last_query + 1,
            .tokens = rows * (memory.query.last_panel + 1),
            .k = k,
            .exponent = memory.query.exponent,
            .product_bits = static_cast<int>(width),
            .score_bits = static_cast<int>(key_width)};
  }

  /// A memory of so many query tokens, panels of tokens and chunks. Products are those of `product`.
  template <class Product>
  Memory memory_of(std::size_t query_tokens, std::size_t chunk_panels, std::uint64_t chunks, unsigned exponent,
                   Product&& product) {
    Memory memory{.query = {.last_query = query_tokens - 1,
                            .last_panel = chunk_panels - 1,
                            .last_index = chunks - 1,
                            .exponent = exponent},
                  .products = {}};
    const std::size_t tokens = rows * chunk_panels * chunks;
    for (std::size_t token = 0; token < tokens; ++token)
      for (std::size_t query = 0; query < query_tokens; ++query) memory.products.push_back(product(token, query));
    return memory;
  }

  /// Often cut as the one before, so that it follows without a pause.
  Memory random_memory() {
    systemc::RetrievalQuery query = query_;
    if (bench_.rng().chance(0.5)) {
      const std::uint32_t near = bench_.rng().below(4);
      query.exponent = bench_.rng().chance(0.8)   ? 20 + bench_.rng().below(200)
                       : bench_.rng().chance(0.5) ? 1 + near
                                                  : 255 - near;
      // All query tokens are many for the largest parameters.
      query.last_query = bench_.rng().chance(0.1) ? queries - 1 : bench_.rng().below(std::min(queries, 9U));
      const bool many = query.last_query >= 9;
      query.last_panel = bench_.rng().below(std::min(panels, many ? 2U : 5U));
      const std::uint64_t most = std::min<std::uint64_t>(most_chunks, many ? k + 1 : 2 * k + 2);
      query.last_index = bench_.rng().below(static_cast<std::uint32_t>(most));
    }
    const bool ties = bench_.rng().chance(0.3);
    return memory_of(query.last_query + 1, query.last_panel + 1, query.last_index + 1, query.exponent, [&](auto, auto) {
      if (!ties) return any_product(bench_.rng(), query.exponent, width);
      return std::ldexp(static_cast<float>(bench_.rng().below(3)) - 1, static_cast<int>(query.exponent) - 127);
    });
  }

  Memory any_memory(std::size_t query_tokens, std::size_t chunk_panels, std::uint64_t chunks) {
    return memory_of(query_tokens, chunk_panels, chunks, 127,
                     [&](auto, auto) { return any_product(bench_.rng(), 127, width); });
  }

  /// A number passes every cycle, and a result comes with the seventh edge from the last number on.
  void full_speed() {
    push_ = pop_ = 1;
    for (const std::uint64_t chunks : {std::uint64_t{1}, std::min<std::uint64_t>(most_chunks, k + 2)}) {
      await();
      const std::uint64_t start = cycles_;
      send(any_memory(1, 2, chunks));
      while (!dut_->valid_o) cycle(false, noise(), false);
      bench_.expect_eq("cycles to the result", cycles_ - start, 2 * rows * cols * chunks - cols + 7,
                       [&] { return std::to_string(chunks) + " chunks"; });
    }
    const Memory shortest = any_memory(1, 1, std::min<std::uint64_t>(most_chunks, 3));
    for (int i = 0; i < 10; ++i) send(shortest);
    await();
  }

  /// One query token, all of them and those at the edge of a panel; panels and chunks likewise.
  void counts() {
    push_ = 0.75, pop_ = 0.5;
    for (const std::size_t count : {1U, 2U, cols, cols + 1, queries - 1, queries}) {
      if (count < 1 || count > queries) continue;
      for (const std::size_t chunk_panels : {std::size_t{1}, std::size_t{std::min(panels, 4U)}}) {
        for (const std::uint64_t chunks : {std::uint64_t{1}, std::min<std::uint64_t>(most_chunks, k + 1)})
          send(any_memory(count, chunk_panels, chunks));
      }
    }
    if (rows * panels <= 2048) send(any_memory(1, panels, std::min<std::uint64_t>(most_chunks, 2)));
    if (index_bits < 6) send(any_memory(1, 1, most_chunks));
    await();
  }

  /// Chunks of one number beside NaN, under one query token: each key is an integer alone.
  void numbers() {
    std::vector<float> all;
    std::size_t at = 0;
    const auto flush = [&](unsigned exponent) {
      while (at < all.size()) {
        const std::uint64_t chunks = std::min<std::uint64_t>({most_chunks, k, all.size() - at});
        send(memory_of(1, 1, chunks, exponent, [&](std::size_t token, std::size_t) {
          return token % rows == 0 ? all[at + token / rows] : std::numeric_limits<float>::quiet_NaN();
        }));
        at += chunks;
      }
      all.clear();
      at = 0;
    };
    for (const unsigned exponent : {130U, 1U, 2U, 254U, 255U}) {
      for (unsigned far = 0; far < width + 4; ++far) {
        if (far >= exponent) break;
        const std::uint32_t own = std::min(exponent - far, 254U) << 23;
        for (const std::uint32_t sign : {0U, 0x80000000U}) {
          const auto add = [&](std::uint32_t code) { all.push_back(std::bit_cast<float>(sign | code)); };
          add(own);
          add(own | 0x7FFFFF);
          const int half = static_cast<int>(far) + 24 - static_cast<int>(width);  // beside each bit that falls off
          for (int bit = 0; half < 23 && bit < half; ++bit) add(own | 1U << half | 1U << bit);
          const unsigned step = exponent == 130 ? 1 : 5;
          for (unsigned bit = far % step; bit < 23; bit += step) {
            add(own | 1U << bit);
            add(own | ((0x7FFFFFU << bit) & 0x7FFFFF));
            add(own | ((1U << bit) - 1));
            add(own | 3U << bit >> 1);
          }
        }
      }
      for (const std::uint32_t code : {0U, 0x80000000U, 1U, 0x807FFFFFU, 0x00400000U, 0x7F800000U, 0xFF800000U,
                                       0x7F800001U, 0xFFC00000U, 0x7FC00000U, 0x7F7FFFFFU, 0xFF7FFFFFU})
        all.push_back(std::bit_cast<float>(code));
      flush(exponent);
    }
    for (unsigned exponent = 1; exponent < 256; ++exponent) {  // every shared exponent, at and above it
      for (const int far : {0, 1}) {
        const std::uint32_t own = std::min(exponent + static_cast<unsigned>(far), 254U);
        all.push_back(std::bit_cast<float>(own << 23));
      }
      flush(exponent);
    }
    await();
  }

  /// Each bit of a chunk's number and of a panel's, as far as memories of so many are short. The last chunk is the
  /// best.
  void high_bits() {
    push_ = pop_ = 1;
    const auto short_enough = [](std::uint64_t count) { return count * rows * cols <= 66000; };
    for (std::uint64_t last = most_chunks + 1; short_enough(last) && std::bit_width(last) <= index_bits;
         last = 2 * last - 1) {
      send(memory_of(1, 1, last + 1, 127, [&](std::size_t token, auto) { return token / rows == last ? 1.0F : 0.5F; }));
      send(any_memory(1, 1, 1));
    }
    for (std::uint64_t last = 1; short_enough(last * last) && last < panels; ++last) send(any_memory(1, last + 1, 2));
    for (std::uint64_t last = 257; short_enough(last) && last < panels; last = 2 * last - 1)
      send(any_memory(1, last + 1, 2));
    await();
  }

  /// Results wait until the unit stands still, in front of each number of a chunk.
  void waiting() {
    for (const std::size_t count : {1U, 2U, cols, cols + 1, 2 * cols}) {
      if (count > queries) continue;
      for (const std::size_t chunk_panels : {1U, 2U}) {
        push_ = 1, pop_ = 0.02;
        for (int i = 0; i < 20; ++i) send(any_memory(count, chunk_panels, std::min<std::uint64_t>(most_chunks, 3)));
        pop_ = 0.5;
        await();
      }
    }
  }

  /// Resets amid streams, without a clock edge and with some: nothing of what was on its way is left.
  void resets() {
    push_ = 1, pop_ = 0.5;
    for (int i = 0; i < 40; ++i) {
      send(any_memory(2, 2, std::min<std::uint64_t>(most_chunks, 3)), true);
      reset();
      send(any_memory(2, 2, 2));
    }
    await();
  }

  Word noise() {
    Word word;
    for (float& number : word) number = std::bit_cast<float>(static_cast<std::uint32_t>(bench_.rng().bits(32)));
    return word;
  }

  void set(const systemc::RetrievalQuery& query) {
    query_ = query;
    set_bits(dut_->last_query_i, 0, query_width, query.last_query);
    set_bits(dut_->last_panel_i, 0, panel_width, query.last_panel);
    set_bits(dut_->last_index_i, 0, index_bits, query.last_index);
    dut_->exponent_i = static_cast<std::uint8_t>(query.exponent);
  }

  /// The memory's stream; another query waits for the results of the one before. `cut_short`: a part of it.
  void send(const Memory& memory, bool cut_short = false) {
    const auto& query = memory.query;
    if (query.last_query != query_.last_query || query.last_panel != query_.last_panel ||
        query.last_index != query_.last_index || query.exponent != query_.exponent) {
      await();
      set(query);
    }
    const std::vector<Word> words = stream_of<rows, cols, units>(bench_.rng(), memory);
    std::size_t left = cut_short ? bench_.rng().below(static_cast<std::uint32_t>(words.size())) : words.size();
    // Of a part, too: what is cut off may stand behind the last query token.
    expected_.push_back(retrieve(memory.products, rule_of(memory)));
    for (std::size_t i = 0; left > 0; ++i, --left) {
      do cycle(true, words[i], bench_.rng().chance(pop_));
      while (!was_ready_);
      while (bench_.rng().chance(1 - push_)) cycle(false, noise(), bench_.rng().chance(pop_));
    }
  }

  /// All results have left, which takes no longer than the columns behind the last query token and the stages.
  void await() {
    for (unsigned i = 0; i < 2000 && !expected_.empty(); ++i) cycle(false, noise(), bench_.rng().chance(pop_));
    bench_.expect(expected_.empty(), [] { return "a memory that ended gave no result"; });
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const Best* const shown = expected_.shown();
    if (shown == nullptr) return;
    bench_.expect(core_.best() == *shown, [] { return "the cycle model has other chunks"; });
    bench_.expect_eq("found_o", get_bits(dut_->found_o, 0, k), ~std::uint64_t{0} >> (64 - shown->size()),
                     [] { return "of the memory"; });
    for (unsigned place = 0; place < shown->size(); ++place) {
      const auto where = [&] { return "place " + std::to_string(place); };
      bench_.expect_eq("keys_o", get_bits(dut_->keys_o, place * key_width, key_width), (*shown)[place].key, where);
      bench_.expect_eq("indices_o", get_bits(dut_->indices_o, place * index_bits, index_bits), (*shown)[place].index,
                       where);
    }
  }

  void cycle(bool valid, const Word& word, bool ready) {
    dut_->valid_i = valid;
    dut_->ready_i = ready;
    for (unsigned unit = 0; unit < units; ++unit)
      set_bits(dut_->data_i, 32 * unit, 32, std::bit_cast<std::uint32_t>(word[unit]));
    dut_.eval();
    bench_.vector();
    ++cycles_;
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->keys_o, dut_->indices_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    was_ready_ = dut_->ready_o;
    refused_ += valid && !was_ready_;
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    core_.step(valid, word, query_, ready);
    dut_.tick();
    outputs();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  systemc::RetrievalQuery query_;
  Scoreboard<Best> expected_{bench_, "results"};
  double push_ = 1, pop_ = 1;
  bool was_ready_ = false;
  std::uint64_t refused_ = 0, cycles_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return RetrieveBench(argc, argv).run(); }
