// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/retrieval/ng_retrieve.sv.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "narrowgauge/retrieval/retrieval.hpp"
#include "systemc/retrieval/maxsim_core.hpp"
#include "systemc/retrieval/topk_core.hpp"

namespace narrowgauge::systemc {

/// What a query tells ng_retrieve: each of the first three is a number of things less 1.
struct RetrievalQuery {
  std::size_t last_query = 0, last_panel = 0;
  std::uint64_t last_index = 0;
  unsigned exponent = 127;
};

/// Results of a tile, a number a clock edge. Outputs are functions of the state; step() is a clock edge.
template <int rows, int cols, int units, int width, int queries, int k>
class RetrieveCore {
 public:
  /// Numbers of a stream word.
  using Word = std::array<float, static_cast<std::size_t>(units)>;
  static constexpr int score_bits = width + std::bit_width(static_cast<unsigned>(queries - 1));

  void reset() {
    maxsim_.reset();
    topk_.reset();
    stages_ = {};
    unit_ = col_ = row_ = query_ = base_ = panel_ = 0;
    index_ = 0;
  }

  bool ready() const { return maxsim_.ready() && (unit_ + 1 == units || row_end()); }
  bool valid() const { return topk_.valid(); }
  /// The best chunks, best first; meaningful only while valid().
  const std::vector<Candidate>& best() const { return topk_.best(); }

  /// valid: a word is offered. ready: ready_i.
  void step(bool valid, const Word& word, const RetrievalQuery& query, bool ready) {
    const bool move = maxsim_.ready(), scored = maxsim_.valid(), best_ready = topk_.ready();
    const Candidate candidate{integer_key(static_cast<std::int64_t>(maxsim_.score()), score_bits), index_};
    const bool last_index = index_ == query.last_index;
    const Stage product = stages_[1];
    maxsim_.step(product.valid, product.product, best_ready);
    topk_.step(scored, candidate, last_index, ready);
    if (scored && best_ready) index_ = last_index ? 0 : index_ + 1;
    if (!move) return;
    stages_[1] = stages_[0];
    stages_[0] = {};
    if (valid) take(word, query);
  }

 private:
  struct Stage {
    bool valid = false;
    typename MaxsimCore<queries>::Product product;
  };

  bool row_end() const { return col_ + 1 == cols; }

  void take(const Word& word, const RetrievalQuery& query) {
    const bool last_row = row_ + 1 == rows, last_panel = panel_ == query.last_panel;
    if (query_ <= query.last_query) {
      stages_[0] = {.valid = true,
                    .product = {.dot = shared_fixed(word[unit_], query.exponent, width),
                                .query = query_,
                                .first = panel_ == 0 && row_ == 0,
                                .last = last_panel && last_row && query_ == query.last_query}};
    }
    const bool panel_end = row_end() && last_row && query_ >= query.last_query;
    unit_ = unit_ + 1 == units || row_end() ? 0 : unit_ + 1;
    if (!row_end()) {
      ++col_;
      ++query_;
      return;
    }
    col_ = 0;
    if (last_row) base_ = panel_end ? 0 : query_ + 1;
    query_ = base_;
    row_ = last_row ? 0 : row_ + 1;
    if (panel_end) panel_ = last_panel ? 0 : panel_ + 1;
  }

  MaxsimCore<queries> maxsim_;
  TopkCore<k> topk_;
  std::array<Stage, 2> stages_;  ///< of ng_fp32_to_fixed
  std::size_t unit_ = 0, col_ = 0, row_ = 0, query_ = 0, panel_ = 0;
  std::size_t base_ = 0;  ///< first query token of the panel
  std::uint64_t index_ = 0;
};

}  // namespace narrowgauge::systemc
