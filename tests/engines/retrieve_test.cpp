// SPDX-License-Identifier: Apache-2.0
// ng_retrieve behind the array: the driver multiplies a memory with query tokens on a Verilated tile, whose results go
// to the Verilated unit alone, at its pace. The host sees each word as it passes between them. The chunks that are
// found must be those of the golden product.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "Vretrieve_mixed.h"
#include "Vretrieve_tiny.h"
#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/engines/tile_bus_on_pins.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/retrieval/retrieval.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

/// Parameters of both units (tests/engines/CMakeLists.txt).
constexpr int product_bits = 24, score_bits = 28;
constexpr std::size_t places = 8, index_bits = 16;

/// A query's memory and what of it the unit has to know.
struct Search {
  std::size_t chunks, tokens, queries, k;  ///< chunks of so many tokens, query tokens, numbers of a vector
  double pace = 1;                         ///< chance in a cycle that a result of the unit is taken
};

/// Bits [at, at + width) of words of 32 bits; width 32 at most.
template <class Words>
std::uint64_t bits_at(const Words& words, std::size_t at, std::size_t width) {
  std::uint64_t both = words[at / 32];
  if (at / 32 + 1 < std::size(words.m_storage)) both |= std::uint64_t{words[at / 32 + 1]} << 32;
  return both >> at % 32 & ((std::uint64_t{1} << width) - 1);
}

/// A tile with the unit at its stream of results. Outputs of either follow registers only, so that moving a word from
/// the one to the other in each cycle is a wire. Towards the host a word is valid in the cycle in which it passes.
template <class Unit>
class RetrievingTile final : public TilePinModel {
 public:
  RetrievingTile(const std::string& tile, unsigned stream_bytes)
      : tile_(make_tile_pin_model("rtl", tile)), stream_bytes_(stream_bytes) {}
  ~RetrievingTile() override { unit_.final(); }

  void set(const Search& search, std::size_t rows, unsigned exponent) {
    pace_ = search.pace;
    unit_.last_query_i = static_cast<CData>(search.queries - 1);
    unit_.last_panel_i = static_cast<CData>(search.tokens / rows - 1);
    unit_.last_index_i = static_cast<SData>(search.chunks - 1);
    unit_.exponent_i = static_cast<CData>(exponent);
  }

  void reset(TilePins& pins) override {
    unit_.clk_i = 0;
    unit_.rst_ni = 1;
    unit_.eval();
    unit_.rst_ni = 0;
    unit_.eval();
    unit_.rst_ni = 1;
    unit_.eval();
    tile_->reset(pins_);
    show(pins);
  }

  void cycle(TilePins& pins) override {
    unit_.valid_i = pins_.out_valid;
    if (pins_.out_valid) std::memcpy(&unit_.data_i, pins_.out_data, stream_bytes_);
    unit_.ready_i = unit_.valid_o && std::bernoulli_distribution(pace_)(random_);
    stalls_ += pins_.out_valid && !unit_.ready_o;
    if (unit_.valid_o && unit_.ready_i) results_.push_back(result());
    pins_.out_ready = unit_.ready_o;
    for (const int clock : {1, 0}) {
      unit_.clk_i = static_cast<CData>(clock);
      unit_.eval();
    }
    pins_.bus = pins.bus;
    pins_.in_valid = pins.in_valid;
    pins_.in_last = pins.in_last;
    pins_.in_data = pins.in_data;
    tile_->cycle(pins_);
    show(pins);
  }

  std::vector<std::vector<Candidate>>& results() { return results_; }
  /// Cycles in which a result of the tile waited for the unit.
  std::uint64_t stalls() const { return stalls_; }

 private:
  void show(TilePins& pins) const {
    pins.bus = pins_.bus;
    pins.in_ready = pins_.in_ready;
    pins.out_valid = pins_.out_valid && unit_.ready_o;
    pins.out_last = pins_.out_last;
    pins.out_data = pins_.out_data;
    pins.irq = pins_.irq;
  }
  std::vector<Candidate> result() const {
    std::vector<Candidate> best;
    for (std::size_t place = 0; place < places && (unit_.found_o >> place & 1) != 0; ++place)
      best.push_back({bits_at(unit_.keys_o, place * score_bits, score_bits),
                      bits_at(unit_.indices_o, place * index_bits, index_bits)});
    return best;
  }

  std::unique_ptr<TilePinModel> tile_;
  VerilatedContext context_;
  Unit unit_{&context_};
  std::size_t stream_bytes_;
  TilePins pins_;
  double pace_ = 1;
  std::mt19937 random_{1};
  std::vector<std::vector<Candidate>> results_;
  std::uint64_t stalls_ = 0;
};

/// A tile, the unit behind it and the driver in front, for one query after the other.
template <class Unit>
class Retriever {
 public:
  explicit Retriever(const std::string& name)
      : config_(find_tile(name)), model_(name, config_.stream_width / 8), bus_(model_, config_.stream_width / 8) {
    expect_ok(ng_tile_init(&tile_, &at_), "the tile");
  }

