// SPDX-License-Identifier: Apache-2.0
// One interface to everything that can multiply two quantized matrices: model, systemc, rtl and board.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "narrowgauge/progress.hpp"
#include "narrowgauge/quant/integer_results.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"
#include "narrowgauge/quant/requantize.hpp"
#include "narrowgauge/sparse/prune.hpp"

namespace narrowgauge {

/// The activity counters of a tile over one product; docs/units/tile.md defines them.
struct TileActivity {
  std::uint64_t cycles, busy, stall_in, stall_out, products, zero_a, zero_b, flips_a, flips_b;

  bool operator==(const TileActivity&) const = default;
};

/// What the line to a board carried for one product.
struct LinkActivity {
  double seconds;  ///< of the product, operands packed before
  std::uint64_t sent_bytes, received_bytes;
  std::uint64_t frames;    ///< sent for the first time
  std::uint64_t repeated;  ///< sent again
  std::uint64_t damaged;   ///< answers that came damaged

  bool operator==(const LinkActivity&) const = default;
};

/// How far a product under a deadline went.
struct DeadlineProgress {
  bool late;            ///< the deadline came before the product was done
  std::uint64_t beats;  ///< steps along k that the tile took, of all its blocks of results
  std::uint64_t whole;  ///< those that the product has

  bool operator==(const DeadlineProgress&) const = default;
};

/// What a matrix product gave. Engines that simulate hardware fill in the counters; `cycles` is 0 for the others.
struct EngineResult {
  std::vector<float> c;             ///< M x N, row-major: exact sums rounded once to FP32, times the FP32 tensor scales
  std::uint64_t cycles = 0;         ///< clock cycles of the product: loads, commands and results included
  std::uint64_t products = 0;       ///< M * N * K, the products that the problem asks for
  std::uint64_t operand_bytes = 0;  ///< that the tile was sent, those sent twice twice; 0 without a tile
  std::uint64_t result_bytes = 0;   ///< that the tile sent, with padding; 0 without a tile
  std::uint64_t products_possible = 0;  ///< cycles * rows * columns * lanes of the array, * 2 if A is sparse
  std::string tile;  ///< name of the simulated tile, or the array of a board's; empty if there is none
  std::optional<TileActivity> activity;                     ///< if the tile has counters
  std::optional<LinkActivity> link = std::nullopt;          ///< of a board
  std::optional<DeadlineProgress> deadline = std::nullopt;  ///< of a product that had one

  /// Sums ended before they were whole.
  bool ended_early() const { return deadline && deadline->beats < deadline->whole; }

  /// Share of the array's multiply slots that did asked-for work, 0 to 1; 0 without cycles.
  double utilization() const {
    return products_possible ? static_cast<double>(products) / static_cast<double>(products_possible) : 0.0;
  }
  /// The same over the cycles in which the tile computed or drained with its operands there (busy - stall_in); empty
  /// without counters.
  std::optional<double> utilization_computing() const {
    if (!activity || activity->busy <= activity->stall_in) return std::nullopt;
    const double share = static_cast<double>(activity->busy - activity->stall_in) / static_cast<double>(cycles);
    return utilization() / share;
  }
};

/// A product whose results the engine has made the next product's operand A.
struct RequantizedResult {
  QuantizedMatrix c;       ///< requantize() of the product, M vectors of N
  std::uint32_t amax = 0;  ///< requantize_amax of it
  EngineResult run;        ///< of it, with an empty `c`
};

/// A product whose results are integers.
struct IntegerResult {
  std::vector<std::int8_t> c;  ///< gemm_integers() of the product, M x N, row-major
  EngineResult run;            ///< of it, with an empty `c`
};

/// What a tile is sent compressed, and sends.
struct Compressed {
  bool a = false, b = false;
  bool c = false;  ///< of a requantized C

  bool any() const { return a || b || c; }
};

/// How results become the next product's operand A.
struct RequantizeOptions {
  ResultFormat format = ResultFormat::nvfp4;
  bool relu = false;           ///< negative results become +0 first; NaN stay
  Compressed compressed = {};  ///< on the way to a tile, and from it: changes no result
};

/// Throws Error unless is_result_scale().
void check_result_scale(ResultFormat format, float tensor_scale);

/// Of a product in float32: throws Error if C shall be compressed.
void check_operands_only(const Compressed& compressed);

class Engine {
 public:
  virtual ~Engine() = default;
  /// "model", "rtl", "systemc", "board".
  virtual std::string_view name() const = 0;
  /// Before any work: throws the Error that gemm throws for operands of these formats and this contraction.
  virtual void check(Scheme scheme, Format a, Format b, std::size_t k) const = 0;
  /// The same for gemm_sparse.
  virtual void check_sparse(Scheme scheme, Format a, Format b, std::size_t k) const = 0;
  /// C = A x B. `a`: M vectors of K; `b`: N vectors of K (the columns of B). Throws Error on shapes that do not fit,
  /// mixed schemes, and operands that this engine cannot take.
  virtual EngineResult gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, const Progress& progress = {}) = 0;
  /// C = A x B whose A has the pattern, with no time spent on its zeros; C is narrowgauge::gemm_sparse's. Throws Error
  /// also where check_sparse_product() does, and where no tile, or not the named one, can do it.
  virtual EngineResult gemm_sparse(const QuantizedMatrix& a, const QuantizedMatrix& b, const NmPattern& pattern,
                                   const Progress& progress = {}) = 0;
  /// As gemm, with the chosen operands sent to the tile compressed, which changes what is read and no result. Throws
  /// Error also for a compressed C, which gemm_requantized has, and where no tile, or not the named one, can do it.
  virtual EngineResult gemm_compressed(const QuantizedMatrix& a, const QuantizedMatrix& b, const Compressed& compressed,
                                       const Progress& progress = {}) = 0;
  /// Before any work: the same of operands of these formats.
  virtual void check_compressed(Scheme scheme, Format a, Format b, std::size_t k) const = 0;
  /// As gemm, with C as the next product's operand A in options.format under `tensor_scale`, with nothing computed
  /// outside of a tile. Throws Error also where check_result_scale() does, where the product of the tensor scales is no
  /// normal number, and where no tile, or not the named one, can do it.
  virtual RequantizedResult gemm_requantized(const QuantizedMatrix& a, const QuantizedMatrix& b, float tensor_scale,
                                             const RequantizeOptions& options = {}, const Progress& progress = {}) = 0;
  /// As gemm, with C in INT8, narrowgauge::gemm_integers, with nothing computed outside of a tile. Throws Error also
  /// where integer_factor() does, and where no tile, or not the named one, has integers.
  virtual IntegerResult gemm_integers(const QuantizedMatrix& a, const QuantizedMatrix& b, const AffineRange& c,
                                      const Progress& progress = {}) = 0;
};

/// The golden model, on `threads` threads (0: one per core).
std::unique_ptr<Engine> make_model_engine(unsigned threads = 0);

}  // namespace narrowgauge
