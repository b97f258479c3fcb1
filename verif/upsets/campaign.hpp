// SPDX-License-Identifier: Apache-2.0
// Single-event upsets while products run: one bit of a register or memory flips once, and what comes of it is one of
// four outcomes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "narrowgauge/quant/quantized_matrix.hpp"
#include "upset_tile.hpp"

namespace narrowgauge::upsets {

enum class Outcome { none, wrong, error, hang };
constexpr std::size_t outcomes = 4;
constexpr std::array<const char*, outcomes> outcome_key = {"no_effect", "silent_wrong", "error", "hang"};

/// What one run with a flip has shown.
struct Run {
  Outcome outcome = Outcome::none;
  bool later = false;      ///< wrong results in the second product, whose operands came after the flip
  bool recovered = true;   ///< after an error or a hang: a soft reset by the driver, and both products are right again
  std::string error = {};  ///< the driver's text
};

/// Two products after each other through the C driver, of other operands; the flip falls into the first one.
class Workload {
 public:
  /// `seed`: of the operands.
  explicit Workload(std::uint64_t seed);
  /// Cycles in which a flip can fall, the first and one behind the last: from the driver's initialization to the end of
  /// the first product. Taken from a run without a flip; throws Error unless its results are the golden model's.
  struct Window {
    std::uint64_t begin = 0, end = 0, both = 0;  ///< `both`: the end of the second product
  };
  Window window(UpsetTile& tile) const;
  Run run(UpsetTile& tile, const Flip& flip, const Window& window) const;

 private:
  struct Product {
    QuantizedMatrix a, b;
    std::vector<float> c;
  };
  std::array<Product, 2> products_;
};

/// Outcomes of the flips in one block.
struct Block {
  std::string name;
  std::uint64_t bits = 0;  ///< in it
  std::array<std::uint64_t, outcomes> count{};
  std::uint64_t later = 0, stuck = 0;  ///< runs of `later`, and of not `recovered`

  std::uint64_t flips() const { return count[0] + count[1] + count[2] + count[3]; }
};

struct Report {
  std::vector<Block> blocks;  ///< sorted by name
  std::uint64_t bits = 0;
  Workload::Window window;
  std::map<std::string, std::uint64_t> errors;  ///< the driver's texts, how often

  bool operator==(const Report& other) const;
  /// Adds the counts of a campaign on the same tile; throws Error if blocks, bits or the number of cycles differ.
  Report& operator+=(const Report& other);
};

struct CampaignOptions {
  std::uint64_t flips = 10'000;  ///< in all; each block gets as many as the others
  std::uint64_t seed = 1;        ///< of flips and operands
  unsigned threads = 0;          ///< 0: one a core; changes no result
};

/// `progress`: flips done, in any order of threads.
Report campaign(const CampaignOptions& options, const std::function<void(std::uint64_t)>& progress = {});

/// The share of an outcome and its 95 % interval, by Wilson.
struct Share {
  double share = 0, low = 0, high = 0;
};
Share share(std::uint64_t count, std::uint64_t of);
/// The same over all bits alike: each block weighs as many bits as it has. The interval takes the blocks' variances,
/// with two successes and two failures more in each, so that a block without one has a variance, too.
Share weighted(const Report& report, Outcome outcome);

}  // namespace narrowgauge::upsets
