// SPDX-License-Identifier: Apache-2.0
// The results that a unit owes, oldest first. A result that never comes is an error as much as a wrong one: at the end
// of the run, at the end of the scoreboard, and at a reset that did not say that it cuts something short.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include "bench.hpp"

namespace narrowgauge::bench {

template <class Result>
class Scoreboard final : public Owed {
 public:
  using value_type = Result;

  /// `what` completes "3 ... never came".
  Scoreboard(Bench& bench, std::string what) : bench_(bench), what_(std::move(what)) { bench_.owe(*this); }
  ~Scoreboard() { bench_.settle(*this); }
  Scoreboard(const Scoreboard&) = delete;
  Scoreboard& operator=(const Scoreboard&) = delete;

  void push_back(Result result) { results_.push_back(std::move(result)); }
  Result& emplace_back() { return results_.emplace_back(); }
  bool empty() const { return results_.empty(); }
  std::size_t size() const { return results_.size(); }
  const Result& front() const { return results_.front(); }
  Result& front() { return results_.front(); }
  Result& back() { return results_.back(); }
  Result& operator[](std::size_t i) { return results_[i]; }
  auto begin() { return results_.begin(); }
  auto end() { return results_.end(); }
  void pop_front() { results_.pop_front(); }

  /// The result that the unit shows now; null, and an error, if it owes none.
  Result* shown() {
    bench_.expect(!empty(), [&] { return what_ + " came that nobody expects"; });
    return empty() ? nullptr : &front();
  }

  /// A reset after a stretch of stimulus that ran to its end: everything has to be here.
  void reset() {
    bench_.expect_settled(*this, "before the reset");
    results_.clear();
  }

  /// A stimulus that cuts the unit short: what it owed will not come.
  void abandon() { results_.clear(); }

  std::size_t owed() const override { return results_.size(); }
  const std::string& what() const override { return what_; }

 private:
  Bench& bench_;
  std::string what_;
  std::deque<Result> results_;
};

}  // namespace narrowgauge::bench