  /// The query's product with so many memories, one behind the other: what comes is what the golden model finds.
  void expect_golden(const Search& search, const GemmFormat& format, unsigned seed, unsigned memories = 1) {
    SCOPED_TRACE(std::to_string(search.chunks) + " chunks of " + std::to_string(search.tokens) + " tokens, " +
                 std::to_string(search.queries) + " query tokens, k " + std::to_string(search.k));
    const std::size_t tokens = search.chunks * search.tokens;
    const QuantizedMatrix query = test::normal_operand(search.queries, search.k, format.b_scheme(), format.b, seed);
    std::vector<QuantizedMatrix> keys;
    std::vector<std::vector<float>> products;
    float largest = 0;
    for (unsigned i = 0; i < memories; ++i) {
      keys.push_back(test::normal_operand(tokens, search.k, format.a_scheme(), format.a, seed + i + 1));
      products.push_back(make_model_engine(1)->gemm(keys.back(), query).c);
      for (const float product : products.back()) largest = std::max(largest, std::abs(product));
    }
    // Products below 2^(exponent - 126) fit, and the largest needs all bits.
    const unsigned exponent = std::bit_cast<std::uint32_t>(largest) >> 23;

    model_.set(search, config_.rows, exponent);
    for (unsigned i = 0; i < memories; ++i) {
      DriverGemm product(tile_, keys[i], query);
      product.config.command_beats = UINT32_MAX;  // all query tokens in one command, so that they follow each other
      expect_ok(ng_tile_gemm(&tile_, &product.config), "the product");
      EXPECT_EQ(product.result(), products[i]);
    }
    for (int cycles = 0; model_.results().size() < memories && cycles < 100'000; ++cycles) bus_.run(1);
    ASSERT_EQ(model_.results().size(), memories);
    for (unsigned i = 0; i < memories; ++i) expect_chunks(search, exponent, products[i], model_.results()[i]);
    model_.results().clear();
  }

  std::uint64_t stalls() const { return model_.stalls(); }

 private:
  /// The golden chunks of the products, which are those of FP32 scores, too.
  static void expect_chunks(const Search& search, unsigned exponent, const std::vector<float>& products,
                            const std::vector<Candidate>& best) {
    const RetrievalRule rule{.queries = search.queries,
                             .tokens = search.tokens,
                             .k = places,
                             .exponent = exponent,
                             .product_bits = product_bits,
                             .score_bits = score_bits};
    EXPECT_EQ(best, retrieve(products, rule));
    const std::vector<std::size_t> lengths(search.chunks, search.tokens);
    std::vector<float> rows;  // a row for each query token
    for (std::size_t query = 0; query < search.queries; ++query)
      for (std::size_t at = query; at < products.size(); at += search.queries) rows.push_back(products[at]);
    std::vector<std::uint32_t> keys;
    for (const float score : max_sim(rows, lengths)) keys.push_back(score_key(score));
    std::vector<std::uint64_t> found, expected;
    for (const Candidate& chunk : best) found.push_back(chunk.index);
    for (const std::size_t place : top_k(keys, std::min(places, search.chunks))) expected.push_back(place);
    EXPECT_EQ(found, expected);
  }

  const TileConfig& config_;
  RetrievingTile<Unit> model_;
  TileBusOnPins bus_;
  TileDriverPort bridge_{bus_};
  ng_port_t port_ = bridge_.port();
  ng_tile_config_t at_{.port = &port_, .base = 0, .timeout_ticks = 1'000'000};
  ng_tile_t tile_{};
};

TEST(Retrieve, BehindTheTinyTile) {
  Retriever<Vretrieve_tiny> retriever("tiny");
  unsigned seed = 1;
  for (const Search& search : {Search{40, 16, 8, 128}, {40, 16, 16, 64}, {3, 7, 5, 33}, {1, 1, 1, 16}, {100, 2, 3, 16}})
    retriever.expect_golden(search, find_gemm_format("nvfp4"), seed += 2);
}

TEST(Retrieve, BehindAnArrayOfRowsAndColumns) {
  Retriever<Vretrieve_mixed> retriever("mixed");
  unsigned seed = 1;
  for (const Search& search : {Search{40, 16, 16, 128}, {9, 8, 6, 64}, {1, 4, 1, 16}, {60, 4, 3, 17}}) {
    retriever.expect_golden(search, find_gemm_format("nvfp4"), seed += 2);
    retriever.expect_golden(search, find_gemm_format("fp8_e4m3"), seed += 2);
  }
  EXPECT_GT(retriever.stalls(), 0U);  // sixteen results in four beats, a number a cycle
}

TEST(Retrieve, ResultsThatWaitHoldTheArray) {
  Retriever<Vretrieve_tiny> retriever("tiny");
  const Search search{.chunks = 12, .tokens = 2, .queries = 2, .k = 16, .pace = 0.0005};
  retriever.expect_golden(search, find_gemm_format("nvfp4"), 1, 4);
  EXPECT_GT(retriever.stalls(), 0U);
}

}  // namespace
}  // namespace narrowgauge
