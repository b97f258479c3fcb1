// SPDX-License-Identifier: Apache-2.0
#include "campaign.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <exception>
#include <mutex>
#include <random>
#include <thread>

#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/engines/tile_bus.hpp"
#include "narrowgauge/engines/tile_bus_on_pins.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace narrowgauge::upsets {

namespace {

/// Of each product: sums of seven beats, and operands that fill seven eighths of a bank.
constexpr std::size_t size_m = 8, size_n = 8, size_k = 112;
/// Of a run without a flip; the driver's timeout lets the tile stand still for as long.
constexpr std::uint64_t patience = 4;

QuantizedMatrix random_operand(std::mt19937_64& random, std::size_t rows) {
  std::vector<float> x(rows * size_k);
  // Sums of uniform numbers, the same with every library: nearly normal.
  for (float& value : x) {
    double sum = -2;
    for (int i = 0; i < 4; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
    value = static_cast<float>(sum);
  }
  return quantize(x, rows, size_k, Axis::rows, {.threads = 1});
}

bool equal(const std::vector<float>& x, const std::vector<float>& y) {
  return std::ranges::equal(x, y, [](float one, float other) {
    return std::bit_cast<std::uint32_t>(one) == std::bit_cast<std::uint32_t>(other);
  });
}

/// A simulated tile behind the driver.
class Driven {
 public:
  Driven(UpsetTile& tile, std::uint64_t timeout)
      : pins_(tile, 4),
        bridge_(pins_),
        port_(bridge_.port()),
        config_{&port_, 0, static_cast<std::uint32_t>(timeout)} {}
  ng_result_t init() { return ng_tile_init(&tile_, &config_); }
  ng_result_t multiply(const QuantizedMatrix& a, const QuantizedMatrix& b, std::vector<float>& c) {
    DriverGemm product(tile_, a, b);
    const ng_result_t result = ng_tile_gemm(&tile_, &product.config);
    c = product.result();
    return result;
  }
  std::uint64_t cycles() const { return pins_.cycles(); }

 private:
  TileBusOnPins pins_;
  TileDriverPort bridge_;
  ng_port_t port_;
  ng_tile_config_t config_;
  ng_tile_t tile_{};
};

}  // namespace

Workload::Workload(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (Product& product : products_) {
    product.a = random_operand(random, size_m), product.b = random_operand(random, size_n);
    product.c = gemm(product.a, product.b, 1);
  }
}

Workload::Window Workload::window(UpsetTile& tile) const {
  tile.disarm();
  Driven driven(tile, 1'000'000);
  expect_ok(driven.init(), "the tile without an upset");
  Window window{.begin = driven.cycles() + 1};
  for (const Product& product : products_) {
    std::vector<float> c;
    expect_ok(driven.multiply(product.a, product.b, c), "the tile without an upset");
    if (!equal(c, product.c)) throw Error("the tile without an upset gives other results than the golden model");
    if (window.end == 0) window.end = driven.cycles() + 1;
  }
  window.both = driven.cycles();
  return window;
}

Run Workload::run(UpsetTile& tile, const Flip& flip, const Window& window) const {
  Run run;
  const std::uint64_t timeout = patience * window.both;
  tile.arm(flip, 2 * patience * window.both);
  Driven driven(tile, timeout);
  const auto both = [&](bool* later) {
    bool right = true;
    for (const Product& product : products_) {
      std::vector<float> c;
      if (const ng_result_t result = driven.multiply(product.a, product.b, c); result != NG_OK) return result;
      if (equal(c, product.c)) continue;
      right = false;
      if (later && &product == &products_.back()) *later = true;
    }
    run.outcome = right ? Outcome::none : Outcome::wrong;
    return NG_OK;
  };
  bool answers = true;  // the bus
  ng_result_t result = NG_OK;
  try {
    result = driven.init();
    if (result == NG_OK) result = both(&run.later);
  } catch (const TooLong&) {
    result = NG_ERROR_TIMEOUT;
  } catch (const Error&) {  // of the bus
    result = NG_ERROR_TIMEOUT;
    answers = false;
  }
  if (result == NG_OK) return run;
  // A second product that the tile stays too busy for would be asked for again and again.
  const Outcome seen = result == NG_ERROR_TIMEOUT || result == NG_BUSY ? Outcome::hang : Outcome::error;
  run.error = answers ? ng_result_text(result) : "a register access is not answered";
  run.later = false;
  try {
    tile.arm(flip, ~std::uint64_t{0} >> 1);  // its cycle is over
    run.recovered = answers && driven.init() == NG_OK && both(nullptr) == NG_OK && run.outcome == Outcome::none;
  } catch (const Error&) {
    run.recovered = false;
  }
  run.outcome = seen;
  return run;
}

bool Report::operator==(const Report& other) const {
  return std::ranges::equal(blocks, other.blocks, [](const Block& one, const Block& two) {
    return one.name == two.name && one.bits == two.bits && one.count == two.count && one.later == two.later &&
           one.stuck == two.stuck;
  });
}

Report& Report::operator+=(const Report& other) {
  const bool same = std::ranges::equal(blocks, other.blocks,
                                       [](const Block& one, const Block& two) {
                                         return one.name == two.name && one.bits == two.bits;
                                       }) &&
                    window.end - window.begin == other.window.end - other.window.begin;
  if (!same) throw Error("campaigns of other blocks or cycles have no sum; expected those of one tile");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t j = 0; j < outcomes; ++j) blocks[i].count[j] += other.blocks[i].count[j];
    blocks[i].later += other.blocks[i].later;
    blocks[i].stuck += other.blocks[i].stuck;
  }
  for (const auto& [text, count] : other.errors) errors[text] += count;
  return *this;
}

