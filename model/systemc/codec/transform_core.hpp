// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/codec/ng_transform.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "narrowgauge/codec/integer_transform.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// Vectors of `size` values. Outputs are functions of the state; step() is a clock edge. The table is not reset.
template <std::size_t size>
class TransformCore {
 public:
  struct Value {
    std::int32_t value;
    bool last;
  };
  struct Result {
    std::int32_t value = 0;
    bool last = false;
  };

  TransformCore() {
    table_.size = size;
    table_.matrix.resize(size * size);
    table_.bias.resize(size);
  }

  void reset() {
    found_.reset();
    made_.reset();
    full_.reset();
    taken_ = 0;
    chain_.clear();
    head_.reset();
    all_.reset();
    shifted_.reset();
    results_.reset();
  }

  /// Writes an entry of the matrix, as a write at the table's port does.
  void load_entry(std::size_t row, std::size_t column, std::int16_t entry) {
    table_.matrix[row * size + column] = entry;
  }
  void load_bias(std::size_t row, std::int64_t bias) { table_.bias[row] = bias; }
  void load_settings(unsigned shift, std::int32_t limit, bool relu) {
    table_.shift = shift;
    table_.high = limit;
    table_.low = relu ? 0 : -limit;
  }

  bool ready() const { return !full_ || chain_free(); }
  bool valid() const { return results_.valid(); }
  const Result& result() const { return results_.data(); }

  /// `value`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Value* value, bool ready) {
    const bool advance = this->ready(), room = results_.ready(), transfer = full_ && chain_free();
    const std::optional<Result> out = shifted_;
    results_.step(out ? &*out : nullptr, ready);
    if (room) {
      shifted_ = all_;
      all_ = head_;
      head_.reset();
      if (!chain_.empty()) {
        head_ = chain_.front();
        chain_.erase(chain_.begin());
      }
    }
    if (transfer) chain_ = *full_;
    if (!advance) return;
    full_.reset();
    if (made_) full_ = *made_;
    made_ = found_;
    found_.reset();
    if (!value) return;
    vector_[taken_++] = value->value;
    if (taken_ < size) return;
    taken_ = 0;
    std::array<std::int32_t, size> y;
    apply(table_, vector_, y);
    std::vector<Result> results(size);
    for (std::size_t r = 0; r < size; ++r) results[r] = {y[r], value->last && r == size - 1};
    found_ = std::move(results);
  }

 private:
  bool chain_free() const { return chain_.empty() || (chain_.size() == 1 && results_.ready()); }

  IntegerTransform table_;
  std::array<std::int32_t, size> vector_{};
  std::size_t taken_ = 0;
  std::optional<std::vector<Result>> found_, made_, full_;  ///< results of a vector whose last value is there
  std::vector<Result> chain_;                               ///< those that did not leave it
  std::optional<Result> head_, all_, shifted_;
  Fifo2Core<Result> results_;
};

}  // namespace narrowgauge::systemc
