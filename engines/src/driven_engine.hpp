// SPDX-License-Identifier: Apache-2.0
// What engines that drive a tile have in common: checks before any work, and the product through the C driver.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "narrowgauge/engines/engine.hpp"
#include "narrowgauge/engines/tile_pin_model.hpp"
#include "narrowgauge/ng_tile.h"

namespace narrowgauge {

/// What a product asks of a tile beside its formats.
struct TileNeeds {
  std::optional<ResultFormat> results = std::nullopt;  ///< requantized
  bool sparse = false, decoders = false, encoders = false, deadline = false, integers = false;
};

/// Whether the tile has all that.
bool has(const TileConfig& tile, Scheme scheme, Format a, Format b, const TileNeeds& needs);
/// The product as a sentence has it: "nvfp4 with a sparse operand". Throws Error for the formats that no tile has.
std::string product_text(Scheme scheme, Format a, Format b, const TileNeeds& needs);

/// A product as gemm and its kin are asked for it.
struct ProductOrder {
  const QuantizedMatrix& a;
  const QuantizedMatrix& b;
  const Progress& progress;
  RequantizedResult* requantized = nullptr;  ///< takes C as an operand A, under the tensor scale that stands there
  std::optional<NmPattern> sparse = std::nullopt;  ///< of A
  RequantizeOptions options = {};                  ///< of a requantized C, and what is compressed of any product
  IntegerResult* integers = nullptr;               ///< takes C in INT8 ...
  float factor = 1;                                ///< ... which sums are multiplied by ...
  int zero_point = 0;                              ///< ... and the code of 0
  std::uint32_t* again = nullptr;                  ///< takes the command that repeats it, with operands that stay
};

class DrivenEngine : public Engine {
 public:
  explicit DrivenEngine(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }
  void check(Scheme scheme, Format a, Format b, std::size_t k) const override;
  void check_sparse(Scheme scheme, Format a, Format b, std::size_t k) const override;
  void check_compressed(Scheme scheme, Format a, Format b, std::size_t k) const override;
  EngineResult gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, const Progress& progress) override;
  EngineResult gemm_sparse(const QuantizedMatrix& a, const QuantizedMatrix& b, const NmPattern& pattern,
                           const Progress& progress) override;
  EngineResult gemm_compressed(const QuantizedMatrix& a, const QuantizedMatrix& b, const Compressed& compressed,
                               const Progress& progress) override;
  RequantizedResult gemm_requantized(const QuantizedMatrix& a, const QuantizedMatrix& b, float tensor_scale,
                                     const RequantizeOptions& options, const Progress& progress) override;
  IntegerResult gemm_integers(const QuantizedMatrix& a, const QuantizedMatrix& b, const AffineRange& c,
                              const Progress& progress) override;

 protected:
  /// The tile for such a product. Throws Error if there is none.
  virtual const TileConfig& choose(Scheme scheme, Format a, Format b, const TileNeeds& needs) const = 0;
  virtual EngineResult run(const TileConfig& tile, const ProductOrder& order) = 0;

 private:
  std::string_view name_;
};

/// What a product is driven through.
struct TileDrive {
  const ng_port_t& port;
  const ng_tile_t& tile;
  std::string what;                            ///< the tile, for errors
  std::function<std::uint64_t()> cycles = {};  ///< a clock of it; empty: its counters have one, if it has any
  std::function<void()> between = {};          ///< called between steps of the driver
  std::uint32_t deadline = 0;                  ///< clocks that the product has; 0: all it takes
  const std::string* why = nullptr;            ///< what the port says of an error, kept up to date by it
};

/// The product on a tile that is initialized. Its utilization is still the caller's.
EngineResult drive_product(const TileDrive& drive, const ProductOrder& order);

}  // namespace narrowgauge