Report campaign(const CampaignOptions& options, const std::function<void(std::uint64_t)>& progress) {
  const Workload workload(options.seed);
  Report report;
  {
    const auto tile = make_upset_tile();
    report.window = workload.window(*tile);
  }
  std::map<std::string, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < registers().size(); ++i) members[registers()[i].block].push_back(i);

  // All are drawn before, so that threads change nothing.
  std::mt19937_64 random(options.seed);
  const auto below = [&](std::uint64_t bound) { return (random() >> 32) * bound >> 32; };
  std::vector<std::pair<Flip, std::size_t>> flips;
  const std::uint64_t each = (options.flips + members.size() - 1) / members.size();
  for (const auto& [name, indices] : members) {
    Block block{.name = name};
    for (const std::size_t i : indices) block.bits += registers()[i].size();
    for (std::uint64_t n = 0; n < each; ++n) {
      std::uint64_t at = below(block.bits);
      std::size_t which = 0;
      while (at >= registers()[indices[which]].size()) at -= registers()[indices[which++]].size();
      const Register& item = registers()[indices[which]];
      flips.push_back({{.which = indices[which],
                        .word = static_cast<unsigned>(at / item.bits.size()),
                        .bit = item.bits[at % item.bits.size()],
                        .cycle = report.window.begin + below(report.window.end - report.window.begin)},
                       report.blocks.size()});
    }
    report.bits += block.bits;
    report.blocks.push_back(std::move(block));
  }

  std::vector<Run> runs(flips.size());
  std::atomic<std::size_t> next = 0, done = 0;
  std::mutex telling;
  std::exception_ptr failed;
  const auto work = [&] {
    try {
      const auto tile = make_upset_tile();
      for (std::size_t i = next++; i < flips.size(); i = next++) {
        runs[i] = workload.run(*tile, flips[i].first, report.window);
        const std::size_t now = ++done;
        if (progress && now % 100 == 0) {
          const std::scoped_lock lock(telling);
          progress(now);
        }
      }
    } catch (...) {
      const std::scoped_lock lock(telling);
      failed = std::current_exception();
    }
  };
  const unsigned threads = options.threads ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> pool;
    for (unsigned i = 1; i < threads; ++i) pool.emplace_back(work);
    work();
  }
  if (failed) std::rethrow_exception(failed);

  for (std::size_t i = 0; i < flips.size(); ++i) {
    Block& block = report.blocks[flips[i].second];
    ++block.count[static_cast<std::size_t>(runs[i].outcome)];
    block.later += runs[i].later;
    block.stuck += !runs[i].recovered;
    if (!runs[i].error.empty()) ++report.errors[runs[i].error];
  }
  return report;
}

Share share(std::uint64_t count, std::uint64_t of) {
  if (of == 0) return {0, 0, 1};
  constexpr double z = 1.959964;
  const double n = static_cast<double>(of), p = static_cast<double>(count) / n;
  const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {p, count == 0 ? 0 : std::max(0.0, middle - half), count == of ? 1 : std::min(1.0, middle + half)};
}

Share weighted(const Report& report, Outcome outcome) {
  double mean = 0, variance = 0;
  for (const Block& block : report.blocks) {
    const double weight = static_cast<double>(block.bits) / static_cast<double>(report.bits),
                 n = static_cast<double>(block.flips()),
                 count = static_cast<double>(block.count[static_cast<std::size_t>(outcome)]);
    const double p = (count + 2) / (n + 4);
    mean += weight * count / n;
    variance += weight * weight * p * (1 - p) / n;
  }
  const double half = 1.959964 * std::sqrt(variance);
  return {mean, std::max(0.0, mean - half), std::min(1.0, mean + half)};
}

}  // namespace narrowgauge::upsets
