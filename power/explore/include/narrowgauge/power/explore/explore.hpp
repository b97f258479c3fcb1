// SPDX-License-Identifier: Apache-2.0
// Prices every point of a design space for a workload, and keeps those that no other beats. docs/explore.md.
//
//   Explorer explorer(load_workload(file), space_from_json(json), GaugePrices(gauge()));
//   Front front = explorer.run({.threads = 0});
//   for (std::uint64_t point : front.points) explorer.describe(point);
//
// Parts of a space are independent: front_of(begin, end) of each, on any machine, and merge() of what they give, is the
// front of the whole.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "narrowgauge/power/explore/space.hpp"
#include "narrowgauge/power/explore/workload.hpp"
#include "narrowgauge/power/mac_spec.hpp"
#include "narrowgauge/progress.hpp"

namespace narrowgauge::power {

/// Joules of something, and a sentence or two about where they come from.
struct Price {
  double energy_j = 0;
  std::string source;
  std::string rung = {};  ///< of the ladder, or "cited"; empty: given from outside
  /// Of the rung against the one above it, on held-out units, mean and largest; nothing: not known.
  std::optional<double> error_mean = {}, error_max = {};
};

/// Where energies come from.
class Prices {
 public:
  virtual ~Prices() = default;
  /// Of one multiply-accumulate. Throws Error where the technology cannot tell.
  virtual Price mac(const MacQuestion& question, const std::string& technology) const = 0;
  /// Of a bit read from or written to an SRAM of this size; nothing known: throws Error.
  virtual Price sram_bit(const std::string& technology, double size_bytes, bool write) const = 0;
  /// The table that knows a technology's SRAM by size and port, or the table of that name; empty: there is none.
  virtual std::string sram_table(const std::string&) const { return {}; }
  /// Of a bit of a word that moves through a port so wide of an SRAM of this size, by such a table; outside of its
  /// sizes and ports: throws Error.
  virtual Price sram_port_bit(const std::string& table, double size_bytes, double port_bits, bool write) const;
  virtual Price dram_bit(const std::string& memory, const std::string& technology, bool write) const = 0;
  /// Of one operation of a recorded unit, by its name in power/units.json; nothing where that is not known.
  virtual std::optional<Price> unit(const std::string&, const std::string&) const { return {}; }
};

class Gauge;

/// Those of the energy gauge, which must outlive it.
class GaugePrices final : public Prices {
 public:
  explicit GaugePrices(const Gauge& gauge) : gauge_(gauge) {}
  Price mac(const MacQuestion& question, const std::string& technology) const override;
  Price sram_bit(const std::string& technology, double size_bytes, bool write) const override;
  std::string sram_table(const std::string& technology) const override;
  Price sram_port_bit(const std::string& table, double size_bytes, double port_bits, bool write) const override;
  Price dram_bit(const std::string& memory, const std::string& technology, bool write) const override;
  /// Where the technology has no record of the unit: as many times its INT8 multiply-accumulate as in the flow that
  /// its constants are anchored to, or as in osu018.
  std::optional<Price> unit(const std::string& name, const std::string& technology) const override;

 private:
  const Gauge& gauge_;
};

/// Operands for the accuracy proxy: A is m x k, B k x n, row-major.
struct Tensors {
  std::size_t m = 0, n = 0, k = 0;
  std::vector<float> a, b;
};
/// N(0, 1), seeded.
Tensors normal_tensors(std::size_t m = 128, std::size_t n = 128, std::size_t k = 256, unsigned seed = 1);

/// Signal to quantization noise of A x B in dB: both quantized to `format` (the golden quantizers and product; integers
/// with one scale a tensor from its largest magnitude; bf16, fp16 and tf32 element by element), B pruned before if
/// sparse. Infinite for fp32.
double sqnr_db(const Tensors& tensors, const NumberFormat& format, Sparsity sparsity);

/// What a point costs.
struct Point {
  /// false: there is no such array (lanes that do not hold whole blocks), k is too long, or the frequency is above what
  /// the record of the cell reaches
  bool possible = false;
  double cycles = 0, time_s = 0;
  double mac_j = 0, sram_j = 0, dram_j = 0;
  double codec_j = 0;  ///< coders and decoders of compressed feature maps, with their tables
  double idle_j = 0;   ///< clock of cells that multiply nothing, and leakage of all, over the time
  double area_m2 = 0, sqnr_db = 0;

  double energy_j() const { return mac_j + sram_j + dram_j + codec_j + idle_j; }
};

struct Front {
  std::vector<std::uint64_t> points;  ///< ascending; of equal ones the first
  /// Of each, in the order of the space's objectives, all such that less is better; the rest 0.
  std::vector<std::array<double, objective_count>> values;
  std::uint64_t evaluated = 0, impossible = 0;
};

class Explorer {
 public:
  /// Asks for all prices that do not depend on the array, and computes the accuracy of each format. Throws Error where
  /// a price is not known, or an area where area is an objective. `progress` counts the prices of formats and lanes.
  Explorer(Workload workload, Space space, std::shared_ptr<const Prices> prices, const Tensors& tensors,
           const Progress& progress = {});
  ~Explorer();
  Explorer(Explorer&&) noexcept;
  Explorer& operator=(Explorer&&) noexcept;

  std::uint64_t points() const;
  const Space& space() const;
  const Workload& workload() const;
  /// Of workload, space, prices and tensors: what a checkpoint belongs to. 16 hexadecimal digits.
  const std::string& id() const;

  /// Points `first` to first + out.size() - 1.
  void evaluate(std::uint64_t first, std::span<Point> out) const;
  /// The front of points begin to end - 1.
  Front front_of(std::uint64_t begin, std::uint64_t end) const;
  /// The front of several fronts.
  Front merge(std::span<const Front> fronts) const;

  struct Run {
    unsigned threads = 0;                   ///< 0: one a core
    std::uint64_t chunk = 1 << 16;          ///< points a job
    std::filesystem::path checkpoint = {};  ///< file that says which chunks are done, and their fronts; empty: none
    bool resume = false;                    ///< go on with an existing one; without it, there must be none
    Progress progress = {};
  };
  /// The front of the space. Throws Error for a checkpoint of another exploration.
  Front run(const Run& options) const;

  /// The point's values along the axes, its costs and their parts, and what in it is assumed.
  nlohmann::ordered_json describe(std::uint64_t point) const;
  /// Where its energies come from.
  nlohmann::ordered_json sources() const;
  /// Of one operation of a recorded unit, as the space's points are priced; nothing where that is not known.
  std::optional<Price> unit(const std::string& name, const std::string& technology) const;

 private:
  struct Data;
  std::unique_ptr<const Data> data_;
};

}  // namespace narrowgauge::power
