// SPDX-License-Identifier: Apache-2.0
// A design space: lists of values along axes. A point is one value of each; points are numbered.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "narrowgauge/power/explore/timing.hpp"
#include "narrowgauge/power/mac_spec.hpp"

namespace narrowgauge::power {

/// What the operands of a product are made of, and what that makes of a tile.
struct NumberFormat {
  std::string_view name;
  MacFormat mac;    ///< of weights; of activations, too, but beside LUQ's FP4 [1,3,0] they are INT4
  int width;        ///< bits of an integer
  int bits;         ///< of an element in an image
  int scale_block;  ///< elements that share a scale of 8 bits; 0: none
  int stages;       ///< of the array before its accumulators
  int accumulator_bits;
  int unit_lanes;  ///< a cell is priced as units of so many lanes; 0: as one of all its lanes
  bool tile;       ///< ng_tile takes it; else it is priced as a tile of numbers of these bits
};
std::span<const NumberFormat> number_formats();

/// `two_four`: of any four successive weights of a contraction two are zero, and are neither stored nor multiplied;
/// `four_eight_pair`: of four pairs two.
enum class Sparsity : std::uint8_t { none, two_four, four_eight_pair };
std::string_view name(Sparsity sparsity);

/// The operand of a product with weights that is the tile's A, whose panels the driver keeps in a bank while B passes:
/// `weights` is weight-stationary use of the tile.
enum class Resident : std::uint8_t { maps, weights };
std::string_view name(Resident resident);

/// What results are in memory. The tile's are FP32; narrower ones are converted behind it.
enum class Result : std::uint8_t { fp32, bf16, fp8, nvfp4 };
std::string_view name(Result result);
/// Bits of one, its share of a block's scale included.
double result_bits(Result result);

/// What a point is judged by. All are to be small, but sqnr.
enum class Objective : std::uint8_t { energy, cycles, time, area, sqnr, energy_delay };
inline constexpr std::size_t objective_count = 6;
std::string_view name(Objective objective);

/// The areas of docs/explore.md, in squares of the technology's node; 0: what the technology's file says.
struct AreaAssumptions {
  double gate = 0;  ///< a mapped cell
  double flip_flop = 0;
  double sram_bit = 0;

  /// With the technology's own in place of 0, and osu018's where its file says nothing.
  AreaAssumptions of(const std::string& technology) const;
};

struct Space {
  // The axes, the slowest first. The number of a point counts the last one fastest.
  std::vector<int> rows{8}, cols{8}, lanes{16}, a_depth{512}, b_depth{128}, stream_width{128};
  std::vector<double> global_buffer{0};  ///< bytes of a buffer between memory and tile; 0: none
  std::vector<Resident> resident{Resident::maps};
  std::vector<std::optional<Result>> cache{
      std::nullopt};  ///< of keys and values in memory; nothing: the array's format
  std::vector<Sparsity> sparsity{Sparsity::none};
  std::vector<const NumberFormat*> format;
  std::vector<std::string> technology;
  std::vector<Result> result{Result::fp32};
  std::vector<double> compression{1};   ///< bits of feature maps in memory: as they are / compressed
  std::vector<double> frequency_hz{0};  ///< 0: the highest that the record of the point's cell reaches

  std::vector<Objective> objectives{Objective::energy, Objective::time, Objective::area, Objective::sqnr};
  std::string tensor_a, tensor_b;       ///< .npy files for the accuracy proxy; empty: normal random numbers
  std::string sram, dram_memory, dram;  ///< tables of power/memory.json: technology, memory and technology; empty: the
                                        ///< technology's own, or horowitz_45nm
  double bandwidth = 0;                 ///< bytes a second of memory; 0: that of one channel or stack (docs/explore.md)
  std::map<std::string, double> mac_energy_j;  ///< by format: in place of the gauge's, in every technology
  AreaAssumptions area;

  std::uint64_t points() const;
  /// Index of each axis' value, in the order above.
  static constexpr std::size_t axes = 15;
  std::array<std::size_t, axes> sizes() const;
  std::array<std::size_t, axes> place(std::uint64_t point) const;
};

/// The tile that a point's array is; `lanes` are products a cycle of a cell. Of sparse weights `resident` says which
/// operand they are.
TileShape tile_shape(const NumberFormat& format, Sparsity sparsity, Resident resident, int rows, int cols, int lanes,
                     int a_depth, int b_depth, int stream_width);

/// Keys are those of docs/explore.md, which are the names of the members above. An axis is a value, a list, or a range
/// {"from", "to", "step"} or {"from", "to", "factor"}. Throws Error naming key, value and what is allowed.
Space space_from_json(const nlohmann::json& json);
/// Every axis and setting: two spaces with the same text have the same points.
nlohmann::ordered_json to_json(const Space& space);

}  // namespace narrowgauge::power
